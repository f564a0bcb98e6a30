"""What an audit is given and returns refuses what is none, and adds up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import Budget, Estimate, StreamKey
from audits.white_box.tails import worse

NUMBERS = st.floats(-1e6, 1e6)


@st.composite
def estimates(draw):
    low, value, high = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Estimate(value, low, high, draw(st.floats(1e-9, 0.01)), draw(st.integers(0, 100)), "drawn")


@given(st.lists(estimates(), min_size=1, max_size=8))
def test_the_worse_of_estimates_is_at_least_each_and_spends_the_sum(several):
    whole = worse(several)
    assert all(e.low <= whole.low and e.value <= whole.value and e.high <= whole.high for e in several)
    assert whole.low in {e.low for e in several}
    assert whole.failure_prob == pytest.approx(math.fsum(e.failure_prob for e in several))
    assert whole.n_draws == sum(e.n_draws for e in several)


@given(NUMBERS, NUMBERS)
def test_a_proved_enclosure_is_exact_and_holds_its_middle(first, second):
    low, high = sorted((first, second))
    estimate = Estimate.proved(low, high, "by hand")
    assert estimate.exact
    assert low <= estimate.value <= high


@pytest.mark.parametrize(
    ("value", "low", "high", "failure_prob"),
    [
        (0.5, 0.6, 0.4, 0.1),
        (0.5, math.nan, 1.0, 0.1),
        (0.5, 0.6, 0.7, 0.1),
        (0.5, 0.0, 1.0, 1.0),
        (0.5, 0.0, 1.0, -0.1),
    ],
)
def test_what_is_no_estimate_is_refused(value, low, high, failure_prob):
    with pytest.raises(ValueError, match="must"):
        Estimate(value, low, high, failure_prob, 1, "wrong")


@pytest.mark.parametrize(("n_draws", "failure_prob"), [(0, 0.1), (True, 0.1), (1.5, 0.1), (1, 0.0), (1, 1.0)])
def test_what_is_no_budget_is_refused(n_draws, failure_prob):
    with pytest.raises(ValueError, match="must be"):
        Budget(n_draws, failure_prob, StreamKey(1))
