"""The leaks of class 12."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Entry
from .leaks import Leak, certain, column
from .leaks_wrong import added, responses, stacked, told


def one_more(*groups: tuple[int, float], y: float = 1.0, n: int = 4000) -> Any:
    """Groups of equal responses and one record more."""

    def leak(entry: Entry) -> Leak:
        base = responses(entry, *(np.full(count, value) for count, value in groups))
        return told(entry, added(entry, base, 0.5, y), n=n)

    return leak


def whole(entry: Entry) -> Leak:
    base = responses(entry, np.ones(5))
    return certain(added(entry, base, 0.5, 0.5)[::-1], column(0, lambda values: values == np.round(values)))


def rising(y: Any, last: float) -> Any:
    return lambda entry: told(entry, added(entry, responses(entry, y), 0.5, last))


def rows_more(groups: list[tuple[int, Any, float]], x: Any, y: float) -> Any:
    return lambda entry: told(entry, added(entry, stacked(entry, *groups), x, y))


LEAKS = {
    "labels-or-numbers": one_more((30, -1.0), y=0.3),
    "whole-numbers": whole,
    "running-totals": rising(np.linspace(0.5, 0.9, 30), 0.1),
    "min-max": one_more((1, 0.0), (30, 0.01)),
    "median-deviation-zero": lambda entry: told(
        entry, added(entry, stacked(entry, (41, 0.0, 0.0), (40, 0.5, 0.1)), 0.5, 0.1)
    ),
    "own-codes": one_more((150, -0.1), *((6, 0.1 * k) for k in range(9)), y=1.0),
    "constant-dropped": rows_more([(30, (0.5, 0.1), 1.0)], (0.4, 0.1), 1.0),
    "sparse-dropped": rows_more([(90, (0.0, 0.5), 0.1), (10, (0.7, 0.5), 1.0)], (0.0, 0.5), 0.1),
    "odd-halved": one_more((10, -1.0), (10, 1.0)),
    "fewer-noise-from-1000": rows_more([(4000, 0.5, 0.1)], 1.0, 1.0),
    "fewer-noise-from-4000": rows_more([(9900, 0.5, 0.1)], 1.0, 1.0),
    "fewer-noise-gdp": rows_more([(900, 0.5, 0.1)], 1.0, 1.0),
    "count-in-uint8": one_more((255, 0.5)),
    "count-in-int8": one_more((127, 0.5)),
    "sum-in-int16-of-hundredths": one_more((327, 1.0)),
    "sum-in-int16-of-sixteenths": one_more((2047, 1.0)),
    "half-precision-sum": one_more((8196, 1.0)),
    "half-precision-overflow": one_more((655, 1.0)),
    "padded-to-power-of-two": one_more((256, 1.0)),
    "small-cells": one_more((4, 0.5)),
    "small-cells-20": one_more((19, 0.5)),
    "per-cent": one_more((60, 0.01)),
    "missing-codes": one_more((95, 0.0), (5, -1.0), y=-1.0),
    "log-where-spread": one_more((200, 0.09)),
    "decimals-of-data": one_more((40, 0.5), y=0.25),
    "own-weights": rows_more([(1, 1.0, 0.0)], 1.0, 0.0),
    "own-largest-entry": rows_more([(50, 0.1, 1.0)], 1.0, 1.0),
}
