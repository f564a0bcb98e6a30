"""Scores that rank outputs from "surely the second data set" to "surely the first", learned on the training draws only.

A score decides which event is certified, never whether it is valid: a bad score costs power and nothing else.

Of outputs with more than ``WIDE`` columns, scores that read columns one by one, or in pairs and triples, read a choice:
the columns in which the draws that are learned from differ most between the two data sets, and those whose values
repeat most. Scores that take one pass over the numbers read all columns. The choice is part of what is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, special

from mechanisms.data.dataset import FloatArray

IntArray = NDArray[np.int64]
Features = Callable[[FloatArray], FloatArray]

#: At most this many training draws per data set enter a logistic fit.
MAX_FIT = 20_000
#: Most coordinates for which an additive score is fitted.
MAX_ADDITIVE = 30
#: Training draws per data set for each bin, and the most bins.
PER_BIN, MAX_BINS = 6, 64
#: Outputs beyond this, infinite ones among them, count as this where they are scaled (sums of squares stay finite).
LARGEST = 1e150
#: Cells seen fewer times than this carry no evidence.
RARE = 3
#: Odd number with which the bits of several columns are mixed into one key.
MIXER = np.int64(-7046029254386353131)


class Score(Protocol):
    """A fitted score; larger means more like the first data set."""

    @property
    def name(self) -> str:
        """How the score was made, in words."""
        ...

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per row of ``outputs`` (shape ``(n_draws, k)``), shape ``(n_draws,)``."""
        ...


@dataclass(frozen=True)
class NamedScore:
    """A fitted score: what it is in words, a function from outputs ``(n, k)`` to scores ``(n,)``, columns it names."""

    what: str
    of: Features
    columns: tuple[int, ...] = ()
    minus: bool = False  #: whether it is the negative of what it is called

    @property
    def name(self) -> str:
        """The score in words, with the columns that it reads where it is about some of several."""
        if not self.columns:
            return self.what
        places = ", ".join(str(column + 1) for column in self.columns)
        return f"{self.what}, column{'s' if len(self.columns) > 1 else ''} {places}"

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per row, never NaN."""
        return self.of(outputs)


def _logistic_fit(features: FloatArray, labels: FloatArray, ridge: FloatArray, *, steps: int = 30) -> FloatArray:
    """Return the coefficients that minimise the ridge-penalised logistic loss, by damped Newton steps.

    ``features``, (n, f) array. ``labels``, (n,) array of 0 and 1. ``ridge``, (f,) array: penalty ``ridge_j c_j^2 / 2``;
    0 leaves a coefficient free.
    """
    coefficients = np.zeros(features.shape[1])

    def loss(c: FloatArray) -> float:
        z = features @ c
        return float(np.logaddexp(0.0, z).sum() - labels @ z + 0.5 * (ridge * c * c).sum())

    current = loss(coefficients)
    for _ in range(steps):
        p = special.expit(features @ coefficients)
        gradient = features.T @ (p - labels) + ridge * coefficients
        curvature = (features.T * (p * (1 - p))) @ features + np.diag(ridge + 1e-9)
        step = np.asarray(linalg.solve(curvature, gradient, assume_a="pos"), dtype=np.float64)
        scale = 1.0
        while scale > 1e-4 and loss(coefficients - scale * step) > current:
            scale *= 0.5
        coefficients = coefficients - scale * step
        previous, current = current, loss(coefficients)
        if previous - current < 1e-9 * (1.0 + abs(previous)):
            break
    return coefficients


@dataclass(frozen=True)
class Scaler:
    """Centre and scale of each coordinate from pooled quantiles (robust to heavy tails), then clipped at ``limit``."""

    centre: FloatArray
    scale: FloatArray
    limit: float

    @classmethod
    def fit(cls, outputs: FloatArray, limit: float = 30.0) -> Scaler:
        """Return the scaler of the medians and interquartile ranges of ``outputs``."""
        outputs = moderate(outputs)
        low, centre, high = np.quantile(outputs, [0.25, 0.5, 0.75], axis=0)
        spread = np.where(high > low, high - low, np.maximum(np.abs(outputs - centre).mean(axis=0), 1e-300))
        return cls(np.asarray(centre), np.asarray(spread), limit)

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return the scaled outputs, same shape."""
        with np.errstate(over="ignore"):  # clipped at once
            scaled = (moderate(outputs) - self.centre) / self.scale
        return np.asarray(np.clip(scaled, -self.limit, self.limit), dtype=np.float64)


