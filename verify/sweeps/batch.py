"""A batch of cells: what travels to a worker, what comes back, and the check that the worker is the same as we are."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..rows import dumps
from ..verdict import Outcome, Reason
from ..versions import library_versions, platform_tag, source_digest
from ..worker import hold_blas
from .cell import Cell, Shared, cell_name, decide_cell

#: Cells of one process are decided one after the other, whatever the threads of a worker: the precision of ball
#: arithmetic and the number of BLAS threads belong to the process.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True)
class Decided:
    """One cell, decided: its key, its row as JSON text, the word it counts under, and the seconds it took."""

    key: str
    text: str
    word: str
    seconds: float


@dataclass(frozen=True)
class Refused:
    """Nothing was decided: this worker's sources or platform differ from the submitter's."""

    identity: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Batch:
    """Cells with their keys, and what they share."""

    shared: Shared
    cells: tuple[tuple[str, Cell], ...]


@cache
def identity() -> dict[str, Any]:
    """Return what decides the bytes of a row besides the sweep: sources, platform and versions of this process."""
    return {"sources": source_digest(), "platform": platform_tag(), "versions": library_versions()}


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return in words how two identities differ, or nothing."""
    named = {"sources": "digest of our sources", "platform": "platform", "versions": "versions"}
    for name, words in named.items():
        mine, other = ours.get(name), theirs.get(name)
        if mine != other:
            if isinstance(mine, Mapping) and isinstance(other, Mapping):
                name = next(each for each in [*mine, *other] if mine.get(each) != other.get(each))
                words, mine, other = f"version of {name}", mine.get(name), other.get(name)
            return f"{words} {str(other)[:60]}, here {str(mine)[:60]}"
    return ""


@cache
def _pin_threads() -> Any:
    """Hold every loaded BLAS of this worker process at one thread, for good."""
    return hold_blas()


def word_of(row: Mapping[str, Any]) -> str:
    """Return what a row counts under: an outcome, ``VOUCHED`` (holds, as somebody vouches), ``ERROR``, ``INCONSISTENT``."""
    if row["error"]:
        return Reason.ERROR.name
    if row.get("ground") == "vouched":
        return "VOUCHED"
    return Reason.INCONSISTENT.name if row["reason"] == Reason.INCONSISTENT.name else Outcome[row["outcome"]].name


def decide_batch(batch: Batch) -> tuple[Decided, ...] | Refused:
    """Decide the cells of a batch, in a worker of the same sources, platform and versions; a pure function of it."""
    if difference(batch.shared.identity, identity()):
        return Refused(identity())
    with _ONE_AT_A_TIME:
        _pin_threads()
        return tuple(decide_one(key, cell, batch.shared) for key, cell in batch.cells)


def decide_one(key: str, cell: Cell, shared: Shared) -> Decided:
    """Decide a cell and time it."""
    start = time.perf_counter()
    row = decide_cell(cell, shared)
    return Decided(key, dumps(row), word_of(row), time.perf_counter() - start)


def crashed(key: str, cell: Cell, shared: Shared) -> Decided:
    """Return the row of a cell whose worker process died every time, alone too."""
    from ..rows import NO_LOOK, encode

    error = {"type": "WorkerDied", "message": f"the worker process died while it decided {cell_name(cell)}"}
    row = {"kind": "cell", "cell": encode(dict(cell)), "n_draws": 0, "failure_prob": shared.failure_prob}
    row |= NO_LOOK | {"confirmation": None, "error": error, "ground": ""}
    return Decided(key, dumps(row), Reason.ERROR.name, 0.0)


def prepare_process() -> None:
    """Prepare a worker process of a local pool: one BLAS thread, Ctrl-C for the parent, and no life without it."""
    import multiprocessing

    from ..worker import quiet_worker

    quiet_worker()
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)
