"""Rows of the record as plain JSON values (numbers that JSON lacks are strings), and looks at a claim as such rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from audits import Budget, Estimate

from .provenance import Provenance
from .statement import Case, Evidence, Formula, Statement
from .verdict import Outcome, Reason, judge, margin

Row = dict[str, Any]

#: How the three floats that strict JSON cannot write are written.
NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def encode(value: Any) -> Any:
    """Return ``value`` made of strict JSON types only (numpy scalars unwrapped, non-finite floats as strings)."""
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if hasattr(value, "tolist"):  # a numpy scalar or array
        return encode(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def number(value: Any) -> float:
    """Return the float that a record's number stands for."""
    return NON_FINITE[value] if isinstance(value, str) else float(value)


def dumps(row: Row) -> str:
    """Return one strict JSON line, keys in the order in which they were built."""
    return json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _estimate_row(estimate: Estimate | None) -> Row | None:
    """Return an estimate as JSON values."""
    if estimate is None:
        return None
    return {
        "value": encode(float(estimate.value)),
        "low": encode(float(estimate.low)),
        "high": encode(float(estimate.high)),
        "failure_prob": float(estimate.failure_prob),
        "n_draws": int(estimate.n_draws),
        "method": estimate.method,
    }


def evidence_row(evidence: Evidence, outcome: Outcome, reason: Reason) -> Row:
    """Return what one look at a case found."""
    claim = evidence.claim
    exact, sampled = evidence.exact, evidence.sampled
    return {
        "outcome": outcome.name,
        "reason": reason.name,
        "detail": evidence.reason,
        "margin": encode(float(margin(claim, exact or sampled))) if claim.in_domain else "nan",
        "claim": {
            "quantity": claim.quantity,
            "published": encode(float(claim.published)),
            "low": encode(float(claim.low)),
            "high": encode(float(claim.high)),
            "in_domain": bool(claim.in_domain),
            "relation": claim.relation.name if claim.relation else None,
            "observer": claim.observer.name,
            "conditioned_on": claim.conditioned_on,
            "strict_note": claim.strict_note,
            "measure": claim.measure.name,
        },
        "exact": _estimate_row(exact),
        "sampled": _estimate_row(sampled),
        # an error of the exact value above the width of the other witness's interval cannot go unnoticed
        "detects": encode(float(sampled.high - sampled.low)) if exact and sampled else None,
        "found": encode(evidence.found),
        "notes": encode(evidence.notes),
    }


def _formula_row(formula: Formula | None) -> Row | None:
    """Return a formula as JSON values."""
    return {"typst": formula.typst, "text": formula.text} if formula else None


def _provenance_row(provenance: Provenance | None) -> Row | None:
    """Return where a part was read, as JSON values."""
    return vars(provenance) | {"worth": provenance.worth.name} if provenance else None


def statement_row(statement: Statement, *, file: str, reference: str) -> Row:
    """Return a statement's formulas and words."""
    return {
        "kind": "statement",
        "id": statement.id,
        "paper": statement.paper,
        "of": statement.kind,
        "title": statement.title,
        "locator": statement.locator,
        "domain": statement.domain,
        "summary": statement.summary,
        "definition": statement.definition,
        "file": file,
        "reference": reference,
        "parts": [
            {
                "id": part.id,
                "title": part.title,
                "reading": part.reading,
                "printed": _formula_row(part.printed),
                "corrected": _formula_row(part.corrected),
                "what_went_wrong": part.what_went_wrong,
                "derivation": part.derivation,
                "proof": part.proof,
                "provenance": _provenance_row(part.provenance),
            }
            for part in statement.parts
        ],
    }


#: What stands in the row of a case whose check stopped with an exception.
NO_LOOK: Row = {
    "outcome": Outcome.UNDECIDED.name,
    "reason": Reason.ERROR.name,
    "detail": "",
    "margin": "nan",
    "claim": None,
    "exact": None,
    "sampled": None,
    "detects": None,
    "found": {},
    "notes": {},
}


def word_of(row: Mapping[str, Any]) -> str:
    """Return what a row counts under: an outcome, ``ATTESTED`` (holds, as attested), ``ERROR``, ``INCONSISTENT``."""
    if row["error"]:
        return Reason.ERROR.name
    if row.get("ground") == "attested":
        return "ATTESTED"
    return Reason.INCONSISTENT.name if row["reason"] == Reason.INCONSISTENT.name else Outcome[row["outcome"]].name


def case_row(statement_id: str, case: Case, n_draws: int, failure_prob: float) -> Row:
    """Return the part of a case's row that is known before anything is drawn."""
    return {
        "kind": "case",
        "id": statement_id,
        "part": case.part,
        "case": case.name,
        "standing": case.standing.name,
        "role": case.role.name,
        "regime": case.regime,
        "mutant": case.mutant,
        "severity": case.severity,
        "params": encode(case.params),
        "n_draws": n_draws,
        "failure_prob": failure_prob,
    }


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
