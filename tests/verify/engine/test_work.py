"""Tasks over one process and several: same results, deaths isolated and told, nothing left behind."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import toys
from toys.deployments import DATA, dp, imported, section, write_uniform
from toys.tasks import DeadlyNoise, dies_childed, dies_once, misbehave, noted, sleep, square

from audits import Budget, StreamKey
from mechanisms import Dataset, NeighbouringPair
from verify.calibration import calibration_run
from verify.calibration.calibration_pages import document
from verify.calibration.calibration_record import read
from verify.calibration.series.series import AuditSeries
from verify.certificates.claims.pairs import PairTask, run_tasks
from verify.cli import invoke
from verify.engine import executors, work
from verify.engine.executors import Executor, InProcess, Processes, WorkerDied, local
from verify.engine.record import read as read_run_record
from verify.engine.task import Batch, Died, Done, Task, TaskError, content_hash
from verify.engine.work import Work, keyed, mapped
from verify.kernel.verdict import Outcome, judge
from verify.messages.errors import Defect, UserError
from verify.messages.faults import silenced
from verify.papers import ledger, registry


def tasks(contents: Any) -> list[Task[Any]]:
    return [Task(str(content), content) for content in contents]


def gathered(todo: Work[Any, Any]) -> dict[str, Any]:
    """Return the results by key; of a task that died, None."""
    with todo.executor:
        parts = [one for part in todo.results() for one in part]
    assert len(parts) == len({one.task.key for one in parts})
    return {one.task.key: one.result if isinstance(one, Done) else None for one in parts}


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_in_the_order_of_their_contents(jobs: int) -> None:
    told: list[tuple[int, int]] = []
    assert mapped(square, range(7), jobs, told=lambda *both: told.append(both)) == [0, 1, 4, 9, 16, 25, 36]
    assert sorted(told) == [(number, number * number) for number in range(7)]
    assert multiprocessing.active_children() == []


def test_a_task_that_kills_its_process_dies_alone(tmp_path: Path) -> None:
    """It is begun twice; every other task is begun once and done, whoever was at work at that moment."""
    todo = Work(noted, tasks([(tmp_path, n) for n in range(8)]), Processes(2), checked=False)
    with todo.executor:
        parts = [one for part in todo.results() for one in part]
    assert [one.task.content[1] for one in parts if isinstance(one, Died)] == [3]
    assert sorted(one.result for one in parts if isinstance(one, Done)) == [n * n for n in range(8) if n != 3]
    calls = {path.name: path.read_text().count("called") for path in tmp_path.iterdir()}
    assert calls == {str(n): 2 if n == 3 else 1 for n in range(8)}


def test_a_task_whose_process_was_killed_once_is_done(tmp_path: Path) -> None:
    assert mapped(dies_once, [tmp_path / "a", tmp_path / "b"], 2) == ["done", "done"]


def test_what_stands_for_a_dead_task_or_the_defect_that_it_is(tmp_path: Path) -> None:
    places = [(tmp_path, n) for n in range(2, 5)]
    assert mapped(noted, places, 2, died=lambda place: -place[1]) == [4, -3, 16]
    with pytest.raises(Defect, match="a worker process died every time"):
        mapped(noted, places, 2)


@pytest.mark.parametrize("executor", [InProcess, lambda: Processes(1)])
@pytest.mark.parametrize(("how", "kind", "words"), [("value", ValueError, "no such number"), ("exit", SystemExit, "3")])
def test_an_exception_of_a_task_comes_through_as_it_is(
    executor: Any, how: str, kind: type[BaseException], words: str
) -> None:
    with pytest.raises(kind, match=words):
        gathered(Work(misbehave, tasks([how]), executor(), checked=False))
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("picky", "Picky: this and that"),
        ("unsendable", "pickle"),
        ("unwritable", "OSError: no such device"),
        ("unreadable", "EOFError: read too far"),
        ("deep", "RecursionError"),
        ("interrupt", "KeyboardInterrupt: 0.4711"),
        ("unusual", "Unusual: 0.4711"),
    ],
)
def test_what_cannot_travel_is_told_in_words(how: str, words: str, capfd: pytest.CaptureFixture[str]) -> None:
    """It is the failure of its task, no death; and the process prints nothing of it."""
    with pytest.raises(TaskError, match=words):
        gathered(Work(misbehave, tasks([how]), Processes(1), checked=False))
    assert multiprocessing.active_children() == []
    assert capfd.readouterr() == ("", "")


def test_a_death_is_told_and_counted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    once = Work(dies_once, tasks([tmp_path / "a"]), Processes(1), checked=False)
    assert gathered(once) == {str(tmp_path / "a"): "done"}
    assert once.worker_deaths == 1
    assert capfd.readouterr().err == "a worker process died; its task a is tried again\n"
    again = Work(dies_once, tasks([tmp_path / "a"]), Processes(1), checked=False)
    assert gathered(again) == {str(tmp_path / "a"): "done"}
    assert again.worker_deaths == 0
    with silenced(True):  # that one died may say something about private records
        gathered(Work(dies_once, tasks([tmp_path / "b"]), Processes(1), checked=False))
    assert capfd.readouterr() == ("", "")


def test_a_death_leaves_nothing_open() -> None:
    """Ten deaths and the process after each: as many files are open as after the first."""
    with Processes(1) as executor:
        open_files = []
        for _ in range(10):
            with pytest.raises(WorkerDied, match=r"exit code 4"):
                executor.submit(Batch(os._exit, (4,))).result()
            open_files.append(len(os.listdir("/dev/fd")))
        assert executor.submit(Batch(square, (3,))).result()[0][0] == 9
    assert max(open_files) == open_files[0]
    assert multiprocessing.active_children() == []


def test_a_death_is_seen_though_a_child_lives_on(tmp_path: Path) -> None:
    """The child holds the pipe open for ten minutes."""
    assert mapped(dies_childed, [tmp_path / "a", tmp_path / "b"], 2) == ["done", "done"]
    children = [int((tmp_path / name).read_text()) for name in "ab"]
    for child in children:
        os.kill(child, signal.SIGKILL)  # fails if it has ended by itself


def test_a_function_that_cannot_travel_is_a_defect() -> None:
    with pytest.raises(Defect, match=r"a batch was not decided .*; what is done is kept"):
        gathered(Work(lambda n: n, tasks([1]), Processes(1), checked=False))


def test_processes_end_at_once_when_the_work_is_given_up() -> None:
    """Both are asleep for ten minutes at that moment."""
    with Processes(2) as executor:
        results = Work(sleep, tasks([0.0, 600.0, 601.0]), executor, checked=False).results()
        assert len(next(results)) == 1
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []


def test_no_two_tasks_have_one_key() -> None:
    assert list(keyed(tasks("ab"))) == ["a", "b"]
    with pytest.raises(Defect, match="keys of tasks must be unique, got same twice"):
        keyed([Task("same", 1), Task("same", 1)])


def test_the_key_is_the_content() -> None:
    first = {"a": 1, "b": {"c": 0.5}}
    assert content_hash(first) == content_hash({"b": {"c": 0.5}, "a": 1})
    assert content_hash(first) != content_hash({"a": 1, "b": {"c": 0.25}})


def test_the_longest_begin_first() -> None:
    ordered = [Task(str(n), n, seconds) for n, seconds in enumerate([1.0, 3.0, 0.0, 3.0])]
    assert list(gathered(Work(square, ordered, InProcess()))) == ["1", "3", "0", "2"]


def test_a_process_of_other_sources_does_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "identity", lambda: {"sources": "other"})
    with pytest.raises(UserError, match="sources must not change meanwhile"):
        gathered(Work(square, tasks([1, 2]), Processes(2)))


class Scripted(Executor):
    """An executor that does as it is told, batch by batch; afterwards it does its work, but for ``deadly``."""

    slots, room = 2, 4

    def __init__(self, *script: Any, deadly: Any = None) -> None:
        self.script, self.deadly = list(script), deadly
        self.sizes: list[int] = []

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self.sizes.append(len(batch.contents))
        answer = self.script.pop(0) if self.script else "do"
        if isinstance(answer, BaseException) or self.deadly in batch.contents:
            future.set_exception(WorkerDied("died"))
        elif answer == "do":
            future.set_result(batch.perform())
        return future  # or it never comes back

    def stalled(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None: ...


def test_what_never_comes_back_is_handed_in_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "STALL", 0.0)
    executor = Scripted("lost", "do", "lost")
    assert gathered(Work(square, tasks(range(5)), executor)) == {str(n): n * n for n in range(5)}
    assert len(executor.sizes) > 5


def test_tasks_of_a_batch_that_died_are_tried_alone() -> None:
    """The batch of many dies once, each of its tasks is then alone; one that dies twice alone is given up."""
    many = Work(square, tasks(range(100)), Scripted(*["do"] * 12, WorkerDied("died")), kind=lambda _: "same")
    assert gathered(many) == {str(n): n * n for n in range(100)}
    sizes = many.executor.sizes  # type: ignore[attr-defined]
    assert sizes[:12] == [1] * 12
    assert max(sizes) > 1
    one = Work(square, tasks(range(100)), Scripted(deadly=51), kind=lambda _: "same")
    assert gathered(one) == {str(n): None if n == 51 else n * n for n in range(100)}


def test_what_somebody_else_has_done_is_left_out() -> None:
    todo = Work(square, tasks(range(4)), InProcess(), elsewhere=lambda keys: {"1", "2"} & set(keys))
    assert gathered(todo) == {"0": 0, "3": 9}


def test_nothing_begins_after_the_deadline() -> None:
    todo = Work(square, tasks(range(50)), InProcess(), deadline=time.monotonic())
    assert len(gathered(todo)) < 50
    assert todo.timed_out


def test_what_is_left_is_known_after_a_few() -> None:
    todo = Work(square, tasks(range(100)), InProcess(), kind=lambda _: "same")
    assert todo.expected() is None
    results = todo.results()
    while todo.expected() is None:
        next(results)
    left, seconds = todo.expected() or (0, 0.0)
    assert 0 < left < 100
    assert seconds >= 0
    results.close()


def test_one_job_is_this_process() -> None:
    assert isinstance(local(1), executors.InProcess)
    with local(3) as several:
        assert (several.slots, several.room) == (3, 9)


Captured = pytest.CaptureFixture[str]
#: A mechanism that ends every process but that of the command.
DEADLY = """
import multiprocessing, os

