"""What the benchmarks share: their options, and the seconds that a task takes."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def options(doc: str | None, **asked: Any) -> argparse.Namespace:
    """Return the options of the command line.

    Each is named with its default; with ``False`` it is a flag, with a type it has no default, with a tuple it is one
    of these words or none.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in asked.items():
        how: dict[str, Any] = {"type": type(default), "default": default}
        if default is False:
            how = {"action": "store_true"}
        elif isinstance(default, type):
            how = {"type": default}
        elif isinstance(default, tuple):
            how = {"choices": default}
        parser.add_argument("--" + name.replace("_", "-"), **how)
    return parser.parse_args()


def timed(task: Callable[[], T], clock: Callable[[], float] = time.perf_counter) -> tuple[T, float]:
    """Return what a task returns, and its seconds by a clock."""
    start = clock()
    return task(), clock() - start
