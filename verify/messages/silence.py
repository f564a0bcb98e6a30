"""No word of a library on standard error, where even that a warning came could say something about private records."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "PYTHONWARNINGS"
_silent = False


def tell(line: str) -> None:
    """Print a line about the work, not about what it found, on standard error, unless nothing may be said."""
    if not _silent:
        print(line, file=sys.stderr, flush=True)


@contextmanager
def silenced(wanted: bool) -> Iterator[None]:
    """Tell nothing while the block runs; ignore every warning, here and in its processes, whatever ``-W`` says."""
    if not wanted:
        yield
        return
    global _silent
    before, options = os.environ.get(VARIABLE), list(sys.warnoptions)
    os.environ[VARIABLE] = "ignore"
    sys.warnoptions[:] = ["ignore"]  # what a spawned process is started with
    was_silent, _silent = _silent, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        _silent = was_silent
        sys.warnoptions[:] = options
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
