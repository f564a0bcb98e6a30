"""Composed releases: proved bounds beside exact composition, quadrature, draws and an independent accountant."""

import math

import numpy as np
import pytest
from oracles.audits.accountants import accountant_bounds, gaussian_composition
from oracles.toy_mechanisms import Coin, CoinProfile, GaussianSum, toy_pair
from rows import for_each
from scipy.integrate import quad

from audits import Budget, Estimate, StreamKey, audit_tails, exact_delta
from audits.white_box.exact import compare, composed_delta, exact_epsilon, exact_tail
from mechanisms import BOTH, Direction, GaussianOutput, GaussianProfile, LaplaceProfile, PosteriorSampling
from mechanisms.catalogue import example_pair
from mechanisms.laws import QuadraticProfile
from mechanisms.releases.composition import Composition

F = Direction.FORWARD

#: mus of the releases, epsilon; deltas from 0.4 down to 1e-31
GAUSSIAN = [
    ([1.0], 1.0, 2.0**-7),
    ([1.0, 0.5], 4.0, 2.0**-7),
    ([0.25] * 16, 7.0, 2.0**-7),
    ([0.5, 0.3, 0.5, 0.2, 0.5], -0.5, 2.0**-6),
    ([0.5, 0.5], 8.5, 2.0**-7),
]


@pytest.mark.parametrize(("mus", "epsilon", "interval"), GAUSSIAN)
def test_gaussian_releases_compose_to_one_with_the_root_of_the_sum_of_squares(mus, epsilon, interval):
    """Exact: mu = sqrt(sum mu_i^2) (the loss is a sum of independent normal variables)."""
    found = composed_delta([GaussianProfile(mu) for mu in mus], epsilon, directions=[F], interval=interval)
    whole = GaussianProfile(math.hypot(*mus))
    exact = exact_delta(whole, epsilon)
    assert found.low <= exact.low <= exact.high <= found.high
    assert found.exact
    # each release is off by at most one cell
    room_left, k = 1 + 1e-8, len(mus)
    assert found.high <= whole.delta_at(epsilon - k * interval) * room_left
    assert found.low >= whole.delta_at(epsilon + k * interval) / room_left
    wrong = GaussianProfile(1.2 * math.hypot(*mus)).delta_at(epsilon)  # a mutant 20 % off
    assert not found.low <= wrong <= found.high


def test_deltas_far_below_a_float_sum_are_bounded_too():
    """delta(8.5) of two releases with mu = 1/2: about 1e-31."""
    delta = exact_delta(GaussianProfile(math.sqrt(0.5)), 8.5).value
    found = composed_delta([GaussianProfile(0.5)] * 2, 8.5, directions=[F], interval=2.0**-7)
    assert 1e-33 < delta < 1e-29
    assert 0.9 < found.low / delta <= 1 <= found.high / delta < 1.1


def two_laplace(epsilon: float, first: float, second: float) -> float:
    """E over the loss of the first release of the divergence of the second at what is left of epsilon."""

    def left(loss: float) -> float:
        e = epsilon - loss
        return -math.expm1(e) if e < -second else -math.expm1(min(0.0, (e - second) / 2))

    kinks = [o for o in ((first - epsilon + s * second) / 2 for s in (1, -1)) if 0 < o < first]
    middle = quad(lambda o: math.exp(-o) / 2 * left(first - 2 * o), 0, first, points=kinks or None, epsabs=1e-14)[0]
    return 0.5 * left(first) + middle + math.exp(-first) / 2 * left(-first)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize(
    ("epsilon", "first", "second"), [(1.2, 1.0, 0.5), (0.0, 1.0, 1.0), (2.9, 2.0, 1.0), (-1, 1, 1)]
)
def test_two_laplace_releases_by_quadrature(epsilon, first, second, direction):
    found = composed_delta([LaplaceProfile(first), LaplaceProfile(second)], epsilon, directions=[direction])
    exact = two_laplace(epsilon, first, second)
    assert found.low <= exact <= found.high
    assert found.high - found.low < 3e-3
    seen = accountant_bounds(
        [LaplaceProfile(first), LaplaceProfile(second)], epsilon, direction=direction, interval=2.0**-8
    )
    assert seen.low <= exact + 1e-12
    assert exact - 1e-12 <= seen.high <= exact + 3e-3


