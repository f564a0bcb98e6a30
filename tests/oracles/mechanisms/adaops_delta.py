"""delta(epsilon) of both AdaOPS transcripts by quadrature over the first stages of the exact last stage.

Given what was released before, the last stage is one-posterior sampling with known leverage and residual, whose
divergence is closed-form at any epsilon, and the losses add up: delta(e) = E[delta_last(e - loss so far)].
Where one of the two data sets has no posterior the loss is infinite: that mass is counted in full.
"""

import math

import numpy as np
from scipy.stats import norm

from mechanisms.base import Direction
from mechanisms.laws.quadratic_profile import quadratic_log_delta
from mechanisms.numerics.spectra import GramSpectrum
from mechanisms.numerics.transcripts import normal_log_density

NODES, WEIGHTS = np.polynomial.legendre.leggauss(120)


def _normal_nodes(mean, sigma, low=-math.inf, reach=9.0):
    """Nodes and probabilities of N(mean, sigma^2) above ``low``, out to ``reach`` standard deviations."""
    start, end = max(mean - reach * sigma, low), mean + reach * sigma
    if end <= start:
        return np.array([]), np.array([])
    x = 0.5 * (start + end) + 0.5 * (end - start) * NODES
    return x, 0.5 * (end - start) * WEIGHTS * norm.pdf(x, mean, sigma)


def _last_stage(pair, lam, gamma, epsilon, direction):
    """delta of the sample at each (lam, gamma, epsilon); ADD pairs, D the smaller."""
    small = GramSpectrum.of(pair.first)
    large = GramSpectrum.of(pair.second)
    drawn, other = (small, large) if direction is Direction.FORWARD else (large, small)
    proper, other_proper = drawn.proper(lam, gamma), other.proper(lam, gamma)
    theta = small.ridge(np.where(small.values[0] + lam > 0, lam, 1.0))
    shifted = np.where((small.values[0] + lam > 0)[:, None], small.values + lam[:, None], 1.0)
    leverage = ((pair.x @ small.vectors) ** 2 / shifted).sum(axis=1)
    residual = np.sqrt(np.maximum(gamma, 0.0)) * (pair.y - theta @ pair.x)
    delta = np.exp(quadratic_log_delta(epsilon, leverage, residual, direction))
    # no output under both: the loss so far is all there is; under one of them: everything is given away
    neither = -np.expm1(np.minimum(epsilon, 0.0))
    return np.where(proper & other_proper, delta, np.where(proper | other_proper, 1.0, neither))


def adaops2019(mechanism, pair, epsilon, direction):
    """W19's AdaOPS; the settings must be those of both data sets (n public)."""
    settings = mechanism.rule.settings(pair.second)
    centres = [GramSpectrum.of(data).smallest for data in (pair.first, pair.second)]
    own, other = centres if direction is Direction.FORWARD else centres[::-1]
    x, p = _normal_nodes(own, settings.sigma)
    loss = norm.logpdf(x, own, settings.sigma) - norm.logpdf(x, other, settings.sigma)
    gamma = np.full(x.shape, settings.gamma)
    return float(p @ _last_stage(pair, settings.lam(x), gamma, epsilon - loss, direction))


def adaops2018(mechanism, pair, epsilon, direction):
    """W18's AdaOPS: the cut eigenvalue (with its atom), Delta, the sample."""
    settings = mechanism.rule.settings(pair.first)
    spectra = [GramSpectrum.of(data) for data in (pair.first, pair.second)]
    own, other = spectra if direction is Direction.FORWARD else spectra[::-1]
    means = [s.smallest - settings.shift for s in (own, other)]
    x, p = _normal_nodes(means[0], settings.sigma, low=0.0)
    loss = norm.logpdf(x, means[0], settings.sigma) - norm.logpdf(x, means[1], settings.sigma)
    atom = [norm.logcdf(-m / settings.sigma) for m in means]
    x, p, loss = np.append(x, 0.0), np.append(p, math.exp(atom[0])), np.append(loss, atom[0] - atom[1])
    lam, step = settings.lam(x), settings.step(x)
    sigma = step * settings.unit_sigma
    centre, rival = (settings.lipschitz_mean(s.ridge(lam)) + step * settings.unit_shift for s in (own, other))
    z = np.linspace(-8.5, 8.5, 101)
    q = norm.pdf(z) * (z[1] - z[0])  # the trapezoidal rule on a normal density converges exponentially
    Delta = centre[:, None] + sigma[:, None] * z
    own_log = normal_log_density(Delta[..., None], centre[:, None, None], sigma[:, None, None])
    rival_log = normal_log_density(Delta[..., None], rival[:, None, None], sigma[:, None, None])
    total = loss[:, None] + own_log - rival_log
    shape = Delta.shape
    wide = np.broadcast_to(x[:, None], shape).ravel()
    gamma = mechanism.rule.gamma(settings, wide, Delta.ravel())
    lam = np.broadcast_to(lam[:, None], shape).ravel()
    inner = _last_stage(pair, lam, gamma, epsilon - total.ravel(), direction).reshape(shape)
    return float(p @ (inner @ q))
