"""Text as wide as the terminal, and never wider than a line that is easily read."""

from __future__ import annotations

import shutil
import textwrap

#: Widest line of text, where the terminal has room for it.
WIDEST = 100


def text_width() -> int:
    """Return how wide text is set."""
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 0)).columns)


def labelled(label: str, text: str, indent: int) -> str:
    """Return a text beside its label, all its lines indented alike."""
    indents = {"initial_indent": label.ljust(indent), "subsequent_indent": " " * indent}
    return textwrap.fill(text, text_width(), break_on_hyphens=False, **indents)  # type: ignore[arg-type]
