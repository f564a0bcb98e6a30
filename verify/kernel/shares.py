"""How a run's failure probability is spent: a fixed share for every id of a paper, whatever runs.

The total is divided by ``SLOTS``; the ``paper.toml`` of a paper states how many are its own, so that running a single
id, or adding a paper, changes no other share. Within an id it is divided equally over its sampled cases of all
profiles. A case spends one half on its first look and keeps the other half for the confirmation of a failure. The first
look is either the decision, or, where an exact witness decides, the check that the two witnesses agree; never both.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audits import Budget, StreamKey

    from .statement import Statement

#: Number of equal slots of a run's total.
SLOTS = 256


def whole(failure_prob: float, key: StreamKey, n_draws: int = 1) -> Budget:
    """Return the budget of a whole failure probability, with a ledger that refuses to give out more."""
    from audits import Budget  # not above: lists of statements need no library of numbers
    from audits.error_budget import Ledger

    return Budget(n_draws, failure_prob, key, Ledger(failure_prob))


def id_share(total: float) -> float:
    """Return the share of one id of a paper that has no more ids than slots."""
    return total / SLOTS


def statement_budget(run: Budget, statement: Statement) -> Budget:
    """Return the part of a run that a statement owns."""
    return run.part(statement.id, share=statement.share)


def case_budgets(own: Budget, statement: Statement) -> dict[str, Budget]:
    """Return the budget of each case of a statement, which owns ``own``; one that draws nothing is no part of it."""
    sampled = [case.name for case in statement.cases if any(case.draws)]
    parts = own.split(dict.fromkeys(sampled, Fraction(1, max(len(sampled), 1))))
    return {
        case.name: parts.get(case.name) or replace(own, key=own.key.child(case.name), ledger=None)
        for case in statement.cases
    }
