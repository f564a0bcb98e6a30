"""A record that passes every check of its lines and still stops its reader: one line that quotes no value."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import UserError
from .faults import keep_traceback

#: What a reader raises that meets something else than was written. Good records pay nothing for it.
DAMAGE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RuntimeError, AssertionError, Warning)


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Take what is raised while a record is shown for what it is: damage that no line shows alone."""
    try:
        yield
    except DAMAGE as stop:
        raise UserError(
            f"record must be as pdp-verify wrote it, got record={path} ({type(stop).__name__}, {keep_traceback(stop)})"
        ) from stop
