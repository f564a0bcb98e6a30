"""What changed, as a document: for a pull request, a release page, or on paper."""

from __future__ import annotations

from reports.numbers import format_count
from reports.row import Audience, Badge, Callout, Document, Paragraph, Section, Table, TextStyle, Tone

from .changes import Difference, RecordChange, Turn, shortened
from .diff_words import compared_words

#: Most changes of one way in a table; a comment on a pull request has an end.
MOST = 100
TONES = {Turn.WORSE: Tone.BAD, Turn.CHANGED: Tone.NEUTRAL, Turn.BETTER: Tone.GOOD}


def difference_document(difference: Difference) -> Document:
    """Return the document of a difference; it is confidential where either record is."""
    audience = Audience.CURATOR if difference.confidential else Audience.RELEASE
    sections = tuple(_section(difference, turn, audience) for turn in Turn if difference.of(turn))
    notes = tuple(Paragraph(note[:1].upper() + note[1:] + ".") for note in difference.notes)
    return Document(
        title=f"What changed: {difference.kind}",
        author="pdp-verify",
        summary=_summary(difference),
        front=(*notes, Paragraph(compared_words(difference), TextStyle.NOTE)),
        sections=sections,
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


def _section(difference: Difference, turn: Turn, audience: Audience) -> Section:
    changes = difference.of(turn)
    rows = tuple(
        (Badge(change.what, TONES[turn]), shortened(change.where) or "the record", *_sides(change))
        for change in changes[:MOST]
    )
    table = Table("", ("What", "Where", "Before", "Now"), rows, ("left",) * 4, (0, 2, 2, 2))
    left = len(changes) - len(rows)
    more = (Paragraph(f"And {format_count(left)} more (pdp-verify diff --json lists all).", TextStyle.NOTE),)
    return Section(f"Changed {turn.value}", 1, (table, *(more if left else ())), audience=audience)


def _sides(change: RecordChange) -> tuple[str, str]:
    """Return what stood before and what stands now."""
    before, now = change.sides()
    if change.failure_prob:
        now += f" (both intervals hold but for {change.failure_prob:.2g})"
    return before, now
