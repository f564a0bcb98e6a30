"""Data sets with a public domain, and the record-wise steps that bring records into it."""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: Relative slack that a record may exceed its public bound by rounding alone.
BOUND_SLACK = 1e-12


class DataError(ValueError):
    """Input data breaks a rule; the message names the column and the rule, never a cell."""


def _bound(name: str, value: float) -> float:
    value = float(value)
    if math.isnan(value) or value <= 0:
        raise DataError(f"{name} must be positive (infinity allowed), got {name}={value}")
    return value


def as_numbers(name: str, values: ArrayLike) -> FloatArray:
    """Return a fresh float64 array, or refuse it without quoting any of its cells."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of numbers of one shape, got something else") from None


def _given(name: str, values: ArrayLike) -> FloatArray:
    """Return the array itself where nobody can write to it any more, otherwise a fresh one."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float64:
        return as_numbers(name, values)
    flags = values.flags
    return values if flags.c_contiguous and flags.owndata and not flags.writeable else as_numbers(name, values)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records together with the public domain that they are promised to lie in.

    Two data sets are equal only if they are the same object; compare ``digest`` for equal contents. Arrays are copied,
    but for one that owns its memory and was made read-only: handing such an array over costs nothing.

    Parameters
    ----------
    X : (n_records, dim) array of float64
        One record's features a row; an intercept column counts in ``x_bound``.
    y : (n_records,) array of float64
        Responses.
    x_bound : float
        Public bound on the Euclidean norm of a row of ``X``; positive, may be infinite.
    y_bound : float
        Public bound on ``|y|``; positive, may be infinite.
    name : str
        Used in reports.
    public : bool
        True when the records themselves may be published.
    steps : tuple of str
        The recorded record-wise steps (clipping, scaling) that were applied, in order.
    data_dependent : tuple of str
        Statistics read off the data (z-scores, centring, chosen bounds) that become part of any claim.

    Raises
    ------
    DataError
        If shapes disagree, a value is not finite, or a record lies outside the public domain.

    Examples
    --------
    >>> data = Dataset([[0.6, 0.0], [0.0, -0.8]], [1.0, -1.0], x_bound=1.0, y_bound=1.0, name="two records")
    >>> data
    Dataset('two records', dim=2, private)
    >>> data.with_record([0.1, 0.1], 0.5).n_records
    3
    """

    X: FloatArray
    y: FloatArray
    x_bound: float
    y_bound: float
    name: str = "data"
    public: bool = False
    steps: tuple[str, ...] = ()
    data_dependent: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        X, y = _given("X", self.X), _given("y", self.y)
        if X.ndim != 2:
            raise DataError(f"X must have 2 axes (records, features), got X.ndim={X.ndim}")
        if X.shape[1] == 0:
            raise DataError("X must have at least one feature, got dim=0")
        if y.shape != (X.shape[0],):
            raise DataError(f"y must have shape ({X.shape[0]},), got y.shape={y.shape}")
        for column in np.flatnonzero(~np.isfinite(X).all(axis=0)):
            raise DataError(f"X must be finite, got a non-finite value in column {int(column)}")
        if not np.isfinite(y).all():
            raise DataError("y must be finite, got a non-finite value in the response")
        x_bound, y_bound = _bound("x_bound", self.x_bound), _bound("y_bound", self.y_bound)
        if row_norms(X).max(initial=0.0) > x_bound * (1 + BOUND_SLACK):
            raise DataError(
                f"rows of X must have Euclidean norm at most x_bound={x_bound:g}; "
                "bring them inside with clip_rows, a step that is recorded"
            )
        if np.abs(y).max(initial=0.0) > y_bound * (1 + BOUND_SLACK):
            raise DataError(
                f"|y| must be at most y_bound={y_bound:g}; bring it inside with clip_response, a step that is recorded"
            )
        X.setflags(write=False)
        y.setflags(write=False)
        for name, value in (("X", X), ("y", y), ("x_bound", x_bound), ("y_bound", y_bound)):
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        """Return its name and shape: never a cell, and of private data not even how many records there are."""
        size = f"n_records={self.n_records}, " if self.public else ""
        return f"Dataset({self.name!r}, {size}dim={self.dim}, {'public' if self.public else 'private'})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the records and their public bounds."""
        hashed = hashlib.sha256(repr((self.X.shape, self.x_bound, self.y_bound)).encode())
        for array in (self.X, self.y):  # a view, not a copy: large data are hashed in place
            hashed.update(array.data)
        return hashed.hexdigest()

    @property
    def n_records(self) -> int:
        """Number of records (may be 0)."""
        return int(self.X.shape[0])

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    def with_record(self, x: ArrayLike, y: float) -> Dataset:
        """Return the data set with one record appended (it must lie in the public domain)."""
        row = as_row(x, self.dim)
        X, response = np.vstack([self.X, row]), np.append(self.y, float(y))
        X.setflags(write=False)
        response.setflags(write=False)
        return replace(self, X=X, y=response)

    def with_record_in_place(self, index: int, x: ArrayLike, y: float) -> Dataset:
        """Return the data set in which record ``index`` is another one; the other records stay where they are."""
        self._check_index(index)
        X, response = self.X.copy(), self.y.copy()
        X[index], response[index] = as_row(x, self.dim), float(y)
        X.setflags(write=False)
        response.setflags(write=False)
        return replace(self, X=X, y=response)

    def _check_index(self, index: int) -> None:
        if not 0 <= index < self.n_records:
            raise DataError(f"index must be in [0, {self.n_records}), got index={index}")

    def without_record(self, index: int) -> Dataset:
        """Return the data set without record ``index``."""
        self._check_index(index)
        smaller = copy.copy(self)  # its records were checked when this one was made
        smaller.__dict__.pop("digest", None)
        for name, array in (("X", self.X), ("y", self.y)):
            rest = np.concatenate([array[:index], array[index + 1 :]])
            rest.setflags(write=False)
            object.__setattr__(smaller, name, rest)
        return smaller


