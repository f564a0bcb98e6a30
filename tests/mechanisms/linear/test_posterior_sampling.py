"""One-posterior sampling: draws, densities, losses, the exact law, and twins that must be caught."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import ctx
from oracles.mechanisms.ridge import estimate, hessian, left_out, ops_log_density
from rows import for_each

from mechanisms.base import BOTH, Direction, ExactLaw
from mechanisms.broken.broken_linear import ops_in_sample_leverage, ops_no_determinant, ops_wrong_gamma
from mechanisms.data.dataset import Dataset
from mechanisms.data.embedded import load
from mechanisms.data.neighbours import NeighbouringPair, UnsupportedRelation
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.laws.quadratic_profile import QuadraticProfile
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import RidgeMap, target_balls

F, B = Direction.FORWARD, Direction.BACKWARD


def dataset(n_records: int = 12, dim: int = 3, seed: int = 4) -> Dataset:
    return linear_unit_rows(n_records, dim, noise_sd=0.5, rng=np.random.default_rng(seed)).dataset


def pairs(data: Dataset) -> dict[str, NeighbouringPair]:
    x = np.eye(data.dim)[0] * 0.9
    return {
        "add": NeighbouringPair.add(data, x, -0.8),
        "remove": NeighbouringPair.remove(data, 2),
        "replace": NeighbouringPair.replace(data, 2, x, -0.8),
    }


SETTINGS = [(1.0, 1.0), (5.0, 0.1), (0.3, 0.0), (200.0, 30.0)]


@for_each(("gamma", "lam"), SETTINGS)
def test_density_agrees_with_a_plain_normal_law(gamma: float, lam: float) -> None:
    data, mechanism = dataset(), PosteriorSampling(gamma, lam)
    outputs = mechanism.draw(data, 50, rng=np.random.default_rng(1))
    assert outputs.shape == (50, 3)
    expected = ops_log_density(outputs, data, gamma, lam)
    np.testing.assert_allclose(mechanism.log_density(outputs, data), expected, rtol=1e-10, atol=1e-10)


@for_each("relation", ["add", "remove", "replace"])
@for_each(("gamma", "lam"), SETTINGS)
def test_loss_is_the_difference_of_log_densities_and_swapping_negates_it(
    gamma: float, lam: float, relation: str
) -> None:
    mechanism, pair = PosteriorSampling(gamma, lam), pairs(dataset())[relation]
    outputs = mechanism.draw(pair.first, 50, rng=np.random.default_rng(2))
    loss = mechanism.privacy_loss(outputs, pair)
    plain = ops_log_density(outputs, pair.first, gamma, lam) - ops_log_density(outputs, pair.second, gamma, lam)
    np.testing.assert_allclose(loss, plain, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, rtol=1e-9, atol=1e-10)


def test_draws_have_the_stated_mean_and_covariance() -> None:
    """Null: white^T white is chi-square with n_draws * dim degrees of freedom, the mean is normal; level 1e-7 each."""
    from scipy.stats import chi2

    data, gamma, lam, n_draws = dataset(), 3.0, 0.5, 50_000
    outputs = PosteriorSampling(gamma, lam).draw(data, n_draws, rng=np.random.default_rng(3))
    white = (outputs - estimate(data, lam)) @ np.linalg.cholesky(gamma * hessian(data, lam))
    for axis in range(3):
        total = float((white[:, axis] ** 2).sum())
        assert chi2.ppf(5e-8, n_draws) < total < chi2.isf(5e-8, n_draws)
    assert n_draws * float((white.mean(axis=0) ** 2).sum()) < chi2.isf(1e-7, 3)
    # sums and differences of independent coordinates have variance 2 again: no correlation is left
    for i, j in ((0, 1), (0, 2), (1, 2)):
        total = float(((white[:, i] + white[:, j]) ** 2).sum()) / 2
        assert chi2.ppf(5e-8, n_draws) < total < chi2.isf(5e-8, n_draws)


@for_each("relation", ["add", "remove"])
def test_profile_orientation(relation: str) -> None:
    """The loss is bounded in the direction that draws with the target: BACKWARD for ADD, FORWARD for REMOVE."""
    mechanism, pair = PosteriorSampling(2.0, 0.5), pairs(dataset())[relation]
    profile = mechanism.profile(pair)
    bounded, unbounded = (B, F) if relation == "add" else (F, B)
    assert math.isfinite(profile.epsilon_at(0.0, bounded))
    assert profile.epsilon_at(0.0, unbounded) == math.inf
    swapped = mechanism.profile(pair.swapped())
    for direction in BOTH:
        assert swapped.delta_at(0.1, direction.opposite) == pytest.approx(profile.delta_at(0.1, direction), rel=1e-9)


def dkw_distance(loss: np.ndarray, tail: Callable[[float], float], points: np.ndarray) -> float:
    """Largest distance at ``points`` between the empirical and a stated tail."""
    return max(abs(float((loss > t).mean()) - tail(t)) for t in points)


def draw_losses(mechanism: object, pair: NeighbouringPair, direction: Direction, n_draws: int) -> np.ndarray:
    source = pair.first if direction is F else pair.second
    outputs = mechanism.draw(source, n_draws, rng=np.random.default_rng(77))
    loss = mechanism.privacy_loss(outputs, pair)
    return loss if direction is F else -loss


N_DRAWS = 100_000
#: Dvoretzky-Kiefer-Wolfowitz-Massart at level 1e-7.
BAND = math.sqrt(math.log(2 / 1e-7) / (2 * N_DRAWS))


@for_each("direction", BOTH)
@for_each("relation", ["add", "remove"])
def test_drawn_losses_follow_the_profile(relation: str, direction: Direction) -> None:
    """Null: losses of 100,000 draws have the exact law; DKW band, level 1e-7 for each of the four cases."""
    mechanism, pair = PosteriorSampling(4.0, 0.5), pairs(dataset())[relation]
    profile = mechanism.profile(pair)
    loss = draw_losses(mechanism, pair, direction, N_DRAWS)
    points = np.quantile(loss, np.linspace(0.005, 0.995, 60))
    assert dkw_distance(loss, lambda t: profile.tail_at(t, direction), points) <= BAND


def test_broken_twins_leave_the_band() -> None:
    """Power: each twin's draws or statements leave the band that the right mechanism stays in."""
    right, pair = PosteriorSampling(4.0, 0.5), pairs(dataset())["add"]
    for twin, law in (
        (ops_wrong_gamma(right, 0.1), right),
        (ops_no_determinant(right, 0.5), right),
        (ops_in_sample_leverage(right, 0.3), ops_in_sample_leverage(right, 0.3)),
    ):
        assert twin.name
        loss = draw_losses(twin, pair, F, N_DRAWS)
        points = np.quantile(loss, np.linspace(0.005, 0.995, 60))
        profile = law.profile(pair)
        assert dkw_distance(loss, lambda t, p=profile: p.tail_at(t, F), points) > BAND, twin.name


