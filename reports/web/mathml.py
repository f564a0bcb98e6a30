"""Formulas as MathML: all of a document in one compile of Typst, which keeps the same source for page and screen."""

from __future__ import annotations

import copy
import json
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..document import check_formulas
from ..row import FormulaBlock
from .elements import Element

_TEMPLATE = "formulas.typ"
_ROOM = "reports"
_BODY = re.compile(r"<body>.*</body>", re.DOTALL)
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
#: What Typst says of every HTML export; anything else it says is about a formula that it did not keep whole.
_SAID_ALWAYS = "html export is under active development"
#: Marks that combine with the letter before them, as signs of their own width: a browser sets them over its middle.
_ACCENTS = {"\u0303": "\u02dc", "\u0304": "\u00af", "\u0305": "\u203e"}
_BAR = "\u203e"
_VARIATION = "\ufe00"  # asks for one of two forms of a script letter; our font has one
_WIDE = ("1em", "2em")


@dataclass(frozen=True)
class Formulas:
    """The formulas of a document: MathML by Typst source, and the style sheet that Typst sets beside them."""

    by_source: dict[str, Element]
    style: str

    def pieces(self, source: str) -> list[Element]:
        """Return one formula, by its Typst source, divided where its author left a wide space: fresh ``math`` elements.

        The pieces may stand below each other.
        """
        groups: list[list[Element]] = [[]]
        for child in self.by_source[source]:
            if child.tag == "mspace" and child.get("width") in _WIDE:
                groups.append([])
            else:
                groups[-1].append(child)
        return [_math(group) for group in groups if group]


def rendered_formulas(formulas: Iterable[FormulaBlock]) -> Formulas:
    """Return the formulas as MathML without inline styles; equal sources are compiled once.

    Raises ``ValueError`` for a formula that is not Typst math, or of which the HTML export would leave something out.
    """
    blocks = list(formulas)
    sources = list(dict.fromkeys(block.typst for block in blocks))
    if not sources:
        return Formulas({}, "")
    text, warnings = _compiled(sources, blocks)
    lost = [message for message in warnings if _SAID_ALWAYS not in message]
    if lost:
        raise ValueError(f"typst must be math that HTML can hold, but Typst says: {lost[0]}")
    body, style = _BODY.search(text), _STYLE.search(text)
    if body is None:
        raise ValueError("typst must be math that HTML can hold, but Typst made no page of it")
    made = [_whole(entry) for entry in ElementTree.fromstring(body[0].replace("&nbsp;", "\u00a0"))]
    return Formulas(dict(zip(sources, made, strict=True)), style[1] if style else "")


def _compiled(sources: list[str], blocks: list[FormulaBlock]) -> tuple[str, list[str]]:
    """Return Typst's HTML and its warnings."""
    import typst

    compiler: Any = typst.compile_with_warnings  # its type stub lacks the keyword ignore_system_fonts
    with tempfile.TemporaryDirectory(prefix="pdp-verify-") as name:
        folder = Path(name)
        (folder / _TEMPLATE).write_bytes((files(_ROOM) / "templates" / _TEMPLATE).read_bytes())
        (folder / "formulas.json").write_text(json.dumps(sources), encoding="utf-8")
        try:
            html, warnings = compiler(
                folder / _TEMPLATE,
                root=folder,
                format="html",
                ignore_system_fonts=True,
                package_path=folder,
                package_cache_path=folder,
            )
        except typst.TypstError:
            check_formulas(blocks)
            raise
    return bytes(html).decode(), [str(warning.message) for warning in warnings]


def _whole(entry: Element) -> Element:
    """Return the one formula of an entry, mended."""
    maths = entry.findall("math")
    if len(maths) != 1 or len(entry) != 1:
        raise ValueError(f"typst must be one formula, got {len(maths)} in {''.join(entry.itertext())!r}")
    for node in maths[0].iter():
        _mend(node)
    return maths[0]


def _mend(node: Element) -> None:
    """Take inline styles and variation selectors away, set accents apart, and let bars grow with what they cover."""
    if node.tag == "mtext" and len(node):
        node.text = "".join(node.itertext())
        node[:] = []
    if node.get("style") is not None:
        del node.attrib["style"]
    node.text = node.text.replace(_VARIATION, "") if node.text else node.text
    if node.tag == "mo" and node.text in _ACCENTS:
        node.text = _ACCENTS[node.text]
        node.set("stretchy", "true" if node.text == _BAR else "false")


def _math(children: list[Element]) -> Element:
    made = Element("math", {"display": "block"})
    made.extend(copy.deepcopy(child) for child in children)
    return made
