"""The public names, each with the module that holds it."""

from .data_pairs import own_data_pairs as own_data_pairs
from .pairs import PublicDomain as PublicDomain
from .pairs import examination_pairs as examination_pairs
from .worst_case import ConfirmedPair as ConfirmedPair
from .worst_case import Maximum as Maximum
from .worst_case import NamedPair as NamedPair
from .worst_case import adversarial_pairs as adversarial_pairs
from .worst_case import search_maximum as search_maximum
from .worst_case import search_pair as search_pair
from .worst_case import worst_pair as worst_pair