def test_twins_of_severity_zero_are_the_right_mechanism() -> None:
    right, pair = PosteriorSampling(4.0, 0.5), pairs(dataset())["remove"]
    outputs = right.draw(pair.first, 5, rng=np.random.default_rng(0))
    for twin in (ops_wrong_gamma(right, 0.0), ops_no_determinant(right, 0.0), ops_in_sample_leverage(right, 0.0)):
        np.testing.assert_array_equal(twin.draw(pair.first, 5, rng=np.random.default_rng(0)), outputs)
        np.testing.assert_array_equal(twin.log_density(outputs, pair.first), right.log_density(outputs, pair.first))
        np.testing.assert_array_equal(twin.privacy_loss(outputs, pair), right.privacy_loss(outputs, pair))
    for exact in (ops_wrong_gamma(right, 0.0), ops_in_sample_leverage(right, 0.0)):
        assert exact.profile(pair).delta_at(0.2, F) == right.profile(pair).delta_at(0.2, F)
    no_determinant = ops_no_determinant(right, 1.0)
    difference = no_determinant.log_density(outputs, pair.first) - no_determinant.log_density(outputs, pair.second)
    np.testing.assert_allclose(no_determinant.privacy_loss(outputs, pair), difference, atol=1e-10)


@for_each(
    "build",
    [
        lambda r: ops_wrong_gamma(r, -0.1),
        lambda r: ops_no_determinant(r, 1.5),
        lambda r: ops_in_sample_leverage(r, -1.0),
    ],
)
def test_bad_severities(build: Callable[[PosteriorSampling], object]) -> None:
    with pytest.raises(ValueError, match="severity must be"):
        build(PosteriorSampling(1.0, 1.0))


