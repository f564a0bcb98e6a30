"""A document as the plain object that the Typst templates read: text in pieces that is safe to print, column widths."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

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
    Scale,
    Section,
    Table,
)

Lines = list[list[str]]

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}  # control, format (direction marks …), surrogate, private use, unassigned
_LONG_WORD, _LONG_PIECE = 14, 24
_AFTER = re.compile(r"(?<=[/\\_.,;:=+&?|)\]}>@-])(?=[^\s])")


def _code_point(character: str) -> str:
    """Return a character's name in ASCII, for one that cannot be printed.

    >>> _code_point("\\x00")
    '<U+0000>'
    """
    return f"<U+{ord(character):04X}>"


def printable(text: str, absent: frozenset[str] = frozenset()) -> str:
    r"""Return the text with unseen characters, and those in ``absent``, written as code points; line breaks stay.

    >>> printable("a\x00b\r\nc\td"), printable("x\u202ey"), printable("é", frozenset("é"))
    ('a<U+0000>b\nc    d', 'x<U+202E>y', '<U+00E9>')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\u2028", "\n").replace("\u2029", "\n")
    text = unicodedata.normalize("NFC", text.replace("\t", "    "))
    return "".join(
        _code_point(c) if c in absent or (c != "\n" and unicodedata.category(c) in _UNSEEN) else c for c in text
    )


def pieces(text: str, absent: frozenset[str] = frozenset()) -> Lines:
    r"""Return the lines of a text, each split where a long word may be broken; joined again they are the text.

    >>> pieces("one\ntwo")
    [['one'], ['two']]
    >>> pieces("see pdp-verify-out/audit.jsonl")
    [['see pdp-', 'verify-', 'out/', 'audit.', 'jsonl']]
    """
    return [_pieces_of_line(line) for line in printable(text, absent).split("\n")]


def _pieces_of_line(line: str) -> list[str]:
    result = [""]
    for word in re.split(r"(\s+)", line):
        if len(word) <= _LONG_WORD or word.isspace():
            result[-1] += word
            continue
        parts = [part for piece in _AFTER.split(word) for part in _chopped(piece)]
        result[-1] += parts[0]
        result.extend(parts[1:])
    return result


def _chopped(piece: str) -> list[str]:
    """Return an overlong piece in single characters, each with the marks that combine with it."""
    if len(piece) <= _LONG_PIECE:
        return [piece]
    return re.findall(r"[^\u0300-\u036f\u20d0-\u20ff][\u0300-\u036f\u20d0-\u20ff]*|.", piece, re.DOTALL)


def indented(text: str) -> str:
    r"""Return the text with the spaces that a page would swallow (at the start of a line, or in a row) made firm.

    >>> indented("if:\n  a  b")
    'if:\n\xa0\xa0a\xa0 b'
    """
    return re.sub(r"(?m)^ +| +(?= )", lambda match: "\u00a0" * len(match.group()), text)


_NUMBER = re.compile(r"[-−–<>≤≥~≈ ]*(?:[\d.,]+|inf|∞|nan)(?:(?:e|×10)[-−\d⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?[ %]*|[-–]?")
_NARROW = 14  # characters: a column of this width is never wrapped
_ROOM = 70  # characters of narrow columns that leave enough room for the others
_TALL = 1000  # characters: a row with such a cell may be split between two pages


