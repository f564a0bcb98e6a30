"""The one examination of mechanisms whose calls may be open together: what refutes them, and what must not."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from oracles.audits.open_doors import OpenDoor, ends, laplace
from scipy import stats

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import audit_claim
from audits.black_box.claims import point_claim
from audits.examination.examine_pair import FEW, PairWork, examine_pair
from audits.examination.examined import Demand
from audits.examination.examined_claim import MISCOUNTED, examine
from audits.examination.recorded import Recorded
from audits.harness.calls import CallEnded, Deadline, NoAnswer
from audits.harness.open_subject import FIRST_TRY, subject_of
from audits.harness.output_leaves import Refusal
from audits.harness.returned import WrongRows
from audits.search.pairs import PublicDomain, examination_pairs
from audits.search.worst_case import NamedPair
from audits.verdict import Decision, Ground
from mechanisms import Dataset, NeighbouringPair, Relation

CLAIM = point_claim(1.0, 0.0)
PAIRS = examination_pairs(PublicDomain(1, 1.0, 1.0), Relation.ADD, count=12)
ONE = NeighbouringPair.add(Dataset(np.ones((2, 1)), np.array([0.25, 0.5]), 1.0, 1.0), [1.0], 1.0)
HONEST, HALF = laplace(1.0), laplace(0.5)


def run(door, n_draws=2_000, seed=1, failure_prob=1e-4, **more):
    given = {"wanted": 2, "demand": Demand(2, n_draws // 2)} | more
    return examine(door, PAIRS, CLAIM, Budget(n_draws, failure_prob, StreamKey(seed)), **given)


def pair_of(door, n_draws=2_000, seed=1, failure_prob=1e-4, deadline=None):
    budget = Budget(n_draws, failure_prob, StreamKey(seed))
    return examine_pair(PairWork(door, "a pair", ONE, CLAIM, budget, deadline=deadline))


def refuted(found):
    return any(witness.refutes for witness in found.witnesses)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_the_record_is_the_same_for_any_concurrency(scale):
    found = [run(OpenDoor(laplace(scale), concurrency=c, pause=1e-4)) for c in (1, 8)]
    assert found[0].pairs == found[1].pairs
    assert found[0].contract == found[1].contract
    assert found[0].ruling().decision is (Decision.UNDECIDED if scale == 1.0 else Decision.FAIL)
    assert (found[0].missing == "") is (scale == 1.0)  # the claim refuted, the second pair is left out


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("batch", [1, 100])
def test_honest_doors_are_not_refuted(seed, batch):
    """Null: epsilon 1, met with equality, at 1e-4 in each of 6 runs."""
    found = run(OpenDoor(HONEST, concurrency=8, batch=batch), seed=seed)
    assert found.ruling(attested=True).ground is Ground.NO_VIOLATION
    assert not found.violations
    assert not found.stopped


@pytest.mark.parametrize("batch", [1, 100])
def test_half_the_noise_is_refuted_whatever_the_batch_and_where_nothing_repeats(batch):
    own = np.random.default_rng(1)  # one call at a time draws from it
    door = OpenDoor(lambda self, d, n, rng: HALF(self, d, n, own), batch=batch, concurrency=1, reproducible=False)
    found = run(door)
    assert found.ruling().decision is Decision.FAIL
    assert not found.conduct.reproducible


def late(calls):
    return ends("timeout", lambda self, d, n, rng: calls(len(self.log.calls), d), HONEST)


@pytest.mark.parametrize("seed", range(3))
def test_timeouts_of_a_burdened_service_do_not_refute_an_honest_mechanism(seed):
    """Null: epsilon 1; which calls are late depends on when they are made, in long rows, and on nothing else."""
    bodies = (
        late(lambda i, d: i % 700 > 500),
        late(lambda i, d: 150 < i < 400),
        late(lambda i, d: i < 30 or i % 50 == 0),
    )
    for body in bodies:
        assert not refuted(pair_of(OpenDoor(body, concurrency=8), seed=seed))


def test_calls_of_one_data_set_after_those_of_the_other_would_refute_what_is_true():
    """Why the order is random: the second of the services above, asked in the order of the data sets."""

    class InTurn:
        """A source without ``draw_both``: a sample of one data set, then of the other."""

        def __init__(self, encoded):
            self.name, self.draw = encoded.name, encoded.draw

    tested = []
    for together in (False, True):
        subject = subject_of(OpenDoor(late(lambda i, d: 150 < i < 400), concurrency=8, batch=1))
        encoded = subject.encoded(ONE.first, ONE.second, StreamKey(1))
        view = Recorded(encoded if together else InTurn(encoded), ONE, 500, StreamKey(1)).view()
        tested.append(audit_claim(view, ONE, CLAIM.black_box(), Budget(1_000, 1e-4, StreamKey(2))).refuted)
    assert tested == [True, False]


def test_timeouts_of_one_data_set_alone_refute():
    always = late(lambda i, d: d is ONE.second)
    often = late(lambda i, d: d is ONE.second and i % 3 == 0)
    for body in (always, often):
        assert refuted(pair_of(OpenDoor(body, concurrency=8)))


def test_an_exit_or_an_error_line_of_one_data_set_alone_refutes():
    exits = ends("exit 3", lambda self, d, n, rng: d is ONE.first, HONEST)

    def errs(self, dataset, n, rng):
        return [Refusal("error")] * n if dataset is ONE.first else HONEST(self, dataset, n, rng)

    for body, draws in ((exits, FEW), (errs, 1_000)):  # an exit may cost the start of a process: a few are enough
        found = pair_of(OpenDoor(body, concurrency=8))
        assert refuted(found)
        assert found.drawn.draws == draws
        assert found.refused[0]
        assert not found.refused[1]


def test_where_a_few_draws_do_not_tell_the_rest_is_asked_for():
    """A pilot of which one data set alone was refused, by chance, as it were: 40 exits and no more."""
    left = itertools.count()
    body = ends("exit 3", lambda self, d, n, rng: d is ONE.first and next(left) < 42, HONEST)
    found = pair_of(OpenDoor(body, concurrency=1))
    assert found.refused == ("exit 3", "")
    assert not refuted(found)
    assert found.drawn.draws == FEW + 1_000
    test = next(w for w in found.witnesses if w.about == "black box: the claim")
    assert test.estimate.failure_prob <= 0.5e-4


#: Probability of an exit: e times as large for one data set, which epsilon = 1 allows.
EXITS = {id(ONE.first): 0.05, id(ONE.second): 0.05 * float(np.exp(-1.0))}


def exits_at_random(self, dataset, n, rng):
    """Refuse some draws at random by an exit, so that a call for many draws says something about all of them."""
    if (rng.random(n) < EXITS[id(dataset)]).any():
        raise CallEnded("exit 3")
    return rng.laplace(0.0, 1.0, n).tolist()


@pytest.mark.parametrize("seed", range(2))
def test_exits_at_random_that_the_claim_allows_do_not_refute(seed):
    """Null: epsilon 1, met with equality by the event of an exit, at 0.01 in each of 2 runs."""
    encoded = subject_of(OpenDoor(exits_at_random, batch=10)).encoded(ONE.first, ONE.second, StreamKey(seed))
    recorded = Recorded(encoded, ONE, 2_000, StreamKey(seed))
    assert encoded.one_by_one == (recorded.share == 1.0)
    budget = Budget(4_000, 0.01 * recorded.share, StreamKey(9))
    assert not audit_claim(recorded.view(), ONE, CLAIM.black_box(), budget).refuted


def test_single_draws_in_place_of_calls_that_ended_would_refute_what_is_true():
    """Why a sample is begun again: the same mechanism, mixed, at 0.01 against what is false of it.

    Calls of ten end with probabilities 0.40 and 0.17; with single draws in their place, an exit has 0.020 and 0.0031,
    which is e^1.9 to 1.
    """
    subject = subject_of(OpenDoor(exits_at_random, batch=10))
    parts, whole = subject.of_both((ONE.first, ONE.second), subject.plan(6_000), StreamKey(1))
    assert not whole
    hits = [sum(isinstance(o, Refusal) for part in side if isinstance(part, list) for o in part) for side in parts]
    assert stats.binomtest(hits[0], sum(hits), np.e / (1 + np.e), "greater").pvalue < 0.01


def test_the_first_calls_of_processes_are_a_violation_and_not_more():
    """Two calls in a thousand begin a process: no event of a sample shows it, the contract does."""

    def body(self, dataset, n, rng):
        return [float(dataset.y.sum())] * n if self.calls <= 1 else HONEST(self, dataset, n, rng)

    found = run(OpenDoor(body, concurrency=4))
    assert any(finding.name == "one law whatever the call" for finding in found.violations)


def test_no_answer_ends_the_examination_in_its_own_words_and_what_was_refuted_stays():
    words = "a request for 1 draw got no answer in 60 s (mechanism.timeout)"
    asked = itertools.count()

    def body(self, dataset, n, rng):
        if next(asked) > 450:
            raise NoAnswer(words)
        return HALF(self, dataset, n, rng)

    door = OpenDoor(body, concurrency=4)
    found = run(door, complete=True)
    assert found.stopped == words
    assert found.unreached.endswith(f"of 2 pairs of data sets were not reached: {words}")
    assert found.ruling().decision is Decision.FAIL
    assert len(found.pairs) == 1
    assert words in found.missing
    asked = itertools.count(10**6)
    found = run(OpenDoor(body))
    assert found.unreached == f"no pair of data sets was reached: {words}"
    assert found.ruling().ground is Ground.NOT_TESTED


def test_a_pair_whose_calls_are_open_when_the_time_comes_is_thrown_away_whole():
    never = threading.Event()

    def body(self, dataset, n, rng):
        if len(self.log.calls) > 150:
            never.wait()
        return HALF(self, dataset, n, rng)

    door = OpenDoor(body, concurrency=4)
    try:
        found = pair_of(door, deadline=Deadline(1.0, lambda: float(len(door.log.calls) >= 154)))
        assert not found.reached
        assert found.witnesses == ()
        assert found.stopped == ""
    finally:
        never.set()


def test_a_sample_that_may_be_begun_again_has_its_share_of_the_failure_probability():
    found = [pair_of(OpenDoor(HONEST, batch=batch)) for batch in (1, 100)]
    single, several = (next(w for w in each.witnesses if w.about == "black box: the claim") for each in found)
    assert several.estimate.failure_prob == pytest.approx(FIRST_TRY * single.estimate.failure_prob)


@pytest.mark.parametrize("max_draws", [300, 1_500, 5_000])
def test_no_more_draws_are_made_than_asked_for(max_draws):
    door = OpenDoor(HONEST, concurrency=8)
    found = run(door, n_draws=8_000, max_draws=max_draws)
    assert sum(n for _, n in door.log.calls) <= max_draws
    assert found.ruling().decision is not Decision.FAIL
    assert "pairs" in found.missing


@pytest.mark.parametrize("seed", range(5))
def test_where_nobody_knows_whether_rows_are_independent_each_draw_is_a_call(seed):
    """Null: epsilon 1 for each output of a door that gives one noise for a whole call, at 1e-4 in each of 5 runs.

    100 draws of one call would be 100 copies of one output. So few draws do not show it: the contract is not tried.
    """
    shared = OpenDoor(lambda self, d, n, rng: HONEST(self, d, 1, rng) * n, concurrency=2)
    found = run(shared, seed=seed, n_draws=8_000, max_draws=500)
    assert found.ruling().ground is Ground.NOT_TESTED
    assert [finding.outcome.name for finding in found.contract[:3]] == ["NOT_TRIED"] * 3
    half = OpenDoor(HALF, concurrency=2)
    found = run(half, seed=seed, failure_prob=0.01, n_draws=8_000, max_draws=500)
    assert found.ruling().decision is Decision.FAIL
    assert sum(n for _, n in half.log.calls) <= 500


def test_no_text_of_a_mechanism_about_private_data_is_shown():
    secret = f"row {0.123456} is odd"

    def raises(self, dataset, n, rng):
        raise RuntimeError(secret)

    def errs(self, dataset, n, rng):
        return [Refusal("error", secret)] * n

    for body, kind in ((raises, "RuntimeError"), (errs, "error")):
        sided = lambda self, d, n, rng, body=body: (body if d.n_records < 3 else HONEST)(self, d, n, rng)  # noqa: E731
        for given in (body, sided):
            own = [NamedPair("own", ONE)]
            found = examine(OpenDoor(given), own, CLAIM, Budget(400, 1e-4, StreamKey(1)))
            shown = f"{found!r} {found.pairs} {found.missing} {found.contract}"
            assert "0.123456" not in shown
            assert kind in shown


def test_a_door_that_miscounts_was_not_examined_and_may_be_refuted():
    """Whose line is whose nobody knows: what a late line says may have been taken for another data set's output."""

    def miscounts(law):
        def body(self, dataset, n_draws, rng):
            if rng.random() < 0.2:
                raise WrongRows("got 2 lines for 1 draw")
            return law(self, dataset, n_draws, rng)

        return body

    found = run(OpenDoor(miscounts(HONEST)))
    assert found.ruling().ground is Ground.NOT_TESTED
    assert found.missing == MISCOUNTED
    assert run(OpenDoor(miscounts(laplace(0.25)))).ruling().decision is Decision.FAIL
