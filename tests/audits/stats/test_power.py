import numpy as np
import pytest
from oracles.audits import power as literal
from oracles.false_alarm import misses_allowed
from rows import for_each

from audits.stats.intervals import clopper_pearson, empirical_bernstein
from audits.stats.power import draws_needed, mean_draws_sufficient, outcome_probabilities, refutation_probability


@for_each(
    ("p", "allowed", "n", "failure_prob"),
    [
        (0.3, (0.0, 0.1), 40, 0.05),
        (0.05, (0.0, 0.3), 40, 0.05),
        (0.5, (0.2, 0.8), 60, 0.01),
        (0.9, (0.95, 1.0), 50, 0.1),
        (0.0, (0.0, 0.5), 9, 0.1),
        (1.0, (0.0, 0.5), 9, 0.1),
    ],
)
def test_outcomes_equal_their_literal_twin(p, allowed, n, failure_prob):
    fast = outcome_probabilities(p, allowed, n, failure_prob)
    expected = literal.outcome_probabilities(p, allowed, n, failure_prob)
    assert (fast.holds, fast.fails, fast.undecided) == pytest.approx(expected, abs=1e-12)


def test_at_the_edge_the_chance_to_refute_is_at_most_half_the_failure_probability():
    for n in (10, 1000, 10**6):
        assert outcome_probabilities(0.1, (0.0, 0.1), n, 0.02).fails <= 0.01
        assert outcome_probabilities(0.1, (0.1, 1.0), n, 0.02).fails <= 0.01


@pytest.mark.parametrize(("p_true", "p_allowed"), [(0.11, 0.1), (0.055, 0.05), (0.89, 0.9), (1e-3, 5e-4)])
def test_draws_needed_is_enough_and_not_wasteful(p_true, p_allowed):
    n = draws_needed(p_true, p_allowed, 1e-6)
    assert refutation_probability(p_true, p_allowed, n, 1e-6) >= 0.99
    assert refutation_probability(p_true, p_allowed, int(0.9 * n), 1e-6) < 0.99


def test_predicted_power_is_what_happens():
    """Null: a mutant is refuted with the computed probability 0.9. Level 2e-7 (both tails), 2000 repeats."""
    n = draws_needed(0.11, 0.1, 1e-3, power=0.9)
    predicted = refutation_probability(0.11, 0.1, n, 1e-3)
    counts = np.random.default_rng(61).binomial(n, 0.11, size=2000)
    refuted = sum(clopper_pearson(int(count), n, 1e-3).low > 0.1 for count in counts)
    assert 2000 - refuted <= misses_allowed(2000, 1 - predicted)
    assert refuted <= misses_allowed(2000, predicted)


def test_sufficient_draws_for_a_mean_are_sufficient():
    """Null: the interval excludes an edge 0.02 away with probability 0.99 or more. Level 1e-7, 200 repeats."""
    n = mean_draws_sufficient(0.02, 1 / 12, 1e-4)
    rng = np.random.default_rng(62)
    missed = 0
    for _ in range(200):
        sample = rng.random(n)
        missed += empirical_bernstein(sample.mean(), sample.var(ddof=1), n, 1e-4).high >= 0.52
    assert missed <= misses_allowed(200, 0.01)
    assert mean_draws_sufficient(0.04, 1 / 3, 1e-4, value_range=2.0) == n  # the same question on [-1, 1]


def test_bad_questions_are_refused():
    with pytest.raises(ValueError, match="p_true must differ"):
        draws_needed(0.1, 0.1, 0.01)
    with pytest.raises(ValueError, match="limit must be large enough"):
        draws_needed(0.1001, 0.1, 0.01, limit=1000)
    with pytest.raises(ValueError, match="p_true must be in"):
        refutation_probability(float("nan"), 0.1, 10, 0.1)
    with pytest.raises(ValueError, match="gap and value_range must be positive"):
        mean_draws_sufficient(0.0, 0.1, 0.01)
