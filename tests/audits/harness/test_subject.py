"""A guarded mechanism: copies of the data, exceptions as outputs, the same calls for every data set."""

from __future__ import annotations

import random
import threading
import warnings

import numpy as np
import pytest

from audits import StreamKey
from audits.harness.calls import global_state
from audits.harness.guarded_subject import FRESH, Subject, call_plan
from audits.harness.output_leaves import SYMBOLS, Refusal
from audits.search.pairs import BlackBoxPair, RawDataset
from mechanisms import Dataset, Relation

KEY = StreamKey(3, ("subject",))
SMALL = Dataset(np.ones((2, 1)), np.array([0.25, 0.5]), 1.0, 1.0)
LARGE = Dataset(np.ones((3, 1)), np.array([0.25, 0.5, 1.0]), 1.0, 1.0)


class Mechanism:
    """``body(self, dataset, n_draws, rng)`` as a mechanism."""

    name = "of a test"

    def __init__(self, body):
        self.body, self.calls = body, []

    def draw(self, dataset, n_draws, *, rng):
        self.calls.append(n_draws)
        return self.body(self, dataset, n_draws, rng)


def normal(self, dataset, n, rng):
    return dataset.y.sum() + rng.standard_normal((n, 1))


def encoded(body, first=SMALL, second=LARGE, **options):
    subject = Subject(Mechanism(body))
    return subject, subject.encoded(first, second, KEY, **options)


def drawn(source, dataset, n=300, seed=1):
    return source.draw(dataset, n, rng=np.random.default_rng(seed))


def test_draws_are_the_numbers_of_the_mechanism_and_repeat_under_one_rng():
    _, source = encoded(normal)
    rows = drawn(source, SMALL)
    assert rows.shape == (300, 1)
    assert source.plain
    assert source.refusals == (None, None)
    assert np.array_equal(rows, drawn(source, SMALL))
    assert not np.array_equal(rows, drawn(source, SMALL, seed=2))
    assert source.drawn == (900, 0)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 50, 1000, 123_457])
@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_plan_makes_exactly_the_draws_asked_for(n, one_by_one):
    plan = list(call_plan(n, one_by_one=one_by_one))
    assert sum(call.n_draws for call in plan) == n
    assert sum(call.fresh for call in plan) <= FRESH
    assert all(call.n_draws > 0 for call in plan)
    if one_by_one:
        assert all(call.n_draws == 1 for call in plan)
    elif n >= 1000:
        assert {1, 10} < {call.n_draws for call in plan}


@pytest.mark.parametrize(
    "body",
    [
        lambda self, d, n, rng: np.zeros((n, 1)) if n == 1 else normal(self, d, n, rng),
        lambda self, d, n, rng: np.zeros((n, 1)) if n <= 10 else normal(self, d, n, rng),
        lambda self, d, n, rng: np.r_[np.zeros((1, 1)), normal(self, d, n, rng)[1:]],
        lambda self, d, n, rng: np.zeros((n, 1)) if len(self.calls) <= 2 else normal(self, d, n, rng),
        lambda self, d, n, rng: np.zeros((n, 1)) if len(self.calls) > 60 else normal(self, d, n, rng),
    ],
    ids=["one", "ten", "first row", "first calls", "later calls"],
)
def test_what_only_some_calls_answer_is_seen_often_enough(body):
    """At least 22 hits refute epsilon 1 at 1e-3 when the other data set has none."""
    _, source = encoded(body)
    assert (drawn(source, SMALL, 10_000) == 0).sum() >= 22


def test_the_data_set_is_a_copy_that_may_be_written_to_and_that_is_told():
    def writes(self, dataset, n, rng):
        total = dataset.y.sum()
        dataset.y[:] = 0.0
        return np.full((n, 1), total)

    subject, source = encoded(writes)
    assert np.unique(drawn(source, SMALL)).tolist() == [0.75]
    assert SMALL.y.tolist() == [0.25, 0.5]
    assert subject.ledger.wrote
    assert not encoded(normal)[0].ledger.wrote


def test_a_large_data_set_is_copied_anew_after_it_was_written_to():
    big = Dataset(np.ones((20_000, 1)), np.full(20_000, 0.5), 1.0, 1.0)

    def writes(self, dataset, n, rng):
        total = dataset.y.sum() + dataset.X[0, 0]
        if n == 1:
            dataset.X[0] = 7.0
        return np.full((n, 1), total)

    subject, source = encoded(writes, big, big)
    assert np.unique(drawn(source, big)).tolist() == [10_001.0]
    assert subject.ledger.wrote


def test_a_random_refusal_is_one_outcome_of_each_draw():
    """Null: a share of 0.3 of 4000 draws is refused; an exact binomial interval at 1e-6 is within 0.04."""

    def refuses(self, dataset, n, rng):
        if (rng.random(n) < 0.3).any():
            raise ValueError("secret 0.25")
        return rng.standard_normal((n, 1))

    subject, source = encoded(refuses)
    rows = drawn(source, SMALL, 4000)
    assert abs((rows >= SYMBOLS).mean() - 0.3) < 0.04
    assert source.refusals == (None, None)
    assert not source.plain
    assert "secret" not in repr(source.subject.ledger)
    assert subject.ledger.wrong_rows == 0


