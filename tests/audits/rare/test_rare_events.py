import math
import pickle

import numpy as np
import pytest
from oracles.audits.rare_events import plane_tail_and_delta, tail_and_delta
from oracles.toy_mechanisms import GaussianSum, toy_pair
from rows import for_each
from scipy.special import log_ndtr, ndtri_exp

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare
from audits.white_box.tails import audit_tails
from mechanisms.base import Direction
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.envelopes.logistic_envelope import logistic_envelope
from mechanisms.envelopes.tail_envelopes import Envelope
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation


def budget(n_draws=4000, failure_prob=1e-7, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def gaussian_envelope(epsilon, *, sigma=1.0):
    """Loss 1/2 + Z of the Gaussian sum at mu = 1: a half-line that is a little longer than {L > epsilon}."""
    edge, pair, mechanism = epsilon - 0.5 - 0.5 / epsilon, toy_pair(), GaussianSum(1.0)

    def losses(n, rng):
        z = -ndtri_exp(log_ndtr(-edge) + np.log1p(-rng.random(n)))
        return mechanism.privacy_loss(-sigma * z[:, None], pair)

    return Envelope(epsilon, float(log_ndtr(-edge)), losses)


@for_each("epsilon", [3.0, 6.5, 15.0, 30.0])  # tails from 6e-3 down to 1e-191
def test_gaussian_tails_are_found_however_far_out(epsilon):
    """Null: both intervals hold the closed form. Level 1e-7, 4000 draws."""
    audit, profile = audit_rare(gaussian_envelope(epsilon), budget()), GaussianSum(1.0).profile(toy_pair())
    assert audit.tail.low <= profile.tail_at(epsilon) <= audit.tail.high < 1.5 * profile.tail_at(epsilon)
    assert audit.delta.low <= profile.delta_at(epsilon) <= audit.delta.high < 3 * profile.delta_at(epsilon)


@for_each("factor", [1.1, 1 / 1.1])
def test_ten_percent_wrong_noise_is_refuted_at_1e_minus_9(factor):
    audit = audit_rare(gaussian_envelope(6.5, sigma=factor), budget())
    profile = GaussianSum(1.0).profile(toy_pair())
    assert not audit.delta.low <= profile.delta_at(6.5) <= audit.delta.high


X = np.array([0.9, -0.5, 0.7, 0.8, -0.6, 1.0, -0.9, 0.4, 0.6, -0.3, 1.0])
Y = np.array([1.0, -1, 1, -1, -1, 1, 1, 1, -1, -1, 1.0])


@pytest.mark.parametrize("response", [1.0, pytest.param(-1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("sigma", "direction", "epsilon"),
    [
        (1.0, Direction.FORWARD, 6.0),
        (1.0, Direction.FORWARD, 3.0),
        (1.0, Direction.BACKWARD, 2.0),
        (3.0, Direction.FORWARD, 2.2),
        (3.0, Direction.BACKWARD, 1.0),
        (0.5, Direction.FORWARD, 12.0),
        (0.5, Direction.BACKWARD, 5.0),
        (4.0, Direction.FORWARD, 1.2),
    ],
)
def test_one_dimensional_objective_perturbation_against_explicit_integration(sigma, direction, epsilon, response):
    """Null: both intervals hold the integrated value. Level 1e-7, 6000 draws."""
    y = np.append(Y[:-1], response)
    data = Dataset(X[:-1, None], y[:-1], 1.0, 1.0)
    pair = NeighbouringPair.add(data, X[-1:], response)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma, 0.5)
    audit = audit_rare(logistic_envelope(mechanism, pair, direction, epsilon), budget(6000))
    tail, delta = tail_and_delta(X, y, 0.5, sigma, epsilon, drawn_with_last=direction is Direction.BACKWARD)
    assert tail < 0.02
    assert audit.tail.low <= tail <= audit.tail.high
    assert audit.delta.low <= delta <= audit.delta.high


@pytest.mark.parametrize(
    ("sigma", "lam", "direction", "epsilon", "response"),
    [
        (1.0, 1.0, Direction.FORWARD, 2.0, 1.0),
        (1.0, 1.0, Direction.FORWARD, 3.5, -1.0),
        (0.5, 1.0, Direction.BACKWARD, 2.0, -1.0),
        (1.5, 4.0, Direction.BACKWARD, 0.6, -1.0),
    ],
)
def test_two_dimensional_objective_perturbation_against_integration_over_outputs(
    sigma, lam, direction, epsilon, response
):
    """Null: both intervals, wider by the grid's 1 %, hold the integrated value. Level 1e-7, 6000 draws."""
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-0.7, 0.7, (41, 2)), np.append(rng.choice([-1.0, 1.0], 40), response)
    x[-1] = [0.8, 0.6]
    pair = NeighbouringPair.add(Dataset(x[:-1], y[:-1], 1.0, 1.0), x[-1], response)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma, lam)
    audit = audit_rare(logistic_envelope(mechanism, pair, direction, epsilon), budget(6000))
    with_last = direction is Direction.BACKWARD
    tail, delta = plane_tail_and_delta(x, y, lam, sigma, epsilon, drawn_with_last=with_last)
    assert 1e-12 < tail < 0.02
    assert audit.tail.low / 1.01 <= tail <= audit.tail.high * 1.01
    assert audit.delta.low / 1.01 <= delta <= audit.delta.high * 1.01
    assert audit.tail.high < 2 * audit.tail.low


