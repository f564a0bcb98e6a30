"""Delta of a mechanism between two data sets, from its own law: exact where that is known, else the sharpest sampling.

The question has one answer here for every caller. ``docs/trust.md`` says when a stated law may be believed.
"""

from __future__ import annotations

from mechanisms import NeighbouringPair
from mechanisms.base import BOTH, ExactLaw, WhiteBox
from mechanisms.capabilities import RareEvents
from mechanisms.reference import is_reference

from ..estimate import Budget, Estimate
from ..rare.rare_events import audit_rare
from .draws import LARGE
from .tails import audit_tails, worse

#: Draws below which a rare event is not formed over a large data set: it takes some hundred passes over the records.
WORTH = 2_000


def sampled_delta(mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, budget: Budget) -> Estimate:
    """Return an interval of delta(epsilon), worse direction: inside a proved rare event where there is one."""
    asked = pair.dataset.n_records <= LARGE or budget.n_draws >= WORTH
    # beside a law that is known exactly plain draws are the independent witness
    asked = asked and is_reference(mechanism) and not isinstance(mechanism, ExactLaw)
    events = [mechanism.envelope(pair, d, epsilon) for d in BOTH] if asked and isinstance(mechanism, RareEvents) else []
    proved = [event for event in events if event is not None]
    if not proved or len(proved) < len(events):
        return audit_tails(mechanism, pair, [epsilon], budget).delta(epsilon)
    parts = budget.split({d.name: 1 / len(BOTH) for d in BOTH}, n_draws=max(1, budget.n_draws // 2))
    return worse([audit_rare(event, part).delta for event, part in zip(proved, parts.values(), strict=True)])
