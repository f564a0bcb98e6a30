"""The exact tests of the black-box audit: against slow twins, and their false-alarm rate summed exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.audits.black_box import barnard_p_value as barnard_literal
from oracles.audits.black_box import pair_rejection, rank_false_alarm, rank_p_value
from scipy import stats

from audits.black_box.black_box_events import (
    FixedEvent,
    GaussianTradeOff,
    PointTradeOff,
    RankEvent,
    barnard_p_value,
    delta_lower,
    epsilon_lower,
    mu_lower,
)
from audits.black_box.black_box_samples import Choice
from audits.black_box.black_box_scores import raw_score


def scalar(claim):
    return lambda u: float(claim.least_mass(np.array([u]))[0])


# claim, k, n, count, m, slack: the step function may only err upwards, by at most this factor
CASES = [
    (PointTradeOff(1.0, 0.0), 50, 100, 12, 100, 1.02),
    (PointTradeOff(1.0, 0.0), 100, 200, 20, 200, 1.04),
    (PointTradeOff(0.0, 0.05), 300, 1000, 210, 1000, 1.06),
    (PointTradeOff(2.0, 1e-5), 40, 5000, 1, 5000, 1.04),
    (PointTradeOff(0.5, 0.0), 1, 50, 0, 50, 1.04),
    (PointTradeOff(0.5, 0.0), 50, 50, 20, 60, 1.04),
    (GaussianTradeOff(0.3), 500, 1000, 380, 1000, 1.06),
]


@pytest.mark.parametrize(("claim", "k", "n", "count", "m", "slack"), CASES)
def test_rank_p_value_is_just_above_the_literal_one(claim, k, n, count, m, slack):
    exact = rank_p_value(k, n, count, m, scalar(claim))
    fast = RankEvent(k, n, count, m).p_value(claim)
    assert exact * (1 - 1e-6) - 1e-9 <= fast <= exact * slack + 1e-9


@pytest.mark.parametrize("level", [0.5, 0.1, 0.05])
@pytest.mark.parametrize(
    ("claim", "k", "n", "m"),
    [(PointTradeOff(1.0, 0.0), 20, 40, 40), (PointTradeOff(0.0, 0.1), 30, 60, 50), (GaussianTradeOff(1.0), 25, 80, 80)],
)
def test_rank_event_rejects_the_edge_of_the_claim_at_most_at_its_level(claim, k, n, m, level):
    """Summed exactly over the law of the count, no draws; and not needlessly rarely (the count is discrete)."""
    rate = rank_false_alarm(k, n, m, level, scalar(claim), lambda y: RankEvent(k, n, y, m).p_value(claim))
    assert level / 3 <= rate <= level


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.0), (0.5, 0.1), (0.0, 0.0), (0.0, 0.2)])
@pytest.mark.parametrize(("x", "count"), [(12, 3), (15, 2), (5, 0), (9, 9), (0, 15), (20, 14)])
def test_barnard_is_just_above_brute_force(x, count, epsilon, delta):
    """The cells bound the supremum from above; brute force on a grid approaches it from below."""
    literal = barnard_literal(x, 20, count, 15, epsilon, delta, grid=2000)
    fast = barnard_p_value(x, 20, count, 15, epsilon, delta)
    assert literal - 1e-9 <= fast <= literal * 1.05 + 1e-6


def test_fixed_event_rejects_the_edge_of_the_claim_at_most_at_its_level():
    """Exact sums over every pair of counts: Barnard's test and the pair of bounds, at p = e^eps q + delta."""
    epsilon, delta, n, m = 0.5, 0.05, 14, 12
    claim = PointTradeOff(epsilon, delta)
    barnard = {(x, y): barnard_p_value(x, n, y, m, epsilon, delta) for x in range(n + 1) for y in range(m + 1)}
    for level in (0.5, 0.1, 0.05):
        decides = {key: FixedEvent(key[0], n, key[1], m).evidence(claim, level) > 0 for key in barnard}
        for q in (0.02, 0.1, 0.3, 0.55):
            p = math.exp(epsilon) * q + delta
            rate = pair_rejection(n, m, p, q, lambda x, y, level=level: barnard[x, y] <= level)
            pair = pair_rejection(n, m, p, q, lambda x, y, decides=decides: decides[x, y])
            assert pair <= rate + 1e-12 <= level + 2e-12


