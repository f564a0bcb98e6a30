"""The figures of a document, drawn in worker processes."""

from __future__ import annotations

from mechanisms.numerics.ticks import tick
from reports.figures import figure_svg
from reports.row import Document, Drawing

from .work import mapped


def drawn_figures(pages: Document, jobs: int) -> dict[str, bytes]:
    """Return the figures of a document as SVG, by name; few of them are not worth a process."""
    figures = [block for block in pages.blocks() if isinstance(block, Drawing)]
    jobs = jobs if len(figures) > 3 else 1
    drawn = mapped(figure_svg, figures, jobs, told=lambda _, __: tick(1))
    return {figure.name: svg for figure, svg in zip(figures, drawn, strict=True)}
