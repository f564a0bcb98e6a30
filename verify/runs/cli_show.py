"""What there is to see: every statement with its kind and verdict, searched by words, and one statement in full."""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..messages.errors import UserError
from ..messages.texts import labelled

if TYPE_CHECKING:
    from ..engine.record import Record
    from ..kernel.rows import Row
    from ..kernel.statement import Part, Statement
    from ..papers.registry import Source

RECORD = click.Path(path_type=Path)
#: Narrowest title that a table is cut to.
NARROWEST = 20
COLOURS = {"REFUTED": "red", "SUPPORTED": "green", "UNDECIDED": "yellow", "TEXT_UNCLEAR": "yellow"}


@click.command(name="list")
@click.argument("words", metavar="[WORD]... [RECORD]", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_(words: tuple[str, ...], as_json: bool) -> None:
    """Every statement, or those that answer to each WORD: a paper (W18 or its folder), an expected verdict (refuted),
    a kind, or a piece of an id, a title or a place ("Theorem 4.1"). With the file of a RECORD, those that
    it has, with its verdicts.
    """
    from ..papers import ledger, registry

    known = registry.default().catalogue
    rows = every = list(registry.statement_rows(registry.default(), ledger.default()))
    record = None
    places = {id_: entry.locator or known[entry.parent].locator for id_, entry in known.items()}
    for argument in words:
        if record is None and _names_a_record(argument, every):
            record = Path(argument)
            continue
        phrase = _answering(argument, every, places)
        for word in [argument] if phrase else argument.split():
            answering = phrase or _answering(word, every, places)
            if not answering:
                raise UserError(_unknown(word, every))
            rows = [row for row in rows if row in answering]
    if record:
        rows = _with_verdicts(rows, record)
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif rows:
        columns = ["id", "printed", "corrected", *(["record_printed", "record_corrected"] if record else [])]
        expected = ledger.default()
        told = [row | {"consequence": expected[row["id"]].consequence.lower()} for row in rows]
        width = shutil.get_terminal_size((0, 0)).columns
        for line in _table(told, [*columns, "consequence", "title", "kind", "file"], width):
            click.echo(line)
    else:
        click.echo(f"no statement answers to {' and '.join(words)}")


def _fields(row: Row) -> set[str]:
    """Return what a word may name as a whole: paper, prefix of its ids, kind, expected verdict."""
    return {str(field).lower() for field in (row["paper"], row["id"].partition("-")[0], row["kind"], row["printed"])}


def _names_a_record(word: str, rows: Sequence[Row]) -> bool:
    """Return whether a word looks like a path, or is a file or folder and no word of the catalogue."""
    known = any(word.lower() in _fields(row) for row in rows)
    return "/" in word or word.endswith(".jsonl") or (Path(word).exists() and not known)


def _answering(words: str, rows: Sequence[Row], places: Mapping[str, str]) -> list[Row]:
    """Return the rows that a word names as a whole, or else those whose id, title or place holds it."""
    word = words.lower()
    whole = [row for row in rows if word in _fields(row)]
    place = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    return whole or [
        row
        for row in rows
        if word in row["id"].lower() or word in row["title"].lower() or place.search(places[row["id"]].lower())
    ]


def _unknown(word: str, rows: Sequence[Row]) -> str:
    known = [
        field
        for row in rows
        for field in (row["id"], row["id"].partition("-")[0], *_fields(row), *row["title"].split())
    ]
    written = {field.lower(): field for field in reversed(known)}
    close = difflib.get_close_matches(word.lower(), sorted(written), n=3, cutoff=0.7)
    hint = (
        f"; did you mean {', '.join(written[name] for name in close)}?"
        if close
        else "; `pdp-verify list` shows them all"
    )
    return (
        "word must be a paper, a verdict, a kind, part of an id, a title or a place, or a record, "
        f"got word={word}{hint}"
    )


def _table(rows: Sequence[Row], columns: list[str], width: int) -> Iterator[str]:
    """Yield the lines of a table; where the terminal is narrower, file and kind go and the titles are cut."""
    table = [columns, *([row[name] or "-" for name in columns] for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(columns))]
    while width and sum(widths) + 2 * len(widths) - 2 > width and columns[len(widths) - 1] != "title":
        table, widths = [line[:-1] for line in table], widths[:-1]
    title = columns.index("title")
    if width and sum(widths) + 2 * len(widths) - 2 > width:
        room = width - sum(widths[:title]) - 2 * title
        widths[title] = min(widths[title], max(room, NARROWEST))
        table = [[*line[:title], textwrap.shorten(line[title], widths[title], placeholder=" ...")] for line in table]
    for line in table:
        yield "  ".join(_coloured(cell, room) for cell, room in zip(line, widths, strict=True)).rstrip()


def _coloured(cell: str, room: int) -> str:
    """Return a cell as wide as its column, a verdict in its colour on a terminal that has colours."""
    colour = None if os.environ.get("NO_COLOR") or not sys.stdout.isatty() else COLOURS.get(cell)
    return click.style(cell.ljust(room), fg=colour) if colour else cell.ljust(room)


def _with_verdicts(rows: list[dict[str, Any]], record: Path) -> list[dict[str, Any]]:
    """Return the rows that a record has, with what it found."""
    from ..engine.record import read, record_file
    from ..messages.faults import as_written

    with as_written(record_file(record)):
        found = {row["id"]: row for row in read(record).verdicts}
        of_record = [row for row in rows if row["id"] in found]
        for row in of_record:
            verdict = found[row["id"]]
            row["record_printed"] = str(verdict["printed"]["verdict"])
            row["record_corrected"] = str(verdict["corrected"]["verdict"]) if verdict["corrected"] else None
        return of_record


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--record", type=RECORD, help="Add the verdict of this record.")
def show(id_: str, record: Path | None) -> None:
    """One statement: formula, domain, file and line, reference; with --record its verdict and worst case."""
    from ..papers import registry

    source, id_ = registry.default().find(id_), registry.default().spelled(id_)
    statement = source.load()
    parts = [part.id for part in statement.parts]
    if id_ not in registry.default().catalogue and id_ not in parts:
        raise UserError(f"id must be a part of {statement.id} ({', '.join(parts)}), got id={id_}")
    lines = [*describe(source, statement, id_)]
    if record:
        from ..engine.record import record_file
        from ..messages.faults import as_written

        with as_written(record_file(record)):
            lines += ["", *findings(id_, record)]
    click.echo("\n".join(lines))


def _wrap(label: str, text: str) -> str:
    return labelled(label, text, 12)


def describe(source: Source, statement: Statement, id_: str) -> Iterator[str]:
    """Yield the lines about a statement, or about one of its parts."""
    from ..kernel.paper import Consequence, citation, roots
    from ..papers import ledger
    from ..papers.registry import shown_path

    lines = source.path.read_text(encoding="utf-8").splitlines()
    starts = ("STATEMENT", f'["{statement.id}"]')
    number = next((i for i, line in enumerate(lines, start=1) if line.startswith(starts)), 1)
    yield f"{statement.id}  {statement.title}"
    yield _wrap("what", f"{statement.kind}, {statement.locator}")
    if statement.summary:
        yield _wrap("summary", statement.summary)
    yield _wrap("domain", statement.domain)
    for part in statement.parts:
        if id_ in (statement.id, part.id):
            yield from _describe_part(part, named=len(statement.parts) > 1)
    if statement.definition:
        yield _wrap("implemented", statement.definition)
    expected = ledger.default().get(id_)
    if expected:
        corrected = f", corrected {expected.corrected}" if expected.corrected else ""
        yield _wrap("expected", f"as printed {expected.printed}{corrected}: {expected.why}")
        if expected.consequence:
            yield _wrap("consequence", Consequence[expected.consequence].value)
        if expected.root:
            yield _wrap("root", roots()[expected.root]["title"])
    yield _wrap("cases", _counts(statement))
    yield _wrap("file", f"{shown_path(source.path)}:{number}")
    yield _wrap("reference", citation(statement.paper))


def _describe_part(part: Part, *, named: bool) -> Iterator[str]:
    if named:
        yield _wrap("part", f"{part.id}  {part.title}")
    yield _wrap("printed", part.printed.text)
    if part.provenance:
        read = part.provenance
        why = f"; {read.evidence}" if read.evidence else ""
        yield _wrap("read from", f"copy {read.copy} ({read.digest[:12]}), line {read.line}; {read.worth.value}{why}")
    if part.corrected:
        yield _wrap("corrected", part.corrected.text)
    if part.what_went_wrong:
        yield _wrap("why", part.what_went_wrong)
    if part.derivation:
        yield _wrap("derivation", part.derivation)


def _counts(statement: Statement) -> str:
    from ..kernel.statement import Standing

    counts = {each: sum(case.standing is each for case in statement.cases) for each in Standing}
    return ", ".join(f"{count} {each.value}" for each, count in counts.items() if count) or "none"


def _verdict_of(record: Record, id_: str) -> Row:
    """Return the verdict row of an id or a display, and as such a row that of one reading."""
    display, _, reading = id_.partition("@")
    ruling = record.verdict(display)
    if not reading:
        return ruling
    from ..kernel.ruling import mutant_summary

    mutants = [row for row in record.cases_of(id_) if row["standing"] == "MUTANT"]
    own: Row = ruling["readings"][reading]
    return own | {"readings": {}, "mutants": mutant_summary(mutants), "unexpected": []}


def findings(id_: str, path: Path) -> Iterator[str]:
    """Yield the lines about what a record found for an id."""
    from ..engine.record import read
    from ..kernel.words import case_sentence, figure, replay_command, setting, verdict_sentence

    record = read(path)
    verdict = _verdict_of(record, id_)
    rows = record.cases_of(id_)
    for form in ("printed", "corrected"):
        ruling = verdict[form]
        if ruling is None:
            continue
        yield _wrap("as printed" if form == "printed" else form, verdict_sentence(ruling))
        tightest: Row | None = next((row for row in rows if row["case"] == ruling["worst_case"]), None)
        standing = form.upper()
        for detail in dict.fromkeys(row["detail"] for row in rows if row["standing"] == standing and row["detail"]):
            yield _wrap("undecided", detail)
        if tightest:
            yield _wrap("margin", f"{figure(tightest['margin'], 3)} (relative; negative where the claim fails)")
            yield _wrap("worst case", tightest["case"])
            yield _wrap("", case_sentence(tightest))
            if tightest["found"]:
                yield _wrap("found at", setting(tightest["found"]))
            yield f"{'replay':<12}{replay_command(str(path), id_, tightest['case'])}"  # in one line: it is pasted
    for letter, reading in verdict["readings"].items():
        yield _wrap("reading", f"{letter}: {verdict_sentence(reading['printed'])}")
    if verdict.get("data"):
        data = ", ".join(f"{name} ({record.header['data'][name][:12]})" for name in verdict["data"])
        yield _wrap("data", f"decided with {data}; nothing is expected of data that are not shipped")
    mutants = verdict["mutants"]
    if mutants["total"]:
        yield _wrap("mutants", f"{mutants['caught']} of {mutants['total']} caught")
    for message in verdict["unexpected"]:
        yield _wrap("UNEXPECTED", message)
