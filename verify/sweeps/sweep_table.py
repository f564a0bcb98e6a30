"""The rows of a sweep as a flat table, in the order of the grid: for JSON lines, Parquet, and the summary."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from reports.files import write_atomic

from ..engine.record import SCHEMA_VERSIONS
from ..engine.rows import Row, dumps, number, word_of
from ..engine.versions import header
from ..kernel.pair_evidence import QUANTITY
from ..messages.errors import UserError
from .sweep_run import Sweep

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
    ``proved``, or ``vouched``. Where an imported mechanism is refuted by another ``quantity`` than delta (the p-value
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
