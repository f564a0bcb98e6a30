"""Two records held against each other: values by rules, rows by their names, numbers by their intervals."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from ..kernel.rows import Row, number
from ..kernel.verdict import Reason
from ..kernel.words import interval

#: Letters of a digest that are shown.
DIGEST = 12
#: Letters of the longest value that is shown, of one whose differing part alone is, and around that part.
LONGEST, LONG, AROUND = 160, 72, 24
#: Numbers of another platform, and those without a proved width, are known to this (relative, absolute).
CLOSE = {"rel_tol": 1e-9, "abs_tol": 1e-12}
#: What a claim about a number asks, and its numbers, which the seed's data may decide.
QUESTION = ("quantity", "in_domain", "relation", "observer", "conditioned_on")
NUMBERS = ("published", "low", "high")


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
        return f"{self.what}  {self.where}{': ' * bool(self.where)}{self.said()}"

    def said(self) -> str:
        """Return what either record says; of a number that moved, what its two intervals may be wrong with."""
        old, new = self.sides()
        return old or new if self.what in ("gone", "new") else f"{old} -> {new}{self.spent()}"

    def spent(self) -> str:
        """Return with which probability either interval of a number that moved is wrong, in words."""
        return f" (both intervals hold but for {self.failure_prob:.2g})" if self.failure_prob else ""

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
        return {**vars(self), "turn": self.turn.name}


def _shared(old: str, new: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def shortened(value: str) -> str:
    """Return a text of at most ``LONGEST`` letters on one line."""
    line = " ".join(value.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def text(value: Any) -> str:
    """Return a value of a record in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(text, value)) or "none"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {text(each)}" for name, each in value.items()) or "none"
    return "none" if value is None or value == "" else str(value)


def flat(value: Any, place: str = "") -> dict[str, str]:
    """Return the values of a nested object, in words, by their dotted places; a list of values is one value."""
    if isinstance(value, list) and any(isinstance(each, (Mapping, list)) for each in value):
        value = {each.get("name", i) if isinstance(each, Mapping) else i: each for i, each in enumerate(value)}
    if not isinstance(value, Mapping):
        return {place: text(value)}
    inside = (flat(each, f"{place}.{name}".lstrip(".")) for name, each in value.items())
    return {name: each for part in inside for name, each in part.items()}


Read = Callable[[Row], Any]
Way = Callable[[Any, Any], Turn]


class Rule(NamedTuple):
    """A value of a row, and what a change of it is called.

    ``read`` finds the value, by its dotted path (with ``?`` at its end, where a row may lack it) or as a function of
    the row. ``way`` says which way a change goes, given both values, or what ``by`` reads of both rows. With
    ``each``, the value is a mapping that is compared name by name; with ``both``, a value that one row lacks is not
    compared; with ``when``, only some pairs of rows are. ``where`` follows the name of the row.
    """

    what: str
    read: str | Read
    way: Turn | Way = Turn.CHANGED
    where: str = ""
    words: Callable[[Any], str] = text
    by: Read | None = None
    each: bool = False
    both: bool = False
    when: Callable[[Row, Row], bool] | None = None


class Matched(NamedTuple):
    """Rows of two records that are matched by name, and their rules.

    ``said`` says that one record alone has a row, which is then ``gone`` or ``new``; without it, that is no change.
    Rows with a noun in ``looks`` are looks at a claim, whose numbers are counted; ``shown`` is their name on a page.
    """

    name: Callable[[Row], str]
    said: Callable[[Row, str], str] | None = None
    rules: Sequence[Rule] = ()
    gone: Turn | Callable[[Row], Turn] = Turn.WORSE
    shown: Callable[[Row], str] | None = None
    looks: str = ""


def said(noun: str, words: Callable[[Row], str] = lambda _: "") -> Callable[[Row, str], str]:
    """Return how it is said that one record alone has a row."""
    return lambda row, fate: f"the {noun} is {fate}{words(row)}"


def less(old: Any, new: Any) -> Turn:
    """Return which way a change goes of a quantity of which less is for the worse, and so is no number."""
    return Turn.CHANGED if new == old else Turn.BETTER if new > old else Turn.WORSE


