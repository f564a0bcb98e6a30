"""Data, neighbouring pairs and the reference mechanisms: draws, exact laws, privacy losses, stated guarantees."""

from .base import BOTH, Bracket, Direction, ExactLaw, Mechanism, PrivacyProfile, WhiteBox
from .data import DataError, Dataset
from .neighbours import NeighbouringPair, Relation, UnsupportedRelation

__all__ = [
    "BOTH",
    "Bracket",
    "DataError",
    "Dataset",
    "Direction",
    "ExactLaw",
    "Mechanism",
    "NeighbouringPair",
    "PrivacyProfile",
    "Relation",
    "UnsupportedRelation",
    "WhiteBox",
]
