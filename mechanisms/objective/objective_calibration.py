"""Noise and regularisation of objective perturbation for a target (epsilon, delta) (RW21, Theorem 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..base import check_delta, check_positive
from .losses import GlmLoss

#: An epsilon whose square is a float64.
LARGEST_SQUARED = 1e150


@dataclass(frozen=True)
class ObjectiveCalibration:
    """Parameters for a target (epsilon, delta) under ADD and REMOVE.

    Attributes
    ----------
    lam : float
        ``2 beta/epsilon``, the smallest regularisation that the theorem allows.
    sigma_published : float
        The scale as printed, ``xi^2 (8 log(2/delta) + 4 epsilon)/epsilon^2``. It has the units of ``xi^2``: a variance
        in the place of a standard deviation. Used as printed it is too small whenever it is below 1.
    sigma_corrected : float
        Its square root, ``xi sqrt(8 log(2/delta) + 4 epsilon)/epsilon``, in the units of the gradient; proved for
        generalised linear losses in ``docs/derivations/objective_perturbation.md``.
    """

    lam: float
    sigma_published: float
    sigma_corrected: float


def variance_t5(xi: float, epsilon: float, delta: float) -> float:
    """Return ``xi^2 (8 log(2/delta) + 4 epsilon)/epsilon^2``, natural log (RW21, Theorem 5).

    ``xi`` is a positive bound on the norm of a record's gradient, ``epsilon > 0`` and ``delta`` in (0, 1].
    """
    xi, epsilon = check_positive("xi", xi), check_positive("epsilon", epsilon)
    if check_delta(delta) == 0.0:
        raise ValueError("delta must be positive, got delta=0.0")
    if epsilon > LARGEST_SQUARED:  # its square is no float64, and the logarithm nothing beside it
        return 4.0 * xi**2 / epsilon
    return xi**2 * (8.0 * math.log(2.0 / delta) + 4.0 * epsilon) / epsilon**2


def calibrate_t5(
    loss: GlmLoss, epsilon: float, delta: float, *, x_bound: float, y_bound: float
) -> ObjectiveCalibration:
    """Return Theorem 5's parameters for a loss on a public domain: ``||x|| <= x_bound``, ``|y| <= y_bound``.

    ``epsilon > 0`` and ``delta`` in (0, 1]. ``ValueError`` where the loss has no finite ``xi(y_bound, x_bound)`` and
    ``beta``, or a parameter is out of its range. RW21, Theorem 5, credited to Kifer, Smith and Thakurta, "Private
    convex empirical risk minimization and high-dimensional regression", COLT 2012.

    Examples
    --------
    >>> from mechanisms.objective.losses import LogisticLoss
    >>> calibration = calibrate_t5(LogisticLoss(), 1.0, 1e-6, x_bound=1.0, y_bound=1.0)
    >>> round(calibration.lam, 3), round(calibration.sigma_published, 2), round(calibration.sigma_corrected, 2)
    (0.5, 120.07, 10.96)
    """
    xi, beta = loss.xi(y_bound, x_bound), loss.beta * x_bound**2
    if not (math.isfinite(xi) and math.isfinite(beta)):
        raise ValueError(f"loss must have bounded gradient and Hessian, got xi={xi}, beta={beta} for {loss.name}")
    variance = variance_t5(xi, epsilon, delta)
    return ObjectiveCalibration(2.0 * beta / epsilon, variance, math.sqrt(variance))
