import pytest
from scipy.stats import binom

from audits import Budget, StreamKey
from verify.calibration.series.one_run_series import one_run_mutants, one_run_series
from verify.calibration.series.series import DEFAULT_FAILURE_PROB

SERIES = {series.name: series for series in one_run_series()}


@pytest.mark.parametrize("name", SERIES)
def test_false_alarms_are_within_their_level_and_the_control_is_found_out(name):
    """Null: the lower ends miss with probability at most 0.1. Level 1e-7 by the binomial law."""
    series = SERIES[name]
    n = 200 if series.control else 60
    found = series.misses(n, 0.1, StreamKey(4, ("test",)))
    assert found.shape == (n, 2)
    assert not found[:, 1].any()  # nothing is claimed above
    assert (found[:, 0].sum() > binom.isf(1e-7, n, 0.1)) == series.control


def test_the_bound_is_attained():
    """Its own worst mechanism is refuted about as often as the level says: 0.5, at most one number of guesses less."""
    worst = SERIES["one run: the mechanism that attains the bound"]
    assert 0.25 < worst.misses(150, 0.5, StreamKey(4, ("test",)))[:, 0].mean() < 0.65


@pytest.mark.parametrize("mutant", list(one_run_mutants()), ids=lambda mutant: mutant.name)
def test_each_mutant_is_refuted_at_its_strength(mutant):
    for i in range(3):
        budget = Budget(mutant.n_draws, DEFAULT_FAILURE_PROB, StreamKey(1, ("mutant", str(i))))
        assert mutant.refute(mutant.stated, budget)
        assert not mutant.refute(mutant.strengths[0], budget)
