"""The one sentence of each verdict: the same in the terminal, on page 1, in HTML, JUnit, SARIF and the fixture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from audits.examination.witnesses import COMBINED, FIXED, KIND, NO_NOISE, ORDER, ROUNDED, Violation
from audits.verdict import Decision, Ground, Ruling, Stated
from reports.numbers import format_number, format_probability

from .pair_words import pair_said

#: What to do about a statement of the mechanism that its draws refute.
MEND = {
    Stated.DENSITY: "log_density must be the law of exactly what draw returns",
    Stated.APART: "log_density must not depend on what was called before",
    Stated.LOSS: "privacy_loss must be the loss of exactly what draw returns",
    Stated.PROFILE: "profile must be that of the losses which log_density gives",
    Stated.WORST_CASE: "worst_profile must bound delta on every pair of data sets",
}


#: A likely cause that no scale of the noise mends -> what does.
NOISE_IS_NO_HELP = {
    KIND: "An output of one kind, whatever the data.",
    NO_NOISE: "Noise in every number of the output, or fewer numbers.",
    FIXED: "Noise in every draw, from a generator without a fixed seed.",
    ORDER: "An order that does not depend on the data: shuffled, or sorted by what is public.",
    COMBINED: "Noise of its own in every number of the output.",
    ROUNDED: "Noise first, then rounding of the sum.",
}


def violated(violation: Violation) -> str:
    """Return what is known of a refuted claim: the claim, the least true epsilon, the data sets, the likely cause.

    Examples
    --------
    >>> violated(Violation("epsilon 1 at delta 1e-06", 1.7239, 1e-6, 1e-4, "one added"))
    'Claimed epsilon 1 at delta 1e-06; the true one is at least 1.72 (confidence 1 - 1.0e-4). Seen on: one added.'
    """
    sure = "proved" if violation.failure_prob == 0 else f"confidence 1 - {format_probability(violation.failure_prob)}"
    point = violation.claimed.startswith("epsilon")
    if math.isnan(violation.epsilon):
        least = f"{'the true one is larger' if point else 'this does not hold'} ({sure})"
    elif math.isinf(violation.epsilon):
        least = f"no epsilon holds at delta {format_number(violation.delta)} ({sure})"
    else:
        one = "one" if point else f"epsilon at delta {format_number(violation.delta)}"
        least = f"the true {one} is at least {format_number(violation.epsilon, 3, rounding='down')} ({sure})"
    if violation.unbounded and not math.isinf(violation.epsilon):
        least += ", and nothing bounds it above"
    seen = f" Seen on: {pair_said(violation.pair)}." if violation.pair else ""
    if violation.event:
        seen += f" {violation.event[0].upper()}{violation.event[1:]}: {violation.hits}."
    cause = f" Likely cause: {violation.cause}." if violation.cause else ""
    return f"Claimed {violation.claimed}; {least}.{seen}{cause}"


def least_change(violation: Violation, broken: str = "") -> str:
    """Return the least change after which the same evidence would refute nothing.

    ``broken``: what of the contract must be mended before any noise helps; empty where that is nothing.
    """
    if broken:
        return f"Mend what the contract found: {broken}."
    if violation.cause in NOISE_IS_NO_HELP:
        return f"{NOISE_IS_NO_HELP[violation.cause]} More noise alone does not help."
    if violation.unbounded:
        never = "The event never happened on one of the two data sets, so no larger epsilon is known to hold."
        return f"More noise where it has none, or an output that says less. {never}"
    if not math.isfinite(violation.epsilon) or not violation.claimed.startswith("epsilon"):
        return "More noise, or an output that says less."
    least = format_number(violation.epsilon, 3, rounding="up")
    return f"More noise, an output that says less, or a claim of epsilon {least} at least: nothing smaller can hold."


def misstated(statements: Sequence[Stated]) -> str:
    """Return the advice to mend what a mechanism states about itself."""
    return "Mend the statement: " + "; ".join(MEND[each] for each in statements) + "."


def verdict_said(claim: Mapping[str, Any]) -> str:
    """Return the sentence of a claim's verdict from its row; of an older record, its reason."""
    return str(claim.get("says") or claim["reason"])


def said(ruling: Ruling, violation: Violation | None = None, left_over: str = "") -> str:
    """Return the sentence of a verdict.

    Parameters
    ----------
    violation : Violation or None
        The numbers of a FAIL.
    left_over : str
        What a PASS leaves over: the least epsilon that the same bound proves, the least noise that would do.
    """
    if ruling.decision is Decision.FAIL and violation is not None:
        return violated(violation)
    if ruling.ground is Ground.MISSTATED:
        words = " and ".join(each.value for each in ruling.misstated)
        return f"The claim is not refuted, but what the mechanism states about itself is: {words}."
    if ruling.decision is Decision.PASS and left_over:
        return left_over
    return ruling.why
