import math
import pickle

import numpy as np
import pytest
from oracles.audits import attack as literal
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import Coin, GaussianSum, LaplaceSum, toy_pair
from rows import for_each
from scipy.stats import norm

from audits import Budget, StreamKey
from audits.white_box.attack import DECIMALS, accuracy_ceiling, attack_scores, likelihood_ratio_attack, rank_grid
from audits.white_box.tails import loss_sample
from mechanisms.base import Direction

PAIR = toy_pair()


def budget(n_draws=20_000, failure_prob=1e-6, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def scores_of(mechanism, n, rng):
    forward = loss_sample(mechanism, PAIR, Direction.FORWARD, n, rng=rng).round(DECIMALS)
    return forward, -loss_sample(mechanism, PAIR, Direction.BACKWARD, n, rng=rng).round(DECIMALS)


@for_each("delta", [0.0, 0.01, 0.3])
def test_bounds_equal_their_literal_twins(delta):
    rng = np.random.default_rng(31)
    p, q = rng.normal(1, 1, 90), rng.normal(0, 1, 90)
    audit = attack_scores(p, q, 0.1, rng=rng)
    assert audit.advantage.value == pytest.approx(literal.advantage(p, q), abs=1e-15)
    expected = literal.epsilon_lower(p, q, rank_grid(90).tolist(), 0.05, delta)
    assert audit.epsilon_lower(delta).low == pytest.approx(expected, abs=1e-9)


def test_gaussian_known_answers_lie_inside():
    """Null: all intervals hold. Level 1e-6 is the audit's own failure probability; 1e5 draws, mu = 1.

    Advantage 2 Phi(1/2) - 1; tpr at fpr a is Phi(Phi^-1(a) + 1); delta(1) = 0.126937 (closed form).
    """
    audit = likelihood_ratio_attack(GaussianSum(1.0), PAIR, budget(100_000, 1e-7))
    truth = 2 * norm.cdf(0.5) - 1
    assert audit.advantage.low <= truth <= audit.advantage.high < truth + 0.05
    assert audit.accuracy.low <= norm.cdf(0.5) <= audit.accuracy.high
    for rate in audit.rates:
        expected = norm.cdf(norm.ppf(rate.fpr) + 1)
        assert rate.tpr.low <= expected <= rate.tpr.high
        assert rate.tpr.low > 0.1 * expected
    roc = audit.roc
    thresholds = roc.thresholds
    assert (roc.tpr_band.low <= norm.sf(thresholds - 0.5)).all()
    assert (norm.sf(thresholds - 0.5) <= roc.tpr_band.high).all()
    assert (roc.fpr_band.low <= norm.sf(thresholds + 0.5)).all()
    assert (norm.sf(thresholds + 0.5) <= roc.fpr_band.high).all()
    assert (roc.fnr == 1 - roc.tpr).all()
    assert 0.85 < audit.epsilon_lower(0.126937).low <= 1.0
    assert 0.9 < audit.events.mu_lower().low <= 1.0


def test_atoms_are_handled_by_random_tie_breaking():
    """Coin(0.3, 0.2) has the ROC (0,0), (0.2,0.3), (1,1): tpr at fpr 0.1 is 0.15. Level 1e-7, 1e5 draws."""
    audit = likelihood_ratio_attack(Coin(0.3, 0.2), PAIR, budget(100_000, 1e-7), rates=(0.1,))
    assert audit.rates[0].tpr.low <= 0.15 <= audit.rates[0].tpr.high < 0.18
    assert 0.25 < audit.epsilon_lower(0.0).low <= math.log(1.5)


@for_each(("p", "q"), [(0.05, 0.2), (0.2, 0.05), (0.95, 0.8), (0.8, 0.95)])
def test_the_direction_and_sign_that_matter_are_found(p, q):
    """True epsilon is log 4 for every order, by one face of the coin in one direction only."""
    low = likelihood_ratio_attack(Coin(p, q), PAIR, budget()).epsilon_lower(0.0).low
    assert 0.8 < low <= math.log(4)


def test_a_wrong_sign_of_the_loss_hides_nothing():
    low = likelihood_ratio_attack(GaussianSum(1.0, flipped=True), PAIR, budget()).epsilon_lower(0.01).low
    assert low == pytest.approx(
        likelihood_ratio_attack(GaussianSum(1.0), PAIR, budget()).epsilon_lower(0.01).low, rel=0.15
    )


def test_perfectly_separated_scores_give_a_large_bound_and_never_infinity():
    audit = attack_scores(np.ones(1000), np.zeros(1000), 1e-6, rng=np.random.default_rng(0))
    assert 3.5 < audit.epsilon_lower(0.0).low < math.inf
    assert audit.advantage.value == 1.0
    assert audit.advantage.high == 1.0


def test_the_gaussian_inversion_is_labelled_as_an_assumption():
    audit = likelihood_ratio_attack(GaussianSum(1.0), PAIR, budget(100_000))
    assert "ASSUMES" in audit.epsilon_if_gaussian(1e-5).method
    assert audit.epsilon_if_gaussian(1e-5).low > audit.epsilon_lower(1e-5).low
    assert audit.epsilon_if_gaussian(1e-5).low <= 4.37718  # epsilon(1e-5) at mu = 1 (Balle and Wang 2018, theorem 8)
    assert audit.epsilon_lower(1e-5).high == math.inf  # a lower bound refutes, it never supports


NULL_REPEATS = 300


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "epsilon", "delta"),
    [
        (GaussianSum(1e6), 0.0, 0.0),  # two laws that no sample of this size can tell apart
        (LaplaceSum(1.0), 1.0, 0.0),
        (GaussianSum(1.0), 1.0, 0.12693673750664397),  # delta(1) at mu = 1
        (Coin(0.05, 0.2), math.log(4), 0.0),
    ],
)
def test_null_calibration(mechanism, epsilon, delta):
    """Null: the bound exceeds the true epsilon with probability at most 0.2. Level 1e-7, 300 audits of 400 draws."""
    alarms = 0
    for repeat in range(NULL_REPEATS):
        audit = likelihood_ratio_attack(
            mechanism, PAIR, budget(400, 0.4, seed=repeat)
        )  # half of it, 0.2, belongs to the tests
        alarms += audit.epsilon_lower(delta).low > epsilon + 1e-6  # 1e-6: the Gaussian null has epsilon about 3e-6
    assert alarms <= misses_allowed(NULL_REPEATS, 0.2)


