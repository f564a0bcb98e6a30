"""The formats that a document can be written in: one renderer each, chosen by the suffix of the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from .document import pdf_bytes
from .files import write_atomic
from .markdown import render_markdown
from .row import Document
from .web.html_page import html_bytes

Renderer = Callable[[Document, Mapping[str, bytes]], bytes]


def _markdown(document: Document, _: Mapping[str, bytes]) -> bytes:
    return render_markdown(document).encode()


def _pdf(document: Document, figures: Mapping[str, bytes]) -> bytes:
    return pdf_bytes(document, figures=figures)


def _html(document: Document, figures: Mapping[str, bytes]) -> bytes:
    return html_bytes(document, figures=figures)


#: Suffix of a file -> what renders a document for it, given figures (SVG by name) that were drawn elsewhere.
FORMATS: Mapping[str, Renderer] = {".pdf": _pdf, ".md": _markdown, ".html": _html}


def rendered(document: Document, suffix: str, *, figures: Mapping[str, bytes] | None = None) -> bytes:
    """Return a document in the format of a suffix.

    Parameters
    ----------
    document : Document
        What to render.
    suffix : str
        A key of ``FORMATS``: ``".pdf"``, ``".md"``, ``".html"``.
    figures : mapping of str to bytes, optional
        SVG per figure name, drawn elsewhere; a format that shows figures draws those that are missing.

    Returns
    -------
    bytes
        The content of a file of that suffix.

    Raises
    ------
    ValueError
        If there is no such format, or the document cannot be set.
    """
    if suffix not in FORMATS:
        raise ValueError(f"suffix must be one of {', '.join(FORMATS)}, got suffix={suffix!r}")
    return FORMATS[suffix](document, figures or {})


def write_document(
    document: Document, path: str | os.PathLike[str], *, figures: Mapping[str, bytes] | None = None, mode: int = 0o666
) -> None:
    """Write a document, whole or not at all, in the format of its file's suffix.

    Parameters
    ----------
    document, figures
        As of ``rendered``.
    path : path
        Its suffix, a key of ``FORMATS``, chooses the format; a file that is there is replaced.
    mode : int
        Permissions before the umask.

    Raises
    ------
    ValueError, OSError
        As ``rendered``; and if the file cannot be written: an older one is untouched.
    """
    write_atomic(path, rendered(document, Path(path).suffix, figures=figures), mode=mode)
