"""What two data sets are apart, to 50 digits, from the definitions alone: nothing of the mechanisms but their settings.

The statistic of each member is computed from its own records (never from a difference of records), its distance in
standard deviations of the noise, and the divergence of two normal laws from their tails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np

from mechanisms.base import Direction
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.objective.output_perturbation import GlmOutput
from mechanisms.releases.composition import Composition
from mechanisms.releases.eigenvalue_release import EigenvalueRelease
from mechanisms.releases.gradient_release import GradientRelease
from mechanisms.releases.hessian_release import HessianRelease

DIGITS = 50


def derivatives(loss: Any, u: mp.mpf, y: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """The first and second derivative of a loss by the predictor."""
    match loss:
        case LogisticLoss() | SmoothedHingeLoss():
            width, margin = (mp.mpf(1), 0) if isinstance(loss, LogisticLoss) else (mp.mpf(loss.width), 1)
            share = 1 / (1 + mp.exp((y * u - margin) / width))
            return -y * share, share * (1 - share) / width
        case PseudoHuberLoss():
            root = mp.sqrt(1 + ((u - y) / mp.mpf(loss.width)) ** 2)
            return (u - y) / root, root**-3
        case SquaredLoss():
            return mp.mpf(loss.scale) * (u - y), mp.mpf(loss.scale)
        case PoissonLoss():
            return mp.exp(u) - y, mp.exp(u)
    raise TypeError(type(loss).__name__)


def rows(dataset: Dataset) -> list[tuple[mp.matrix, mp.mpf]]:
    return [(mp.matrix(x.tolist()), mp.mpf(float(y))) for x, y in zip(dataset.X, dataset.y, strict=True)]


def gradient(dataset: Dataset, loss: Any, lam: float, theta: mp.matrix) -> mp.matrix:
    total = theta * mp.mpf(lam)  # a number to the left of a matrix is looked up in its text first
    for x, y in rows(dataset):
        total += x * derivatives(loss, mp.fdot(x, theta), y)[0]
    return total


def hessian(dataset: Dataset, loss: Any, lam: float, theta: mp.matrix) -> mp.matrix:
    total = mp.eye(dataset.dim) * mp.mpf(lam)
    for x, y in rows(dataset):
        total += x * x.T * derivatives(loss, mp.fdot(x, theta), y)[1]
    return total


def minimiser(dataset: Dataset, loss: Any, lam: float) -> mp.matrix:
    """Damped Newton steps until the gradient is 40 digits below 1."""
    theta = mp.zeros(dataset.dim, 1)
    slope = gradient(dataset, loss, lam, theta)
    for _ in range(200):
        if mp.norm(slope) < mp.mpf(10) ** -40:
            return theta
        step, share = mp.lu_solve(hessian(dataset, loss, lam, theta), slope), mp.mpf(1)
        while True:
            trial = theta - step * share
            there = gradient(dataset, loss, lam, trial)
            if mp.norm(there) < mp.norm(slope):
                break
            share /= 2
        theta, slope = trial, there
    raise ArithmeticError("no minimiser")


def triangle(matrix: mp.matrix, diagonal: float = 1.0) -> list[mp.mpf]:
    """The entries on and above the diagonal, those on it divided by ``diagonal``."""
    size = matrix.rows
    return [matrix[i, j] / (mp.mpf(diagonal) if i == j else 1) for i in range(size) for j in range(i, size)]


def statistic(mechanism: Any, dataset: Dataset) -> list[mp.mpf]:
    """What the noise is added to, in its standard deviations: independent standard normal noise on each entry."""
    match mechanism:
        case GlmOutput():
            return [v / mp.mpf(mechanism.sigma) for v in minimiser(dataset, mechanism.loss, mechanism.lam)]
        case GradientRelease():
            theta = mp.matrix(mechanism.theta.tolist())
            return [v / mp.mpf(mechanism.sigma2) for v in gradient(dataset, mechanism.loss, mechanism.lam, theta)]
        case HessianRelease():
            H = hessian(dataset, mechanism.loss, mechanism.lam, mp.matrix(mechanism.theta.tolist()))
            return [v / mp.mpf(mechanism.sigma3) for v in triangle(H, mechanism.diagonal_factor)]
        case EigenvalueRelease():
            H = hessian(dataset, mechanism.loss, mechanism.lam, mp.matrix(mechanism.theta.tolist()))
            return [min(mp.eigsy(H, eigvals_only=True)) / mp.mpf(mechanism.sigma4)]
        case SufficientStatistics():
            gram, moment = mp.zeros(dataset.dim), mp.zeros(dataset.dim, 1)
            for x, y in rows(dataset):
                gram, moment = gram + x * x.T, moment + y * x
            return [v / mp.mpf(mechanism.sigma_gram) for v in triangle(gram)] + [
                v / mp.mpf(mechanism.sigma_moment) for v in moment
            ]
        case GaussianOutput():
            theta = ridge(dataset, mechanism.estimator.lam)[0]
            factor = mp.cholesky(mp.matrix(mechanism.precision.tolist()))
            return list(mp.sqrt(mp.mpf(mechanism.gamma)) * (factor.T * theta))
        case Composition():
            return [v for part in mechanism.parts for v in statistic(part, dataset)]
    raise TypeError(type(mechanism).__name__)


def ridge(dataset: Dataset, lam: float) -> tuple[mp.matrix, mp.matrix]:
    H, moment = mp.mpf(lam) * mp.eye(dataset.dim), mp.zeros(dataset.dim, 1)
    for x, y in rows(dataset):
        H, moment = H + x * x.T, moment + y * x
    return mp.lu_solve(H, moment), H


def distance(mechanism: Any, pair: NeighbouringPair) -> mp.mpf:
    """How many standard deviations the two members are apart."""
    with mp.workdps(DIGITS):
        first, second = statistic(mechanism, pair.first), statistic(mechanism, pair.second)
        found = mp.norm(mp.matrix([a - b for a, b in zip(first, second, strict=True)]))
        return mp.mpf(0) if found < mp.mpf(10) ** -35 else found


def of_gaussians(mu: mp.mpf, epsilon: float) -> tuple[mp.mpf, mp.mpf]:
    """``(delta, P(L > epsilon))`` of two normal laws of one spread."""
    with mp.workdps(DIGITS):
        e = mp.mpf(epsilon)
        if mu == 0:
            return max(mp.mpf(0), -mp.expm1(e)), mp.mpf(e < 0)
        tail = mp.ncdf(mu / 2 - e / mu)
        return tail - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu), tail


def of_normals(s: mp.mpf, v: mp.mpf, epsilon: float, *, from_first: bool) -> tuple[mp.mpf, mp.mpf]:
    """The same of ``N(0, 1)`` and ``N(s, v)`` with ``v < 1``, drawn from the first or from the second."""
    e, deviation = mp.mpf(epsilon), mp.sqrt(v)
    # log N(t; s, v) - log N(t; 0, 1) = c + b t - a t^2, positive between its roots
    a, b, c = (1 / v - 1) / 2, s / v, -(mp.log(v) + s**2 / v) / 2

    def between(level: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
        """What both laws give to the points where that is above ``level``."""
        root = b**2 - 4 * a * (level - c)
        if root <= 0:
            return mp.mpf(0), mp.mpf(0)
        low, high = (b - mp.sqrt(root)) / (2 * a), (b + mp.sqrt(root)) / (2 * a)
        return mp.ncdf(high) - mp.ncdf(low), mp.ncdf((high - s) / deviation) - mp.ncdf((low - s) / deviation)

    if from_first:  # L > e where the ratio is below exp(-e)
        first, second = (1 - share for share in between(-e))
        return first - mp.exp(e) * second, first
    first, second = between(e)
    return second - mp.exp(e) * first, second


def of_posteriors(
    mechanism: PosteriorSampling, pair: NeighbouringPair, epsilon: float, direction: Direction
) -> tuple[mp.mpf, mp.mpf]:
    """The same of one draw from the posterior; only the coordinate along the target moves."""
    with mp.workdps(DIGITS):
        smaller = pair.first if pair.relation is Relation.ADD else pair.second
        theta, H = ridge(smaller, mechanism.lam)
        x, y = mp.matrix(pair.x.tolist()), mp.mpf(pair.y)
        if not any(x):
            return of_gaussians(mp.mpf(0), epsilon)
        m = (x.T * mp.lu_solve(H, x))[0]
        r = y - (x.T * theta)[0]
        without_first = pair.relation is Relation.ADD
        from_without = without_first == (direction is Direction.FORWARD)
        s = mp.sqrt(mp.mpf(mechanism.gamma) * m) * r / (1 + m)
        return of_normals(abs(s), 1 / (1 + m), epsilon, from_first=from_without)


def truth(mechanism: Any, pair: NeighbouringPair) -> Callable[[float, Direction], tuple[mp.mpf, mp.mpf]]:
    """``(epsilon, direction) -> (delta, P(L > epsilon))``."""
    if isinstance(mechanism, PosteriorSampling):
        return lambda epsilon, direction: of_posteriors(mechanism, pair, epsilon, direction)
    mu = distance(mechanism, pair)
    at = cache(lambda epsilon: of_gaussians(mu, epsilon))
    return lambda epsilon, _: at(epsilon)


def epsilon_of(delta_at: Callable[[float], mp.mpf], delta: float, low: float, high: float) -> tuple[bool, bool]:
    """Whether the least epsilon at ``delta`` is at least ``low``, and at most ``high``."""
    with mp.workdps(DIGITS):
        return low == 0.0 or delta_at(low) >= delta, bool(np.isinf(high)) or delta_at(high) <= delta
