"""Turns draws, or an exact law, into an estimate with an interval of stated failure probability."""

from .attack import attack
from .base import Budget, Estimate
from .coverage import audit_coverage
from .exact import exact_delta, exact_tail
from .exposure import exposure
from .random_matrix import goe_norm_coverage, sandwich_coverage
from .streams import StreamKey
from .tails import audit_tails

__all__ = [
    "Budget",
    "Estimate",
    "StreamKey",
    "attack",
    "audit_coverage",
    "audit_tails",
    "exact_delta",
    "exact_tail",
    "exposure",
    "goe_norm_coverage",
    "sandwich_coverage",
]
