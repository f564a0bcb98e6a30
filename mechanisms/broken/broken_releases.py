"""Broken releases at a published parameter: too little noise, and the Hessian's noise in other normalisations."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..catalogue import Example, example_pair
from ..objective.losses import LogisticLoss
from ..releases.eigenvalue_release import EigenvalueRelease
from ..releases.gradient_release import GradientRelease
from ..releases.hessian_release import HessianRelease
from .misstated import Misstated, understated


def hessian_half_variance(claimed: HessianRelease) -> HessianRelease:
    """Return the law of ``(Z + Z^T)/2`` in place of ``(Z + Z^T)/sqrt(2)``: one GOE normalisation for the other.

    All noise has half the variance that RW21's Algorithm 6 asks for: ``mu`` is sqrt(2) times the claimed one.
    """
    return understated(claimed, "sigma3", factor=math.sqrt(2.0))


def hessian_plain_diagonal(claimed: HessianRelease) -> HessianRelease:
    """Return the law of i.i.d. noise of scale ``sigma3`` on the upper triangle, diagonal included.

    The matrix is filled symmetrically from one triangle instead of being symmetrised as ``(Z + Z^T)/sqrt(2)``, so the
    diagonal has half its variance: ``mu`` is between 1 and sqrt(2) times the claimed one (sqrt(2) for a record on an
    axis).
    """
    return replace(claimed, diagonal_factor=1.0)


def misstatements() -> dict[str, Example]:
    """Return them, each with a pair that shows it."""
    theta, logistic, labels = np.array([0.4, -0.3]), LogisticLoss(), example_pair("labels")
    hessian, gradient = HessianRelease(theta, logistic, 1.0, 0.2), GradientRelease(theta, logistic, 1.0, 0.6)
    eigenvalue = EigenvalueRelease(theta, logistic, 1.0, 0.05)
    return {
        "eigenvalue_understated": Example(Misstated(eigenvalue, understated(eigenvalue, "sigma4")), labels),
        "gradient_understated": Example(Misstated(gradient, understated(gradient, "sigma2")), labels),
        "hessian_half_variance": Example(Misstated(hessian, hessian_half_variance(hessian)), labels),
        "hessian_plain_diagonal": Example(Misstated(hessian, hessian_plain_diagonal(hessian)), labels),
        "hessian_understated": Example(Misstated(hessian, understated(hessian, "sigma3")), labels),
    }
