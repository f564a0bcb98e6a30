"""Gaussian output perturbation with fixed and with data-dependent covariance."""

import math
import pickle

import numpy as np
import pytest
from oracles.mechanisms.ridge import democratic_log_density, estimate, hessian, isotropic_mu, log_normal_density
from rows import for_each

from mechanisms import GaussianProfile
from mechanisms.base import BOTH, Direction, ExactLaw, WhiteBox
from mechanisms.broken.broken_linear import gaussian_data_precision, gaussian_small_noise, gaussian_wrong_norm
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.linear.gaussian_output import DemocraticOutput, GaussianOutput
from mechanisms.linear.ridge import Estimator, PlainMap, RidgeMap

F = Direction.FORWARD
A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
RELATIONS = ["add", "remove", "replace"]


def dataset() -> Dataset:
    return linear_unit_rows(12, 3, noise_sd=0.5, rng=np.random.default_rng(4)).dataset


def pairs(data: Dataset) -> dict[str, NeighbouringPair]:
    x = np.array([0.9, 0.1, -0.3])
    return {
        "add": NeighbouringPair.add(data, x, -0.8),
        "remove": NeighbouringPair.remove(data, 2),
        "replace": NeighbouringPair.replace(data, 2, x, -0.8),
    }


@for_each("relation", RELATIONS)
@for_each("lam", [0.0, 1.0])
def test_density_loss_and_profile_of_fixed_noise(relation: str, lam: float) -> None:
    gamma = 7.0
    mechanism, pair = GaussianOutput(A, gamma, RidgeMap(lam)), pairs(dataset())[relation]
    outputs = mechanism.draw(pair.first, 40, rng=np.random.default_rng(0))
    covariance = np.linalg.inv(A) / gamma
    first, second = (log_normal_density(outputs, estimate(d, lam), covariance) for d in (pair.first, pair.second))
    np.testing.assert_allclose(mechanism.log_density(outputs, pair.first), first, atol=1e-10)
    loss = mechanism.privacy_loss(outputs, pair)
    np.testing.assert_allclose(loss, first - second, atol=1e-9)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, atol=1e-10)
    shift = estimate(pair.second, lam) - estimate(pair.first, lam)
    assert mechanism.profile(pair).mu == pytest.approx(math.sqrt(gamma * shift @ A @ shift), rel=1e-11)
    assert mechanism.sensitivity(pair) == pytest.approx(math.sqrt(shift @ A @ shift), rel=1e-11)


@for_each("relation", RELATIONS)
def test_isotropic(relation: str) -> None:
    pair = pairs(dataset())[relation]
    mechanism = GaussianOutput.isotropic(4.0, 3)
    assert mechanism.profile(pair).mu == pytest.approx(isotropic_mu(pair.first, pair.second, 4.0, 1.0), rel=1e-11)


def test_other_estimators() -> None:
    """Any function of the data can be released: here the plain mean of the responses, whose change is known."""
    mean = PlainMap(lambda d: np.array([d.y.sum() / 20]))
    assert isinstance(mean, Estimator)
    mechanism = GaussianOutput(np.eye(1), 4.0, mean)
    pair = pairs(dataset())["add"]
    assert mechanism.profile(pair).mu == pytest.approx(2.0 * 0.8 / 20)
    assert mechanism.draw(pair.first, 6, rng=np.random.default_rng(0)).shape == (6, 1)


@for_each("relation", RELATIONS)
def test_democratic_noise(relation: str) -> None:
    gamma, lam = 3.0, 0.4
    mechanism, pair = DemocraticOutput(gamma, lam), pairs(dataset())[relation]
    outputs = mechanism.draw(pair.first, 40, rng=np.random.default_rng(0))
    first, second = (democratic_log_density(outputs, d, gamma, lam) for d in (pair.first, pair.second))
    np.testing.assert_allclose(mechanism.log_density(outputs, pair.first), first, atol=1e-10)
    loss = mechanism.privacy_loss(outputs, pair)
    np.testing.assert_allclose(loss, first - second, atol=1e-9)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, atol=1e-10)


def test_democratic_noise_is_objective_perturbation_of_the_squared_loss() -> None:
    """The same normals, as a linear term b of the objective: the minimiser solves H theta = X^T y - b."""
    data, gamma, lam = dataset(), 3.0, 0.4
    outputs = DemocraticOutput(gamma, lam).draw(data, 5, rng=np.random.default_rng(6))
    b = -np.random.default_rng(6).standard_normal((5, 3)) / math.sqrt(gamma)
    for row, noise in zip(outputs, b, strict=True):
        np.testing.assert_allclose(hessian(data, lam) @ row, data.X.T @ data.y - noise, atol=1e-12)


N_DRAWS = 100_000
#: Dvoretzky-Kiefer-Wolfowitz-Massart at level 1e-7.
BAND = math.sqrt(math.log(2 / 1e-7) / (2 * N_DRAWS))


def distance(mechanism: WhiteBox, profile: GaussianProfile, pair: NeighbouringPair, direction: Direction) -> float:
    source = pair.first if direction is F else pair.second
    loss = mechanism.privacy_loss(mechanism.draw(source, N_DRAWS, rng=np.random.default_rng(8)), pair)
    loss = loss if direction is F else -loss
    points = np.quantile(loss, np.linspace(0.005, 0.995, 60))
    return max(abs(float((loss > t).mean()) - profile.tail_at(t, direction)) for t in points)


