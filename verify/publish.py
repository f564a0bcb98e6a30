"""A record as PDF: figures drawn in worker processes, pages set by Typst, the date from ``run.json``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.document import render_pdf
from reports.figures import figure_svg
from reports.row import Figure, HeatMap

from .layout import document
from .pool import spread
from .record import Record


def publish(record: Record, run: Mapping[str, Any], path: Path, *, jobs: int) -> None:
    """Write the report of a record; the same record and ``run.json`` give the same bytes."""
    pages = document(record, date=str(run.get("finished", ""))[:10])
    figures = [block for block in pages.blocks() if isinstance(block, Figure | HeatMap)]
    drawn = {figure.name: svg for figure, svg in spread(figure_svg, figures, jobs)}
    render_pdf(pages, path, figures=drawn)
