"""W18, Table 2: estimation error in the linear Gaussian model; units, the caption's simplification, and SSP's mean.

The mean squared error of SSP is infinite, since its noisy Gram matrix comes arbitrarily close to a singular one; it is
finite given that the noise stays below half the spectrum (docs/derivations/wang2018_rates.md, section 5).
"""

import math
from fractions import Fraction
from functools import partial

from flint import arb

from audits import Budget, Estimate
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.numerics.balls import Ball, enclose, ndtr_ball

from ...methods.rational import between
from ...methods.scaling import ERROR, NUMBER, rate
from ...methods.truncated import NoisyMoments, conditional_error
from ..kit import Case, Claim, Display, Evidence, Form, Mutant, Observer, over, smallest, statement


def _infinite(case: Case) -> Evidence:
    """Bound the mean from below: one record (1, 1), bounds 1, so theta* = 1; a small denominator alone exceeds it."""
    epsilon, delta, constant = (case.number(name) for name in ("epsilon", "delta", "constant"))
    mechanism = SufficientStatistics.published(epsilon, delta, x_bound=1.0, y_bound=1.0)
    rate = math.log(1 / delta) / epsilon**2
    nearness = 2.0 ** -math.ceil(math.log2(1e4 * constant * rate))

    def low() -> Ball:
        # given 0 < 1 + E1 < nearness and E2 > 0 the error is above (1/nearness - 1)^2
        s, near = arb(mechanism.sigma_gram), arb(nearness)
        return (1 / near - 1) ** 2 * (ndtr_ball((near - 1) / s) - ndtr_ball(-1 / s)) / 2

    claim = Claim("mean squared error of SSP", 0.0, constant * rate, rate, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(enclose(low).low, math.inf, "an event's share, ball arithmetic"))


def _conditional(case: Case, budget: Budget, *, constant: float) -> Evidence:
    """Enclose the mean given the event, relative to the corrected rate at X = Y = theta* = 1."""
    smallest, dim = case.number("lambda_min"), case.whole("dim")
    delta, epsilon = 1e-3, 1.0
    mechanism = SufficientStatistics.published(epsilon, delta, x_bound=1.0, y_bound=1.0)
    spectrum = [smallest * (1 + 9 * i) for i in range(dim)]
    setting = NoisyMoments(spectrum, mechanism.sigma_gram, mechanism.sigma_moment, 1.0)
    rate = constant * math.log(4 / delta) / epsilon**2 * setting.trace2
    event = "||E1|| <= lambda_min/2, an event that does not depend on the responses"
    return conditional_error("mean squared error of SSP given the event", rate, event, setting, budget)