def more(old: Any, new: Any) -> Turn:
    """Return which way a change goes of a quantity of which more is for the worse."""
    return less(new, old)


def ranked(order: Sequence[Any]) -> Way:
    """Return which way a change goes of a value that is one of ``order``, the worst first."""
    return lambda old, new: less(order.index(old), order.index(new))


def _at(row: Any, path: str) -> Any:
    for key in path.rstrip("?").split("."):
        row = row.get(key) if path.endswith("?") and isinstance(row, Mapping) else row and row[key]
    return row


def compared(rules: Iterable[Rule], old: Row, new: Row, where: str = "") -> Iterator[RecordChange]:
    """Yield what differs of two rows, rule by rule."""
    for rule in rules:
        if rule.when is not None and not rule.when(old, new):
            continue
        sides = [_at(row, rule.read) if isinstance(rule.read, str) else rule.read(row) for row in (old, new)]
        sides = [side or {} for side in sides] if rule.each else sides
        for name in dict.fromkeys([*sides[0], *sides[1]]) if rule.each else [""]:
            before, after = (side.get(name) if rule.each else side for side in sides)
            if before == after or (rule.both and (before is None or after is None)):
                continue
            judged = (before, after) if rule.by is None else (rule.by(old), rule.by(new))
            turn = rule.way if isinstance(rule.way, Turn) else rule.way(*judged)
            yield RecordChange(turn, rule.what, f"{where}{rule.where}{name}", rule.words(before), rule.words(after))


def paired(
    old: Sequence[Row], new: Sequence[Row], name: Callable[[Row], str]
) -> tuple[dict[str, tuple[Row, Row]], dict[str, Row], dict[str, Row]]:
    """Return the rows that both records have, by a name; those of the old one alone; those of the new one alone.

    A name that comes again is counted.
    """
    named: list[dict[str, Row]] = []
    for rows in (old, new):
        times: Counter[str] = Counter()
        named.append({})
        for row in rows:
            times[name(row)] += 1
            named[-1][name(row) + (f" ({times[name(row)]})" if times[name(row)] > 1 else "")] = row
    before, after = named
    both = {key: (row, after[key]) for key, row in before.items() if key in after}
    gone, added = ({key: row for key, row in side.items() if key not in both} for side in named)
    return both, gone, added


@dataclass
class Comparer:
    """How the numbers of two records are compared, and how many were.

    ``numbers``: whether they may be at all, under one seed and on one set of data; ``exactly``: whether platform and
    versions agree, so that equal inputs are equal to the last bit; ``compared`` counts.
    """

    numbers: bool
    exactly: bool
    compared: Counter[str] = field(default_factory=Counter)

    def moved(self, where: str, old: Row, new: Row) -> Iterator[RecordChange]:
        """Yield the numbers of two looks at one claim whose intervals share no value, or of which one is gone.

        One that is gone is said where both looks came to the same end: less was examined without it.
        """
        for witness, kind in (("exact", "proved"), ("sampled", "sampled")) if self.numbers else ():
            before, after = old[witness], new[witness]
            if before is None or after is None:
                if before != after and (old["outcome"], old["reason"]) == (new["outcome"], new["reason"]):
                    words = ["none" if each is None else interval(each) for each in (before, after)]
                    turn = Turn.WORSE if after is None else Turn.BETTER
                    yield RecordChange(turn, f"{kind} number", where, words[0], words[1])
                continue
            self.compared[kind] += 1
            if before == after:
                self.compared["equal"] += 1
            elif not self.meet(before, after):
                spent = before["failure_prob"] + after["failure_prob"]
                yield RecordChange(Turn.CHANGED, "number", where, interval(before), interval(after), spent)

    def claimed(self, where: str, old: Row | None, new: Row | None) -> Iterator[RecordChange]:
        """Yield how what is claimed about one number changed; a check that stopped has no claim."""
        if old is None or new is None:
            return
        for names in (QUESTION, NUMBERS if self.numbers else ()):
            differing = [name for name in names if not self.same(old[name], new[name])]
            for name in differing:
                yield RecordChange(Turn.CHANGED, "claim", f"{where}, {name}", text(old[name]), text(new[name]))
            if "quantity" in differing:
                return  # the numbers of another quantity are others

    def equal(self, row: Row) -> None:
        """Count the numbers of a row that both records have, equal to the byte."""
        proved, sampled = row["exact"] is not None, row["sampled"] is not None
        for kind, count in {"proved": proved, "sampled": sampled, "equal": proved + sampled}.items():
            if self.numbers:
                self.compared[kind] += count

    def meet(self, old: Row, new: Row) -> bool:
        """Return whether two intervals have a value in common, as far as their ends are known."""
        low, high, low_now, high_now = (number(each[end]) for each in (old, new) for end in ("low", "high"))
        if any(map(math.isnan, (low, high, low_now, high_now))) or (low <= high_now and low_now <= high):
            return True
        nearest = (high, low_now) if high < low_now else (low, high_now)
        return not (self.exactly and low < high and low_now < high_now) and math.isclose(*nearest, **CLOSE)

    def same(self, old: object, new: object) -> bool:
        """Return whether two values of a record agree, numbers as far as they are known."""
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            return old.keys() == new.keys() and all(self.same(old[name], new[name]) for name in old)
        known = isinstance(old, float) and isinstance(new, (float, int)) and math.isclose(old, new, **CLOSE)
        return known or old == new


