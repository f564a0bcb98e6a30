"""What can be laid out: frozen dataclasses of text, numbers and figures, with no notion of what they mean.

Every text is plain: it is printed as it stands, whatever characters it holds. The only source code in a document is
``FormulaBlock.typst`` (Typst math, written by a programmer, never taken from data). A line break in a text is kept.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass, field
from enum import Enum

from .codec import LEFT_OUT, dumps, loads


class Audience(Enum):
    """Who may read a section."""

    CURATOR = "curator"
    RELEASE = "release"


class Tone(Enum):
    """How a verdict is coloured; the words beside it carry the meaning."""

    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"
    NEUTRAL = "neutral"


class TextStyle(Enum):
    """How a paragraph is set."""

    BODY = "body"
    LEAD = "lead"  # larger, for the sentence a reader must not miss
    NOTE = "note"  # smaller, for caveats


class Style(Enum):
    """How a series is drawn."""

    LINE = "line"
    POINTS = "points"
    STEPS = "steps"
    BAND = "band"  # from ``low`` to ``high``, with ``y`` (when finite) as its centre line
    BARS = "bars"


def _need(condition: bool, name: str, rule: str, value: object) -> None:
    if not condition:
        shown = repr(value)
        raise ValueError(f"{name} must be {rule}, got {name}={shown if len(shown) <= 60 else shown[:57] + '...'}")


def _need_text(name: str, value: object) -> None:
    _need(isinstance(value, str) and bool(value.strip()), name, "text that is not empty", value)


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str
    style: TextStyle = TextStyle.BODY


@dataclass(frozen=True)
class Bullets:
    """A list of short texts."""

    items: tuple[str, ...]

    def __post_init__(self) -> None:
        _need(len(self.items) > 0, "items", "at least one text", self.items)


@dataclass(frozen=True)
class Code:
    """Text set in a fixed-width font, its line breaks and indentation kept (a command to type)."""

    text: str
    label: str = ""


@dataclass(frozen=True)
class Badge:
    """One or two words in colour: a verdict. The words alone must tell it."""

    text: str
    tone: Tone = Tone.NEUTRAL

    def __post_init__(self) -> None:
        _need_text("text", self.text)


@dataclass(frozen=True)
class Reference:
    """A link to the section with this id; without a text, its page number."""

    section: str
    text: str = ""


Cell = str | Badge | Reference


@dataclass(frozen=True)
class Fact:
    """A label and its value; ``link`` is the address of a page on the web that the value leads to."""

    label: str
    value: str
    link: str = ""

    def __post_init__(self) -> None:
        address = not self.link or re.fullmatch(r"https?://[!-~]+", self.link) is not None
        _need(address, "link", "empty or an address that begins with https://", self.link)


@dataclass(frozen=True)
class Facts:
    """Labels and values in two columns (``wide``: four, for short values; ``small``: for a page that holds much)."""

    items: tuple[Fact, ...]
    wide: bool = False
    small: bool = False

    def __post_init__(self) -> None:
        _need(len(self.items) > 0, "items", "at least one fact", self.items)


@dataclass(frozen=True)
class Table:
    """A table with one header row.

    Attributes
    ----------
    caption : str
        Above the table.
    columns : tuple of str
        Headers, at least one.
    rows : tuple of tuple
        As many cells each as there are headers.
    alignments : tuple of str
        ``left``, ``right`` or ``center`` per column; empty: numbers to the right, text to the left.
    widths : tuple of float
        Relative width per column, 0 for the width of its content; empty: chosen from the content.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    alignments: tuple[str, ...] = ()
    widths: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _need(len(self.columns) > 0, "columns", "at least one header", self.columns)
        for header in self.columns:
            _need_text("column header", header)
        for row in self.rows:
            _need(len(row) == len(self.columns), "row", f"of {len(self.columns)} cells", row)
        for name, option in (("alignments", self.alignments), ("widths", self.widths)):
            _need(len(option) in (0, len(self.columns)), name, f"empty or of length {len(self.columns)}", option)
        for alignment in self.alignments:
            _need(alignment in ("left", "right", "center"), "alignment", "left, right or center", alignment)
        for width in self.widths:
            _need(math.isfinite(width) and width >= 0, "width", "finite and not negative", width)


