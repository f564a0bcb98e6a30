"""Small records of every kind, to be compared with copies of themselves in which something was changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from toys import LEDGER, toy_registry
from toys.sweeps import Here, light_grid
from verify.calibration.calibration_record import first_line
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import header_of
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.runs.statement_run import execute
from verify.schemas.lines import trouble
from verify.sweeps import sweep_run as sweep_table
from verify.sweeps.grid import read_grid
from verify.sweeps.sweep_run import Sweep

Rows = list[dict[str, Any]]
Choice = Callable[[dict[str, Any]], bool]
#: The file of each kind of record.
FILES = {"run": "audit.jsonl", "certificate": "audit.jsonl", "sweep": "t.jsonl", "calibration": "calibration.jsonl"}


def run_rows(folder: Path, profile: str = "quick", seed: int = 3) -> Rows:
    """Return the record of a run of the true and the false toy."""
    store = Store(folder / f"{profile}-{seed}.sqlite")
    sources = toy_registry("W19-T4.1", "RW21-T17").select()
    settings = RunSettings(seed, profile, 1e-4)
    record = execute(sources, settings, LEDGER, executor=local(1), store=store, watcher=Follower()).record
    store.close()
    return [json.loads(line) for line in record.lines()]


def sweep_rows(folder: Path) -> Rows:
    """Return the table of the light sweep."""
    with Store(folder / "s.sqlite", many=True) as store:
        work = Sweep(read_grid(light_grid(folder)), store, Follower())
        work.run(Here())
        sweep_table.export(work, folder / "t.jsonl")
    return read_rows(folder / "t.jsonl")


def calibration_rows() -> Rows:
    """Return a calibration of four rates and a graded mutant."""
    rate: dict[str, Any] = {
        "auditor": "tails",
        "law": "a coin",
        "level": 0.05,
        "n_draws": 100,
        "repeats": 1000,
        "low": 20,
        "high": 20,
        "any": 40,
        "interval": [0.03, 0.06],
        "smallest_rate_refused": 0.1,
        "compatible": True,
    }
    grades = [
        {"strength": strength, "repeats": 100, "refuted": hits, "interval": [0.0, 1.0], "lower": 0.9}
        for strength, hits in ((0.1, 50), (1.0, 100))
    ]
    exact = {"auditor": "Clopper-Pearson", "level": 0.05, "n": 10, "p": 0.5, "low": 0.01, "high": 0.01}
    return [
        first_line("standard", 1, n_tasks=4, n_done=4),
        {"kind": "exact", **exact, "compatible": True},
        {"kind": "rate", **rate},
        {"kind": "prediction", **rate, "law": "a biased coin", "level": 0.1},
        {"kind": "control", **rate, "auditor": "unpaid looks", "any": 400, "compatible": False},
        {
            "kind": "mutant",
            "auditor": "tails",
            "name": "half the noise",
            "unit": "of the noise",
            "graded": True,
            "stated": 1.0,
            "n_draws": 100,
            "failure_prob": 0.01,
            "grades": grades,
            "smallest_found": 1.0,
            "found": True,
        },
    ]


def read_rows(path: Path) -> Rows:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(rows: Rows, path: Path) -> Path:
    """Write rows as a record is written, and return the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def changed(rows: Rows, chosen: Choice, **values: Any) -> Rows:
    """Return a copy in which the first row that is chosen says something else; inside a value: ``printed__verdict``.

    It is a row that a record may hold.
    """
    copied = copy.deepcopy(rows)
    row = next(row for row in copied if chosen(row))
    for place, value in values.items():
        *above, last = place.split("__")
        inside = row
        for name in above:
            inside = inside[name]
        inside[last] = value
    assert trouble(row, header_of(rows[0]) or "record", copied.index(row) + 1) == ""
    return copied


def without(rows: Rows, chosen: Choice) -> Rows:
    """Return a copy without the rows that are chosen."""
    left = [row for row in copy.deepcopy(rows) if not chosen(row)]
    assert len(left) < len(rows)
    return left


def of(kind: str, **values: Any) -> Choice:
    """Choose the rows of a kind with these values."""
    return lambda row: row["kind"] == kind and all(row.get(name) == value for name, value in values.items())
