"""A black-box audit that stops at the first look that refutes.

Looks happen after ``first``, twice that, … evaluations in total, the last one at the budget. Each look trains, chooses
and certifies on its own fresh draws and spends its own share of the failure probability, so that together they
refute a true claim no more often than stated although the time to stop was chosen by looking.
"""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms import Mechanism, NeighbouringPair

from .base import Budget
from .black_box import BlackBoxClaim, BlackBoxOutcome, ClaimTest, audit_claim
from .multiplicity import look_share
from .sequential import look_sizes

#: Evaluations before the first look.
FIRST_LOOK = 400


@dataclass(frozen=True)
class SequentialClaimTest:
    """Where a sequential black-box audit stopped: at a refutation, or at its budget.

    Attributes
    ----------
    looks : tuple of ClaimTest
        All looks, each with the share that it spent; only the last one may have refuted.
    failure_prob : float
        Of the whole audit.
    n_draws : int
        Mechanism evaluations spent by all looks.
    """

    looks: tuple[ClaimTest, ...]
    failure_prob: float
    n_draws: int

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not; never supported."""
        return self.looks[-1].outcome


def sequential_claim(
    mechanism: Mechanism, pair: NeighbouringPair, claim: BlackBoxClaim, budget: Budget, *, first: int = FIRST_LOOK
) -> SequentialClaimTest:
    """Return the test of the whole claimed curve (or point), from as few evaluations as a refutation takes.

    Parameters
    ----------
    mechanism : Mechanism
        Only ``draw`` and ``name`` are used.
    pair : NeighbouringPair
        Its relation must be one that the claim covers.
    budget : Budget
        ``n_draws`` counts mechanism evaluations of all looks together, half of them from each data set.
    first : int
        Evaluations before the first look, at least 100.
    """
    looks: list[ClaimTest] = []
    done = 0
    for total in look_sizes(budget.n_draws, first):
        number = len(looks) + 1
        share = look_share(budget.failure_prob, number)
        looks.append(
            audit_claim(mechanism, pair, claim, Budget(total - done, share, budget.key.child(f"look {number}")))
        )
        done = total
        if looks[-1].outcome is BlackBoxOutcome.REFUTED:
            break
    return SequentialClaimTest(tuple(looks), budget.failure_prob, sum(look.delta.n_draws for look in looks))
