import numpy as np
import pytest
from oracles import intervals as literal

from audits import Budget, StreamKey
from audits.multiplicity import even_share, holm, look_share


def test_shares_add_up_to_the_whole():
    assert sum(even_share(1e-4, 7) for _ in range(7)) == pytest.approx(1e-4)
    assert sum(look_share(1e-4, k) for k in range(1, 2000)) == pytest.approx(1e-4, rel=1e-3)
    assert sum(look_share(1e-4, k) for k in range(1, 2000)) < 1e-4


@pytest.mark.parametrize("seed", range(5))
def test_holm_equals_its_literal_twin(seed):
    p_values = np.random.default_rng(seed).random(20) ** 4
    assert holm(p_values, 0.1).tolist() == literal.holm(list(p_values), 0.1)


def test_holm_rejects_more_than_bonferroni_and_never_fewer():
    p_values = [0.001, 0.012, 0.016, 0.02]  # Bonferroni at 0.05: only those below 0.0125
    assert holm(p_values, 0.05).all()


@pytest.mark.parametrize("p_values", [[], [1.2], [np.nan], [[0.1]]])
def test_holm_refuses_what_is_not_a_vector_of_probabilities(p_values):
    with pytest.raises(ValueError, match="p_values must be"):
        holm(p_values, 0.1)


def test_a_part_of_a_budget_without_draws_is_refused_and_not_given_all():
    whole = Budget(100, 0.1, StreamKey(1))
    assert whole.part("half", share=0.5) == Budget(100, 0.05, StreamKey(1, ("half",)))
    assert whole.part("few", n_draws=3).n_draws == 3
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        whole.part("none", n_draws=0)
