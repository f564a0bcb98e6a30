"""Calls that are open together: the same outputs for any concurrency, in a random order that knows no output."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audits.open_doors import OpenDoor, ends, laplace, one_after_the_other
from scipy import stats

from audits import Budget, StreamKey
from audits.harness.calls import CallEnded, Deadline, NoAnswer, OpenCall, OutOfTime, global_state, open_calls
from audits.harness.contract import FRESH_PROCESSES, CallPlan, ContractOutcome, Sample, _split, contract_findings
from audits.harness.guarded_subject import Call, Ledger, Subject, call_plan
from audits.harness.open_subject import FIRST_TRY, FRESH_IN_PAIR, OpenSubject, subject_of
from audits.harness.output_leaves import SYMBOLS, Refusal
from audits.harness.returned import WrongRows
from mechanisms import Dataset, NeighbouringPair
from mechanisms.numerics.ticks import listening

KEY = StreamKey(5, ("open",))
PAIR = NeighbouringPair.add(Dataset(np.ones((2, 1)), np.array([0.25, 0.5]), 1.0, 1.0), [1.0], 1.0)
SMALL, LARGE = PAIR.first, PAIR.second
CENTRES = {id(SMALL): 0.75, id(LARGE): 1.75}


def sourced(door, key=KEY, **options):
    return subject_of(door).encoded(SMALL, LARGE, key, **options)


def sampled(door, n_each=300, key=KEY):
    return sourced(door, key).draw_both(n_each, key.child("sample"))


def flat(parts):
    return [value for part in parts for value in (part if isinstance(part, list) else part.values[:, 0].tolist())]


def test_a_door_is_known_by_what_it_has():
    class Sum:
        name = "here"

        def draw(self, dataset, n_draws, *, rng):
            return rng.standard_normal((n_draws, 1))

    door = OpenDoor(laplace(1.0))
    assert open_calls(door) is door
    assert open_calls(Sum()) is None
    assert type(subject_of(Sum())) is Subject
    assert isinstance(subject_of(door), OpenSubject)


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_outputs_are_those_of_calls_one_after_the_other(concurrency):
    """The literal twin makes each call in this thread; random refusals and ill-sized answers are among them."""

    def body(self, dataset, n, rng):
        values = laplace(1.0)(self, dataset, n, rng)
        if max(values) > 4:
            raise CallEnded("exit 3")
        return values

    sizes = np.random.default_rng(3).integers(1, 30, size=60).tolist()
    wanted = [OpenCall(PAIR.first if i % 2 else PAIR.second, n, i % 7 == 0, i) for i, n in enumerate(sizes)]
    expected = one_after_the_other(OpenDoor(body), wanted)
    door = OpenDoor(body, concurrency=concurrency, pause=1e-3)
    made = subject_of(door).ask(wanted, KEY.rng())
    assert [flat(parts) for parts in made.parts] == expected
    assert not made.whole
    assert any(isinstance(value, Refusal) for parts in expected for value in parts)
    assert door.log.most_open == concurrency


@pytest.mark.parametrize("batch", [1, 2, 7, 100])
def test_samples_are_the_same_for_any_concurrency_and_no_call_is_larger_than_a_batch(batch):
    runs = []
    for concurrency in (1, 8):
        door = OpenDoor(laplace(1.0), concurrency=concurrency, batch=batch, pause=2e-4)
        first, second, share = sampled(door)
        assert first.shape == second.shape == (300, 1)
        assert share == (1.0 if batch == 1 else FIRST_TRY)
        assert max(n for _, n in door.log.calls) <= batch
        assert door.log.most_open <= concurrency
        assert door.log.started == 2 * FRESH_IN_PAIR
        assert len(np.unique(np.concatenate([first, second]))) == 600
        findings, conduct = contract_findings(subject_of(door), [PAIR], Budget(600, 1e-5, KEY))
        assert max(n for _, n in door.log.calls) <= batch
        runs.append((first.tobytes(), second.tobytes(), findings, conduct))
    assert runs[0] == runs[1]


def test_the_data_are_handed_over_as_they_are_and_no_generator_of_this_process_is_touched():
    before = global_state()
    seen = []
    door = OpenDoor(lambda self, d, n, rng: (seen.append(global_state() == before), rng.normal(size=n).tolist())[1])
    sampled(door)
    assert all(dataset is SMALL or dataset is LARGE for dataset, _ in door.log.calls)
    assert all(seen)
    assert global_state() == before


def sides(door):
    return [dataset is LARGE for dataset, _ in door.log.calls]


def test_calls_of_both_data_sets_are_in_a_random_order():
    """Null: every order of the plan is equally likely.

    Over 300 keys: of how often the first call, and the tenth, is of the second data set (1/2), and of how often calls
    1 and 2 are of one data set (hypergeometric), each exact two-sided at 1e-6.
    """
    firsts = tenths = alike = 0
    n_calls = 0
    for i in range(300):
        door = OpenDoor(laplace(1.0), concurrency=1)
        subject_of(door).of_both((SMALL, LARGE), [Call(1, False)] * 10, KEY.child(str(i)))
        order = sides(door)
        n_calls = len(order)
        assert sum(order) == n_calls // 2
        firsts, tenths, alike = firsts + order[0], tenths + order[9], alike + (order[0] == order[1])
    same = (n_calls / 2 - 1) / (n_calls - 1)
    for hits, p in ((firsts, 0.5), (tenths, 0.5), (alike, same)):
        assert stats.binomtest(hits, 300, p).pvalue > 1e-6


def test_the_order_does_not_depend_on_outputs_nor_on_what_is_refused():
    orders = []
    for body in (laplace(1.0), laplace(9.0), lambda self, d, n, rng: ["text"] * n):
        door = OpenDoor(body, concurrency=1)
        sampled(door)
        orders.append([(dataset is LARGE, n) for dataset, n in door.log.calls])
    assert orders[0] == orders[1] == orders[2]


def test_the_books_are_kept_by_the_thread_that_asks():
    writers = set()

    class Watched(Ledger):
        def __setattr__(self, name, value):
            writers.add(threading.get_ident())
            super().__setattr__(name, value)

    door = OpenDoor(laplace(1.0), concurrency=8, pause=1e-4)
    subject = subject_of(door)
    object.__setattr__(subject, "ledger", Watched())
    told = []
    with listening(lambda done: told.append((done, threading.get_ident()))):
        subject.encoded(SMALL, LARGE, KEY).draw_both(200, KEY)
    assert writers == {threading.get_ident()} == {thread for _, thread in told}
    assert sum(done for done, _ in told) == subject.ledger.evaluations == sum(n for _, n in door.log.calls) == 480


class Clock:
    """A clock that a test moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_call_that_is_open_when_the_time_comes_is_not_waited_for():
    clock, never = Clock(), threading.Event()

    def body(self, dataset, n, rng):
        if len(self.log.calls) > 20:
            clock.now = 11.0 * (len(self.log.calls) >= 24)  # then as many are open as may be
            never.wait()
        return laplace(1.0)(self, dataset, n, rng)

    door = OpenDoor(body, concurrency=4)
    try:
        with pytest.raises(OutOfTime):
            subject_of(door, deadline=Deadline(10.0, clock)).encoded(SMALL, LARGE, KEY).draw_both(500, KEY)
        assert len(door.log.calls) == 24
        assert door.log.closed == 1
    finally:
        never.set()


