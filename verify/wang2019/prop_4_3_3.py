"""W19, Proposition 4.3(3): the mean squared error of one-posterior sampling given the design, in rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from audits import Budget, Estimate

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .rational import Matrix, column, design, fraction, identity, matrix, proved, quadratic

ID = "W19-P4.3.3"
RISK, COVARIANCE, ORDER = f"{ID}#risk", f"{ID}#covariance", f"{ID}#order"


def trace(M: Matrix) -> Fraction:
    """Return the trace."""
    return sum((fraction(M[i, i]) for i in range(M.nrows())), Fraction(0))


def truth(X: Matrix, lam: int, gamma: int, variance: int, theta: Matrix) -> tuple[Fraction, Fraction, Fraction]:
    """Return the three terms of the exact risk: sampling variance of ridge, posterior noise, squared bias."""
    gram = X.transpose() * X
    inverse = (gram + identity(X.ncols(), lam)).inv()
    bias = quadratic(theta, inverse * inverse) * lam * lam
    return variance * trace(inverse * gram * inverse), trace(inverse) / gamma, bias


def check(case: Case, budget: Budget) -> Evidence:
    """Compare the printed risk with the exact one."""
    if case.part == ORDER:
        return _order(case)
    if case.params.get("shape") == "one record":
        X, theta = matrix(1, 1, [1]), column(0)
    else:
        dim = case.whole("dim")
        X, theta = design(case.text("shape"), case.whole("n"), dim, 3), column(*range(1, dim + 1))
    lam, gamma, variance = case.whole("lambda"), case.whole("gamma"), case.whole("sigma^2")
    sampling, noise, bias = truth(X, lam, gamma, variance, theta)
    inverse = (X.transpose() * X + identity(X.ncols(), lam)).inv()
    version = version_name(case)
    if case.part == COVARIANCE:  # trace of the posterior covariance
        wrong = trace(inverse * X.transpose() * X * inverse) / gamma
        value = wrong if version == "printed" else noise * (Fraction(101, 100) if version == "scaled by 1.01" else 1)
        return _ratio("trace of the printed posterior covariance over the true one", value, noise)
    printed: dict[str, Callable[[], Fraction]] = {
        "printed": lambda: variance * trace(inverse) * (1 + Fraction(1, gamma)) + bias,
        "posterior noise scaled by sigma^2": lambda: sampling + variance * noise + bias,
        "no bias": lambda: sampling + noise,
        "noise scaled by 1.01": lambda: sampling + noise * Fraction(101, 100) + bias,
    }
    value = printed.get(version, lambda: sampling + noise + bias)()
    return _ratio("printed mean squared error over the exact one", value, sampling + noise + bias)


def _ratio(quantity: str, value: Fraction, exact: Fraction) -> Evidence:
    claim = Claim(quantity, 1.0, 1.0, float(value), observer=Observer.OUTPUT, conditioned_on="the design")
    return Evidence(claim, exact=proved(value / exact), notes={"exact": float(exact)})


#: lambda_min as a power of n at fixed d: of order d/n as printed, n/d corrected.
GROWTH = {"printed": -1.0, "corrected": 1.0, "lambda_min = n^0.9": 0.9}
DECADES = 5.0


def _order(case: Case) -> Evidence:
    """Follow ``lambda^2 ||H^-1 theta||^2`` over its stated order, d = 1, lambda = n^(1/4), lambda_min = n^p: exact exponents."""
    power = GROWTH[version_name(case)]
    n = 10.0**DECADES
    # the bias is lambda^2/(lambda_min + lambda)^2 ||theta||^2, its stated order lambda^2 ||theta||^2 / n^2 (d = 1)
    ratio = (n / (n**power + n**0.25)) ** 2 / (1.0 / (1.0 + 1.0)) ** 2
    growth = math.log10(ratio)
    pad = 1e-9
    claim = Claim(
        "decades by which bias over its stated order grows, n from 1 to 1e5",
        -math.inf,
        1.0,
        0.0,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=Estimate.proved(growth - pad, growth + pad, "derived sequence"))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {
        "shape": ("generic", "nearly collinear", "one long row"),
        "n": (4, 9),
        "dim": (1, 3),
        "lambda": (1, 50),
        "gamma": (1, 20),
        "sigma^2": (1, 9),
    }
    smallest: dict[str, Value] = {"shape": "one record", "lambda": 1, "gamma": 1, "sigma^2": 1}
    plain: dict[str, Value] = {"shape": "generic", "n": 5, "dim": 2, "lambda": 3, "gamma": 2, "sigma^2": 4}
    out: list[Case] = []
    for part in (RISK, COVARIANCE):
        out.append(
            case(
                part,
                printed,
                smallest,
                role=Role.COUNTEREXAMPLE,
                regime="X = [1], lambda = gamma = sigma = 1, theta_0 = 0",
            )
        )
        out.append(
            case(part, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form")
        )
        out += grid(part, corrected, axes, regime="rational designs", quick_every=17)
    out += [mutant(RISK, name, plain) for name in ("posterior noise scaled by sigma^2", "no bias")]
    out.append(mutant(RISK, "noise scaled by 1.01", plain, severity=0.01))
    out.append(mutant(COVARIANCE, "scaled by 1.01", plain, severity=0.01))
    out.append(case(ORDER, printed, {}, role=Role.COUNTEREXAMPLE, regime="lambda_min of order d/n"))
    out.append(case(ORDER, corrected, {}, regime="lambda_min of order n/d"))
    out.append(mutant(ORDER, "lambda_min = n^0.9", {}, severity=0.1))
    return tuple(out)


_BIAS = "lambda_n^2 norm((X^T X + lambda_n I)^(-1) theta_0)^2"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="proposition",
    title="Statistical efficiency of one-posterior sampling",
    locator="Proposition 4.3(3) and its proof",
    domain="y ~ N(X theta_0, sigma^2 I), X fixed, theta_tilde the posterior sample, lambda_n >= 0, gamma_n > 0. Exact on rational designs, n up to 9, d up to 3",
    summary=(
        "The printed error scales the posterior noise with sigma^2 and uses the variance of least squares for that of ridge; it is right "
        "only for lambda = 0 and sigma = 1. The asymptotic efficiency it is used for survives the correction."
    ),
    parts=(
        Part(
            RISK,
            "mean squared error",
            printed=Formula(
                "EE norm(tilde(theta) - theta_0)^2 = sigma^2 tr[(X^T X + lambda_n I)^(-1)] (1 + gamma_n^(-1)) + "
                + _BIAS,
                "E||theta~ - theta_0||^2 = sigma^2 tr[H^-1](1 + 1/gamma) + lambda^2 ||H^-1 theta_0||^2, H = X'X + lambda I",
            ),
            corrected=Formula(
                "EE norm(tilde(theta) - theta_0)^2 = sigma^2 tr[H^(-1) X^T X H^(-1)] + gamma_n^(-1) tr[H^(-1)] + lambda_n^2 norm(H^(-1) theta_0)^2, quad H = X^T X + lambda_n I",
                "E||theta~ - theta_0||^2 = sigma^2 tr[H^-1 X'X H^-1] + tr[H^-1]/gamma + lambda^2 ||H^-1 theta_0||^2",
            ),
            what_went_wrong="The posterior covariance is H^-1/gamma whatever sigma is, and the variance of ridge is sigma^2 H^-1 X'X H^-1.",
            derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(3)",
        ),
        Part(
            COVARIANCE,
            "posterior covariance in the proof",
            printed=Formula(
                "(X^T X + lambda_n I)^(-1) X^T X (X^T X + lambda_n I)^(-1) \\/ gamma_n", "H^-1 X'X H^-1/gamma"
            ),
            corrected=Formula("(X^T X + lambda_n I)^(-1) \\/ gamma_n", "H^-1/gamma"),
            what_went_wrong="That is the sampling covariance of ridge (over sigma^2), not the covariance of the posterior.",
            derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(3)",
        ),
        Part(
            ORDER,
            "order of the bias",
            printed=Formula(
                "lambda_min = Omega(d\\/n) ==> lambda_n^2 norm(H^(-1) theta_0)^2 = O((lambda_n^2 d^2 norm(theta_0)^2)/n^2)",
                "lambda_min = Omega(d/n) implies a bias of order lambda^2 d^2 ||theta_0||^2/n^2",
            ),
            corrected=Formula(
                "lambda_min = Omega(n\\/d) ==> lambda_n^2 norm(H^(-1) theta_0)^2 = O((lambda_n^2 d^2 norm(theta_0)^2)/n^2)",
                "lambda_min = Omega(n/d) implies a bias of order lambda^2 d^2 ||theta_0||^2/n^2",
            ),
            what_went_wrong="d and n have changed places: conditions (b) and (d) give a smallest eigenvalue of order n/d.",
            derivation="docs/derivations/wang2019_section_4.md, Proposition 4.3(3)",
        ),
    ),
    cases=_cases(),
    check=check,
)
