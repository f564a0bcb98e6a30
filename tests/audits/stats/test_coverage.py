import pickle

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed
from oracles.toy_mechanisms import GaussianSum, LaplaceSum, toy_pair
from rows import for_each

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import sequential_claim
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from audits.stats.coverage import (
    audit_coverage,
    coverage,
    look_sizes,
    sequential_delta,
    sequential_mean,
    sequential_proportion,
)
from audits.white_box.tails import CHUNK
from mechanisms import BOTH, Relation


def budget(n_draws=20_000, failure_prob=1e-7, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def two_events(n, rng):
    """Two events of probability 0.9 and 0.8; both hold together with probability 0.75."""
    u = rng.random(n)
    return np.column_stack([u < 0.9, (u < 0.75) | (u > 0.95)])


def test_counts_are_exact():
    audit = coverage([[True, False], [True, True], [False, True], [True, True]], 0.1)
    assert [part.value for part in audit.parts] == [0.75, 0.75]
    assert audit.joint.value == 0.5
    assert sum(e.failure_prob for e in (*audit.parts, audit.joint)) == pytest.approx(0.1)


def test_true_coverages_lie_inside():
    """Null: all three intervals hold. Level 1e-7, 2e4 draws."""
    audit = audit_coverage(two_events, budget())
    for part, truth in zip(audit.parts, (0.9, 0.8), strict=True):
        assert part.low <= truth <= part.high
    assert audit.joint.low <= 0.75 <= audit.joint.high


def test_the_joint_event_is_not_the_product_of_its_parts():
    assert audit_coverage(two_events, budget(200_000)).joint.low > 0.9 * 0.8


def test_a_bound_that_misses_ten_percent_more_often_is_refuted():
    """Claim: coverage 0.95. Truth 0.945 (5.5 % misses instead of 5 %): the interval excludes the claim at 5e5 draws."""
    audit = audit_coverage(lambda n, rng: rng.random(n) < 0.945, budget(500_000))
    assert audit.joint.high < 0.95


def test_intervals_cover_at_the_stated_rate():
    """Null: some interval misses with probability at most 0.2. Level 1e-7, 500 audits of 300 draws."""
    misses = 0
    for repeat in range(500):
        audit = audit_coverage(two_events, budget(300, 0.2, seed=repeat))
        pairs = zip((*audit.parts, audit.joint), (0.9, 0.8, 0.75), strict=True)
        misses += any(not e.low <= truth <= e.high for e, truth in pairs)
    assert misses <= misses_allowed(500, 0.2)


def test_chunks_are_counted_and_equal_budgets_give_identical_bytes():
    first, again = (audit_coverage(two_events, budget(2 * CHUNK + 1)) for _ in range(2))
    assert pickle.dumps(first) == pickle.dumps(again)
    assert first.n_draws == first.joint.n_draws == 2 * CHUNK + 1
    rng = budget().key.child("coverage").rng()
    events = np.vstack([two_events(size, rng) for size in (CHUNK, CHUNK, 1)])
    assert coverage(events, 1e-7) == first


def test_one_part_spends_the_whole_share():
    audit = coverage([True, False, True], 0.1)
    assert audit.parts == (audit.joint,)
    assert audit.joint.failure_prob == 0.1


@for_each("events", [[], [0.5], [[[True]]], [1, 0]])
def test_what_is_not_an_event_is_refused(events):
    with pytest.raises(ValueError, match="events must be booleans"):
        coverage(events, 0.1)


def test_a_sampler_that_returns_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="sampler must return 10 rows"):
        audit_coverage(lambda n, rng: np.ones(n - 1, dtype=bool), budget(10))


def budget_looks(n_draws=64_000, failure_prob=1e-6, seed=1):
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


def coin(p):
    return lambda n, rng: rng.random(n) < p


def test_clear_cases_stop_early_and_close_ones_go_on():
    clear = sequential_proportion(coin(0.5), (0.0, 0.1), budget_looks())
    assert clear.decided
    assert clear.n_draws == 1000
    assert clear.estimate.low > 0.1
    close = sequential_proportion(coin(0.11), (0.0, 0.1), budget_looks())
    assert close.decided
    assert 1000 < close.n_draws <= 64_000
    edge = sequential_proportion(coin(0.1), (0.0, 0.1), budget_looks())
    assert not edge.decided
    assert edge.n_draws == 64_000


def test_true_claims_hold_early():
    audit = sequential_proportion(coin(0.01), (0.0, 0.1), budget_looks())
    assert audit.decided
    assert audit.n_draws == 1000
    assert audit.estimate.high <= 0.1


def test_shares_of_looks_stay_within_the_whole():
    audit = sequential_proportion(coin(0.1), (0.0, 0.1), budget_looks())
    assert len(audit.looks) == 7
    assert sum(look.failure_prob for look in audit.looks) < 1e-6
    assert audit.estimate.failure_prob == 1e-6
    assert [look.n_draws for look in audit.looks] == list(look_sizes(64_000))


@for_each(("n", "sizes"), [(5, [5]), (1000, [1000]), (1999, [1999]), (2000, [1000, 2000]), (5000, [1000, 2000, 5000])])
def test_look_sizes(n, sizes):
    assert list(look_sizes(n)) == sizes