@dataclass(frozen=True)
class FormulaBlock:
    """A displayed formula: Typst math source, and the same in plain text (read aloud, and used in Markdown)."""

    label: str
    typst: str
    text: str

    def __post_init__(self) -> None:
        _need_text("typst", self.typst)
        code = re.search(r"(?<!\\)#", self.typst) is None
        _need(code, "typst", "math without code (write \\# for the character)", self.typst)
        _need_text("text (the alternative of a formula)", self.text)


@dataclass(frozen=True)
class Series:
    """One curve: ``x`` and ``y`` of equal length; ``low``/``high`` empty or of that length (error bars, or a band).

    Attributes
    ----------
    label : str
        In the legend.
    x, y : tuple of float
        Of equal length.
    low, high : tuple of float
        Empty, or of that length.
    style : Style
        How it is drawn.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    style: Style = Style.LINE

    def __post_init__(self) -> None:
        _need(len(self.x) == len(self.y), "y", f"of the length of x ({len(self.x)})", len(self.y))
        _need(len(self.low) == len(self.high), "high", f"of the length of low ({len(self.low)})", len(self.high))
        _need(len(self.low) in (0, len(self.x)), "low", f"empty or of the length of x ({len(self.x)})", len(self.low))
        _need(self.style is not Style.BAND or len(self.low) == len(self.x), "low", "given for a band", self.low)


@dataclass(frozen=True)
class Mark:
    """A straight line at one value of the x or the y axis, with a label in the legend; across the whole figure.

    With a ``span`` of two numbers it runs from the first to the second of them, on the other axis, alone.
    """

    axis: str
    value: float
    label: str = ""
    span: tuple[float, ...] = field(default=(), metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        _need(self.axis in ("x", "y"), "axis", "x or y", self.axis)
        _need(len(self.span) in (0, 2), "span", "empty or two numbers", self.span)
        _need(math.isfinite(self.value), "value", "finite", self.value)


@dataclass(frozen=True)
class _Drawn:
    """What every drawing has.

    Attributes
    ----------
    name : str
        Letters, digits, ``.``, ``_`` or ``-``; unique in a document.
    title, caption : str
        Above and below the drawing.
    alt : str
        What the drawing shows, in words.
    x_label : str
        Of the x axis, with its unit.
    """

    name: str
    title: str
    caption: str
    alt: str
    x_label: str

    def __post_init__(self) -> None:
        known = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", self.name) is not None
        _need(known, "name", "letters, digits, . _ or -", self.name)
        _need_text("alt (the alternative text of a figure)", self.alt)


@dataclass(frozen=True)
class Figure(_Drawn):
    """A plot of curves.

    Attributes
    ----------
    name, title, caption, alt, x_label, y_label : str
        As of every drawing, and the label of the y axis.
    series : tuple of Series
        The curves.
    marks : tuple of Mark
        Straight lines across.
    x_scale, y_scale : str
        ``linear`` or ``log``.
    x_at, x_ticks : tuple of float, tuple of str
        Where the x axis has ticks and what stands there; empty: chosen by the drawing.
    y_from : float or None
        Where the y axis begins; None: chosen by the drawing.
    """

    y_label: str
    series: tuple[Series, ...]
    marks: tuple[Mark, ...] = ()
    x_scale: str = "linear"
    y_scale: str = "linear"
    x_at: tuple[float, ...] = field(default=(), metadata=LEFT_OUT)
    x_ticks: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    y_from: float | None = field(default=None, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        super().__post_init__()
        _need(len(self.x_at) == len(self.x_ticks), "x_ticks", f"of the length of x_at ({len(self.x_at)})", self.x_ticks)
        for name, scale in (("x_scale", self.x_scale), ("y_scale", self.y_scale)):
            _need(scale in ("linear", "log"), name, "linear or log", scale)


@dataclass(frozen=True)
class HeatMap(_Drawn):
    """One number over a grid: ``values[i][j]`` at ``y_ticks[i]`` (upwards) and ``x_ticks[j]``; nan is blank.

    Attributes
    ----------
    name, title, caption, alt, x_label, y_label : str
        As of every drawing, and the label of the y axis.
    x_ticks, y_ticks : tuple of str
        At least one each.
    values : tuple of tuple of float
        A row for each of ``y_ticks``.
    value_label : str
        Beside the scale.
    scale : str
        ``linear`` or ``log``.
    """

    y_label: str
    x_ticks: tuple[str, ...]
    y_ticks: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    value_label: str = ""
    scale: str = "linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        _need(len(self.x_ticks) > 0 and len(self.y_ticks) > 0, "ticks", "at least one per axis", self.x_ticks)
        _need(len(self.values) == len(self.y_ticks), "values", f"{len(self.y_ticks)} rows", len(self.values))
        for row in self.values:
            _need(len(row) == len(self.x_ticks), "row of values", f"{len(self.x_ticks)} numbers", len(row))
        _need(self.scale in ("linear", "log"), "scale", "linear or log", self.scale)


@dataclass(frozen=True)
class Scale(_Drawn):
    """One number on a logarithmic line: the range in which it was found, beside what is allowed at most.

    Attributes
    ----------
    name, title, caption, alt, x_label : str
        As of every drawing; the label says what the number is.
    low, high : float
        Where it lies; ``low`` may be 0, and then the range begins beyond the line.
    limit : float
        Positive: the largest value that is allowed.
    """

    low: float
    high: float
    limit: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _need(0 < self.limit < math.inf, "limit", "positive and finite", self.limit)
        _need(0 <= self.low <= self.high < math.inf, "low", "between 0 and high, which is finite", self.low)


@dataclass(frozen=True)
class Callout:
    """A verdict set apart: a title of a few words, and a text that explains it."""

    tone: Tone
    title: str
    text: str = ""

    def __post_init__(self) -> None:
        _need_text("title", self.title)


#: What is drawn, with an alternative text.
Drawing = Figure | HeatMap | Scale
Block = Paragraph | Bullets | Code | Facts | Table | FormulaBlock | Figure | HeatMap | Scale | Callout


@dataclass(frozen=True)
class Facet:
    """A word by which sections can be chosen on a screen, such as ``colour``: ``red``."""

    name: str
    value: str

    def __post_init__(self) -> None:
        _need(re.fullmatch(r"[a-z]+", self.name) is not None, "name", "lower-case letters", self.name)
        _need_text("value", self.value)


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it; level 1 starts a page, level 2 and 3 do not.

    Attributes
    ----------
    title : str
        The heading.
    level : int
        1, 2 or 3.
    blocks : tuple of Block
        What stands under it.
    audience : Audience
        Who may see it.
    badges : tuple of Badge
        Beside the title.
    kicker : str
        A few words above the title.
    id : str
        What a reference points to.
    part : str
        Title of the part of the document that begins with this section. Where there are parts, each starts a page, and
        the sections of level 1 in it do not; a PDF has its bookmarks one level deeper.
    facets : tuple of Facet
        By which a reader of the HTML chooses sections of level 1; nothing else shows them.
    """

    title: str
    level: int
    blocks: tuple[Block, ...]
    audience: Audience = Audience.CURATOR
    badges: tuple[Badge, ...] = ()
    kicker: str = ""  # a few words above the title
    id: str = ""  # what a Reference points to
    facets: tuple[Facet, ...] = ()
    part: str = ""

    def __post_init__(self) -> None:
        _need_text("title", self.title)
        _need(self.level in (1, 2, 3), "level", "1, 2 or 3", self.level)
        _need(not self.facets or self.level == 1, "facets", "empty below level 1", self.facets)
        _need(not self.part or self.level == 1, "part", "empty below level 1", self.part)
        _unique("name of facets", [facet.name for facet in self.facets])


