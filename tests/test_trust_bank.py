"""The bank itself: what is called broken breaks its claim on a named pair, what is called honest keeps it."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter

import numpy as np
import pytest
from oracles.trust_bank import BROKEN, CLASSES, ENTRIES, HONEST, ZOO, Entry
from oracles.trust_bank.families import over_families
from oracles.trust_bank.leaks import draw, leak_of, more, plain, replaced
from scipy.stats import beta

from mechanisms import BOTH

#: Of each end of each interval; about 450 of them are looked at.
FAILURE_PROB = 1e-9


def interval(hits: int, n: int) -> tuple[float, float]:
    """The Clopper-Pearson interval, each end at FAILURE_PROB."""
    low = beta.ppf(FAILURE_PROB, hits, n - hits + 1) if hits else 0.0
    high = beta.isf(FAILURE_PROB, hits + 1, n - hits) if hits < n else 1.0
    return float(low), float(high)


def test_the_bank_is_large_and_covers_every_class() -> None:
    counts = Counter(entry.klass for entry in BROKEN)
    assert len(BROKEN) >= 64
    assert set(counts) | {0} == set(CLASSES)
    assert min(counts.values()) >= 8
    assert len(HONEST) >= 14
    assert len(ENTRIES) == len(BROKEN) + len(HONEST) + len(ZOO)
    assert all(entry.why for entry in ENTRIES.values())


@over_families(BROKEN)
def test_a_broken_mechanism_breaks_its_claim(entry: Entry) -> None:
    """Known probabilities break the claim and lie in the exact intervals of draws; unknown ones do so by the ends."""
    leak = leak_of(entry.name)
    rng = np.random.default_rng(20210527)
    found = []
    for dataset in leak.pair:
        events = leak.event(draw(entry, leak, dataset, rng))
        assert events.shape == (leak.n,)
        found.append(interval(int(events.sum()), leak.n))
    (p_low, p_high), (q_low, q_high) = found
    if leak.p is None or leak.q is None:
        assert entry.claim.excess(p_low, q_high) > 0
    else:
        assert p_low <= leak.p <= p_high
        assert q_low <= leak.q + 1e-12
        assert leak.q - 1e-12 <= q_high
        assert entry.claim.excess(leak.p, leak.q) > 0


@pytest.mark.slow
@over_families(BROKEN)
def test_the_two_data_sets_of_a_leak_are_neighbours_in_the_public_domain(entry: Entry) -> None:
    first, second = (
        Counter(tuple(row) for row in np.round(np.column_stack([each.X, each.y]), 12))
        for each in leak_of(entry.name).pair
    )
    away, came = (first - second).total(), (second - first).total()
    steps = max(away, came) if entry.relation == "replace" else away + came
    assert 1 <= steps <= entry.claim.group
    assert min(first.total(), second.total()) >= entry.n_min
    assert max(first.total(), second.total()) <= 10_000


def loaded(entry: Entry):
    """The mechanism as ``certify`` makes it: from the file alone."""
    spec = importlib.util.spec_from_file_location(f"bank_{entry.path.stem}", entry.path)
    assert spec is not None
    assert spec.loader is not None
    if spec.name not in sys.modules:
        sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[spec.name])
    return getattr(sys.modules[spec.name], entry.origin.partition(":")[2])(**entry.parameters)


@over_families(ENTRIES.values())
def test_a_mechanism_stands_alone_in_its_file(entry: Entry) -> None:
    made = loaded(entry)
    assert callable(made.draw)
    assert isinstance(made.name, str)


@over_families([entry for entry in HONEST if entry.law])
def test_the_stated_law_of_an_honest_one_keeps_the_claim(entry: Entry) -> None:
    """The worst profile is at most the claim, and the two densities' ratio breaks it on no draw's event."""
    made, claim = entry.factory(), entry.claim
    worst = made.worst_profile(entry.x_bound, entry.y_bound)
    if claim.type == "point":
        assert max(worst.delta_bracket(claim.epsilon, d).high for d in BOTH) <= claim.delta + 1e-15
    else:
        assert worst.mu <= claim.mu
    pair = replaced(entry) if entry.relation == "replace" else more(entry, 8)
    outputs = made.draw(pair[0], 4000, rng=np.random.default_rng(3))
    loss = made.log_density(outputs, pair[0]) - made.log_density(outputs, pair[1])
    assert loss.shape == (4000,)
    excess = np.mean(np.maximum(0.0, -np.expm1(claim.epsilon - loss)))
    allowed = max(worst.delta_bracket(claim.epsilon, d).high for d in BOTH)
    assert excess <= allowed + np.sqrt(np.log(1e9) / (2 * 4000))  # Hoeffding: terms in [0, 1], failure 1e-9


@over_families(HONEST)
def test_an_honest_one_answers_whatever_lies_in_its_domain(entry: Entry) -> None:
    made = entry.factory()
    if entry.name == "slow-fit":
        made.seconds = 0.0
    for n in (max(entry.n_min, n) for n in (0, 1, 30)):
        assert len(made.draw(plain(entry, n), 7, rng=np.random.default_rng(3))) == 7


@over_families([entry for entry in BROKEN if entry.claim.type == "point"])
def test_the_author_of_a_broken_one_states_what_would_pass(entry: Entry) -> None:
    """Otherwise it would be refused for what it says, and not for what it does."""
    worst = entry.factory().worst_profile(entry.x_bound, entry.y_bound)
    assert max(worst.delta_bracket(entry.claim.epsilon, d).high for d in BOTH) <= entry.claim.delta
