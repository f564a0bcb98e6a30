"""Which mechanisms may be believed about themselves: those of this project, all the way down, and no others.

Whatever stands in for a mechanism's own draws, density or loss (``mechanisms.capabilities``, proofs from the data on)
is asked for only where ``is_reference`` holds; anybody else's mechanism takes the way that every mechanism can take.
"""

from __future__ import annotations

import sys
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from types import FunctionType

import numpy as np

HOME = Path(__file__).parent
#: Where a plain function may come from, beside whom this package stands.
PACKAGES = (HOME.name, "audits", "verify")
PLAIN = (type(None), bool, int, float, complex, str, bytes)


def is_reference(mechanism: object) -> bool:
    """Return whether a mechanism is one of ours, whose law is proved here and not merely stated.

    Its class is to be found under its name in a module of this package, outside ``broken``; the object carries its
    fields and nothing else; and the same holds for all that its fields hold. A class that only says that it is from
    here, a subclass, an object with functions of its own, and one of ours around a stranger's mechanism, loss or
    function are not.
    """
    kind = type(mechanism)
    if not _written_in(kind, HOME.name) or kind.__module__.startswith(f"{HOME.name}.broken"):
        return False
    if isinstance(mechanism, Enum):
        return True
    if isinstance(mechanism, tuple) or not is_dataclass(mechanism):
        return False
    carried = dict(vars(mechanism))
    cached = {name for base in kind.__mro__ for name, value in vars(base).items() if isinstance(value, cached_property)}
    own = {field.name: carried.pop(field.name, None) for field in fields(mechanism)}
    return carried.keys() <= cached and all(_is_ours(value) for value in [*own.values(), *carried.values()])


def _is_ours(value: object) -> bool:
    """Return whether a value is data, or made of what is written here; whatever is not known is a stranger's."""
    if type(value) in PLAIN:
        return True
    if isinstance(value, np.ndarray | np.generic):
        return type(value).__module__ == "numpy" and not value.dtype.hasobject
    if type(value) in (tuple, list, frozenset, set):
        return all(_is_ours(part) for part in value)  # type: ignore[attr-defined]
    if type(value) is dict:
        return all(_is_ours(part) for item in value.items() for part in item)
    if isinstance(value, type | FunctionType):
        return _written_in(value, *PACKAGES)
    return is_reference(value)


def _written_in(thing: type | FunctionType, *packages: str) -> bool:
    """Return whether a class or function is found under its name in a module of these packages, from their folder."""
    package = str(thing.__module__).partition(".")[0]
    module = sys.modules.get(str(thing.__module__))
    file = getattr(module, "__file__", None)
    near = package in packages and file is not None and Path(file).is_relative_to(HOME.parent / package)
    return near and getattr(module, thing.__qualname__, None) is thing