def as_row(x: ArrayLike, dim: int) -> FloatArray:
    """Return ``x`` as a finite row of shape ``(dim,)``."""
    row = as_numbers("x", x)
    if row.shape != (dim,):
        raise DataError(f"x must have shape ({dim},), got x.shape={row.shape}")
    if not np.isfinite(row).all():
        raise DataError("x must be finite, got a non-finite value")
    return row


def row_norms(X: FloatArray) -> FloatArray:
    """Return the Euclidean norm of every row, shape ``(n_records,)``; squares neither overflow nor vanish.

    A norm beyond floating point is infinite.
    """
    with np.errstate(over="ignore", under="ignore"):
        norms = np.asarray(np.sqrt(np.einsum("ij,ij->i", X, X)), dtype=np.float64)
    rescued = ~((norms > 1e-140) & (norms < 1e140))
    if rescued.any():
        rows = X[rescued]
        largest = np.abs(rows).max(axis=1, initial=0.0)
        safe = np.where(largest > 0, largest, 1.0)[:, None]
        with np.errstate(over="ignore", under="ignore"):
            norms[rescued] = largest * np.sqrt(((rows / safe) ** 2).sum(axis=1))
    return norms


@dataclass(frozen=True)
class RowClip:
    """Record-wise step: scale a row down to Euclidean norm ``bound`` when it is longer (a public constant)."""

    bound: float

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the rows, those longer than the bound scaled down to it."""
        bound, norms = _bound("bound", self.bound), row_norms(X)
        scale = np.ones_like(norms)
        scale[norms > bound] = bound / norms[norms > bound]
        return np.asarray(X * scale[:, None], dtype=np.float64)

    def __str__(self) -> str:
        return f"rows scaled down to Euclidean norm at most {self.bound:g}"


@dataclass(frozen=True)
class UnitRows:
    """Record-wise step: scale every non-zero row to Euclidean norm exactly ``norm`` (a public constant)."""

    norm: float = 1.0

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the rows scaled to the norm; zero rows stay zero."""
        norms = row_norms(X)
        safe = np.where(norms > 0, norms, 1.0)
        return np.asarray(X / safe[:, None] * _bound("norm", self.norm), dtype=np.float64)

    def __str__(self) -> str:
        return f"rows scaled to Euclidean norm {self.norm:g}"


