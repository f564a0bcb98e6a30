"""Texts made safe to print as they stand: no invisible or missing character, and long words that can be broken."""

from __future__ import annotations

import re
import unicodedata

Lines = list[list[str]]

_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn"}  # control, format (direction marks …), surrogate, private use, unassigned
_LONG_WORD, _LONG_PIECE = 14, 24
_AFTER = re.compile(r"(?<=[/\\_.,;:=+&?|)\]}>@-])(?=[^\s])")


def code_point(character: str) -> str:
    """Return a character's name in ASCII, for one that cannot be printed.

    >>> code_point("\\x00")
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
        code_point(c) if c in absent or (c != "\n" and unicodedata.category(c) in _UNSEEN) else c for c in text
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
