"""One change between two records, and all of them: what is for the worse comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from audits.estimate import Result
from reports.numbers import format_count

from ..kernel.rows import Row

#: What a value is called that only one of the records has.
NOTHING = "none"
#: What comes first among the changes that go one way.
FIRST = ("verdict", "expectation", "mutant", "promise", "profile", "complete", "gone", "outcome", "number")
#: Letters of a digest that are shown.
DIGEST = 12
#: Letters of the longest value that is shown, of one whose differing part alone is, and around that part.
LONGEST, LONG, AROUND = 160, 72, 24


class Turn(Enum):
    """Which way a change goes; the values are the printed words."""

    WORSE = "for the worse"
    CHANGED = "otherwise"
    BETTER = "for the better"


@dataclass(frozen=True)
class RecordChange:
    """One thing that differs.

    Attributes
    ----------
    turn : Turn
        Which way it goes.
    what : str
        What kind of thing it is: ``verdict``, ``outcome``, ``mutant``, ``gone``, ``new``, ``number``, ``claim``, ….
    where : str
        The id, case, claim or cell; empty for what is said of a record as a whole.
    old, new : str
        What either record says, in words.
    failure_prob : float
        Of a number that moved: the sum of both intervals' failure probabilities, 0 where both are proved.
    """

    turn: Turn
    what: str
    where: str
    old: str
    new: str
    failure_prob: float = 0.0

    def line(self) -> str:
        """Return the change in one line."""
        place = f"{self.what}  {self.where}: " if self.where else f"{self.what}  "
        return f"{place}{self.said()}"

    def said(self) -> str:
        """Return what either record says; of a number that moved, what its two intervals may be wrong with."""
        old, new = self.sides()
        if self.what in ("gone", "new"):
            return old or new
        spent = f" (both intervals hold but for {self.failure_prob:.2g})" if self.failure_prob else ""
        return f"{old} -> {new}{spent}"

    def sides(self) -> tuple[str, str]:
        """Return what either record says, long values cut on both sides of what differs."""
        old, new = (" ".join(value.split()) for value in (self.old, self.new))
        if min(len(old), len(new)) > LONG:
            start = max(0, _shared(old, new) - AROUND)
            end = max(0, _shared(old[start:][::-1], new[start:][::-1]) - AROUND)
            old, new = (
                f"{'…' * bool(start)}{value[start : len(value) - end].strip()}{'…' * bool(end)}" for value in (old, new)
            )
        return shortened(old), shortened(new)

    def row(self) -> Row:
        """Return the change as JSON values."""
        named = {name: getattr(self, name) for name in ("what", "where", "old", "new", "failure_prob")}
        return {"turn": self.turn.name, **named}


@dataclass(frozen=True, repr=False)
class Difference(Result):
    """What changed between two records of one kind.

    Attributes
    ----------
    kind : str
        ``run``, ``certificate``, ``sweep`` or ``calibration``.
    changes : tuple of RecordChange
        Those for the worse first; in the order of the records within each.
    notes : tuple of str
        What was not compared, and why.
    compared : mapping of str to int
        How much was held against each other: rows, proved and sampled numbers, and those that are equal to the byte.
    confidential : bool
        Whether either record is a curator's on private data: then so is everything here.
    """

    kind: str
    changes: tuple[RecordChange, ...]
    notes: tuple[str, ...] = ()
    compared: Mapping[str, int] = field(default_factory=dict)
    confidential: bool = False

    @property
    def worse(self) -> bool:
        """Whether anything changed for the worse."""
        return any(change.turn is Turn.WORSE for change in self.changes)

    @property
    def exit_code(self) -> int:
        """1 on a change for the worse, 0 otherwise."""
        return int(self.worse)

    def of(self, turn: Turn) -> tuple[RecordChange, ...]:
        """Return the changes that go one way."""
        return tuple(change for change in self.changes if change.turn is turn)

    def headline(self) -> str:
        """Return how many changes there are and how many of them go which way, in words."""
        if not self.changes:
            return "no change"
        n_worse, n_better = len(self.of(Turn.WORSE)), len(self.of(Turn.BETTER))
        words = [f"{n_worse or 'none'} {Turn.WORSE.value}"] + [f"{n_better} {Turn.BETTER.value}"] * bool(n_better)
        count = len(self.changes)
        return f"{format_count(count)} change{'s' if count > 1 else ''}: {', '.join(words)}"

    def lines(self, most: int | None = None) -> list[str]:
        """Return the changes in short lines, those for the worse first; after ``most`` lines, how many are left."""
        shown = self.changes if most is None else self.changes[:most]
        left = len(self.changes) - len(shown)
        return [change.line() for change in shown] + ([f"and {left} more"] if left else [])

    def summary(self) -> str:
        """Return how much changed, every change in a line, and what was not compared."""
        return "\n".join([f"{self.kind}: {self.headline()}", *(f"  {line}" for line in (*self.lines(), *self.notes))])

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        counts = {turn.name.lower(): len(self.of(turn)) for turn in Turn}
        return {"kind": self.kind, **counts, "not compared": "; ".join(self.notes), "confidential": self.confidential}


def _shared(old: str, new: str) -> int:
    """Return how many letters two texts begin with in common."""
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def shortened(value: str) -> str:
    """Return a text of at most ``LONGEST`` letters on one line."""
    line = " ".join(value.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def ordered(changes: Iterable[RecordChange]) -> tuple[RecordChange, ...]:
    """Return the changes for the worse first, those for the better last; in each, what matters first."""
    turns = {turn: place for place, turn in enumerate(Turn)}
    kinds = {what: place for place, what in enumerate(FIRST)}
    return tuple(sorted(changes, key=lambda change: (turns[change.turn], kinds.get(change.what, len(FIRST)))))


def paired(
    old: Sequence[Row], new: Sequence[Row], key: Callable[[Row], str]
) -> tuple[dict[str, tuple[Row, Row]], dict[str, Row], dict[str, Row]]:
    """Return the rows that both records have, by a name; those of the old one alone; those of the new one alone."""
    before, after = _by_name(old, key), _by_name(new, key)
    both = {name: (row, after[name]) for name, row in before.items() if name in after}
    gone = {name: row for name, row in before.items() if name not in after}
    return both, gone, {name: row for name, row in after.items() if name not in before}


def _by_name(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, Row]:
    """Return rows by their names; a name that comes again is counted."""
    times: Counter[str] = Counter()
    counted: dict[str, Row] = {}
    for row in rows:
        name = key(row)
        times[name] += 1
        counted[name if times[name] == 1 else f"{name} ({times[name]})"] = row
    return counted


def alone(
    what: str,
    gone: Iterable[tuple[str, Any]],
    added: Iterable[tuple[str, Any]],
    words: Callable[[Any], str] = lambda _: "",
    *,
    turn: Turn = Turn.WORSE,
) -> Iterator[RecordChange]:
    """Yield what one record alone has, by name; ``turn`` is that of what is gone, ``words`` follow."""
    for name, row in gone:
        yield RecordChange(turn, "gone", name, f"the {what} is gone{words(row)}", "")
    for name, row in added:
        yield RecordChange(Turn.CHANGED, "new", name, "", f"the {what} is new{words(row)}")


def one(turn: Turn, what: str, where: str, old: Any, new: Any) -> Iterator[RecordChange]:
    """Yield one change if two values differ, and nothing otherwise."""
    if old != new:
        yield RecordChange(turn, what, where, text(old), text(new))


def named_changes(
    what: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    *,
    names: Iterable[str] | None = None,
    where: str = "",
    turn: Turn = Turn.CHANGED,
) -> Iterator[RecordChange]:
    """Yield the values of two mappings that differ, by name: of all names, or of some; ``where`` stands before each."""
    for name in dict.fromkeys([*old, *new]) if names is None else names:
        yield from one(turn, what, f"{where}{name}", old.get(name), new.get(name))


def less_is_worse(old: float, new: float) -> Turn:
    """Return which way a change goes of a quantity of which less is for the worse."""
    return Turn.WORSE if new < old else Turn.BETTER if new > old else Turn.CHANGED


def more_is(
    more: Turn, what: str, where: str, old: float | None, new: float | None, *, absent: float = 0.0
) -> Iterator[RecordChange]:
    """Yield the change of a quantity, of which more is for the better or for the worse; None counts as ``absent``."""
    if old == new:
        return
    less = Turn.WORSE if more is Turn.BETTER else Turn.BETTER
    grows = (absent if new is None else new) > (absent if old is None else old)
    yield RecordChange(more if grows else less, what, where, text(old), text(new))


def flat(value: Any, place: str = "") -> dict[str, Any]:
    """Return the values of a nested object by their dotted places; a list of values is one value."""
    if isinstance(value, Mapping):
        inside = [(f"{place}.{name}".lstrip("."), each) for name, each in value.items()]
    elif isinstance(value, list) and any(isinstance(each, (Mapping, list)) for each in value):
        named = [each.get("name", i) if isinstance(each, Mapping) else i for i, each in enumerate(value)]
        inside = [(f"{place}.{name}", each) for name, each in zip(named, value, strict=True)]
    else:
        return {place: text(value)}
    return {name: each for path, part in inside for name, each in flat(part, path).items()}


def text(value: Any) -> str:
    """Return a value of a record in words."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(text(each) for each in value) or NOTHING
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {text(each)}" for name, each in value.items()) or NOTHING
    return str(value)
