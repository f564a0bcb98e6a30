"""Set a document as PDF with Typst. The templates are static; what they print they read as JSON, as plain strings."""

from __future__ import annotations

import datetime
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from .figures import figure_svg
from .files import require_room
from .layout import Composer
from .row import Document, Drawing, FormulaBlock

__all__ = ["STANDARDS", "check_formulas", "pdf_bytes"]

STANDARDS = ("1.7", "ua-1", "a-3a")
"""PDF 1.7, accessible (PDF/UA-1) and archivable with a file attached (PDF/A-3a)."""

#: Bytes of address space that setting a few pages takes, and half as much again: without them it may wait for ever.
TYPST_ROOM = 320 << 20
_TEMPLATES = ("main.typ", "theme.typ", "blocks.typ")
_ATTACHMENT = "attachment.bin"
_NOT_IN_FONT = re.compile(r'the text `"(.*?)"` could not be displayed', re.DOTALL)
_ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]+)\}|\\(.)")


def pdf_bytes(document: Document, *, figures: Mapping[str, bytes] | None = None) -> bytes:
    """Return the document as PDF: tagged, with bookmarks and alternative texts, the same bytes in every process.

    Characters that no font has are printed as code points, such as ``<U+6570>``.

    Parameters
    ----------
    document : Document
        What to set.
    figures : mapping of str to bytes, optional
        SVG per figure name, drawn elsewhere (``figure_svg``); those missing are drawn here.

    Returns
    -------
    bytes
        A PDF that claims PDF/UA-1 and PDF/A-3a.

    Raises
    ------
    ValueError
        If a formula is not Typst math; the message names its label and what is wrong.
    """
    import typst

    drawn = dict(figures or {})
    for block in document.blocks():
        if isinstance(block, Drawing) and block.name not in drawn:
            drawn[block.name] = figure_svg(block)
    with tempfile.TemporaryDirectory(prefix="pdp-verify-") as name:
        folder = Path(name)
        figure_files = _write_inputs(folder, document, drawn)
        absent: frozenset[str] = frozenset()
        while True:
            composed = Composer(absent, figure_files).document(document, _ATTACHMENT)
            (folder / "document.json").write_text(json.dumps(composed, allow_nan=False), encoding="utf-8")
            try:
                return _compile(folder, document.day())
            except typst.TypstError as error:
                missing = _missing_characters(error, absent, composed)
                if not missing:
                    check_formulas(block for block in document.blocks() if isinstance(block, FormulaBlock))
                    raise
                absent |= missing


def check_formulas(formulas: Iterable[FormulaBlock]) -> None:
    """Compile each formula on its own; a few milliseconds each.

    Parameters
    ----------
    formulas : iterable of FormulaBlock
        Typst math with a label.

    Raises
    ------
    ValueError
        For the first that is not Typst math.
    """
    import typst

    with tempfile.TemporaryDirectory(prefix="pdp-verify-") as name:
        folder = Path(name)
        _write_templates(folder)
        for formula in formulas:
            alone = Document(title="Formula", sections=(), front=(formula,))
            composed = Composer(frozenset(), {}).document(alone, _ATTACHMENT)
            (folder / "document.json").write_text(json.dumps(composed), encoding="utf-8")
            try:
                _compile(folder, alone.day())
            except typst.TypstError as error:
                shown = formula.typst if len(formula.typst) <= 200 else formula.typst[:197] + "..."
                raise ValueError(
                    f"typst must be Typst math that the fonts can set, got typst={shown!r} "
                    f"in formula {formula.label!r}: {error.message}"
                ) from None


def _compile(folder: Path, day: datetime.date) -> bytes:
    import typst

    require_room(TYPST_ROOM)
    midnight = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
    compiler: Any = typst.compile  # its type stub lacks the keyword ignore_system_fonts
    compiled = compiler(
        folder / "main.typ",
        root=folder,
        format="pdf",
        ignore_system_fonts=True,
        pdf_standards=list(STANDARDS),
        timestamp=int(midnight.timestamp()),
        package_path=folder,
        package_cache_path=folder,
    )
    return bytes(compiled)


def _write_templates(folder: Path) -> None:
    for name in _TEMPLATES:
        (folder / name).write_bytes((files(__package__) / "templates" / name).read_bytes())


def _write_inputs(folder: Path, document: Document, drawn: Mapping[str, bytes]) -> dict[str, str]:
    """Write templates, figures and attachment; return the file per figure name (numbered: names may differ by case)."""
    _write_templates(folder)
    if document.attachment is not None:
        (folder / _ATTACHMENT).write_bytes(document.attachment.data)
    figure_files = {}
    for index, block in enumerate(document.blocks()):
        if isinstance(block, Drawing):
            figure_files[block.name] = f"figure-{index}.svg"
            (folder / figure_files[block.name]).write_bytes(drawn[block.name])
    return figure_files


def _missing_characters(error: Any, known: frozenset[str], composed: object) -> frozenset[str]:
    """Return the characters that this error says no font has; all but ASCII if it names nothing new."""
    reported = "".join(_NOT_IN_FONT.findall(str(error.diagnostic)))
    if not reported and "codepoint" not in str(error.message):
        return frozenset()
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else match[2], reported)
    beyond = frozenset(character for character in text if ord(character) > 126) - known
    if beyond:
        return beyond
    return frozenset(c for c in json.dumps(composed, ensure_ascii=False) if ord(c) > 126) - known
