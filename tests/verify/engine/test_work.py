"""Tasks over one process and several: same results, deaths isolated and told, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from toys.tasks import dies_childed, dies_once, misbehave, noted, sleep, square

from verify.engine import executors, work
from verify.engine.executors import Executor, InProcess, Processes, WorkerDied, local
from verify.engine.task import Batch, Died, Done, Task, TaskError, content_hash
from verify.engine.work import Work, keyed, mapped
from verify.messages.errors import Defect, UserError
from verify.messages.faults import silenced


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
