"""An executor that decides in this process, and can be told to misbehave (for tests of a sweep)."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verify.engine.executors import Executor, WorkerDied
from verify.engine.task import Batch, Refused
from verify.sweeps.cell import cell_name

LIGHT = """
[grid]
mechanism = ["ops-per-instance", "gaussian-printed", "objective-perturbation"]
loss = ["squared"]
n = [10]
dim = [2]
conditioning = [1, 100.0]
seed = [0]
target = ["lonely", "member"]
delta = [1e-5]
epsilon = [0.5, 1, 2, 4]
"""


@dataclass
class Here(Executor):
    """Does a batch of cells when it is handed in.

    Attributes
    ----------
    deadly : str
        Cells whose name contains it kill the worker.
    different : int
        So many first batches reach a worker that differs.
    """

    slots: int = 2
    deadly: str = ""
    different: int = 0
    broken: str = ""
    sizes: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    closed: int = 0
    refusals: int = 0

    def __post_init__(self) -> None:
        self.room = 3 * self.slots

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        future: Future[Any] = Future()
        names = [cell_name(cell) for cell in batch.contents]
        self.sizes.append(len(names))
        if self.different:
            self.different -= 1
            future.set_result(Refused({"sources": "other"}))
        elif self.broken:
            future.set_exception(RuntimeError(self.broken))
        elif self.deadly and any(self.deadly in name for name in names):
            future.set_exception(WorkerDied("died"))
        else:
            self.names += names
            future.set_result(batch.perform())
        return future

    def refuse(self) -> None:
        self.refusals += 1

    def __exit__(self, *_: object) -> None:
        self.closed += 1


@dataclass
class Listener:
    """Remembers what it is told; after ``stop_after`` rows it presses Ctrl-C."""

    stop_after: int = 10**9
    done: int = 0
    last: str = ""
    estimates: list[tuple[int, float | None]] = field(default_factory=list)

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        self.estimates.append((n_tasks, seconds))

    def advance(self, name: str, n_tasks: int = 1) -> None:
        self.done, self.last = self.done + n_tasks, name
        if self.done >= self.stop_after:
            raise KeyboardInterrupt


def light_grid(folder: Path, extra: str = "") -> Path:
    """Write the grid of 48 cells, 32 of them exact and the others without a claim."""
    path = folder / "light.toml"
    path.write_text(LIGHT + extra)
    return path
