"""W18, Lemma 14: chi-square tails (Laurent and Massart), proved on boxes in t for several numbers of degrees of freedom."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flint import arb

from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import box_evidence, prove_nonnegative
from ...methods.failure import chi_square_lower, chi_square_tail, failure_evidence, proved_probability
from ..kit import Case, Display, Evidence, Form, Mutant, over, statement


def _upper(k: int, t: Ball, *, linear: float = 2.0) -> Ball:
    """Return ``P(X - k >= 2 sqrt(k t) + linear t)``."""
    return chi_square_tail(k, k + 2 * (k * t).sqrt() + arb(linear) * t)


def _lower(k: int, t: Ball, *, cross: float = 2.0) -> Ball:
    """Return ``P(k - X > cross sqrt(k t))``."""
    value = k - arb(cross) * (k * t).sqrt()
    return chi_square_lower(k, value) if value > 0 else arb(0)


def _bounded(case: Case, *, tail: Callable[[int, Ball], Ball]) -> Evidence:
    """Decide one t, or a whole interval of t: both sides fall in t, so values at the ends enclose those between."""
    k = case.whole("k")
    if "t" in case.params:
        t = case.number("t")
        bound = float(arb(-t).exp().mid())
        exact = proved_probability(lambda: tail(k, arb(t)) * arb(t).exp() * bound)
        return failure_evidence("X inside the bound", bound, exact=exact)
    box = {"t": Axis(case.number("from"), case.number("to"))}

    def slack(p: Mapping[str, Any]) -> Ball:
        low, high = arb(p["t"].lower()), arb(p["t"].upper())
        least = 1 - tail(k, low) * high.exp()
        most = 1 - tail(k, high) * low.exp()
        return least.union(most)

    return box_evidence("1 minus the probability over exp(-t)", prove_nonnegative(slack, box, max_boxes=4_000), box)


CASES = [
    *over("proved on the box", {"k": (1, 2, 5), "from": (1e-3,), "to": (20.0,)}, quick_every=2),
    *over("single values", {"k": (1, 2, 5, 40, 1000), "t": (1e-12, 0.1, 3.0, 200.0)}, quick_every=3),
]

STATEMENT = statement(
    "W18-L14",
    domain="X chi-square with k degrees of freedom, t > 0. Proved for k in {1, 2, 5} and t in [1e-3, 20]; single values for k <= 1000, t <= 200",
    summary="True (Laurent and Massart). The coefficient of t above is the least possible as t grows, that of the root below as k and t "
    "grow; for moderate t both are loose by a constant factor in probability.",
    displays={
        "#upper": Display(
            "upper tail",
            Form("PP(X - k >= 2 sqrt(k t) + 2 t) <= e^(-t)", partial(_bounded, tail=_upper), CASES),
            mutants={
                "coefficient of t 5 % smaller": Mutant(
                    _bounded, {"k": 1, "t": 700.0}, severity=0.05, tail=partial(_upper, linear=1.9)
                ),
                "no linear term": Mutant(_bounded, {"k": 2, "t": 10.0}, tail=partial(_upper, linear=0.0)),
            },
        ),
        "#lower": Display(
            "lower tail",
            Form("PP(k - X > 2 sqrt(k t)) <= e^(-t)", partial(_bounded, tail=_lower), CASES),
            mutants={
                "coefficient of the root 10 % smaller": Mutant(
                    _bounded, {"k": 20_000, "t": 20.0}, severity=0.1, tail=partial(_lower, cross=1.8)
                )
            },
        ),
    },
)
