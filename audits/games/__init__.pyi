"""The public names, each with the module that holds it."""

from .adaptive_games import AdaptiveGame as AdaptiveGame
from .adaptive_games import worst_delta as worst_delta
from .adaptive_games import worst_moment as worst_moment
from .finite_steps import FiniteStep as FiniteStep
from .finite_steps import MomentFilter as MomentFilter
from .finite_steps import NaturalFilter as NaturalFilter
from .finite_steps import randomised_response as randomised_response
from .finite_steps import reveal as reveal
