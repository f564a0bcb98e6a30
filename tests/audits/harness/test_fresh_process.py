"""Processes of their own: what they are given, what they say when they cannot answer, and that none outlives us."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from audits.harness import fresh_process
from audits.harness.calls import Deadline
from audits.harness.fresh_process import Apart, FreshProcess, NoProcess, ProcessServer, own_server
from audits.harness.outputs import Layout
from mechanisms import Dataset

DATA = Dataset(np.ones((2, 1)), np.ones(2), x_bound=1.0, y_bound=1.0)
LAYOUT = Layout.learn([[1.0, 2.0]])


class Odd:
    """A mechanism whose ``draw`` is a function of the data set, the number of draws and ``rng``."""

    def __init__(self, draw: Any) -> None:
        self.function = draw

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        return self.function(n_draws, rng)

    def log_density(self, outputs: Any, dataset: Any) -> Any:
        raise ZeroDivisionError("not said")


def normal(n_draws: int, rng: np.random.Generator) -> Any:
    return rng.standard_normal(n_draws)


class Maker:
    """Makes a mechanism of this module's, wherever it can be imported."""

    def __call__(self) -> Any:
        return Odd(normal)


def apart(**more: Any) -> Apart:
    return Apart(**({"make": None, "views": (), "deadline": None, "layout": LAYOUT} | more))


@pytest.fixture
def holding() -> Iterator[Any]:
    servers: list[ProcessServer] = []

    def hold(draw: Any, views: Any = ()) -> ProcessServer:
        servers.append(ProcessServer((Odd(draw), views)))
        return servers[-1]

    yield hold
    for server in servers:
        server.close()


def rows(process: FreshProcess, n: int = 20) -> Any:
    return process.draw(DATA, n, np.random.default_rng(3))[0]


def test_each_process_draws_what_the_generator_says(holding: Any) -> None:
    server = holding(normal)
    with FreshProcess(server, apart()) as first, FreshProcess(server, apart()) as second:
        assert np.array_equal(rows(first), rows(second))
        assert rows(first).shape == (20, 1)


def test_a_process_begins_in_an_empty_folder_that_is_gone_afterwards(holding: Any) -> None:
    told = []

    def draw(n_draws: int, rng: Any) -> Any:
        assert Path.cwd() == Path(os.environ["TMPDIR"]).resolve()
        (Path.cwd() / "left").touch()
        return np.full(n_draws, float(len(list(Path.cwd().iterdir()))))

    with FreshProcess(holding(draw), apart()) as process:
        folder = Path(process._folder.name)
        assert (rows(process) == 1.0).all()
        assert (folder / "left").exists()
        told.append(folder)
    assert not told[0].exists()


def test_what_one_process_remembers_the_next_does_not(holding: Any) -> None:
    seen: list[int] = []

    def draw(n_draws: int, rng: Any) -> Any:
        seen.append(1)
        return np.full(n_draws, float(len(seen)))

    server = holding(draw)
    for _ in range(2):
        with FreshProcess(server, apart()) as process:
            assert rows(process).min() == 1.0
    assert seen == []


def test_views_that_cannot_be_sent_are_held(holding: Any) -> None:
    views = (lambda output: 2 * output,)
    with FreshProcess(holding(normal, views), apart(views=views, layout=Layout.learn([[1.0]], views=views))) as process:
        drawn = rows(process)
    assert np.allclose(drawn[:, 1], 2 * drawn[:, 0])


def test_a_refusal_is_an_output_and_is_told(holding: Any) -> None:
    def draw(n_draws: int, rng: Any) -> Any:
        raise KeyError("secret")

    with FreshProcess(holding(draw), apart()) as process:
        _, refusal = process.draw(DATA, 10, np.random.default_rng(3))
    assert refusal is not None
    assert refusal.kind == "KeyError"


def test_what_is_raised_is_told_by_its_type_alone(holding: Any) -> None:
    with FreshProcess(holding(normal), apart()) as process, pytest.raises(NoProcess) as told:
        process.log_density(np.ones((1, 1)), DATA)
    assert str(told.value) == "it raised ZeroDivisionError there"


def test_a_process_that_ends_gives_no_answer(holding: Any) -> None:
    with (
        FreshProcess(holding(lambda n_draws, rng: os._exit(3)), apart()) as process,
        pytest.raises(NoProcess, match="ended without an answer"),
    ):
        rows(process)


def test_a_process_that_hangs_is_ended(holding: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_process, "PATIENCE", 0.5)
    server = holding(lambda n_draws, rng: time.sleep(60))
    with FreshProcess(server, apart()) as process, pytest.raises(NoProcess, match="no answer in time"):
        rows(process)
    assert not server.open


def test_no_call_is_begun_after_the_deadline(holding: Any) -> None:
    deadline = Deadline(time.monotonic() - 1)
    with (
        FreshProcess(holding(normal), apart(deadline=deadline)) as process,
        pytest.raises(NoProcess, match="OutOfTime"),
    ):
        rows(process)


def test_what_cannot_be_sent_is_told() -> None:
    with pytest.raises(NoProcess, match="cannot be sent"):
        FreshProcess(own_server(), apart(make=lambda: None))


def test_a_module_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("known_here_alone")
    module.Maker = type("Maker", (Maker,), {"__module__": module.__name__})
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(NoProcess, match="ModuleNotFoundError"):
        FreshProcess(own_server(), apart(make=module.Maker()))


def test_a_server_that_was_closed_starts_nothing_and_another_one_does() -> None:
    server = own_server()
    assert own_server() is server
    server.close()
    server.close()
    assert not server.open
    with pytest.raises(NoProcess):
        server.fork()
    assert own_server().open


def test_no_process_outlives_its_server(holding: Any) -> None:
    server = holding(lambda n_draws, rng: np.full(n_draws, float(os.getpid())))
    with FreshProcess(server, apart()) as process:
        pid = int(rows(process)[0, 0])
        os.kill(pid, 0)
        server.close()
        for _ in range(200):
            if not Path(f"/proc/{pid}").exists():
                break
            time.sleep(0.05)
        assert not Path(f"/proc/{pid}").exists()