@dataclass(frozen=True)
class ColumnScale:
    """Record-wise step: divide each feature by a public constant, shape ``(dim,)``."""

    divisors: tuple[float, ...]

    def __call__(self, X: FloatArray) -> FloatArray:
        divisors = np.asarray([_bound("divisor", d) for d in self.divisors])
        return np.asarray(X / divisors, dtype=np.float64)

    def __str__(self) -> str:
        return "features divided by the public constants " + ", ".join(f"{d:g}" for d in self.divisors)


@dataclass(frozen=True)
class ColumnShiftScale:
    """Record-wise step with *public* centres and scales: ``(x - centre) / scale`` a column."""

    centres: tuple[float, ...]
    scales: tuple[float, ...]

    def __call__(self, X: FloatArray) -> FloatArray:
        scales = np.asarray([_bound("scale", s) for s in self.scales])
        return np.asarray((X - np.asarray(self.centres)) / scales, dtype=np.float64)

    def __str__(self) -> str:
        pairs = ", ".join(f"({c:g}, {s:g})" for c, s in zip(self.centres, self.scales, strict=True))
        return f"features centred and scaled by the public constants {pairs}"


def build_dataset(
    X: ArrayLike,
    y: ArrayLike,
    *,
    x_bound: float,
    y_bound: float,
    steps: Sequence[Any] = (),
    intercept: float | None = None,
    response_scale: float = 1.0,
    clip_response: bool = False,
    name: str = "data",
    public: bool = False,
) -> Dataset:
    """Return a ``Dataset`` after record-wise steps with public constants, each of them recorded.

    Parameters
    ----------
    X, y : array_like
        Raw records, shapes ``(n_records, dim)`` and ``(n_records,)``.
    x_bound, y_bound : float
        Public bounds that hold after the steps (the intercept column counts in ``x_bound``).
    steps : sequence of callables
        Record-wise maps of ``X`` (``RowClip``, ``UnitRows``, ``ColumnScale``, …), applied in order.
    intercept : float, optional
        Append a constant column with this value before ``steps``.
    response_scale : float
        Public constant that ``y`` is divided by.
    clip_response : bool
        Clip ``y`` to ``[-y_bound, y_bound]``.
    name, public
        As in ``Dataset``.

    Returns
    -------
    Dataset
        With the steps in its ``steps``.

    Raises
    ------
    DataError
        If a value is not finite, or a record lies outside the bounds after the steps.
    """
    features, response = as_numbers("X", X), as_numbers("y", y)
    done: list[str] = []
    if features.ndim != 2:
        raise DataError(f"X must have 2 axes (records, features), got X.ndim={features.ndim}")
    for column in np.flatnonzero(~np.isfinite(features).all(axis=0)):
        raise DataError(f"X must be finite, got a non-finite value in column {int(column)}")
    if not np.isfinite(response).all():  # before clipping, which would hide an infinity
        raise DataError("y must be finite, got a non-finite value in the response")
    if intercept is not None:
        features = np.column_stack([features, np.full(features.shape[0], float(intercept))])
        done.append(f"intercept column {intercept:g} appended")
    for step in steps:
        features = step(features)
        done.append(str(step))
    if response_scale != 1.0:
        response = response / _bound("response_scale", response_scale)
        done.append(f"response divided by the public constant {response_scale:g}")
    if clip_response:
        response = np.clip(response, -y_bound, y_bound)
        done.append(f"response clipped to [-{y_bound:g}, {y_bound:g}]")
    return Dataset(features, response, x_bound, y_bound, name=name, public=public, steps=tuple(done))


def z_score(dataset: Dataset, *, x_bound: float = math.inf) -> Dataset:
    """Return the data set with centred, unit-variance columns; the statistics used become part of any claim."""
    X = dataset.X
    if dataset.n_records:  # that there is no record must not be seen in an error
        mean, std = X.mean(axis=0), X.std(axis=0)
        constant = std <= 1e-12 * np.abs(X).max(axis=0)  # a constant column's spread is rounding
        X = (X - mean) / np.where(constant, 1.0, std)
    note = "z-scores: column means and standard deviations read off the data"
    return replace(
        dataset, X=X, x_bound=x_bound, steps=(*dataset.steps, note), data_dependent=(*dataset.data_dependent, note)
    )
