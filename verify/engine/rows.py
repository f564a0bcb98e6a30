"""Rows of the record as plain JSON values: numbers that JSON lacks are written as the strings inf, -inf and nan."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from audits import Estimate

from ..kernel.statement import Case, Evidence, Formula, Statement
from ..kernel.verdict import Outcome, Reason, margin
from ..papers.provenance import Provenance

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


def estimate_row(estimate: Estimate | None) -> Row | None:
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
        "exact": estimate_row(exact),
        "sampled": estimate_row(sampled),
        # an error of the exact value above the width of the other witness's interval cannot go unnoticed
        "detects": encode(float(sampled.high - sampled.low)) if exact and sampled else None,
        "found": encode(evidence.found),
        "notes": encode(evidence.notes),
    }


def formula_row(formula: Formula | None) -> Row | None:
    """Return a formula as JSON values."""
    return {"typst": formula.typst, "text": formula.text} if formula else None


def provenance_row(provenance: Provenance | None) -> Row | None:
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
                "printed": formula_row(part.printed),
                "corrected": formula_row(part.corrected),
                "what_went_wrong": part.what_went_wrong,
                "derivation": part.derivation,
                "proof": part.proof,
                "provenance": provenance_row(part.provenance),
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
    """Return what a row counts under: an outcome, ``VOUCHED`` (holds, as vouched), ``ERROR``, ``INCONSISTENT``."""
    if row["error"]:
        return Reason.ERROR.name
    if row.get("ground") == "vouched":
        return "VOUCHED"
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
