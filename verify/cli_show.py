"""``pdp-verify list`` and ``pdp-verify show``: what there is, and one statement in full."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from .registry import Source
    from .rows import Row
    from .statement import Part, Statement

RECORD = click.Path(path_type=Path)


@click.command(name="list")
@click.argument("record", type=RECORD, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
def list_(record: Path | None, as_json: bool) -> None:
    """Every statement: id, kind, title, file, expected verdict (and that of RECORD, if given)."""
    from . import ledger, listing, registry

    known = registry.default()
    rows = list(listing.statement_rows(known, ledger.default(), known.select()))
    if record:
        _add_verdicts(rows, record)
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    columns = ["id", "kind", "printed", "corrected", *(["record_printed", "record_corrected"] if record else [])]
    table = [[*columns, "title", "file"]]
    table += [[row[name] or "-" for name in columns] + [row["title"], row["file"]] for row in rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    for line in table:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _add_verdicts(rows: list[dict[str, Any]], record: Path) -> None:
    """Add what a record found to the rows of a list."""
    from .damaged import as_written
    from .record import read, record_file

    with as_written(record_file(record)):
        found = {row["id"]: row for row in read(record).verdicts}
        for row in rows:
            verdict = found.get(row["id"])
            row["record_printed"] = str(verdict["printed"]["verdict"]) if verdict else None
            corrected = verdict["corrected"] if verdict else None
            row["record_corrected"] = str(corrected["verdict"]) if corrected else None


@click.command()
@click.argument("id_", metavar="ID")
@click.option("--record", type=RECORD, help="Add the verdict of this record.")
def show(id_: str, record: Path | None) -> None:
    """One statement: formula, domain, file and line, reference; with --record its verdict and worst case."""
    from . import registry

    source = registry.default().find(id_)
    lines = [*describe(source, source.load(), id_)]
    if record:
        from .damaged import as_written
        from .record import record_file

        with as_written(record_file(record)):
            lines += ["", *findings(id_, record)]
    click.echo("\n".join(lines))


def _wrap(label: str, text: str) -> str:
    return textwrap.fill(text, 100, initial_indent=f"{label:<12}", subsequent_indent=" " * 12, break_on_hyphens=False)


def describe(source: Source, statement: Statement, id_: str) -> Iterator[str]:
    """Yield the lines about a statement, or about one of its parts."""
    from . import ledger
    from .references import citation
    from .registry import shown_path

    lines = source.path.read_text(encoding="utf-8").splitlines()
    number = next((i for i, line in enumerate(lines, start=1) if line.startswith("STATEMENT")), 1)
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
    yield _wrap("cases", _counts(statement))
    yield _wrap("file", f"{shown_path(source.path)}:{number}")
    yield _wrap("reference", citation(statement.paper))


def _describe_part(part: Part, *, named: bool) -> Iterator[str]:
    if named:
        yield _wrap("part", f"{part.id}  {part.title}")
    yield _wrap("printed", part.printed.text)
    if part.corrected:
        yield _wrap("corrected", part.corrected.text)
    if part.what_went_wrong:
        yield _wrap("why", part.what_went_wrong)
    if part.derivation:
        yield _wrap("derivation", part.derivation)


def _counts(statement: Statement) -> str:
    from .statement import Standing

    counts = {each: sum(case.standing is each for case in statement.cases) for each in Standing}
    return ", ".join(f"{count} {each.value}" for each, count in counts.items() if count) or "none"


def findings(id_: str, path: Path) -> Iterator[str]:
    """Yield the lines about what a record found for an id."""
    from .record import Record, read
    from .ruling import worst
    from .words import case_sentence, figure, replay_command, setting, verdict_sentence

    record: Record = read(path)
    verdict = record.verdict(id_)
    rows = record.cases_of(id_)
    for form, standing in (("printed", "PRINTED"), ("corrected", "CORRECTED")):
        ruling = verdict[form]
        if ruling is None:
            continue
        yield _wrap("as printed" if form == "printed" else form, verdict_sentence(ruling))
        tightest: Row | None = worst([row for row in rows if row["standing"] == standing])
        if tightest:
            yield _wrap("margin", f"{figure(tightest['margin'], 3)} (relative; negative where the claim fails)")
            yield _wrap("worst case", tightest["case"])
            yield _wrap("", case_sentence(tightest))
            if tightest["found"]:
                yield _wrap("found at", setting(tightest["found"]))
            yield f"{'replay':<12}{replay_command(str(path), id_, tightest['case'])}"  # in one line: it is pasted
    for letter, ruling in verdict["readings"].items():
        yield _wrap(f"reading {letter}", verdict_sentence(ruling))
    mutants = verdict["mutants"]
    if mutants["total"]:
        yield _wrap("mutants", f"{mutants['caught']} of {mutants['total']} refuted")
    for message in verdict["unexpected"]:
        yield _wrap("UNEXPECTED", message)