@pytest.mark.parametrize("mean", [False, True])
def test_a_true_edge_is_rarely_refuted_although_we_look_often(mean):
    """Null: p = 0.1 is allowed by [0, 0.1]; refuted with probability at most 0.2. Level 1e-7, 400 audits, 8 looks."""
    alarms = 0
    for repeat in range(400):
        b = budget_looks(1280, 0.2, seed=repeat)
        if mean:
            audit = sequential_mean(coin(0.1), (0.0, 0.1), b, low=0.0, high=1.0, first=10)
        else:
            audit = sequential_proportion(coin(0.1), (0.0, 0.1), b, first=10)
        alarms += audit.estimate.low > 0.1
    assert alarms <= misses_allowed(400, 0.2)


def test_the_same_check_refutes_looking_without_paying():
    """Repeated normal tests at 0.05 each, 60 looks: alarms far above 0.05 (400 repeats)."""
    alarms = 0
    for repeat in range(400):
        total = np.cumsum(np.random.default_rng(repeat).normal(size=1200))[19::20]
        n = np.arange(20, 1201, 20)
        alarms += bool((np.abs(total) > 1.96 * np.sqrt(n)).any())
    assert alarms > misses_allowed(400, 0.05)


def test_means_of_bounded_values():
    """Null: the mean of uniforms on [-1, 3] is 1. Level 1e-6, at most 64 000 draws."""

    def uniform(n, rng):
        return rng.uniform(-1, 3, n)

    audit = sequential_mean(uniform, (1.05, 3.0), budget_looks(), low=-1.0, high=3.0)
    assert audit.decided
    assert audit.estimate.low <= 1.0 <= audit.estimate.high < 1.05


def test_equal_budgets_give_identical_bytes():
    first, again = (sequential_proportion(coin(0.11), (0.0, 0.1), budget_looks()) for _ in range(2))
    assert pickle.dumps(first) == pickle.dumps(again)


def test_values_that_are_no_events_are_refused():
    with pytest.raises(ValueError, match="sampler must return events"):
        sequential_proportion(lambda n, rng: rng.random(n), (0.0, 0.1), budget_looks(10))
    with pytest.raises(ValueError, match="allowed must satisfy"):
        sequential_proportion(coin(0.5), (0.3, 0.1), budget_looks(10))


def test_a_sampler_of_the_wrong_shape_is_refused():
    """One value for a whole batch would count as so many draws."""
    with pytest.raises(ValueError, match="sampler must return shape"):
        sequential_mean(lambda n, rng: rng.random(1), (0.0, 0.1), budget_looks(2000), low=0.0, high=1.0)


PAIR = toy_pair()


def test_a_divergence_is_decided_early_on_either_side_and_not_on_the_edge():
    """GaussianSum(1): delta(1) is 0.1269 (W19, Lemma 2.4's closed form) in both directions. Level 1e-6."""
    law = GaussianSum(1.0)
    exact = law.profile(PAIR).delta_at(1.0, BOTH[0])
    for claimed, outside in ((0.05, True), (0.3, False)):
        audit = sequential_delta(law, PAIR, budget_looks(), epsilon=1.0, delta=claimed)
        assert audit.decided
        assert audit.n_draws < 8_000
        assert (audit.estimate.low > claimed) is outside
        assert audit.estimate.low <= exact <= audit.estimate.high
        assert sum(look.failure_prob for look in audit.looks) < 1e-6
        assert audit.n_draws == audit.estimate.n_draws == audit.looks[-1].n_draws
    assert not sequential_delta(law, PAIR, budget_looks(16_000), epsilon=1.0, delta=exact).decided


def test_a_true_divergence_is_rarely_refuted_although_we_look_often():
    """Null: delta(1) of GaussianSum(1) equals the claim; refuted at most 0.2 of the time. Level 1e-7, 300 audits."""
    law = GaussianSum(1.0)
    exact = law.profile(PAIR).delta_at(1.0, BOTH[0])
    audits = (
        sequential_delta(law, PAIR, budget_looks(1280, 0.2, seed), epsilon=1.0, delta=exact, first=20)
        for seed in range(300)
    )
    assert sum(audit.estimate.low > exact for audit in audits) <= misses_allowed(300, 0.2)


PURE = BlackBoxClaim(1.0, 0.0, (Relation.ADD,))


def test_a_black_box_audit_stops_at_the_look_that_refutes():
    """Laplace at half scale (true epsilon 2) against epsilon 1: found early; at full scale the budget is used up."""
    broken = sequential_claim(LaplaceSum(0.5), PAIR, PURE, budget_looks(50_000, 1e-3))
    assert broken.outcome is BlackBoxOutcome.REFUTED
    assert broken.n_draws <= 3_200
    assert all(look.outcome is BlackBoxOutcome.NOT_REFUTED for look in broken.looks[:-1])
    correct = sequential_claim(LaplaceSum(1.0), PAIR, PURE, budget_looks(6_400, 1e-3))
    assert correct.outcome is BlackBoxOutcome.NOT_REFUTED
    assert correct.n_draws == 6_400
    assert sum(look.failure_prob for look in correct.looks) < 1e-3


@pytest.mark.slow
def test_black_box_looks_together_keep_their_level():
    """Null: Laplace claimed at its true epsilon, five looks; refuted at most 0.2 of the time. 100 audits, 1e-7."""
    runs = (
        sequential_claim(LaplaceSum(1.0), PAIR, PURE, budget_looks(1600, 0.2, seed), first=100) for seed in range(100)
    )
    refuted = sum(run.outcome is BlackBoxOutcome.REFUTED for run in runs)
    assert refuted <= misses_allowed(100, 0.2)
