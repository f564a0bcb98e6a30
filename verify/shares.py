"""How a run's failure probability is spent: a fixed share for every catalogue id, whatever runs.

The total is divided by :data:`SLOTS`, a constant above the number of catalogue ids, so that running a single id, or
adding one, changes no other share. Within an id the share is divided equally over its sampled cases of all profiles.
A case spends one half on its first look and keeps the other half for the confirmation of a failure. The first look is
either the decision, or, where an exact witness decides, the check that the two witnesses agree; never both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .statement import Statement

#: Number of equal shares of a run's total; more than the catalogue has ids.
SLOTS = 256


@dataclass(frozen=True)
class CaseShare:
    """Failure probability of one case: its first look, and the confirmation of a failure."""

    look: float
    confirmation: float


def id_share(total: float) -> float:
    """Return the share of one catalogue id."""
    return total / SLOTS


def case_share(statement: Statement, total: float) -> CaseShare:
    """Return the share of each sampled case of ``statement`` (an exact case spends nothing)."""
    sampled = sum(1 for case in statement.cases if any(case.draws))
    half = float(Fraction(total) / (2 * SLOTS * max(sampled, 1)))
    return CaseShare(half, half)
