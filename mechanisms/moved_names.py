"""Names that a package had at its top in the version before, and has one level down now."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def with_moved_names(package: str, own: Callable[[str], Any], parts: Sequence[str]) -> Callable[[str], Any]:
    """Return a package's ``__getattr__`` that also finds the public names of its ``parts``, with a warning.

    ``own`` is the one without them. What neither has raises AttributeError.
    """

    def get(name: str) -> Any:
        try:
            return own(name)
        except AttributeError:
            part = None if name.startswith("_") else _part_of(package, name, parts)
            if part is None:
                raise
        old, new = f"{package}.{name}", f"{part}.{name}"
        warnings.warn(f"{old} is {new} now; the old name goes with the next version", DeprecationWarning, stacklevel=2)
        return getattr(import_module(part), name)

    return get


def _part_of(package: str, name: str, parts: Sequence[str]) -> str | None:
    return next((f"{package}.{part}" for part in parts if name in import_module(f"{package}.{part}").__all__), None)
