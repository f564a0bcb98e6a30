"""The losses against ball arithmetic, their bounds, and their refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.mechanisms.objective_perturbation import loss_derivatives
from rows import for_each

from mechanisms.data.dataset import DataError
from mechanisms.objective.losses import (
    CanonicalLoss,
    GlmLoss,
    LogisticLoss,
    PoissonLoss,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SquaredLoss,
)

# loss, its width or scale, responses, predictors, relative tolerance
CASES = [
    (LogisticLoss(), 1.0, (-1.0, 1.0), (-700.0, -40.0, -3.0, -1e-9, 0.3, 7.0, 38.0, 700.0), 1e-14),
    (SquaredLoss(1.0), 1.0, (-0.7, 0.0, 2.0), (-1e6, -1.0, 0.3, 1e6), 1e-15),
    (SquaredLoss(2.0), 2.0, (-0.7, 0.0, 2.0), (-1e6, -1.0, 0.3, 1e6), 1e-15),
    (PoissonLoss(), 1.0, (0.0, 1.0, 3.0), (-700.0, -2.0, 0.3, 40.0, 700.0), 1e-15),
    (SmoothedHingeLoss(0.25), 0.25, (-1.0, 1.0), (-100.0, -2.0, 0.3, 1.0, 5.0, 100.0), 5e-14),
    (PseudoHuberLoss(1.0), 1.0, (-0.5, 0.0, 1.0), (-1e6, -2.0, 1e-9, 0.3, 1e6), 1e-15),
    (PseudoHuberLoss(0.25), 0.25, (-0.5, 0.0, 1.0), (-1e6, -2.0, 1e-9, 0.3, 1e6), 4e-15),
]
LOSSES = [case[0] for case in CASES]


@for_each(("loss", "width", "responses", "predictors", "tolerance"), CASES)
def test_value_and_derivatives_agree_with_ball_arithmetic(
    loss: GlmLoss,
    width: float,
    responses: tuple[float, ...],
    predictors: tuple[float, ...],
    tolerance: float,
) -> None:
    """Relative agreement far out in both tails, where a naive formula gives 0 or infinity."""
    for y in responses:
        for u in predictors:
            exact = loss_derivatives(loss.name, u, y, width)
            point, response = np.array([u]), np.array([y])
            got = [f(point, response)[0] for f in (loss.value, loss.first, loss.second, loss.third)]
            np.testing.assert_allclose(got, exact, rtol=tolerance, atol=1e-320)


@for_each("loss", LOSSES)
def test_beta_is_the_supremum_of_the_second_derivative(loss: GlmLoss) -> None:
    grid, response = np.linspace(-30, 30, 60001), np.array(1.0)
    largest = loss.second(grid, response).max()
    if math.isinf(loss.beta):
        assert largest > 1e12
    else:
        # the grid contains the maximiser (u = 0, or u = y = 1) up to its rounding
        assert largest == pytest.approx(loss.beta, rel=1e-6)


@for_each("loss", LOSSES)
def test_xi_bounds_the_gradient_and_is_nearly_attained(loss: GlmLoss) -> None:
    slopes = np.abs(loss.first(np.linspace(-1e3, 1e3, 20001), np.array(1.0))) * 0.7
    xi = loss.xi(1.0, 0.7)
    assert slopes.max() <= xi
    if math.isfinite(xi):
        assert slopes.max() >= xi * (1 - 1e-6)


@for_each("loss", [loss for loss in LOSSES if isinstance(loss, CanonicalLoss)])
def test_canonical_split_is_the_first_derivative(loss: CanonicalLoss) -> None:
    predictor, response = np.linspace(-20, 20, 101)[:, None], np.array([-1.0, 1.0])
    mean = loss.rate * np.repeat(predictor, 2, axis=1)
    loss.mean_inplace(mean)
    np.testing.assert_allclose(loss.scale * (mean - response), loss.first(predictor, response), rtol=1e-14, atol=1e-15)


def test_which_losses_are_canonical() -> None:
    assert [isinstance(loss, CanonicalLoss) for loss in LOSSES] == [True, True, True, True, False, False, False]
    assert all(isinstance(loss, GlmLoss) for loss in LOSSES)


@for_each("loss", LOSSES)
def test_functions_broadcast(loss: GlmLoss) -> None:
    for f in (loss.value, loss.first, loss.second, loss.third):
        assert f(np.zeros((5, 3)), np.ones((5, 1))).shape == (5, 3)
        assert f(np.zeros(5), np.asarray(1.0)).shape == (5,)


@for_each(
    ("loss", "bad", "message"),
    [
        (LogisticLoss(), [0.0, 1.0], r"y must be -1 or \+1 .* 2\*y - 1"),
        (SmoothedHingeLoss(), [0.5], r"y must be -1 or \+1"),
        (PoissonLoss(), [-1.0], "y must be at least 0"),
    ],
)
def test_responses_outside_the_domain_are_refused(loss: GlmLoss, bad: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        loss.check_response(np.array(bad))
    for fine in (SquaredLoss(), PseudoHuberLoss()):
        fine.check_response(np.array(bad))


@for_each("value", [0.0, -1.0, math.nan, math.inf, True])
@for_each("loss", [SquaredLoss, SmoothedHingeLoss, PseudoHuberLoss])
def test_widths_must_be_positive(loss: type, value: float) -> None:
    with pytest.raises(ValueError, match="must be finite and positive"):
        loss(value)