def test_null_calibration_refutes_a_maximum_without_correction():
    """The same count must catch the classic mistake: best threshold, direction and sign, each at the full 0.05."""
    rng = np.random.default_rng(41)
    alarms = 0
    for _ in range(NULL_REPEATS):
        p, q = rng.random(4000), rng.random(4000)
        families = [(p, q), (q, p), (-p, -q), (-q, -p)]
        alarms += max(literal.uncorrected_epsilon_lower(*family, 0.05, every=16) for family in families) > 0
    assert alarms > misses_allowed(NULL_REPEATS, 0.05)


@pytest.mark.slow
def test_rates_and_advantage_cover_at_the_stated_rate():
    """Null: advantage and three rates all hold except with probability 0.2. Level 1e-7, 300 audits of 400 draws."""
    truth = 2 * norm.cdf(0.5) - 1
    misses = 0
    for repeat in range(NULL_REPEATS):
        audit = likelihood_ratio_attack(GaussianSum(1.0), PAIR, budget(400, 0.4, seed=repeat))
        inside = [r.tpr.low <= norm.cdf(norm.ppf(r.fpr) + 1) <= r.tpr.high for r in audit.rates]
        misses += not (all(inside) and audit.advantage.low <= truth <= audit.advantage.high)
    assert misses <= misses_allowed(NULL_REPEATS, 0.2)


