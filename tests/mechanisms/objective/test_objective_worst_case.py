"""Bounds over all data sets where a record's slope changes its sign: one record alone, in closed form, against them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr

from mechanisms.capabilities import Domain
from mechanisms.data.dataset import FloatArray
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation
from mechanisms.objective.losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.objective.objective_worst_case import keeps_sign, objective_domination, objective_tail

LINE = Domain(1, 1.0, 1e-3)


def one_record(slope: Callable[[FloatArray], FloatArray], sigma: float, lam: float, points: FloatArray) -> FloatArray:
    """Return the masses between points of the line, without the record ``(1, 0)`` and with it, shape ``(2, cells)``."""
    noise = np.array([lam * points, lam * points + slope(points)]) / sigma
    below = np.pad(ndtr(noise), ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    above = np.pad(ndtr(-noise), ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
    middle = np.pad(noise, ((0, 0), (1, 0)), constant_values=-1.0)
    return np.where(middle > 0, -np.diff(above), np.diff(below))


def divergence(masses: FloatArray, epsilon: float) -> float:
    """Return the larger of both directions, at least as large in truth."""
    first, second = masses
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in ((first, second), (second, first)))


def test_a_slope_of_either_sign_loses_at_both_ends_over_a_ball() -> None:
    sigma, lam, epsilon = 0.162, 0.0349, 19.04
    mechanism = BallObjectivePerturbation(sigma, lam)
    truth = divergence(one_record(lambda t: t, sigma, lam, np.linspace(-1, 1, 4001)), epsilon)
    assert truth <= mechanism.worst_case(LINE).delta_at(epsilon, 1e-6)
    # mutant: as if the noise counted at one end
    mu, shift = mechanism.gradient_bound(LINE) / sigma, math.log1p(1 / lam)
    assert truth > 1.2 * objective_domination(mu, shift, epsilon)


@pytest.mark.parametrize(
    ("width", "sigma", "lam", "epsilon"),
    [(0.2928, 0.07864, 0.0172, 14.41), (2.498, 0.3892, 0.00797, 21.75), (0.0634, 0.00794, 0.00266, 34.94)],
)
def test_a_slope_of_either_sign_loses_at_both_ends(width: float, sigma: float, lam: float, epsilon: float) -> None:
    mechanism, domain = ObjectivePerturbation(PseudoHuberLoss(width), sigma, lam), Domain(1, 1.0, 1.0)
    points = np.sinh(np.linspace(-12, 12, 4001)) / math.sinh(12) * (40 * sigma / lam + 2 * width)
    truth = divergence(one_record(lambda t: mechanism.loss.first(t, np.zeros(1)), sigma, lam, points), epsilon)
    bound = mechanism.worst_case(domain)
    assert bound is not None
    assert truth <= bound.delta_at(epsilon, 1e-6)
    assert truth <= float(objective_tail(mechanism, domain, epsilon))


def test_who_keeps_the_sign() -> None:
    losses = (LogisticLoss(), SmoothedHingeLoss(), PseudoHuberLoss(), SquaredLoss(), PoissonLoss())
    assert [keeps_sign(loss) for loss in losses] == [True, True, False, False, False]
    u = np.linspace(-30, 30, 61)
    for loss in losses[:2]:
        for label in (-1.0, 1.0):
            assert (label * loss.first(u, np.full(61, label)) < 0).all()


def test_no_tail_is_rounded_to_nothing() -> None:
    mechanism = ObjectivePerturbation(LogisticLoss(), 0.3, 0.1)
    assert float(objective_tail(mechanism, Domain(1, 1.0, 1.0), 1e3)) > 0
