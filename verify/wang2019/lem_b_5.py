"""W19, Lemma B.5: a bound on the two-sided normal tail, a claim in one variable.

Proved on the box [1e-9, 40] by branch and bound; above 40 it is Mills' bound, below 1e-9 the bound exceeds 1
(docs/derivations/wang2019_sections_2_3.md, Lemma B.5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement

ID = "W19-LB.5"
#: Coefficients that stand for the printed 2; sqrt(2/pi) = 0.798 is the smallest that is enough.
COEFFICIENTS = {"printed": 2.0, "coefficient 0.77": 0.77, "exponent -0.525 t^2": 2.0}
BOX = {"epsilon": Axis(1e-9, 40.0)}


def slack(p: Mapping[str, Any], coefficient: float, exponent: float) -> Ball:
    """Return ``coefficient - epsilon exp(exponent epsilon^2) P(|X| > epsilon)``, the printed inequality rescaled."""
    t = p["epsilon"]
    return coefficient - t * (exponent * t * t).exp() * (t / arb(2).sqrt()).erfc()


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the whole box, or the ratio of both sides at one epsilon in ball arithmetic."""
    version = version_name(case)
    exponent = 0.525 if version.startswith("exponent") else 0.5
    if "epsilon" not in case.params:
        proof = prove_nonnegative(lambda p: slack(p, COEFFICIENTS[version], exponent), BOX)
        return box_evidence("coefficient minus epsilon exp(epsilon^2/2) P(|X| > epsilon)", proof, BOX)
    t = case.number("epsilon")
    found = enclose(
        lambda: (arb(t) / arb(2).sqrt()).erfc() * arb(t) * (arb(exponent) * arb(t) ** 2).exp() / COEFFICIENTS[version]
    )
    claim = Claim("P(|X| > epsilon) over the bound", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    return (
        case(ID, Standing.PRINTED, {}, regime="proved on the box"),
        *grid(
            ID,
            Standing.PRINTED,
            {"epsilon": (1e-300, 1e-9, 1e-3, 0.5, 1.0, 3.0, 8.0, 37.0, 100.0, 1e4)},
            regime="inside and outside the box",
        ),
        mutant(ID, "coefficient 0.77", {}, severity=0.035),
        mutant(ID, "exponent -0.525 t^2", {"epsilon": 10.0}, severity=0.05),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Gaussian tail bound",
    locator="Appendix B, Lemma B.5",
    domain="X standard normal, epsilon > 0. Proved for epsilon in [1e-9, 40] by branch and bound, outside by Mills' bound",
    summary=(
        "True. Loose by a factor sqrt(2 pi) = 2.51: the coefficient sqrt(2/pi) = 0.798 is enough, and the least possible. "
        "The proof of W19-T4.1 applies the lemma with the wrong argument (W19-T4.1p)."
    ),
    parts=(
        Part(
            ID,
            "two-sided normal tail",
            printed=Formula(
                "Pr(abs(X) > epsilon) <= (2 e^(-epsilon^2\\/2))/epsilon",
                "P(|X| > epsilon) <= 2 exp(-epsilon^2/2)/epsilon",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