@for_each("direction", BOTH)
@for_each("relation", RELATIONS)
def test_drawn_losses_follow_the_profile(relation: str, direction: Direction) -> None:
    """Null: losses of 100,000 draws have the exact law; DKW band, level 1e-7 for each of the six cases."""
    mechanism, pair = GaussianOutput(A, 7.0), pairs(dataset())[relation]
    assert distance(mechanism, mechanism.profile(pair), pair, direction) <= BAND


def test_broken_twins_leave_the_band() -> None:
    pair = pairs(dataset())["add"]
    right = GaussianOutput(A, 7.0)
    heavy = NeighbouringPair.add(dataset(), [0.0, 0.6, 0.8], 1.0)
    for twin, on, direction in (
        (gaussian_small_noise(right, 0.1), pair, F),
        (gaussian_wrong_norm(right), pair, F),
        (gaussian_data_precision(4.0, 0.1), heavy, Direction.BACKWARD),  # FORWARD its stated law happens to be right
    ):
        assert isinstance(twin, ExactLaw)
        assert twin.name
        assert distance(twin, twin.profile(on), on, direction) > BAND, twin.name


def test_twins_share_what_they_do_not_break() -> None:
    pair = pairs(dataset())["add"]
    right = GaussianOutput(A, 7.0)
    outputs = right.draw(pair.first, 5, rng=np.random.default_rng(0))
    for twin in (gaussian_small_noise(right, 0.0), gaussian_wrong_norm(right)):
        np.testing.assert_allclose(twin.draw(pair.first, 5, rng=np.random.default_rng(0)), outputs, rtol=1e-14)
        np.testing.assert_array_equal(twin.log_density(outputs, pair.first), right.log_density(outputs, pair.first))
        np.testing.assert_array_equal(twin.privacy_loss(outputs, pair), right.privacy_loss(outputs, pair))
    assert gaussian_small_noise(right, 0.0).profile(pair).mu == right.profile(pair).mu
    with pytest.raises(ValueError, match="severity must be"):
        gaussian_small_noise(right, -1.0)
    isotropic = GaussianOutput.isotropic(1.0, 3)
    assert gaussian_wrong_norm(isotropic).profile(pair).mu == pytest.approx(isotropic.profile(pair).mu)
    data_precision = gaussian_data_precision(4.0, 0.1)
    assert data_precision.log_density(outputs, pair.first).shape == (5,)


@for_each(
    ("precision", "gamma", "message"),
    [
        (np.eye(2)[:1], 1.0, "finite square matrix"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), 1.0, "precision must be symmetric"),
        (-np.eye(2), 1.0, "precision must be positive definite"),
        (np.diag([1.0, np.nan]), 1.0, "finite square matrix"),
        (np.eye(2), 0.0, "gamma must be finite and positive"),
    ],
)
def test_bad_settings(precision: np.ndarray, gamma: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GaussianOutput(precision, gamma)


def test_a_precision_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="precision must have the size of the estimate"):
        GaussianOutput(np.eye(2), 1.0).draw(dataset(), 3, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="sigma must be finite and positive"):
        GaussianOutput.isotropic(0.0, 3)
    with pytest.raises(ValueError, match="gamma must be finite and positive"):
        DemocraticOutput(0.0, 1.0)


def test_protocols_immutability_and_pickle() -> None:
    mechanism = GaussianOutput(A, 7.0)
    assert isinstance(mechanism, ExactLaw)
    assert isinstance(DemocraticOutput(1.0, 1.0), WhiteBox)
    with pytest.raises(ValueError, match="read-only"):
        mechanism.precision[0, 0] = 0.0
    pair = pairs(dataset())["add"]
    assert pickle.loads(pickle.dumps(mechanism)).profile(pair) == mechanism.profile(pair)
    assert "gamma=7" in mechanism.name
    assert "democratic" in DemocraticOutput(1.0, 1.0).name


@for_each("relation", RELATIONS)
def test_brackets_from_the_data_hold_what_floats_say(relation: str) -> None:
    mechanism, pair = GaussianOutput(A, 7.0), pairs(dataset())[relation]
    profile = mechanism.profile(pair)
    for epsilon in (-0.2, 0.0, 0.5):
        for bracket, value in (
            (mechanism.delta_bracket(pair, epsilon, F), profile.delta_at(epsilon)),
            (mechanism.tail_bracket(pair, epsilon, F), profile.tail_at(epsilon)),
        ):
            assert bracket.high - bracket.low <= 1e-12 * bracket.high
            assert bracket.mid == pytest.approx(value, rel=1e-11)


def test_no_change_at_all_is_proved_too() -> None:
    pair = NeighbouringPair.add(dataset(), np.zeros(3), 1.0)
    mechanism = GaussianOutput(A, 7.0)
    assert mechanism.delta_bracket(pair, 0.0, F).high == 0.0
    assert mechanism.tail_bracket(pair, -0.1, F).low == 1.0
    assert mechanism.profile(pair) == GaussianProfile(0.0)


def test_a_plain_map_proves_nothing_from_the_data() -> None:
    mechanism = GaussianOutput(np.eye(1), 4.0, PlainMap(lambda d: np.array([d.y.sum()])))
    with pytest.raises(TypeError, match="estimator must be a RidgeMap for a proof from the data, got PlainMap"):
        mechanism.delta_bracket(pairs(dataset())["add"], 0.1, F)
