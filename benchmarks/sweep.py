"""What a sweep costs beside deciding its cells: overhead per light cell, and scaling beside a bare process pool.

Run ``python benchmarks/sweep.py [--only light|heavy|scaling] [--cells N] [--heavy-cells N] [--pairs N]``.
Everything is a ratio or a difference of runs made in one go, interleaved, so that a busy machine slows both sides.

light    10,000 cells with exact laws: a sweep over one worker process against one loop over the same cells; the
         difference per cell is the overhead of keys, batches, pickling, the store and the start of the process.
heavy    cells of 100 ms (a loop that counts, no sleep): a sweep over two workers against a bare ProcessPoolExecutor
         that maps the same function over the same cells; the ratio of the bare time to the sweep's, median of pairs.
scaling  the light cells over 1 and 2 workers.
"""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import tempfile
import time
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from running import options

from verify.engine import executors
from verify.engine.store import Store
from verify.engine.task import Batch
from verify.engine.versions import identity
from verify.engine.worker import one_blas_thread, quiet_worker
from verify.sweeps.cell import decide
from verify.sweeps.grid import read_grid
from verify.sweeps.sweep_run import Sweep

GRID = """
[grid]
mechanism = ["ops-diffuse", "gaussian-printed"]
loss = ["squared"]
n = [20]
dim = [2]
conditioning = [1, 100.0]
seed = {seeds}
target = ["lonely", "member"]
delta = [1e-5, 1e-8]
epsilon = [0.25, 0.5, 1, 2, 4]
"""
CELLS_PER_SEED = 80


@dataclass
class Silent:
    """Listens to nothing."""

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        pass

    def advance(self, name: str, n_tasks: int = 1) -> None:
        pass


class HeavyPool(executors.Processes):
    """The processes of a sweep, with cells that take 100 ms of processor time each."""

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        return super().submit(replace(batch, function=partial(heavy_cell, batch.function)))


def spin(seconds: float = 0.1) -> int:
    """Count for so much processor time of this process."""
    end, count = time.process_time() + seconds, 0
    while time.process_time() < end:
        count += 1
    return count


def heavy_cell(function: Any, cell: Any) -> Any:
    spin()
    return function(cell)


def make(folder: Path, cells: int) -> Any:
    path = folder / "grid.toml"
    path.write_text(GRID.format(seeds=list(range(max(1, cells // CELLS_PER_SEED)))))
    return read_grid(path)


def sweep(folder: Path, grid: Any, pool: Any) -> float:
    """Seconds of a whole sweep into a fresh store, the start of its processes included."""
    path = folder / "s.sqlite"
    path.unlink(missing_ok=True)
    start = time.perf_counter()
    with Store(path) as store:
        Sweep(grid, store, Silent()).run(pool)
        assert len(store.keys()) == len(grid)
    return time.perf_counter() - start


def loop(grid: Any) -> float:
    """Seconds of deciding all cells in one loop in this process."""
    shared = grid.shared(identity())
    with one_blas_thread():
        start = time.perf_counter()
        for cell in grid.cells():
            decide(shared, cell)
        return time.perf_counter() - start


def bare(grid: Any, jobs: int) -> float:
    """Seconds of a bare pool that maps the same heavy cells, the start of its processes included."""
    shared = grid.shared(identity())
    function = partial(heavy_cell, partial(decide, shared))
    context = multiprocessing.get_context("spawn")
    start = time.perf_counter()
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=quiet_worker) as pool:
        assert len(list(pool.map(function, grid.cells()))) == len(grid)
    return time.perf_counter() - start


def processor() -> float:
    """Seconds of processor time of this process and of those that it has waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def light(folder: Path, cells: int, pairs: int) -> None:
    grid = make(folder, cells)
    loop(make(folder, CELLS_PER_SEED))  # what is loaded at first use is loaded
    over: dict[str, list[float]] = {"wall": [], "processor": []}
    for number in range(pairs):
        runs = [lambda: loop(grid), lambda: sweep(folder, grid, executors.Processes(1))]
        seconds, used = [0.0, 0.0], [0.0, 0.0]
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            before = processor()
            seconds[which] = runs[which]()
            used[which] = processor() - before
        over["wall"].append((seconds[1] - seconds[0]) / len(grid) * 1e3)
        over["processor"].append((used[1] - used[0]) / len(grid) * 1e3)
        print(
            f"light {number + 1}: {len(grid)} cells, loop {seconds[0]:.2f} s ({used[0]:.2f} s of processor time), "
            f"sweep with one worker {seconds[1]:.2f} s ({used[1]:.2f} s): overhead {over['wall'][-1]:+.3f} ms a cell, "
            f"{over['processor'][-1]:+.3f} ms of processor time",
            flush=True,
        )
    medians = {name: statistics.median(values) for name, values in over.items()}
    print(f"light: median overhead {medians['wall']:+.3f} ms a cell, {medians['processor']:+.3f} ms of processor time")


def heavy(folder: Path, cells: int, pairs: int) -> None:
    grid = make(folder, cells)
    ratios = []
    for number in range(pairs):
        runs = {"bare": lambda: bare(grid, 2), "sweep": lambda: sweep(folder, grid, HeavyPool(2))}
        order = ["bare", "sweep"] if number % 2 == 0 else ["sweep", "bare"]
        seconds = {name: runs[name]() for name in order}
        ratios.append(seconds["bare"] / seconds["sweep"])
        print(
            f"heavy {number + 1}: bare {seconds['bare']:.2f} s, sweep {seconds['sweep']:.2f} s: {ratios[-1]:.3f}",
            flush=True,
        )
    print(f"heavy: median of {pairs} interleaved pairs {statistics.median(ratios):.3f}, {len(grid)} cells, 2 workers")


def scaling(folder: Path, cells: int) -> None:
    grid = make(folder, cells)
    for jobs in (1, 2):
        seconds = sweep(folder, grid, executors.Processes(jobs))
        print(f"scaling: {jobs} workers {seconds:.2f} s, {len(grid) / seconds:.0f} cells/s")


def main() -> None:
    chosen = options(__doc__, only=("light", "heavy", "scaling"), cells=10_000, heavy_cells=160, pairs=5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if chosen.only in (None, "light"):
            light(folder, chosen.cells, chosen.pairs)
        if chosen.only in (None, "heavy"):
            heavy(folder, chosen.heavy_cells, chosen.pairs)
        if chosen.only in (None, "scaling"):
            scaling(folder, chosen.cells)


if __name__ == "__main__":
    main()
