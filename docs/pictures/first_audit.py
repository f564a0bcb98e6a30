"""The picture of the README: its example is run, and what it found is drawn, light and dark.

Usage: python docs/pictures/first_audit.py
"""

from __future__ import annotations

import doctest
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from reports.files import write_atomic

HERE = Path(__file__).resolve().parent
#: End of the file's name -> colours.
STYLES = {
    "": {},
    "_dark": dict.fromkeys(
        ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), "#d7dde5"
    ),
}


def example() -> Any:
    """Return what the README's example found."""
    text = (HERE.parent.parent / "README.md").read_text(encoding="utf-8")
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(plain, {}, "README.md", "README.md", 0)
    doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
    return test.globs["found"]


def drawn(found: Any, style: str) -> bytes:
    """Return the picture as SVG; its title is the summary of what was found."""
    plain = {"svg.hashsalt": "pdp-verify", "svg.fonttype": "none", "font.family": "sans-serif"}
    with mpl.rc_context(plain | STYLES[style]):
        figure, buffer = Figure(figsize=(5.6, 3.4), layout="constrained", facecolor="none"), io.BytesIO()
        found.plot(figure.subplots()).set_facecolor("none")
        metadata = {"Date": None, "Creator": None, "Title": found.summary()}
        figure.savefig(buffer, format="svg", metadata=metadata)
    return buffer.getvalue()


if __name__ == "__main__":
    found = example()
    for style in STYLES:
        write_atomic(HERE / f"first_audit{style}.svg", drawn(found, style))