def walked(
    of: Matched,
    old: Sequence[Row],
    new: Sequence[Row],
    then: Callable[[str, Row, Row], Iterable[RecordChange]] = lambda *_: (),
    *,
    where: str = "",
    comparer: Comparer | None = None,
    skip: Callable[[Row], bool] = lambda _: False,
) -> Iterator[RecordChange]:
    """Yield the rows that one record alone has, unless they are skipped, and what differs of the others, row by row."""
    both, *sides = paired(old, new, of.name)

    def shown(name: str, row: Row) -> str:
        return where + (of.shown(row) if of.shown else name)

    gone, added = (
        [(shown(name, row), row) for name, row in side.items() if of.said and not skip(row)] for side in sides
    )
    says = of.said or said("row")  # without it, neither is told
    for name, row in gone:
        turn = of.gone if isinstance(of.gone, Turn) else of.gone(row)
        yield RecordChange(turn, "gone", name, says(row, "gone"), "")
    fresh = [RecordChange(Turn.CHANGED, "new", name, "", says(row, "new")) for name, row in added]
    if comparer is None:
        yield from fresh
    else:
        comparer.compared[of.looks] += len(both)
    for name, (before, after) in both.items():
        if comparer is not None and before == after:
            comparer.equal(before)
            continue
        yield from compared(of.rules, before, after, shown(name, after))
        yield from then(shown(name, after), before, after)
    yield from fresh if comparer is not None else ()


#: Which outcome of a claim that should hold is better than which.
GOODNESS = ("FAILS", "UNDECIDED", "OUT_OF_DOMAIN", "HOLDS")


def outcome_words(row: Row) -> str:
    """Return an outcome with the reason why it is undecided."""
    outcome, reason = (row[name].lower().replace("_", " ") for name in ("outcome", "reason"))
    return outcome if row["reason"] == Reason.NONE.name else f"{outcome} ({reason})"


def outcome_turn(old: Row, new: Row) -> Turn:
    """Return which way the outcome of a claim that should hold changed; a refutation that is lost is no improvement."""
    if old["outcome"] == new["outcome"]:
        return defect_turn(old, new)
    turn = ranked(GOODNESS)(old["outcome"], new["outcome"])
    return Turn.CHANGED if turn is Turn.BETTER and new["outcome"] != "HOLDS" else turn


def defect_turn(old: Row, new: Row) -> Turn:
    """Return which way a reason changed: to stay undecided for a defect is worse than for want of draws."""
    return more(*(row["reason"] in (Reason.ERROR.name, Reason.INCONSISTENT.name) for row in (old, new)))
