"""Families of one-dimensional scores that the betting line tries; a bad one costs power, never validity.

A family is a function ``fit(first, second)`` of two samples of outputs, shapes ``(n, k)`` and ``(m, k)``, that returns
a named score of any output, or None where it has nothing to say. Outputs may hold NaN and infinities. To add a family,
write such a function and put it into ``FAMILIES``.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from .black_box_scores import (
    LARGEST,
    MAX_ADDITIVE,
    Features,
    NamedScore,
    Score,
    fit_additive,
    fit_all_signs,
    fit_bins,
    fit_cells,
    fit_lean,
    fit_quadratic,
    fit_sum,
    moderate,
    of_columns,
    value_cells,
    whole_cells,
)

#: Most digits that are read. Deeper ones show the grid of floating-point numbers themselves, whatever the law is.
DECIMALS, BINARY_DIGITS = 10, 30
#: Number of digits of a number that needs more than that.
MANY_DIGITS = 40.0
#: A number written with some digits may be off by its own rounding, and by this at most.
DIGIT_TOLERANCE = 1e-5
#: Significant bits of double precision, and of the shorter formats: bfloat16, half and single precision.
DOUBLE, SHORTER = 53, (8, 11, 24)
#: Numbers of a floating-point format use all of its bits in two binades at least, each in this share of the outputs.
FULL_SHARE = 0.05
#: Bits between the digits of which a histogram is made and the last bit of a format shorter than double precision.
SPARE_BITS = 10
#: Cells of a histogram of digits or of quantiles.
CELLS = 20
#: Most columns that are read one by one, and that enter triples of signs; rows that choose between columns.
MAX_COLUMNS, MAX_TRIPLES, COLUMN_ROWS = 64, 12, 1000
#: Most columns with repeated values whose values are remembered.
REPEATED_COLUMNS = 12


@dataclass(frozen=True)
class Family:
    """A way to fit a score."""

    fit: Callable[[FloatArray, FloatArray], Score | None]
    #: whether ``fit`` looks at which data set an output came from (on one column, on several)
    labelled: tuple[bool, bool] = (True, True)
    whole: bool = False  #: whether it takes one pass over all columns, however many; otherwise some are chosen of many

    def fit_on(self, first: FloatArray, second: FloatArray, columns: NDArray[np.intp] | None) -> Score | None:
        """Return the score fitted on all columns, or on the chosen ones unless the family reads all."""
        if columns is None or self.whole:
            return self.fit(first, second)
        score = self.fit(first[:, columns], second[:, columns])
        return None if score is None else of_columns(score, columns)


def numbers(values: FloatArray) -> FloatArray:
    """Return values with NaN below everything else, and infinities at the ends of the finite range."""
    finite = np.clip(values, -LARGEST, LARGEST)
    return np.asarray(np.where(np.isnan(values), -np.inf, finite), dtype=np.float64)


def _best_column(first: FloatArray, second: FloatArray, features: Features) -> int:
    """Return the column whose features, cut at pooled quantiles, differ most between two samples."""
    if first.shape[1] == 1:
        return 0
    first, second = first[:COLUMN_ROWS], second[:COLUMN_ROWS]
    gaps = []
    for column in range(min(first.shape[1], MAX_COLUMNS)):
        one, two = features(first[:, column]), features(second[:, column])
        edges = np.unique(np.concatenate([one, two]))
        if len(edges) > CELLS:
            edges = edges[np.linspace(0, len(edges) - 1, CELLS).astype(int)]
        counts = [np.bincount(np.searchsorted(edges, s), minlength=len(edges) + 1) / len(s) for s in (one, two)]
        gaps.append(float(((counts[0] - counts[1]) ** 2 / (counts[0] + counts[1] + 1.0 / len(one))).sum()))
    return int(np.argmax(gaps))


def _named(name: str, of: Features, column: int, width: int) -> NamedScore:
    return NamedScore(name, of, () if width == 1 else (column,))


def _of_column(features: Features, column: int, outputs: FloatArray) -> FloatArray:
    return features(outputs[:, column])


def column_score(column: int, width: int) -> Score:
    """Return one of ``width`` coordinates of the output as it is."""
    return _named("the output itself", partial(_of_column, numbers, column), column, width)


def _fit_values(first: FloatArray, second: FloatArray) -> Score:
    """Return the coordinate of the output that differs most, as it is."""
    return column_score(_best_column(first, second, numbers), first.shape[1])


def _distance(centre: float, values: FloatArray) -> FloatArray:
    return np.asarray(np.where(np.isnan(values), -1.0, np.abs(np.clip(values, -LARGEST, LARGEST) - centre)))


def _fit_distance(first: FloatArray, second: FloatArray) -> Score:
    """Return the distance of one coordinate from its pooled median."""
    centres = np.median(moderate(np.concatenate([first, second])), axis=0)
    column = _best_column(first - centres, second - centres, partial(_distance, 0.0))
    features = partial(_distance, float(centres[column]))
    return _named("distance from the median", partial(_of_column, features, column), column, first.shape[1])


def significant_bits(values: FloatArray) -> int:
    """Return the significant bits of the floating-point format that values were made in: 8, 11, 24, or 53.

    A format shorter than double precision shows in that no value has more bits than it, and that values of different
    binades have just as many. On a grid of fixed width, however coarse, only those of one binade, the uppermost, have
    the most bits; such values count as double precision, and their grid is read.
    """
    mantissas, exponents = np.frexp(values[np.isfinite(values)])
    for bits in SHORTER:
        scaled = np.ldexp(mantissas, bits)
        if (scaled == np.rint(scaled)).all():
            _, counts = np.unique(exponents[scaled % 2 == 1], return_counts=True)
            return bits if (counts >= FULL_SHARE * len(values)).sum() >= 2 else DOUBLE
    return DOUBLE


def _bits_of_columns(first: FloatArray, second: FloatArray, most: int) -> list[int]:
    """Return the significant bits of each of the first ``most`` columns, blind to which data set a value came from."""
    columns = range(min(first.shape[1], most))
    return [significant_bits(np.concatenate([first[:, column], second[:, column]])) for column in columns]


def n_digits(values: FloatArray, base: int, bits: int = DOUBLE) -> FloatArray:
    """Return the least number of digits after the point that writes each value, to rounding; ``MANY_DIGITS`` if more.

    NaN and infinities have no digits and get -1. The rounding is that of numbers of ``bits`` significant bits; digits
    that it reaches within ``DIGIT_TOLERANCE`` are not read, for the last bits show the data set whatever the law is.
    """
    rounding = 4e-16 * 2.0 ** (DOUBLE - bits)
    result = np.full(len(values), MANY_DIGITS)
    usual = np.isfinite(values)
    kept = np.where(usual & (np.abs(values) < LARGEST), values, 0.5 / LARGEST)
    for digits in range(DECIMALS if base == 10 else BINARY_DIGITS, -1, -1):
        scaled = kept * float(base) ** digits
        tolerance = rounding * np.abs(scaled)
        result[(np.abs(scaled - np.rint(scaled)) <= tolerance) & (tolerance < DIGIT_TOLERANCE)] = digits
    result[~usual] = -1.0
    return result


def fit_digits(base: int, first: FloatArray, second: FloatArray) -> Score:
    """Return the number of decimals, or of binary digits, of one coordinate."""
    bits, column = _bits_of_columns(first, second, MAX_COLUMNS), 0

    def digits(sample: FloatArray) -> FloatArray:
        return np.column_stack([n_digits(sample[:COLUMN_ROWS, i], base, of) for i, of in enumerate(bits)])

    if len(bits) > 1:
        column = _best_column(digits(first), digits(second), numbers)
    features = partial(n_digits, base=base, bits=bits[column])
    name = "number of decimals" if base == 10 else "number of binary digits"
    return _named(name, partial(_of_column, features, column), column, first.shape[1])


def _digit_cell(scale: float, bits: int, values: FloatArray) -> NDArray[np.intp]:
    most = 1e15 if bits == DOUBLE else 2.0 ** (bits - SPARE_BITS) / scale
    part = np.mod(np.where(np.abs(values) < most, values, 0.0) * scale, 1.0)
    return np.asarray((part * CELLS).astype(np.intp) % CELLS)


def _fit_digit_histogram(first: FloatArray, second: FloatArray) -> Score:
    """Return the log odds of the digits at the place where two samples differ most: frac(x 10^j / 2) or frac(x 2^j)."""
    bits = _bits_of_columns(first, second, 4)
    scales = [10.0**j / 2 for j in range(7)] + [2.0**j for j in range(9)]
    best, best_place = -1.0, (0, 1.0, np.zeros(CELLS))
    with np.errstate(invalid="ignore"):
        for column, scale in itertools.product(range(len(bits)), scales):
            cells = (_digit_cell(scale, bits[column], sample[:, column]) for sample in (first, second))
            one, two = (np.bincount(cell, minlength=CELLS) + 0.5 for cell in cells)
            one, two = one / one.sum(), two / two.sum()
            gap = float(((one - two) ** 2 / (one + two)).sum())
            if gap > best:
                best, best_place = gap, (column, scale, np.round(np.log(one / two), 2))
    column, scale, odds = best_place

    def score(outputs: FloatArray) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return np.asarray(odds[_digit_cell(scale, bits[column], outputs[:, column])])

    return _named(f"digits of the output times {scale:g}", score, column, first.shape[1])


def _remember(name: str, keys: Callable[[FloatArray], NDArray[np.int64]]) -> Callable[..., Score | None]:
    """Return the family of the log odds of keys seen before; unseen ones count 0."""

    def fit(first: FloatArray, second: FloatArray) -> Score | None:
        one, two = keys(first), keys(second)
        cells, place = np.unique(np.concatenate([one, two]), return_inverse=True)
        counts = [np.bincount(part, minlength=len(cells)) for part in (place[: len(one)], place[len(one) :])]
        odds = np.round(np.log((counts[0] + 0.5) / (counts[1] + 0.5)), 1)

        def score(outputs: FloatArray) -> FloatArray:
            seen = keys(outputs)
            where = np.minimum(np.searchsorted(cells, seen), len(cells) - 1)
            return np.asarray(np.where(cells[where] == seen, odds[where], 0.0), dtype=np.float64)

        return NamedScore(name, score)

    return fit


def _whole(outputs: FloatArray) -> NDArray[np.int64]:
    return whole_cells(outputs)[0]


def _pattern(outputs: FloatArray) -> NDArray[np.int64]:
    return _whole(np.isnan(outputs) + 2.0 * np.isposinf(outputs) + 3.0 * np.isneginf(outputs))


def _fit_pattern(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the log odds of the pattern of NaN and infinities, where there are any."""
    if np.isfinite(first).all() and np.isfinite(second).all():
        return None
    return _remember("pattern of NaN and infinities", _pattern)(first, second)


