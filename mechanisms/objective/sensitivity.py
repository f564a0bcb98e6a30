"""Per-instance sensitivity of smooth regularised problems: exact minimisers and the stability identity (W19-L3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from ..base import check_nonnegative, check_positive
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..numerics.spectra import regular_factor
from ..numerics.transcripts import check_count
from .losses import GlmLoss


@dataclass(frozen=True)
class HuberLoss:
    """``f = u^2/2`` for ``|u| <= width`` and ``width (|u| - width/2)`` beyond, ``u = x^T theta - y``.

    Its slope is absolutely continuous but not differentiable at ``|u| = width``: W19's assumption A.2, no more.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", check_positive("width", self.width))

    def check_response(self, y: FloatArray) -> None:
        """Accept any finite response."""

    def value(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        u = np.abs(predictor - response)
        return np.asarray(np.where(u <= self.width, 0.5 * u**2, self.width * (u - 0.5 * self.width)))

    def first(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        return np.asarray(np.clip(predictor - response, -self.width, self.width))

    def second(self, predictor: FloatArray, response: FloatArray) -> FloatArray:
        """Return ``f''``: 1 inside, 0 outside."""
        return np.asarray((np.abs(predictor - response) <= self.width).astype(np.float64))


class Fit(NamedTuple):
    """A minimiser and the largest coordinate of the gradient it leaves."""

    theta: FloatArray
    residual: float


@dataclass(frozen=True, repr=False)
class Stability:
    """The right-hand sides of W19-L3.1 for ``theta_hat(D) - theta_hat(D')``, each of shape ``(dim,)``.

    Attributes
    ----------
    with_target : array
        Averaged Hessian with the target, gradient at the minimiser without it (the first display).
    without_target : array
        Averaged Hessian without the target, gradient at the minimiser with it: the second display with the sign that
        makes it true (docs/derivations/wang2019_facts.md, section 2).
    """

    with_target: FloatArray
    without_target: FloatArray

    @property
    def without_target_published(self) -> FloatArray:
        """The second display as printed, with a minus sign in front."""
        return -self.without_target


@dataclass(frozen=True)
class SmoothProblem:
    """``sum_i f(x_i^T theta; y_i) + lam/2 |theta|^2`` (W19, eq. 3.1, with the ridge as regulariser).

    Parameters
    ----------
    loss : GlmLoss or HuberLoss
        Convex in ``x^T theta``, twice differentiable almost everywhere (W19, A.1, A.2).
    lam : float
        At least 0.
    residual : float
        Largest coordinate of the gradient at a minimiser, relative to ``1 + sum of |gradients|``.
    """

    loss: GlmLoss | HuberLoss
    lam: float = 0.0
    residual: float = 1e-13

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))
        object.__setattr__(self, "residual", check_positive("residual", self.residual))

    def value(self, theta: FloatArray, dataset: Dataset) -> float:
        total = self.loss.value(dataset.X @ theta, dataset.y).sum()
        return float(total + 0.5 * self.lam * theta @ theta)

    def gradient(self, theta: FloatArray, dataset: Dataset) -> FloatArray:
        return np.asarray(dataset.X.T @ self.loss.first(dataset.X @ theta, dataset.y) + self.lam * theta)

    def hessian(self, theta: FloatArray, dataset: Dataset) -> FloatArray:
        curvature = self.loss.second(dataset.X @ theta, dataset.y)
        return np.asarray((dataset.X.T * curvature) @ dataset.X + self.lam * np.eye(dataset.dim))

    def fit(self, dataset: Dataset, start: FloatArray | None = None) -> Fit:
        """Return the minimiser by Newton's method with halved steps.

        Raises
        ------
        ValueError
            If the Hessian is singular on the way (no ridge and too few directions in the data), or if 200 steps do not
            bring the gradient down to ``residual`` (no minimiser, as for separable data without a ridge).
        """
        self.loss.check_response(dataset.y)
        theta = np.zeros(dataset.dim) if start is None else np.array(start, dtype=np.float64)
        for _ in range(200):
            gradient = self.gradient(theta, dataset)
            slopes = np.abs(self.loss.first(dataset.X @ theta, dataset.y))
            size = 1.0 + float(slopes @ np.abs(dataset.X).max(axis=1, initial=0.0))
            left = float(np.abs(gradient).max())
            step = _positive_solve(self.hessian(theta, dataset), gradient)
            # a short step too: far out on a flat slope without a minimiser the gradient alone vanishes
            if left <= self.residual * size and np.abs(step).max() <= 1e-6 * (1.0 + np.abs(theta).max()):
                return Fit(theta, left)
            theta = self._shorten(theta, step, gradient, dataset)
        raise ValueError(f"the problem must have a minimiser within 200 Newton steps, got a gradient of {left:.3g}")

    def _shorten(self, theta: FloatArray, step: FloatArray, gradient: FloatArray, dataset: Dataset) -> FloatArray:
        current, slope, t = self.value(theta, dataset), float(gradient @ step), 1.0
        # near the end values differ by rounding only; the full step is then taken
        room = 64 * np.finfo(float).eps * (1.0 + abs(current))
        while self.value(theta - t * step, dataset) > current - 1e-4 * t * slope + room and t > 1e-12:
            t *= 0.5
        return np.asarray(theta - t * step)

    def change(self, pair: NeighbouringPair) -> FloatArray:
        """Return ``theta_hat(D) - theta_hat(D')``, shape ``(dim,)``."""
        first = self.fit(pair.first).theta
        return first - self.fit(pair.second, start=first).theta

    def sensitivity(self, pair: NeighbouringPair, metric: FloatArray | None = None) -> float:
        """Return the per-instance sensitivity ``|theta_hat(D) - theta_hat(D')|_A`` (W19-D2.3).

        Parameters
        ----------
        metric : (dim, dim) array, optional
            ``A``, symmetric positive semidefinite; the identity if left out.
        """
        change = self.change(pair)
        return float(np.linalg.norm(change)) if metric is None else math.sqrt(max(0.0, float(change @ metric @ change)))

    def stability(self, pair: NeighbouringPair, *, n_nodes: int = 40) -> Stability:
        """Return both sides of W19-L3.1 by Gauss-Legendre quadrature along the segment of the two minimisers.

        Exact for the squared loss, exponentially accurate for analytic losses; for the Huber loss, whose curvature
        jumps, the integral of each record is taken in closed form, as a difference of slopes. The target joins (ADD) or
        leaves (REMOVE: the smaller set plays the part of ``Z``).
        """
        pair.require(Relation.ADD, Relation.REMOVE)
        smaller, larger = (pair.first, pair.second) if pair.sign > 0 else (pair.second, pair.first)
        theta = self.fit(smaller).theta
        theta_joined = self.fit(larger, start=theta).theta
        mean_with = self._mean_hessian(theta, theta_joined, larger, check_count("n_nodes", n_nodes))
        mean_without = self._mean_hessian(theta, theta_joined, smaller, n_nodes)
        at, at_joined = (self.loss.first(np.array([pair.x @ t]), np.array([pair.y]))[0] for t in (theta, theta_joined))
        return Stability(
            pair.sign * _positive_solve(mean_with, at * pair.x),
            pair.sign * _positive_solve(mean_without, at_joined * pair.x),
        )

    def _mean_hessian(self, theta: FloatArray, other: FloatArray, dataset: Dataset, n_nodes: int) -> FloatArray:
        """Return the Hessian averaged over the segment, shape ``(dim, dim)``."""
        u, v = dataset.X @ theta, dataset.X @ other
        if isinstance(self.loss, HuberLoss):
            gap = v - u
            moved = np.abs(gap) > 1e-9 * self.loss.width
            slope = (self.loss.first(v, dataset.y) - self.loss.first(u, dataset.y)) / np.where(moved, gap, 1.0)
            curvature = np.where(moved, slope, self.loss.second(0.5 * (u + v), dataset.y))
        else:
            nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
            parts = (
                0.5 * w * self.loss.second(u + 0.5 * (1 + s) * (v - u), dataset.y)
                for s, w in zip(nodes, weights, strict=True)
            )
            curvature = np.sum(list(parts), axis=0)
        return np.asarray((dataset.X.T * curvature) @ dataset.X + self.lam * np.eye(dataset.dim))


