"""A record as PDF and HTML: figures drawn in worker processes, pages set by Typst, the date from ``run.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mechanisms.numerics.ticks import tick
from reports.figures import figure_svg
from reports.formats import write_document
from reports.junit import JUnitCase, junit_xml
from reports.row import Document, Drawing

from ..engine.record import Record
from ..engine.work import mapped
from .audit_pages import document, with_facets
from .pages.short_pages import short_document

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


def drawn_figures(pages: Document, jobs: int) -> dict[str, bytes]:
    """Return the figures of a document as SVG, by name; few of them are not worth a process."""
    figures = [block for block in pages.blocks() if isinstance(block, Drawing)]
    jobs = jobs if len(figures) > 3 else 1
    drawn = mapped(figure_svg, figures, jobs, told=lambda _, __: tick(1))
    return {figure.name: svg for figure, svg in zip(figures, drawn, strict=True)}


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