def test_order_of_records_does_not_matter() -> None:
    data, mechanism = dataset(40), PosteriorSampling(2.0, 0.3)
    shuffled = Dataset(data.X[::-1], data.y[::-1], 1.0, 1.0)
    x, y = np.array([0.5, 0.5, 0.1]), 0.7
    for pair, other in (
        (NeighbouringPair.add(data, x, y), NeighbouringPair.add(shuffled, x, y)),
        (NeighbouringPair.remove(data, 3), NeighbouringPair.remove(shuffled, 36)),
    ):
        for direction in BOTH:
            one, two = (mechanism.profile(p).delta_at(0.1, direction) for p in (pair, other))
            assert one == pytest.approx(two, rel=1e-11)


def test_no_record_and_one_record() -> None:
    mechanism = PosteriorSampling(2.0, 0.5)
    empty = Dataset(np.zeros((0, 2)), np.zeros(0), 1.0, 1.0)
    pair = NeighbouringPair.add(empty, [0.6, 0.8], 1.0)
    # H = lam I and theta_hat = 0: leverage 1/lam, residual y
    assert mechanism.target(pair) == pytest.approx((2.0, math.sqrt(2.0)))
    assert mechanism.draw(empty, 7, rng=np.random.default_rng(0)).shape == (7, 2)
    removed = mechanism.profile(pair.swapped())
    for direction in BOTH:
        assert removed.delta_at(0.3, direction.opposite) == mechanism.profile(pair).delta_at(0.3, direction)


def test_fewer_records_than_features_and_duplicates() -> None:
    wide = dataset(3, 8)
    mechanism = PosteriorSampling(2.0, 0.5)
    for index in range(3):
        pair = NeighbouringPair.remove(wide, index)
        leverage, residual = left_out(wide, index, 0.5)
        assert mechanism.target(pair) == pytest.approx((leverage, math.sqrt(2.0) * residual), rel=1e-12)
    data = dataset()
    twice = Dataset(np.vstack([data.X, data.X[:1]]), np.append(data.y, data.y[0]), 1.0, 1.0)
    first, last = (mechanism.target(NeighbouringPair.remove(twice, index)) for index in (0, 12))
    assert first == pytest.approx(last, rel=1e-12)


def test_a_target_of_zeros_loses_nothing() -> None:
    pair = NeighbouringPair.add(dataset(), np.zeros(3), 1.0)
    mechanism = PosteriorSampling(2.0, 0.5)
    profile = mechanism.profile(pair)
    assert profile.epsilon_at(0.0, F) == 0.0
    assert mechanism.delta_bracket(pair, 0.1, F).high <= 1e-300
    assert mechanism.tail_bracket(pair, -0.1, F).low == 1.0
    np.testing.assert_array_equal(mechanism.privacy_loss(np.ones((4, 3)), pair), np.zeros(4))


@for_each("scale", [1.0, 1e-5, 1e5])
def test_singular_designs_are_refused_in_one_line(scale: float) -> None:
    rng = np.random.default_rng(9)
    flat = Dataset(scale * rng.standard_normal((20, 2)) @ rng.standard_normal((2, 5)), np.zeros(20), math.inf, 1.0)
    mechanism = PosteriorSampling(1.0, 0.0)
    with pytest.raises(
        ValueError, match="must be positive definite, got a singular matrix at lam=0; raise lam"
    ) as found:
        mechanism.draw(flat, 3, rng=rng)
    assert "\n" not in str(found.value)
    with pytest.raises(ValueError, match="positive definite"):
        mechanism.profile(NeighbouringPair.remove(flat, 0))
    with pytest.raises(ValueError, match="positive definite"):
        mechanism.delta_bracket(NeighbouringPair.remove(flat, 0), 0.1, F)