def test_pure_composition_is_proved_to_end_at_the_sum():
    """(1, 0) and (1/2, 0) give (3/2, 0); on the grid the pessimistic end is exact there, and positive before."""
    laws = [LaplaceProfile(1.0), LaplaceProfile(0.5)]
    assert composed_delta(laws, 1.5).high == 0.0
    assert composed_delta(laws, 1.5 - 0.01).low > 0.0


def test_independent_accountants_lie_inside():
    """dp-accounting composes its own Gaussian laws; its two ends overlap ours, and so do those from our profiles."""
    bracket = gaussian_composition(4.0, 9, 0.5, discretisation=1e-3)
    found = composed_delta([GaussianProfile(0.25)] * 9, 0.5, directions=[F], interval=2.0**-9)
    assert bracket.low <= found.low * (1 + 1e-9) + 1e-12
    assert abs(found.high - bracket.high) < 2e-6
    seen = accountant_bounds([GaussianProfile(0.25)] * 9, 0.5, direction=F, interval=2.0**-9)
    exact = exact_delta(GaussianProfile(0.75), 0.5)
    assert seen.low <= found.low + 1e-12
    assert abs(seen.high - found.high) < 1e-9
    assert exact.low - 1e-12 <= seen.high


@for_each("direction", BOTH)
def test_a_skewed_law_in_both_directions(direction):
    """One release of one-posterior sampling is its own profile; the two directions differ by far more than a cell."""
    profile = QuadraticProfile(0.5, 1.5)
    found = composed_delta([profile], 0.4, directions=[direction], interval=2.0**-6)
    exact, other = (exact_delta(profile, 0.4, directions=[d]).value for d in (direction, direction.opposite))
    assert found.low <= exact <= found.high
    assert not found.low <= other <= found.high


def test_draws_of_a_composition_agree():
    """Null: the sampled interval meets the proved one. Level 1e-7, 2e4 draws of one-posterior sampling beside noise."""
    pair = example_pair()
    parts = PosteriorSampling(3.0, 1.0), GaussianOutput.isotropic(0.2, 2)
    found = composed_delta([part.profile(pair) for part in parts], 0.5, interval=2.0**-6)
    seen = audit_tails(Composition(parts, (2, 2)), pair, [0.5], Budget(20_000, 1e-7, StreamKey(8))).delta(0.5)
    assert seen.low <= found.high
    assert found.low <= seen.high
    alone = max(exact_delta(part.profile(pair), 0.5).high for part in parts)
    assert found.low > alone  # together they say more than either


def test_an_infinite_loss_counts_whole():
    """Heads has probability 0.05 on one side and 0 on the other: delta is at least 1 - 0.95^2 at any epsilon."""
    coin = CoinProfile(0.05, 0.0)
    found = composed_delta([coin, coin], 3.0, directions=[F], interval=2.0**-2)
    assert found.low <= 1 - 0.95**2 <= found.high <= 0.1 + 1e-9


def test_a_thousand_releases_that_rounding_left_undecided():
    """1,000 normal releases at epsilon 1: losses rounded to the grid gave [4.2e-8, 6.9e-3] on a grid of 2^-10."""
    laws = [GaussianProfile(0.3 / math.sqrt(1000))] * 1000
    exact = exact_delta(GaussianProfile(0.3), 1.0)
    for interval, room in ((2.0**-10, 0.02), (None, 1e-2)):
        found = composed_delta(laws, 1.0, directions=[F], interval=interval)
        assert found.low <= exact.low <= exact.high <= found.high < found.low * (1 + room)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="profiles must not be empty"):
        composed_delta([], 1.0)
    with pytest.raises(ValueError, match="epsilon must be finite"):
        composed_delta([GaussianProfile(1.0)], math.nan)
    with pytest.raises(ValueError, match="interval must be finite and positive"):
        composed_delta([GaussianProfile(1.0)], 1.0, interval=0.0)
    assert np.isfinite(composed_delta([GaussianProfile(0.0)], 0.5).high)


