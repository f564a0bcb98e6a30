import pickle

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed

from audits import Budget, StreamKey
from audits.stats.coverage import audit_coverage, coverage
from audits.white_box.tails import CHUNK


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


@pytest.mark.parametrize("events", [[], [0.5], [[[True]]], [1, 0]])
def test_what_is_not_an_event_is_refused(events):
    with pytest.raises(ValueError, match="events must be booleans"):
        coverage(events, 0.1)


def test_a_sampler_that_returns_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="sampler must return 10 rows"):
        audit_coverage(lambda n, rng: np.ones(n - 1, dtype=bool), budget(10))
