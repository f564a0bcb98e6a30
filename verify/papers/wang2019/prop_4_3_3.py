"""W19, Proposition 4.3(3): the mean squared error of one-posterior sampling given the design, in rational arithmetic."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from audits import Estimate

from ...kernel.declare import At, Decide, Display, Form, Mutant, over, refuting, smallest, statement
from ...methods.rational import Matrix, column, design, equal, identity, matrix, quadratic, trace
from ..kit import Case, Claim, Evidence, Measure, Observer


@dataclass(frozen=True)
class Risk:
    """The terms of the error at a design: sampling variance of ridge, posterior noise, squared bias, and ``tr H^-1``."""

    variance: int
    gamma: int
    sampling: Fraction
    bias: Fraction
    inverse_trace: Fraction
    sandwich_trace: Fraction

    @classmethod
    def of(cls, case: Case) -> "Risk":
        """Return the terms of a case."""
        X, theta = _data(case)
        lam, gamma, variance = case.whole("lambda"), case.whole("gamma"), case.whole("sigma^2")
        gram = X.transpose() * X
        inverse = (gram + identity(X.ncols(), lam)).inv()
        sandwich = trace(inverse * gram * inverse)
        bias = quadratic(theta, inverse * inverse) * lam * lam
        return cls(variance, gamma, variance * sandwich, bias, trace(inverse), sandwich)

    @property
    def noise(self) -> Fraction:
        """Trace of the posterior covariance."""
        return self.inverse_trace / self.gamma

    @property
    def total(self) -> Fraction:
        """The exact error."""
        return self.sampling + self.noise + self.bias


def _data(case: Case) -> tuple[Matrix, Matrix]:
    """Return the design and theta_0."""
    if case.text("shape") == "one record":
        return matrix(1, 1, [1]), column(0)
    dim = case.whole("dim")
    return design(case.text("shape"), case.whole("n"), dim, 3), column(*range(1, dim + 1))


def _compare(quantity: str, stated: Callable[[Risk], Fraction], truth: Callable[[Risk], Fraction]) -> Decide:
    """Return the check of a stated number over the exact one."""

    def check(case: Case) -> Evidence:
        risk = Risk.of(case)
        value, exact = stated(risk), truth(risk)
        return equal(quantity, value, exact, float(value), conditioned_on="the design", notes={"exact": float(exact)})

    return check


def _error(stated: Callable[[Risk], Fraction]) -> Decide:
    return _compare("printed mean squared error over the exact one", stated, lambda risk: risk.total)


def _covariance(stated: Callable[[Risk], Fraction]) -> Decide:
    words = "trace of the printed posterior covariance over the true one"
    return _compare(words, stated, lambda risk: risk.noise)


DECADES = 5.0


def _order(case: Case, *, power: float) -> Evidence:
    """Follow ``lambda^2 ||H^-1 theta||^2`` over its stated order, d = 1, lambda = n^(1/4), lambda_min = n^power: exact exponents."""
    n = 10.0**DECADES
    # the bias is lambda^2/(lambda_min + lambda)^2 ||theta||^2, its stated order lambda^2 ||theta||^2 / n^2 (d = 1)
    growth = math.log10((n / (n**power + n**0.25)) ** 2 / (1.0 / (1.0 + 1.0)) ** 2)
    words = "decades by which bias over its stated order grows, n from 1 to 1e5"
    claim = Claim(words, -math.inf, 1.0, 0.0, observer=Observer.OUTPUT, measure=Measure.GROWTH)
    return Evidence(claim, exact=Estimate.proved(growth - 1e-9, growth + 1e-9, "derived sequence"))


AXES = {
    "shape": ("generic", "nearly collinear", "one long row"), "n": (4, 9), "dim": (1, 3), "lambda": (1, 50),
    "gamma": (1, 20), "sigma^2": (1, 9),
}  # fmt: skip
SMALLEST = {"shape": "one record", "lambda": 1, "gamma": 1, "sigma^2": 1}
PRINTED = [smallest("X = [1], lambda = gamma = sigma = 1, theta_0 = 0", SMALLEST)]
CORRECTED = [refuting(SMALLEST), *over("rational designs", AXES, quick_every=17)]
PLAIN = {"shape": "generic", "n": 5, "dim": 2, "lambda": 3, "gamma": 2, "sigma^2": 4}
HUNDREDTH = Fraction(101, 100)
ORDER = "lambda_min = Omega({power}) ==> lambda_n^2 norm(H^(-1) theta_0)^2 = O((lambda_n^2 d^2 norm(theta_0)^2)/n^2)"

STATEMENT = statement(
    "W19-P4.3.3",
    domain="y ~ N(X theta_0, sigma^2 I), X fixed, theta_tilde the posterior sample, lambda_n >= 0, gamma_n > 0. Exact on rational designs, n up to 9, d up to 3",
    summary="The printed error scales the posterior noise with sigma^2 and uses the variance of least squares for that of ridge; it is right "
    "only for lambda = 0 and sigma = 1. The asymptotic efficiency it is used for survives the correction.",
    derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(3)",
    displays={
        "#risk": Display(
            "mean squared error",
            printed=Form(
                "EE norm(tilde(theta) - theta_0)^2 = sigma^2 tr[(X^T X + lambda_n I)^(-1)] (1 + gamma_n^(-1)) + "
                "lambda_n^2 norm((X^T X + lambda_n I)^(-1) theta_0)^2",
                _error(lambda risk: risk.variance * risk.inverse_trace * (1 + Fraction(1, risk.gamma)) + risk.bias),
                PRINTED,
            ),
            corrected=Form(
                "EE norm(tilde(theta) - theta_0)^2 = sigma^2 tr[H^(-1) X^T X H^(-1)] + gamma_n^(-1) tr[H^(-1)] + lambda_n^2 norm(H^(-1) theta_0)^2, quad H = X^T X + lambda_n I",
                _error(lambda risk: risk.total),
                CORRECTED,
            ),
            wrong="The posterior covariance is H^-1/gamma whatever sigma is, and the variance of ridge is sigma^2 H^-1 X'X H^-1.",
            mutants={
                "posterior noise scaled by sigma^2": Mutant(
                    _error(lambda risk: risk.sampling + risk.variance * risk.noise + risk.bias), PLAIN
                ),
                "no bias": Mutant(_error(lambda risk: risk.sampling + risk.noise), PLAIN),
                "noise scaled by 1.01": Mutant(
                    _error(lambda risk: risk.sampling + risk.noise * HUNDREDTH + risk.bias), PLAIN, severity=0.01
                ),
            },
        ),
        ".p": Display(
            printed=Form(
                "(X^T X + lambda_n I)^(-1) X^T X (X^T X + lambda_n I)^(-1) \\/ gamma_n",
                _covariance(lambda risk: risk.sandwich_trace / risk.gamma),
                PRINTED,
            ),
            corrected=Form("(X^T X + lambda_n I)^(-1) \\/ gamma_n", _covariance(lambda risk: risk.noise), CORRECTED),
            wrong="That is the sampling covariance of ridge (over sigma^2), not the covariance of the posterior.",
            mutants={"scaled by 1.01": Mutant(_covariance(lambda risk: risk.noise * HUNDREDTH), PLAIN, severity=0.01)},
        ),
        "#order": Display(
            "order of the bias",
            printed=Form(
                ORDER.format(power="d\\/n"), partial(_order, power=-1.0), [smallest("lambda_min of order d/n", {})]
            ),
            corrected=Form(ORDER.format(power="n\\/d"), partial(_order, power=1.0), [At("lambda_min of order n/d")]),
            wrong="d and n have changed places: conditions (b) and (d) give a smallest eigenvalue of order n/d.",
            mutants={"lambda_min = n^0.9": Mutant(_order, {}, severity=0.1, power=0.9)},
        ),
    },
)
