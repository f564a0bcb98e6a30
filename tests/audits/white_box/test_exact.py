import pytest
from oracles.toy_mechanisms import Coin, CoinProfile, GaussianSum, toy_pair

from audits import Budget, Estimate, StreamKey
from audits.white_box.exact import compare, exact_delta, exact_epsilon, exact_tail, gaussian_composition
from audits.white_box.tails import audit_tails
from mechanisms import GaussianProfile
from mechanisms.base import Direction

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


@pytest.mark.parametrize("mechanism", [GaussianSum(1.0), Coin(0.3, 0.2)])
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
