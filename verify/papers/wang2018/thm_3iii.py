"""W18, Theorem 3(iii): estimation error of AdaSSP in the linear Gaussian model, in both readings of its last line.

With the raw matrix of our copy the error is an exact sum; with the released matrix, which the proof analyses and which
privacy needs, neither the mean nor the mean square exists (docs/derivations/wang2018_rates.md, section 7).
"""

import math
from functools import partial

from flint import arb
from scipy.special import ndtri

from audits import Budget, Estimate
from mechanisms.numerics.balls import Ball, enclose, ndtr_ball

from ...methods.truncated import NoisyMoments, conditional_error
from ..kit import FORMULA_ERROR, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, smallest, statement

RHO, EPSILON = 0.05, 1.0


def _noise(delta: float) -> float:
    """Return the noise per unit of sensitivity."""
    return 3 * math.sqrt(math.log(6 / delta)) / EPSILON


def threshold(dim: int, delta: float) -> float:
    """Return the smallest eigenvalue from which lambda = 0 on an event of the released eigenvalue of share 1 - delta/3."""
    log = math.log(6 / delta)
    return _noise(delta) * (math.sqrt(log) - float(ndtri(delta / 3)) + math.sqrt(dim * math.log(2 * dim**2 / RHO)))


def _raw(case: Case, *, constant: float = 9.0, any_alpha: bool = False) -> Evidence:
    """Return bias or excess error given the event, in closed form; spectrum ``multiple`` times the threshold, flat.

    Claimed with ``constant`` above the threshold, or for ``any_alpha``.
    """
    dim, delta, multiple = case.whole("dim"), case.number("delta"), case.number("multiple")
    Y, theta, sigma = (case.number(name) for name in ("Y", "theta", "sigma"))
    smallest, s = multiple * threshold(dim, delta), _noise(delta)
    in_domain = multiple >= 1 or any_alpha
    if case.text("what") == "mean":
        # at and above the threshold lambda is 0 on the event; at eigenvalue 0 of the release it is the whole total
        bias = 0.0 if multiple >= 1 else 1.0 - 1.0 / (1.0 + s * math.sqrt(dim * math.log(2 * dim**2 / RHO)) / smallest)
        claim = Claim("relative bias given the event", 0.0, 0.0, 0.0, in_domain=in_domain, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(bias, bias, "closed form"))
    trace1, trace2 = dim / smallest, dim / smallest**2
    unit = (Y**2 + theta**2 + sigma**2 * trace1) * trace2 * math.log(6 / delta) / EPSILON**2
    ratio = (s * Y) ** 2 * trace2 / unit
    most = constant * (1 + 10 * FORMULA_ERROR)
    claim = Claim("excess error over its rate", 0.0, most, most, in_domain=in_domain, observer=Observer.OUTPUT)
    ends = ratio * (1 - FORMULA_ERROR), ratio * (1 + FORMULA_ERROR)
    return Evidence(claim, exact=Estimate.proved(*ends, "closed form"))


def _divergent(case: Case) -> Evidence:
    """Bound the mean squared error from below in one dimension: a small denominator alone exceeds the claim."""
    delta, constant = case.number("delta"), case.number("constant")
    smallest, s = threshold(1, delta), _noise(delta)
    allowed = 1 / smallest + constant * (2 + 1 / smallest) / smallest**2 * math.log(6 / delta)
    nearness = 2.0**-200

    def low() -> Ball:
        # x^T y + E2 >= lambda_min with probability over 1/4 (theta_0 = 1, y symmetric about it); then theta is above 1/near
        a, near = arb(smallest), arb(nearness)
        chance = ndtr_ball((near - a) / arb(s)) - ndtr_ball(-a / arb(s))
        return (a / near - 1) ** 2 * chance / 4

    event = "an event of the eigenvalue's noise"
    claim = Claim(
        "mean squared error given the event", 0.0, allowed, allowed, observer=Observer.OUTPUT, conditioned_on=event
    )
    return Evidence(claim, exact=Estimate.proved(enclose(low).low, math.inf, "an event's share, ball arithmetic"))


