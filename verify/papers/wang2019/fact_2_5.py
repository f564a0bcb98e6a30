"""W19, Fact 2.5: protection against identification, by exact enumeration of events.

The printed condition names the same probability twice. With both probabilities at least ``delta/epsilon`` the fact is
true; as printed the log ratio has no bound at all (docs/derivations/wang2019_sections_2_3.md, Fact 2.5).
"""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from flint import arb

from mechanisms.laws.finite_laws import Law, check_law, smallest_delta
from mechanisms.numerics.balls import Ball, enclose

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import enclosed
from ...methods.finite_mechanisms import random_law, two_outputs
from ...methods.rational import ball
from ..kit import At, Case, Evidence, Form, Mutant, over, refuting, smallest, statement

BOX = {"epsilon": Axis(1e-3, 100.0)}


def laws(case: Case) -> tuple[Law, Law]:
    """Return the output laws without and with the target."""
    kind = case.text("laws")
    if kind == "one half and one twentieth":
        return check_law([Fraction(1, 2)] * 2), check_law([Fraction(1, 20), Fraction(19, 20)])
    if kind == "sharpest":  # P(S) just below (exp(epsilon) + epsilon) P'(S): nothing larger meets the condition
        factor, low = Fraction(case.number("exp(epsilon)")), Fraction(1, 64)
        epsilon = Fraction(enclose(lambda: arb(case.number("exp(epsilon)")).log()).low)
        return two_outputs((factor + epsilon) * low * Fraction(999_999, 1_000_000)), two_outputs(low)
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 1), random_law(n, seed, 2)


def events(p: Law, q: Law) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield both probabilities of every event."""
    for chosen in product((0, 1), repeat=len(p)):
        yield (
            sum((a for a, c in zip(p, chosen, strict=True) if c), Fraction(0)),
            sum((b for b, c in zip(q, chosen, strict=True) if c), Fraction(0)),
        )


def _ratio(
    case: Case, *, condition: Callable[[Fraction, Fraction], Fraction] = min, multiple: Fraction = Fraction(2)
) -> Evidence:
    """Decide the largest log ratio over epsilon among the events whose ``condition`` is at least ``delta/epsilon``."""
    if "laws" not in case.params:
        return _proof(multiple)
    without, within = laws(case)
    delta = smallest_delta(without, within, Fraction(case.number("exp(epsilon)")))
    epsilon = enclose(lambda: arb(case.number("exp(epsilon)")).log())
    worst = Fraction(1)
    for p, q in events(without, within):
        if min(p, q) > 0 and condition(p, q) * Fraction(epsilon.low) >= delta:
            worst = max(worst, p / q, q / p)
    most = float(multiple)
    return enclosed(
        "largest |log ratio| over epsilon",
        lambda: ball(worst).log() / arb(case.number("exp(epsilon)")).log(),
        0.0,
        most,
        most,
        method="exact enumeration",
        notes={"delta": float(delta)},
    )


def _proof(multiple: Fraction) -> Evidence:
    """Prove on the box what both conditions leave to be shown."""

    def slack(p: Mapping[str, Any]) -> Ball:
        e = p["epsilon"]
        return ((e * multiple.numerator / multiple.denominator).exp() - e.exp()) / e - 1

    return on_box("(exp(2 epsilon) - exp(epsilon) - epsilon)/epsilon", slack, BOX, smooth=True)


SMALLEST = {"laws": "one half and one twentieth", "exp(epsilon)": 3.0}
RANDOM = {"laws": ("random",), "outputs": (2, 4, 7), "seed": (1, 2, 3, 4), "exp(epsilon)": (1.0625, 1.5, 3.0)}
SHARP = {"laws": ("sharpest",), "exp(epsilon)": (1.001953125, 1.0625, 1.5, 3.0, 16.0)}
FORMULA = (
    "min{{Pr(cal(A)(Z) in cal(S)), Pr(cal(A)({second}) in cal(S))}} >= delta/epsilon ==> "
    "-2 epsilon <= log (Pr(cal(A)(Z) in cal(S)))/(Pr(cal(A)([Z, z]) in cal(S))) <= 2 epsilon"
)

STATEMENT = statement(
    "W19-F2.5",
    domain="One pair (Z, z), any event S that is possible with and without z, any side information independent of the output given "
    "the data (so that conditioning on it changes nothing). epsilon > 0; the algebra proved for epsilon in [1e-3, 100] (below, every term of the power series is positive)",
    summary="The condition names one data set twice. With both it is true; the ratio can come up to log(exp(epsilon) + epsilon), "
    "which is 2 epsilon to first order for small epsilon and tends to epsilon for large.",
    derivation="docs/derivations/wang2019_sections_2_3.md, Fact 2.5",
    title="log ratio of an event",
    printed=Form(
        FORMULA.format(second="Z"),
        partial(_ratio, condition=lambda p, q: p),
        [smallest("two outputs, delta = 7/20", SMALLEST)],
    ),
    corrected=Form(
        FORMULA.format(second="[Z, z]"),
        _ratio,
        [
            refuting(SMALLEST),
            At("proved on the box"),
            *over("every event of random laws", RANDOM, quick_every=5),
            *over("events at the edge of the condition", SHARP),
        ],
    ),
    wrong="Both entries of the minimum name the data set without the target; the upper bound needs the probability with it.",
    mutants={
        "1.8 epsilon": Mutant(
            _ratio, [{"laws": "sharpest", "exp(epsilon)": 1.0625}, {}], severity=0.1, multiple=Fraction(9, 5)
        ),
        "no condition": Mutant(_ratio, SMALLEST | {"exp(epsilon)": 2.0}, condition=lambda p, q: Fraction(1)),
    },
)