def test_a_data_set_that_is_always_refused_is_one_symbol_and_costs_nothing():
    def refuses(self, dataset, n, rng):
        if dataset.n_records < 3:
            raise ValueError("secret 0.25")
        return normal(self, dataset, n, rng)

    subject, source = encoded(refuses)
    before = subject.ledger.evaluations
    rows = drawn(source, SMALL, 10_000)
    assert subject.ledger.evaluations == before
    assert len(np.unique(rows)) == 1
    assert rows[0, 0] >= SYMBOLS
    assert source.refusals == (Refusal("ValueError"), None)
    assert str(source.refusals[0]) == "ValueError"
    assert source.drawn == (0, 0)


def test_a_refusal_of_public_data_says_why():
    def refuses(self, dataset, n, rng):
        raise ValueError("needs 8 records\nand more")

    public = Dataset(SMALL.X, SMALL.y, 1.0, 1.0, public=True)
    assert str(Subject(Mechanism(refuses)).refusal(public, KEY)) == "ValueError: needs 8 records"
    assert Subject(Mechanism(normal)).refusal(public, KEY) is None


def test_a_refusal_that_may_be_random_is_drawn_every_time():
    """Refused with probability 0.99 after a random number was asked for: never taken for certain."""

    def refuses(self, dataset, n, rng):
        if dataset.n_records < 3 and (rng.random(n) < 0.99).any():
            raise ValueError
        return normal(self, dataset, n, rng)

    subject, source = encoded(refuses)
    before = subject.ledger.evaluations
    rows = drawn(source, SMALL, 2000)
    assert subject.ledger.evaluations - before >= 2000
    assert 0 < (rows < SYMBOLS).sum() < 100


def test_calls_that_return_another_number_of_rows_are_made_one_by_one():
    subject, source = encoded(lambda self, d, n, rng: rng.standard_normal(1))
    assert len(np.unique(drawn(source, SMALL))) == 300
    assert subject.ledger.wrong_rows > 0


def test_stopping_is_not_an_output():
    def stops(self, dataset, n, rng):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoded(stops)


def test_global_generators_are_reseeded_for_each_call_and_put_back():
    def old(self, dataset, n, rng):
        return np.random.standard_normal((n, 1)) + random.random()  # noqa: NPY002

    before = global_state()
    _, source = encoded(old)
    rows = drawn(source, SMALL)
    assert global_state() == before
    assert np.array_equal(rows, drawn(source, SMALL))
    assert len(np.unique(rows)) == 300


def test_a_warning_is_no_output():
    def warns(self, dataset, n, rng):
        warnings.warn("close to singular", RuntimeWarning, stacklevel=1)
        return normal(self, dataset, n, rng)

    assert encoded(warns)[1].plain


def test_a_mechanism_that_cannot_be_copied_is_used_as_it_is():
    mechanism = Mechanism(normal)
    mechanism.lock = threading.Lock()
    subject = Subject(mechanism)
    assert subject.new() is mechanism
    assert Subject(mechanism, fresh=lambda: Mechanism(normal)).new() is not mechanism


def test_a_subject_must_draw():
    with pytest.raises(TypeError, match=r"mechanism must be an object of a class with the method draw\(self"):
        Subject(object())


def test_only_the_two_data_sets_of_the_layout_can_be_drawn_from():
    _, source = encoded(normal)
    with pytest.raises(ValueError, match="dataset must be one of the two"):
        drawn(source, Dataset(SMALL.X, SMALL.y, 1.0, 1.0))


def test_rows_are_shuffled():
    """Single calls come first in the plan; in the sample they are anywhere."""
    _, source = encoded(lambda self, d, n, rng: np.full((n, 1), float(n)))
    places = np.flatnonzero(drawn(source, SMALL, 1000)[:, 0] == 1.0)
    assert places.max() > 500


def test_pairs_that_no_neighbouring_pair_can_hold_show_no_cell():
    pair = BlackBoxPair(
        RawDataset(np.array([[0.123]]), np.array([np.nan]), 1.0, 1.0), SMALL, Relation.ADD, "two more", distance=2
    )
    assert "0.123" not in repr(pair)
    assert (pair.first.n_records, pair.first.dim) == (1, 1)
    assert "0.123" not in repr(pair.first)
    subject = Subject(Mechanism(lambda self, d, n, rng: np.full((n, 1), np.isnan(d.y).sum())))
    assert drawn(subject.encoded(pair.first, pair.second, KEY), pair.first).sum() == 300
    assert not subject.ledger.wrote


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RawDataset(np.ones(2), np.ones(2), 1.0, 1.0), "X must have 2 axes"),
        (lambda: RawDataset(np.ones((2, 1)), np.ones(3), 1.0, 1.0), "y must have shape"),
        (lambda: BlackBoxPair(SMALL, LARGE, Relation.ADD, "", 0), "distance must be"),
    ],
)
def test_what_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
