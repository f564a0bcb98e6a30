"""Two looks at one claim: how the outcome changed, and whether a number left its interval; and two sweeps of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ..kernel.rows import Row, dumps, number
from ..kernel.verdict import Reason
from ..kernel.words import interval
from .changes import DIGEST, NOTHING, RecordChange, Turn, alone, flat, named_changes, one, paired, text

#: Numbers of another platform, and those without a proved width, are known to this (relative, absolute).
RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: Which outcome of a claim that should hold is better than which.
GOODNESS = {"FAILS": 0, "UNDECIDED": 1, "OUT_OF_DOMAIN": 2, "HOLDS": 3}
#: Reasons that are defects: to stay undecided for one of them is worse than for want of draws.
DEFECTS = (Reason.ERROR.name, Reason.INCONSISTENT.name)


@dataclass(frozen=True)
class ComparedRecord:
    """A record of a kind: ``run``, ``certificate``, ``sweep`` or ``calibration``."""

    kind: str
    header: Row
    rows: tuple[Row, ...]

    def of(self, *kinds: str) -> tuple[Row, ...]:
        """Return the rows of some kinds, kind by kind, in their order."""
        return tuple(row for kind in kinds for row in self._by_kind.get(kind, ()))

    @cached_property
    def _by_kind(self) -> dict[str, list[Row]]:
        grouped: dict[str, list[Row]] = {}
        for row in self.rows:
            grouped.setdefault(row["kind"], []).append(row)
        return grouped

    @property
    def confidential(self) -> bool:
        """Whether it holds what only a curator may read; a sweep over a user's own data is taken to."""
        return bool(self.header.get("contains_private")) or (self.kind == "sweep" and self.header["data"] is not None)


@dataclass
class Comparer:
    """How two records' numbers are compared, and how many were.

    Attributes
    ----------
    numbers : bool
        Whether they may be compared at all: under one seed, and on one set of data.
    exactly : bool
        Whether platform and versions agree, so that equal inputs are equal to the last bit.
    compared : Counter
        How many numbers were compared: ``proved``, ``sampled``, and ``equal`` to the byte.
    """

    numbers: bool
    exactly: bool
    compared: Counter[str] = field(default_factory=Counter)

    def moved(self, where: str, old: Row, new: Row) -> Iterator[RecordChange]:
        """Yield the numbers of two looks at one claim whose intervals share no value, or of which one is gone."""
        if not self.numbers:
            return
        for witness, kind in (("exact", "proved"), ("sampled", "sampled")):
            before, after = old[witness], new[witness]
            if before is None or after is None:
                yield from self._seen(where, kind, old, new, before, after)
                continue
            self.compared[kind] += 1
            if before == after:
                self.compared["equal"] += 1
            elif not self.meet(before, after):
                spent = before["failure_prob"] + after["failure_prob"]
                yield RecordChange(Turn.CHANGED, "number", where, interval(before), interval(after), spent)

    def _seen(
        self, where: str, kind: str, old: Row, new: Row, before: Row | None, after: Row | None
    ) -> Iterator[RecordChange]:
        """Yield a number that one look alone has, where both came to the same end: less was examined without it."""
        if before != after and _ended(old) == _ended(new):
            turn = Turn.WORSE if after is None else Turn.BETTER
            words = [NOTHING if each is None else interval(each) for each in (before, after)]
            yield RecordChange(turn, f"{kind} number", where, words[0], words[1])

    def equal(self, row: Row) -> None:
        """Count the numbers of a row that both records have, equal to the byte."""
        if not self.numbers:
            return
        proved, sampled = row["exact"] is not None, row["sampled"] is not None
        self.compared["proved"] += proved
        self.compared["sampled"] += sampled
        self.compared["equal"] += proved + sampled

    def meet(self, old: Row, new: Row) -> bool:
        """Return whether two intervals have a value in common, as far as their ends are known."""
        (low, high), (low_now, high_now) = ends(old), ends(new)
        if any(math.isnan(end) for end in (low, high, low_now, high_now)):
            return True
        if low <= high_now and low_now <= high:
            return True
        widths = low < high and low_now < high_now
        nearest = (high, low_now) if high < low_now else (low, high_now)
        return not (self.exactly and widths) and math.isclose(*nearest, rel_tol=RELATIVE, abs_tol=ABSOLUTE)

    def same(self, old: object, new: object) -> bool:
        """Return whether two values of a record agree, numbers as far as they are known."""
        if old == new:
            return True
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return old.keys() == new.keys() and all(self.same(old[name], new[name]) for name in old)
        floats = isinstance(old, float) and isinstance(new, (float, int))
        return floats and math.isclose(old, new, rel_tol=RELATIVE, abs_tol=ABSOLUTE)  # type: ignore[arg-type]


