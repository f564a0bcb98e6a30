"""The same document as Markdown (CommonMark with pipe tables), for terminals and for the summaries of CI servers."""

from __future__ import annotations

import re

from .layout import columns_of, printable
from .row import (
    Badge,
    Block,
    Bullets,
    Callout,
    Cell,
    Code,
    Document,
    Fact,
    Facts,
    Figure,
    FormulaBlock,
    HeatMap,
    Paragraph,
    Reference,
    Scale,
    Section,
    Table,
    TextStyle,
)

BANNER = "CONFIDENTIAL - CONTAINS PRIVATE INFORMATION"

_ACTIVE = re.compile(r"([\\`*\[\]<#|~$!]|&(?=[#\w]+;)|(?<!\w)_|_(?!\w))")
_LINE_START = re.compile(r"(?m)^(\s*)([-+=>]|\d+(?=[.)](?:\s|$)))")


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


def _escape(text: str, *, table: bool = False) -> str:
    escaped = _ACTIVE.sub(r"\\\1", printable(text))
    if not table and "\n" not in escaped:  # a line alone is no table
        escaped = escaped.replace("\\|", "|")
    return _LINE_START.sub(lambda m: m[1] + (m[2] + "\\" if m[2].isdigit() else "\\" + m[2]), escaped)


def _inline(text: str, *, table: bool = False) -> str:
    return " ".join(_escape(" ".join(text.split()), table=table).split())


def _section(section: Section, document: Document) -> list[str]:
    title = " · ".join(text for text in (section.kicker, section.title) if text)
    parts = [f"# {_inline(section.part)}"] if section.part else []
    parts.append(f"{'#' * (section.level + 1)} {_inline(title)}")
    head = " · ".join(f"**{_inline(badge.text)}**" for badge in section.badges)
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
            return "\n".join(f"- {_inline(fact.label)}: {_value(fact)}" for fact in block.items)
        case Table():
            return _table(block, document)
        case FormulaBlock():
            label = f"{_inline(block.label)}:\n\n" if block.label else ""
            return label + _fenced(block.text)
        case Figure() | HeatMap() | Scale():
            caption = " ".join(_inline(text) for text in (block.caption, block.alt) if text)
            return f"**Figure: {_inline(block.title or block.name)}.** {caption}"
        case Callout():
            text = "\n>\n> " + _inline(block.text) if block.text else ""
            return f"> **{_inline(block.title)}**{text}"


def _value(fact: Fact) -> str:
    value = f"**{_inline(fact.value)}**"
    return f"[{value}](<{fact.link}>)" if fact.link else value


def _fenced(text: str) -> str:
    shown = printable(text)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", shown))])
    return f"{fence}text\n{shown}\n{fence}"


def _table(table: Table, document: Document) -> str:
    ruler = {"left": ":---", "right": "---:", "center": ":---:"}
    shown = [place for place in range(len(table.columns)) if not _is_of_pages(table, place)]
    alignments = columns_of(table)[1]
    lines = [
        "| " + " | ".join(_inline(table.columns[place], table=True) for place in shown) + " |",
        "| " + " | ".join(ruler[alignments[place]] for place in shown) + " |",
        *("| " + " | ".join(_cell(row[place], document) for place in shown) + " |" for row in table.rows),
    ]
    caption = [_inline(table.caption), ""] if table.caption else []
    return "\n".join([*caption, *lines])


def _is_of_pages(table: Table, place: int) -> bool:
    """Return whether a column holds page numbers alone: there are none here."""
    cells = [row[place] for row in table.rows]
    return bool(place and cells) and all(isinstance(cell, Reference) and not cell.text for cell in cells)


def _cell(cell: Cell, document: Document) -> str:
    match cell:
        case Badge():
            return f"**{_inline(cell.text, table=True)}**"
        case Reference():
            titles = {section.id: section.title for section in document.sections}
            return _inline(cell.text or titles[cell.section], table=True)
        case _:
            return _inline(cell, table=True)
