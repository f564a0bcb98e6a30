"""The record of a calibration: from counts to rows, what in them is not as it should be, and its file of JSON lines."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audits.error_budget import Ledger
from audits.stats.intervals import clopper_pearson, clopper_pearson_lower, even_share
from reports.files import write_atomic

from ..engine.record import SCHEMA_VERSIONS, checked_rows
from ..engine.versions import header
from ..kernel.rows import Row, dumps
from .series.series import DEFAULT_FAILURE_PROB, AuditSeries, BankMutant

#: Name, level and strength of what is counted.
Cell = tuple[str, str, str]
Counts = Mapping[Cell, Counter[str]]

#: Probability that a sound instrument is called incompatible, over all rates of one calibration.
FAILURE_PROB = 1e-3

#: A mutant counts as found when the exact lower end of its refutation rate, at this confidence, is at least FOUND.
CONFIDENCE, FOUND = 0.95, 0.95


def rows_of(counts: Counts, series: Mapping[str, AuditSeries], mutants: Mapping[str, BankMutant]) -> list[Row]:
    """Return the rows of a calibration, rates first; what has no count yet has no row."""
    return [*_exact_rows(), *_rate_rows(counts, series), *_bank_rows(counts, mutants)]


def _exact_rows() -> Iterator[Row]:
    from .series.interval_series import exact_rates

    for row in exact_rates():
        half = 0.5 * row["level"] * (1 + 1e-9)
        yield {"kind": "exact", "auditor": "Clopper-Pearson", **row, "compatible": max(row["low"], row["high"]) <= half}


def _rate_rows(counts: Counts, every: Mapping[str, AuditSeries]) -> Iterator[Row]:
    planned = [(series, level) for series in every.values() for level in series.levels]
    ledger = Ledger(FAILURE_PROB)
    share = even_share(FAILURE_PROB, sum(3 if series.halves else 1 for series, _ in planned))
    for series, level in planned:
        count = counts.get((series.name, str(level), "nan"))
        if not count:
            continue
        n = count["repeats"]
        parts = {"any": level} | ({"low": level / 2, "high": level / 2} if series.halves else {})
        for part in parts:
            ledger.spend(ledger.take((), f"{series.name}, level {level}: {part}", share), "whether it is compatible")
        compatible = all(clopper_pearson_lower(count[part], n, share) <= nominal for part, nominal in parts.items())
        if series.predicted:
            compatible = level in clopper_pearson(count["any"], n, share)
        shown = clopper_pearson(count["any"], n, 1 - CONFIDENCE)
        yield {
            "kind": series.kind,
            "auditor": series.auditor,
            "law": series.law,
            "level": level,
            "n_draws": series.n_draws,
            "repeats": n,
            "low": count["low"],
            "high": count["high"],
            "any": count["any"],
            "interval": [shown.low, shown.high],
            "smallest_rate_refused": smallest_refused(n, level, share),
            "compatible": compatible,
        }


def smallest_refused(n: int, level: float, share: float) -> float:
    """Return the smallest observed rate that would be called incompatible with ``level`` (above 1: none)."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        if middle <= n and clopper_pearson_lower(middle, n, share) <= level:
            low = middle + 1
        else:
            high = middle
    return low / n