def test_half_scale_laplace_is_caught_at_200_draws_a_side():
    """Claim epsilon = 1, true epsilon = 2; at least 60 of 100 audits with 5 % failure probability must see it."""
    seen = sum(
        likelihood_ratio_attack(LaplaceSum(0.5), PAIR, budget(400, 0.1, seed=repeat)).epsilon_lower(0.0).low > 1.0
        for repeat in range(100)
    )
    assert seen >= 60


def test_rounding_errors_in_the_loss_are_not_taken_for_a_leak():
    """Unrounded losses of Laplace noise added in float64 reveal the addition itself (Mironov 2012): a bound above 1."""
    rng = np.random.default_rng(51)
    forward = loss_sample(LaplaceSum(1.0), PAIR, Direction.FORWARD, 10_000, rng=rng)
    backward = -loss_sample(LaplaceSum(1.0), PAIR, Direction.BACKWARD, 10_000, rng=rng)
    assert attack_scores(forward, backward, 1e-6, rng=rng).epsilon_lower(0.0).low > 1.5
    rounded = attack_scores(forward.round(DECIMALS), backward.round(DECIMALS), 1e-6, rng=rng)
    assert rounded.epsilon_lower(0.0).low < 1.0


def test_equal_budgets_give_identical_bytes():
    first, again = (likelihood_ratio_attack(LaplaceSum(1.0), PAIR, budget(3000)) for _ in range(2))
    assert pickle.dumps(first) == pickle.dumps(again)


def test_rank_grid_is_a_function_of_the_sample_size_alone():
    assert rank_grid(1).tolist() == [1]
    assert rank_grid(12).tolist() == [1, 2, 3, 4, 6, 8, 11]


@for_each("first", [[], [np.nan], [[0.0]]])
def test_bad_scores_are_refused(first):
    with pytest.raises(ValueError, match="first must be a non-empty vector"):
        attack_scores(first, [0.0], 0.1, rng=np.random.default_rng(0))


def test_bad_rates_and_deltas_are_refused():
    audit = attack_scores([0.0, 1.0], [0.5, 2.0], 0.1, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="delta must be in"):
        audit.epsilon_lower(1.5)
    with pytest.raises(ValueError, match="rates must be in"):
        attack_scores([0.0], [1.0], 0.1, rng=np.random.default_rng(0), rates=(0.0,))


def test_an_absurdly_small_failure_prob_gives_a_bound_and_no_nan():
    audit = attack_scores(np.arange(100.0, 200.0), np.arange(100.0), 1e-300, rng=np.random.default_rng(0))
    assert 0.0 <= audit.epsilon_lower(1e-5).low < 1.0
    assert 0.0 <= audit.events.mu_lower().low < 1.0


@for_each(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (2.5, 0.0), (0.5, 0.1), (1.0, 1.0), (800.0, 0.0)])
def test_the_accuracy_ceiling_is_that_of_the_extreme_mechanism(epsilon, delta):
    """Tell nothing but the truth with probability delta, otherwise answer at random with odds e^epsilon."""
    coin = 1.0 / (1.0 + math.exp(-epsilon))
    assert accuracy_ceiling(epsilon, delta) == pytest.approx(delta + (1.0 - delta) * coin, rel=1e-14)


def test_the_accuracy_ceiling_is_broken_by_a_larger_epsilon_only():
    """Null: a randomised response of epsilon 1 reaches the ceiling of 1 exactly. Level 1e-6, 1e5 draws a side."""
    heads = 1.0 / (1.0 + math.exp(-1.0))
    audit = likelihood_ratio_attack(Coin(heads, 1.0 - heads), PAIR, budget(200_000))
    assert not audit.breaks_accuracy_ceiling(1.0)
    assert audit.accuracy.low <= accuracy_ceiling(1.0) <= audit.accuracy.high
    assert audit.breaks_accuracy_ceiling(0.9)
    assert not audit.breaks_accuracy_ceiling(0.9, 0.1)