def test_no_call_is_begun_after_the_deadline():
    clock = Clock()

    def body(self, dataset, n, rng):
        clock.now += 1.0
        return laplace(1.0)(self, dataset, n, rng)

    door = OpenDoor(body, concurrency=3)
    with pytest.raises(OutOfTime):
        subject_of(door, deadline=Deadline(30.0, clock)).encoded(SMALL, LARGE, KEY).draw_both(500, KEY)
    assert 25 <= len(door.log.calls) <= 33


def test_no_answer_ends_everything_in_its_own_words_and_leaves_the_door_as_it_is():
    asked = itertools.count()

    def body(self, dataset, n, rng):
        if next(asked) >= 10:
            raise NoAnswer("a request for 1 draw got no answer in 60 s")
        return laplace(1.0)(self, dataset, n, rng)

    door = OpenDoor(body, concurrency=4)
    with pytest.raises(NoAnswer, match="no answer in 60 s"):
        sampled(door)
    assert len(door.log.calls) <= 14
    assert door.log.closed == 0  # closing it would make it forget


def test_what_stops_a_call_and_is_no_exception_is_not_an_output():
    def stops(self, dataset, n, rng):
        raise SystemExit(3)

    door = OpenDoor(stops)
    with pytest.raises(SystemExit):
        sampled(door)
    assert door.log.closed == 1


