"""Designs of pairs: rows, responses and target of structured data sets, all in units of the public bounds.

A design is a point of the space in which the worst pair is searched; the fixed list is made of such points too.
Everything is a fixed function of its arguments: no random numbers, so that a pair is the same wherever it is built.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import ndtri

from mechanisms.data.dataset import FloatArray

from .worst_case import NEARLY

#: A tiny row or response, as a share of its bound.
TINY = 1e-6
#: Rows that are not on an axis are shortened by this share, so that rounding cannot carry them out of the ball.
INWARDS = 1e-14
#: The length at which the squared lengths of all rows add up to 1.
ROOT: Literal["1/sqrt(n)"] = "1/sqrt(n)"
#: A length as a share of the bound.
Length = float | Literal["1/sqrt(n)"]


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


def _diagonal(n: int, dim: int) -> FloatArray:
    return np.tile(np.full(dim, (1 - INWARDS) / math.sqrt(dim)), (n, 1))


def _one_across(n: int, dim: int) -> FloatArray:
    rows = np.tile(axis(dim), (n, 1))
    rows[:1] = axis(dim, 1) if dim > 1 else -axis(dim)
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
    "rows in twos": lambda n, dim: np.repeat(spread((n + 1) // 2, dim), 2, axis=0)[:n],
    "one row across the others": _one_across,
    "rows alike, along a diagonal": _diagonal,
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


def _mixed(X: FloatArray) -> FloatArray:
    """Return labels in turn, then numbers that are no labels."""
    half = (len(X) + 1) // 2
    return np.asarray(np.where(np.arange(len(X)) < half, _alternate(len(X)), 0.5 * _rising(X)))


def _rising(X: FloatArray) -> FloatArray:
    return np.asarray((2 * np.arange(len(X)) + 2 - len(X)) / max(1, len(X)), dtype=np.float64)


def _by_pattern(n: int, pattern: int) -> FloatArray:
    """Return responses -1 and +1 by the bits of a number, which repeat after 64 of them."""
    return np.array([1.0 if pattern >> (i % 64) & 1 else -1.0 for i in range(n)])


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
    "responses in rising order": _rising,
    "responses of three values": lambda X: np.asarray(np.arange(len(X)) % 3 - 1.0, dtype=np.float64),
    "labels and numbers between them": _mixed,
}
#: Responses that a pattern gives.
PATTERN = "responses -1 and +1 in irregular order"


#: Words -> what becomes of a few rows and their responses.
FEW: Mapping[str, Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]] = {
    "with the opposite response": lambda X, y: (X, -y),
    "with row and response reversed": lambda X, y: (-X, -y),
    "with a response of zero": lambda X, y: (X, 0.0 * y),
    "with a row of zeros": lambda X, y: (0.0 * X, y),
    "with a row across the others": lambda X, y: (np.roll(X, 1, axis=1), y),
}
#: Which share of the records they are.
SHARES = (0.01, 0.05, 0.1, 0.5, 0.9)


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


def _between(X: FloatArray, dim: int) -> FloatArray:
    if dim == 1:
        return axis(dim)
    return np.asarray((_direction(X, dim, most=True) + _direction(X, dim, most=False)) * (math.sqrt(0.5) - INWARDS))


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


#: A target that depends on the design's pattern.
INSIDE = "a record inside the ball"
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
    "opposite of the first record": lambda X, y, dim, _: (_reversed(_first(X, y, dim), dim), _first(X, y, dim)),
    "the first record with the opposite response": lambda X, y, dim, _: (
        DesignRecord(_first(X, y, dim).x, -_first(X, y, dim).y if _first(X, y, dim).y else 1.0),
        _first(X, y, dim),
    ),
    "a row of a fifth of the length, response +": lambda X, y, dim, _: _short(dim, 0.2, 1.0),
    "a row of a fiftieth of the length, response -": lambda X, y, dim, _: _short(dim, 0.02, -1.0),
    "one more copy of the first record": lambda X, y, dim, _: (_first(X, y, dim), DesignRecord(np.zeros(dim), 0.0)),
    "the zero record": lambda X, y, dim, _: (DesignRecord(np.zeros(dim), 0.0), DesignRecord(axis(dim), 1.0)),
    "between the most and the least excited direction": lambda X, y, dim, _: (
        DesignRecord(_between(X, dim), 1.0),
        DesignRecord(_between(X, dim), -1.0),
    ),
    INSIDE: lambda X, y, dim, position: (
        DesignRecord(spread(1, dim, 7 + 3 * position)[0], (-1.0) ** position * (0.25 + 0.75 / (1 + position % 7))),
        DesignRecord(-spread(1, dim, 7 + 3 * position)[0], (-1.0) ** (position + 1) * 0.5),
    ),
}


@dataclass(frozen=True)
class PairDesign:
    """How one pair is built: the number of records beside the target, and words of the tables above."""

    n: int  #: records that both data sets share
    #: keys of ``ROWS``, of ``RESPONSES`` (or ``PATTERN``) and of ``TARGETS``
    rows: str
    responses: str
    target: str
    labels: bool = False  #: responses are -1 and +1 where the domain allows it, whatever its bound
    length: Length = 1.0  #: the rows are shortened by this factor
    level: float = 1.0  #: the responses of the shared records are multiplied by it
    target_length: Length | None = None  #: length of the target's row; None for that of ``target``
    #: response of the target, and of the record that it replaces; None for those of ``target``
    target_response: float | None = None
    old_response: float | None = None
    few: float = 0.0  #: a share of the shared records, the last ones, that are otherwise
    few_as: str = "with the opposite response"  #: a key of ``FEW``: how
    place: int = 0  #: the target stands first (0), in the middle (1) or last (2), where it is removed or a group is
    removed: bool = False  #: the target is removed, not added; of no meaning where it replaces a record
    scales: tuple[int, int] = (0, 0)  #: which of the sizes of rows and responses is taken where the domain has no bound
    pattern: int = 0  #: which irregular order, or which record inside the ball

    def shared(self, dim: int) -> tuple[FloatArray, FloatArray]:
        """Return rows and responses that both data sets share, shapes ``(n, dim)`` and ``(n,)``."""
        X = ROWS[self.rows](self.n, dim) * _as_share(self.length, self.n)
        y = _by_pattern(self.n, self.pattern) if self.responses == PATTERN else RESPONSES[self.responses](X)
        if self.n_few:
            X[-self.n_few :], y[-self.n_few :] = FEW[self.few_as](X[-self.n_few :], y[-self.n_few :])
        return X, self.level * y

    @property
    def n_few(self) -> int:
        """The number of records that are otherwise."""
        return round(self.few * self.n + 1e-9)

    def records(self, X: FloatArray, y: FloatArray) -> tuple[DesignRecord, DesignRecord]:
        """Return the target, and the record that it replaces, beside the shared records."""
        dim = X.shape[1]
        new, old = TARGETS[self.target](X, y, dim, self.pattern % 1024)
        if self.target_length is not None:
            size = float(np.linalg.norm(new.x))
            unit = new.x * ((1 - INWARDS) / size) if size > 0 else axis(dim)
            new = replace(new, x=unit * _as_share(self.target_length, self.n))
        if self.target_response is not None:
            new = replace(new, y=self.target_response)
        return new, old if self.old_response is None else replace(old, y=self.old_response)

    @property
    def words(self) -> str:
        """The design in words, but for units and what is done with the target."""
        rows = self.rows if self.length == 1.0 else f"{self.rows} times {_said(self.length)}"
        responses = f"{self.responses} (order {self.pattern:x})" if self.responses == PATTERN else self.responses
        responses += "" if self.level == 1.0 else f" times {self.level:g}"
        few = f", the last {self.n_few} {self.few_as}" if self.n_few else ""
        others = f"{rows}, {responses}, {self.n} of them{few}" if self.n else "no other record"
        target = f"{self.target} {self.pattern % 1024}" if self.target == INSIDE else self.target
        target += "" if self.target_length is None else f", its length made {_said(self.target_length)}"
        target += "" if self.target_response is None else f", its response made {self.target_response:g}"
        target += "" if self.old_response is None else f", that of the old one {self.old_response:g}"
        return f"{others}; {target}"


def _as_share(length: Length, n: int) -> float:
    return length if isinstance(length, float) else 1.0 / math.sqrt(max(1, n))


def _said(length: Length) -> str:
    return f"{length:g}" if isinstance(length, float) else length


_MOST = "most excited direction, response +"
_LEAST = "least excited direction, response -"
_OPPOSITE = "opposite of the first record"
_COPY = "the first record with the opposite response"


#: The pairs that come first; any 6, 12 or 24 of them cover small, middle and large data sets and several designs.
FIRST = (
    PairDesign(6, "rows alike", "responses tiny", _MOST),
    PairDesign(30, "rows spread, almost zero", "responses tiny, along the rows", _OPPOSITE),
    PairDesign(300, "rows alike", "responses half zero", "the zero record"),
    PairDesign(0, "rows alike", "responses alike", _MOST),
    PairDesign(30, "rows alike", "responses alike", _OPPOSITE),
    PairDesign(300, "rows of full length in all directions", "responses alternate", _COPY),
    PairDesign(2, "rows nearly collinear", "responses alternate", _LEAST),
    PairDesign(30, "rows nearly collinear", "responses alternate", _LEAST),
    PairDesign(6, "rows alike", "responses of all sizes", _MOST),
    PairDesign(300, "rows alike", "responses that jump at the usual quantiles", _MOST),
    PairDesign(1, "rows almost zero", "responses alike", "a row of a fifth of the length, response +"),
    PairDesign(30, "rows alike", "responses zero", _MOST),
    PairDesign(2, "rows spread", "responses alike", _COPY),
    PairDesign(30, "rows alike", "90 % of the responses zero", _MOST),
    PairDesign(300, "rows alike", "responses alike", "one more copy of the first record"),
    PairDesign(6, "rows spread", "one extreme response among tiny ones", _OPPOSITE),
    PairDesign(30, "rows almost zero", "responses alike", _MOST),
    PairDesign(1, "rows alike", "responses alternate", "the zero record"),
    PairDesign(300, "one long row among tiny ones", "responses tiny", _OPPOSITE),
    PairDesign(6, "rows over the axes", "responses alternate", _LEAST, labels=True),
    PairDesign(30, "rows spread", "responses of all sizes", _LEAST),
    PairDesign(300, "rows alike", "99 % of the responses zero", _MOST),
    PairDesign(0, "rows alike", "responses alike", "a row of a fiftieth of the length, response -"),
    PairDesign(30, "rows over the axes", "responses alternate", "the zero record"),
)

#: Numbers of records beside the target that the further pairs take in turn.
SIZES = (30, 6, 300, 1, 100, 2, 0)


def listed(number: int) -> PairDesign:
    """Return the design number 0, 1, 2, … of the fixed list; the directions alternate and places and scales vary."""
    design = FIRST[number] if number < len(FIRST) else _further(number - len(FIRST))
    place, scales = number // 2 % 3, (number % 4, (number + number // 4) % 4)
    return replace(design, place=place, removed=number % 2 == 1, scales=scales, pattern=number)


def _further(number: int) -> PairDesign:
    """Return the design number 0, 1, 2, … after the first ones: all combinations, neighbours in the order far apart."""
    rows, responses, targets = tuple(ROWS), tuple(RESPONSES), tuple(TARGETS)
    return PairDesign(
        SIZES[number % len(SIZES)],
        rows[(4 * number + number // len(rows)) % len(rows)],
        responses[(3 * number + number // (len(responses) * 2)) % len(responses)],
        targets[(5 * number + 6 + number // (len(targets) * 3)) % len(targets)],
        labels=number % 3 == 2,
    )
