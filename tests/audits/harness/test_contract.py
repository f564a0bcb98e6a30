"""Contract checks: exact p-values as by counting, honest mechanisms kept, every breach caught in every seed."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from oracles.audits.outputs import independence_by_permuting, more_hits_by_counting
from oracles.false_alarm import misses_allowed

from audits import Budget, StreamKey
from audits.harness.contract import (
    CallPlan,
    ContractOutcome,
    Exact,
    contract_findings,
    events,
    independent,
    more_hits,
    more_repeats,
    row_ids,
    same_law,
)
from audits.harness.guarded_subject import Subject
from mechanisms import Dataset, NeighbouringPair

PAIR = NeighbouringPair.add(Dataset(np.ones((2, 1)), np.array([0.25, 0.5]), 1.0, 1.0), [1.0], 1.0)
REPEATS, ROWS, LAWS, WRITES, GLOBALS, SAME, COUNT = range(7)


@dataclass
class Calls:
    """``body(self, centre, n_draws, rng)`` as a mechanism, with a count of its calls and a memory."""

    body: Callable
    calls: int = 0
    memory: object = None
    name = "of a test"

    def draw(self, dataset, n_draws, *, rng):
        self.calls += 1
        return self.body(self, dataset.y.sum(), n_draws, rng)


def noise(self, centre, n, rng):
    return centre + rng.standard_normal((n, 1))


def own(self, centre, n, rng):
    self.memory = self.memory or np.random.default_rng(7)
    return noise(self, centre, n, self.memory)


def kept(self, centre, n, rng):
    self.memory = self.memory or {}
    return self.memory.setdefault(n, noise(self, centre, n, rng))


def antithetic(self, centre, n, rng):
    half = rng.standard_normal(((n + 1) // 2, 1))
    return centre + np.stack([half, -half], axis=1).reshape(-1, 1)[:n]


def raw_if(chosen):
    return lambda self, centre, n, rng: np.where(chosen(self, n)[:, None], centre, noise(self, centre, n, rng))


BROKEN = {
    "fixed seed": (lambda self, c, n, rng: noise(self, c, n, np.random.default_rng(1)), {REPEATS}),
    "seed of the data": (lambda self, c, n, rng: noise(self, c, n, np.random.default_rng(int(8 * c))), {REPEATS}),
    "own generator": (own, {REPEATS}),
    "old answers": (kept, {REPEATS}),
    "one noise for a call": (lambda self, c, n, rng: np.full((n, 1), c + rng.standard_normal()), {ROWS}),
    "shared part": (lambda self, c, n, rng: noise(self, c, n, rng) + 3 * rng.standard_normal(), {ROWS}),
    "antithetic": (antithetic, {ROWS}),
    "sorted": (lambda self, c, n, rng: np.sort(noise(self, c, n, rng), axis=0), {ROWS}),
    "random walk": (lambda self, c, n, rng: c + rng.standard_normal((n, 1)).cumsum(axis=0), {ROWS, LAWS}),
    "raw for one": (raw_if(lambda self, n: np.full(n, n == 1)), {LAWS}),
    "raw for ten": (raw_if(lambda self, n: np.full(n, n <= 10)), {LAWS}),
    "first row raw": (raw_if(lambda self, n: np.arange(n) == 0), {LAWS}),
    "last row raw": (raw_if(lambda self, n: np.arange(n) == n - 1), {LAWS}),
    "first calls raw": (raw_if(lambda self, n: np.full(n, self.calls <= 2)), {LAWS}),
    "later calls raw": (raw_if(lambda self, n: np.full(n, self.calls > 40)), {LAWS}),
    "half the noise for one": (lambda self, c, n, rng: c + rng.normal(0, 1 + (n > 1), (n, 1)), {LAWS}),
    "more noise for a block": (lambda self, c, n, rng: c + rng.normal(0, 1 + (n > 10), (n, 1)), {LAWS}),
    "refuses a single draw": (lambda self, c, n, rng: noise(self, c, n, rng) if n > 1 else 1 // 0, {LAWS}),
}

HONEST = {
    "normal": noise,
    "coin": lambda self, c, n, rng: rng.random((n, 1)) < 0.5,
    "constant": lambda self, c, n, rng: np.full((n, 1), c),
    "geometric": lambda self, c, n, rng: c + rng.geometric(0.5, (n, 1)),
    "texts": lambda self, c, n, rng: [f"about {x:.1f}" for x in rng.standard_normal(n)],
    "operating system": lambda self, c, n, rng: noise(self, c, n, np.random.default_rng()),
}


def checked(body, seed=1, n_draws=1200, failure_prob=1e-5, **options):
    subject = Subject(Calls(body), **options)
    return contract_findings(subject, [PAIR], Budget(n_draws, failure_prob, StreamKey(seed, ("contract",))))


@pytest.mark.parametrize("name", BROKEN)
def test_every_breach_is_found_in_every_seed(name):
    body, expected = BROKEN[name]
    for seed in range(3):
        findings, conduct = checked(body, seed)
        assert expected <= {i for i, finding in enumerate(findings) if finding.violated}, seed
        assert conduct.one_by_one == findings[ROWS].violated


@pytest.mark.parametrize("name", HONEST)
def test_honest_mechanisms_keep_the_contract(name):
    """Null: kept. Three tests share 1e-5 in each of 3 runs of 1200 draws, six mechanisms: 2e-4 in all."""
    for seed in range(3):
        findings, conduct = checked(HONEST[name], seed)
        assert not any(finding.violated for finding in findings)
        assert conduct.reproducible == (name != "operating system")
        assert not conduct.one_by_one


def test_false_alarms_at_a_large_level():
    """Null: kept; 40 runs of 200 draws at 0.3 of a coin, where p-values are least conservative."""
    alarms = sum(any(f.violated for f in checked(HONEST["coin"], seed, 200, 0.3)[0]) for seed in range(40))
    assert alarms <= misses_allowed(40, 0.3, 1e-4)


def test_calls_of_the_process_that_come_first():
    """The count lies outside of the object, where no copy starts it again; 5 raw calls are among the first."""
    count = itertools.count()
    findings, _ = checked(lambda self, c, n, rng: raw_if(lambda self, n: np.full(n, next(count) < 5))(self, c, n, rng))
    assert findings[LAWS].violated


def test_facts_that_need_no_test():
    def old(self, centre, n, rng):
        return centre + np.random.standard_normal((n, 1))  # noqa: NPY002

    findings, conduct = checked(old, n_draws=200)
    assert conduct.global_generators
    assert conduct.reproducible
    assert "reseeded" in findings[GLOBALS].words
    assert not findings[GLOBALS].violated
    short, _ = checked(lambda self, c, n, rng: rng.standard_normal((1, 1)), n_draws=200)
    assert short[COUNT].violated
    assert not short[LAWS].violated


def test_writing_to_the_data_is_a_violation():
    class Writes(Calls):
        def draw(self, dataset, n_draws, *, rng):
            dataset.X[:] = 2.0
            return rng.standard_normal((n_draws, 1))

    findings, conduct = contract_findings(Subject(Writes(noise)), [PAIR], Budget(200, 1e-5, StreamKey(1)))
    assert findings[WRITES].violated
    assert conduct.writes


def test_too_few_draws_or_refused_data_are_not_tried():
    for findings, _ in (checked(noise, n_draws=20), checked(lambda self, c, n, rng: 1 // 0)):
        assert [finding.outcome for finding in findings[:3]] == [ContractOutcome.NOT_TRIED] * 3


def test_few_draws_still_find_a_raw_answer():
    assert checked(BROKEN["raw for one"][0], n_draws=100)[0][LAWS].violated


@pytest.mark.parametrize("n", [40, 57, 100, 1000, 3001])
def test_the_plan_adds_up(n):
    plan = CallPlan.of(n)
    assert plan.fresh + plan.used + 10 * plan.tens + plan.block == n
    assert plan.fresh % 2 == plan.used % 2 == plan.tens % 2 == 0
    assert plan.block >= n // 4


def test_the_same_budget_gives_the_same_findings():
    assert checked(noise, n_draws=200) == checked(noise, n_draws=200)


@pytest.mark.parametrize(("hits", "n", "others", "m"), [(3, 4, 0, 5), (2, 4, 2, 4), (0, 3, 4, 5), (4, 4, 5, 5)])
def test_more_hits_is_the_share_of_placements(hits, n, others, m):
    assert more_hits(hits, n, others, m) == pytest.approx(more_hits_by_counting(hits, n, others, m), rel=1e-12)


def test_tests_of_pairs_are_those_by_counting():
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 3, (6, 1)).astype(float), rng.integers(0, 3, (6, 1)).astype(float)
    members = dict(events(np.concatenate([first, second])))
    found = independent(first, second, "pairs")
    assert len(found) == len(members)
    for (p, words, _), (text, member) in zip(found, members.items(), strict=True):
        assert text in words
        assert p == pytest.approx(independence_by_permuting(member[:6].tolist(), member[6:].tolist()), rel=1e-9)


def test_p_values_over_all_labellings_are_valid():
    """Exact level: over all 70 choices of 4 of 8 rows, P(p <= a) <= a for every event and every attained a."""
    rows = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, np.nan, np.inf])[:, None]
    masks = [np.isin(np.arange(8), chosen) for chosen in itertools.combinations(range(8), 4)]
    table = np.array([[p for p, _, _ in same_law(rows, mask)] for mask in masks])
    for column in table.T:
        for level in np.unique(column):
            assert (column <= level * (1 + 1e-9)).mean() <= level * (1 + 1e-9)


def test_repeats_and_the_smallest_p_value():
    pairs, others = np.array([[1, 1]] * 5), np.array([[1, 2]] * 5)
    ((p, words, smallest),) = more_repeats(pairs, others, ("of a kind", "of another"))
    assert p == smallest == pytest.approx(1 / 252)
    assert words.startswith("5 of 5 pairs of a kind are equal, 0 of 5")
    assert Exact.of([(p, "a", smallest), (1.0, "b", smallest)]).p_value == pytest.approx(2 / 252)
    assert Exact.of([]).smallest == 1.0


def test_rows_are_equal_by_their_bits():
    rows = np.array([[0.0, np.nan], [-0.0, np.nan], [0.0, 1.0]])
    assert row_ids(rows).tolist() in ([0, 0, 1], [1, 1, 0])
