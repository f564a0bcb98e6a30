"""W18, Theorem 3(iii): estimation error of AdaSSP in the linear Gaussian model, in both readings of its last line.

With the raw matrix, as printed, the error is an exact sum; with the released matrix, which the proof analyses and which
privacy needs, neither the mean nor the mean square exists (docs/derivations/wang2018_rates.md, section 7).
"""

from __future__ import annotations

import math

from flint import arb
from scipy.special import ndtri

from audits import Budget, Estimate
from mechanisms.balls import Ball, enclose, ndtr_ball

from ..cases import case, grid, mutant
from ..evidence import FORMULA_ERROR
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .truncated import Setting, exact_error, sampled_error

ID = "W18-TH3iii"
RAW, RELEASED = f"{ID}@a", f"{ID}@b"
RHO, EPSILON = 0.05, 1.0
#: Constants of the rate: exact for the raw matrix, proved for the released one, and mutants below what is reached.
CONSTANTS = {
    "printed": 9.0,
    "corrected": 180.0,
    "constant 8.1 (9 is reached)": 8.1,
    "constant 26 (27 is reached)": 26.0,
}
ANY = "any alpha"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one reading."""
    if case.part == RAW:
        return _raw(case)
    return _divergent(case) if case.standing is Standing.PRINTED else _conditional(case, budget)


def _noise(delta: float) -> float:
    """Return the noise per unit of sensitivity."""
    return 3 * math.sqrt(math.log(6 / delta)) / EPSILON


def threshold(dim: int, delta: float) -> float:
    """Return the smallest eigenvalue from which lambda = 0 on an event of the released eigenvalue of share 1 - delta/3."""
    log = math.log(6 / delta)
    return _noise(delta) * (math.sqrt(log) - float(ndtri(delta / 3)) + math.sqrt(dim * math.log(2 * dim**2 / RHO)))


def _raw(case: Case) -> Evidence:
    """Return bias and excess error given the event, in closed form; spectrum ``multiple`` times the threshold, flat."""
    dim, delta, multiple = case.whole("dim"), case.number("delta"), case.number("multiple")
    Y, theta, sigma = (case.number(name) for name in ("Y", "theta", "sigma"))
    smallest, s = multiple * threshold(dim, delta), _noise(delta)
    in_domain = multiple >= 1 or version_name(case) == ANY
    if case.text("what") == "mean":
        # at and above the threshold lambda is 0 on the event; at eigenvalue 0 of the release it is the whole total
        bias = 0.0 if multiple >= 1 else 1.0 - 1.0 / (1.0 + s * math.sqrt(dim * math.log(2 * dim**2 / RHO)) / smallest)
        claim = Claim("relative bias given the event", 0.0, 0.0, 0.0, in_domain=in_domain, observer=Observer.OUTPUT)
        return Evidence(claim, exact=Estimate.proved(bias, bias, "closed form"))
    trace1, trace2 = dim / smallest, dim / smallest**2
    unit = (Y**2 + theta**2 + sigma**2 * trace1) * trace2 * math.log(6 / delta) / EPSILON**2
    ratio = (s * Y) ** 2 * trace2 / unit
    constant = CONSTANTS[version_name(case)] * (1 + 10 * FORMULA_ERROR)
    claim = Claim("excess error over its rate", 0.0, constant, constant, in_domain=in_domain, observer=Observer.OUTPUT)
    return Evidence(
        claim, exact=Estimate.proved(ratio * (1 - FORMULA_ERROR), ratio * (1 + FORMULA_ERROR), "closed form")
    )


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

    claim = Claim(
        "mean squared error given the event",
        0.0,
        allowed,
        allowed,
        observer=Observer.OUTPUT,
        conditioned_on="an event of the eigenvalue's noise",
    )
    return Evidence(claim, exact=Estimate.proved(enclose(low).low, math.inf, "an event's share, ball arithmetic"))


def _conditional(case: Case, budget: Budget) -> Evidence:
    """Enclose the mean squared error given that the noise matrix is below half the spectrum too."""
    dim, delta, multiple = case.whole("dim"), case.number("delta"), case.number("multiple")
    Y, theta, sigma = (case.number(name) for name in ("Y", "theta", "sigma"))
    s = _noise(delta)
    smallest = max(threshold(dim, delta), 2 * s * (2 * math.sqrt(dim) + 2 * math.sqrt(math.log(12 / delta)))) * multiple
    setting = Setting([smallest * (1 + 3 * i) for i in range(dim)], s, s * Y, theta, sigma)
    extra = (Y**2 + theta**2 + sigma**2 * setting.trace1) * setting.trace2 * math.log(6 / delta) / EPSILON**2
    allowed = sigma**2 * setting.trace1 + CONSTANTS[version_name(case)] * extra
    claim = Claim(
        "mean squared error given the event",
        0.0,
        allowed,
        allowed,
        observer=Observer.OUTPUT,
        conditioned_on="lambda = 0 and ||E1|| <= lambda_min/2, which do not depend on the responses",
    )
    if dim == 1:
        return Evidence(claim, exact=exact_error(setting))
    return Evidence(claim, sampled=sampled_error(setting, budget))


def _cases() -> tuple[Case, ...]:
    sizes = {"Y": (1.0, 100.0), "theta": (0.0, 1.0, 30.0), "sigma": (0.0, 1.0, 30.0)}
    raw = {"what": ("error",), "dim": (1, 5, 100), "delta": (0.3, 1e-6, 1e-12), "multiple": (1.0, 100.0)} | sizes
    noisy: dict[str, Value] = {
        "what": "error",
        "dim": 1,
        "delta": 1e-6,
        "multiple": 1.0,
        "Y": 1.0,
        "theta": 0.0,
        "sigma": 0.0,
    }
    mean = {
        "what": ("mean",),
        "dim": (1, 5),
        "delta": (0.3, 1e-6),
        "multiple": (1.0, 10.0),
        "Y": (1.0,),
        "theta": (1.0,),
        "sigma": (1.0,),
    }
    below: dict[str, Value] = {**noisy, "what": "mean", "multiple": 0.1, "theta": 1.0}
    released = {"dim": (1,), "delta": (0.3, 1e-6, 1e-12), "multiple": (1.0, 10.0)} | sizes
    drawn = {"dim": (2, 4), "delta": (0.1,), "multiple": (1.0,), "Y": (1.0,), "theta": (1.0,), "sigma": (1.0,)}
    pure: dict[str, Value] = {"dim": 1, "delta": 0.3, "multiple": 1.0, "Y": 1e-6, "theta": 0.0, "sigma": 1.0}
    return (
        *grid(RAW, Standing.PRINTED, raw, regime="spectra, bounds and noise", quick_every=17),
        *grid(RAW, Standing.PRINTED, mean, regime="unbiased on the event", quick_every=3),
        mutant(RAW, "constant 8.1 (9 is reached)", noisy, severity=0.1),
        mutant(RAW, ANY, below),
        *(
            case(
                RELEASED,
                Standing.PRINTED,
                {"delta": 0.3, "constant": constant},
                role=Role.COUNTEREXAMPLE,
                regime="one dimension",
            )
            for constant in (1.0, 1e2, 1e4, 1e6)
        ),
        *grid(RELEASED, Standing.CORRECTED, released, regime="one dimension, exact", quick_every=11),
        *grid(
            RELEASED,
            Standing.CORRECTED,
            drawn,
            regime="more dimensions, drawn",
            draws=(1_000, 4_000, 40_000),
            quick_every=2,
        ),
        mutant(RELEASED, "constant 26 (27 is reached)", pure, severity=0.04),
    )


_RATE = '(tilde(C) norm(cal(X))^2 op("tr")[(X^T X)^(-2)])/(epsilon^2/log(6/delta))'
_PRINTED = Formula(
    'EE[tilde(theta) | X, E] = theta_0, quad EE[norm(hat(theta) - theta_0)^2 | X, E] = sigma^2 op("tr")[(X^T X)^(-1)] + O('
    + _RATE
    + ")",
    "E[theta | X, E] = theta_0 and E[||theta - theta_0||^2 | X, E] = sigma^2 tr[(X'X)^-1] + O(C~ ||X||^2 tr[(X'X)^-2] log(6/delta)/epsilon^2)",
)

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="theorem",
    title="Estimation error of AdaSSP",
    locator="Theorem 3(iii), proof in appendix C.3",
    domain=(
        "y = X theta_0 + N(0, sigma^2 I), lambda_min large enough that lambda = 0 on an event of the released eigenvalue of probability "
        "1 - delta/3; ||Y|| is only used as a public constant. Decided at epsilon = 1, delta in [1e-12, 0.3]"
    ),
    summary=(
        "Read with the raw matrix of the printed Algorithm 2 it is true, the constant being 9 at most; but that algorithm is not private. Read with "
        "the released matrix, as in the proof and in any private version, the mean does not exist on an event of the eigenvalue alone. With "
        "||E1|| <= lambda_min/2 in the event the error bound holds with constant 180 (27 is reached), and theta is slightly biased."
    ),
    parts=(
        Part(RAW, "last line with the raw matrix, as printed", _PRINTED, reading="a"),
        Part(
            RELEASED,
            "last line with the released matrix, E an event of the released eigenvalue",
            _PRINTED,
            Formula(
                'EE[norm(tilde(theta) - theta_0)^2 | X, E] <= sigma^2 op("tr")[(X^T X)^(-1)] + 180 '
                + _RATE
                + ", quad E subset {norm(E_1) <= lambda_min/2}",
                "E[||theta - theta_0||^2 | X, E] <= sigma^2 tr[(X'X)^-1] + 180 C~ ||X||^2 tr[(X'X)^-2] log(6/delta)/epsilon^2, "
                "E = {lambda = 0, ||E1|| <= lambda_min/2}",
            ),
            "(X^T X + E1)^-1 has neither mean nor mean square; with the noise bounded it is biased, since inversion is convex.",
            "docs/derivations/wang2018_rates.md, section 7",
            reading="b",
        ),
    ),
    cases=_cases(),
    check=check,
)
