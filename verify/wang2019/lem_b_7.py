"""W19, Lemma B.7: the matrix Hoeffding inequality, by exact enumeration of signs and exact binomial sums.

As printed ``sigma^2`` may be any number at most the norm of ``sum A_i^2``, which makes the bound as small as one
likes; the theorem that is quoted has equality (docs/derivations/wang2019_sections_2_3.md, Lemma B.7).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from flint import arb, fmpq_mat

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rational import Matrix, identity, largest_eigenvalue, negative_pivots, random_matrix

ID = "W19-LB.7"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide P(lambda_max >= t) over d exp(-t^2/(2 sigma^2)), sigma^2 a stated share of the norm."""
    dim, share = case.whole("dim"), Fraction(case.number("share"))
    version = version_name(case)
    if case.params["sum"] == "scalar":
        t = Fraction(case.number("t"))
        one = _binomial_tail(case.whole("n"), t)
        exact, norm = 1 - (1 - one) ** dim, (Fraction(case.whole("n")),) * 2
    else:
        exact, norm, t = _enumerated(case)
    factor = 1 if version == "no factor d" else dim

    def bound(square: Fraction) -> Ball:
        return factor * (-(arb(t.numerator) ** 2) / t.denominator**2 / (2 * _ball(square * share))).exp()

    low, high = enclose(lambda: _ball(exact) / bound(norm[1])), enclose(lambda: _ball(exact) / bound(norm[0]))
    top = enclose(lambda: bound(norm[1]))
    claim = Claim(
        "P(lambda_max >= t) over the bound",
        0.0,
        1.0,
        top.mid,
        in_domain=top.low < 1.0,
        observer=Observer.OUTPUT,
    )
    found = Estimate.proved(low.low, high.high, "exact enumeration")
    return Evidence(claim, exact=found, notes={"probability": float(exact), "sigma^2": float(norm[1] * share)})


def _ball(value: Fraction) -> Ball:
    return arb(value.numerator) / value.denominator


def _binomial_tail(n: int, t: Fraction) -> Fraction:
    """Return the probability that the sum of ``n`` fair signs is at least ``t``."""
    first = max(0, math.ceil((t + n) / 2))
    term, total = math.comb(n, first) if first <= n else 0, 0
    for k in range(first, n + 1):
        total += term
        term = term * (n - k) // (k + 1)
    return Fraction(total, 2**n)


def _enumerated(case: Case) -> tuple[Fraction, tuple[Fraction, Fraction], Fraction]:
    """Return the exact probability, bounds of the norm of ``sum A_i^2`` and t, which is a share of its root."""
    dim, n, seed = case.whole("dim"), case.whole("n"), case.whole("seed")
    terms = [_symmetric(dim, seed, i, case.text("sum")) for i in range(n)]
    square = terms[0] * 0
    for A in terms:
        square = square + A * A
    norm = largest_eigenvalue(square)
    t = Fraction(round(case.number("t over sigma") * math.sqrt(float(norm[1])) * 64), 64)
    steps = (-1, 0, 1) if case.params["sum"] == "lazy signs" else (-1, 1)
    weights = (
        {-1: Fraction(1, 4), 0: Fraction(1, 2), 1: Fraction(1, 4)}
        if len(steps) == 3
        else dict.fromkeys(steps, Fraction(1, 2))
    )
    total = Fraction(0)
    for signs in product(steps, repeat=n):
        S = terms[0] * 0
        for s, A in zip(signs, terms, strict=True):
            S = S + A * s
        # lambda_max >= t exactly when t I - S is not positive definite (a zero pivot included)
        if negative_pivots(identity(dim, 1) * _rational(t) - S) != 0:
            total += math.prod((weights[s] for s in signs), start=Fraction(1))
    return total, norm, t


def _rational(value: Fraction) -> Matrix:
    return fmpq_mat(1, 1, [value.numerator])[0, 0] / value.denominator


