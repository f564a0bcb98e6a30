"""Whether a certificate's PDF and HTML are those that its record makes.

Made again with the versions that were attested, they are the same to the byte. With others the PDF is compared by its
text, and where that differs and our sources are others too, by the verdicts on its pages; of the HTML all is compared
but the shapes inside its figures and its style. Where that differs, nothing is vouched for.
"""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from html.parser import HTMLParser
from typing import Any

from reports.formats import rendered
from reports.row import Document

from ...engine.versions import library_versions, platform_tag, source_digest
from ...kernel.rows import Row
from ..certificate_words import VERDICT_TITLE, lower_verdict
from .attestation import RENDERERS, rendered_with
from .certificate_files import HTML

PDF = "audit.pdf"


class Agreement(Enum):
    """What the comparison of a PDF came to."""

    FITS = "fits"
    WRONG = "wrong"
    OPEN = "could not be decided"


@dataclass(frozen=True)
class ComparedPDF:
    """The result, and a line where there is something to say: then the PDF is not the same to the byte."""

    agreement: Agreement
    line: str = ""


def compare_pdf(
    pdf: bytes, pages: Document, rows: Sequence[Row], attested: Mapping[str, Any], *, figures: Mapping[str, bytes]
) -> ComparedPDF:
    """Compare a PDF with what its record makes; ``attested`` says by which versions, ``figures`` were drawn here."""
    again = rendered(pages, ".pdf", figures=figures)
    if again == pdf:
        return ComparedPDF(Agreement.FITS)
    same_sources, others = _made_by(rows[0], attested)
    if same_sources and not others:
        return ComparedPDF(Agreement.WRONG, f"{PDF} is not made from this audit.jsonl")
    try:
        text, record = _texts(pdf)
        if not text:
            raise ValueError("no page")
    except Exception:  # whatever is in a file that is no PDF
        return ComparedPDF(Agreement.WRONG, f"{PDF} is not readable as a PDF")
    if record != (pages.attachment.data if pages.attachment is not None else None):
        return ComparedPDF(Agreement.WRONG, f"{PDF} does not hold this audit.jsonl")
    maker = f"made by {', '.join(others) or 'other sources'}"
    if text == _texts(again)[0]:
        return ComparedPDF(Agreement.FITS, f"{PDF} was compared by its text alone, its figures not: it was {maker}")
    return _by_verdicts(text, rows, maker, same_sources=same_sources)


def _made_by(header: Row, attested: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Return whether pages were made by the sources that are here, and the other versions that they were made with."""
    stated = attested["predicate"]["annotations"]["renderedWith"]
    same_sources = header["sources"] == source_digest() and stated.get("reports") == rendered_with()["reports"]
    return same_sources, _other_versions(header, stated)


def _other_versions(header: Row, stated: Mapping[str, Any]) -> list[str]:
    """Return what a PDF was made with that is not what we have here."""
    current = library_versions() | {name: rendered_with()[name] for name in RENDERERS}
    theirs = dict(header["versions"]) | {name: stated.get(name) for name in RENDERERS}
    others = [f"{name} {theirs.get(name)}" for name in current if theirs.get(name) != current[name]]
    return others + ([f"platform {header['platform']}"] if header["platform"] != platform_tag() else [])


def _by_verdicts(found: list[str], rows: Sequence[Row], maker: str, *, same_sources: bool) -> ComparedPDF:
    """Look for the verdict on the first page, and for that on each claim on a page that has its name."""
    verdict = rows[0]["words"]
    others = [title for words, title in VERDICT_TITLE.items() if words != verdict and _plain(title) in found[0]]
    if others:
        return ComparedPDF(Agreement.WRONG, f"{PDF} says another verdict than audit.jsonl on its first page")
    missing = [] if _plain(VERDICT_TITLE[verdict]) in found[0] else ["the verdict"]
    for claim in (row for row in rows if row["kind"] == "claim"):
        heading, badge = _plain(f"Claim {claim['claim']}"), _plain(lower_verdict(claim))
        of_claim = [page for page in found if heading in page]
        if not any(f"{heading}{badge}" in page for page in of_claim):
            missing.append(f"the verdict on {claim['claim']}")
    if same_sources:
        missing.append("the same text")
    if missing:
        rule = "not vouched for: install those versions and check again"
        return ComparedPDF(Agreement.OPEN, f"{PDF} was {maker}, and {missing[0]} was not found in it; {rule}")
    return ComparedPDF(
        Agreement.FITS, f"{PDF} was {maker}: its verdicts were looked for and found, the rest was not compared"
    )


def _texts(pdf: bytes) -> tuple[list[str], bytes | None]:
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what it thinks of a damaged file is no news here
    reader = pypdf.PdfReader(io.BytesIO(pdf))
    attached = dict(reader.attachments).get("audit.jsonl", [])
    return [_plain(page.extract_text()) for page in reader.pages], attached[0] if len(attached) == 1 else None


def _plain(text: str) -> str:
    """Return a text without spaces, hyphens and case: lines may be broken elsewhere."""
    return re.sub(r"[\s\u00ad-]+", "", text).casefold()


#: In the policy of a page: the digest of its style.
_OWN_STYLE = re.compile(r"style-src 'sha256-[A-Za-z0-9+/=]+'")
#: What a figure is made of; a text or a script is none of it.
SHAPES = frozenset(("g", "defs", "use", "path", "rect", "circle", "clippath", "image", "pattern"))


def compare_html(
    html: bytes, pages: Document, rows: Sequence[Row], attested: Mapping[str, Any], *, figures: Mapping[str, bytes]
) -> ComparedPDF:
    """Compare an HTML page with what its record makes; the arguments are those of ``compare_pdf``."""
    again = rendered(pages, ".html", figures=figures)
    if again == html:
        return ComparedPDF(Agreement.FITS)
    same_sources, others = _made_by(rows[0], attested)
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
