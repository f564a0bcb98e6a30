"""Delta of a mechanism between two data sets, from its own law: exact where that is known, else the sharpest sampling.

The question has one answer here for every caller. ``docs/trust.md`` says when a stated law may be believed.
"""

from __future__ import annotations

from mechanisms import LogisticLoss, NeighbouringPair, ObjectivePerturbation, Relation
from mechanisms.base import BOTH, WhiteBox
from mechanisms.logistic_envelope import logistic_envelope

from .base import Budget, Estimate
from .draws import LARGE
from .rare_events import audit_rare
from .tails import audit_tails, worse

#: Draws below which a rare event is not formed over a large data set: it takes some hundred passes over the records.
WORTH = 2_000


def sampled_delta(mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, budget: Budget) -> Estimate:
    """Return an interval of delta(epsilon), worse direction: inside a proved rare event where there is one."""
    small = pair.dataset.n_records <= LARGE or budget.n_draws >= WORTH
    if not small or not has_envelope(mechanism, pair):
        return audit_tails(mechanism, pair, [epsilon], budget).delta(epsilon)
    assert isinstance(mechanism, ObjectivePerturbation)
    parts = [budget.part(d.name, share=0.5, n_draws=max(1, budget.n_draws // 2)) for d in BOTH]
    return worse(
        [
            audit_rare(logistic_envelope(mechanism, pair, d, epsilon), part).delta
            for d, part in zip(BOTH, parts, strict=True)
        ]
    )


def has_envelope(mechanism: object, pair: NeighbouringPair) -> bool:
    """Return whether a rare event is proved for this mechanism and pair."""
    return (
        isinstance(mechanism, ObjectivePerturbation)
        and isinstance(mechanism.loss, LogisticLoss)
        and mechanism.regulariser is None
        and float(pair.x @ pair.x) > 0
        and pair.relation is not Relation.REPLACE
    )