def _conditional(case: Case, budget: Budget, *, constant: float) -> Evidence:
    """Enclose the mean squared error given that the noise matrix is below half the spectrum too."""
    dim, delta, multiple = case.whole("dim"), case.number("delta"), case.number("multiple")
    Y, theta, sigma = (case.number(name) for name in ("Y", "theta", "sigma"))
    s = _noise(delta)
    smallest = max(threshold(dim, delta), 2 * s * (2 * math.sqrt(dim) + 2 * math.sqrt(math.log(12 / delta)))) * multiple
    setting = NoisyMoments([smallest * (1 + 3 * i) for i in range(dim)], s, s * Y, theta, sigma)
    extra = (Y**2 + theta**2 + sigma**2 * setting.trace1) * setting.trace2 * math.log(6 / delta) / EPSILON**2
    allowed = sigma**2 * setting.trace1 + constant * extra
    event = "lambda = 0 and ||E1|| <= lambda_min/2, which do not depend on the responses"
    return conditional_error("mean squared error given the event", allowed, event, setting, budget)


SIZES = {"Y": (1.0, 100.0), "theta": (0.0, 1.0, 30.0), "sigma": (0.0, 1.0, 30.0)}
UNITS = {"Y": (1.0,), "theta": (1.0,), "sigma": (1.0,)}
RAW = {"what": ("error",), "dim": (1, 5, 100), "delta": (0.3, 1e-6, 1e-12), "multiple": (1.0, 100.0), **SIZES}
MEAN = {"what": ("mean",), "dim": (1, 5), "delta": (0.3, 1e-6), "multiple": (1.0, 10.0), **UNITS}
NOISY = {"what": "error", "dim": 1, "delta": 1e-6, "multiple": 1.0, "Y": 1.0, "theta": 0.0, "sigma": 0.0}
BELOW = NOISY | {"what": "mean", "multiple": 0.1, "theta": 1.0}
RELEASED = {"dim": (1,), "delta": (0.3, 1e-6, 1e-12), "multiple": (1.0, 10.0), **SIZES}
DRAWN = {"dim": (2, 4), "delta": (0.1,), "multiple": (1.0,), **UNITS}
PURE = {"dim": 1, "delta": 0.3, "multiple": 1.0, "Y": 1e-6, "theta": 0.0, "sigma": 1.0}
_RATE = '(tilde(C) norm(cal(X))^2 op("tr")[(X^T X)^(-2)])/(epsilon^2/log(6/delta))'
_PRINTED = (
    'EE[tilde(theta) | X, E] = theta_0, quad EE[norm(hat(theta) - theta_0)^2 | X, E] = sigma^2 op("tr")[(X^T X)^(-1)] + O('
    + _RATE
    + ")"
)

STATEMENT = statement(
    "W18-TH3iii",
    domain="y = X theta_0 + N(0, sigma^2 I), lambda_min large enough that lambda = 0 on an event of the released eigenvalue of probability "
    "1 - delta/3; ||Y|| is only used as a public constant. Decided at epsilon = 1, delta in [1e-12, 0.3]",
    summary="The last line of Algorithm 2 is damaged in our copy. With the released matrix, as in the proof, the mean does not exist on an event of the "
    "eigenvalue alone; with the raw matrix, which no private version uses, the claim is true, the constant being 9 at most. With "
    "||E1|| <= lambda_min/2 in the event the error bound holds with constant 180 (26 is too small), and theta is slightly biased.",
    derivation="docs/derivations/wang2018_rates.md, section 7",
    displays={
        "@hat": Display(
            "last line with the released matrix, E an event of the released eigenvalue",
            Form(
                _PRINTED,
                _divergent,
                [smallest("one dimension", {"delta": 0.3, "constant": c}) for c in (1.0, 1e2, 1e4, 1e6)],
            ),
            Form(
                'EE[norm(tilde(theta) - theta_0)^2 | X, E] <= sigma^2 op("tr")[(X^T X)^(-1)] + 180 '
                + _RATE
                + ", quad E = {lambda = 0, norm(E_1) <= lambda_min/2}",
                partial(_conditional, constant=180.0),
                [
                    *over("one dimension, exact", RELEASED, quick_every=11),
                    *over("more dimensions, drawn", DRAWN, draws=(1_000, 4_000, 40_000), quick_every=2),
                ],
            ),
            "(X^T X + E1)^-1 has neither mean nor mean square; with the noise bounded it is biased, since inversion is convex.",
            {"constant 26 (27 is reached)": Mutant(_conditional, PURE, severity=0.04, constant=26.0)},
        ),
        "@raw": Display(
            "last line with the raw matrix of our copy",
            Form(
                _PRINTED,
                _raw,
                [
                    *over("spectra, bounds and noise", RAW, quick_every=17),
                    *over("unbiased on the event", MEAN, quick_every=3),
                ],
            ),
            mutants={
                "constant 8.1 (9 is reached)": Mutant(_raw, NOISY, severity=0.1, constant=8.1),
                "any alpha": Mutant(_raw, BELOW, any_alpha=True),
            },
        ),
    },
)
