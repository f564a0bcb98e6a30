from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audits import intervals as literal
from statsmodels.stats.multitest import multipletests

from audits import Budget, StreamKey
from audits.stats.intervals import even_share, holm_rejections, look_share


def test_shares_add_up_to_the_whole():
    assert sum(even_share(1e-4, 7) for _ in range(7)) == pytest.approx(1e-4)
    assert sum(look_share(k) for k in range(1, 2000)) == 1 - Fraction(1, 2000)


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_its_literal_twin_and_that_of_statsmodels(seed):
    p_values = np.random.default_rng(seed).random(20) ** 4
    rejected = holm_rejections(p_values, 0.1).tolist()
    assert rejected == literal.holm(list(p_values), 0.1)
    assert rejected == multipletests(p_values, alpha=0.1, method="holm")[0].tolist()


def test_holm_rejects_more_than_bonferroni_and_never_fewer():
    p_values = [0.001, 0.012, 0.016, 0.02]  # Bonferroni at 0.05: only those below 0.0125
    assert holm_rejections(p_values, 0.05).all()


@pytest.mark.parametrize("p_values", [[], [1.2], [np.nan], [[0.1]]])
def test_holm_refuses_what_is_not_a_vector_of_probabilities(p_values):
    with pytest.raises(ValueError, match="p_values must be"):
        holm_rejections(p_values, 0.1)


def test_a_part_of_a_budget_without_draws_is_refused_and_not_given_all():
    whole = Budget(100, 0.1, StreamKey(1))
    assert whole.part("half", share=0.5) == Budget(100, 0.05, StreamKey(1, ("half",)))
    assert whole.part("few", n_draws=3).n_draws == 3
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        whole.part("none", n_draws=0)


@settings(max_examples=5)  # statsmodels collects garbage at each call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(1e-9, 0.5))
def test_holm_is_monotone_and_knows_no_order(p_values, failure_prob):
    """Smaller p-values and larger levels reject at least as much; the order of the hypotheses is nothing."""
    rejected = holm_rejections(p_values, failure_prob)
    assert (rejected <= holm_rejections([p / 2 for p in p_values], failure_prob)).all()
    assert (rejected <= holm_rejections(p_values, min(1.5 * failure_prob, 0.9))).all()
    assert (rejected >= (np.array(p_values) <= failure_prob / len(p_values) * (1 - 1e-12))).all()
    assert (rejected == holm_rejections(p_values[::-1], failure_prob)[::-1]).all()


@given(st.floats(1e-9, 0.5), st.lists(st.floats(0.01, 1), min_size=1, max_size=6), st.lists(st.text(max_size=5)))
def test_parts_of_a_budget_multiply_their_shares_and_add_their_names(failure_prob, shares, names):
    budget = Budget(100, failure_prob, StreamKey(1))
    for share in shares:
        budget = budget.part("part", share=share)
    assert budget.failure_prob == pytest.approx(failure_prob * np.prod(shares))
    assert budget.key.path == ("part",) * len(shares)
    one_by_one = StreamKey(1)
    for name in names:
        one_by_one = one_by_one.child(name)
    assert one_by_one == StreamKey(1).child(*names)


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4, unique=True))
def test_keys_of_other_names_draw_other_numbers(names):
    draws = [StreamKey(1).child(name).rng().integers(2**63) for name in names]
    assert len(set(draws)) == len(names)
