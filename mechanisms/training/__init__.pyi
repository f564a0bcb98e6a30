"""The public names, each with the module that holds it."""

from .realised import PrivateEstimate as PrivateEstimate
from .realised import realised_epsilons as realised_epsilons

MECHANISMS: tuple[str, ...]
