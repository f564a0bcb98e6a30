"""A scheduler that decides in this process, and can be told to misbehave (for tests of a sweep)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

from verify.sweeps.batch import Batch, Decided, Refused, decide_one
from verify.sweeps.cell import cell_name
from verify.sweeps.schedulers import Result

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
class Here:
    """Decides a batch when it is handed in.

    Attributes
    ----------
    deadly : str
        Cells whose name contains it kill the worker, and with it all batches of the same moment.
    different : int
        So many first batches reach a worker that differs.
    """

    slots: int = 2
    deadly: str = ""
    different: int = 0
    broken: str = ""
    sizes: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    closed: list[bool] = field(default_factory=list)
    refusals: int = 0
    dead: bool = False

    def submit(self, batch: Batch) -> Future[Result]:
        future: Future[Result] = Future()
        names = [cell_name(cell) for _, cell in batch.cells]
        self.sizes.append(len(names))
        if self.different:
            self.different -= 1
            future.set_result(Refused({"sources": "other"}))
        elif self.broken:
            future.set_exception(RuntimeError(self.broken))
        elif self.deadly and (self.dead or any(self.deadly in name for name in names)):
            self.dead = True
            future.set_exception(BrokenProcessPool("died"))
        else:
            self.names += names
            future.set_result(tuple(decide_one(key, cell, batch.shared) for key, cell in batch.cells))
        return future

    def lost(self, stop: BaseException) -> bool:
        self.dead = False
        return isinstance(stop, BrokenProcessPool)

    def refuse(self) -> None:
        self.refusals += 1

    def stalled(self) -> bool:
        return False

    def close(self, *, finished: bool) -> None:
        self.closed.append(finished)


@dataclass
class Listener:
    """Remembers what it is told; ``stop_after`` so many cells it presses Ctrl-C."""

    stop_after: int = 10**9
    cells: list[Decided] = field(default_factory=list)
    estimates: list[tuple[int, float]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def estimate(self, n_cells: int, seconds: float) -> None:
        self.estimates.append((n_cells, seconds))

    def decided(self, cells: Sequence[Decided]) -> None:
        self.cells += cells
        if len(self.cells) >= self.stop_after:
            raise KeyboardInterrupt

    def say(self, line: str) -> None:
        self.lines.append(line)


def light_grid(folder: Path, extra: str = "") -> Path:
    """Write the grid of 48 cells, 32 of them exact and the others without a claim."""
    path = folder / "light.toml"
    path.write_text(LIGHT + extra)
    return path
