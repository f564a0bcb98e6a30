"""Mean squared error of sufficient statistics perturbation on the event that its noise stays below half the spectrum.

Without that event the mean does not exist: the noisy Gram matrix comes arbitrarily close to a singular one
(docs/derivations/wang2018_rates.md, section 5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import acb, arb

from audits import Budget, Estimate
from audits.stats.intervals import betting
from mechanisms.numerics.balls import Ball, enclose, ndtr_ball

from ..kernel.statement import Claim, Evidence, Observer
from .rational import generator


@dataclass(frozen=True)
class NoisyMoments:
    """Spectrum of the Gram matrix, noise scales of its two releases, true parameter and noise of the linear model.

    ``sigma = 0`` compares with the least-squares solution ``theta``; otherwise ``theta`` is the true parameter.
    """

    spectrum: Sequence[float]
    gram: float
    moment: float
    theta: float
    sigma: float = 0.0

    @property
    def trace2(self) -> float:
        """Trace of the squared inverse of the Gram matrix."""
        return float(sum(1.0 / s**2 for s in self.spectrum))

    @property
    def trace1(self) -> float:
        """Trace of the inverse of the Gram matrix."""
        return float(sum(1.0 / s for s in self.spectrum))


def exact_error(setting: NoisyMoments) -> Estimate:
    """Return the mean squared error in one dimension, given ``|E1| <= lambda_min/2``, by ball arithmetic."""
    (smallest,) = setting.spectrum

    def value() -> Ball:
        a, s = arb(smallest), arb(setting.gram)
        noise, variance = (arb(setting.moment) / a) ** 2, arb(setting.sigma) ** 2 / a

        def integrand(u: Ball, _: object) -> Ball:
            weight = (-((u * a / s) ** 2) / 2).exp() * a / s / (2 * arb.pi()).sqrt()
            return (noise + variance + (u * setting.theta) ** 2) / (1 + u) ** 2 * weight

        half = acb(arb(0.5))
        mass = 1 - 2 * ndtr_ball(-a / (2 * s))
        return acb.integral(integrand, -half, half).real / mass

    bracket = enclose(value)
    return Estimate.proved(bracket.low, bracket.high, "ball arithmetic quadrature")


def sampled_error(setting: NoisyMoments, budget: Budget) -> Estimate:
    """Return a Monte Carlo interval of the same in any dimension: noise matrices are drawn, all else is integrated."""
    dim, smallest = len(setting.spectrum), min(setting.spectrum)
    basis, _ = np.linalg.qr(generator(dim, 77).standard_normal((dim, dim)))
    gram = (basis * np.asarray(setting.spectrum)) @ basis.T
    theta = np.zeros(dim)
    theta[0] = setting.theta
    rng, kept, n_kept = budget.key.child("noise").rng(), [], 0
    while n_kept < budget.n_draws:
        full = setting.gram * rng.standard_normal((budget.n_draws, dim, dim))
        noise = np.triu(full) + np.swapaxes(np.triu(full, 1), 1, 2)
        noise = noise[np.abs(np.linalg.eigvalsh(noise)).max(axis=1) <= smallest / 2]
        kept.append(noise)
        n_kept += len(noise)
    noise = np.concatenate(kept)[: budget.n_draws]
    inverse = np.linalg.inv(gram + noise)
    values = setting.moment**2 * np.einsum("nij,nij->n", inverse, inverse)
    values += setting.sigma**2 * np.einsum("nij,jk,nik->n", inverse, gram, inverse)
    values += np.square(np.einsum("nij,nj->ni", inverse, noise @ theta)).sum(axis=1)
    # the inverse is at most twice that of the Gram matrix, applied to anything, and (A + E)^-1 E at most 1
    largest = 4 * setting.moment**2 * setting.trace2 + 4 * setting.sigma**2 * setting.trace2 * max(setting.spectrum)
    largest += setting.theta**2
    interval = betting(values, budget.spend("mean"), low=0.0, high=largest)
    middle = min(max(float(values.mean()), interval.low), interval.high)
    return Estimate(
        middle, interval.low, interval.high, budget.failure_prob, len(values), "betting, noise matrices drawn"
    )


def conditional_error(quantity: str, allowed: float, event: str, setting: NoisyMoments, budget: Budget) -> Evidence:
    """Decide whether the mean squared error given ``event`` is at most ``allowed``: exactly if dim is 1, else drawn."""
    claim = Claim(quantity, 0.0, allowed, allowed, observer=Observer.OUTPUT, conditioned_on=event)
    if len(setting.spectrum) == 1:
        return Evidence(claim, exact=exact_error(setting))
    return Evidence(claim, sampled=sampled_error(setting, budget))
