"""A document as one HTML file: opens from disk, asks no network, and shows everything without its script.

The style and the script are the only ones that may run (a content security policy with their digests), and there is
no inline style. Sections with facets can be searched and filtered.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from ..figures import figure_svg
from ..layout import columns_of, printable
from ..markdown import BANNER
from ..row import (
    Attachment,
    Badge,
    Block,
    Bullets,
    Callout,
    Cell,
    Code,
    Document,
    Drawing,
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
from .elements import Content, Element, append, element, inline_svg, raw_text, serialised
from .mathml import Formulas, rendered_formulas

_ROOM = "reports"
#: Ids of the page itself; a section with such an id gets another one.
_OWN_IDS = ("page-main", "page-search", "page-words", "page-count", "page-hits")
_ALIGNED = {"left": None, "right": "right", "center": "center"}
_NEVER_BROKEN = 24  # characters: a column of short cells keeps each on one line


def html_bytes(document: Document, *, figures: Mapping[str, bytes] | None = None) -> bytes:
    """Return the document as HTML, in one file; the same bytes in every process.

    Parameters
    ----------
    document : Document
        What to show: the rows of its PDF.
    figures : mapping of str to bytes, optional
        SVG per figure name, drawn elsewhere (``figure_svg``); those missing are drawn here.

    Returns
    -------
    bytes
        UTF-8 HTML, with style, script, figures and, where there are formulas, their font.

    Raises
    ------
    ValueError
        If a formula is not Typst math, a drawing holds what a page must not, or a block is of no known type.
    """
    page = _Page(document, figures or {})
    return ("<!DOCTYPE html>\n" + serialised(page.root()) + "\n").encode()


class _Page:
    """One document on its way: its formulas, its drawings and the ids of its sections."""

    def __init__(self, document: Document, figures: Mapping[str, bytes]) -> None:
        self._document = document
        self._figures = figures
        self._formulas = rendered_formulas(b for b in document.blocks() if isinstance(b, FormulaBlock))
        self._anchors = _anchors(document.sections)
        self._by_id = {s.id: anchor for s, anchor in zip(document.sections, self._anchors, strict=True) if s.id}
        self._drawn = 0

    def root(self) -> Element:
        """Return the whole page."""
        document = self._document
        style, script = _style(self._formulas), _template("site.js")
        byline = " · ".join(text for text in (document.subtitle, document.author, document.date) if text)
        front = [self._block(block) for block in (document.summary, *document.front) if block is not None]
        body = element(
            "body",
            element("a", "Skip to the contents", class_="skip", href="#page-main"),
            element("header", *_banner(document), element("h1", document.title), *_note(byline)),
            *_search(document.sections),
            element("main", *([element("div", *front)] if front else []), *self._articles(), id="page-main"),
            element("footer", *_made_from(document.attachment), *_banner(document)),
            raw_text("script", script),
        )
        return element("html", _head(document, style, script), body, lang=document.language)

    def _articles(self) -> Iterable[Element]:
        """Yield an article for each section of level 1, with the sections below it."""
        article: Element | None = None
        for section, anchor in zip(self._document.sections, self._anchors, strict=True):
            if section.level == 1:
                if article is not None:
                    yield article
                article = element("article", id=anchor, aria_labelledby=f"{anchor}-title")
                for facet in section.facets:
                    article.set(f"data-{facet.name}", facet.value)
                append(article, *self._section(section, anchor))
            elif article is not None:
                append(article, element("section", *self._section(section, anchor), id=anchor))
        if article is not None:
            yield article

    def _section(self, section: Section, anchor: str) -> Iterable[Element]:
        if section.kicker or section.part:
            yield element("p", section.kicker or section.part, class_="kicker")
        heading = element(f"h{section.level + 1}", section.title, " ", id=f"{anchor}-title")
        name = section.id or section.title
        append(
            heading, element("a", "¶", class_="permalink", href=_href(anchor), aria_label=f"Permanent link to {name}")
        )
        yield heading
        if section.badges:
            yield element("p", *(_badge(badge) for badge in section.badges), class_="badges")
        for block in section.blocks:
            yield self._block(block)

    def _block(self, block: Block) -> Element:
        match block:
            case Paragraph():
                return element("p", block.text, class_=None if block.style is TextStyle.BODY else block.style.value)
            case Bullets():
                return element("ul", *(element("li", item) for item in block.items))
            case Code():
                return element("div", *_label(block.label), element("pre", _code(block.text)))
            case Facts():
                pairs = (element("div", element("dt", f.label), element("dd", _linked(f))) for f in block.items)
                return element("dl", *pairs, class_="wide" if block.wide else None)
            case Callout():
                text = [element("p", block.text)] if block.text else []
                return element(
                    "div", element("p", block.title, class_="title"), *text, class_=f"callout {block.tone.value}"
                )
            case FormulaBlock():
                return self._formula(block)
            case Table():
                return self._table(block)
            case Figure() | HeatMap() | Scale():
                return self._figure(block)
        raise ValueError(f"block must be one of reports.row, got block={type(block).__name__}")

    def _formula(self, block: FormulaBlock) -> Element:
        pieces = self._formulas.pieces(block.typst)
        if len(pieces) == 1:
            pieces[0].set("alttext", block.text)
        box = element("div", *pieces, class_="formula", role="group", aria_label=block.label or "Formula")
        box.set("data-text", block.text)
        return element("div", *_label(block.label), box)

    def _table(self, table: Table) -> Element:
        columns = _shown_columns(table)
        head = (element("th", table.columns[place], scope="col", class_=kind) for place, kind in columns.items())
        rows = (
            element("tr", *(self._cell(row[place], place, kind) for place, kind in columns.items()))
            for row in table.rows
        )
        made = element("table", *([element("caption", table.caption)] if table.caption else []))
        append(made, element("thead", element("tr", *head)), element("tbody", *rows))
        return element("div", made, class_="scroll", role="group", aria_label=table.caption or "Table")

    def _cell(self, cell: Cell, place: int, kind: str | None) -> Element:
        words: Content
        match cell:
            case Badge():
                words = _badge(cell)
            case Reference():
                target = self._by_id[cell.section]
                words = element("a", cell.text or cell.section, href=_href(target))
            case _:
                words = cell
        if place == 0 and words != "":
            return element("th", words, scope="row", class_=kind)
        return element("td", words, class_=kind)

    def _figure(self, figure: Drawing) -> Element:
        self._drawn += 1
        svg = self._figures[figure.name] if figure.name in self._figures else figure_svg(figure)
        caption: list[Content] = [element("strong", figure.title), " "] if figure.title else []
        words = [element("figcaption", *caption, figure.caption)] if figure.title or figure.caption else []
        return element("figure", inline_svg(svg, f"figure{self._drawn}", figure.alt), *words)


def _anchors(sections: tuple[Section, ...]) -> list[str]:
    """Return an id of the page for each section, none twice: its own where it has one."""
    wished = [re.sub(r"\s+", "-", section.id) for section in sections]
    taken = {*_OWN_IDS, *(anchor for anchor in wished if anchor)}
    anchors = []
    seen: set[str] = set(_OWN_IDS)
    for anchor, section in zip(wished, sections, strict=True):
        own = anchor or re.sub(r"\W+", "-", section.title.lower()).strip("-") or "section"
        free, count = own, 1
        while free in seen or (free in taken and not anchor):
            count += 1
            free = f"{own}-{count}"
        seen.update((free, f"{free}-title"))
        anchors.append(free)
    return anchors


def _href(anchor: str) -> str:
    return "#" + quote(anchor, safe="!$&'()*+,;=:@/~")


def _head(document: Document, style: str, script: str) -> Element:
    named = {"author": document.author, "keywords": ", ".join(document.keywords), "description": document.subtitle}
    head = element("head", element("meta", charset="utf-8"))
    # nothing from anywhere, and no style and script but these
    allowed = f"style-src {_digest(style)}; script-src {_digest(script)}; font-src data:; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    append(
        head,
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        _meta("viewport", "width=device-width, initial-scale=1"),
    )
    append(head, _meta("referrer", "no-referrer"), _meta("color-scheme", "light dark"))
    append(head, *(_meta(name, " ".join(content.split())) for name, content in named.items() if content))
    append(head, element("title", " ".join(document.title.split())), raw_text("style", style))
    return head


def _meta(name: str, content: str) -> Element:
    return element("meta", name=name, content=content)


def _digest(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii") + "'"


@cache
def _template(name: str) -> str:
    return (files(_ROOM) / "templates" / name).read_text(encoding="utf-8")


@cache
def _font_face() -> str:
    data = base64.b64encode((files(_ROOM) / "templates" / "math.woff").read_bytes()).decode("ascii")
    return f'@font-face{{font-family:"Formulas";src:url(data:font/woff;base64,{data}) format("woff")}}\n'


def _style(formulas: Formulas) -> str:
    if not formulas.by_source:
        return _template("site.css")
    return _font_face() + formulas.style + _template("site.css")


def _banner(document: Document) -> list[Element]:
    return [element("p", BANNER, class_="confidential")] if document.confidential else []


def _note(text: str) -> list[Element]:
    return [element("p", text, class_="note")] if text else []


def _made_from(attachment: Attachment | None) -> list[Element]:
    if attachment is None:
        return []
    digest = hashlib.sha256(attachment.data).hexdigest()
    return _note(f"{attachment.description}: {attachment.name}, SHA-256 {digest}.")


def _search(sections: tuple[Section, ...]) -> list[Element]:
    """Return the form over the sections that have facets, and the place of its hits; hidden until the script runs."""
    values: dict[str, dict[str, None]] = {}
    for facet in (facet for section in sections for facet in section.facets):
        values.setdefault(facet.name, {})[facet.value] = None
    if not values:
        return []
    words = element("input", id="page-words", type="search", autocomplete="off", placeholder="id, word or formula")
    form = element("form", element("label", "Search", words), role="search", id="page-search", hidden="")
    for name, options in values.items():
        select = element("select", element("option", "all", value=""), *(element("option", each) for each in options))
        select.set("data-facet", name)
        append(form, element("label", name.capitalize(), select))
    append(form, element("button", "Clear", type="reset"), element("output", id="page-count", aria_live="polite"))
    return [form, element("ol", id="page-hits", hidden="", aria_label="Hits, the nearest first")]


def _linked(fact: Fact) -> Content:
    return element("a", fact.value, href=fact.link, rel="noreferrer") if fact.link else fact.value


def _badge(badge: Badge) -> Element:
    return element("span", badge.text, class_=f"badge {badge.tone.value}")


def _label(label: str) -> list[Element]:
    return [element("p", label, class_="label")] if label else []


def _code(text: str) -> Element:
    """Return a text whose line breaks stay characters."""
    made = Element("code")
    made.text = printable(text)
    return made


def _shown_columns(table: Table) -> dict[int, str | None]:
    """Return the class of each column; one of page numbers alone says nothing on a screen and is left out."""
    widths, alignments = columns_of(table)
    shown = {}
    for place, (width, alignment) in enumerate(zip(widths, alignments, strict=True)):
        cells = [row[place] for row in table.rows]
        if cells and place and all(isinstance(cell, Reference) and not cell.text for cell in cells):
            continue
        short = width == 0 and all(len(_words(cell)) <= _NEVER_BROKEN for cell in cells)
        shown[place] = " ".join(filter(None, (_ALIGNED[alignment], "short" if short else None))) or None
    return shown


def _words(cell: Cell) -> str:
    match cell:
        case Badge():
            return cell.text
        case Reference():
            return cell.text or cell.section
        case _:
            return cell