def _bank_rows(counts: Counts, every: Mapping[str, BankMutant]) -> Iterator[Row]:
    for mutant in every.values():
        grades: list[Row] = []
        for strength in mutant.strengths:
            found = counts.get((mutant.name, "nan", str(strength)))
            if found:
                hits, n = found["any"], found["repeats"]
                ends = clopper_pearson(hits, n, 1 - CONFIDENCE)
                lower = clopper_pearson_lower(hits, n, 1 - CONFIDENCE)
                grades.append(
                    {
                        "strength": None if math.isnan(strength) else strength,
                        "repeats": n,
                        "refuted": hits,
                        "interval": [ends.low, ends.high],
                        "lower": lower,
                    }
                )
        if grades:
            surely = [grade["strength"] for grade in grades if grade["lower"] >= FOUND]
            stated = [g for g in grades if g["strength"] is None or g["strength"] == mutant.stated]
            yield {
                "kind": "mutant",
                "auditor": mutant.auditor,
                "name": mutant.name,
                "unit": mutant.unit,
                "graded": mutant.graded,
                "stated": None if math.isnan(mutant.stated) else mutant.stated,
                "n_draws": mutant.n_draws,
                "failure_prob": DEFAULT_FAILURE_PROB,
                "grades": grades,
                "smallest_found": surely[0] if mutant.graded and surely else None,
                "found": all(grade["lower"] >= FOUND for grade in stated) if stated else None,
            }


def unexpected(rows: Sequence[Row], *, complete: bool = True) -> list[str]:
    """Return one line for everything that is not as it should be.

    Of a calibration that was interrupted, a rate that is too high counts all the same; that a mutant or an invalid
    auditor was not found out yet does not.
    """
    lines = []
    for row in rows:
        wrong = not row.get("compatible", True)
        if row["kind"] == "exact" and wrong:
            where = f"n={row['n']}, p={row['p']:g}, level {row['level']:g}"
            lines.append(f"Clopper-Pearson at {where}: an end misses too often")
        elif row["kind"] == "rate" and wrong:
            told = f"{row['any']} false alarms in {row['repeats']} at level {row['level']:g}"
            lines.append(f"{row['auditor']}: {row['law']}: {told}")
        elif row["kind"] == "prediction" and wrong:
            told = f"{row['any']} of {row['repeats']}, predicted {row['level']:g}"
            lines.append(f"{row['auditor']}: {row['law']}: {told}")
        elif row["kind"] == "mutant" and row["found"] is False and complete:
            lines.append(f"{row['name']}: not refuted often enough at its stated strength")
    controls = [row for row in rows if row["kind"] == "control"]
    for name in dict.fromkeys(row["auditor"] for row in controls) if complete else ():
        if all(row["compatible"] for row in controls if row["auditor"] == name):
            lines.append(f"{name}: an invalid auditor was not found out")
    return lines


@dataclass(frozen=True)
class Calibration:
    """A calibration as it was counted: the header, then rates and mutants in canonical order."""

    header: Row
    rows: tuple[Row, ...]

    @property
    def complete(self) -> bool:
        """Whether every task was done."""
        return bool(self.header["complete"])

    @property
    def crashed(self) -> tuple[str, ...]:
        """What killed its worker process every time."""
        return tuple(self.header.get("crashed", ()))


def first_line(profile: str, seed: int, *, n_tasks: int, n_done: int, crashed: Sequence[str] = ()) -> Row:
    """Return the header; ``crashed`` names what killed its worker process every time."""
    own = {"complete": n_done == n_tasks, "tasks": n_tasks, "tasks_done": n_done, "profile": profile, "seed": seed}
    first = header(own, schema_version=SCHEMA_VERSIONS["calibration"], record="calibration")
    return first | ({"crashed": list(crashed)} if crashed else {})


def write(calibration: Calibration, path: Path) -> None:
    """Write the record atomically."""
    rows = (calibration.header, *calibration.rows)
    write_atomic(path, "".join(f"{dumps(row)}\n" for row in rows).encode())


def begin(path: Path, profile: str, seed: int, *, n_tasks: int) -> None:
    """Write a record of which nothing is done, so that the folder of a killed calibration says what it is of."""
    write(Calibration(first_line(profile, seed, n_tasks=n_tasks, n_done=0), ()), path)


def read(path: Path) -> Calibration:
    """Return the record of a file.

    Raises ``UserError`` if it cannot be read, is none of a calibration of this version, or is not as it was written.
    """
    first, *rows = checked_rows(path, "calibration")
    return Calibration(first, tuple(rows))
