"""RW21 Theorem 5 as printed and corrected, against the exact hockey-stick divergence in one dimension."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.mechanisms.objective_perturbation import hockey_stick_1d

from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.objective.losses import GlmLoss, LogisticLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.objective.objective_calibration import calibrate_t5, variance_t5
from mechanisms.objective.objective_perturbation import ObjectivePerturbation


def worst_delta(loss: GlmLoss, x_bound: float, epsilon: float, sigma: float, lam: float) -> float:
    """Largest exact delta(epsilon) over both directions of a few one-dimensional pairs (0 to 3 records)."""
    worst = 0.0
    for signs in ((), (1.0,), (1.0, -1.0, 1.0)):
        dataset = Dataset(np.full((len(signs), 1), x_bound), np.array(signs), x_bound, 1.0)
        mechanism = ObjectivePerturbation(loss, sigma, lam)
        pair = NeighbouringPair.add(dataset, [x_bound], 1.0)
        reach = (12.0 * sigma + (len(signs) + 1) * loss.xi(1.0, x_bound)) / lam
        grid = np.linspace(-reach, reach, 20_001)
        log_p, log_q = (mechanism.log_density(grid[:, None], d) for d in (pair.first, pair.second))
        for one, other in ((log_p, log_q), (log_q, log_p)):
            assert np.trapezoid(np.exp(one), grid) == pytest.approx(1.0, abs=1e-9)
            worst = max(worst, hockey_stick_1d(one, other, grid, epsilon))
    return worst


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("x_bound", [1.0, 0.004])
@pytest.mark.parametrize("loss", [LogisticLoss(), SmoothedHingeLoss(0.5), PseudoHuberLoss(1.0)], ids=lambda v: v.name)
def test_corrected_scale_meets_its_target(loss: GlmLoss, x_bound: float, epsilon: float) -> None:
    calibration = calibrate_t5(loss, epsilon, 1e-3, x_bound=x_bound, y_bound=1.0)
    assert worst_delta(loss, x_bound, epsilon, calibration.sigma_corrected, calibration.lam) <= 1e-3


def test_published_scale_fails_where_the_gradient_is_small() -> None:
    """xi = 0.004, epsilon = 1, delta = 1e-3: printed 0.00104 = xi/3.8 (delta far above 1e-3), corrected 0.0322."""
    calibration = calibrate_t5(LogisticLoss(), 1.0, 1e-3, x_bound=0.004, y_bound=1.0)
    assert calibration.sigma_published == pytest.approx(0.004**2 * (8 * math.log(2000) + 4), rel=1e-15)
    assert calibration.sigma_corrected == pytest.approx(math.sqrt(calibration.sigma_published), rel=1e-15)
    assert worst_delta(LogisticLoss(), 0.004, 1.0, calibration.sigma_published, calibration.lam) > 0.1


def test_published_scale_does_not_scale_with_the_units_of_the_gradient() -> None:
    """Features in other units multiply xi and must multiply sigma alike; as printed it grows with the square."""
    one, ten = (calibrate_t5(LogisticLoss(), 1.0, 1e-6, x_bound=b, y_bound=1.0) for b in (1.0, 10.0))
    assert ten.sigma_corrected / one.sigma_corrected == pytest.approx(10.0)
    assert ten.sigma_published / one.sigma_published == pytest.approx(100.0)
    assert ten.lam / one.lam == pytest.approx(100.0)  # beta x_bound^2


def test_regularisation_is_the_printed_one() -> None:
    """RW21, section 4.1: logistic regression needs lam >= 1/(2 epsilon)."""
    for epsilon in (0.1, 1.0, 3.0):
        calibration = calibrate_t5(LogisticLoss(), epsilon, 1e-6, x_bound=1.0, y_bound=1.0)
        assert calibration.lam == pytest.approx(1 / (2 * epsilon))


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, True])
def test_bad_parameters_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be finite and positive"):
        calibrate_t5(LogisticLoss(), value, 1e-6, x_bound=1.0, y_bound=1.0)
    with pytest.raises(ValueError, match="xi must be finite and positive"):
        variance_t5(value, 1.0, 1e-6)
    with pytest.raises(ValueError, match="delta must be"):
        variance_t5(1.0, 1.0, 2.0 if value == math.inf else value)
    with pytest.raises(ValueError, match="loss must have bounded gradient and Hessian, got xi=inf"):
        calibrate_t5(SquaredLoss(), 1.0, 1e-6, x_bound=1.0, y_bound=1.0)


def test_an_epsilon_whose_square_overflows_has_its_limit() -> None:
    """Beyond 1e150 the other formula; at its edge both agree."""
    assert variance_t5(2.0, 1e300, 1e-6) == pytest.approx(16.0 / 1e300, rel=1e-12)
    edge = (variance_t5(2.0, epsilon, 1e-6) * epsilon for epsilon in (9.9e149, 1.1e150))
    assert list(edge) == pytest.approx([16.0, 16.0], rel=1e-12)
