"""How a run's failure probability is spent: a fixed share for every id of a paper, whatever runs.

The total is divided by ``SLOTS``; the ``paper.toml`` of a paper states how many are its own, so that running a single
id, or adding a paper, changes no other share. Within an id it is divided equally over its sampled cases of all
profiles. A case spends one half on its first look and keeps the other half for the confirmation of a failure. The first
look is either the decision, or, where an exact witness decides, the check that the two witnesses agree; never both.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .statement import Statement

#: Number of equal slots of a run's total.
SLOTS = 256


@dataclass(frozen=True)
class CaseShare:
    """Failure probability of one case: its first look, and the confirmation of a failure."""

    look: float
    confirmation: float


def id_share(total: float) -> float:
    """Return the share of one id of a paper that has no more ids than slots."""
    return total / SLOTS


def case_share(statement: Statement, total: float) -> CaseShare:
    """Return the share of each sampled case of ``statement`` (an exact case spends nothing)."""
    sampled = sum(1 for case in statement.cases if any(case.draws))
    half = float(Fraction(total) * statement.share / (2 * max(sampled, 1)))
    return CaseShare(half, half)