def moderate(values: FloatArray) -> FloatArray:
    """Return values as numbers within ``LARGEST``; one that is no number counts as 0."""
    return np.asarray(np.clip(np.nan_to_num(values), -LARGEST, LARGEST), dtype=np.float64)


def raw_score(sign: float = 1.0) -> NamedScore:
    """Return the first coordinate of the output as it is, or its negative: larger is more like the first data set."""
    return NamedScore(
        "the output itself", lambda outputs: np.asarray(sign * np.nan_to_num(outputs[:, 0])), minus=sign < 0
    )


def fit_raw(first: FloatArray, second: FloatArray) -> NamedScore:
    """Return the raw score of a scalar output, oriented by the rank-sum statistic of the training draws."""
    ranks = np.argsort(np.argsort(np.concatenate([first[:, 0], second[:, 0]]), kind="stable"), kind="stable")
    lean = ranks[: len(first)].mean() - ranks[len(first) :].mean()
    return raw_score(1.0 if lean >= 0 else -1.0)


def _logistic(
    name: str, pooled: FloatArray, n_first: int, scaler: Scaler, features: Features, ridge: Callable[[int], FloatArray]
) -> NamedScore:
    """Return a logistic regression of "drawn from the first data set" on features of the scaled outputs."""
    table = features(scaler(pooled))
    labels = np.r_[np.ones(n_first), np.zeros(len(pooled) - n_first)]
    coefficients = _logistic_fit(table, labels, ridge(table.shape[1]))
    return NamedScore(name, lambda outputs: np.asarray(features(scaler(outputs)) @ coefficients, dtype=np.float64))


def _even_ridge(penalty: float, n_features: int) -> FloatArray:
    ridge = np.full(n_features, penalty)
    ridge[0] = 0.0
    return ridge


def _hinges(values: FloatArray, knots: FloatArray) -> FloatArray:
    columns = [np.ones_like(values), values, *(np.maximum(values - knot, 0.0) for knot in knots)]
    return np.column_stack(columns)


def fit_hinges(first: FloatArray, second: FloatArray) -> NamedScore:
    """Return the piecewise-linear log-likelihood ratio of two samples of a scalar, shapes ``(n, 1)``."""
    first, second = first[:MAX_FIT], second[:MAX_FIT]
    pooled = np.concatenate([first, second])
    scaler = Scaler.fit(pooled)
    levels = [0.2, 0.5, 0.8] if len(first) >= 60 else []  # more knots follow the noise of small samples
    knots = np.unique(np.quantile(scaler(pooled)[:, 0], levels)) if levels else np.empty(0)
    ridge = np.r_[0.0, 0.02, np.full(len(knots), 0.2)]
    return _logistic(
        "piecewise-linear likelihood ratio",
        pooled,
        len(first),
        scaler,
        lambda scaled: _hinges(scaled[:, 0], knots),
        lambda _: ridge,
    )


