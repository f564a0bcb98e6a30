"""Sure bounds on gradients: never below a gradient at an iterate in the ball, never far above the largest of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.capabilities import Domain
from mechanisms.training.batched_steps import LossName
from mechanisms.training.training_worst_case import (
    VALUES,
    few_values,
    forced_record,
    least_norms,
    longest_norm,
    sure_norms,
)

LOSSES: tuple[LossName, ...] = ("squared", "logistic")


def gradient_norm(loss: str, x: np.ndarray, y: float, theta: np.ndarray) -> float:
    """Return the norm of the gradient from its definition, not clipped."""
    slope = float(x @ theta) - y if loss == "squared" else -y / (1 + math.exp(y * float(x @ theta)))
    return math.hypot(*(slope * x))  # a root of summed squares would be 0 below 1e-162


@given(
    loss=st.sampled_from(LOSSES),
    length=st.just(0.0) | st.floats(1e-100, 3.0),
    y=st.floats(-2.0, 2.0),
    radius=st.floats(0.01, 4.0),
    clip=st.floats(0.05, 5.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_gradient_in_the_ball_lies_between_the_bounds(
    loss: LossName, length: float, y: float, radius: float, clip: float, seed: int
) -> None:
    y = math.copysign(1.0, y) if loss == "logistic" else y
    rng = np.random.default_rng(seed)  # directions alone; the property holds at each
    x, theta = rng.standard_normal((2, 3))
    x, theta = x / np.linalg.norm(x) * length, theta / np.linalg.norm(theta) * radius * rng.uniform()
    sure = float(sure_norms(loss, np.array([length]), np.array([y]), radius, clip)[0])
    least = float(least_norms(loss, np.array([length]), np.array([y]), radius)[0])
    norm = gradient_norm(loss, x, y, theta)
    assert least * (1 - 1e-9) <= norm
    assert min(norm, clip) <= sure * (1 + 1e-15)


@pytest.mark.parametrize("loss", LOSSES)
def test_both_bounds_are_reached_in_the_ball(loss: LossName) -> None:
    lengths, y = np.array([0.7]), np.array([1.0])
    ends = [gradient_norm(loss, np.array([0.7]), 1.0, np.array([theta])) for theta in (-0.9, 0.9)]
    assert sure_norms(loss, lengths, y, 0.9, math.inf)[0] == pytest.approx(max(ends), rel=1e-10)
    assert least_norms(loss, lengths, y, 0.9)[0] == pytest.approx(min(ends), rel=1e-10)
    assert least_norms(loss, lengths, y, math.inf)[0] == 0.0


def test_no_record_of_a_domain_exceeds_its_longest_norm_and_without_bounds_it_is_the_clip() -> None:
    domain = Domain(2, 0.5, 1.0)
    assert longest_norm("logistic", domain, math.inf, 1.0) == pytest.approx(0.5)
    assert longest_norm("squared", domain, math.inf, 1.0) == 1.0
    assert longest_norm("squared", domain, 0.2, 1.0) == pytest.approx(0.5 * (1 + 0.1))
    assert longest_norm("logistic", Domain(2, math.inf, 1.0), 1.0, 0.3) == 0.3


def test_the_forced_record_is_the_best_length() -> None:
    length, norm = forced_record("squared", Domain(1, 2.0, 1.0), 1.0)  # l (1 - l) is largest at 1/2
    assert length == pytest.approx(0.5, rel=0.03)
    assert norm == pytest.approx(0.25, rel=1e-3)
    assert norm <= 0.25
    assert forced_record("logistic", Domain(1, 0.5, 1.0), 0.1)[0] == 0.5


def test_few_values_are_at_least_each_records_own() -> None:
    norms = np.geomspace(0.01, 0.9, 5_000)[np.random.default_rng(0).permutation(5_000)]
    values, places = few_values(norms)
    assert len(values) == VALUES
    assert (values[places] >= norms).all()
    assert (values[places] <= norms * (90 ** (1 / (VALUES - 1)) + 1e-9)).all()
    assert values[-1] == norms.max()
    few, places = few_values(np.array([0.5, 0.0, 0.5]))
    assert few[places].tolist() == [0.5, 0.0, 0.5]
