"""Drawing where nothing can be cached: not a word on standard error, and the same figure."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reports.figures import figure_svg
from reports.row import Figure, Series

DRAW = """
import hashlib, logging
from reports.figures import figure_svg
from reports.row import Figure, Series
figure = Figure("a", "A", "a caption", "words", "x", "y", (Series("s", (0.0, 1.0), (1.0, 2.0)),))
print(hashlib.sha256(figure_svg(figure)).hexdigest())
assert logging.getLogger("matplotlib").level == logging.NOTSET
"""


@pytest.mark.parametrize("variable", ["MPLCONFIGDIR", pytest.param("HOME", marks=pytest.mark.slow)])
def test_nothing_is_said_about_a_cache_that_cannot_be_kept(variable: str, tmp_path: Path) -> None:
    file = tmp_path / "no folder"
    file.write_text("")
    kept = {k: v for k, v in os.environ.items() if k not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    found = subprocess.run(
        [sys.executable, "-c", DRAW],
        env=kept | {variable: str(file / "below")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    figure = Figure("a", "A", "a caption", "words", "x", "y", (Series("s", (0.0, 1.0), (1.0, 2.0)),))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.strip() == hashlib.sha256(figure_svg(figure)).hexdigest()
