"""Two sweeps: the cells of one claim's grid, each decided before and now."""

from __future__ import annotations

from collections.abc import Iterator

from ..engine.rows import Row, dumps
from .changes import RecordChange, Turn, one, paired, text
from .compared_record import ComparedRecord
from .header_changes import flat, named_changes
from .look_changes import Comparer, claim_changes, outcome_turn, outcome_words


def sweep_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield what changed between two sweeps: the grid, then its cells."""
    yield from one(Turn.CHANGED, "grid", "", old.header["name"], new.header["name"])
    for axis in dict.fromkeys([*old.header["axes"], *new.header["axes"]]):
        before, after = (header["axes"].get(axis, []) for header in (old.header, new.header))
        less = any(value not in after for value in before)
        yield from one(Turn.WORSE if less else Turn.CHANGED, "axis", axis, before, after)
    yield from one(Turn.CHANGED, "data", "", *(str(header["data"] or "")[:12] for header in (old.header, new.header)))
    yield from named_changes("mechanism", *(flat(header["imported"]) for header in (old.header, new.header)))
    both, gone, added = paired(old.of("cell"), new.of("cell"), lambda row: dumps(row["cell"]))
    comparer.compared["cells"] += len(both)
    yield from (
        RecordChange(Turn.WORSE, "gone", named(r), f"the cell is gone ({_words(r)})", "") for r in gone.values()
    )
    for before, after in both.values():
        if before == after:
            comparer.equal(before)
        else:
            yield from _cell(before, after, comparer)
    yield from (
        RecordChange(Turn.CHANGED, "new", named(r), "", f"the cell is new ({_words(r)})") for r in added.values()
    )


def named(row: Row) -> str:
    """Return a cell's parameters in one line."""
    return text(row["cell"])


def _words(row: Row) -> str:
    return f"holds, as {row['ground']}" if row["ground"] else outcome_words(row)


def _cell(old: Row, new: Row, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield how a cell changed: its outcome, what that rests on, or its numbers."""
    where = named(new)
    if _words(old) != _words(new):
        turn = outcome_turn(old, new)
        if old["outcome"] == new["outcome"] == "HOLDS":
            turn = Turn.BETTER if new["ground"] == "proved" else Turn.WORSE
        yield RecordChange(turn, "outcome", where, _words(old), _words(new))
    changed = list(claim_changes(where, old["claim"], new["claim"], comparer))
    yield from changed
    if not changed:
        yield from comparer.moved(where, old, new)
