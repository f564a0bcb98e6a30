"""Outputs of many columns: those that are read one by one, and scores of all of them at once.

Of outputs with more than ``WIDE`` columns, families that read columns one by one, or in pairs and triples, read a
choice: the columns in which the draws that are learned from differ most between the two data sets, and those whose
values repeat most. Scores that take one pass over the numbers read all columns. The choice is part of what is learned:
it costs power where it is bad, and never validity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from .black_box_scores import LARGEST, Features, Score

IntArray = NDArray[np.intp]

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


@dataclass(frozen=True)
class NamedScore:
    """A fitted score: what it is in words, a function from outputs ``(n, k)`` to scores ``(n,)``, columns it names."""

    what: str
    of: Features
    columns: tuple[int, ...] = ()

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


def telling_columns(first: FloatArray, second: FloatArray) -> IntArray | None:
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
    low, centre, high = np.quantile(_moderate(some), TAILS, axis=0)
    one, two = (np.clip(_moderate(sample), low, high) for sample in (first, second))
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


def _moderate(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.nan_to_num(values), -LARGEST, LARGEST), dtype=np.float64)


def of_columns(score: Score, columns: IntArray) -> NamedScore:
    """Return the score of outputs of which the chosen columns are those that ``score`` knows."""
    own = score.columns if isinstance(score, NamedScore) else ()
    what = score.what if isinstance(score, NamedScore) else score.name
    return NamedScore(what, partial(_chosen, score, columns), tuple(int(columns[place]) for place in own))


def _chosen(score: Score, columns: IntArray, outputs: FloatArray) -> FloatArray:
    return score(outputs[:, columns])


def _linear(centre: FloatArray, scale: FloatArray, weights: FloatArray, outputs: FloatArray) -> FloatArray:
    parts = [np.clip((_moderate(part) - centre) / scale, -TAIL, TAIL) @ weights for part in _parts(outputs)]
    return np.asarray(np.round(np.concatenate([np.empty(0), *parts]), 9))


def _signs(centre: FloatArray, outputs: FloatArray) -> FloatArray:
    parts = [np.sign(_moderate(part) - centre).prod(axis=1) for part in _parts(outputs)]
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
    some = (_moderate(_some(part, NUMBERS)) for part in (first, second))
    one, two = (np.clip((part - centre) / scale, -TAIL, TAIL) for part in some)
    gaps, variance = _standardised(one, two)
    weights = np.sign(gaps) * np.maximum(np.abs(gaps) - NOISE, 0.0) / np.sqrt(np.maximum(variance, 1e-12))
    return NamedScore("weighted sum of all columns", partial(_linear, centre, scale, weights))


def _frame(first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return medians and spreads of the columns of two samples."""
    pooled = _moderate(np.concatenate([_some(first, QUANTILED), _some(second, QUANTILED)]))
    low, centre, high = np.quantile(pooled, (0.25, 0.5, 0.75), axis=0)
    spread = np.where(high > low, high - low, np.maximum(np.abs(pooled - centre).mean(axis=0), 1e-300))
    return np.asarray(centre), np.asarray(spread)


def fit_all_signs(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the product of the signs of all columns of a wide output about their means (tails cut), for two values."""
    if first.shape[1] <= WIDE:
        return None
    some = _moderate(np.concatenate([_some(first, QUANTILED), _some(second, QUANTILED)]))
    low, _, high = np.quantile(some, TAILS, axis=0)
    centre = np.clip(some, low, high).mean(axis=0)
    return NamedScore("product of signs of all columns", partial(_signs, centre))