def _symmetric(dim: int, seed: int, index: int, kind: str) -> Matrix:
    M = random_matrix(dim, dim, seed, index, scale=1)
    if kind == "commuting":
        return fmpq_mat(dim, dim, [M[0, i] if i == j else 0 for i in range(dim) for j in range(dim)])
    return M + M.transpose()


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"sum": "scalar", "dim": 1, "n": 1, "t": 1.0}
    scalar: dict[str, tuple[Value, ...]] = {
        "sum": ("scalar",),
        "dim": (1, 5, 100),
        "n": (1, 2, 10, 400),
        "t": (1.5, 3.0, 9.0, 40.0, 120.0),
        "share": (1.0,),
    }
    matrices: dict[str, tuple[Value, ...]] = {
        "sum": ("signs", "lazy signs", "commuting"),
        "dim": (2, 3),
        "n": (5,),
        "seed": (1, 2),
        "t over sigma": (1.5, 2.0),
        "share": (1.0,),
    }
    far: dict[str, Value] = {"sum": "scalar", "dim": 1, "n": 2000, "t": 358.0}
    return (
        case(
            ID,
            printed,
            smallest | {"share": 0.25},
            role=Role.COUNTEREXAMPLE,
            regime="one fair sign, A = 1, sigma^2 = 1/4 <= 1",
        ),
        case(ID, printed, smallest | {"share": 1.0}, regime="one fair sign, sigma^2 = 1"),
        case(ID, printed, far | {"share": 1.0}, regime="eight standard deviations"),
        case(
            ID,
            corrected,
            smallest | {"share": 1.0},
            role=Role.COUNTEREXAMPLE,
            regime="the case that refutes the printed form, with equality",
        ),
        *grid(ID, corrected, scalar, regime="independent copies of a sum of signs", quick_every=7),
        *grid(ID, corrected, matrices, regime="all sign patterns of random symmetric matrices", quick_every=5),
        case(ID, corrected, far | {"share": 1.0}, regime="eight standard deviations"),
        mutant(ID, "sigma^2 cut by 10 %", far | {"share": 0.9}, severity=0.1),
        mutant(ID, "no factor d", {"sum": "scalar", "dim": 100, "n": 100, "t": 20.0, "share": 1.0}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Matrix Hoeffding inequality",
    locator="Appendix B, Lemma B.7",
    domain=(
        "Independent self-adjoint X_i of size d, mean 0, X_i^2 at most A_i^2, t >= 0; no claim is counted where the bound is 1 or "
        "more. Quoted from Mackey et al. 2014; decided for real symmetric signs, d <= 3, n = 5, and sums of up to 2000 scalar signs"
    ),
    summary="A misprint: sigma^2 is the norm of the sum of the A_i^2, not any number below it. With equality the cases hold.",
    parts=(
        Part(
            ID,
            "tail of the largest eigenvalue",
            printed=Formula(
                "Pr(lambda_max (sum_(i=1)^n X_i) >= t) <= d e^(-t^2\\/2 sigma^2), quad sigma^2 <= norm(sum_(i=1)^n A_i^2)",
                "P(lambda_max(sum X_i) >= t) <= d exp(-t^2/(2 sigma^2)), sigma^2 <= ||sum A_i^2||",
            ),
            corrected=Formula(
                "Pr(lambda_max (sum_(i=1)^n X_i) >= t) <= d e^(-t^2\\/2 sigma^2), quad sigma^2 = norm(sum_(i=1)^n A_i^2)",
                "P(lambda_max(sum X_i) >= t) <= d exp(-t^2/(2 sigma^2)), sigma^2 = ||sum A_i^2||",
            ),
            what_went_wrong="The sign <= stands for an equals sign (or >=): a smaller sigma^2 claims a smaller tail than there is.",
            derivation="docs/derivations/wang2019_sections_2_3.md, Lemma B.7",
        ),
    ),
    cases=_cases(),
    check=check,
)
