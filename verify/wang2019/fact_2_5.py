"""W19, Fact 2.5: protection against identification, by exact enumeration of events.

The printed condition names the same probability twice. With both probabilities at least ``delta/epsilon`` the fact is
true; as printed the log ratio has no bound at all (docs/derivations/wang2019_sections_2_3.md, Fact 2.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose
from mechanisms.finite_laws import Law, check_law, smallest_delta

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .lem_b_6 import random_law

ID = "W19-F2.5"
BOX = {"epsilon": Axis(1e-3, 100.0)}
#: Stands for the printed 2 in front of epsilon.
MULTIPLES = {"1.8 epsilon": Fraction(9, 5)}


def laws(case: Case) -> tuple[Law, Law]:
    """Return the output laws without and with the target."""
    kind = case.text("laws")
    if kind == "one half and one twentieth":
        return check_law([Fraction(1, 2)] * 2), check_law([Fraction(1, 20), Fraction(19, 20)])
    if kind == "sharpest":  # P(S) just below (exp(epsilon) + epsilon) P'(S): nothing larger meets the condition
        factor, low = Fraction(case.number("exp(epsilon)")), Fraction(1, 64)
        epsilon = Fraction(enclose(lambda: arb(case.number("exp(epsilon)")).log()).low)
        p = (factor + epsilon) * low * Fraction(999_999, 1_000_000)
        return check_law([p, 1 - p]), check_law([low, 1 - low])
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 1), random_law(n, seed, 2)


def events(p: Law, q: Law) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield both probabilities of every event."""
    for chosen in product((0, 1), repeat=len(p)):
        yield (
            sum((a for a, c in zip(p, chosen, strict=True) if c), Fraction(0)),
            sum((b for b, c in zip(q, chosen, strict=True) if c), Fraction(0)),
        )


def slack(p: Mapping[str, Any], multiple: Fraction) -> Ball:
    """Return ``(exp(2 epsilon) - exp(epsilon) - epsilon)/epsilon``, what both conditions leave to be shown."""
    e = p["epsilon"]
    return ((e * multiple.numerator / multiple.denominator).exp() - e.exp()) / e - 1


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the largest log ratio over epsilon among the events that meet the condition."""
    version = version_name(case)
    multiple = MULTIPLES.get(version, Fraction(2))
    if "laws" not in case.params:
        proof = prove_nonnegative(lambda p: slack(p, multiple), BOX, smooth=True)
        return box_evidence("(exp(2 epsilon) - exp(epsilon) - epsilon)/epsilon", proof, BOX)
    without, within = laws(case)
    factor = Fraction(case.number("exp(epsilon)"))
    delta = smallest_delta(without, within, factor)
    epsilon = enclose(lambda: arb(case.number("exp(epsilon)")).log())
    worst = Fraction(1)
    for p, q in events(without, within):
        smaller = {"printed": p, "no condition": Fraction(1)}.get(version, min(p, q))
        if min(p, q) > 0 and smaller * Fraction(epsilon.low) >= delta:
            worst = max(worst, p / q, q / p)
    ratio = enclose(lambda: (arb(worst.numerator) / worst.denominator).log() / arb(case.number("exp(epsilon)")).log())
    claim = Claim("largest |log ratio| over epsilon", 0.0, float(multiple), float(multiple), observer=Observer.OUTPUT)
    return Evidence(
        claim, exact=Estimate.proved(ratio.low, ratio.high, "exact enumeration"), notes={"delta": float(delta)}
    )


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"laws": "one half and one twentieth", "exp(epsilon)": 3.0}
    axes: dict[str, tuple[Value, ...]] = {
        "laws": ("random",),
        "outputs": (2, 4, 7),
        "seed": (1, 2, 3, 4),
        "exp(epsilon)": (1.0625, 1.5, 3.0),
    }
    sharp: dict[str, tuple[Value, ...]] = {"laws": ("sharpest",), "exp(epsilon)": (1.001953125, 1.0625, 1.5, 3.0, 16.0)}
    near: dict[str, Value] = {"laws": "sharpest", "exp(epsilon)": 1.0625}
    return (
        case(ID, printed, smallest, role=Role.COUNTEREXAMPLE, regime="two outputs, delta = 7/20"),
        case(ID, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        case(ID, corrected, {}, regime="proved on the box"),
        *grid(ID, corrected, axes, regime="every event of random laws", quick_every=5),
        *grid(ID, corrected, sharp, regime="events at the edge of the condition"),
        mutant(ID, "1.8 epsilon", near, severity=0.1),
        mutant(ID, "1.8 epsilon", {}, severity=0.1),
        mutant(ID, "no condition", {"laws": "one half and one twentieth", "exp(epsilon)": 2.0}),
    )


_RATIO = (
    "-2 epsilon <= log (Pr(cal(A)(Z) in cal(S)))/(Pr(cal(A)([Z, z]) in cal(S))) <= 2 epsilon",
    "|log P(A(Z) in S)/P(A([Z, z]) in S)| <= 2 epsilon",
)

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="fact",
    title="Protection against identification",
    locator="Fact 2.5",
    domain=(
        "One pair (Z, z), any event S that is possible with and without z, any side information independent of the output given "
        "the data (so that conditioning on it changes nothing). epsilon > 0; the algebra proved for epsilon in [1e-3, 100] (below, every term of the power series is positive)"
    ),
    summary=(
        "The condition names one data set twice. With both it is true; the ratio can come up to log(exp(epsilon) + epsilon), "
        "which is 2 epsilon to first order for small epsilon and tends to epsilon for large."
    ),
    parts=(
        Part(
            ID,
            "log ratio of an event",
            printed=Formula(
                "min{Pr(cal(A)(Z) in cal(S)), Pr(cal(A)(Z) in cal(S))} >= delta/epsilon ==> " + _RATIO[0],
                "min{P(A(Z) in S), P(A(Z) in S)} >= delta/epsilon implies " + _RATIO[1],
            ),
            corrected=Formula(
                "min{Pr(cal(A)(Z) in cal(S)), Pr(cal(A)([Z, z]) in cal(S))} >= delta/epsilon ==> " + _RATIO[0],
                "min{P(A(Z) in S), P(A([Z, z]) in S)} >= delta/epsilon implies " + _RATIO[1],
            ),
            what_went_wrong=(
                "Both entries of the minimum name the data set without the target; the upper bound needs the probability with it."
            ),
            derivation="docs/derivations/wang2019_sections_2_3.md, Fact 2.5",
        ),
    ),
    cases=_cases(),
    check=check,
)