def _ended(row: Row) -> tuple[str, str]:
    return row["outcome"], row["reason"]


def ends(estimate: Row) -> tuple[float, float]:
    """Return the ends of an estimate's interval."""
    return number(estimate["low"]), number(estimate["high"])


def outcome_words(row: Row) -> str:
    """Return an outcome with the reason why it is undecided."""
    outcome = row["outcome"].lower().replace("_", " ")
    return outcome if row["reason"] == Reason.NONE.name else f"{outcome} ({row['reason'].lower().replace('_', ' ')})"


def outcome_turn(old: Row, new: Row) -> Turn:
    """Return which way the outcome of a claim that should hold changed; a refutation that is lost is no improvement."""
    before, after = GOODNESS[old["outcome"]], GOODNESS[new["outcome"]]
    if before == after:
        return defect_turn(old, new)
    if after < before:
        return Turn.WORSE
    return Turn.BETTER if new["outcome"] == "HOLDS" else Turn.CHANGED


def defect_turn(old: Row, new: Row) -> Turn:
    """Return which way a reason changed."""
    before, after = old["reason"] in DEFECTS, new["reason"] in DEFECTS
    return Turn.CHANGED if before == after else Turn.WORSE if after else Turn.BETTER


def question(claim: Row | None) -> Row:
    """Return what a claim asks, without the numbers that the seed's data may decide."""
    named = ("quantity", "in_domain", "relation", "observer", "conditioned_on")
    return {} if claim is None else {name: claim[name] for name in named}


def _numbers_of(claim: Row | None) -> Row:
    """Return the numbers of a claim."""
    return {} if claim is None else {name: claim[name] for name in ("published", "low", "high")}


def claim_changes(where: str, old: Row | None, new: Row | None, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield how what is claimed about one number changed."""
    if old is None or new is None or old == new:
        return  # a check that stopped has no claim: the outcome says so
    parts = [(question(old), question(new))]
    if comparer.numbers:
        parts.append((_numbers_of(old), _numbers_of(new)))
    for before, after in parts:
        differing = [name for name in before if not comparer.same(before[name], after[name])]
        for name in differing:
            yield RecordChange(Turn.CHANGED, "claim", f"{where}, {name}", text(before[name]), text(after[name]))
        if "quantity" in differing:
            return  # the numbers of another quantity are others


def sweep_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield what changed between two sweeps: the grid, then its cells."""
    yield from one(Turn.CHANGED, "grid", "", old.header["name"], new.header["name"])
    for axis in dict.fromkeys([*old.header["axes"], *new.header["axes"]]):
        before, after = (header["axes"].get(axis, []) for header in (old.header, new.header))
        less = any(value not in after for value in before)
        yield from one(Turn.WORSE if less else Turn.CHANGED, "axis", axis, before, after)
    yield from one(Turn.CHANGED, "data", "", *(str(side.header["data"] or "")[:DIGEST] for side in (old, new)))
    yield from named_changes("mechanism", *(flat(header["imported"]) for header in (old.header, new.header)))
    both, gone, added = paired(old.of("cell"), new.of("cell"), lambda row: dumps(row["cell"]))
    comparer.compared["cells"] += len(both)
    for before, after in both.values():
        if before == after:
            comparer.equal(before)
        else:
            yield from _cell(before, after, comparer)
    before_alone, now_alone = ([(text(row["cell"]), row) for row in part.values()] for part in (gone, added))
    yield from alone("cell", before_alone, now_alone, lambda row: f" ({_words(row)})")


def _words(row: Row) -> str:
    return f"holds, as {row['ground']}" if row["ground"] else outcome_words(row)


def _cell(old: Row, new: Row, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield how a cell changed: its outcome, what that rests on, or its numbers."""
    where = text(new["cell"])
    if _words(old) != _words(new):
        turn = outcome_turn(old, new)
        if old["outcome"] == new["outcome"] == "HOLDS":
            turn = Turn.BETTER if new["ground"] == "proved" else Turn.WORSE
        yield RecordChange(turn, "outcome", where, _words(old), _words(new))
    changed = list(claim_changes(where, old["claim"], new["claim"], comparer))
    yield from changed
    if not changed:
        yield from comparer.moved(where, old, new)
