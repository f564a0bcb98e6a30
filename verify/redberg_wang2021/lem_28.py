"""RW21, Lemma 28: the maximum of n subgaussian variables, decided on normal and on two-valued ones."""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import enclose, ndtr_ball

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value

ID = "RW21-L28"
#: Coefficient of ``log n`` and of ``t`` under the root: both 2 as printed.
VERSIONS = {
    "printed": (2.0, 2.0),
    "no log n": (0.0, 2.0),
    "t counted 10 % less": (2.0, 1.8),
    "log n counted 10 % less": (1.8, 2.0),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose ``P(max >= threshold) exp(t)`` for sigma = 1: a normal power, or a binomial probability."""
    n, t, law = case.whole("n"), case.number("t"), case.text("law")
    of_n, of_t = VERSIONS[version_name(case)]

    def ratio() -> object:
        threshold = (arb(of_n) * arb(n).log() + arb(of_t) * arb(t)).sqrt()
        if law == "normal":
            above = -((-ndtr_ball(-threshold)).log1p() * n).expm1()
        else:  # X = +-1 with probability 1/2 each, which is 1-subgaussian
            share = Fraction(1) - Fraction(1, 2) ** n if threshold <= 1 else Fraction(0)
            above = arb(share.numerator) / share.denominator
        return above * arb(t).exp()

    found = enclose(ratio)
    claim = Claim("P(max >= threshold) over exp(-t)", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "closed form, ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"n": (1, 2, 10, 1000, 10**6), "t": (1e-3, 0.4, 1.0, 5.0, 30.0, 200.0)}
    return (
        *grid(ID, Standing.PRINTED, axes | {"law": ("normal",)}, regime="normal variables", quick_every=4),
        *grid(ID, Standing.PRINTED, axes | {"law": ("two-valued",)}, regime="two-valued variables", quick_every=4),
        mutant(ID, "no log n", {"n": 1000, "t": 1.0, "law": "normal"}),
        mutant(ID, "t counted 10 % less", {"n": 1, "t": 200.0, "law": "normal"}, severity=0.1),
        mutant(ID, "log n counted 10 % less", {"n": 10**6 * 10**300, "t": 1.0, "law": "normal"}, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Maximum of subgaussian variables",
    locator="Supplement G, Lemma 28",
    domain="X_1, ..., X_n i.i.d. sigma^2-subgaussian with mean 0, t > 0. Decided for normal and two-valued variables, n up to 1e6",
    summary="True: a union bound over Chernoff's bound, which every subgaussian law obeys. For normal variables it is at least twice too large.",
    parts=(
        Part(
            ID,
            "tail of the maximum",
            Formula(
                "Pr[max_i X_i >= sqrt(2 sigma^2 (log n + t))] <= e^(-t)",
                "P(max_i X_i >= sqrt(2 sigma^2 (log n + t))) <= exp(-t)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