def _caption(case: Case, *, power: int = 2, second_power: int = 1, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare the two traces of a spectrum with ``factor`` times their bounds at the alpha of that spectrum, bound 1.

    ``power`` and ``second_power`` are those of d in the bounds.
    """
    dim, n = case.whole("dim"), case.whole("n")
    smallest = Fraction(n, 4 * dim)
    values = {
        "flat": [smallest] * dim,
        "one small": [smallest] + [Fraction(n, dim)] * (dim - 1),
        "spread": [smallest * (1 + Fraction(3 * i, dim)) for i in range(dim)],
    }[case.text("spectrum")]
    alpha = min(values) * dim / n
    first, second = sum(1 / v for v in values), sum(1 / v**2 for v in values)
    bounds = factor * Fraction(dim) ** power / (alpha * n), factor * Fraction(dim) ** second_power / (alpha * n) * first
    ratio = max(first / bounds[0], second / bounds[1])
    return between("larger of the two traces over its bound", ratio, 0.0, 1.0, 1.0, notes={"alpha": float(alpha)})


GROWING = {"epsilon": (1.0,), "delta": (1e-3, 1e-9), "constant": (1.0, 1e2, 1e4, 1e6)}
SPECTRA = {"dim": (1, 2, 30), "n": (100, 10**6), "spectrum": ("flat", "one small", "spread")}
FLAT = {"dim": 30, "n": 100, "spectrum": "flat"}

STATEMENT = statement(
    "W18-T2",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed, constants dropped; first column in mean square, second relative to least squares at "
    "alpha = Omega(1). The corrected mean is decided for probability of the event at least 1/2 (all, in one dimension)",
    summary="Units are right and the caption's traces are right with constant 1/alpha. But the mean squared error of SSP is infinite for every "
    "X, so neither of its entries holds in mean; given a noise matrix below half the spectrum the rate holds with constant 96 (9.4 in "
    "one dimension), with log(4/delta). Entries of Sub-Agg and OPS are quoted; AdaOPS and AdaSSP are decided in TH2iii, TH3iii.",
    derivation="docs/derivations/wang2018_rates.md, section 5",
    displays={
        "#OPS": rate(
            "units: OPS, mean squared error",
            ERROR,
            'O((norm(cal(X))^2 norm(Theta)^2)/epsilon) op("tr")[(X^T X)^(-1)]',
            "X^2 Theta^2 epsilon^-1 trace1",
        ),
        "#OPS efficiency": rate(
            "units: OPS, relative efficiency",
            NUMBER,
            "tilde(O)((norm(cal(X))^2 norm(Theta)^2)/(epsilon sigma^2))",
            "X^2 Theta^2 epsilon^-1 sigma^-2",
        ),
        "#SSP": rate(
            "units: SSP, mean squared error",
            ERROR,
            'O((log(1/delta) norm(cal(X))^4 norm(theta^*)^2)/epsilon^2 op("tr")[(X^T X)^(-2)])',
            "log X^4 theta^2 epsilon^-2 trace2",
        ),
        "#adaptive": rate(
            "units: AdaOPS and AdaSSP, mean squared error",
            ERROR,
            'O((d log(1/delta) norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2) op("tr")[(X^T X)^(-1)])',
            "d log X^2 theta^2 alpha^-1 n^-1 epsilon^-2 trace1",
        ),
        "#efficiency": rate(
            "units: SSP, AdaOPS and AdaSSP, relative efficiency",
            NUMBER,
            "1 + tilde(O)((d norm(cal(X))^2 norm(theta_0)^2)/(n epsilon^2 sigma^2) + d^3/(n^2 epsilon^2))",
            "d X^2 theta^2 n^-1 epsilon^-2 sigma^-2",
            "d^3 n^-2 epsilon^-2",
        ),
        "#caption": Display(
            "traces of the inverse Gram matrix",
            Form(
                'op("tr")[(X^T X)^(-1)] = O(d^2 n^(-1) norm(cal(X))^(-2)), quad op("tr")[(X^T X)^(-2)] = O(d n^(-1) norm(cal(X))^(-2) op("tr")[(X^T X)^(-1)]), quad alpha = Omega(1)',
                _caption,
                over("spectra with alpha = 1/4", SPECTRA, quick_every=4),
            ),
            mutants={
                "constants cut by 10 %": Mutant(_caption, FLAT, severity=0.1, factor=Fraction(9, 10)),
                "d for d^2": Mutant(_caption, FLAT, power=1),
                "no d in the second": Mutant(_caption, FLAT, second_power=0),
            },
        ),
        "#SSP mean": Display(
            "SSP, mean squared error",
            Form(
                'EE norm(hat(theta) - theta^*)^2 = O((log(1/delta) norm(cal(X))^4 norm(theta^*)^2)/epsilon^2 op("tr")[(X^T X)^(-2)])',
                _infinite,
                [smallest("one record (1, 1)", at.params) for at in over("", GROWING)],
            ),
            Form(
                'EE[norm(hat(theta) - theta^*)^2 | norm(E_1) <= lambda_min/2] <= 96 (log(4/delta) norm(cal(X))^4 norm(theta^*)^2)/epsilon^2 op("tr")[(X^T X)^(-2)]',
                partial(_conditional, constant=96.0),
                [
                    *over("one dimension, exact", {"lambda_min": (1e-2, 1.0, 10.0, 25.0, 40.0, 1e3, 1e6), "dim": (1,)}),
                    *over(
                        "more dimensions, sampled",
                        {"lambda_min": (60.0, 120.0), "dim": (2, 4)},
                        draws=(1_000, 4_000, 40_000),
                        quick_every=4,
                    ),
                ],
            ),
            "X^T X plus Gaussian noise has a density near singular matrices, so the mean of the squared error is infinite.",
            {
                "constant 9.2 (least possible in one dimension: 9.42)": Mutant(
                    _conditional, {"lambda_min": 27.5, "dim": 1}, severity=0.025, constant=9.2
                )
            },
        ),
        "#rates": Display(
            "the quoted entries of Sub-Agg and OPS",
            Form(
                'O(("poly"(d, norm(Theta), norm(cal(X)), alpha^(-1)))/(epsilon^(1.2) n^(1.2))) quad "and the entries of OPS"'
            ),
        ),
    },
)
