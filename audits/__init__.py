"""Turns draws, or an exact law, into an estimate with an interval of stated failure probability.

What is small is imported at once, the rest when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .attack import accuracy_ceiling, attack  # these two at once: their modules have the same names
from .base import Budget, Estimate
from .coverage import audit_coverage
from .exact import exact_delta, exact_epsilon, exact_tail
from .exposure import exposure
from .streams import StreamKey
from .tails import audit_curves, audit_tails

if TYPE_CHECKING:
    from .black_box import BlackBoxClaim, audit_claim, audit_epsilon, audit_gaussian_dp, black_box_audit
    from .black_box_sequential import sequential_claim
    from .black_box_visible import visible_leak
    from .claims import (
        PrivacyClaim,
        gaussian_dp_claim,
        group_claim,
        point_claim,
        renyi_claim,
        table_claim,
        zcdp_claim,
    )
    from .composition import composed_delta
    from .data_pairs import own_data_pairs
    from .importance import audit_rare_lower
    from .multiplicity import holm
    from .pair_search import search_pair, worst_pair
    from .pairs import PublicDomain, examination_pairs
    from .power import draws_needed, refutation_probability
    from .random_matrix import goe_norm_coverage, goe_norm_exact, sandwich_coverage
    from .rare_events import audit_rare
    from .rates import follow
    from .sequential import sequential_delta, sequential_mean, sequential_proportion
    from .worst_case import adversarial_pairs, maximise

#: Public name -> the module that holds it, for those that are imported when they are used.
_LATER = {
    "BlackBoxClaim": "black_box",
    "PrivacyClaim": "claims",
    "PublicDomain": "pairs",
    "adversarial_pairs": "worst_case",
    "audit_claim": "black_box",
    "audit_epsilon": "black_box",
    "audit_gaussian_dp": "black_box",
    "audit_rare": "rare_events",
    "audit_rare_lower": "importance",
    "black_box_audit": "black_box",
    "composed_delta": "composition",
    "draws_needed": "power",
    "examination_pairs": "pairs",
    "follow": "rates",
    "gaussian_dp_claim": "claims",
    "goe_norm_coverage": "random_matrix",
    "goe_norm_exact": "random_matrix",
    "group_claim": "claims",
    "holm": "multiplicity",
    "maximise": "worst_case",
    "own_data_pairs": "data_pairs",
    "point_claim": "claims",
    "refutation_probability": "power",
    "renyi_claim": "claims",
    "sandwich_coverage": "random_matrix",
    "search_pair": "pair_search",
    "sequential_claim": "black_box_sequential",
    "sequential_delta": "sequential",
    "sequential_mean": "sequential",
    "sequential_proportion": "sequential",
    "table_claim": "claims",
    "visible_leak": "black_box_visible",
    "worst_pair": "pair_search",
    "zcdp_claim": "claims",
}

__all__ = [
    "BlackBoxClaim",
    "Budget",
    "Estimate",
    "PrivacyClaim",
    "PublicDomain",
    "StreamKey",
    "accuracy_ceiling",
    "adversarial_pairs",
    "attack",
    "audit_claim",
    "audit_coverage",
    "audit_curves",
    "audit_epsilon",
    "audit_gaussian_dp",
    "audit_rare",
    "audit_rare_lower",
    "audit_tails",
    "black_box_audit",
    "composed_delta",
    "draws_needed",
    "exact_delta",
    "exact_epsilon",
    "exact_tail",
    "examination_pairs",
    "exposure",
    "follow",
    "gaussian_dp_claim",
    "goe_norm_coverage",
    "goe_norm_exact",
    "group_claim",
    "holm",
    "maximise",
    "own_data_pairs",
    "point_claim",
    "refutation_probability",
    "renyi_claim",
    "sandwich_coverage",
    "search_pair",
    "sequential_claim",
    "sequential_delta",
    "sequential_mean",
    "sequential_proportion",
    "table_claim",
    "visible_leak",
    "worst_pair",
    "zcdp_claim",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)


def __dir__() -> list[str]:
    """Return every name, loaded or not, for completion in a notebook."""
    return sorted({*globals(), *__all__})
