"""What a statement's check says at given numbers: its cases' own, or any others of the same part and version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from audits import Budget, StreamKey
from verify.kernel.statement import Case, Evidence, Role, Standing, Statement, Value
from verify.papers.registry import statements


@cache
def one(id_: str) -> Statement:
    """Return the statement of an id."""
    (found,) = statements(id_)
    return found


def version_of(case: Case) -> str:
    """Return ``printed``, ``corrected`` or the name of the mutant."""
    return case.mutant if case.standing is Standing.MUTANT else case.standing.name.lower()


def decide(
    statement: Statement | str,
    part: str,
    version: str,
    params: Mapping[str, Value] | None = None,
    *,
    draws: int = 0,
    **numbers: Value,
) -> Evidence:
    """Return the evidence of a version of ``part`` (a suffix such as ``#tail``, or empty) at the given numbers.

    Without numbers (not even an empty ``params``, which is the proof on a whole box) the first case of that part and
    version is decided at its own. With ``draws`` the sampled witness is made too. Seed 1, level 1e-9.
    """
    statement = one(statement) if isinstance(statement, str) else statement
    cases = [c for c in statement.cases if c.part == statement.id + part and version_of(c) == version]
    if not cases:
        raise LookupError(f"{statement.id} must have a case of part={part!r} and version={version!r}")
    wanted = {**(params or {}), **numbers}
    case = replace(cases[0], params=wanted, role=Role.REGIME) if params is not None or wanted else cases[0]
    return statement.check(replace(case, draws=(draws,) * 3), Budget(draws or 2_000, 1e-9, StreamKey(1)))


def claimed(
    statement: Statement | str, part: str, version: str, params: Mapping[str, Value] | None = None, **n: Value
) -> float:
    """Return the number that the published formula gives there."""
    return decide(statement, part, version, params, **n).claim.published


def exact_value(
    statement: Statement | str, part: str, version: str, params: Mapping[str, Value] | None = None, **n: Value
) -> float:
    """Return the middle of the proved enclosure there."""
    exact = decide(statement, part, version, params, **n).exact
    assert exact is not None
    return float(exact.value)


def holds(
    statement: Statement | str, part: str, version: str, params: Mapping[str, Value] | None = None, **n: Value
) -> bool:
    """Return whether the whole proved interval is allowed; an undecided one is an error of the test."""
    evidence = decide(statement, part, version, params, **n)
    assert evidence.exact is not None
    low, high, claim = evidence.exact.low, evidence.exact.high, evidence.claim
    inside, outside = claim.low <= low <= high <= claim.high, high < claim.low or low > claim.high
    assert inside or outside, f"undecided: [{low}, {high}] against [{claim.low}, {claim.high}]"
    return inside
