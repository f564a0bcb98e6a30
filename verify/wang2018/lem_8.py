"""W18, Lemma 8: one posterior sample around its centre.

The squared distance times gamma is chi-square. The first bound is Laurent and Massart's; the second holds only for
``rho <= 1/e`` (docs/derivations/wang2018_appendix_d.md, section 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from flint import arb, fmpq

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import SHAPES, column, design, identity, quadratic, random_matrix, same
from .failure import chi_square_tail, failure_evidence, proved_probability

ID = "W18-L8"
TAIL, SHORT, POSTERIOR, MODEL = f"{ID}#tail", f"{ID}#short", f"{ID}#posterior", f"{ID}#model"

#: Coefficient of log(1/rho) in the chi-square bound.
TAILS = {"printed": 2.0, "coefficient 1.9": 1.9, "no cross term": 2.0}
#: Least log(1/rho), and the constant of the short bound.
SHORTS = {
    "printed": (1e-4, 5.0),
    "corrected": (1.0, 5.0),
    "rho up to exp(-0.95)": (0.95, 5.0),
    "constant 4.9": (1.0, 4.9),
}


def tail_evidence(case: Case) -> Evidence:
    """Decide the chi-square bound at one dimension and rho, exactly."""
    dim, rho, version = case.whole("dim"), case.number("rho"), version_name(case)

    def evaluate() -> Ball:
        log = (1 / arb(rho)).log()
        cross = 0 if version == "no cross term" else 2 * (dim * log).sqrt()
        return chi_square_tail(dim, dim + cross + arb(TAILS[version]) * log)

    return failure_evidence("chi-square bound", rho, exact=proved_probability(evaluate))


def short_evidence(case: Case) -> Evidence:
    """Decide ``d + 2 sqrt(d L) + 2 L <= 5 d L`` on a box in sqrt(d) and sqrt(L), ``L = log(1/rho)``."""
    least, constant = SHORTS[version_name(case)]
    if "dim" in case.params:
        return _short_at(case)
    box = {
        "sqrt(d)": Axis(1.0, 100.0),
        "sqrt(log(1/rho))": Axis(least**0.5 * (1 + 1e-9 * (case.standing is Standing.CORRECTED)), 30.0),
    }

    def slack(p: Mapping[str, Any]) -> Ball:
        e, s = p["sqrt(d)"], p["sqrt(log(1/rho))"]
        return constant * e * e * s * s - e * e - 2 * e * s - 2 * s * s

    proof = prove_nonnegative(slack, box, smooth=True)
    return box_evidence("5 d log(1/rho) minus the chi-square bound", proof, box)


def _short_at(case: Case) -> Evidence:
    """Return the chi-square bound over 5 d log(1/rho) at one d and rho."""

    def ratio() -> Ball:
        d, log = arb(case.whole("dim")), (1 / arb(case.number("rho"))).log()
        return (d + 2 * (d * log).sqrt() + 2 * log) / (5 * d * log)

    found = enclose(ratio)
    domain = case.standing is Standing.PRINTED or case.number("rho") <= math.exp(-1)
    claim = Claim("chi-square bound over 5 d log(1/rho)", 0.0, 1.0, 1.0, in_domain=domain, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == TAIL:
        return tail_evidence(case)
    if case.part == SHORT:
        return short_evidence(case)
    n, dim, seed, version = case.whole("n"), case.whole("dim"), case.whole("seed"), version_name(case)
    X, y, gamma = design(case.text("X"), n, dim, seed), random_matrix(n, 1, seed, 2), fmpq(3, 7)
    gram = X.transpose() * X
    if case.part == POSTERIOR:
        lam = fmpq(5, 4)
        precision = gamma * (gram + identity(dim, lam)) * (fmpq(101, 100) if version == "precision 1 % larger" else 1)
        damping = 2 * lam if version == "centre of F + lambda |theta|^2" else lam
        centre = (gram + identity(dim, damping)).inv() * (X.transpose() * y)
        theta = random_matrix(dim, 1, seed, 3)

        def exponent(at: Any) -> Any:
            residual = y - X * at
            return gamma * fmpq_of(quadratic(residual, identity(n))) + gamma * lam * fmpq_of(
                quadratic(at, identity(dim))
            )

        left = exponent(theta) - exponent(theta * 0)
        right = fmpq_of(quadratic(theta - centre, precision)) - fmpq_of(quadratic(centre, precision))
        return same("exponent of the posterior against that of the stated normal law", column(left), column(right))
    sigma2 = fmpq(9, 4)
    smoother = (gram + identity(dim, fmpq(1, 100) if version == "with a ridge" else 0)).inv() * X.transpose()
    left = sigma2 * (smoother * smoother.transpose()) + gram.inv() / gamma
    share = fmpq(101, 100) if version == "covariance 1 % larger" else 1
    right = (sigma2 + 1 / gamma) * share * gram.inv()
    unbiased = same("smoother times X against the identity", smoother * X, identity(dim))
    covariance = same("covariance against (sigma^2 + 1/gamma) (X^T X)^-1", left, right)
    return covariance if unbiased.exact and unbiased.exact.high == 0.0 else unbiased


def fmpq_of(value: Any) -> Any:
    """Return a fraction as a flint rational."""
    return fmpq(value.numerator, value.denominator)


def shared_cases(tail: str, short: str) -> tuple[Case, ...]:
    """Return the cases of the two bounds, which Lemma 9 shares."""
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    return (
        *grid(
            tail,
            printed,
            {"dim": (1, 2, 5, 50, 1000), "rho": (0.999, 0.9, 0.5, 0.1, 1e-3, 1e-9, 1e-30)},
            regime="exact law",
            quick_every=3,
        ),
        mutant(tail, "coefficient 1.9", {"dim": 1, "rho": 1e-300}, severity=0.05),
        mutant(tail, "no cross term", {"dim": 50, "rho": 0.1}),
        case(short, printed, {"dim": 1, "rho": 0.5}, role=Role.COUNTEREXAMPLE, regime="d = 1, rho = 1/2: 4.05 > 3.47"),
        case(short, printed, {}, regime="box"),
        case(short, corrected, {"dim": 1, "rho": 0.5}, role=Role.COUNTEREXAMPLE, regime="outside the corrected domain"),
        case(short, corrected, {}, regime="proved on the box"),
        *grid(short, corrected, {"dim": (1, 7, 1000), "rho": (0.3678, 0.1, 1e-12)}, regime="single values"),
        mutant(short, "rho up to exp(-0.95)", {}, severity=0.05),
        mutant(short, "constant 4.9", {}, severity=0.02),
    )


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"X": SHAPES, "n": (6,), "dim": (1, 3), "seed": (1, 2)}
    plain: dict[str, Value] = {"X": "generic", "n": 6, "dim": 3, "seed": 3}
    return (
        *shared_cases(TAIL, SHORT),
        *grid(POSTERIOR, Standing.PRINTED, axes, regime="designs", quick_every=3),
        *grid(MODEL, Standing.PRINTED, axes, regime="designs", quick_every=3),
        mutant(POSTERIOR, "precision 1 % larger", plain, severity=0.01),
        mutant(POSTERIOR, "centre of F + lambda |theta|^2", plain),
        mutant(MODEL, "covariance 1 % larger", plain, severity=0.01),
        mutant(MODEL, "with a ridge", plain),
    )


_LEFT = "norm(tilde(theta) - theta_lambda^*)_(X^T X + lambda I)^2"
DOC = "docs/derivations/wang2018_appendix_d.md, section 1"
WRONG = "As rho tends to 1 the right side tends to 0 and the left side to d; it needs log(1/rho) >= 1."

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="One posterior sample around its centre",
    locator="Lemma 8, appendix D.1",
    domain=(
        "Any X, y, gamma > 0 and lambda >= 0 with X^T X + lambda I invertible (lambda = 0 and gamma free of y in the last part), "
        "0 < rho < 1. Bounds decided exactly for d <= 1000, rho in [1e-30, 0.999]; proved for sqrt(d) <= 100 in the second"
    ),
    summary="True but for the short bound 5 d log(1/rho)/gamma, which fails for rho > 1/e; at d = 1, rho = 1/e it is an equality.",
    parts=(
        Part(
            TAIL,
            "distance with probability 1 - rho",
            Formula(
                _LEFT + " <= (d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/gamma",
                "||theta - theta*_lambda||^2 <= (d + 2 sqrt(d log(1/rho)) + 2 log(1/rho))/gamma with probability 1 - rho",
            ),
        ),
        Part(
            SHORT,
            "the shorter bound",
            Formula(
                "(d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/gamma <= (5 d log(1\\/rho))/gamma, quad 0 < rho < 1",
                "(d + 2 sqrt(d log(1/rho)) + 2 log(1/rho))/gamma <= 5 d log(1/rho)/gamma for 0 < rho < 1",
            ),
            Formula(
                "(d + 2 sqrt(d log(1\\/rho)) + 2 log(1\\/rho))/gamma <= (5 d log(1\\/rho))/gamma, quad 0 < rho <= 1\\/e",
                "the same for 0 < rho <= 1/e",
            ),
            WRONG,
            DOC,
        ),
        Part(
            POSTERIOR,
            "mean and covariance given the data",
            Formula(
                'EE[tilde(theta) | X, y] = theta_lambda^*, quad op("Cov")[tilde(theta) | X, y] = gamma^(-1) (X^T X + lambda I)^(-1)',
                "E[theta | X, y] = theta*_lambda, Cov[theta | X, y] = (X'X + lambda I)^-1/gamma",
            ),
        ),
        Part(
            MODEL,
            "mean and covariance under the linear model",
            Formula(
                'EE[tilde(theta) | X] = theta_0, quad op("Cov")[tilde(theta) | X] = (sigma^2 + gamma^(-1)) (X^T X)^(-1)',
                "E[theta | X] = theta_0, Cov[theta | X] = (sigma^2 + 1/gamma) (X'X)^-1",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
