"""Where every part was read: a line of a copy for each, and none for a part that is not there."""

from __future__ import annotations

from collections.abc import Iterable

from verify.papers.paper import papers
from verify.papers.provenance import Worth
from verify.papers.registry import statements


def unread(parts: Iterable[str], sources: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the parts without a source, and the sources without a part; a display's source serves its readings."""
    known, given = set(parts), set(sources)
    displays = {part.partition("@")[0] for part in known}
    return (
        sorted(part for part in known if not {part, part.partition("@")[0]} & given),
        sorted(given - known - displays),
    )


def test_every_part_was_read_in_a_line_of_a_copy() -> None:
    """All parts of all statements have their line; no line is left over from a part that was renamed."""
    of_paper: dict[str, list[str]] = {paper.prefix: [] for paper in papers()}
    for statement in statements():
        of_paper[statement.id.partition("-")[0]] += [part.id for part in statement.parts]
    for paper in papers():
        assert unread(of_paper[paper.prefix], paper.sources) == ([], [])
        assert len({copy["digest"] for copy in paper.copies.values()}) == len(paper.copies)


def test_a_part_was_read_in_its_own_paper() -> None:
    """A statement that one paper quotes from another has the lines of the paper that quotes it."""
    of = {paper.name: paper for paper in papers()}
    for statement in statements():
        for part in statement.parts:
            assert part.provenance == of[statement.paper].provenance(part.id), part.id


def test_a_part_without_a_line_and_a_line_without_a_part_are_found() -> None:
    """The rule sees what is missing and what is left over, with readings counted once."""
    assert unread(["A", "B@x", "B@y", "C#d"], ["A", "B", "C#d@lost"]) == (["C#d"], ["C#d@lost"])


def test_what_is_more_than_one_transcription_says_why() -> None:
    """Confirmed and damaged places have evidence, and damaged ones are decided in readings."""
    for statement in statements():
        for part in statement.parts:
            source = part.provenance
            assert source, part.id
            assert source.worth is Worth.SINGLE or source.evidence.strip(), part.id
            assert source.worth is not Worth.DAMAGED or part.reading, part.id