def test_a_random_refusal_is_never_taken_for_a_certain_one():
    """All of the 40 draws that look first are refused, the door names one kind; 1 draw in 200 is answered."""
    answered = itertools.count()

    def body(self, dataset, n, rng):
        if dataset is LARGE:
            return laplace(1.0)(self, dataset, n, rng)
        return [0.5 if next(answered) % 200 == 199 else Refusal("error") for _ in range(n)]

    subject = subject_of(OpenDoor(body, concurrency=1))
    source = subject.encoded(SMALL, LARGE, KEY)
    assert source.refusals == (Refusal("error"), None)
    assert source.constant == (None, None)
    first, _, _ = source.draw_both(2000, KEY)
    assert (first == 0.5).sum() == 10
    assert source.drawn == (2000, 2000)


@pytest.mark.parametrize("at", ["pilot", "sample", "never"])
def test_a_sample_of_which_a_call_could_not_be_made_is_begun_again_draw_by_draw(at):
    """A pilot of 80 draws in 34 calls of its own; what it shows costs nothing, what the sample shows its share."""
    begins = {"pilot": 0, "sample": 40, "never": 10**9}[at]
    door = OpenDoor(ends("exit 3", lambda self, d, n, rng: n > 1 and len(self.log.calls) > begins, laplace(1.0)))
    source = sourced(door)
    start = len(door.log.calls)
    first, second, share = source.draw_both(400, KEY)
    assert share == {"pilot": 1.0, "sample": pytest.approx(1 - FIRST_TRY), "never": FIRST_TRY}[at]
    singles = sum(n == 1 for _, n in door.log.calls[start:])
    assert singles >= 800 if at != "never" else singles < 200
    assert (np.concatenate([first, second]) < SYMBOLS).all()


def test_single_calls_that_end_are_outputs_of_their_own_kind():
    door = OpenDoor(ends("exit 3", lambda self, d, n, rng: d is SMALL, laplace(1.0)))
    source = sourced(door)
    assert str(source.refusals[0]) == "exit 3"
    first, second, share = source.draw_both(100, KEY)
    assert len(np.unique(first)) == 1
    assert (first >= SYMBOLS).all()
    assert (second < SYMBOLS).all()
    assert share == 1.0


def test_wrong_numbers_of_lines_are_counted_and_made_one_by_one():
    def body(self, dataset, n, rng):
        if n > 1:
            raise WrongRows("an answer must have a line for each draw")
        return laplace(1.0)(self, dataset, n, rng)

    subject = subject_of(OpenDoor(body))
    findings, _ = contract_findings(subject, [PAIR], Budget(400, 1e-5, KEY))
    assert findings[-1].violated
    assert subject.ledger.wrong_rows > 0


