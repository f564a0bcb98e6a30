"""A sweep: the cells that have no row yet are decided and kept; and its rows as a flat table in the order of cells."""

from __future__ import annotations

import itertools
import math
import secrets
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, overload

from reports.files import write_atomic
from reports.numbers import format_count

from ..engine.executors import Executor
from ..engine.follow import Watcher
from ..engine.record import SCHEMA_VERSIONS
from ..engine.store import Store
from ..engine.task import Died, Done, Task
from ..engine.versions import header, identity
from ..engine.work import Work
from ..kernel.pair_evidence import QUANTITY
from ..kernel.rows import Row, dumps, number, word_of
from ..kernel.verdict import Reason
from ..messages.errors import UserError
from .cell import Cell, Shared, cell_key, cell_name, decide, died
from .grid import Grid

WORDS = {
    "HOLDS": "hold",
    "ATTESTED": "hold as attested",
    "FAILS": "fail",
    "UNDECIDED": "undecided",
    "OUT_OF_DOMAIN": "out of domain",
    "INCONSISTENT": "inconsistent",
    "ERROR": "stopped with an error",
}


def kind(cell: Cell) -> tuple[object, ...]:
    """Return what the cost of a cell mostly depends on."""
    return tuple(cell.get(axis) for axis in ("mechanism", "loss", "n", "dim"))


class Cells(Sequence[Task[Cell]]):
    """Some cells of a grid as tasks, made when they are asked for: a grid may have millions of them."""

    def __init__(self, grid: Grid, shared: Shared, places: Sequence[int]) -> None:
        self._grid, self._hasher, self._places = grid, shared.hasher(), places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, number: int) -> Task[Cell]: ...
    @overload
    def __getitem__(self, number: slice) -> Cells: ...
    def __getitem__(self, number: int | slice) -> Task[Cell] | Cells:
        if isinstance(number, slice):
            raise TypeError("cells are given one by one")
        cell = self._grid.cell(self._places[number])
        return Task(cell_key(self._hasher, cell), cell)


@dataclass
class Sweep:
    """One sweep of a grid into a store.

    Attributes
    ----------
    counts : Counter
        Cells decided by this sweep, by the word that they count under.
    interrupted, timed_out : bool
        Why it ended early, if it did; the cells that were not reached have no row.
    """

    grid: Grid
    store: Store
    watcher: Watcher
    counts: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False
    timed_out: bool = False

    def __post_init__(self) -> None:
        self.shared: Shared = self.grid.shared(identity())

    def keyed(self) -> Iterator[tuple[str, Cell]]:
        """Yield every cell of the grid with its key, in order."""
        hasher = self.shared.hasher()
        return ((cell_key(hasher, cell), cell) for cell in self.grid.cells())

    def missing(self, *, retry_failed: bool) -> list[int]:
        """Return the positions of the cells to do: those without a row, and with ``retry_failed`` the crashes."""
        done = self.store.keys()
        if retry_failed:
            done -= self.store.keys(failed=True)
        return [place for place, (key, _) in enumerate(self.keyed()) if key not in done]

    def run(self, executor: Executor, *, retry_failed: bool = False, max_time: float | None = None) -> None:
        """Decide what is missing; Ctrl-C or ``max_time`` (seconds) ends it early, and what was done stays."""
        deadline = math.inf if max_time is None else time.monotonic() + max_time
        places = self.missing(retry_failed=retry_failed)
        failed = self.store.keys(failed=True) if retry_failed else set()
        turn = secrets.randbelow(len(places)) if places else 0  # two sweeps of one file meet late
        work = Work(
            partial(decide, self.shared),
            Cells(self.grid, self.shared, places[turn:] + places[:turn]),
            executor,
            kind=kind,
            name=cell_name,
            elsewhere=lambda keys: self.store.has(keys) - failed,
            deadline=deadline,
        )
        announced: Counter[str] | None = None  # what was counted before the number that is left was told

        def take(part: Sequence[Done[Cell, tuple[str, str]] | Died[Cell]]) -> None:
            nonlocal announced
            rows = [
                (one.task.key, *(died(self.shared, one.task.content) if isinstance(one, Died) else one.result))
                for one in part
            ]
            self.store.put_texts((key, text, word == Reason.ERROR.name) for key, text, word in rows)
            self.counts.update(word for _, _, word in rows)
            left = None if announced is not None else work.expected()
            if left:
                announced = self.counts.copy()
                self.watcher.begin(*left)
            elif announced is not None:
                self.watcher.advance(counts_text(self.counts - announced), len(rows))

        self.interrupted = work.through(take)
        self.timed_out = work.timed_out


def counts_text(counts: Counter[str]) -> str:
    """Return counts in words, those of nothing left out."""
    return ", ".join(f"{format_count(counts[word])} {words}" for word, words in WORDS.items() if counts[word]) or "none"


FORMATS = (".jsonl", ".parquet")
CHUNK = 10_000
#: Columns after the axes; the numbers are those of the deciding witness.
FOUND = (
    "outcome",
    "ground",
    "reason",
    "detail",
    "quantity",
    "allowed",
    "value",
    "low",
    "high",
    "log10_ratio",
    "margin",
)
SPENT = ("n_draws", "failure_prob", "method", "error")


