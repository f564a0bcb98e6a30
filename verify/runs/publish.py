"""A record as PDF and HTML: figures drawn in worker processes, pages set by Typst, the date from ``run.json``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reports.formats import write_document
from reports.junit import JUnitCase, junit_xml
from reports.row import Audience, Document, Facet, Fact, Facts, Reference, Section, Table

from ..engine.figures import drawn_figures
from ..engine.record import Record
from ..kernel.rows import Row
from .pages.causes import entries
from .pages.method_pages import appendix, method
from .pages.short_pages import AUTHOR, TITLE, author, badge, corrected, front, headline, paper_address, short_document
from .statement_pages import statement_sections


def document(record: Record, *, date: str) -> Document:
    """Return the full report of a record, with an ISO date (or none)."""
    figures = {id_: [row for row in record.figures if row["id"] == id_] for id_ in record.header["statements"]}
    sections = []
    for name, paper in record.header["papers"].items():
        statements = [row for row in record.statements if row["paper"] == name]
        if statements:
            sections.append(_paper_section(record, paper, statements))
        for statement in statements:
            sections += statement_sections(record, statement, figures.get(statement["id"], []))
    sections += [method(record, part="Method"), appendix(record, part="How to do this again")]
    found = entries(record)
    return Document(
        title=TITLE,
        subtitle=f"{len(record.statements)} statements, profile {record.header['profile']}; all the evidence",
        date=date,
        author=AUTHOR,
        keywords=("differential privacy", "per-instance privacy", "verification"),
        summary=headline(record, found),
        front=front(record, found),
        sections=tuple(dataclasses.replace(section, audience=Audience.RELEASE) for section in sections),
        running_header="pdp-verify audit",
        audience=Audience.RELEASE,
    )


def _paper_section(record: Record, paper: Row, statements: list[Row]) -> Section:
    """Return what opens the part of a paper: its reference, the copies that were read, and its statements."""
    facts = [Fact("Paper", paper["reference"], paper_address(paper["doi"]))]
    for copy in paper["copies"].values():
        facts += [Fact("Read from", copy["made"]), Fact("SHA-256", copy["digest"])]
    rows = []
    for statement in statements:
        verdict = record.verdict(statement["id"])
        printed = verdict["printed"]["verdict"]
        follows = verdict["consequence"].lower() if printed == "REFUTED" and verdict["consequence"] else "–"
        id_ = statement["id"]
        rows.append(
            (id_, Reference(id_, statement["title"]), badge(printed), follows, corrected(verdict), Reference(id_))
        )
    columns = ("Id", "Statement", "As printed", "What follows", "Corrected", "Page")
    aligned = ("left", "left", "left", "left", "left", "right")
    table = Table("", columns, tuple(rows), aligned, (0, 1, 0, 0, 0, 0))
    title = f"{author(paper)} ({paper['year']})"
    return Section(
        "The paper and its statements",
        1,
        (Facts(tuple(facts)), table),
        id=statements[0]["id"].partition("-")[0],
        part=f"{title}: {paper['title']}",
    )


def with_facets(document: Document, record: Record) -> Document:
    """Return a report of a record whose statements can be chosen by paper, verdict and consequence.

    A section of level 1 whose id is that of a statement is this statement's page.
    """
    statements = {row["id"]: row for row in record.statements}
    sections = tuple(
        dataclasses.replace(section, facets=_facets(statements[section.id], record.verdict(section.id)))
        if section.level == 1 and section.id in statements
        else section
        for section in document.sections
    )
    return dataclasses.replace(document, sections=sections)


def _facets(statement: Row, verdict: Row) -> tuple[Facet, ...]:
    printed = verdict["printed"]["verdict"]
    consequence = verdict["consequence"].lower() if printed == "REFUTED" else ""
    prefix = statement["id"].partition("-")[0]
    return (
        Facet("paper", f"{prefix} ({statement['paper']})"),
        Facet("verdict", printed.lower().replace("_", " ")),
        Facet("consequence", consequence or "none"),
    )


#: What is searched on a screen rather than read from page 1: all the evidence is in it.
HTML = ".html"


def publish(record: Record, run: Mapping[str, Any], *paths: Path, jobs: int, full: Sequence[Path] = ()) -> None:
    """Write the short report of a record to each path, in the format of its suffix; HTML and ``full`` hold everything.

    The same record and ``run.json`` give the same bytes.
    """
    date = str(run.get("finished", ""))[:10]
    short = [path for path in paths if path.suffix != HTML]
    whole = [*full, *(path for path in paths if path.suffix == HTML)]
    if short:
        brief = short_document(record, date=date)
        for path in short:
            write_document(brief, path)
    if whole:
        pages = with_facets(document(record, date=date), record)
        figures = drawn_figures(pages, jobs)
        for path in whole:
            write_document(pages, path, figures=figures)


def junit(record: Record) -> bytes:
    """Return the verdicts of a record as JUnit XML: a test case a statement, failed where the ledger expected another.

    What is said of its parts that have an id of their own is said of it. A statement that stayed open at this budget is
    skipped; one whose checks stopped with an error is an error.
    """
    broken = {row["id"] for row in (*record.cases, *record.figures) if row["error"] is not None}
    papers = {row["id"]: row["paper"] for row in record.statements}
    cases = []
    for row in record.verdicts:
        if row["parent"] is not None:
            continue
        children = [each for each in record.verdicts if each["parent"] == row["id"]]
        unexpected, still_open = (
            [*row[key], *(f"{each['id']} {text}" for each in children for text in each[key])]
            for key in ("unexpected", "still_open")
        )
        status = "error" if row["id"] in broken else "failed" if unexpected else "passed"
        if status == "passed" and still_open:
            status = "skipped"
        message = "\n".join((*unexpected, *still_open))
        cases.append(JUnitCase(row["id"], papers[row["id"]], status, message))
    return junit_xml("pdp-verify run", cases)
