"""The same document as Markdown (CommonMark with pipe tables), for terminals and for the summaries of CI servers."""

from __future__ import annotations

import re

from .layout import columns_of
from .row import (
    Badge,
    Block,
    Bullets,
    Callout,
    Cell,
    Code,
    Document,
    Facts,
    Figure,
    FormulaBlock,
    HeatMap,
    Paragraph,
    Reference,
    Section,
    Table,
    TextStyle,
)
from .text import printable

BANNER = "CONFIDENTIAL - CONTAINS PRIVATE INFORMATION"

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_LINE_START = re.compile(r"(?m)^(\s*)([-+=]|\d+(?=[.)]))")


def render_markdown(document: Document) -> str:
    """Return the document as Markdown: formulas in plain text, figures as their caption and alternative text.

    Parameters
    ----------
    document : Document
        What to render.

    Returns
    -------
    str
        Markdown that ends with a newline.

    Examples
    --------
    >>> from reports import Document, Section, Table, render_markdown
    >>> table = Table("Numbers", ("n", "value"), (("1", "0.5"),))
    >>> print(render_markdown(Document("A page", (Section("Results", 1, (table,)),))).splitlines()[0])
    # A page
    """
    marked = [f"**{BANNER}**"] if document.confidential else []
    parts = [*marked, f"# {_inline(document.title)}"]
    if document.subtitle:
        parts.append(_inline(document.subtitle))
    byline = " · ".join(text for text in (document.author, document.date) if text)
    if byline:
        parts.append(_inline(byline))
    if document.summary is not None:
        parts.append(_block(document.summary, document))
    parts.extend(_block(block, document) for block in document.front)
    for section in document.sections:
        parts.extend(_section(section, document))
    return "\n\n".join([*parts, *marked]) + "\n"


def _escape(text: str) -> str:
    escaped = _ACTIVE.sub(r"\\\1", printable(text))
    return _LINE_START.sub(lambda m: m[1] + (m[2] + "\\" if m[2].isdigit() else "\\" + m[2]), escaped)


def _inline(text: str) -> str:
    return " ".join(_escape(" ".join(text.split())).split())


def _section(section: Section, document: Document) -> list[str]:
    parts = [f"{'#' * (section.level + 1)} {_inline(section.title)}"]
    badges = " · ".join(f"**{_inline(badge.text)}**" for badge in section.badges)
    head = " · ".join(text for text in (_inline(section.kicker), badges) if text)
    return [*parts, *([head] if head else []), *(_block(block, document) for block in section.blocks)]


def _block(block: Block, document: Document) -> str:
    match block:
        case Paragraph():
            text = _escape(block.text).replace("\n", "\\\n")
            return f"*{text}*" if block.style is TextStyle.NOTE and "\n\n" not in text and text.strip() else text
        case Bullets():
            return "\n".join(f"- {_inline(item)}" for item in block.items)
        case Code():
            label = f"{_inline(block.label)}:\n\n" if block.label else ""
            return label + _fenced(block.text)
        case Facts():
            return "\n".join(f"- {_inline(fact.label)}: **{_inline(fact.value)}**" for fact in block.items)
        case Table():
            return _table(block, document)
        case FormulaBlock():
            label = f"{_inline(block.label)}:\n\n" if block.label else ""
            return label + _fenced(block.text)
        case Figure() | HeatMap():
            caption = " ".join(_inline(text) for text in (block.caption, block.alt) if text)
            return f"**Figure: {_inline(block.title or block.name)}.** {caption}"
        case Callout():
            text = "\n>\n> " + _inline(block.text) if block.text else ""
            return f"> **{_inline(block.title)}**{text}"


def _fenced(text: str) -> str:
    shown = printable(text)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])
    return f"{fence}text\n{shown}\n{fence}"


def _table(table: Table, document: Document) -> str:
    ruler = {"left": ":---", "right": "---:", "center": ":---:"}
    lines = [
        "| " + " | ".join(_inline(name) for name in table.columns) + " |",
        "| " + " | ".join(ruler[alignment] for alignment in columns_of(table)[1]) + " |",
        *("| " + " | ".join(_cell(cell, document) for cell in row) + " |" for row in table.rows),
    ]
    caption = [_inline(table.caption), ""] if table.caption else []
    return "\n".join([*caption, *lines])


def _cell(cell: Cell, document: Document) -> str:
    match cell:
        case Badge():
            return f"**{_inline(cell.text)}**"
        case Reference():
            titles = {section.id: section.title for section in document.sections}
            return _inline(cell.text or titles[cell.section])
        case _:
            return _inline(cell)
