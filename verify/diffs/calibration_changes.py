"""Two calibrations: how often each auditor misses, and which wrong mechanisms are found out.

What is counted does not depend on the seed, so that counts of two seeds are compared: as intervals that hold together
but for ``FAILURE_PROB``, whatever the number of rates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from audits.stats.intervals import clopper_pearson, even_share
from reports.numbers import format_interval

from ..kernel.rows import Row
from .changes import RecordChange, Turn, alone, more_is, one, paired, text
from .look_changes import ComparedRecord, Comparer

#: Probability that any rate is said to have moved that did not.
FAILURE_PROB = 1e-3
FOUND = {True: "found", False: "not found", None: "not tried"}
RATES = ("rate", "control", "prediction")


def calibration_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield what changed between two calibrations: what is as it should be, what is found out, and rates that moved."""
    crashed = [header.get("crashed", []) for header in (old.header, new.header)]
    yield from more_is(Turn.WORSE, "tasks that crashed", "", *(len(each) for each in crashed))
    yield from _exact(old.of("exact"), new.of("exact"))
    intervals = len(old.of(*RATES)) + sum(len(row["grades"]) for row in old.of("mutant"))
    share = even_share(FAILURE_PROB, 2 * max(1, intervals))
    yield from _rates(old.of(*RATES), new.of(*RATES), share, comparer)
    yield from _mutants(old.of("mutant"), new.of("mutant"), share, comparer)


def _exact(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    def named(row: Row) -> str:
        return f"{row['auditor']} at n={row['n']}, p={row['p']:g}, level {row['level']:g}"

    both, gone, added = paired(old, new, named)
    yield from alone("exact coverage", gone.items(), added.items())
    for name, (before, after) in both.items():
        yield from _compatible(name, before, after)


def _compatible(name: str, old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield whether a rate is as it should be; a control is an auditor that must be found out, and so should not be."""
    good = [row["compatible"] != (row["kind"] == "control") for row in (old, new)]
    words = "found out" if old["kind"] == "control" else "as it should be"
    turn = Turn.BETTER if good[1] else Turn.WORSE
    yield from one(turn, "verdict", name, *(words if each else f"not {words}" for each in good))


def _rates(old: Sequence[Row], new: Sequence[Row], share: float, comparer: Comparer) -> Iterator[RecordChange]:
    def named(row: Row) -> str:
        kind = "" if row["kind"] == "rate" else f" ({row['kind']})"
        return f"{row['auditor']}, {row['law']}, level {row['level']:g}{kind}"

    both, gone, added = paired(old, new, named)
    yield from alone("rate", gone.items(), added.items())
    for name, (before, after) in both.items():
        yield from _compatible(name, before, after)
        yield from more_is(Turn.BETTER, "draws", name, before["n_draws"], after["n_draws"])
        yield from _moved(name, before, after, lambda row: row["any"], share, comparer)


def _mutants(old: Sequence[Row], new: Sequence[Row], share: float, comparer: Comparer) -> Iterator[RecordChange]:
    both, gone, added = paired(old, new, lambda row: f"{row['auditor']}, {row['name']}")
    yield from alone("mutant", gone.items(), added.items())
    for name, (before, after) in both.items():
        if before["found"] != after["found"]:
            turn = Turn.WORSE if before["found"] else Turn.BETTER if after["found"] else Turn.CHANGED
            yield RecordChange(turn, "mutant", name, FOUND[before["found"]], FOUND[after["found"]])
        yield from one(Turn.CHANGED, "least found", name, before["smallest_found"], after["smallest_found"])
        yield from one(Turn.CHANGED, "stated", name, before["stated"], after["stated"])
        yield from more_is(Turn.BETTER, "draws", name, before["n_draws"], after["n_draws"])
        grades, lost, more = paired(before["grades"], after["grades"], lambda grade: text(grade["strength"]))
        fewer, further = ([(f"{name}, {key}", row) for key, row in part.items()] for part in (lost, more))
        yield from alone("strength", fewer, further)
        for key, (grade, now) in grades.items():
            where = name if grade["strength"] is None else f"{name}, {key}"
            yield from _moved(where, grade, now, lambda row: row["refuted"], share, comparer)


def _moved(
    name: str, old: Row, new: Row, hits: Callable[[Row], int], share: float, comparer: Comparer
) -> Iterator[RecordChange]:
    """Yield how many repetitions there are, and whether a rate moved: two exact intervals with no value in common."""
    yield from more_is(Turn.BETTER, "repetitions", name, old["repeats"], new["repeats"])
    comparer.compared["rates"] += 1
    before, after = (clopper_pearson(hits(row), row["repeats"], share) for row in (old, new))
    if before.high < after.low or after.high < before.low:
        words = [
            format_interval(hits(row) / row["repeats"], ends.low, ends.high)
            for row, ends in ((old, before), (new, after))
        ]
        yield RecordChange(Turn.CHANGED, "rate", name, words[0], words[1], 2 * share)
