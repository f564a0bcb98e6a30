"""A record as a document with all its evidence, whose statements a reader of the HTML can choose."""

from __future__ import annotations

import dataclasses

from reports.row import Audience, Document, Facet, Fact, Facts, Reference, Section, Table

from ..engine.record import Record
from ..engine.rows import Row
from .pages.causes import entries
from .pages.method_pages import appendix, method
from .pages.short_pages import AUTHOR, TITLE, author, badge, front, headline, paper_address
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
        corrected = badge(verdict["corrected"]["verdict"]) if verdict["corrected"] else "–"
        printed = verdict["printed"]["verdict"]
        follows = verdict["consequence"].lower() if printed == "REFUTED" and verdict["consequence"] else "–"
        id_ = statement["id"]
        rows.append((id_, Reference(id_, statement["title"]), badge(printed), follows, corrected, Reference(id_)))
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

    Parameters
    ----------
    document : Document
        A section of level 1 whose id is that of a statement is this statement's page.
    record : Record
        The record that the document was made from.
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