def fit_bins(first: FloatArray, second: FloatArray) -> NamedScore:
    """Return the log odds of the bin that a scalar falls in: finds a narrow bump wherever it lies.

    Edges are pooled quantiles, log odds are add-one counts.
    """
    n_bins = min(max(len(first) // PER_BIN, 2), MAX_BINS)
    pooled = moderate(np.concatenate([first, second]))[:, 0]
    edges = np.unique(np.quantile(pooled, np.linspace(0.0, 1.0, n_bins + 1)[1:-1]))

    def bins(outputs: FloatArray) -> NDArray[np.intp]:
        return np.searchsorted(edges, moderate(outputs)[:, 0], side="right")

    in_first, in_second = (np.bincount(bins(sample), minlength=len(edges) + 1) for sample in (first, second))
    odds = np.asarray(np.round(np.log((in_first + 1.0) / (in_second + 1.0)), 2), dtype=np.float64)
    return NamedScore("bins of the output", lambda outputs: np.asarray(odds[bins(outputs)], dtype=np.float64))


def _additive(scaled: FloatArray, knots: tuple[FloatArray, ...]) -> FloatArray:
    parts = [_hinges(column, at)[:, 1:] for column, at in zip(scaled.T, knots, strict=True)]
    return np.column_stack([np.ones(len(scaled)), *parts])


def fit_additive(first: FloatArray, second: FloatArray) -> NamedScore:
    """Return a logistic regression on a sum of piecewise-linear functions, one per coordinate, shapes ``(n, k)``.

    Exact for independent coordinates.
    """
    first, second = first[:MAX_FIT], second[:MAX_FIT]
    pooled = np.concatenate([first, second])
    scaler = Scaler.fit(pooled)
    knots = tuple(np.unique(np.quantile(column, [0.2, 0.5, 0.8])) for column in scaler(pooled).T)
    name = "additive piecewise-linear logistic regression"
    return _logistic(name, pooled, len(first), scaler, partial(_additive, knots=knots), partial(_even_ridge, 0.2))


def _quadratic(scaled: FloatArray) -> FloatArray:
    """Return a constant, the coordinates, their squares and (up to eight coordinates) their products."""
    n, k = scaled.shape
    parts = [np.ones((n, 1)), scaled, scaled**2]
    if k <= 8:
        rows, cols = np.triu_indices(k, 1)
        parts.append(scaled[:, rows] * scaled[:, cols])
    return np.concatenate(parts, axis=1)


def fit_quadratic(first: FloatArray, second: FloatArray) -> NamedScore:
    """Return the quadratic logistic score of two samples of vectors, shapes ``(n, k)``."""
    first, second = first[:MAX_FIT], second[:MAX_FIT]
    pooled = np.concatenate([first, second])
    scaler = Scaler.fit(pooled, limit=6.0)
    return _logistic("quadratic logistic regression", pooled, len(first), scaler, _quadratic, partial(_even_ridge, 1.0))


@dataclass(frozen=True)
class CellScore:
    """Sum of the log odds of the discrete cells that an output falls in, one cell per key (unseen cells count 0)."""

    cells: tuple[IntArray, ...]
    log_odds: tuple[FloatArray, ...]
    kind: str

    @property
    def name(self) -> str:
        """What the cells are."""
        return f"cells: {self.kind}"

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per row."""
        total = np.zeros(len(outputs))
        for keys, cells, odds in zip(CELL_KINDS[self.kind](outputs), self.cells, self.log_odds, strict=True):
            if not len(cells):
                continue
            place = np.minimum(np.searchsorted(cells, keys), len(cells) - 1)
            total += np.where(cells[place] == keys, odds[place], 0.0)
        return total


def fit_cells(first: FloatArray, second: FloatArray, kind: str) -> CellScore:
    """Return the cell score whose log odds are add-one counts of the training draws."""
    kept: list[IntArray] = []
    odds: list[FloatArray] = []
    for in_both in zip(CELL_KINDS[kind](first), CELL_KINDS[kind](second), strict=True):
        cells, inverse = np.unique(np.concatenate(in_both), return_inverse=True)
        in_first = np.bincount(inverse[: len(first)], minlength=len(cells))
        in_second = np.bincount(inverse[len(first) :], minlength=len(cells))
        often = in_first + in_second >= RARE
        ratio = np.log((in_first + 1.0) / (in_second + 1.0))
        kept.append(cells[often])
        odds.append(np.asarray(np.round(ratio[often], 2), dtype=np.float64))
    return CellScore(tuple(kept), tuple(odds), kind)


def _bits(values: FloatArray) -> IntArray:
    """Return the bits of each value; both zeros are one value, and so are all NaN."""
    return np.ascontiguousarray(np.where(np.isnan(values), np.nan, values + 0.0)).view(np.int64)


def value_cells(outputs: FloatArray) -> list[IntArray]:
    """Return the bits of each coordinate: equal values, equal cell. Finds atoms."""
    return [_bits(column) for column in outputs.T]


def whole_cells(outputs: FloatArray) -> list[IntArray]:
    """Return one key per output, from the bits of all its coordinates. Finds atoms of vectors."""
    if outputs.shape[1] == 1:
        return [_bits(outputs[:, 0])]
    key = np.zeros(len(outputs), dtype=np.int64)
    for column in outputs.T:  # wraps around; two outputs that share a key only cost power
        key = (key ^ _bits(column)) * MIXER
        key ^= (key >> 29) & 0x7FFFFFFFF
    return [key]


def _bit_cells(outputs: FloatArray) -> list[IntArray]:
    """Return, per coordinate, the binary exponent together with the number of trailing zero bits of the mantissa.

    Noise added in floating point leaves a sum on a grid that depends on the exact value it was added to: the lowest set
    bit of the output says so (Mironov, On significance of the least significant bits for DP, CCS 2012).
    """
    keys = []
    for column in outputs.T:
        bits = _bits(column)
        exponent = (bits >> 52) & 0x7FF
        mantissa = (bits & ((1 << 52) - 1)) | (1 << 52)
        trailing = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
        keys.append(np.asarray(exponent * 64 + np.where(exponent == 0, 52, trailing), dtype=np.int64))
    return keys


#: The cells of outputs as they are, all columns together.
WHOLE = "whole outputs"
CELL_KINDS = {"values": value_cells, WHOLE: whole_cells, "floating-point grid": _bit_cells}
#: Name of the score that reads bit patterns; it speaks about an implementation, never about a law on the real line.
BITS = "cells: floating-point grid"


Places = NDArray[np.intp]

#: Outputs of more columns are wide; of those so many are chosen for their differences and for their repeats.
WIDE, TELLING, REPEATING = 64, 48, 16
#: Numbers of each data set that choose the columns, and by which their quantiles are found; rows of them at least.
NUMBERS, QUANTILED, ROWS = 1 << 21, 1 << 19, 100
#: Quantiles beyond which a value counts as no larger.
TAILS = (0.01, 0.5, 0.99)
#: Standard errors that a difference of means must exceed to count in a sum over all columns.
NOISE = 1.0
#: Scaled values in a sum over all columns are cut here.
TAIL = 30.0


def telling_columns(first: FloatArray, second: FloatArray) -> Places | None:
    """Return the columns that are read one by one, the most telling first; None where all are."""
    k = first.shape[1]
    if k <= WIDE:
        return None
    one, two = _some(first, NUMBERS), _some(second, NUMBERS)
    gaps = np.argsort(-_gaps(one, two), kind="stable")[:TELLING]
    ordered = np.sort(np.concatenate([_some(one, QUANTILED), _some(two, QUANTILED)]), axis=0)
    repeats = (ordered[1:] == ordered[:-1]).sum(axis=0)
    repeats[gaps] = -1
    return np.concatenate([gaps, np.argsort(-repeats, kind="stable")[:REPEATING]])


def _some(rows: FloatArray, n_numbers: int) -> FloatArray:
    """Return the first rows, with so many numbers in all, and some rows at least."""
    return rows[: max(ROWS, n_numbers // rows.shape[1])]


def _gaps(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return by how many standard errors the columns differ: in their means, in their spreads or in what is finite."""
    some = np.concatenate([_some(first, QUANTILED), _some(second, QUANTILED)])
    low, centre, high = np.quantile(moderate(some), TAILS, axis=0)
    one, two = (np.clip(moderate(sample), low, high) for sample in (first, second))
    finite = (np.isfinite(sample).astype(np.float64) for sample in (first, second))
    looks = ((one, two), (np.abs(one - centre), np.abs(two - centre)), tuple(finite))
    return np.asarray(np.max([np.abs(_standardised(*look)[0]) for look in looks], axis=0))


def _standardised(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the differences of the means of the columns in standard errors, and their pooled variances."""
    variance = (first.var(axis=0) * len(first) + second.var(axis=0) * len(second)) / (len(first) + len(second))
    error = np.sqrt(variance * (1 / len(first) + 1 / len(second)))
    gap = first.mean(axis=0) - second.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        gaps = np.where(gap == 0, 0.0, gap / error)
    return np.clip(gaps, -1e6, 1e6), variance


def of_columns(score: Score, columns: Places) -> NamedScore:
    """Return the score of outputs of which the chosen columns are those that ``score`` knows."""
    own = score.columns if isinstance(score, NamedScore) else ()
    what = score.what if isinstance(score, NamedScore) else score.name
    return NamedScore(what, partial(_chosen, score, columns), tuple(int(columns[place]) for place in own))


def _chosen(score: Score, columns: Places, outputs: FloatArray) -> FloatArray:
    return score(outputs[:, columns])


def _linear(centre: FloatArray, scale: FloatArray, weights: FloatArray, outputs: FloatArray) -> FloatArray:
    parts = [np.clip((moderate(part) - centre) / scale, -TAIL, TAIL) @ weights for part in _parts(outputs)]
    return np.asarray(np.round(np.concatenate([np.empty(0), *parts]), 9))


def _signs(centre: FloatArray, outputs: FloatArray) -> FloatArray:
    parts = [np.sign(moderate(part) - centre).prod(axis=1) for part in _parts(outputs)]
    return np.concatenate([np.empty(0), *parts])


def _parts(outputs: FloatArray) -> Iterator[FloatArray]:
    """Yield the rows in parts that a processor's memory holds."""
    rows = max(1, QUANTILED // outputs.shape[1])
    yield from (outputs[start : start + rows] for start in range(0, len(outputs), rows))


def fit_sum(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the sum of all columns of a wide output, each in spreads from its median."""
    if first.shape[1] <= WIDE:
        return None
    centre, scale = _frame(first, second)
    return NamedScore("sum of all columns", partial(_linear, centre, scale, np.ones(len(centre))))


def fit_lean(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the sum of all columns of a wide output, each weighted as its mean tells the two data sets apart."""
    if first.shape[1] <= WIDE:
        return None
    centre, scale = _frame(first, second)
    some = (moderate(_some(part, NUMBERS)) for part in (first, second))
    one, two = (np.clip((part - centre) / scale, -TAIL, TAIL) for part in some)
    gaps, variance = _standardised(one, two)
    weights = np.sign(gaps) * np.maximum(np.abs(gaps) - NOISE, 0.0) / np.sqrt(np.maximum(variance, 1e-12))
    return NamedScore("weighted sum of all columns", partial(_linear, centre, scale, weights))


def _frame(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaler = Scaler.fit(np.concatenate([_some(first, QUANTILED), _some(second, QUANTILED)]))
    return scaler.centre, scaler.scale


def fit_all_signs(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the product of the signs of all columns of a wide output about their means (tails cut), for two values."""
    if first.shape[1] <= WIDE:
        return None
    some = moderate(np.concatenate([_some(first, QUANTILED), _some(second, QUANTILED)]))
    low, _, high = np.quantile(some, TAILS, axis=0)
    centre = np.clip(some, low, high).mean(axis=0)
    return NamedScore("product of signs of all columns", partial(_signs, centre))