@pytest.mark.parametrize("public", [True, False])
def test_the_text_of_an_error_is_shown_for_public_data_only(public):
    data = Dataset(SMALL.X, SMALL.y, 1.0, 1.0, public=public)
    bodies = [
        lambda self, d, n, rng: [Refusal("error", "row 0.25 is odd")] * n,
        ends("exit 3", lambda *_: True, laplace(1.0)),
        lambda self, d, n, rng: (_ for _ in ()).throw(RuntimeError("row 0.25 is odd")),
    ]
    words = [str(subject_of(OpenDoor(body)).refusal(data, KEY)) for body in bodies]
    shown = "error: row 0.25 is odd", "exit 3: exit 3", "RuntimeError: row 0.25 is odd"
    assert words == (list(shown) if public else ["error", "exit 3", "RuntimeError"])


def test_data_sets_that_are_accepted_cost_a_call_and_refused_ones_six():
    door = OpenDoor(ends("exit 3", lambda self, d, n, rng: d is SMALL, laplace(1.0)))
    assert [str(r) for r in subject_of(door).refusals((SMALL, LARGE), KEY)] == ["exit 3", "None"]
    assert sum(dataset is SMALL for dataset, _ in door.log.calls) == 6
    assert sum(dataset is LARGE for dataset, _ in door.log.calls) == 1


def outcomes(body, n_draws=1200, **options):
    return contract_findings(subject_of(OpenDoor(body, **options)), [PAIR], Budget(n_draws, 1e-5, KEY))


@pytest.mark.parametrize("batch", [1, 5, 100])
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_raw_answer_to_the_first_call_of_each_process_is_a_violation(concurrency, batch):
    def body(self, dataset, n, rng):
        return [CENTRES[id(dataset)]] * n if self.calls <= 1 else laplace(1.0)(self, dataset, n, rng)

    findings, _ = outcomes(body, concurrency=concurrency, batch=batch)
    assert any(finding.violated for finding in findings)
    assert findings[2].violated


