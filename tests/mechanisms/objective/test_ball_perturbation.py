"""Objective perturbation over a ball: the minimiser against a general optimiser, the promise against simulation."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from scipy.special import ndtr

from mechanisms.capabilities import Domain
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import Dataset
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation, ball_minimiser


@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0])
def test_the_minimiser_is_that_of_a_general_optimiser(scale: float) -> None:
    data, lam, radius = example_data(), 0.3, 0.5
    linear = scale * np.random.default_rng(1).standard_normal((6, 2))
    found = ball_minimiser(data, lam, linear, radius)
    for b, theta in zip(linear, found, strict=True):

        def objective(t: np.ndarray, b: np.ndarray = b) -> float:
            residual = data.y - data.X @ t
            return float(0.5 * residual @ residual + 0.5 * lam * t @ t + b @ t)

        inside = {"type": "ineq", "fun": lambda t: radius**2 - t @ t}
        literal = scipy.optimize.minimize(objective, np.zeros(2), method="SLSQP", constraints=[inside], tol=1e-14)
        np.testing.assert_allclose(theta, literal.x, atol=2e-6)
    assert (np.linalg.norm(found, axis=1) <= radius * (1 + 1e-12)).all()


def test_draws_are_the_minimisers_of_their_noise() -> None:
    data, mechanism = example_data(), BallObjectivePerturbation(2.0, 0.7, 0.6)
    noise = 2.0 * np.random.default_rng(4).standard_normal((5, 2))
    drawn = mechanism.draw(data, 5, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(drawn, ball_minimiser(data, 0.7, noise, 0.6))


def _one_record(mechanism: BallObjectivePerturbation, x: float, y: float, epsilon: float) -> float:
    """Return the exact divergence of no record and one, dim 1, worse direction: cells inside, an atom at either end."""
    edges = np.linspace(-mechanism.radius, mechanism.radius, 20_001)
    without = ndtr(mechanism.lam * edges / mechanism.sigma)
    within = ndtr((mechanism.lam * edges + x * (x * edges - y)) / mechanism.sigma)
    p, q = (np.concatenate([[law[0]], np.diff(law), [1 - law[-1]]]) for law in (without, within))
    return max(float(np.maximum(a - np.exp(epsilon) * b, 0).sum()) for a, b in ((p, q), (q, p)))


@pytest.mark.parametrize("sigma", [0.8, 2.0, 6.0])
@pytest.mark.parametrize("lam", [0.2, 2.0])
def test_no_pair_exceeds_the_bound_and_half_of_it_is_exceeded(sigma: float, lam: float) -> None:
    mechanism, domain = BallObjectivePerturbation(sigma, lam), Domain(1, 1.0, 1.0)
    bound = mechanism.worst_case(domain)
    for epsilon in (0.5, 1.0, 3.0):
        exact = max(_one_record(mechanism, x, y, epsilon) for x in (0.3, 1.0) for y in (-1.0, 0.0, 1.0))
        assert exact <= bound.delta_at(epsilon, 0.0) * (1 + 1e-9)
    # the change of the determinant is part of it: normal noise alone at the same distance says too little
    near = max(_one_record(BallObjectivePerturbation(50.0, lam), x, 0.0, 1.0 / (1 + lam)) for x in (0.5, 1.0))
    assert near > 2 * BallObjectivePerturbation(50.0, 1e9).worst_case(domain).delta_at(1.0 / (1 + lam), 0.0)


def test_a_shorter_record_has_a_smaller_bound_and_a_replaced_one_a_larger() -> None:
    mechanism, domain = BallObjectivePerturbation(14.0, 2.0), Domain(2, 1.0, 1.0)
    whole, short = mechanism.worst_case(domain), mechanism.record_bound(domain, 0.5)
    assert short.delta_at(1.0, 0.0) < whole.delta_at(1.0, 0.0)
    assert whole.replaced is not None
    assert whole.delta_at(1.0, 0.0) < whole.replaced(1.0, 0.0)


def test_the_bound_for_a_replaced_record_holds_on_lines() -> None:
    """Two data sets of one record each in one dimension, where both laws are known."""
    mechanism, domain = BallObjectivePerturbation(6.0, 1.0), Domain(1, 1.0, 1.0)
    edges = np.linspace(-1, 1, 20_001)
    laws = [ndtr((edges + x * (x * edges - y)) / 6.0) for x, y in ((1.0, 1.0), (1.0, -1.0), (0.2, 1.0))]
    cells = [np.concatenate([[law[0]], np.diff(law), [1 - law[-1]]]) for law in laws]
    replaced = mechanism.worst_case(domain).replaced
    assert replaced is not None
    for epsilon in (0.3, 1.0, 1.6):
        exact = max(float(np.maximum(p - np.exp(epsilon) * q, 0).sum()) for p in cells for q in cells)
        assert exact <= replaced(epsilon, 0.0)


def test_published_constants() -> None:
    mechanism = BallObjectivePerturbation.published(1.0, 1e-6, x_bound=1.0, y_bound=1.0)
    assert mechanism.lam == 2.0
    assert mechanism.sigma == pytest.approx(2 * np.sqrt(8 * np.log(2e6) + 4))


def test_refusals() -> None:
    with pytest.raises(ValueError, match="radius must be finite and positive, got radius=0"):
        BallObjectivePerturbation(1.0, 1.0, 0.0)
    empty = Dataset(np.empty((0, 2)), np.empty(0), 1.0, 1.0)
    assert BallObjectivePerturbation(1.0, 1.0).draw(empty, 2, rng=np.random.default_rng(0)).shape == (2, 2)
