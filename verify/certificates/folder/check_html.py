"""Whether a certificate's HTML is the one that its record makes.

Made again with the versions that were attested, it is the same to the byte. With others all of it is compared but the
shapes inside its figures and its style; where that differs, nothing is vouched for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from reports.formats import rendered
from reports.row import Document

from ...engine.rows import Row
from .certificate_files import HTML
from .check_pdf import Agreement, ComparedPDF, made_by

#: In the policy of a page: the digest of its style.
_OWN_STYLE = re.compile(r"style-src 'sha256-[A-Za-z0-9+/=]+'")
#: What a figure is made of; a text or a script is none of it.
SHAPES = frozenset(("g", "defs", "use", "path", "rect", "circle", "clippath", "image", "pattern"))


def compare_html(
    html: bytes, pages: Document, rows: Sequence[Row], attested: Mapping[str, Any], *, figures: Mapping[str, bytes]
) -> ComparedPDF:
    """Compare an HTML page with what its record makes.

    Parameters
    ----------
    html : bytes
        The page.
    pages : Document
        The pages of the record.
    rows : sequence of rows
        Of the record.
    attested : mapping
        The statement, whose predicate says by which versions the page was made.
    figures : mapping of str to bytes
        The figures of the pages, drawn here.
    """
    again = rendered(pages, ".html", figures=figures)
    if again == html:
        return ComparedPDF(Agreement.FITS)
    same_sources, others = made_by(rows[0], attested)
    if same_sources and not others:
        return ComparedPDF(Agreement.WRONG, f"{HTML} is not made from this audit.jsonl")
    maker = f"made by {', '.join(others) or 'other sources'}"
    if _outline(html) == _outline(again):
        return ComparedPDF(Agreement.FITS, f"{HTML} was compared without its figures and its style: it was {maker}")
    rule = "not vouched for: install those versions and check again"
    return ComparedPDF(Agreement.OPEN, f"{HTML} was {maker}, and is another page here; {rule}")


class _Outline(HTMLParser):
    """Every tag, attribute and text of a page; of a figure its place and its words, and of the style nothing."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[object] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep a tag, unless it is a shape of a figure."""
        if self._inside == "svg" and tag in SHAPES:
            return
        plain = [(name, _OWN_STYLE.sub("style-src", value or "")) for name, value in attrs]
        if tag == "svg":
            plain = [(name, value) for name, value in plain if name in ("role", "aria-label")]
        if tag in ("svg", "style"):
            self._inside = tag
        self.parts.append((tag, plain))

    def handle_endtag(self, tag: str) -> None:
        """Keep the end of what was kept."""
        if self._inside == "svg" and tag in SHAPES:
            return
        if tag == self._inside:
            self._inside = ""
        self.parts.append(tag)

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        if self._inside != "style":
            self.parts.append(data)

    def handle_comment(self, data: str) -> None:
        """Keep a comment: there is none in a page of ours."""
        self.parts.append(("comment", data))


def _outline(html: bytes) -> list[object] | None:
    """Return what is compared of a page; None where it is no text."""
    try:
        text = html.decode()
    except UnicodeDecodeError:
        return None
    outline = _Outline()
    outline.feed(text)
    outline.close()
    return outline.parts