def rows(sweep: Sweep) -> Iterator[Row]:
    """Yield the row of every cell that has one, in the order of the grid; each cell once."""
    for key, _ in sweep.keyed():
        yield from sweep.store.get(key) or ()


def flat(row: Row) -> dict[str, Any]:
    """Return a row as one level of columns.

    ``log10_ratio`` is the logarithm of the larger end of the interval over what is allowed: above 0 the claim is not
    shown to hold, at 0 it is tight; ``-inf`` where the interval is 0. ``ground`` is what a claim that holds rests on:
    ``proved``, or ``attested``. Where an imported mechanism is refuted by another ``quantity`` than delta (the p-value
    of a test, epsilon from below), the numbers are of that quantity, and ``log10_ratio`` is ``inf``.
    """
    witness = row["exact"] or row["sampled"]
    claim = row["claim"]
    allowed = number(claim["high"]) if claim else math.nan
    ends = [number(witness[name]) if witness else math.nan for name in ("value", "low", "high")]
    ratio, quantity = math.nan, claim["quantity"] if claim else ""
    if quantity and not about_delta(quantity, allowed, row["cell"]["delta"]):
        ratio = math.inf if row["outcome"] == "FAILS" else math.nan
    elif word_of(row) not in ("ERROR", "OUT_OF_DOMAIN") and not math.isnan(ends[2]):
        above = math.log10(ends[2] / allowed) if allowed > 0 and ends[2] > 0 else math.inf
        ratio = above if ends[2] > 0 else -math.inf
    decided = (
        row["outcome"],
        row["ground"],
        row["reason"],
        row["detail"],
        quantity,
        allowed,
        *ends,
        ratio,
        number(row["margin"]),
    )
    error = f"{row['error']['type']}: {row['error']['message']}" if row["error"] else None
    spent = (row["n_draws"], row["failure_prob"], witness["method"] if witness else "", error)
    return {**row["cell"], **dict(zip(FOUND + SPENT, decided + spent, strict=True))}


def about_delta(quantity: str, allowed: float, delta: float) -> bool:
    """Return whether a row's numbers are of the claimed delta; what refutes a mechanism may be another number."""
    return quantity == QUANTITY or ("delta at" in quantity and math.isclose(allowed, delta, rel_tol=1e-6))


def first_line(sweep: Sweep, n_rows: int) -> Row:
    """Return what every row depends on."""
    grid = sweep.grid
    own = {
        "name": grid.name,
        "complete": n_rows == len(grid),
        "cells": len(grid),
        "axes": {axis: list(values) for axis, values in grid.axes.items()},
        "seed": grid.seed,
        "n_draws": grid.n_draws,
        "failure_prob_per_cell": grid.failure_prob,
        "failure_prob": grid.spends(),
        "data": grid.data.digest if grid.data else None,
        "imported": {name: own.identity() for name, own in grid.imported.items()},
        "imported_draws": grid.imported_draws if grid.imported else None,
    }
    return header(own, schema_version=SCHEMA_VERSIONS["sweep"], kind="sweep")


def check_export(path: Path) -> None:
    """Refuse a table that could not be written in the end, before anything is decided."""
    if path.suffix not in FORMATS:
        raise UserError(f"export must end in {' or '.join(FORMATS)}, got export={path}")
    if not path.parent.is_dir():
        raise UserError(f"export must be in a folder that exists, got export={path}")
    if path.suffix == ".parquet":
        try:
            import_module("pyarrow.parquet")
        except ImportError as stop:
            raise UserError("a .parquet file needs the extra parquet: pip install 'pdp-verify[parquet]'") from stop


def export(sweep: Sweep, path: Path) -> None:
    """Write the table: JSON lines (a header, then the rows whole) or Parquet (flat columns), whole or not at all."""
    mode = 0o600 if sweep.grid.private else 0o666
    if path.suffix == ".parquet":
        write_atomic(path, _parquet(sweep), mode=mode)
        return
    body, count = bytearray(), 0
    for row in rows(sweep):
        body += f"{dumps(row)}\n".encode()
        count += 1
    write_atomic(path, f"{dumps(first_line(sweep, count))}\n".encode() + body, mode=mode)


def _parquet(sweep: Sweep) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {int: pa.int64(), float: pa.float64(), str: pa.string()}
    fields = [(axis, kinds[type(values[0])]) for axis, values in sweep.grid.axes.items()]
    words = ("outcome", "ground", "reason", "detail", "quantity", "method", "error")
    fields += [(name, pa.string() if name in words else pa.float64()) for name in FOUND + SPENT]
    schema = pa.schema([(name, pa.int64() if name == "n_draws" else kind) for name, kind in fields])
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema) as writer:
        remaining = rows(sweep)
        while chunk := list(itertools.islice(remaining, CHUNK)):
            writer.write_table(pa.Table.from_pylist([flat(row) for row in chunk], schema=schema))
    return bytes(sink.getvalue())