class Composer:
    """Turns blocks into plain objects; ``absent`` are the characters that no font has."""

    def __init__(self, absent: frozenset[str], figure_files: Mapping[str, str]) -> None:
        self._absent = absent
        self._files = figure_files

    def document(self, document: Document, attachment_file: str) -> dict[str, Any]:
        """Return the whole document."""
        day = document.day()
        language, _, region = document.language.partition("-")
        byline = " · ".join(text for text in (document.author, document.date) if text)
        return {
            "meta": {
                "title": self._string(document.title),
                "author": self._string(document.author) if document.author else [],
                "keywords": [self._string(keyword) for keyword in document.keywords],
                "description": self._string(document.subtitle) if document.subtitle else None,
            },
            "date": {"year": day.year, "month": day.month, "day": day.day},
            "lang": language,
            "region": region or None,
            "paper": document.paper,
            "confidential": document.confidential,
            "title": self._text(document.title),
            "subtitle": self._optional(document.subtitle),
            "byline": self._optional(byline),
            "header": self._text(_shortened(document.running_header or document.title)),
            "running": [self._text(_shortened(section.title)) for section in document.sections if section.level == 1],
            "footer": self._text(_shortened(byline, 90)),
            "summary": self.block(document.summary) if document.summary else None,
            "front": [self.block(block) for block in document.front],
            "sections": [self._section(section) for section in document.sections],
            "attachment": self._attachment(document, attachment_file),
        }

    def block(self, block: Block) -> dict[str, Any]:
        """Return one block; its ``kind`` is the name of its class."""
        return {"kind": type(block).__name__, **self._fields(block)}

    def _fields(self, block: Block) -> dict[str, Any]:
        match block:
            case Paragraph():
                return {"text": self._text(block.text), "style": block.style.value}
            case Bullets():
                return {"items": [self._text(item) for item in block.items]}
            case Code():
                lines = [[line] for line in printable(indented(block.text), self._absent).split("\n")]
                return {"text": lines, "label": self._optional(block.label)}
            case Facts():
                items = [
                    {"label": self._text(fact.label), "value": self._text(fact.value), "link": fact.link or None}
                    for fact in block.items
                ]
                return {"items": items, "wide": block.wide, "small": block.small}
            case Callout():
                text = self._optional(block.text)
                return {"tone": block.tone.value, "title": self._text(block.title), "text": text}
            case FormulaBlock():
                return {"label": self._optional(block.label), "typst": block.typst, "alt": self._string(block.text)}
            case Table():
                return self._table(block)
            case Figure() | HeatMap() | Scale():
                texts = {"title": self._optional(block.title), "caption": self._optional(block.caption)}
                return {"file": self._files[block.name], "alt": self._string(block.alt), **texts}

    def _table(self, table: Table) -> dict[str, Any]:
        widths, alignments = columns_of(table)
        return {
            "caption": self._optional(table.caption),
            "columns": [self._text(name) for name in table.columns],
            "rows": [[self._cell(cell) for cell in row] for row in table.rows],
            "widths": widths,
            "alignments": alignments,
            "breakable": any(_size(cell) > _TALL for row in table.rows for cell in row),
        }

    def _cell(self, cell: Cell) -> dict[str, Any]:
        match cell:
            case Badge():
                return self._badge(cell)
            case Reference():
                return {"kind": "Reference", "target": _target(cell.section), "text": self._optional(cell.text)}
            case _:
                return {"kind": "text", "text": self._text(cell)}

    def _badge(self, badge: Badge) -> dict[str, Any]:
        return {"kind": "Badge", "text": self._text(badge.text), "tone": badge.tone.value}

    def _section(self, section: Section) -> dict[str, Any]:
        return {
            "title": self._text(section.title),
            "level": section.level,
            "part": self._optional(section.part),
            "kicker": self._optional(section.kicker),
            "badges": [self._badge(badge) for badge in section.badges],
            "target": _target(section.id) if section.id else None,
            "blocks": [self.block(block) for block in section.blocks],
        }

    def _attachment(self, document: Document, file: str) -> dict[str, str] | None:
        attached = document.attachment
        if attached is None:
            return None
        description = self._string(attached.description)
        return {"name": attached.name, "file": file, "mime": attached.mime, "description": description}

    def _string(self, text: str) -> str:
        return printable(text, self._absent).replace("\n", " ")

    def _text(self, text: str) -> Lines:
        return pieces(text, self._absent)

    def _optional(self, text: str) -> Lines | None:
        return self._text(text) if text else None


def _shortened(text: str, most: int = 52) -> str:
    """Return a text for the margin of a page: one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _target(section_id: str) -> str:
    """Return a Typst label; hexadecimal, since an id may hold any character."""
    return "section-" + section_id.encode("utf-8", "surrogatepass").hex()


def columns_of(table: Table) -> tuple[list[float], list[str]]:
    """Return width and alignment per column: as given, else chosen from the content.

    A width of 0 is that of the content; others are shares of what is left.

    Examples
    --------
    >>> columns_of(Table("", ("id", "draws"), (("W19-T4.1", "1e6"), ("W19-T4.2", "-"))))
    ([0.0, 0.0], ['left', 'right'])
    """
    cells = [[row[index] for row in table.rows] for index in range(len(table.columns))]
    alignments = list(table.alignments) or [_alignment(column) for column in cells]
    if table.widths:
        return list(table.widths), alignments
    sizes = [max([_size(cell) for cell in column] or [1]) for column in cells]
    headers = [_size(name) for name in table.columns]
    longest = [max(size, header) for size, header in zip(sizes, headers, strict=True)]
    narrow = [length <= _NARROW for length in longest]
    taken = sum(length + 2 for length, is_narrow in zip(longest, narrow, strict=True) if is_narrow)
    if all(narrow) and taken <= _ROOM:
        return [0.0] * len(longest), alignments
    if taken > _ROOM:
        narrow = [False] * len(longest)
    shares = [max(min(size, 60), min(header, 12), 5) for size, header in zip(sizes, headers, strict=True)]
    return [0.0 if is_narrow else float(share) for share, is_narrow in zip(shares, narrow, strict=True)], alignments


def _size(cell: Cell) -> int:
    """Return about how many characters wide a cell is."""
    match cell:
        case Badge():
            return len(cell.text) + 3
        case Reference():
            return len(cell.text) or 3
        case _:
            return max(len(line) for line in cell.split("\n"))


def _alignment(column: Sequence[Cell]) -> str:
    def is_number(cell: Cell) -> bool:
        if isinstance(cell, Reference):
            return not cell.text
        return isinstance(cell, str) and _NUMBER.fullmatch(cell) is not None

    return "right" if column and all(is_number(cell) for cell in column) else "left"
