"""From evidence to an outcome, from outcomes to a verdict. The members' values are the printed words."""

from __future__ import annotations

import math
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from audits import Estimate

    from .statement import Claim, Evidence


class Outcome(Enum):
    """The outcome of one case."""

    HOLDS = "holds: every value in the interval is allowed"
    FAILS = "fails: no value in the interval is allowed"
    UNDECIDED = "undecided"
    OUT_OF_DOMAIN = "out of domain: no claim is made here"


class Verdict(Enum):
    """The verdict on a statement, or on one part of it."""

    SUPPORTED = "supported by every case tried"
    REFUTED = "refuted by a confirmed counterexample"
    UNDECIDED = "undecided"
    TEXT_UNCLEAR = "text unclear: our copy is damaged here, and each reading of it is decided"
    DEFINITION = "a definition: implemented, nothing to check"


class Reason(Enum):
    """Why something is undecided."""

    NONE = ""
    BUDGET = "budget: the interval straddles the edge of what is allowed"
    NO_FINITE_TEST = "no finite test"
    MISSTATED = "its own statement is refuted: the mechanism is not what it says about itself"
    NOT_TESTED = "not tested: too little was drawn"
    DEPENDENT = "not tested: draws depend on each other or on their call"
    DRAWS_ALONE = "draws alone can refute and never support"
    UNATTESTED = "nobody vouches for the law of the mechanism"
    DATA_MISSING = "data missing"
    READING = "reading: the text has readings that differ"
    INCONSISTENT = "inconsistent: the exact value lies outside the Monte Carlo interval (a defect of ours)"
    UNCONFIRMED = "unconfirmed: it failed once and did not fail again on fresh draws"
    ERROR = "error: the check stopped with an exception"
    POWER = "power: a mutant that this check must refute was not refuted"
    INTERRUPTED = "interrupted: not all cases were run"


def decide(claim: Claim, estimate: Estimate | None) -> Outcome:
    """Return the outcome of comparing an estimate's interval with the claim's allowed interval."""
    if not claim.in_domain:
        return Outcome.OUT_OF_DOMAIN
    if estimate is None:
        return Outcome.UNDECIDED
    if claim.low <= estimate.low and estimate.high <= claim.high:
        return Outcome.HOLDS
    if estimate.high < claim.low or estimate.low > claim.high:
        return Outcome.FAILS
    return Outcome.UNDECIDED


def inconsistent(evidence: Evidence) -> bool:
    """Return whether the two witnesses contradict each other (their intervals are disjoint)."""
    exact, sampled = evidence.exact, evidence.sampled
    if exact is None or sampled is None:
        return False
    return exact.high < sampled.low or exact.low > sampled.high


def judge(evidence: Evidence) -> tuple[Outcome, Reason]:
    """Return the outcome of one case and, when it is undecided, the reason."""
    if inconsistent(evidence):
        return Outcome.UNDECIDED, Reason.INCONSISTENT
    witness = evidence.exact or evidence.sampled
    outcome = decide(evidence.claim, witness)
    if outcome is not Outcome.UNDECIDED:
        return outcome, Reason.NONE
    return outcome, Reason.BUDGET if witness else evidence.undecided or _stated(evidence.reason)


def _stated(reason: str) -> Reason:
    """Return the reason that an evidence without a witness states by its first words ("data missing: …")."""
    stated = (each for each in Reason if each.value and reason.startswith(each.value.partition(":")[0]))
    return next(stated, Reason.NO_FINITE_TEST)


def margin(claim: Claim, estimate: Estimate | None) -> float:
    """Return the room between the interval and the edge of what is allowed, relative to that edge.

    Negative outside; absolute where the edge is 0; ``nan`` without an estimate; ``inf`` where nothing is forbidden.
    """
    if estimate is None:
        return math.nan
    edges = [(claim.high, claim.high - estimate.high)]
    if not (claim.low == 0.0 < claim.high and estimate.low >= 0.0):  # the natural end of a quantity is no edge
        edges.append((claim.low, estimate.low - claim.low))
    rooms = [room / abs(edge) if edge else room for edge, room in edges if math.isfinite(edge)]
    return min(rooms, default=math.inf)