def test_without_the_event_s_rank_law_the_test_would_be_invalid():
    """Mutant: taking P(S) = k/n as known (no Beta law) rejects a true claim more often than its level allows."""
    claim, k, n, m, level = PointTradeOff(0.0, 0.0), 20, 40, 400, 0.05

    def naive(count):
        return float(stats.binom.cdf(count, m, k / n))

    assert rank_false_alarm(k, n, m, level, scalar(claim), naive) > 3 * level


def test_bounds_are_rejected_parameters_and_grow_with_the_evidence():
    event = RankEvent(5000, 10_000, 1839, 10_000)  # Laplace, scale 1, shift 1: P = 1/2, Q = e^-1/2
    low = epsilon_lower(event, 0.0, 0.05)
    assert 0.95 < low < 1.0
    assert event.evidence(PointTradeOff(low, 0.0), 0.05) > 0
    assert event.evidence(PointTradeOff(low + 1e-5, 0.0), 0.05) <= 0
    assert epsilon_lower(RankEvent(5000, 10_000, 1500, 10_000), 0.0, 0.05) > low
    assert epsilon_lower(event, 0.0, 0.001) < low
    delta = delta_lower(event, 0.5, 0.05)
    assert 0.15 < delta < 0.5 - math.exp(0.5) * 0.1839  # exact delta(0.5) = 1/2 - e^0.5 Q(S) at this event
    assert 0 < mu_lower(RankEvent(6915, 10_000, 3085, 10_000), 0.05) < 1.0  # Phi(1/2) and Phi(-1/2): mu = 1
    assert epsilon_lower(RankEvent(10, 100, 90, 100), 0.0, 0.05) == 0.0


def test_the_rank_bound_is_sharper_than_two_clopper_pearson_bounds():
    rank, pair = RankEvent(5000, 10_000, 1839, 10_000), FixedEvent(5000, 10_000, 1839, 10_000)
    assert epsilon_lower(rank, 0.0, 0.05) > epsilon_lower(pair, 0.0, 0.05) + 0.005


def test_fixed_event_p_value_agrees_with_its_decision():
    event, claim = FixedEvent(500, 1000, 150, 1000), PointTradeOff(1.0, 0.0)
    p = event.p_value(claim)
    assert event.evidence(claim, p * 1.001) > 0 >= event.evidence(claim, p * 0.999)
    assert FixedEvent(100, 1000, 400, 1000).p_value(claim) == 1.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RankEvent(0, 10, 1, 10), "k must be between 1 and n=10, got k=0"),
        (lambda: RankEvent(1, 10, 11, 10), "count must be between 0 and m=10, got count=11"),
        (lambda: FixedEvent(11, 10, 1, 10), "x must be between 0 and n=10, got x=11"),
        (lambda: FixedEvent(1, 10, -1, 10), "count must be between 0 and m=10, got count=-1"),
        (lambda: FixedEvent(1, 10, 1, 10, 1.0), "share must be in"),
    ],
)
def test_impossible_counts_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("x", [5990, 5994, 5996, 5998, 6000])
@pytest.mark.parametrize("count", [0, 5, 20])
def test_a_mechanism_without_noise_to_speak_of_is_refuted_at_any_level(x, count):
    """Nearly all draws from P and nearly none from Q: the p-value is that of the level where the two bounds meet."""
    event, claim = FixedEvent(x, 6000, count, 6000), PointTradeOff(1.0, 0.0)
    p_value = event.p_value(claim)
    assert p_value < 1e-100
    assert event.evidence(claim, 10 * p_value) > 0


@pytest.mark.parametrize(
    ("score", "forward", "threshold", "words"),
    [
        (raw_score(), True, 6.0, "the output itself at least 6, among the largest 10.000% of the first data set"),
        (raw_score(), False, -6.0, "the output itself at most 6, among the smallest 10.000% of the second data set"),
        (raw_score(-1.0), True, -6.0, "the output itself at most 6, among the smallest 10.000% of the first data set"),
        (raw_score(-1.0), False, 6.0, "the output itself at least 6, among the largest 10.000% of the second data set"),
        (raw_score(), False, 0.0, "the output itself at most 0, among the smallest 10.000% of the second data set"),
    ],
)
def test_an_event_is_said_in_the_sign_and_the_units_of_the_output(score, forward, threshold, words):
    assert Choice(score, forward, True, threshold, 0.1, 0.0).event == words
