"""Lays out text, numbers and figures as PDF, Markdown and JUnit; knows nothing of privacy, computes no statistic."""

from .document import check_formulas, pdf_bytes, render_markdown, render_pdf
from .files import write_atomic
from .junit import JUnitCase, junit_xml
from .row import Audience, Document, Figure, HeatMap, Mark, Section, Series, Style, Table

__all__ = [
    "Audience",
    "Document",
    "Figure",
    "HeatMap",
    "JUnitCase",
    "Mark",
    "Section",
    "Series",
    "Style",
    "Table",
    "check_formulas",
    "junit_xml",
    "pdf_bytes",
    "render_markdown",
    "render_pdf",
    "write_atomic",
]
