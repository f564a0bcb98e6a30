"""By which words a reader of the HTML chooses statements: paper, verdict, consequence."""

from __future__ import annotations

import dataclasses

from reports.row import Document, Facet

from ..engine.record import Record
from ..engine.rows import Row


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
