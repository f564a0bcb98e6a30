"""One look at a claim, and a confirmation on fresh draws of what a sample refutes: everywhere in the same way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from audits import Budget

from ..kernel.statement import Evidence
from ..kernel.verdict import Outcome, Reason, judge
from .rows import NO_LOOK, Row, evidence_row

Check = Callable[[Budget], Evidence]
#: The type of error in a row whose worker process died every time: done again, it may be decided.
DIED = "WorkerDied"


@dataclass(frozen=True)
class Looks:
    """The evidence of the first look, that of the confirmation if there was one, and what stopped either."""

    first: Evidence | None
    confirmation: Evidence | None = None
    error: Exception | None = None

    @property
    def unconfirmed(self) -> bool:
        """Whether the first look refuted and the second did not."""
        return self.confirmation is not None and judge(self.confirmation)[0] is not Outcome.FAILS

    def row(self) -> Row:
        """Return what was seen, as the part of a row that every check has."""
        row = dict(NO_LOOK) if self.first is None else evidence_row(self.first, *judge(self.first))
        if self.error:
            row |= {"outcome": Outcome.UNDECIDED.name, "reason": Reason.ERROR.name}
        elif self.unconfirmed:
            row |= {"outcome": Outcome.UNDECIDED.name, "reason": Reason.UNCONFIRMED.name, "detail": ""}
        second = self.confirmation
        return row | {
            "confirmation": None if second is None else evidence_row(second, *judge(second)),
            "error": None if self.error is None else error_row(self.error),
        }


def look_twice(check: Check, first: Budget, second: Budget) -> Looks:
    """Return what a check saw under its first budget, and, where a sample alone refutes, under the second.

    An exception of the check is kept, so that everything else goes on.
    """
    evidence = None
    try:
        evidence = check(first)
        refuted = judge(evidence)[0] is Outcome.FAILS and evidence.exact is None
        return Looks(evidence, check(second) if refuted else None)
    except Exception as stop:
        return Looks(evidence, error=stop)


def decided_row(check: Check, whole: Budget, *, n_draws: int) -> Row:
    """Return what a check found: half of its budget for each look; ``n_draws`` is 0 for one that draws nothing."""

    def within_share(budget: Budget) -> Evidence:
        evidence = check(budget)
        if evidence.exact and not evidence.exact.exact:
            raise ValueError(f"exact must be a proved enclosure, got failure_prob={evidence.exact.failure_prob}")
        if evidence.sampled:
            _refuse_overspending(evidence.sampled.failure_prob, budget.failure_prob, n_draws)
        return evidence

    looks = whole.split({"decide": 0.5, "confirm": 0.5}, n_draws=max(n_draws, 1))
    try:
        return look_twice(within_share, *looks.values()).row()
    except Exception as stop:  # evidence that no row can hold
        return Looks(None, error=stop).row()


def _refuse_overspending(spent: float, failure_prob: float, n_draws: int) -> None:
    if not n_draws:
        raise ValueError("draws must be declared by a case that samples, got none")
    if spent > failure_prob * (1 + 1e-9):
        raise ValueError(f"failure_prob must be at most the share {failure_prob:.3g}, got failure_prob={spent:.3g}")


def error_row(stop: Exception) -> Row:
    """Return an exception as a row keeps it: type and message, on one line."""
    return {"type": type(stop).__name__, "message": " ".join(str(stop).split())}


def died_row(what: str) -> Row:
    """Return what stands in a row whose worker process died every time."""
    message = f"the worker process died while it decided {what}"
    return NO_LOOK | {"confirmation": None, "error": {"type": DIED, "message": message}}
