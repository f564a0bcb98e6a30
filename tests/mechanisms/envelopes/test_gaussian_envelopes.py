"""Tails of Gaussian output and one-posterior sampling far out: intervals against the closed forms of their profiles."""

import math

import numpy as np
import pytest
from scipy import stats

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare
from mechanisms import Dataset, Direction, NeighbouringPair
from mechanisms.broken.broken_linear import ops_wrong_gamma
from mechanisms.catalogue import example_pair
from mechanisms.envelopes.gaussian_envelopes import NormalIntervals, gaussian_envelope, posterior_envelope
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import RidgeMap

OPS = PosteriorSampling(30.0, 1.0)
GAUSSIAN = GaussianOutput(np.array([[2.0, 0.5], [0.5, 1.0]]), 900.0, RidgeMap(1.0))
ADD = example_pair(n_records=6)


def budget(n_draws: int = 4000) -> Budget:
    return Budget(n_draws, 1e-7, StreamKey(5, ("gaussian envelopes",)))


@pytest.mark.parametrize("pair", [ADD, ADD.swapped()], ids=["add", "remove"])
@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("tail", [0.3, 1e-3, 1e-9, 1e-12])
def test_posterior_tails_against_the_exact_profile(pair: NeighbouringPair, direction: Direction, tail: float) -> None:
    """Null: both intervals hold the closed form (W19-T4.1 in QuadraticProfile). Level 1e-7, 4000 draws."""
    profile = OPS.profile(pair)
    low, high = -50.0, 200.0
    for _ in range(200):  # bisection for the epsilon of this tail
        middle = 0.5 * (low + high)
        low, high = (middle, high) if profile.tail_at(middle, direction) > tail else (low, middle)
    if profile.tail_at(low, direction) > 2 * tail:
        raise AssertionError("the tail has a jump")
    audit = audit_rare(posterior_envelope(OPS, pair, direction, low), budget())
    assert audit.tail.low <= profile.tail_at(low, direction) <= audit.tail.high < 1.02 * audit.tail.low
    assert audit.delta.low <= profile.delta_at(low, direction) <= audit.delta.high
    assert audit.acceptance > 0.99


@pytest.mark.parametrize("seed", [10, 11, 12])
def test_an_epsilon_next_to_the_largest_loss(seed: int) -> None:
    """The event is no smaller than the closed form a few last digits below the largest loss.

    The tail is proportional to the square root of the distance, which one rounding changes as a whole.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3))
    X /= np.linalg.norm(X, axis=1).max()
    pair = NeighbouringPair.add(Dataset(X, rng.uniform(-1, 1, 25), 1.0, 1.0), [1.0, 0.0, 0.0], 0.3)
    leverage, scaled = OPS.target(pair)
    largest = 0.5 * (math.log1p(leverage) + scaled**2 / (1 + leverage))
    for digits in range(20):
        epsilon = largest * (1 - digits * 2.0**-52)
        envelope = posterior_envelope(OPS, pair, Direction.BACKWARD, epsilon)
        tail = OPS.profile(pair).tail_at(epsilon, Direction.BACKWARD)
        assert tail <= math.exp(envelope.log_mass) <= tail + 1e-6


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 20.0])
def test_gaussian_tails_against_the_exact_profile(direction: Direction, epsilon: float) -> None:
    """Null: both intervals hold the closed form. Level 1e-7, 4000 draws."""
    profile = GAUSSIAN.profile(ADD)
    audit = audit_rare(gaussian_envelope(GAUSSIAN, ADD, direction, epsilon), budget())
    assert audit.tail.low <= profile.tail_at(epsilon) <= audit.tail.high < 1.02 * audit.tail.low
    assert audit.delta.low <= profile.delta_at(epsilon) <= audit.delta.high


def test_less_noise_than_claimed_is_refuted_at_1e_minus_9() -> None:
    """The tail of the mechanism that draws, against the law that is claimed: gamma 10 % too large."""
    mutant = ops_wrong_gamma(OPS, 0.1)
    profile, direction = mutant.profile(ADD), Direction.FORWARD
    epsilon = mutant.actual.profile(ADD).epsilon_at(1e-9, direction)
    audit = audit_rare(posterior_envelope(mutant.actual, ADD, direction, epsilon), budget())
    assert audit.tail.low > profile.tail_at(epsilon, direction)


@pytest.mark.parametrize(
    "ends", [((8.0, math.inf),), ((-math.inf, -6.0), (7.0, math.inf)), ((-1.0, 0.5),), ((9.0, 9.1),)]
)
def test_intervals_of_a_normal_variable(ends: tuple[tuple[float, float], ...]) -> None:
    """Null: draws lie inside, their shares are those of the law. Threshold by DKW, level 1e-7, 2e4 draws."""
    union = NormalIntervals(ends)
    mass = sum(stats.norm.sf(a) - stats.norm.sf(b) if a > 0 else stats.norm.cdf(b) - stats.norm.cdf(a) for a, b in ends)
    assert math.isclose(math.exp(union.log_mass), mass, rel_tol=1e-10)
    values = np.sort(union.draw(20_000, np.random.default_rng(4)))
    assert np.logical_or.reduce([(a <= values) & (values <= b) for a, b in ends]).all()
    positive = values[values > ends[-1][0]]
    a, b = ends[-1]
    law = (stats.norm.sf(a) - stats.norm.sf(positive)) / (stats.norm.sf(a) - stats.norm.sf(b))
    gap = np.abs(law - np.arange(1, positive.size + 1) / positive.size).max()
    assert gap < math.sqrt(math.log(2e7) / (2 * positive.size)) + 1 / positive.size


def test_impossible_losses_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match="epsilon must be below the largest loss"):
        posterior_envelope(OPS, ADD, Direction.BACKWARD, 500.0)
    still = NeighbouringPair.add(Dataset(np.eye(2), np.zeros(2), 1.0, 1.0), [0.0, 0.0], 0.5)
    with pytest.raises(ValueError, match="x must not be zero"):
        posterior_envelope(OPS, still, Direction.FORWARD, 1.0)