PAIR = toy_pair()


def test_known_answers():
    # Balle and Wang 2018, theorem 8, at mu = 1, epsilon = 1: Phi(-1/2) - e Phi(-3/2), to 16 digits by mpmath
    delta = exact_delta(GaussianProfile(1.0), 1.0)
    assert delta.low <= 0.12693673750664397 <= delta.high
    assert delta.high - delta.low < 1e-15
    assert (delta.failure_prob, delta.n_draws) == (0.0, 0)
    # delta(4.37718) = 1e-5 at mu = 1 (dp-accounting's analytic Gaussian solver gives 4.377178)
    assert exact_epsilon(GaussianProfile(1.0), 1e-5).value == pytest.approx(4.377178, abs=1e-6)


def test_the_worse_direction_is_taken():
    profile = CoinProfile(0.05, 0.2)
    backward = exact_delta(profile, 0.5, directions=[Direction.BACKWARD])
    assert (
        exact_delta(profile, 0.5).value
        == backward.value
        > exact_delta(profile, 0.5, directions=[Direction.FORWARD]).high
    )
    # P(L > 0): forward tails have probability 0.95, backward heads 0.2
    assert exact_tail(profile, 0.0).value == 0.95


@for_each("mechanism", [GaussianSum(1.0), Coin(0.3, 0.2)])
def test_exact_and_sampled_witnesses_agree(mechanism):
    """Null: the sampled interval holds the exact value. Level 1e-7, 2e4 draws."""
    sampled = audit_tails(mechanism, PAIR, [0.2], Budget(20_000, 1e-7, StreamKey(3))).delta(0.2)
    comparison = compare(exact_delta(mechanism.profile(PAIR), 0.2), sampled)
    assert comparison.consistent
    assert 0 < comparison.smallest_detectable_error < 0.1


def test_a_wrong_formula_beyond_the_detectable_error_is_caught_and_only_then():
    sampled = Estimate(0.5, 0.4, 0.6, 1e-6, 1000, "Clopper-Pearson")
    comparison = compare(Estimate.proved(0.45, 0.45, "x"), sampled)
    reach = comparison.smallest_detectable_error
    assert reach == pytest.approx(0.15)
    for sign in (1, -1):
        wrong = 0.45 + sign * (reach + 1e-12)
        assert not compare(Estimate.proved(wrong, wrong, "x"), sampled).consistent


def test_compare_wants_one_witness_of_each_kind():
    proved = Estimate.proved(0.1, 0.2, "x")
    with pytest.raises(ValueError, match="exact must be a proved enclosure"):
        compare(proved, proved)


@pytest.mark.parametrize(("sigma", "n_releases", "epsilon"), [(1.0, 1, 1.0), (4.0, 9, 0.5), (2.0, 5, 2.0)])
def test_an_independent_accountant_brackets_the_composed_profile(sigma, n_releases, epsilon):
    """n Gaussian releases compose to one with mu = sqrt(n) / sigma (W18, composition of Gaussian mechanisms)."""
    bracket = gaussian_composition(sigma, n_releases, epsilon)
    exact = exact_delta(GaussianProfile(n_releases**0.5 / sigma), epsilon)
    assert bracket.low <= exact.high
    assert exact.low <= bracket.high
    assert bracket.high - bracket.low < 1e-3
    wrong = exact_delta(GaussianProfile(1.05 * n_releases**0.5 / sigma), epsilon)  # a mutant 5 % off
    assert wrong.low > bracket.high
