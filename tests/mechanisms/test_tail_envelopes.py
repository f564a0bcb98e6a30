import math

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed

from mechanisms.base import Direction
from mechanisms.data import Dataset
from mechanisms.losses import LogisticLoss, SquaredLoss
from mechanisms.neighbours import NeighbouringPair, UnsupportedRelation
from mechanisms.objective_perturbation import ObjectivePerturbation
from mechanisms.tail_envelopes import _bounds, _shells, logistic_envelope


def logistic_data(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X[:, 0])), 1.0, -1.0)
    return Dataset(X, y, 1.0, 1.0)


CASES = [
    # n, dim, lam, sigma, direction, epsilon, the target's response
    (200, 3, 1.0, 1.0, Direction.FORWARD, 1.5, 1.0),
    (200, 3, 1.0, 1.0, Direction.BACKWARD, 1.5, -1.0),
    (40, 4, 2.0, 4.0, Direction.FORWARD, 0.4, 1.0),
    (40, 4, 2.0, 2.0, Direction.BACKWARD, 0.4, -1.0),
    (30, 1, 0.5, 2.0, Direction.FORWARD, 0.8, 1.0),
    (30, 1, 0.5, 2.0, Direction.BACKWARD, 0.8, -1.0),
]


def scaled_noise_check(case, *, raised, n_draws=4000):
    """Draw noise far more widely than sigma; return (losses above epsilon, those of them outside the event)."""
    n, dim, lam, sigma, direction, epsilon, response = case
    data = logistic_data(n, dim)
    x = np.eye(dim)[0]
    pair = NeighbouringPair.add(data, x, response)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma, lam)
    inside = direction is Direction.BACKWARD
    drawn = pair.second if inside else pair.first
    shells = _shells(_bounds(mechanism, drawn, pair, inside), epsilon, dim)
    rng = np.random.default_rng(81)
    noise = rng.standard_normal((n_draws, dim)) * rng.choice([1.0, 2.0, 4.0], size=(n_draws, 1))
    noise += rng.uniform(-8, 8, size=(n_draws, 1)) * x
    loss = mechanism.privacy_loss(mechanism.solve(drawn, sigma * noise), pair)
    loss = -loss if inside else loss
    towards = x * (-response if inside else response)
    along = noise @ towards
    from scipy.stats import chi2

    rest = np.sqrt(np.maximum(np.square(noise).sum(axis=1) - along**2, 0.0))
    inner = chi2.isf(shells.beyond, dim - 1) ** 0.5 if dim > 1 else np.zeros(1)
    shell = (
        np.clip(np.searchsorted(inner, rest, side="right") - 1, 0, None) if dim > 1 else np.zeros(n_draws, dtype=int)
    )
    above = loss > epsilon
    return above.sum(), (above & (along <= shells.edges[shell] * raised)).sum(), shells


@pytest.mark.parametrize("case", CASES)
def test_no_loss_above_epsilon_lies_outside_the_event(case):
    """The envelope is a theorem, so not one of the widely spread noises may break it."""
    above, outside, shells = scaled_noise_check(case, raised=1.0)
    assert above > 20
    assert outside == 0
    assert shells.log_mass < -0.5


def test_the_same_check_refutes_edges_that_are_too_far_out():
    broken = [scaled_noise_check(case, raised=2.0)[1] for case in CASES]
    assert sum(count > 0 for count in broken) >= 4


def test_the_event_has_the_mass_it_claims():
    """Null: normal vectors fall into the event, and its draws into shells, as stated. Level 1e-7 a side, 1e5 draws."""
    from scipy.stats import chi2

    from mechanisms.tail_envelopes import _Shells

    shells = _Shells(np.array([1.0, 0.5, 0.1]), np.array([0.5, 1.0, 0.2]))
    mass = math.exp(shells.log_mass)
    noise = np.random.default_rng(82).standard_normal((100_000, 3))
    radius = np.hypot(noise[:, 1], noise[:, 2])
    shell = np.searchsorted(chi2.isf(shells.beyond, 2) ** 0.5, radius, side="right") - 1
    count = int((noise[:, 0] > shells.edges[shell]).sum())
    assert count <= misses_allowed(100_000, mass)
    assert 100_000 - count <= misses_allowed(100_000, 1 - mass)
    drawn = shells.draw(np.array([1.0, 0.0, 0.0]), 50_000, np.random.default_rng(83))
    radius = np.hypot(drawn[:, 1], drawn[:, 2])
    shell = np.searchsorted(chi2.isf(shells.beyond, 2) ** 0.5, radius, side="right") - 1
    assert (drawn[:, 0] > shells.edges[shell]).all()
    expected = np.exp(shells.log_masses - shells.log_mass)
    for k in range(3):
        assert (shell == k).sum() <= misses_allowed(50_000, expected[k])
        assert (shell != k).sum() <= misses_allowed(50_000, 1 - expected[k])


def test_where_nothing_is_proved_the_envelope_is_everything():
    pair = NeighbouringPair.add(logistic_data(20, 2), [1.0, 0.0], 1.0)
    envelope = logistic_envelope(ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), pair, Direction.FORWARD, 0.01)
    assert envelope.log_mass == 0.0
    assert envelope.losses(5, np.random.default_rng(0)).shape == (5,)


def test_no_curvature_bound_without_ridge_is_no_error():
    pair = NeighbouringPair.add(logistic_data(60, 2), [1.0, 0.0], 1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 0.0)
    assert logistic_envelope(mechanism, pair, Direction.BACKWARD, 2.0).log_mass == 0.0


def test_what_is_not_covered_is_refused():
    data = logistic_data(20, 2)
    pair = NeighbouringPair.add(data, [1.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="mechanism must have the logistic loss"):
        logistic_envelope(ObjectivePerturbation(SquaredLoss(), 1.0, 1.0), pair, Direction.FORWARD, 1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0)
    with pytest.raises(UnsupportedRelation, match="relation must be ADD or REMOVE"):
        logistic_envelope(mechanism, NeighbouringPair.replace(data, 0, [1.0, 0.0], 1.0), Direction.FORWARD, 1.0)
    with pytest.raises(ValueError, match="x must not be zero"):
        logistic_envelope(mechanism, NeighbouringPair.add(data, [0.0, 0.0], 1.0), Direction.FORWARD, 1.0)
