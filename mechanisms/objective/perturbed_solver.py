"""Minimisers of ``J(theta; D) + b^T theta`` for many ``b`` at once, each certified by an exact gradient.

Models of the gradient near the noise-free minimiser are built once and shared by all noise vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ..data.dataset import FloatArray, row_norms
from ..numerics.ticks import tick
from .losses import SquaredLoss
from .perturbed_objective import POINTS, RECORDS, PerturbedObjective, packed_outer, slices, unpacked

#: Records whose predictor is expected to move by more than ``MOBILE`` (one standard deviation) stay exact in the model,
#: the most mobile first, up to a share of the data; without the cubic model where others move more than ``HOPELESS``.
MOBILE, EXACT_SHARE, HOPELESS = 0.15, 0.05, 1.0
#: Largest packed dimension ``dim (dim + 1)/2`` of a cubic model, whose quartic form is a square matrix of that size;
#: it pays only where there are so many times more records, and at least one draw for so many packed entries.
LARGEST_PACKED, RECORDS_PER_ENTRY, ENTRIES_PER_DRAW = 1500, 8, 4
#: Smallest spread a slope is fitted over, so that differences of slopes do not drown in rounding.
SMALLEST_SPREAD = 0.01
#: Nodes of the Gauss-Hermite rule that fits the slopes.
NODES = 12
#: Newton steps on the model, and the residual relative to the largest noise at which they stop.
MODEL_STEPS, MODEL_RESIDUAL = 12, 1e-6


class GradientModel(Protocol):
    """What the solver needs: starting points, and a correction of points whose exact residual is known."""

    def start(self, noise: FloatArray) -> FloatArray:
        """Return approximate minimisers of ``J + b^T theta``, shape ``(n_points, dim)``."""

    def correction(self, theta: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the step that removes ``residual = grad J(theta) + b`` to first order in the model."""


@dataclass(frozen=True, eq=False, repr=False)
class LinearModel:
    """``grad J(centre + d) ~ H d`` with the Hessian ``H`` at the noise-free minimiser: exact for the squared loss."""

    centre: FloatArray
    factor: tuple[FloatArray, bool]

    @classmethod
    def fit(cls, objective: PerturbedObjective, centre: FloatArray) -> LinearModel:
        """Factor the Hessian at ``centre``, shape ``(dim,)``."""
        return cls(centre, cho_factor(objective.hessian(centre[None])[0], lower=True))

    def start(self, noise: FloatArray) -> FloatArray:
        """Return ``centre - H^{-1} b``."""
        return self.centre + self.correction(noise, noise)

    def correction(self, theta: FloatArray, residual: FloatArray) -> FloatArray:
        """Return ``-H^{-1} residual``, a chord step."""
        return np.asarray(-cho_solve(self.factor, residual.T, check_finite=False).T)