def _fit_repeated_columns(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the sum of the log odds of the values of single columns that repeat themselves."""
    if first.shape[1] == 1:
        return None
    head = np.concatenate([first[:COLUMN_ROWS], second[:COLUMN_ROWS]])
    repeats = np.array([len(key) - len(np.unique(key)) for key in value_cells(head)])
    columns = np.sort(np.argsort(-repeats, kind="stable")[:REPEATED_COLUMNS])
    columns = columns[repeats[columns] > 0]
    if not len(columns):
        return None
    cells = fit_cells(first[:, columns], second[:, columns], "values")
    return NamedScore("repeated values of columns", lambda outputs: cells(outputs[:, columns]))


def _fit_signs(first: FloatArray, second: FloatArray) -> Score | None:
    """Return the product of signs about the medians over the columns where its means differ most: 2, 3 or all."""
    k = first.shape[1]
    if k == 1:
        return None
    centres = np.median(moderate(np.concatenate([first, second])), axis=0)

    def signs(outputs: FloatArray) -> FloatArray:
        return np.asarray(np.sign(moderate(outputs) - centres), dtype=np.float64)

    one, two = signs(first), signs(second)
    gaps: dict[tuple[int, ...], float] = {tuple(range(k)): float(abs(one.prod(1).mean() - two.prod(1).mean()))}
    pairs = np.abs(np.triu(one.T @ one / len(one) - two.T @ two / len(two), 1))
    row, col = np.unravel_index(int(np.argmax(pairs)), pairs.shape)
    gaps[(int(row), int(col))] = float(pairs[row, col])
    for i in range(min(k, MAX_TRIPLES)):
        products = [(s[:, i : i + 1] * s).T @ s / len(s) for s in (one, two)]
        triples = np.abs(products[0] - products[1])[i + 1 :, i + 1 :]
        triples = np.triu(triples, 1)
        if triples.size:
            row, col = np.unravel_index(int(np.argmax(triples)), triples.shape)
            gaps[(i, i + 1 + int(row), i + 1 + int(col))] = float(triples[row, col])
    columns = list(max(gaps.items(), key=lambda gap: gap[1])[0])
    of = tuple(int(c) for c in columns)
    return NamedScore("product of signs", lambda outputs: np.asarray(signs(outputs)[:, columns].prod(1)), of)


def _fit_trees(first: FloatArray, second: FloatArray) -> Score:
    """Return the log odds by gradient-boosted trees on the columns, their order statistics, sums and products."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    def features(outputs: FloatArray) -> FloatArray:
        values = np.where(np.isfinite(outputs), np.clip(outputs, -LARGEST, LARGEST), np.nan)
        k = values.shape[1]
        parts = [values]
        with np.errstate(all="ignore"):
            if k > 1:
                parts += [np.sort(values, axis=1), values.sum(axis=1, keepdims=True)]
            if 1 < k <= 8:
                rows, cols = np.triu_indices(k, 1)
                parts.append(values[:, rows] * values[:, cols])
        return np.hstack(parts)

    model = HistGradientBoostingClassifier(
        max_iter=60, max_leaf_nodes=31, learning_rate=0.15, min_samples_leaf=20, early_stopping=False, random_state=0
    )
    labels = np.r_[np.ones(len(first)), np.zeros(len(second))]
    model.fit(features(np.concatenate([first, second])), labels)
    return NamedScore("boosted trees", lambda outputs: np.asarray(model.decision_function(features(outputs))))


def _one_column(fit: Callable[[FloatArray, FloatArray], Score]) -> Callable[[FloatArray, FloatArray], Score | None]:
    return lambda first, second: fit(first, second) if first.shape[1] == 1 else None


def _columns(
    fit: Callable[[FloatArray, FloatArray], Score], most: int
) -> Callable[[FloatArray, FloatArray], Score | None]:
    return lambda first, second: fit(first, second) if 1 < first.shape[1] <= most else None


#: Every family that is tried; on several columns the choice of the column looks at the labels.
FAMILIES = (
    Family(_fit_values, (False, True)),
    Family(_fit_distance, (False, True)),
    Family(_one_column(fit_bins)),
    Family(_columns(fit_quadratic, 64)),
    Family(_columns(fit_additive, MAX_ADDITIVE)),
    Family(_fit_signs),
    Family(fit_sum, whole=True),
    Family(fit_lean, whole=True),
    Family(fit_all_signs, whole=True),
    Family(_remember("repeated value", _whole), whole=True),
    Family(_fit_repeated_columns),
    Family(_fit_pattern, whole=True),
    Family(partial(fit_digits, 10), (False, True)),
    Family(partial(fit_digits, 2), (False, True)),
    Family(_fit_digit_histogram),
)
#: The family that needs scikit-learn; it is tried when it is asked for.
TREES = Family(_fit_trees)


def check_trees() -> None:
    """Raise where scikit-learn is not installed.

    Raises ``ModuleNotFoundError`` with what to install.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise ModuleNotFoundError("trees=True needs scikit-learn: pip install 'pdp-verify[trees]'")
