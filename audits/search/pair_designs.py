"""Rows, responses and targets of structured data sets, all in units of the public bounds.

Everything is a fixed function of its arguments: no random numbers, so that a pair is the same wherever it is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from mechanisms.data.dataset import FloatArray

from .worst_case import NEARLY

#: A tiny row or response, as a share of its bound.
TINY = 1e-6
#: Rows that are not on an axis are shortened by this share, so that rounding cannot carry them out of the ball.
INWARDS = 1e-14


@dataclass(frozen=True)
class DesignRecord:
    """One record in units of the bounds: features, shape ``(dim,)``, and the response."""

    x: FloatArray
    y: float


def axis(dim: int, index: int = 0) -> FloatArray:
    """Return a unit vector along an axis, shape ``(dim,)``."""
    vector = np.zeros(dim)
    vector[index % dim] = 1.0
    return vector


def spread(n: int, dim: int, start: int = 1) -> FloatArray:
    """Return points spread over the unit ball, shape ``(n, dim)``: a Kronecker sequence, mapped to the ball."""
    roots = np.sqrt(_primes(dim + 1))
    shares = np.modf(np.arange(start, start + n)[:, None] * roots)[0]
    shares = np.clip(shares, 1e-9, 1 - 1e-9)
    directions = ndtri(shares[:, 1:])
    lengths = np.maximum(np.linalg.norm(directions, axis=1), 1e-300)
    radius = shares[:, 0] ** (1.0 / dim) * (1 - INWARDS)
    return np.asarray(directions * (radius / lengths)[:, None])


def _primes(count: int) -> FloatArray:
    primes: list[int] = []
    number = 2
    while len(primes) < count:
        if all(number % prime for prime in primes):
            primes.append(number)
        number += 1
    return np.array(primes, dtype=np.float64)


def _on_sphere(n: int, dim: int) -> FloatArray:
    rows = spread(n, dim)
    return np.asarray(rows * ((1 - INWARDS) / np.linalg.norm(rows, axis=1))[:, None])


def _alternate(n: int) -> FloatArray:
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def _axes(n: int, dim: int) -> FloatArray:
    """Return rows along the axes in turn, one round with each sign."""
    signs = np.where(np.arange(n) // dim % 2 == 0, 1.0, -1.0)
    return np.asarray(np.eye(dim)[np.arange(n) % dim] * signs[:, None])


def _collinear(n: int, dim: int) -> FloatArray:
    second = axis(dim, 1) if dim > 1 else np.zeros(dim)
    tilted = (axis(dim) + NEARLY * second) * ((1 - INWARDS) / math.hypot(1.0, NEARLY))
    return np.where((np.arange(n) % 2 == 0)[:, None], axis(dim), tilted)


def _one_long(n: int, dim: int) -> FloatArray:
    rows = TINY * spread(n, dim)
    rows[:1] = axis(dim)
    return rows


#: Words -> rows, shape ``(n, dim)``.
ROWS: Mapping[str, Callable[[int, int], FloatArray]] = {
    "rows alike": lambda n, dim: np.tile(axis(dim), (n, 1)),
    "rows over the axes": _axes,
    "rows nearly collinear": _collinear,
    "rows almost zero": lambda n, dim: np.tile(TINY * axis(dim), (n, 1)),
    "rows spread": spread,
    "rows spread, almost zero": lambda n, dim: TINY * spread(n, dim),
    "rows of full length in all directions": _on_sphere,
    "one long row among tiny ones": _one_long,
    "rows zero": lambda n, dim: np.zeros((n, dim)),
}


def _share_zero(share: float) -> Callable[[FloatArray], FloatArray]:
    """Return responses of which a share is zero (those first), the others at the bound."""
    return lambda X: np.where(np.arange(len(X)) < round(share * len(X) + 1e-9), 0.0, 1.0)


def _steps(X: FloatArray) -> FloatArray:
    """Return responses that jump at the usual quantiles, so that one record more at the top moves each by a jump."""
    responses = np.zeros(len(X))
    for share, jump in ((0.5, 0.1), (0.75, 0.1), (0.9, 0.2), (0.95, 0.3), (0.99, 0.3)):
        responses[math.floor(share * len(X) + 1e-9) :] += jump
    return np.minimum(responses, 1.0)


def _one_extreme(X: FloatArray) -> FloatArray:
    responses = TINY * _alternate(len(X))
    responses[:1] = 1.0
    return responses


def _ladder(X: FloatArray) -> FloatArray:
    """Return responses whose sizes grow by a constant factor over twelve orders of magnitude, signs in turn."""
    n = len(X)
    return np.asarray(10.0 ** (-12.0 * (n - np.arange(n)) / (n + 1)))


#: Words -> responses to given rows, shape ``(n,)``.
RESPONSES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "responses alike": lambda X: np.ones(len(X)),
    "responses alternate": lambda X: _alternate(len(X)),
    "responses tiny": lambda X: np.full(len(X), TINY),
    "responses tiny, along the rows": lambda X: TINY * np.where(X[:, 0] >= 0, 1.0, -1.0),
    "responses zero": lambda X: np.zeros(len(X)),
    "responses half zero": lambda X: np.where(np.arange(len(X)) < (len(X) + 1) // 2, 0.0, 1.0),
    "90 % of the responses zero": _share_zero(0.90),
    "95 % of the responses zero": _share_zero(0.95),
    "99 % of the responses zero": _share_zero(0.99),
    "responses that jump at the usual quantiles": _steps,
    "one extreme response among tiny ones": _one_extreme,
    "responses of all sizes": _ladder,
}


def _direction(X: FloatArray, dim: int, *, most: bool) -> FloatArray:
    """Return the most or the least excited direction; among equals the last axis is the least."""
    gram = X.T @ X if len(X) else np.zeros((dim, dim))
    gram = gram / max(float(np.abs(gram).max()), 1e-300) - 1e-13 * np.diag(np.arange(dim))
    vector = np.linalg.eigh(gram)[1][:, -1 if most else 0]
    vector = vector * math.copysign(1.0, vector[int(np.argmax(np.abs(vector)))])
    near = int(np.argmax(np.abs(vector)))
    if abs(vector[near]) > 1 - 1e-12:
        return axis(dim, near)
    return np.asarray(vector * ((1 - INWARDS) / np.linalg.norm(vector)))


def _first(X: FloatArray, y: FloatArray, dim: int) -> DesignRecord:
    return DesignRecord(X[0], float(y[0])) if len(X) else DesignRecord(axis(dim), 1.0)


def _reversed(record: DesignRecord, dim: int) -> DesignRecord:
    """Return the full-length record opposite in row and response."""
    length = float(np.linalg.norm(record.x))
    x = record.x * ((1 - INWARDS) / length) if length > 0 else axis(dim)
    near = int(np.argmax(np.abs(x)))
    x = axis(dim, near) * math.copysign(1.0, x[near]) if abs(x[near]) > 1 - 1e-12 else x
    return DesignRecord(-x, -1.0 if record.y >= 0 else 1.0)


def _short(dim: int, length: float, response: float) -> tuple[DesignRecord, DesignRecord]:
    """Return a record for which regularised coefficients move most: its squared length is near the regularisation."""
    return DesignRecord(length * axis(dim), response), DesignRecord(length * axis(dim), -response)


#: Words -> (target, the record that a replacement puts it in the place of), given rows, responses, dim and a position.
TARGETS: Mapping[str, Callable[[FloatArray, FloatArray, int, int], tuple[DesignRecord, DesignRecord]]] = {
    "most excited direction, response +": lambda X, y, dim, _: (
        DesignRecord(_direction(X, dim, most=True), 1.0),
        _first(X, y, dim) if len(X) else DesignRecord(axis(dim), -1.0),
    ),
    "least excited direction, response -": lambda X, y, dim, _: (
        DesignRecord(_direction(X, dim, most=False), -1.0),
        DesignRecord(_direction(X, dim, most=False), 1.0),
    ),
    "opposite of the first record": lambda X, y, dim, _: (
        _reversed(_first(X, y, dim), dim),
        _first(X, y, dim),
    ),
    "the first record with the opposite response": lambda X, y, dim, _: (
        DesignRecord(_first(X, y, dim).x, -_first(X, y, dim).y if _first(X, y, dim).y else 1.0),
        _first(X, y, dim),
    ),
    "a row of a fifth of the length, response +": lambda X, y, dim, _: _short(dim, 0.2, 1.0),
    "a row of a fiftieth of the length, response -": lambda X, y, dim, _: _short(dim, 0.02, -1.0),
    "one more copy of the first record": lambda X, y, dim, _: (_first(X, y, dim), DesignRecord(np.zeros(dim), 0.0)),
    "the zero record": lambda X, y, dim, _: (DesignRecord(np.zeros(dim), 0.0), DesignRecord(axis(dim), 1.0)),
    "a record inside the ball": lambda X, y, dim, position: (
        DesignRecord(spread(1, dim, 7 + 3 * position)[0], (-1.0) ** position * (0.25 + 0.75 / (1 + position % 7))),
        DesignRecord(-spread(1, dim, 7 + 3 * position)[0], (-1.0) ** (position + 1) * 0.5),
    ),
}


@dataclass(frozen=True)
class PairRecipe:
    """How one pair is built: the number of records beside the target, and words of the tables above.

    With ``labels`` the responses are -1 and +1 where the domain allows it, whatever its bound.
    """

    n: int
    rows: str
    responses: str
    target: str
    labels: bool = False


_MOST = "most excited direction, response +"
_LEAST = "least excited direction, response -"
_OPPOSITE = "opposite of the first record"
_COPY = "the first record with the opposite response"


#: The pairs that come first; any 6, 12 or 24 of them cover small, middle and large data sets and several designs.
FIRST = (
    PairRecipe(6, "rows alike", "responses tiny", _MOST),
    PairRecipe(30, "rows spread, almost zero", "responses tiny, along the rows", _OPPOSITE),
    PairRecipe(300, "rows alike", "responses half zero", "the zero record"),
    PairRecipe(0, "rows alike", "responses alike", _MOST),
    PairRecipe(30, "rows alike", "responses alike", _OPPOSITE),
    PairRecipe(300, "rows of full length in all directions", "responses alternate", _COPY),
    PairRecipe(2, "rows nearly collinear", "responses alternate", _LEAST),
    PairRecipe(30, "rows nearly collinear", "responses alternate", _LEAST),
    PairRecipe(6, "rows alike", "responses of all sizes", _MOST),
    PairRecipe(300, "rows alike", "responses that jump at the usual quantiles", _MOST),
    PairRecipe(1, "rows almost zero", "responses alike", "a row of a fifth of the length, response +"),
    PairRecipe(30, "rows alike", "responses zero", _MOST),
    PairRecipe(2, "rows spread", "responses alike", _COPY),
    PairRecipe(30, "rows alike", "90 % of the responses zero", _MOST),
    PairRecipe(300, "rows alike", "responses alike", "one more copy of the first record"),
    PairRecipe(6, "rows spread", "one extreme response among tiny ones", _OPPOSITE),
    PairRecipe(30, "rows almost zero", "responses alike", _MOST),
    PairRecipe(1, "rows alike", "responses alternate", "the zero record"),
    PairRecipe(300, "one long row among tiny ones", "responses tiny", _OPPOSITE),
    PairRecipe(6, "rows over the axes", "responses alternate", _LEAST, labels=True),
    PairRecipe(30, "rows spread", "responses of all sizes", _LEAST),
    PairRecipe(300, "rows alike", "99 % of the responses zero", _MOST),
    PairRecipe(0, "rows alike", "responses alike", "a row of a fiftieth of the length, response -"),
    PairRecipe(30, "rows over the axes", "responses alternate", "the zero record"),
)

#: Numbers of records beside the target that the further pairs take in turn.
SIZES = (30, 6, 300, 1, 100, 2, 0)


def further(number: int) -> PairRecipe:
    """Return the recipe number 0, 1, 2, … after the first ones: all combinations, neighbours in the order far apart."""
    rows, responses, targets = tuple(ROWS), tuple(RESPONSES), tuple(TARGETS)
    return PairRecipe(
        SIZES[number % len(SIZES)],
        rows[(4 * number + number // len(rows)) % len(rows)],
        responses[(3 * number + number // (len(responses) * 2)) % len(responses)],
        targets[(5 * number + 6 + number // (len(targets) * 3)) % len(targets)],
        labels=number % 3 == 2,
    )
