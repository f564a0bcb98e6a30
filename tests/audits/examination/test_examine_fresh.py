"""Draws in fresh processes: what a mechanism remembers of one data set is found, what harms nobody accuses nobody.

Each mechanism stands in a file of its own and is made by its path in each process, as ``certify`` makes it, or is an
object with which processes are forked. Of the broken ones the claim is false: in fresh processes the outputs of the two
data sets are normal with standard deviation 5 and 2 apart, mu = 0.4, so that delta(1) = 1.3e-3 against 1e-6.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.black_box.claims import PrivacyClaim, point_claim
from audits.examination.examine_fresh import FRESH_PAIRS, fresh_finding, fresh_pairs, more_than, n_fresh
from audits.examination.examined_claim import Examination, examine
from audits.harness.call_apart import forkable
from audits.harness.calls import Deadline
from audits.harness.contract import ContractFinding, ContractOutcome
from audits.search.worst_case import NamedPair
from audits.stats.intervals import clopper_pearson_band
from audits.verdict import Decision
from mechanisms import Dataset, NeighbouringPair, Relation
from verify.certificates.config.own_code import Factory, OwnCode

ONE = Dataset(np.array([[1.0, 0.0]]), np.array([1.0]), x_bound=1.0, y_bound=1.0)
PAIR = NeighbouringPair.replace(ONE, 0, [1.0, 0.0], -1.0)
FALSE, TRUE = (point_claim(epsilon, 1e-6, (Relation.REPLACE,)) for epsilon in (1.0, 2.5))
NAME = "outputs do not depend on what was called before"

MODULE = """
import functools, os
import numpy as np

SEEN, COUNT, LAST = {}, [0], []

class Stated:
    name = "noisy moment"
    def exact(self, dataset):
        return dataset.X.T @ dataset.y
    centre = exact
    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + 5.0 * rng.standard_normal((n_draws, dataset.dim))
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / 5.0).sum(axis=1)

class ByLength(Stated):
    seen = {}
    def centre(self, dataset):
        return self.seen.setdefault(len(dataset.y), self.exact(dataset))

class ByFirstRow(Stated):
    def centre(self, dataset):
        return SEEN.setdefault(dataset.X[:1].tobytes(), self.exact(dataset))

@functools.lru_cache
def moment_of(n):
    return LAST[-1].X.T @ LAST[-1].y

class ByNumber(Stated):
    def centre(self, dataset):
        LAST[:] = [dataset]
        return moment_of(len(dataset.y))

class ByFile(Stated):
    def centre(self, dataset):
        if not os.path.exists("cache.npy"):
            np.save("cache.npy", self.exact(dataset))
        return np.load("cache.npy")

class Warm(Stated):
    last = None
    def centre(self, dataset):
        exact = self.exact(dataset)
        Warm.last = exact if Warm.last is None else Warm.last + 0.5 * (exact - Warm.last)
        return Warm.last

class RunningMean(Stated):
    total, calls = 0.0, 0
    def centre(self, dataset):
        RunningMean.total, RunningMean.calls = RunningMean.total + self.exact(dataset), RunningMean.calls + 1
        return RunningMean.total / RunningMean.calls

class DrawsByLength(ByLength):
    log_density = None

class Counting(Stated):
    calls = 0
    def draw(self, dataset, n_draws, *, rng):
        Counting.calls += 1
        COUNT[0] += n_draws
        with open("calls.log", "a") as log:
            log.write(f"{n_draws}\\n")
        return super().draw(dataset, n_draws, rng=rng)

@functools.lru_cache
def moment(x, y, dim):
    return np.frombuffer(x).reshape(-1, dim).T @ np.frombuffer(y)

class ByContent(Stated):
    def centre(self, dataset):
        return moment(dataset.X.tobytes(), dataset.y.tobytes(), dataset.dim)

class Constant(Stated):
    table = np.linspace(0.0, 1.0, 7)
    def centre(self, dataset):
        return self.exact(dataset) + self.table[0]

root = functools.lru_cache(np.sqrt)

