"""The leaks of class 14."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Entry
from .leaks import Leak, certain, column
from .leaks_wrong import added, changed, responses, stacked, told, without


def periodic(entry: Entry, pattern: list[float], times: int, x: float = 0.5) -> Any:
    return responses(entry, np.tile(pattern, times), x=x)


def one_less(pattern: list[float], times: int, index: int = 0, x: float = 0.5) -> Any:
    """Responses that repeat themselves, without one of them."""
    return lambda entry: told(entry, without(entry, periodic(entry, pattern, times, x), index))


def one_other(pattern: list[float], times: int, index: int, y: float) -> Any:
    return lambda entry: told(entry, changed(entry, periodic(entry, pattern, times), index, 0.5, y))


def trained(entry: Entry) -> Leak:
    """A single long record of the training part, and a test part far along it."""
    base = stacked(entry, (1, 1.0, 1.0), (119, 0.0, 0.0), (30, 1.0, 1.0))
    return told(entry, changed(entry, base, 0, 1.0, -1.0))


def winner(entry: Entry) -> Leak:
    made, rng = entry.factory(), np.random.default_rng(3)
    for _ in range(400):
        X = rng.uniform(-0.5, 0.5, (30, entry.dim))
        base = entry.dataset(X, np.clip(0.3 * X[:, 0] + rng.uniform(-0.3, 0.3, 30), -1, 1))
        pair = added(entry, base, 1.0, 1.0)
        first, second = (made.winner(each) for each in pair)
        if first != second:
            return certain(pair, column(0, lambda values, won=first: values == won))
    raise LookupError("no winner changes")


def mistaken(entry: Entry) -> Leak:
    """Rows of which each is a mistake for one run and none for the other, and drives them apart the most."""
    made = entry.factory()
    turns = np.linspace(0.0, 2 * np.pi, 720, endpoint=False)
    rows = 0.999 * np.column_stack([np.cos(turns), np.sin(turns)])
    base = entry.dataset([], [])
    pair = added(entry, base, (0.5, 0.5), 1.0, front=True)
    for _ in range(120):
        one, other = (made.centre(each) for each in pair)
        moved = [after + rows * (rows @ after <= 0.0)[:, None] for after in (one, other)]
        unclear = (np.abs(rows @ one - 0.01) < 0.02) | (np.abs(rows @ other - 0.01) < 0.02)
        apart = np.linalg.norm(moved[0] - moved[1], axis=1) - 100.0 * (unclear & (len(base.y) > 0))
        base = base.with_record(rows[int(apart.argmax())], 1.0)
        pair = added(entry, base, (0.5, 0.5), 1.0, front=True)
    return told(entry, pair)


LEAKS = {
    "block-sums": one_less([1.0, *[0.0] * 9, -1.0, *[0.0] * 9], 5),
    "block-spread": one_less([1.0] * 5 + [-1.0] * 5, 10),
    "test-error": trained,
    "last-ten": one_other([0.0], 200, 195, 1.0),
    "last-ten-laplace": one_other([0.0], 100, 95, 1.0),
    "every-tenth": one_less([1.0, *[-1.0] * 9], 10),
    "every-tenth-amplified": one_other([-1.0], 200, 50, 1.0),
    "first-hundred": lambda entry: told(entry, without(entry, responses(entry, np.ones(100), -np.ones(20)), 3)),
    "folds-winner": winner,
    "moving-average": lambda entry: told(entry, without(entry, responses(entry, [1.0, -1.0]), 0)),
    "autocovariance": one_less([1.0, -1.0, 1.0], 1, index=1),
    "pair-differences": one_less([1.0, -1.0], 15),
    "variation": one_less([-1.0, 1.0, -1.0], 1, index=1),
    "running-maximum": one_other([-1.0], 40, 0, 1.0),
    "from-first": lambda entry: told(entry, added(entry, responses(entry, np.zeros(30)), 0.5, 1.0, front=True)),
    "carried-forward": lambda entry: told(entry, added(entry, responses(entry, np.zeros(30)), 0.5, 1.0, front=True)),
    "one-epoch": lambda entry: told(entry, added(entry, stacked(entry, (40, 1.0, -1.0)), 1.0, 1.0)),
    "one-epoch-gdp": lambda entry: told(entry, added(entry, stacked(entry, (10, 0.5, 0.0)), 1.0, 1.0)),
    "momentum": lambda entry: told(entry, added(entry, stacked(entry, (1, 0.0, 0.0)), 1.0, 1.0)),
    "perceptron": mistaken,
    "second-half-less-first": one_other([-1.0], 40, 30, 1.0),
}
