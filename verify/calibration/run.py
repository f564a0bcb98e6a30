"""One calibration: tasks of repetitions, spread over processes, added up to rows; the same rows whatever the workers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from audits import Budget, StreamKey
from audits.intervals import clopper_pearson, clopper_pearson_lower

from ..pool import spread
from .bank import DEFAULT_FAILURE_PROB, Mutant, graded_mutants, twin_mutants
from .series import BLOCK, Series

Row = dict[str, Any]

#: Probability that a sound instrument is called incompatible, over all rates of one calibration.
FAILURE_PROB = 1e-3

#: A mutant counts as found when the exact lower end of its refutation rate, at this confidence, is at least FOUND.
CONFIDENCE, FOUND = 0.95, 0.95

#: Repetitions of a series, of a mutant, and of a grade of a mutant, by profile.
REPETITIONS = {"quick": (40, 0, 0), "standard": (1000, 100, 60), "full": (5000, 1000, 200)}

#: Repetitions of one task of the bank.
BANK_BLOCK = 10


@dataclass(frozen=True)
class Task:
    """Some repetitions of one series at one level, or of one mutant at one strength (``level`` nan)."""

    name: str
    level: float
    strength: float
    block: int
    repeats: int
    seed: int


@cache
def all_series() -> Mapping[str, Series]:
    """Return every series by its name."""
    from .auditor_series import auditor_series
    from .interval_series import interval_series
    from .rare_series import rare_series

    found = [*interval_series(), *auditor_series(), *rare_series()]
    named = {series.name: series for series in found}
    assert len(named) == len(found), "names of series must be unique"
    return named


@cache
def all_mutants() -> Mapping[str, Mutant]:
    """Return every mutant by its name."""
    return {mutant.name: mutant for mutant in (*twin_mutants(), *graded_mutants())}


def tasks(profile: str, seed: int) -> list[Task]:
    """Return the tasks of a profile, the longest first (they end the run otherwise)."""
    n_series, n_twins, n_graded = REPETITIONS[profile]
    planned: list[Task] = []
    for mutant in all_mutants().values():
        n_repeats = n_graded if mutant.graded else n_twins
        for strength in mutant.strengths if n_repeats else ():
            planned += _blocks(mutant.name, math.nan, strength, n_repeats, BANK_BLOCK, seed)
    for series in all_series().values():
        for level in series.levels:
            planned += _blocks(series.name, level, math.nan, n_series * series.times, BLOCK * series.times, seed)
    return planned


def _blocks(name: str, level: float, strength: float, n_repeats: int, size: int, seed: int) -> Iterator[Task]:
    for block, start in enumerate(range(0, n_repeats, size)):
        yield Task(name, level, strength, block, min(size, n_repeats - start), seed)


def perform(task: Task) -> tuple[int, int, int]:
    """Return how often the lower end, the upper end and either of them missed (of a mutant: refutations, three times)."""
    key = StreamKey(task.seed, ("calibrate", task.name, str(task.level), str(task.strength), str(task.block)))
    if math.isnan(task.level):
        mutant = all_mutants()[task.name]
        budgets = (
            Budget(mutant.n_draws, DEFAULT_FAILURE_PROB, key.child(str(repeat))) for repeat in range(task.repeats)
        )
        hits = sum(mutant.refute(task.strength, budget) for budget in budgets)
        return hits, hits, hits
    misses = all_series()[task.name].misses(task.repeats, task.level, key)
    return int(misses[:, 0].sum()), int(misses[:, 1].sum()), int(misses.any(axis=1).sum())


def calibrate(profile: str, seed: int, jobs: int, advance: Callable[[int, int], None]) -> list[Row]:
    """Return the rows of a calibration, rates first; ``advance(done, of)`` is told after each task."""
    planned = tasks(profile, seed)
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    for done, (task, hits) in enumerate(spread(perform, planned, jobs), start=1):
        total = counts.setdefault((task.name, str(task.level), str(task.strength)), Counter())
        total.update(dict(zip(("low", "high", "any"), hits, strict=True)))
        total["repeats"] += task.repeats
        advance(done, len(planned))
    return [*_exact_rows(), *_rate_rows(counts), *_bank_rows(counts)]


def _exact_rows() -> Iterator[Row]:
    from .interval_series import exact_rates

    for row in exact_rates():
        half = 0.5 * row["level"] * (1 + 1e-9)
        yield {"kind": "exact", "auditor": "Clopper-Pearson", **row, "compatible": max(row["low"], row["high"]) <= half}


def _rate_rows(counts: Mapping[tuple[str, str, str], Counter[str]]) -> Iterator[Row]:
    planned = [(series, level) for series in all_series().values() for level in series.levels]
    share = FAILURE_PROB / sum(3 if series.halves else 1 for series, _ in planned)
    for series, level in planned:
        found = counts[series.name, str(level), "nan"]
        n = found["repeats"]
        parts = {"any": level} | ({"low": level / 2, "high": level / 2} if series.halves else {})
        compatible = all(clopper_pearson_lower(found[part], n, share) <= nominal for part, nominal in parts.items())
        shown = clopper_pearson(found["any"], n, 1 - CONFIDENCE)
        yield {
            "kind": "control" if series.control else "rate",
            "auditor": series.auditor,
            "law": series.law,
            "level": level,
            "n_draws": series.n_draws,
            "repeats": n,
            "low": found["low"],
            "high": found["high"],
            "any": found["any"],
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


def _bank_rows(counts: Mapping[tuple[str, str, str], Counter[str]]) -> Iterator[Row]:
    for mutant in all_mutants().values():
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
                "name": mutant.name,
                "unit": mutant.unit,
                "n_draws": mutant.n_draws,
                "failure_prob": DEFAULT_FAILURE_PROB,
                "grades": grades,
                "smallest_found": surely[0] if mutant.graded and surely else None,
                "found": all(grade["lower"] >= FOUND for grade in stated) if stated else None,
            }


def expected(rows: list[Row]) -> bool:
    """Return whether every rate is compatible with its level, every control is found out, every mutant is refuted."""
    return not unexpected(rows)


def unexpected(rows: list[Row]) -> list[str]:
    """Return one line for everything that is not as it should be."""
    lines = []
    for row in rows:
        if row["kind"] == "exact" and not row["compatible"]:
            lines.append(
                f"Clopper-Pearson at n={row['n']}, p={row['p']:g}, level {row['level']:g}: an end misses too often"
            )
        elif row["kind"] == "rate" and not row["compatible"]:
            lines.append(
                f"{row['auditor']}: {row['law']}: {row['any']} false alarms in {row['repeats']} at level {row['level']:g}"
            )
        elif row["kind"] == "mutant" and row["found"] is False:
            lines.append(f"{row['name']}: not refuted often enough at its stated strength")
    controls = [row for row in rows if row["kind"] == "control"]
    for name in dict.fromkeys(row["auditor"] for row in controls):
        if all(row["compatible"] for row in controls if row["auditor"] == name):
            lines.append(f"{name}: an invalid auditor was not found out")
    return lines