BROKEN = {
    "fixed seed": (0, lambda self, d, n, rng: laplace(1.0)(self, d, n, np.random.default_rng(1))),
    "one noise for a call": (1, lambda self, d, n, rng: laplace(1.0)(self, d, 1, rng) * n),
    "sorted": (1, lambda self, d, n, rng: sorted(laplace(1.0)(self, d, n, rng))),
    "raw for one": (2, lambda self, d, n, rng: [0.0] if n == 1 else laplace(1.0)(self, d, n, rng)),
    "half the noise for one": (2, lambda self, d, n, rng: laplace(0.2 if n == 1 else 1.0)(self, d, n, rng)),
    "first rows raw": (2, lambda self, d, n, rng: [0.0, *laplace(1.0)(self, d, n, rng)[1:]]),
    "first calls raw": (
        2,
        lambda self, d, n, rng: [0.0] * n if len(self.log.calls) < 9 else rng.normal(size=n).tolist(),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_breaches_of_a_door_are_found(name):
    place, body = BROKEN[name]
    assert outcomes(body, concurrency=2)[0][place].violated


def test_an_honest_door_keeps_the_contract_whatever_slows_its_calls():
    """Null: kept; 1e-5 in each of 12 runs. Calls 300 to 340 of a door time out, whoever made them."""
    late = ends("timeout", lambda self, d, n, rng: 300 <= len(self.log.calls) < 340, laplace(1.0))
    refusing = ends("exit 3", lambda self, d, n, rng: (rng.random(n) < 0.02).any(), laplace(1.0))
    for body, batch, reproducible in itertools.product((laplace(1.0), late, refusing), (1, 100), (True, False)):
        findings, conduct = outcomes(body, batch=batch, reproducible=reproducible, concurrency=8)
        assert not any(finding.violated for finding in findings)
        assert conduct.one_by_one == (findings[1].outcome is ContractOutcome.NOT_TRIED)
        assert conduct.one_by_one == (batch == 1 or body is refusing)
        ended = next(finding for finding in findings if finding.name == "a call for several draws is answered")
        assert ended.words.startswith("one ended") == (batch == 100 and body is refusing)
        assert all(finding.failure_prob <= 0.1e-5 for finding in findings if batch == 100 and body is refusing)


def test_a_contract_sample_of_which_a_call_ended_is_begun_again_in_single_calls():
    """The books do not depend on how many calls were open when it ended; 16 calls come first each time."""
    body = ends("exit 3", lambda self, d, n, rng: (rng.random(n) < 0.02).any(), laplace(1.0))
    runs = []
    for concurrency in (1, 8):
        door = OpenDoor(body, concurrency=concurrency, pause=1e-4)
        subject = subject_of(door)
        runs.append((contract_findings(subject, [PAIR], Budget(1200, 1e-5, KEY)), subject.ledger))
        sizes = [n for _, n in door.log.calls]
        begun = 1 + max(i for i, n in enumerate(sizes) if n >= 10)
        assert begun <= 600 < sizes[begun:].count(1)
        assert sum(sizes) <= 2 * 1200 + 2 * 3 * (3 + 3)
    assert runs[0] == runs[1]


def test_what_happens_in_another_process_is_not_reported():
    """Whether answers repeat under one seed is asked; or it is declared that they do not."""
    own = np.random.default_rng(1)
    bodies = {True: laplace(1.0), False: lambda self, d, n, rng: laplace(1.0)(self, d, n, own)}
    for declared, honest in itertools.product((True, False), (True, False)):
        findings, conduct = outcomes(bodies[honest], 200, reproducible=declared, concurrency=1)
        names = [finding.name for finding in findings]
        assert "random numbers come from rng" not in names
        assert "the data set is not written to" not in names
        fact = findings[names.index("the same rng gives the same outputs")]
        assert fact.outcome is ContractOutcome.OK
        assert fact.words.startswith("declared") == (not declared)
        assert conduct.reproducible == (declared and honest)


def test_a_data_set_that_the_first_calls_are_refused_for_is_asked_no_more():
    door = OpenDoor(ends("exit 3", lambda *_: True, laplace(1.0)))
    findings, _ = contract_findings(subject_of(door), [PAIR], Budget(2000, 1e-5, KEY))
    assert [finding.outcome for finding in findings[:3]] == [ContractOutcome.NOT_TRIED] * 3
    assert sum(n for _, n in door.log.calls) <= 2 * 16 + 2 * 3 * (3 + 3)


@given(st.integers(40, 3000), st.integers(1, 400))
def test_plans_of_doors_make_exactly_the_draws_and_no_call_is_too_large(n, batch):
    plan = CallPlan.of_open(n, batch)
    sizes = [call.n_draws for call in plan.calls]
    assert sum(sizes) == n == plan.fresh + plan.used + 10 * plan.tens + plan.block
    assert max(sizes) <= max(1, batch)
    assert sum(call.fresh for call in plan.calls) == plan.fresh <= FRESH_PROCESSES
    assert batch == 1 or plan.block % plan.large == 0
    pair = [call.n_draws for call in call_plan(n, most=batch, most_fresh=2)]
    assert sum(pair) == n
    assert max(pair) <= batch
    assert sum(call.fresh for call in call_plan(n, most=batch, most_fresh=2)) == 2


def test_neighbours_are_of_one_call():
    """Two large calls of seven: six pairs, and the last output of each is in none."""
    sample = Sample(np.arange(14.0)[:, None], CallPlan(0, 0, 0, 14, 2, False))
    value = dict(zip(sample.ids.tolist(), range(14), strict=True))
    pairs = [[value[i] for i in pair] for pair in _split(sample)[1].tolist()]
    assert pairs == [[0, 1], [2, 3], [4, 5], [7, 8], [9, 10], [11, 12]]
    assert sample.several == [(0, 7), (7, 14)]


def test_the_plan_in_this_process_is_what_it_was():
    """The calls of 1,200 draws: 100 in 4 times 25, the rest in one."""
    assert list(call_plan(1200)) == [Call(1, True)] * 25 + [Call(1, False)] * 25 + [Call(10, False)] * 5 + [
        Call(1100, False)
    ]
    assert CallPlan.of(1200) == (180, 180, 36, 480, 1, True)
