"""What changed, as a document: for a pull request, a release page, or on paper."""

from __future__ import annotations

from reports.numbers import format_count
from reports.row import Audience, Badge, Block, Callout, Document, Paragraph, Section, Table, TextStyle, Tone

from .changes import Difference, RecordChange, Turn, shortened
from .diff_words import compared_words

#: Most changes of one way in a table; a comment on a pull request has an end.
MOST = 100
TONES = {Turn.WORSE: Tone.BAD, Turn.CHANGED: Tone.NEUTRAL, Turn.BETTER: Tone.GOOD}


def difference_document(difference: Difference) -> Document:
    """Return the document of a difference; it is confidential where either record is."""
    audience = Audience.CURATOR if difference.confidential else Audience.RELEASE
    notes = tuple(Paragraph(note[:1].upper() + note[1:] + ".") for note in difference.notes)
    first, *others = [turn for turn in Turn if difference.of(turn)] or [Turn.CHANGED]
    return Document(
        title=f"What changed: {difference.kind}",
        author="pdp-verify",
        summary=_summary(difference),
        front=(*notes, Paragraph(compared_words(difference), TextStyle.NOTE), *_tables(difference, first)),
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
        (Badge(change.what, TONES[turn]), shortened(change.where) or "the record", *_sides(change))
        for change in changes[:MOST]
    )
    if not rows:
        return ()
    table = Table(f"Changed {turn.value}", ("What", "Where", "Before", "Now"), rows, ("left",) * 4, (0, 2, 2, 2))
    left = len(changes) - len(rows)
    more = Paragraph(f"And {format_count(left)} more (pdp-verify diff --json lists all).", TextStyle.NOTE)
    return (table, more) if left else (table,)


def _sides(change: RecordChange) -> tuple[str, str]:
    """Return what stood before and what stands now."""
    before, now = change.sides()
    if change.failure_prob:
        now += f" (both intervals hold but for {change.failure_prob:.2g})"
    return before, now
