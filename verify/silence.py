"""No word of a library on standard error, where even that a warning came could say something about private records."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "PYTHONWARNINGS"


@contextmanager
def silenced(wanted: bool) -> Iterator[None]:
    """Ignore every warning while the block runs, here and in processes that are started in it, whatever ``-W`` says."""
    if not wanted:
        yield
        return
    before, options = os.environ.get(VARIABLE), list(sys.warnoptions)
    os.environ[VARIABLE] = "ignore"
    sys.warnoptions[:] = ["ignore"]  # what a spawned process is started with
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.warnoptions[:] = options
        os.environ.pop(VARIABLE)
        if before is not None:
            os.environ[VARIABLE] = before