class Memoised(Stated):
    def draw(self, dataset, n_draws, *, rng):
        return self.exact(dataset) + root(25.0) * rng.standard_normal((n_draws, dataset.dim))

class ReadsFile(Stated):
    def centre(self, dataset):
        return self.exact(dataset) * np.load("weight.npy")

class Noisier(Stated):
    def draw(self, dataset, n_draws, *, rng):
        return self.exact(dataset) + 6.0 * rng.standard_normal((n_draws, dataset.dim))

class Ends(Stated):
    parent = os.getppid()
    def draw(self, dataset, n_draws, *, rng):
        if os.path.basename(os.getcwd()).startswith("tmp"):
            os._exit(3)
        return super().draw(dataset, n_draws, rng=rng)
"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Factory]:
    """What makes a mechanism of the module by its name; this process works in the module's folder."""
    (tmp_path / "remembers.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return lambda name: Factory(OwnCode(f"remembers.py:{name}", str(tmp_path)))


def examined(make: Factory, claim: PrivacyClaim = FALSE, *, held: bool = False, **more: Any) -> Examination:
    budget = Budget(20_000, 1e-4, StreamKey(1))
    given = {"make": None if held else make} | more
    return examine(make(), [NamedPair("the pair", PAIR)], claim, budget, **given)


def finding(found: Examination) -> ContractFinding:
    return next(each for each in found.contract if each.name == NAME)


@pytest.mark.parametrize("name", ["ByLength", "ByFirstRow", "ByNumber", "ByFile"])
def test_a_cache_that_takes_one_data_set_for_the_other_is_refuted(made: Any, name: str) -> None:
    """Null: the claim; level 1e-4 in all; 2,500 draws of each data set in fresh processes."""
    found = examined(made(name))
    assert found.ruling(attested=True).decision is Decision.FAIL
    (about,) = {witness.about for _, witness in found.refutations}
    assert about == "each data set in a fresh process: delta by the stated law"
    assert finding(found).outcome is ContractOutcome.VIOLATED
    assert found.violation is not None
    assert 1 < found.violation.epsilon <= 2.02  # the true epsilon at delta 1e-6 is below that
    assert "in fresh processes" in found.violation.cause


def test_an_object_is_forked_before_it_is_called(made: Any) -> None:
    assert forkable()
    found = examined(made("ByLength"), held=True)
    assert found.ruling().decision is Decision.FAIL
    assert finding(found).outcome is ContractOutcome.VIOLATED


def test_an_object_of_a_process_with_threads_is_not_forked(made: Any) -> None:
    gone = threading.Event()
    thread = threading.Thread(target=gone.wait)
    thread.start()
    try:
        found = examined(made("Stated"), held=True)
    finally:
        gone.set()
        thread.join()
    assert finding(found).outcome is ContractOutcome.NOT_TRIED
    assert "no way to make it anew" in finding(found).words


@pytest.mark.parametrize("name", ["Warm", "RunningMean", "DrawsByLength"])
def test_what_drifts_or_states_no_density_never_passes(made: Any, name: str) -> None:
    """Here the density is not that of the draws, or there is none: no number by it counts, and nothing vouches."""
    found = examined(made(name))
    assert found.ruling(attested=True).decision is not Decision.PASS
    assert found.misstated or finding(found).violated


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("name", ["Stated", "Counting", "ByContent", "Constant", "Memoised"])
def test_what_harms_nobody_is_not_accused(made: Any, name: str, held: bool) -> None:
    found = examined(made(name), TRUE, held=held)
    assert not found.refutations
    assert not found.misstatements
    assert finding(found).outcome is ContractOutcome.OK
    (pair,) = found.pairs
    assert pair.fresh is not None
    assert pair.fresh.why == ""
    assert pair.fresh.n_draws == 2_500
    about = {witness.about for witness in pair.witnesses}
    assert {"each data set in a fresh process: the claim", "second data set first: the claim"} <= about


@pytest.mark.parametrize("seed", range(4))
def test_a_true_claim_is_not_refuted_by_a_density_that_the_draws_refute_here(made: Any, seed: int) -> None:
    """6 is added where 5 is stated: delta(1) is 2.08e-4, and the claim allows 2.1e-4. By the stated density it is more,
    and 2,500 draws in fresh processes do not refute their ratio; 10,000 here refute the density."""
    make, claim = made("Noisier"), point_claim(1.0, 2.1e-4, (Relation.REPLACE,))
    found = examine(make(), [NamedPair("the pair", PAIR)], claim, Budget(20_000, 1e-4, StreamKey(seed)), make=make)
    assert found.ruling(attested=True).words == "UNDECIDED (its own statement is refuted)"


def test_the_same_key_gives_the_same_numbers_there(made: Any) -> None:
    first, second = (examined(made("Stated"), TRUE).pairs[0].witnesses for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("name", "why"), [("ReadsFile", "FileNotFoundError"), ("Ends", "without an answer")])
def test_what_answers_only_here_is_not_drawn_there_and_accuses_nobody(made: Any, name: str, why: str) -> None:
    make = made(name)
    np.save("weight.npy", 1.0)
    found = examined(make, TRUE)
    assert not found.refutations
    assert finding(found).outcome is ContractOutcome.NOT_TRIED
    assert why in finding(found).words


def test_a_bounded_number_of_draws_is_not_exceeded_there(made: Any) -> None:
    found = examined(made("Stated"), TRUE, max_draws=60_000)
    assert "the number of draws is bounded" in finding(found).words


def test_a_deadline_is_kept_there(made: Any) -> None:
    found = examined(made("Stated"), TRUE, deadline=Deadline(time.monotonic() + 600))
    assert finding(found).outcome is ContractOutcome.OK


def test_a_private_pair_is_not_drawn_there(made: Any) -> None:
    make = made("Stated")
    own = [NamedPair("own", NeighbouringPair.replace(ONE, 0, [0.0, 1.0], 1.0))]
    budget = Budget(2_000, 1e-4, StreamKey(1))
    found = examine(make(), [NamedPair("a", PAIR)], TRUE, budget, own=own, private=True, make=make)
    assert [pair.fresh is not None for pair in found.pairs] == [True, False]


def test_the_smallest_pairs_are_drawn_there() -> None:
    sets = {n: Dataset(np.ones((n, 1)), np.ones(n), x_bound=1.0, y_bound=1.0) for n in range(9, 0, -1)}
    pairs = [NamedPair(str(n), NeighbouringPair.remove(dataset, 0)) for n, dataset in sets.items()]
    assert fresh_pairs(pairs) == {str(n) for n in range(1, FRESH_PAIRS + 1)}


def test_a_quarter_of_the_draws_is_made_there_and_no_fewer_than_500() -> None:
    assert [n_fresh(n) for n in (60, 500, 2_000, 10_000)] == [60, 500, 500, 2_500]


def test_nothing_drawn_says_why() -> None:
    assert fresh_finding([], "").words == "not drawn in a fresh process: no pair was compared"
    assert fresh_finding([], "so").words == "not drawn in a fresh process: so"


@pytest.mark.parametrize("allowed", [0.0, 1e-6, 0.01, 0.3])
def test_bets_against_a_mean_hold_their_level(allowed: float) -> None:
    """Null: the mean is exactly the allowed one, values 0 and 1; level 0.05, 2,000 samples of 400."""
    rng = np.random.default_rng(5)
    values = (rng.random((2_000, 400)) < allowed).astype(np.float64)
    rejected = sum(more_than(row, allowed) <= 0.05 for row in values)
    assert float(clopper_pearson_band(rejected, 2_000, 1e-9).low) <= 0.05


def test_bets_against_a_mean_find_a_larger_one() -> None:
    gains = np.zeros(500)
    gains[::50] = 0.1
    assert more_than(gains, 1e-6) < 1e-3
    assert more_than(gains, 0.01) == pytest.approx(1.0, abs=0.5)
    assert more_than(np.ones(3), 1.0) == 1.0