@dataclass(frozen=True, eq=False, repr=False)
class CubicModel:
    """``grad J(centre + d) ~ constant + (Q1 + Q2[d] + Q3[d, d]) d`` plus the exact slopes of the most mobile records.

    The slope ``f'(x_i^T theta; y_i)`` of every other record is replaced by the cubic polynomial in its displacement
    ``v = x_i^T d`` that is closest in mean square under ``v ~ N(0, s_i^2)``, roughly its law. Symmetric matrices are
    packed into their upper triangles; ``Q2`` and ``Q3`` map ``d`` and its packed outer product to such a triangle.
    """

    linear: LinearModel
    constant: FloatArray
    forms: tuple[FloatArray, FloatArray, FloatArray]
    exact: PerturbedObjective

    @classmethod
    def fit(
        cls, objective: PerturbedObjective, linear: LinearModel, spread: FloatArray, mobile: NDArray[np.bool_]
    ) -> CubicModel:
        """Fit the cubics for predictors that move with standard deviation ``spread``, except for ``mobile`` records."""
        data, dim = objective.dataset, objective.dim
        still = np.flatnonzero(~mobile)
        rows, columns = np.triu_indices(dim)
        constant = np.zeros(dim)
        forms = (np.zeros(len(rows)), np.zeros((len(rows), dim)), np.zeros((len(rows), len(rows))))
        for block in slices(len(still), RECORDS):
            records = still[block]
            X, packed = data.X[records], packed_outer(data.X[records])
            widths = np.maximum(spread[records], SMALLEST_SPREAD)
            a0, a1, a2, a3 = _cubic_slopes(objective, X @ linear.centre, data.y[records], widths)
            constant += a0 @ X
            forms[0][:] += packed.T @ a1
            forms[1][:] += packed.T @ (a2[:, None] * X)
            forms[2][:] += packed.T @ (a3[:, None] * packed)
        forms[2][:] *= np.where(rows == columns, 1.0, 2.0)
        subset = replace(data, X=data.X[mobile], y=data.y[mobile])
        return cls(linear, constant, forms, replace(objective, dataset=subset))

    def derivatives(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the model's gradient ``(n_points, dim)`` and Hessian ``(n_points, dim, dim)``."""
        dim = self.exact.dim
        shift = theta - self.linear.centre
        first, second = self.forms[0], shift @ self.forms[1].T
        third = packed_outer(shift) @ self.forms[2].T
        gradient = self.exact.gradient(theta) + self.constant
        gradient += (unpacked(first + second + third, dim) @ shift[..., None])[..., 0]
        # the derivative of (Q1 + Q2[d] + Q3[d, d]) d, all forms being symmetric
        return gradient, self.exact.hessian(theta) + unpacked(first + 2.0 * second + 3.0 * third, dim)

    def start(self, noise: FloatArray) -> FloatArray:
        """Return minimisers of the model by Newton steps, unconverged or wild where the model is not convex."""
        theta = self.linear.start(noise)
        active = np.arange(len(noise))
        for _ in range(MODEL_STEPS):
            gradient, hessian = self.derivatives(theta[active])
            gradient += noise[active]
            moving = np.abs(gradient).max(axis=1) > MODEL_RESIDUAL * np.abs(noise).max()
            active = active[moving]
            if active.size == 0:
                break
            theta[active] -= np.linalg.solve(hessian[moving], gradient[moving, :, None])[..., 0]
        return theta

    def correction(self, theta: FloatArray, residual: FloatArray) -> FloatArray:
        """Return the Newton step that takes the exact residual and the model's Hessian."""
        return np.asarray(-np.linalg.solve(self.derivatives(theta)[1], residual[..., None])[..., 0])


def gradient_model(objective: PerturbedObjective, centre: FloatArray, noise: FloatArray) -> GradientModel:
    """Return the cubic model where it is accurate and repays its cost, about ``n * packed^2``; else the linear one.

    ``centre`` is the noise-free minimiser, ``noise`` the vectors that the model is for.
    """
    linear, n_records = LinearModel.fit(objective, centre), objective.dataset.n_records
    packed = objective.dim * (objective.dim + 1) // 2
    few = n_records < RECORDS_PER_ENTRY * packed or ENTRIES_PER_DRAW * len(noise) < packed
    if isinstance(objective.loss, SquaredLoss) or packed > LARGEST_PACKED or few:
        return linear
    scale = np.sqrt(np.square(noise).mean())
    spread = scale * row_norms(cho_solve(linear.factor, objective.dataset.X.T, check_finite=False).T)
    threshold = max(MOBILE, float(np.quantile(spread, 1.0 - EXACT_SHARE)))
    return linear if threshold > HOPELESS else CubicModel.fit(objective, linear, spread, spread > threshold)


def _cubic_slopes(
    objective: PerturbedObjective, predictor: FloatArray, y: FloatArray, spread: FloatArray
) -> FloatArray:
    """Return ``a`` of shape ``(4, n_records)``: the cubic in ``v`` nearest to ``f'(u + v; y)`` for ``v ~ N(0, s^2)``.

    The projection on Hermite polynomials ``1, z, z^2 - 1, z^3 - 3z`` in ``z = v/s``, by a Gauss-Hermite rule.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    weights = weights / weights.sum()
    basis = np.stack([np.ones(NODES), nodes, (nodes**2 - 1.0) / 2.0, (nodes**3 - 3.0 * nodes) / 6.0]) * weights
    slopes = objective.loss.first(predictor[:, None] + spread[:, None] * nodes, y[:, None])
    c0, c1, c2, c3 = basis @ slopes.T
    return np.stack([c0 - c2, (c1 - 3.0 * c3) / spread, c2 / spread**2, c3 / spread**3])


#: Newton steps before a point is given up.
NEWTON_STEPS = 200
#: Halvings of one Newton step before it is given up.
HALVINGS = 60
#: Relative rounding allowed in a sum of losses when two values of the objective are compared (Hager and Zhang's
#: approximate Wolfe rule: near the minimiser values cancel and the slope decides).
VALUE_SLACK = 1e-10
#: Exact passes before a point is handed to Newton, and the factor by which each must reduce the residual.
CORRECTIONS, CONTRACTION = 8, 0.3


class SolverError(RuntimeError):
    """A minimiser could not be brought to the stated residual."""


def newton(objective: PerturbedObjective, noise: FloatArray, start: FloatArray, residual: float) -> FloatArray:
    """Return certified minimisers by damped Newton steps from ``start``, for each row of ``noise``.

    ``residual`` is the largest ``max_j |grad J + b|_j`` of a returned point, checked with an exact float64 gradient;
    ``SolverError`` if a point does not reach it.
    """
    theta = np.array(start)
    for points in slices(len(theta), objective.points_per_hessian):
        theta[points] = _newton_chunk(objective, noise[points], theta[points], residual)
    return theta


def _newton_chunk(objective: PerturbedObjective, noise: FloatArray, theta: FloatArray, residual: float) -> FloatArray:
    gradient = objective.gradient(theta) + noise
    for _ in range(NEWTON_STEPS):
        active = np.flatnonzero(~(np.abs(gradient).max(axis=1) <= residual))
        if active.size == 0:
            return theta
        step = _newton_step(objective.hessian(theta[active]), gradient[active])
        moved, gradient[active] = _line_search(objective, noise[active], theta[active], gradient[active], step)
        if np.array_equal(moved, theta[active]):
            break
        theta[active] = moved
    worst = float(np.abs(gradient).max())
    raise SolverError(
        f"residual must be within reach of float64, got residual={residual:g} but the gradient stayed at {worst:g}; "
        "scale the features down, or raise residual" + (", or make lam positive" if objective.lam == 0 else "")
    )


def _newton_step(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    try:
        return np.asarray(-np.linalg.solve(hessian, gradient[..., None])[..., 0])
    except np.linalg.LinAlgError:
        raise SolverError("lam must be positive here: the objective has no unique minimiser for this noise") from None


def _line_search(
    objective: PerturbedObjective, noise: FloatArray, theta: FloatArray, gradient: FloatArray, step: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Halve each step until the slope along it is not steeply uphill and the objective has not grown.

    A convex function has not grown where its slope is still downhill, so values are needed only after an overshoot.
    """
    slope = np.einsum("ki,ki->k", gradient, step)
    new_theta, new_gradient = theta.copy(), gradient.copy()
    todo, length = np.arange(len(theta)), 1.0
    for _ in range(HALVINGS):
        trial = theta[todo] + length * step[todo]
        with np.errstate(invalid="ignore", over="ignore"):  # far out a loss may overflow: such a trial is refused
            trial_gradient = objective.gradient(trial) + noise[todo]
            trial_slope = np.einsum("ki,ki->k", trial_gradient, step[todo])
        accepted = trial_slope <= 0.5 * np.abs(slope[todo])
        check = np.flatnonzero(accepted & (trial_slope > 0.0))
        accepted[check] = _not_grown(objective, noise[todo[check]], theta[todo[check]], trial[check])
        done = todo[accepted]
        new_theta[done], new_gradient[done] = trial[accepted], trial_gradient[accepted]
        todo, length = todo[~accepted], 0.5 * length
        if todo.size == 0:
            break
    return new_theta, new_gradient


def _not_grown(objective: PerturbedObjective, noise: FloatArray, old: FloatArray, new: FloatArray) -> NDArray[np.bool_]:
    """Return where ``J + b^T theta`` at ``new`` is at most that at ``old``, up to the rounding of sums."""
    before, after = objective.value(old), objective.value(new)
    change = after - before + np.einsum("ki,ki->k", noise, new - old)
    return np.asarray(change <= VALUE_SLACK * (1.0 + np.abs(before)))


def solve(objective: PerturbedObjective, noise: FloatArray, residual: float) -> FloatArray:
    """Return the minimiser of ``J + b^T theta`` for each row ``b`` of ``noise``, certified to ``residual``.

    A model of the gradient around the noise-free minimiser gives starting points and the Hessians of corrections whose
    residuals are exact; a point that does not contract goes to ``newton``.
    """
    origin = np.zeros((1, objective.dim))
    centre = newton(objective, np.zeros_like(origin), origin, residual)
    model = gradient_model(objective, centre[0], noise)
    theta = np.empty_like(noise)
    for points in slices(len(noise), POINTS):
        theta[points] = _corrected(objective, model, noise[points], centre, residual)
        tick(theta[points].shape[0])
    return theta


def _corrected(
    objective: PerturbedObjective, model: GradientModel, noise: FloatArray, centre: FloatArray, residual: float
) -> FloatArray:
    """Return certified minimisers: the model's, corrected by exact residuals; by Newton steps where that stalls."""
    active, before = np.arange(len(noise)), np.full(len(noise), np.finfo(float).max)
    stalled = np.zeros(len(noise), dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):  # a wild start may overflow: it stalls at once
        theta = model.start(noise)
        for _ in range(CORRECTIONS):
            exact = objective.gradient(theta[active]) + noise[active]
            now = np.abs(exact).max(axis=1)
            going = (now > residual) & (now <= CONTRACTION * before)
            stalled[active] = ~(going | (now <= residual))
            active, exact, before = active[going], exact[going], now[going]
            if active.size == 0:
                break
            theta[active] += model.correction(theta[active], exact)
    stalled[active] = True  # corrected after the last exact residual, hence not certified
    if stalled.any():
        theta[stalled] = newton(objective, noise[stalled], _nearer(objective, theta, noise, centre, stalled), residual)
    return theta


def _nearer(
    objective: PerturbedObjective, theta: FloatArray, noise: FloatArray, centre: FloatArray, chosen: NDArray[np.bool_]
) -> FloatArray:
    """Return for each chosen point itself, or the noise-free minimiser where the objective is lower there."""
    points = np.where(np.isfinite(theta[chosen]), theta[chosen], centre)
    with np.errstate(invalid="ignore", over="ignore"):
        kept = _not_grown(objective, noise[chosen], np.broadcast_to(centre, points.shape), points)
    return np.where(kept[:, None], points, centre)
