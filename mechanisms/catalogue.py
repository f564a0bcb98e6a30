"""The mechanisms of the project, collected from the modules that the folders list, and the examples they are tried on.

A module that holds a mechanism may have: ``examples()`` and ``misstatements()``, both a mapping of names to
``Example``, ``recipes()``, ``offers()`` (``mechanisms.offers``), and a model of its parameters
(``mechanisms.parameters``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from .base import WhiteBox
from .data.dataset import Dataset
from .data.neighbours import NeighbouringPair
from .parameters import Parameters

if TYPE_CHECKING:
    from .offers import Recipe

#: Folders whose ``__init__`` lists the modules that hold a mechanism.
FOLDERS = ("objective", "linear", "releases", "training", "filters")


@dataclass(frozen=True)
class Example:
    """A mechanism and a pair on which its loss is of the order of 1, so that a suite can see something.

    Attributes
    ----------
    atoms : mapping of int to float
        Columns of the output that have an atom, and where.
    """

    mechanism: WhiteBox
    pair: NeighbouringPair
    atoms: Mapping[int, float] = field(default_factory=dict)


def example_data(n_records: int = 30, *, kind: str = "linear") -> Dataset:
    """Return a small public data set of two features in the unit disc, made without chance.

    Parameters
    ----------
    kind : {"linear", "labels", "counts"}
        Responses: linear plus a ripple, in [-1, 1]; signs of it; whole numbers from 0 to 3.
    """
    index = np.arange(n_records)
    angle, radius = 2.399963 * index, np.sqrt((index % 7 + 2) / 9)  # the golden angle
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    y = np.clip(X @ np.array([0.7, -0.4]) + 0.15 * np.sin(5.0 * index), -1.0, 1.0)
    if kind == "labels":
        y = np.where(y > 0, 1.0, -1.0)
    elif kind == "counts":
        y = (index % 4).astype(np.float64)
    elif kind != "linear":
        raise ValueError(f"kind must be linear, labels or counts, got kind={kind}")
    return Dataset(X, y, 1.0, 3.0 if kind == "counts" else 1.0, name=f"example ({kind})", public=True)


def example_pair(kind: str = "linear", *, n_records: int = 30) -> NeighbouringPair:
    """Return the example data and one record more, off the axes and against the trend."""
    response = {"linear": -0.9, "labels": -1.0, "counts": 3.0}
    return NeighbouringPair.add(example_data(n_records, kind=kind), [0.8, -0.5], response[kind])


def modules(*folders: str) -> Iterator[ModuleType]:
    """Yield the modules that hold a mechanism, as the ``__init__`` of the folders lists them."""
    for folder in folders:
        listed = import_module(f"mechanisms.{folder}").MECHANISMS
        yield from (import_module(f"mechanisms.{folder}.{name}") for name in listed)


def parameters() -> dict[str, type[Parameters]]:
    """Return the parameters of every mechanism that a configuration may name, by its word there."""
    values = (value for module in modules(*FOLDERS) for value in vars(module).values())
    models = [value for value in values if isinstance(value, type) and issubclass(value, Parameters)]
    return {model.word(): model for model in models if model is not Parameters}


def reference_mechanisms() -> dict[str, Example]:
    """Return every reference mechanism with a density, by a short key: what the ``examples`` of the modules give."""
    return _collected("examples", *FOLDERS)


def broken_twins() -> dict[str, Example]:
    """Return every mechanism that misstates a density, a loss or a profile, by name, in their order.

    The broken privacy reports are not here: coverage is what refutes them.
    """
    return dict(sorted(_collected("misstatements", "broken", *FOLDERS).items()))


def recipes() -> dict[str, Recipe]:
    """Return how the mechanisms are set up by their own rules, by the name on the axis of a sweep."""
    return _collected("recipes", *FOLDERS)


def _collected(function: str, *folders: str) -> dict[str, Any]:
    collected: dict[str, Any] = {}
    for module in modules(*folders):
        more: dict[str, Any] = getattr(module, function, dict)()
        if taken := collected.keys() & more.keys():
            raise ValueError(f"{function} must have names of their own, got {', '.join(sorted(taken))} twice")
        collected |= more
    return collected
