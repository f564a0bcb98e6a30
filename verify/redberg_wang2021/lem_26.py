"""RW21, Lemma 26: three bounds on normal tails, each a claim in one variable, proved on a box.

With ``t`` the threshold over sigma: L26.2 has ``delta = exp(-t^2/2)``, L26.3 has ``delta = 2 exp(-t^2/2)``. Beyond the box
the bounds are Mills' (docs/derivations/redberg_wang2021_lemmas.md, Lemma 26).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement

ID = "RW21-L26"
MILLS, ONE, TWO = (f"{ID}.{i}" for i in (1, 2, 3))


def two_sided(t: Ball) -> Ball:
    """Return ``exp(t^2/2) P(|X| > t sigma)``."""
    return (t * t / 2).exp() * (t / arb(2).sqrt()).erfc()


#: Tail over bound, rescaled by ``exp(t^2/2)``; the printed coefficient is 1, 1 and 2.
TAILS: dict[str, tuple[Callable[[Ball], Ball], float]] = {
    MILLS: (lambda t: t * two_sided(t) / 2, 1.0),
    ONE: (lambda t: two_sided(t) / 2, 1.0),
    TWO: (lambda t: two_sided(t), 2.0),
}
#: Smallest coefficient that each bound could have: 1/sqrt(2 pi) for large t, and the value at t = 0.
MUTANTS = {
    MILLS: ("coefficient 0.38", 0.38, 0.047),
    ONE: ("coefficient 0.48", 0.48, 0.04),
    TWO: ("coefficient 0.95", 0.95, 0.05),
}
BOX = {"t": Axis(1e-9, 40.0)}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the whole box, or the ratio of tail and bound at one threshold."""
    tail, coefficient = TAILS[case.part]
    if version_name(case) != "printed":
        coefficient = MUTANTS[case.part][1]
    if "t" not in case.params:

        def slack(p: Mapping[str, Any]) -> Ball:
            return coefficient - tail(p["t"])

        return box_evidence("coefficient minus exp(t^2/2) times the tail", prove_nonnegative(slack, BOX), BOX)
    found = enclose(lambda: tail(arb(case.number("t"))) / coefficient)
    claim = Claim("tail over bound", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    points = {"t": (1e-300, 1e-9, 1e-3, 0.5, 1.0, 3.0, 8.0, 37.0, 100.0, 1e3)}
    cases: list[Case] = []
    for part, (name, _, severity) in MUTANTS.items():
        cases.append(case(part, Standing.PRINTED, {}, regime="proved on the box"))
        cases += grid(part, Standing.PRINTED, points, regime="inside and outside the box")
        cases.append(mutant(part, name, {}, severity=severity))
    return tuple(cases)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Normal tail bounds",
    locator="Supplement G, Lemma 26",
    domain=(
        "X ~ N(0, sigma^2), thresholds t sigma with t > 0; L26.2 for delta in (0, 1), L26.3 for delta in (0, 2), larger delta "
        "being trivial. Proved for t in [1e-9, 40] by branch and bound"
    ),
    summary=(
        "True. Each could be halved or better: L26.1 holds with 1/sqrt(2 pi), L26.2 and L26.3 with half the bound. L26.2 is "
        "called weaker than L26.1; for delta > exp(-1/2) it is the stronger of the two."
    ),
    parts=(
        Part(
            MILLS,
            "one-sided, Mills",
            Formula(
                "Pr(X > sigma epsilon) <= e^(-epsilon^2\\/2)/epsilon",
                "P(X > sigma epsilon) <= exp(-epsilon^2/2)/epsilon",
            ),
        ),
        Part(
            ONE,
            "one-sided, in delta",
            Formula("Pr(X > sigma sqrt(2 log(1/delta))) <= delta", "P(X > sigma sqrt(2 log(1/delta))) <= delta"),
        ),
        Part(
            TWO,
            "two-sided, in delta",
            Formula("Pr(abs(X) > sigma sqrt(2 log(2/delta))) <= delta", "P(|X| > sigma sqrt(2 log(2/delta))) <= delta"),
        ),
    ),
    cases=_cases(),
    check=check,
)