class Deadly:
    name = "deadly"
    def draw(self, dataset, n_draws, *, rng):
        if multiprocessing.parent_process() is not None:
            os._exit(3)
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


def test_run_names_the_case_and_the_figures_and_decides_the_rest(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = registry.Source("W18-L4", "toys.deadly", Path(str(toys.__file__)).with_name("deadly.py"))
    monkeypatch.setattr(registry, "default", lambda: registry.Registry(registry.catalogue(), {"W18-L4": source}))
    monkeypatch.setattr(ledger, "default", lambda: toys.LEDGER)
    out = tmp_path / "out"
    assert invoke(["run", "--jobs", "2", "--profile", "standard", "--out", str(out)]) == 4
    record = read_run_record(out)
    assert [row["outcome"] for row in record.cases] == ["HOLDS", "UNDECIDED", "HOLDS"]
    died = record.cases[1]
    assert (died["reason"], died["error"]["type"]) == ("ERROR", "WorkerDied")
    assert "while it decided deadly" in died["error"]["message"]
    assert record.figures[0]["error"]["type"] == "WorkerDied"
    assert record.header["complete"]
    printed = capsys.readouterr()
    assert "BROKEN: 2 of our own checks" in printed.out
    assert len([line for line in printed.out.splitlines() if line.startswith("  W18-L4") and "deadly" in line]) == 1
    assert "3 cases, 1 stopped undecided, in " in printed.out
    resume = f"next    pdp-verify run --jobs 2 --profile standard --out {out} --resume"
    assert printed.out.splitlines()[-1] == resume
    assert "a worker process died; its task deadly, deadly is tried again" in printed.err.splitlines()
    assert json.loads((out / "run.json").read_text())["worker_deaths"] == 4  # each of the two was begun twice
    assert invoke(["run", "--jobs", "2", "--profile", "standard", "--out", str(out), "--resume"]) == 4
    assert json.loads((out / "run.json").read_text())["reused_rows"] == 2  # what died is tried again


class DeadlyTo(InProcess):
    """This process, but for tasks of one name, at which it says that a worker died."""

    name = "liar"

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        if not any(self.name in content.name for content in batch.contents):
            return super().submit(batch)
        future: Future[Any] = Future()
        future.set_exception(WorkerDied("died"))
        return future


def honest(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    return np.zeros((n_repeats, 2), dtype=bool)


@pytest.mark.quick
def test_calibrate_names_the_audits_and_counts_the_rest(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = {name: AuditSeries(name.partition(":")[0], "coin", 1, honest) for name in ("honest: coin", "liar: coin")}
    monkeypatch.setattr(calibration_run, "all_series", lambda: both)
    monkeypatch.setattr(calibration_run, "all_mutants", dict)
    command = ["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "cal")]
    with monkeypatch.context() as patch:
        patch.setattr(executors, "local", lambda jobs: DeadlyTo())
        assert invoke(command) == 4
    printed = capsys.readouterr().out
    assert "CRASHED  a worker process died every time at liar: coin, 40 repetitions of block 0" in printed
    assert "\nnext    pdp-verify calibrate " in printed
    found = read(tmp_path / "cal" / "calibration.jsonl")
    assert not found.complete
    assert {row["auditor"] for row in found.rows if row["kind"] == "rate"} == {"honest"}
    pages = document(found, date="2031-01-01")
    assert "Not complete: 3 of 6 tasks" in str(pages.summary)
    assert "died every time at liar" in str(pages.front)
    assert invoke([*command, "--resume"]) == 0
    whole = read(tmp_path / "cal" / "calibration.jsonl")
    assert (whole.complete, whole.crashed) == (True, ())
    assert json.loads((tmp_path / "cal" / "run.json").read_text())["reused_tasks"] == 3


def test_certify_tells_the_pair_and_certifies_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(DEADLY)
    configuration = DATA + imported("mine.py:Deadly") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=1, draws=2000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert invoke(["certify", "c.toml", "--jobs", "2", "--out", "out"]) == 3
    rows = [json.loads(line) for line in (tmp_path / "out" / "curator" / "audit.jsonl").read_text().splitlines()]
    (claim,) = (row for row in rows if row["kind"] == "claim")
    assert claim["words"].startswith("UNDECIDED")
    pairs = claim["examination"]["pairs"]
    assert pairs
    assert all("the worker process died every time" in pair["law"] and pair["draws"] == 0 for pair in pairs)


ODD = """
import multiprocessing

class Odd(BaseException):
    pass

class Noise:
    name = "noise"
    def draw(self, dataset, n_draws, *, rng):
        if {alone} or multiprocessing.parent_process() is not None:
            raise {kind}("record " + str(dataset.y))
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


@pytest.mark.parametrize("audience", ["curator", "release"])
@pytest.mark.parametrize(("kind", "jobs"), [("Odd", "1"), ("Odd", "2"), ("KeyboardInterrupt", "2")])
def test_what_a_mechanism_says_of_private_records_is_not_printed(
    kind: str, jobs: str, audience: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured
) -> None:
    (tmp_path / "mine.py").write_text(ODD.replace("{kind}", kind).replace("{alone}", str(jobs == "1")))
    configuration = DATA + imported("mine.py:Noise") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=4, draws=2000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert invoke(["certify", "c.toml", "--jobs", jobs, "--audience", audience]) == 2
    error = capfd.readouterr().err.splitlines()[-1]
    assert error.startswith(
        f"error: the code of a configuration must end with a result or an Exception, got {kind} (details in"
    )
    (kept,) = tmp_path.glob("*.traceback.txt")
    assert "record [" in kept.read_text()
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_sweep_goes_on_after_what_is_no_exception(tmp_path: Path, capfd: Captured) -> None:
    (tmp_path / "mine.py").write_text(ODD.replace("{kind}", "Odd").replace("{alone}", "False"))
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["odd", "gaussian-analytic"]\nloss = ["squared"]\nn = [8]\ndim = [2]\n'
        'conditioning = [1]\nseed = [0]\ntarget = ["member"]\ndelta = [1e-5]\nepsilon = [0.5]\n'
        '[imported.odd]\nimport = "mine.py:Noise"\n[budget]\nimported_draws = 8000\n'
    )
    command = ["sweep", str(tmp_path / "grid.toml"), "--jobs", "2", "--export", str(tmp_path / "t.jsonl")]
    assert invoke(command) == 4
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()][1:]
    assert [row["error"] and row["error"]["message"] for row in rows] == ["Odd", None]
    assert "record [" not in "".join(capfd.readouterr())


def test_a_sampled_check_of_a_pair_that_died_is_no_test() -> None:
    data = Dataset(np.eye(2), np.array([0.5, -0.5]), 1.0, 1.0, public=True)
    pair = NeighbouringPair.add(data, np.array([1.0, 0.0]), 1.0)
    budget = Budget(20_000, 1e-3, StreamKey(1))
    tasks = [
        PairTask(str(deadly), DeadlyNoise(deadly=deadly), pair, 1.0, 0.5, budget, False)  # type: ignore[arg-type]
        for deadly in (False, True)
    ]
    told: list[float] = []
    alive, dead = run_tasks(tasks, 2, told.append)
    assert "died" not in alive.evidence.reason
    assert judge(dead.evidence)[0] is Outcome.UNDECIDED
    assert dead.evidence.reason == "no finite test: the worker process died every time"
    assert len(told) == 2


def test_sweep_records_the_cells_and_decides_the_others(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "mine.py").write_text(DEADLY)
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["deadly", "gaussian-analytic"]\nloss = ["squared"]\nn = [8]\ndim = [2]\n'
        'conditioning = [1]\nseed = [0]\ntarget = ["member"]\ndelta = [1e-5]\nepsilon = [0.5, 1.0]\n'
        '[imported.deadly]\nimport = "mine.py:Deadly"\n[budget]\nimported_draws = 8000\n'
    )
    command = ["sweep", str(tmp_path / "grid.toml"), "--jobs", "2", "--export", str(tmp_path / "t.jsonl")]
    assert invoke(command) == 4
    rows = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()][1:]
    assert [row["error"] and row["error"]["type"] for row in rows] == ["WorkerDied", "WorkerDied", None, None]
    assert "--retry-failed" in capsys.readouterr().out
