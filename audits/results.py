"""How a result reads: a short ``repr``, a summary in words and numbers, a small table; never a cell of data."""

from __future__ import annotations

import html
from collections.abc import Sequence, Sized
from dataclasses import fields
from enum import Enum
from typing import Any

#: Most characters of one value, and of a whole ``repr``.
LONGEST_VALUE, LONGEST_REPR = 120, 240


class Result:
    """A result that can be read; a subclass is a dataclass with ``repr=False`` and may choose its own ``entries``."""

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name; by default every field."""
        of: Any = self
        return {field.name: getattr(self, field.name) for field in fields(of)}

    def brief(self) -> str:
        """Return the result as one value among others; by default only what it is."""
        return type(self).__name__

    def summary(self) -> str:
        """Return the result in a few lines of words and numbers.

        Examples
        --------
        >>> from audits import Estimate
        >>> print(Estimate(0.1, 0.05, 0.2, 1e-6, 1000, "Clopper-Pearson").summary())
        Estimate
          value         0.1
          interval      [0.05, 0.2]
          failure prob  1e-06
          n draws       1000
          method        Clopper-Pearson
        """
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        return "\n".join([type(self).__name__, *(f"  {name:<{width}}  {words}" for name, words in lines)])

    def __repr__(self) -> str:
        inside = ", ".join(f"{name.replace(' ', '_')}={_words(value)}" for name, value in self.entries().items())
        return f"{type(self).__name__}({_cut(inside, LONGEST_REPR)})"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(words)}</td></tr>" for name, words in self._lines()
        )
        return f"<table><caption>{html.escape(type(self).__name__)}</caption>{cells}</table>"

    def _lines(self) -> list[tuple[str, str]]:
        lines = ((name.replace("_", " "), _words(value)) for name, value in self.entries().items())
        return [(name, words) for name, words in lines if words]


def _words(value: Any) -> str:
    """Return one value in words; of an array, a sequence or an object only what it is."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return _cut(str(value), LONGEST_VALUE)
    if isinstance(value, Result):
        return value.brief()
    if hasattr(value, "shape"):
        return f"array of shape {value.shape}"
    if isinstance(value, Sequence) and value and all(type(item) is type(value[0]) for item in value):
        return f"{len(value)} × {type(value[0]).__name__}"
    return f"{len(value)} items" if isinstance(value, Sized) else type(value).__name__


def _cut(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
