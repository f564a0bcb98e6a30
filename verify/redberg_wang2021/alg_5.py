"""RW21, Algorithm 5: release of the gradient and of inner products with it, and the cost that the algorithm states.

The algorithm is a type (`mechanisms.gradient_release.GradientRelease`); its epsilon_2, with log(2/delta) where Theorem 14
has log(1/delta), is decided here, and so is that the released inner product is unbiased with the stated noise.
"""

from __future__ import annotations

import math

import numpy as np

from audits import Budget, Estimate
from mechanisms import Dataset
from mechanisms.gradient_release import GradientRelease
from mechanisms.losses import LogisticLoss

from ..cases import adversarial, case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .gaussian_costs import FAR, RATIOS, gaussian_claim

ID = "RW21-A5"
COST, NOISE = f"{ID}#cost", f"{ID}#noise"
CLAIM = gaussian_claim(2.0)
#: Variance of the released inner product over sigma_2^2 ||grad l||^2, as each version says.
FACTORS = {"printed": 1.0, "variance 10 % smaller": 0.9}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the stated cost, or the law of the released inner product."""
    return CLAIM.check(case, budget) if case.part == COST else _noise(case)


def _noise(case: Case) -> Evidence:
    """Compute mean and variance of ``(grad J + e)^T grad l`` from the release's own linear map, coordinate by coordinate."""
    dim, n, sigma = case.whole("dim"), case.whole("n"), case.number("sigma")
    rng = np.random.Generator(np.random.PCG64DXSM([dim, n]))
    X, y = rng.uniform(-1, 1, (n + 1, dim)) / math.sqrt(dim), rng.choice([-1.0, 1.0], n + 1)
    release = GradientRelease(rng.standard_normal(dim), LogisticLoss(), 0.5, sigma)
    data = Dataset(X[:n], y[:n], 1.0, 1.0)
    mean, x, response = release.gradient(data), X[n], float(y[n])
    slope = -response / (1.0 + math.exp(response * float(x @ release.theta)))
    centre = float(release.inner_products(mean[None], x, response)[0])
    steps = release.inner_products(mean + sigma * np.eye(dim), x, response) - centre
    stated = FACTORS[version_name(case)] * sigma**2 * slope**2 * float(x @ x)
    gap = max(abs(float(steps @ steps) / stated - 1.0), abs(centre - slope * float(mean @ x)))
    claim = Claim(
        "deviation of mean and variance of g^P(z) from g and the stated one", 0.0, 1e-9, 0.0, observer=Observer.OUTPUT
    )
    return Evidence(claim, exact=Estimate(gap, max(gap - 1e-12, 0.0), gap + 1e-12, 0.0, 0, "linearity in the noise"))


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    some: dict[str, Value] = {"dim": 3, "n": 20, "sigma": 2.0}
    return (
        *grid(COST, printed, RATIOS, regime="scales and delta; no gradient at all", quick_every=9),
        adversarial(COST, printed),
        *(mutant(COST, n, FAR, severity=0.05 if "5 %" in n else None) for n in CLAIM.versions if n != "printed"),
        *grid(
            NOISE,
            printed,
            {"dim": (1, 3, 20), "n": (0, 1, 50), "sigma": (0.1, 10.0)},
            regime="random data",
            quick_every=5,
        ),
        case(NOISE, printed, some, regime="random data", quick=False),
        mutant(NOISE, "variance 10 % smaller", some, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="algorithm",
    title="Release of the gradient",
    locator="Supplement C.2, Algorithm 5",
    domain=(
        "theta fixed (released), one record added or removed, sigma_2 > 0, delta in (0, 1). Decided for gradient norms over "
        "sigma_2 in [1e-5, 1e5], delta in [1e-12, 0.99]. The gradient of r is read at the released parameter, which "
        "the algorithm prints as theta"
    ),
    summary=(
        "Implemented by mechanisms.gradient_release.GradientRelease. The stated cost has log(2/delta) where Theorem 14 has "
        "log(1/delta): needlessly large, and true."
    ),
    parts=(
        Part(
            COST,
            "the cost that the algorithm sets",
            Formula(
                "epsilon_2 (z) = norm(nabla ell (hat(theta)^P; z))^2/(2 sigma_2^2)"
                " + (norm(nabla ell (hat(theta)^P; z)) sqrt(2 log(2/delta)))/sigma_2",
                "epsilon_2(z) = ||grad l||^2/(2 sigma_2^2) + ||grad l|| sqrt(2 log(2/delta))/sigma_2",
            ),
        ),
        Part(
            NOISE,
            "the released inner product is a noisy version of g",
            Formula(
                "g^P (z) = (J^P)^T nabla ell (hat(theta)^P; z) ~ cal(N)(g, sigma_2^2 norm(nabla ell)^2)",
                "g^P(z) = (grad J + e)' grad l ~ N(g, sigma_2^2 ||grad l||^2)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
