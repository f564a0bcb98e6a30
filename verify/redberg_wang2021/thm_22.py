"""RW21, Theorem 22: the ex-post loss of the Gaussian mechanism at an outcome, an identity of rational numbers.

As printed, Delta_z bounds the change of the statistic; the formula holds when Delta_z *is* the change, taken from D to
its neighbour, and for no other bound (docs/derivations/redberg_wang2021_lemmas.md, Theorem 22).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import proved

ID = "RW21-T22"
Vector = list[Fraction]


def instance(case: Case) -> tuple[Vector, Vector, Vector, Fraction]:
    """Return Q(D), the change, the outcome and sigma^2 of a case, all rational."""
    if "dim" not in case.params:  # the smallest counterexample: the statistic does not change, the bound is 1
        return [Fraction(0)], [Fraction(0)], [Fraction(0)], Fraction(1)
    dim, seed = case.whole("dim"), case.whole("seed")
    rng = np.random.Generator(np.random.PCG64DXSM([dim, seed]))
    q, change, outcome = ([Fraction(int(k), 8) for k in rng.integers(-40, 41, dim)] for _ in range(3))
    return q, change, outcome, Fraction(case.whole("sigma^2"))


def check(case: Case, budget: Budget) -> Evidence:
    """Compare the printed formula with the log density ratio, both rational (the normal constants cancel)."""
    q, change, outcome, variance = instance(case)
    moved = [a + b for a, b in zip(q, change, strict=True)]
    truth = abs(sum(((o - b) ** 2 - (o - a) ** 2 for o, a, b in zip(outcome, q, moved, strict=True)), Fraction(0))) / (
        2 * variance
    )
    version = version_name(case)
    delta = {
        "printed": [abs(c) + 1 for c in change],  # a bound on the change, as the theorem allows
        "change taken backwards": [-c for c in change],
    }.get(version, change)
    square = sum((d * d for d in delta), Fraction(0)) / (2 * variance)
    inner = sum((d * (o - a) for d, o, a in zip(delta, outcome, q, strict=True)), Fraction(0)) / variance
    if version == "no half":
        square *= 2
    formula = abs(square - inner) * (Fraction(101, 100) if version == "scaled by 1.01" else 1)
    claim = Claim(
        "printed loss minus log density ratio",
        0.0,
        0.0,
        float(formula),
        observer=Observer.OUTPUT,
        conditioned_on="the outcome",
    )
    return Evidence(claim, exact=proved(formula - truth), notes={"loss": float(truth)})


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"dim": (1, 2, 7), "seed": (1, 2, 3, 4), "sigma^2": (1, 9)}
    plain: dict[str, Value] = {"dim": 3, "seed": 9, "sigma^2": 4}
    return (
        case(
            ID,
            Standing.PRINTED,
            {},
            role=Role.COUNTEREXAMPLE,
            regime="no change, Delta = 1, o = Q(D): loss 0, printed 1/2",
        ),
        *grid(ID, Standing.PRINTED, axes, regime="a bound on the change", quick_every=8),
        case(ID, Standing.CORRECTED, {}, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(ID, Standing.CORRECTED, axes, regime="random rationals", quick_every=4),
        mutant(ID, "change taken backwards", plain),
        mutant(ID, "no half", plain),
        mutant(ID, "scaled by 1.01", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Ex-post loss of the Gaussian mechanism",
    locator="Supplement F, Theorem 22",
    domain="o = Q(D) + N(0, sigma^2 I), one record added or removed, every outcome. Decided on rational instances, dim up to 7",
    summary="True as an identity once Delta_z is the change of the statistic; the theorem introduces it as a bound on the change.",
    parts=(
        Part(
            ID,
            "loss at an outcome",
            printed=Formula(
                "abs(Q(D_(plus.minus z)) - Q(D)) <= Delta_z ==> epsilon(o) = abs(norm(Delta_z)^2/(2 sigma^2) - (Delta_z^T (o - Q(D)))/sigma^2)",
                "|Q(D+-z) - Q(D)| <= Delta_z implies epsilon(o) = | ||Delta_z||^2/(2 sigma^2) - Delta_z'(o - Q(D))/sigma^2 |",
            ),
            corrected=Formula(
                "Q(D_(plus.minus z)) - Q(D) = Delta_z ==> epsilon(o) = abs(norm(Delta_z)^2/(2 sigma^2) - (Delta_z^T (o - Q(D)))/sigma^2)",
                "Q(D+-z) - Q(D) = Delta_z implies epsilon(o) = | ||Delta_z||^2/(2 sigma^2) - Delta_z'(o - Q(D))/sigma^2 |",
            ),
            what_went_wrong="The loss at an outcome is not monotone in the change, so a bound on the change gives neither the loss nor a bound on it.",
            derivation="docs/derivations/redberg_wang2021_lemmas.md, Theorem 22",
        ),
    ),
    cases=_cases(),
    check=check,
)
