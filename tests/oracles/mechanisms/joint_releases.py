"""Slow, literal twins of the joint releases: one draw at a time, explicit inverses, scipy's densities."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from mechanisms.base import Direction
from mechanisms.laws.quadratic_profile import quadratic_log_delta
from mechanisms.numerics.spectra import GramSpectrum
from mechanisms.numerics.transcripts import normal_log_density


def _gaussian(value, mean, covariance):
    return multivariate_normal(mean, covariance).logpdf(value)


def ssp(outputs, dataset, sigma_gram, sigma_moment):
    """SSP: every entry of the upper triangle and of the moment is an independent normal."""
    d, result = dataset.dim, []
    gram = sum((np.outer(x, x) for x in dataset.X), np.zeros((d, d)))
    moment = sum((x * y for x, y in zip(dataset.X, dataset.y, strict=True)), np.zeros(d))
    for output in outputs:
        position, total = 0, 0.0
        for i in range(d):
            for j in range(i, d):
                total += norm.logpdf(output[position], gram[i, j], sigma_gram)
                position += 1
        for i in range(d):
            total += norm.logpdf(output[position + i], moment[i], sigma_moment)
        result.append(total)
    return np.array(result)


def clipped(value, mean, sigma):
    return norm.logcdf(0.0, mean, sigma) if value == 0 else norm.logpdf(value, mean, sigma)


def _least(dataset):
    return float(np.linalg.eigvalsh(dataset.X.T @ dataset.X)[0])


def posterior(theta, dataset, lam, gamma):
    H = dataset.X.T @ dataset.X + lam * np.eye(dataset.dim)
    return _gaussian(theta, np.linalg.inv(H) @ dataset.X.T @ dataset.y, np.linalg.inv(H) / gamma)


def adaops2019_published(outputs, dataset, epsilon, delta, kappa):
    """W19, algorithm 1, line by line (on data where X^T X + lam I stays positive definite)."""
    n, d, result = dataset.n_records, dataset.dim, []
    sigma = math.sqrt(math.log(4 / delta)) / (epsilon / 2)
    for output in outputs:
        released, theta = output[0], output[1:]
        lam = min(0, n / (d * kappa) - released + math.log(4 / delta) / (epsilon / 2))
        gamma = min(n * epsilon**2 / (16 * kappa**2 * d**2 * math.log(4 / delta)), n * epsilon / (8 * kappa**2 * d**2))
        result.append(norm.logpdf(released, _least(dataset), sigma) + posterior(theta, dataset, lam, gamma))
    return np.array(result)


def adaops2018_lam(released, epsilon, delta, rho, dim, x_bound):
    """Step 4 of W18, algorithm 1: (7) minimised over t itself, by search."""
    log6 = math.log(6 / delta)
    bar = (-1 + math.sqrt(1 + 2 * (epsilon / 4) / log6)) * log6
    assert abs(bar**2 / (2 * log6) + bar - epsilon / 4) < 1e-12
    c1 = (dim / 2 + math.sqrt(dim * math.log(1 / rho)) + math.log(1 / rho)) * log6 / bar**2
    c2 = log6 / (epsilon / 4)
    t_min = max(x_bound**2 * (1 + log6) / (2 * epsilon) - released, 0.0)

    def objective(t):
        total = t + released
        return math.log(x_bound**4 * c1 * math.exp(2 * c2 * math.log1p(x_bound**2 / total)) / total + t)

    grid = t_min + np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 400)]) * x_bound**2
    grid = grid[grid + released > 1e-3 * x_bound**2 * c2 / 100]
    best = int(np.argmin([objective(t) for t in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    return minimize_scalar(objective, bounds=(low, high), method="bounded", options={"xatol": 1e-10 * high}).x


def adaops2018_published(outputs, dataset, epsilon, delta, rho):
    """W18, algorithm 1, line by line."""
    log6, B, Y, result = math.log(6 / delta), dataset.x_bound, dataset.y_bound, []
    a = (1 / log6) * ((1 + log6) / log6)
    tilde = (-1 + math.sqrt(1 + 2 * a * epsilon / 2)) / a
    for output in outputs:
        released, Delta, theta = output[0], output[1], output[2:]
        total = clipped(released, _least(dataset) - log6 / (epsilon / 4), math.sqrt(log6) / (epsilon / 4))
        lam = adaops2018_lam(released, epsilon, delta, rho, dataset.dim, B)
        hat = np.linalg.solve(dataset.X.T @ dataset.X + lam * np.eye(dataset.dim), dataset.X.T @ dataset.y)
        step = math.log(1 + B**2 / (lam + released))
        mean = math.log(Y + B * np.linalg.norm(hat)) + step / (epsilon / (4 * log6))
        total += norm.logpdf(Delta, mean, step / (epsilon / (4 * math.sqrt(log6))))
        gamma = (released + lam) * tilde**2 / (log6 * (B * math.exp(Delta)) ** 2)
        result.append(total + posterior(theta, dataset, lam, gamma))
    return np.array(result)


def _adassp_parts(output, dataset, epsilon, delta, rho):
    B, Y, d = dataset.x_bound, dataset.y_bound, dataset.dim
    unit = math.sqrt(math.log(6 / delta)) / (epsilon / 3)
    shift = math.log(6 / delta) / (epsilon / 3) * B**2
    first = clipped(output[0], _least(dataset) - shift, unit * B**2)
    lam = max(0.0, math.sqrt(d * math.log(6 / delta) * math.log(2 * d**2 / rho)) * B**2 / (epsilon / 3) - output[0])
    return first, lam, unit * B**2, unit * B * Y


def adassp(outputs, dataset, epsilon, delta, rho):
    """W18, algorithm 2, its three releases."""
    result = []
    for output in outputs:
        first, _, sigma_gram, sigma_moment = _adassp_parts(output, dataset, epsilon, delta, rho)
        result.append(first + ssp(output[None, 1:], dataset, sigma_gram, sigma_moment)[0])
    return np.array(result)


def adassp_published(outputs, dataset, epsilon, delta, rho):
    """W18, algorithm 2, with theta from the raw matrix and without the moment."""
    d, result = dataset.dim, []
    size = d * (d + 1) // 2
    for output in outputs:
        first, lam, sigma_gram, sigma_moment = _adassp_parts(output, dataset, epsilon, delta, rho)
        gram = (dataset.X.T @ dataset.X)[np.triu_indices(d)]
        second = norm.logpdf(output[1 : 1 + size], gram, sigma_gram).sum()
        inverse = np.linalg.inv(dataset.X.T @ dataset.X + lam * np.eye(d))
        third = _gaussian(output[1 + size :], inverse @ dataset.X.T @ dataset.y, sigma_moment**2 * inverse @ inverse)
        result.append(first + second + third)
    return np.array(result)


def noisy_sgd(outputs, dataset, mechanism):
    """NoisySGD: a mixture of normals a step, one record at a time."""
    d, result = dataset.dim, []
    slots = mechanism.n_public or dataset.n_records
    for output in outputs:
        theta, total = np.zeros(d), 0.0
        for t in range(mechanism.n_steps):
            seen = output[t * d : (t + 1) * d]
            terms = []
            for x, y in zip(dataset.X, dataset.y, strict=True):
                g = -x * (y - x @ theta)
                g = g * min(1.0, mechanism.clip / max(np.linalg.norm(g), 1e-300))
                terms.append(norm.logpdf(seen, slots * g, mechanism.sigma).sum())
            terms += [norm.logpdf(seen, 0.0, mechanism.sigma).sum()] * (slots - dataset.n_records)
            total += np.logaddexp.reduce(terms) - math.log(slots)
            theta = theta - mechanism.step_size / math.sqrt(t + 1) * seen
            theta = theta * min(1.0, mechanism.radius / max(np.linalg.norm(theta), 1e-300))
        result.append(total)
    return np.array(result)


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


def hessian(theta, loss, lam, dataset):
    H = lam * np.eye(len(theta))
    for x, y in zip(dataset.X, dataset.y, strict=True):
        H = H + float(loss.second(np.array(x @ theta), np.array(y))) * np.outer(x, x)
    return H


def gradient(theta, loss, lam, dataset):
    total = lam * np.asarray(theta)
    for x, y in zip(dataset.X, dataset.y, strict=True):
        total = total + float(loss.first(np.array(x @ theta), np.array(y))) * x
    return total


def algorithm_6(H, sigma3, n_draws, rng):
    """Full matrices drawn one by one as printed: H + (Z + Z^T)/sqrt 2."""
    out = []
    for _ in range(n_draws):
        Z = sigma3 * rng.standard_normal(H.shape)
        out.append(H + (Z + Z.T) / math.sqrt(2))
    return np.array(out)


def hessian_log_density(matrix, H, sigma3):
    """Entry by entry: N(H_ii, 2 sigma3^2) on the diagonal, N(H_ij, sigma3^2) above it."""
    total = 0.0
    for i in range(len(H)):
        for j in range(i, len(H)):
            scale = math.sqrt(2) * sigma3 if i == j else sigma3
            total += norm.logpdf(matrix[i, j], H[i, j], scale)
    return total