def squared_sensitivities(dataset: Dataset, lam: float, metric: FloatArray | None = None) -> FloatArray:
    r"""Return the per-instance sensitivity of ridge regression to every record's removal, in one pass (W19, eq. 3.4).

    ``|e_i|/(1 - h_i) |H^{-1} x_i|_A`` with the residual ``e_i`` and the leverage ``h_i`` of a record in the data and
    ``H = X^T X + lam I``, for half the squared loss and ``lam/2 |theta|^2``; one Cholesky factor, BLAS-3. ``A`` is
    ``metric``, the identity if left out. With ``lam = 0``, ``X^T X`` must be nonsingular. A record of leverage 1 has
    infinite sensitivity.
    """
    hessian = dataset.X.T @ dataset.X + check_nonnegative("lam", lam) * np.eye(dataset.dim)
    factor = _cholesky(hessian)
    whitened = solve_triangular(factor, dataset.X.T, lower=True)
    leverage = np.einsum("ij,ij->j", whitened, whitened)
    theta = solve_triangular(factor, whitened @ dataset.y, lower=True, trans="T")
    solved = solve_triangular(factor, whitened, lower=True, trans="T")
    weighted = solved if metric is None else np.asarray(metric) @ solved
    norms = np.sqrt(np.maximum(np.einsum("ij,ij->j", solved, weighted), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        out = np.abs(dataset.y - dataset.X @ theta) / (1 - leverage) * norms
    return np.where(leverage < 1 - 1e-12, out, np.inf)


def _cholesky(matrix: FloatArray) -> FloatArray:
    factor = regular_factor(matrix)
    if factor is None:
        raise ValueError("the Hessian must be positive definite; add a ridge (lam > 0)")
    return factor


def _positive_solve(matrix: FloatArray, vector: FloatArray) -> FloatArray:
    return np.asarray(cho_solve((_cholesky(matrix), True), vector))
