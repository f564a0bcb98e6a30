"""W18, Lemma 14: chi-square tails (Laurent and Massart), proved on boxes in t for several numbers of degrees of freedom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb

from audits import Budget
from mechanisms.balls import Ball

from ..boxes import box_evidence, prove_nonnegative
from ..cases import grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from .failure import chi_square_lower, chi_square_tail, failure_evidence, proved_probability

ID = "W18-L14"
UPPER, LOWER = f"{ID}#upper", f"{ID}#lower"

#: Coefficients of sqrt(k t) and of t above, of sqrt(k t) below.
VERSIONS = {
    "printed": (2.0, 2.0, 2.0),
    "coefficient of t 5 % smaller": (2.0, 1.9, 2.0),
    "no linear term": (2.0, 0.0, 2.0),
    "coefficient of the root 10 % smaller": (1.8, 2.0, 1.8),
}


def tail(part: str, k: int, t: Ball, version: str) -> Ball:
    """Return the probability that the statement bounds."""
    cross, linear, below = VERSIONS[version]
    if part == UPPER:
        return chi_square_tail(k, k + arb(cross) * (k * t).sqrt() + arb(linear) * t)
    value = k - arb(below) * (k * t).sqrt()
    return chi_square_lower(k, value) if value > 0 else arb(0)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one t, or a whole interval of t: both sides fall in t, so values at the ends enclose those between."""
    k, version = case.whole("k"), version_name(case)
    if "t" in case.params:
        t = case.number("t")
        bound = float(arb(-t).exp().mid())
        found = proved_probability(lambda: tail(case.part, k, arb(t), version) * arb(t).exp() * bound)
        return failure_evidence("X inside the bound", bound, exact=found)
    box = {"t": Axis(case.number("from"), case.number("to"))}

    def slack(p: Mapping[str, Any]) -> Ball:
        low, high = arb(p["t"].lower()), arb(p["t"].upper())
        least = 1 - tail(case.part, k, low, version) * high.exp()
        most = 1 - tail(case.part, k, high, version) * low.exp()
        return least.union(most)

    return box_evidence("1 minus the probability over exp(-t)", prove_nonnegative(slack, box, max_boxes=4_000), box)


def _cases() -> tuple[Case, ...]:
    ks: tuple[Value, ...] = (1, 2, 5, 40, 1000)
    out: list[Case] = []
    for part in (UPPER, LOWER):
        out += grid(
            part,
            Standing.PRINTED,
            {"k": (1, 2, 5), "from": (1e-3,), "to": (20.0,)},
            regime="proved on the box",
            quick_every=2,
        )
        out += grid(
            part, Standing.PRINTED, {"k": ks, "t": (1e-12, 0.1, 3.0, 200.0)}, regime="single values", quick_every=3
        )
    return (
        *out,
        mutant(UPPER, "coefficient of t 5 % smaller", {"k": 1, "t": 700.0}, severity=0.05),
        mutant(UPPER, "no linear term", {"k": 2, "t": 10.0}),
        mutant(LOWER, "coefficient of the root 10 % smaller", {"k": 20_000, "t": 20.0}, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Chi-square tails",
    locator="Lemma 14, appendix E",
    domain="X chi-square with k degrees of freedom, t > 0. Proved for k in {1, 2, 5} and t in [1e-3, 20]; single values for k <= 1000, t <= 200",
    summary=(
        "True (Laurent and Massart). The coefficient of t above is the least possible as t grows, that of the root below as k and t "
        "grow; for moderate t both are loose by a constant factor in probability."
    ),
    parts=(
        Part(
            UPPER,
            "upper tail",
            Formula("PP(X - k >= 2 sqrt(k t) + 2 t) <= e^(-t)", "P(X - k >= 2 sqrt(k t) + 2 t) <= exp(-t)"),
        ),
        Part(LOWER, "lower tail", Formula("PP(k - X > 2 sqrt(k t)) <= e^(-t)", "P(k - X > 2 sqrt(k t)) <= exp(-t)")),
    ),
    cases=_cases(),
    check=check,
)
