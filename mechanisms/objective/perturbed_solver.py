"""Minimisers of ``J(theta; D) + b^T theta`` for many ``b`` at once, each certified by an exact gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import FloatArray
from ..numerics.ticks import tick
from .local_model import GradientModel, gradient_model
from .perturbed_objective import POINTS, PerturbedObjective, slices

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
    """Return certified minimisers by damped Newton steps from ``start``.

    Parameters
    ----------
    objective : PerturbedObjective
    noise, start : (n_points, dim) arrays
    residual : float
        Largest ``max_j |grad J + b|_j`` of a returned point, checked with an exact float64 gradient.

    Raises
    ------
    SolverError
        If a point does not reach ``residual``.
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

    Raises
    ------
    SolverError
        If a point does not reach ``residual``.
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