@dataclass(frozen=True)
class Attachment:
    """A file that travels inside the PDF."""

    name: str
    data: bytes
    mime: str
    description: str

    def __post_init__(self) -> None:
        _need(re.fullmatch(r"[\w][\w.-]*", self.name, re.ASCII) is not None, "name", "a plain file name", self.name)
        _need(re.fullmatch(r"[\w.+-]+/[\w.+-]+", self.mime) is not None, "mime", "a media type such as a/b", self.mime)
        _need_text("description", self.description)


@dataclass(frozen=True)
class Document:
    """Everything on paper, in order: title, summary, front blocks (first page), sections.

    Attributes
    ----------
    title, subtitle : str
        On the first page.
    sections : tuple of Section
        After the first page.
    language : str
        As in ``en`` or ``en-GB``.
    date : str
        ISO date of the document; with the content it fixes every byte of the PDF. Empty: undated.
    author : str
        On the first page and in the metadata.
    keywords : tuple of str
        In the metadata.
    summary : Callout or None
        The verdict, on the first page.
    front : tuple of Block
        On the first page, after the summary.
    running_header : str
        On every page.
    audience : Audience
        For ``RELEASE`` a section for the curator, or ``confidential``, is refused.
    confidential : bool
        Whether every page is marked as containing private information.
    paper : str
        ``a4`` or ``us-letter``.
    attachment : Attachment or None
        A file that travels inside the PDF.
    """

    title: str
    sections: tuple[Section, ...]
    subtitle: str = ""
    language: str = "en"
    date: str = ""
    author: str = ""
    keywords: tuple[str, ...] = ()
    summary: Callout | None = None
    front: tuple[Block, ...] = ()
    running_header: str = ""
    audience: Audience = Audience.CURATOR
    confidential: bool = False
    paper: str = "a4"
    attachment: Attachment | None = None

    def __post_init__(self) -> None:
        _need_text("title", self.title)
        known = re.fullmatch(r"[a-z]{2,3}(-[A-Z]{2})?", self.language) is not None
        _need(known, "language", "as in en or en-GB", self.language)
        _need(self.paper in ("a4", "us-letter"), "paper", "a4 or us-letter", self.paper)
        if self.date:
            self.day()
        self._check_audience()
        self._check_structure()

    def day(self) -> datetime.date:
        """Return the date (1 January 1970 for an undated document)."""
        try:
            return datetime.date.fromisoformat(self.date) if self.date else datetime.date(1970, 1, 1)
        except ValueError:
            raise ValueError(f"date must be an ISO date (2031-12-31) or empty, got date={self.date!r}") from None

    def blocks(self) -> tuple[Block, ...]:
        """Return every block, in order."""
        return self.front + tuple(block for section in self.sections for block in section.blocks)

    def _check_audience(self) -> None:
        if self.audience is not Audience.RELEASE:
            return
        _need(not self.confidential, "confidential", "False in a document for release", self.confidential)
        for section in self.sections:
            allowed = section.audience is Audience.RELEASE
            _need(allowed, "section", "for release in a document for release", section.title)

    def _check_structure(self) -> None:
        before = 0
        for section in self.sections:
            rule = f"at most {before + 1} in section {section.title!r}"
            _need(section.level <= before + 1, "level", rule, section.level)
            before = section.level
        _unique("id of sections", [section.id for section in self.sections if section.id])
        _unique("name of figures", [block.name for block in self.blocks() if isinstance(block, Drawing)])
        ids = {section.id for section in self.sections}
        for table in (block for block in self.blocks() if isinstance(block, Table)):
            for cell in (cell for row in table.rows for cell in row if isinstance(cell, Reference)):
                _need(cell.section in ids and cell.section != "", "reference", "the id of a section", cell.section)

    def to_json(self) -> str:
        """Return strict JSON text of this document."""
        return dumps(self)

    @classmethod
    def from_json(cls, text: str) -> Document:
        """Return the document of a JSON text; anything unknown, missing or of another type raises ValueError."""
        return loads(text, cls)


def _unique(name: str, values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    _need(not twice, name, "unique", ", ".join(twice))
