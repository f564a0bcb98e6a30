"""What changed: in short lines, on the terminal, as JSON, and as a document for a pull request or paper."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from audits.estimate import Result
from reports.markdown import BANNER
from reports.numbers import format_count
from reports.row import Audience, Badge, Block, Callout, Document, Paragraph, Section, Table, TextStyle, Tone

from .walk import RecordChange, Turn, shortened

#: Most changes of one way in a table; a comment on a pull request has an end.
MOST = 100
TONES = {Turn.WORSE: Tone.BAD, Turn.CHANGED: Tone.NEUTRAL, Turn.BETTER: Tone.GOOD}
JSON_VERSION = 1
#: Most changes of one kind on a terminal, letters of a line at most and at least, and letters before what changed.
LINES, WIDEST, NARROWEST, INDENT = 8, 80, 40, 16


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


def difference_document(difference: Difference) -> Document:
    """Return the document of a difference; it is confidential where either record is."""
    audience = Audience.CURATOR if difference.confidential else Audience.RELEASE
    notes = tuple(Paragraph(note[:1].upper() + note[1:] + ".") for note in difference.notes)
    first, *others = [turn for turn in Turn if difference.of(turn)] or [Turn.CHANGED]
    return Document(
        title=f"What changed: {difference.kind}",
        author="pdp-verify",
        summary=_summary(difference),
        front=(*notes, Paragraph(_compared_words(difference), TextStyle.NOTE), *_tables(difference, first)),
        sections=tuple(
            Section(f"Changed {turn.value}", 1, _tables(difference, turn), audience=audience) for turn in others
        ),
        running_header="pdp-verify diff",
        audience=audience,
        confidential=difference.confidential,
    )


def _summary(difference: Difference) -> Callout:
    if not difference.changes:
        return Callout(Tone.GOOD, "No change", "")
    tone = Tone.BAD if difference.worse else Tone.NEUTRAL
    title = "Changed for the worse" if difference.worse else "Nothing changed for the worse"
    return Callout(tone, title, f"{difference.headline()}.")


def _tables(difference: Difference, turn: Turn) -> tuple[Block, ...]:
    """Return the changes that go one way as a table, and how many more there are."""
    changes = difference.of(turn)
    rows = tuple(
        (Badge(each.what, TONES[turn]), shortened(each.where) or "the record", before, now + each.spent())
        for each in changes[:MOST]
        for before, now in [each.sides()]
    )
    if not rows:
        return ()
    table = Table(f"Changed {turn.value}", ("What", "Where", "Before", "Now"), rows, ("left",) * 4, (0, 2, 2, 2))
    left = len(changes) - len(rows)
    more = Paragraph(f"And {format_count(left)} more (pdp-verify diff --json lists all).", TextStyle.NOTE)
    return (table, more) if left else (table,)


def terminal_lines(difference: Difference) -> list[str]:
    """Return what changed for a terminal: how much, every kind of change, what was and what was not compared."""
    width = max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns))
    lines = [BANNER] if difference.confidential else []
    lines.append(f"{difference.kind}: {difference.headline()}")
    for turn in Turn:
        changes = difference.of(turn)
        if changes:
            lines += ["", turn.value]
            for what in dict.fromkeys(change.what for change in changes):
                lines += _group(what, changes, width)
    lines.append("")
    for note in (*difference.notes, _compared_words(difference)):
        lines += textwrap.wrap(note, width)
    return lines


def _group(what: str, changes: tuple[RecordChange, ...], width: int) -> Iterator[str]:
    """Yield the changes of one kind, each with a hanging indent; after ``LINES`` of them, how many are left."""
    these = [change for change in changes if change.what == what]
    label = f"  {what:<{INDENT - 3}} "
    for change in these[:LINES]:
        said = f"{change.where}: {change.said()}" if change.where else change.said()
        indents = {"initial_indent": label, "subsequent_indent": " " * (INDENT + 2)}
        yield from textwrap.wrap(said, width, break_on_hyphens=False, **indents)  # type: ignore[arg-type]
        label = " " * INDENT
    if len(these) > LINES:
        yield f"{' ' * INDENT}and {format_count(len(these) - LINES)} more (--json lists all)"


def _compared_words(difference: Difference) -> str:
    """Return how much was held against each other, in words; numbers that overlap are never called the same."""
    counts = dict(difference.compared)
    equal = counts.pop("equal", 0)
    numbers = counts.get("proved", 0) + counts.get("sampled", 0)
    named = {"proved": "proved numbers", "sampled": "sampled numbers"}
    words = [f"{format_count(count)} {named.get(name, name)}" for name, count in counts.items() if count]
    text = f"Held against each other: {', '.join(words) or 'the headers'}"
    if not numbers:
        return f"{text}."
    moved = sum(change.what == "number" for change in difference.changes)
    overlap = numbers - equal - moved
    found = {
        f"{format_count(equal)} are equal to the byte (the same stream: no second measurement)": equal,
        f"{format_count(moved)} moved": moved,
        f"the intervals of {format_count(overlap)} overlap, which shows no difference": overlap,
    }
    return f"{text}; {', '.join(words for words, count in found.items() if count)}."


def json_text(difference: Difference) -> str:
    """Return a difference as one object of strict JSON.

    ``schema_version`` is 1; ``kind`` is run, certificate, sweep or calibration; ``worse`` and ``confidential`` are true
    or false; ``counts`` has whole numbers for WORSE, CHANGED and BETTER; ``compared`` has whole numbers by name;
    ``notes`` is a list of texts; ``changes`` is a list of objects, those for the worse first, each with the texts
    ``turn`` (WORSE, CHANGED, BETTER), ``what``, ``where``, ``old`` and ``new`` and the number ``failure_prob``.
    """
    row = {
        "schema_version": JSON_VERSION,
        "kind": difference.kind,
        "worse": difference.worse,
        "confidential": difference.confidential,
        "counts": {turn.name: len(difference.of(turn)) for turn in Turn},
        "compared": dict(difference.compared),
        "notes": list(difference.notes),
        "changes": [change.row() for change in difference.changes],
    }
    return json.dumps(row, indent=1, ensure_ascii=False, allow_nan=False)