def test_replace_has_no_profile() -> None:
    pair = pairs(dataset())["replace"]
    mechanism = PosteriorSampling(1.0, 1.0)
    for call in (
        lambda: mechanism.profile(pair),
        lambda: mechanism.target(pair),
        lambda: mechanism.delta_bracket(pair, 0.1, F),
    ):
        with pytest.raises(UnsupportedRelation, match="relation must be ADD or REMOVE, got relation=REPLACE"):
            call()


@for_each(("gamma", "lam"), [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_bad_settings(gamma: float, lam: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        PosteriorSampling(gamma, lam)
    with pytest.raises(ValueError, match="n_draws"):
        PosteriorSampling(1.0, 1.0).draw(dataset(), 0, rng=np.random.default_rng(0))


def test_protocol_and_reproducibility() -> None:
    mechanism, data = PosteriorSampling(1.0, 1.0), dataset()
    assert isinstance(mechanism, ExactLaw)
    assert "gamma=1" in mechanism.name
    one, two = (mechanism.draw(data, 9, rng=np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_brackets_from_the_data_hold_what_floats_say() -> None:
    """Proved from the data on; the float path starts from a rounded leverage and residual and must agree to 1e-9."""
    data, mechanism = load("anes96"), PosteriorSampling(1.0, 1.0)
    pair = NeighbouringPair.remove(data, 17)
    profile = mechanism.profile(pair)
    for direction in BOTH:
        for epsilon in (0.0, 0.05, 0.2):
            bracket = mechanism.delta_bracket(pair, epsilon, direction)
            assert bracket.high - bracket.low <= 1e-12 * bracket.high
            assert bracket.mid == pytest.approx(profile.delta_at(epsilon, direction), rel=1e-9)
            tail = mechanism.tail_bracket(pair, epsilon, direction)
            assert tail.mid == pytest.approx(profile.tail_at(epsilon, direction), rel=1e-9)
        found = mechanism.epsilon_bracket(pair, 1e-6, direction)
        assert found.low <= profile.epsilon_at(1e-6, direction) <= found.high
        assert found.high - found.low <= 1e-8 * found.high


def test_data_balls_beat_float_cancellation() -> None:
    """A design with condition 1e12 (in X^T X): the ball of the leverage stays exact where float64 loses digits."""
    from fractions import Fraction

    X = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-20], [0.5, 0.25]])
    data = Dataset(X[:2], np.zeros(2), 2.0, 1.0)
    with ctx.workprec(256):
        leverage, _ = target_balls(data, X[2], 1.0, 0.0)
    rows = [[Fraction(value) for value in row] for row in X]
    h = [[sum(rows[k][i] * rows[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
    det = h[0][0] * h[1][1] - h[0][1] ** 2
    x = rows[2]
    exact = (x[0] ** 2 * h[1][1] - 2 * x[0] * x[1] * h[0][1] + x[1] ** 2 * h[0][0]) / det
    assert float(leverage) == pytest.approx(float(exact), rel=1e-15)


def test_estimator_shift_agrees_with_refitting() -> None:
    for relation, pair in pairs(dataset()).items():
        shift = RidgeMap(0.5).shift(pair)
        np.testing.assert_allclose(
            shift, estimate(pair.second, 0.5) - estimate(pair.first, 0.5), atol=1e-13, err_msg=relation
        )


def test_the_profile_is_that_of_the_target_parameters() -> None:
    pair = pairs(dataset())["add"]
    mechanism = PosteriorSampling(2.0, 0.5)
    assert mechanism.profile(pair) == QuadraticProfile(*mechanism.target(pair))