def logistic_pair(n=300, dim=4, seed=7):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, dim))
    features /= np.linalg.norm(features, axis=1)[:, None]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    return NeighbouringPair.add(Dataset(features, y, 1.0, 1.0), np.eye(dim)[0], 1.0)


@pytest.mark.parametrize("direction", list(Direction))
def test_plain_and_rare_sampling_agree_where_both_can_see(direction):
    """Null: the two intervals of one tail overlap. Level 2e-7, 2e4 plain and 4e3 rare draws."""
    mechanism, pair, epsilon = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), logistic_pair(), 1.2
    plain = audit_tails(mechanism, pair, [epsilon], budget(20_000), directions=[direction]).points[0]
    rare = audit_rare(logistic_envelope(mechanism, pair, direction, epsilon), budget())
    assert plain.tail.value > 0
    assert plain.tail.low <= rare.tail.high
    assert rare.tail.low <= plain.tail.high
    assert plain.delta.low <= rare.delta.high
    assert rare.delta.low <= plain.delta.high


def test_a_tail_below_1e_minus_9_is_enclosed():
    mechanism, pair = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), logistic_pair()
    audit = audit_rare(logistic_envelope(mechanism, pair, Direction.FORWARD, 4.5), budget(20_000))
    assert 0 < audit.tail.low < audit.tail.high < 1e-9
    assert audit.tail.high < 2 * audit.tail.low
    assert math.isclose(audit.tail.failure_prob + audit.delta.failure_prob, 1e-7)


def thousand_records():
    rng = np.random.default_rng(7)
    features = rng.normal(size=(1000, 10))
    features /= np.linalg.norm(features, axis=1)[:, None]
    signal = features @ rng.normal(size=10)
    y = np.where(rng.random(1000) < 1 / (1 + np.exp(-2 * signal)), 1.0, -1.0)
    return NeighbouringPair.add(Dataset(features, y, 1.0, 1.0), np.full(10, 10**-0.5), -1.0)


@pytest.mark.parametrize(
    ("sigma", "lam", "direction", "epsilon", "low", "high"),
    [
        (11.0, 1.0, Direction.FORWARD, 0.269, 9.6041e-4, 9.8163e-4),
        (11.0, 1.0, Direction.FORWARD, 0.5483, 9.7784e-10, 9.8512e-10),
        (11.0, 100.0, Direction.BACKWARD, 0.2173, 9.5182e-10, 9.9143e-10),
    ],
)
def test_tails_found_inside_the_events_of_an_earlier_proof(sigma, lam, direction, epsilon, low, high):
    """Null: two intervals of one tail overlap. Level 2e-7.

    The known ones are of 2e5 (lam = 100: 1e5) draws inside other events, which bounded the curvature at the noise-free
    minimiser and the orthogonal noise by Wielandt's inequality.
    """
    mechanism, pair = ObjectivePerturbation(LogisticLoss(), sigma, lam), thousand_records()
    audit = audit_rare(logistic_envelope(mechanism, pair, direction, epsilon), budget(3000))
    assert audit.tail.low <= high
    assert low <= audit.tail.high < 1.3 * audit.tail.low


def test_a_tail_of_1e_minus_9_at_little_noise_is_known_to_ten_percent_from_5000_solves():
    mechanism, pair = ObjectivePerturbation(LogisticLoss(), 2.0, 1.0), thousand_records()
    envelope = logistic_envelope(mechanism, pair, Direction.FORWARD, 2.4838)
    audit = audit_rare(envelope, Budget(5000, 0.02, StreamKey(1, ("test",))))
    assert 0.9 * audit.tail.value < audit.tail.low < 1e-9 < audit.tail.high < 1.1 * audit.tail.value


def test_equal_budgets_give_identical_bytes():
    first, again = (audit_rare(gaussian_envelope(5.0), budget()) for _ in range(2))
    assert pickle.dumps(first) == pickle.dumps(again)
