"""What every record of a data set means to it, in one pass: leverages, left-out residuals, and ends around both.

Ends (docs/derivations/exposure.md): well-conditioned data are bounded from the condition number, in float64; others
are solved in ball arithmetic, as long as there are not too many of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from ..base import Direction, check_positive
from ..data.dataset import Dataset, FloatArray
from ..linear.ridge import RidgeFit, ridge_fit
from ..numerics.balls import Ball, above, below
from .record_laws import ops_epsilon

#: Records whitened at once.
_CHUNK: Final = 4096
#: Records of which what leaving them out changes is held at once.
_SHIFTS: Final = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class RecordQuantities:
    """Leverages and residuals of every record of a data set in its ridge regression.

    In sample: with the record fitted. Out of sample: with the record, and only it, left out.

    Attributes
    ----------
    leverage_in : (n_records,) array
        ``mu' = x^T H^{-1} x``, in [0, 1].
    residual_in : (n_records,) array
        ``y - x^T theta_hat``.
    """

    leverage_in: FloatArray
    residual_in: FloatArray

    @property
    def leverage_out(self) -> FloatArray:
        """``mu = mu'/(1 - mu')``; infinite where the others alone do not determine the estimate."""
        left = 1 - self.leverage_in
        with np.errstate(divide="ignore"):
            return np.where(left > 0, self.leverage_in / left, math.inf)

    @property
    def residual_out(self) -> FloatArray:
        """The left-out residual ``(y - x^T theta_hat)/(1 - mu')``; infinite where ``mu`` is."""
        left = 1 - self.leverage_in
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(left > 0, self.residual_in / left, math.inf)


def record_quantities(dataset: Dataset, lam: float) -> RecordQuantities:
    """Return leverages and residuals of all records from one factorisation.

    Parameters
    ----------
    lam : float
        Ridge regularisation, at least 0.
    """
    fit = ridge_fit(dataset, lam)
    leverage = np.empty(dataset.n_records)
    for start in range(0, dataset.n_records, _CHUNK):
        white = fit.whiten(dataset.X[start : start + _CHUNK])
        leverage[start : start + _CHUNK] = np.einsum("ij,ij->i", white, white)
    # rounding may put a leverage of 1 a few units above it
    leverage = np.where(leverage > 1 - 1e-13, np.minimum(leverage, 1.0), leverage)
    return RecordQuantities(leverage, dataset.y - dataset.X @ fit.theta)


@dataclass(frozen=True, eq=False, repr=False)
class RecordEpsilons:
    """Exact per-instance epsilon of every record at one delta, in both directions.

    Attributes
    ----------
    drawn_with : (n_records,) array
        The output is drawn from the data set as it is (FORWARD for the pair that removes the record).
    drawn_without : (n_records,) array
        The output is drawn with the record left out (BACKWARD for that pair).
    """

    drawn_with: FloatArray
    drawn_without: FloatArray
    delta: float

    @property
    def both(self) -> FloatArray:
        """The larger of the two, the per-instance epsilon of each record."""
        return np.maximum(self.drawn_with, self.drawn_without)


def all_records_epsilon(dataset: Dataset, *, gamma: float, lam: float, delta: float) -> RecordEpsilons:
    """Return the exact epsilon of one-posterior sampling for every record of ``dataset`` (relation REMOVE).

    The whole distribution over records that W19 draws per-instance privacy as, from one factorisation and one batched
    root search; see ``PosteriorSampling``. In float64: on ill-conditioned data ``record_ranges`` has what rounding did
    to leverages and residuals.
    """
    records = record_quantities(dataset, lam)
    leverage = records.leverage_out
    scaled = math.sqrt(check_positive("gamma", gamma)) * records.residual_out
    return RecordEpsilons(
        ops_epsilon(leverage, scaled, delta, Direction.BACKWARD),
        ops_epsilon(leverage, scaled, delta, Direction.FORWARD),
        delta,
    )


def ridge_shifts(lam: float, dataset: Dataset) -> Iterator[tuple[slice, FloatArray]]:
    """Yield what leaving each record out adds to the ridge estimate, some records at a time, shape ``(m, dim)``."""
    fit, residuals = ridge_fit(dataset, lam), record_quantities(dataset, lam).residual_out
    for start in range(0, dataset.n_records, _SHIFTS):
        part = slice(start, min(start + _SHIFTS, dataset.n_records))
        with np.errstate(invalid="ignore"):
            yield part, -fit.solve(dataset.X[part]) * residuals[part, None]


#: Half a unit in the last place of 1.
UNIT: Final = 2.0**-53
#: Largest share of ``z^T H z`` that rounding of the Hessian may move, in the bounds that float64 gives.
LARGEST_SHARE: Final = 0.01
#: Relative distance of the ends, out of sample, up to which float64 serves, and up to which it may.
CLOSE, FAR = 1e-9, 1e-4
#: Multiplications that ball arithmetic may take instead, beyond the one and beyond the other.
LITTLE_WORK, BALL_WORK = 1e6, 2e7


@dataclass(frozen=True, eq=False, repr=False)
class RecordRanges:
    """Ends for every record of a data set in its ridge regression, in sample; arrays of shape ``(n_records,)``.

    Attributes
    ----------
    leverage_low, leverage_high : array
        Around ``h = x^T H^{-1} x``.
    left_low, left_high : array
        Around ``1 - h``; ``left_low`` is 0 where a leverage of 1 cannot be excluded.
    residual_low, residual_high : array
        Around ``|y - x^T theta_hat|``.
    solved : (n_records, dim) array
        About ``x^T H^{-1}`` (no rows where it was not asked for), ...
    solved_room : array
        ... to so much in the norm of ``H``, and ``dim + 4`` roundings of each entry.
    """

    leverage_low: FloatArray
    leverage_high: FloatArray
    left_low: FloatArray
    left_high: FloatArray
    residual_low: FloatArray
    residual_high: FloatArray
    solved: FloatArray
    solved_room: FloatArray

    @property
    def leverage_out(self) -> tuple[FloatArray, FloatArray]:
        """Ends around the leverage out of sample, ``h/(1 - h)``."""
        return _over(self.leverage_low, self.left_high), _over(self.leverage_high, self.left_low)

    @property
    def residual_out(self) -> tuple[FloatArray, FloatArray]:
        """Ends around the residual out of sample, ``|y - x^T theta_hat|/(1 - h)``."""
        return _over(self.residual_low, self.left_high), _over(self.residual_high, self.left_low)


def _over(part: FloatArray, whole: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, part / whole, math.inf)


def rounded(operations: float) -> float:
    """Return the relative error of so many roundings in a row."""
    return operations * UNIT / (1 - operations * UNIT)


def record_ranges(dataset: Dataset, lam: float, *, solve: bool = False) -> RecordRanges:
    """Return ends that hold the leverage and residual of every record, with ``x^T H^{-1}`` if ``solve``.

    Raises
    ------
    ValueError
        If ``X^T X + lam I`` is singular, or so ill-conditioned that float64 says nothing, with too many records for
        ball arithmetic.
    """
    fit = ridge_fit(dataset, lam)
    share, least, condition = _moved(dataset, lam)
    ranges = _in_floats(dataset, lam, fit, share, least, solve=solve) if share <= LARGEST_SHARE else None
    width = math.inf if ranges is None else _width(ranges, dataset.y)
    work = dataset.n_records * dataset.dim**2
    if width > (CLOSE if work <= LITTLE_WORK else FAR) and work <= BALL_WORK:
        return _in_balls(dataset, lam)
    if ranges is None:
        limit = condition * LARGEST_SHARE / share
        raise ValueError(
            f"lam must be large enough for a condition number of X^T X + lam I, columns scaled, of at most {limit:.0e} "
            f"with so many records, got {condition:.0e} at lam={lam:g}"
        )
    return ranges


def _width(ranges: RecordRanges, response: FloatArray) -> float:
    """Return the largest distance of the ends, out of sample, beside the upper one; minute residuals do not count."""
    pairs = [ranges.leverage_out, ranges.residual_out]
    large = ranges.residual_high > 1e-10 * np.abs(response).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        leverage, residual = (np.where(high > low, 1 - low / high, 0.0) for low, high in pairs)
    return float(np.maximum(leverage, np.where(large, residual, 0.0)).max(initial=0.0))


def _moved(dataset: Dataset, lam: float) -> tuple[float, float, float]:
    """Return the share of ``z^T H z`` that rounding moves, the scaled Hessian's least eigenvalue, and its condition.

    Infinite, 0 and about the condition where the least eigenvalue cannot be told from 0.
    """
    n, d = dataset.X.shape
    hessian = dataset.X.T @ dataset.X + lam * np.eye(d)
    scale = np.sqrt(np.diag(hessian))
    values = np.linalg.eigvalsh(hessian / scale / scale[:, None])
    entry = rounded(n + d + 8)  # of an entry, in units of scale_i scale_j: products, sum, ridge, Cholesky factor
    least = float(values[0]) - d * entry - 10 * d * rounded(d + 1)
    condition = float(values[-1]) / max(float(values[0]), d * UNIT)
    return (d * entry / least, least, condition) if least > 0 else (math.inf, 0.0, condition)


def _in_floats(dataset: Dataset, lam: float, fit: RidgeFit, share: float, least: float, *, solve: bool) -> RecordRanges:
    n, d = dataset.X.shape
    X, size, records = dataset.X, np.abs(dataset.X), record_quantities(dataset, lam)
    leverage, residual = records.leverage_in, records.residual_in
    solves = rounded(d + 4) * math.sqrt(1.1 * d / least)  # of one triangular solve, relative, in the Euclidean norm
    room = share + 2.1 * solves + rounded(d + 4)
    square = np.einsum("ij,ij->i", X, X)
    left_least = lam / (lam + square) * (1 - rounded(d + 8)) if lam > 0 else np.zeros(n)  # H >= x x^T + lam I
    low, high = leverage * (1 - room), np.minimum(leverage * (1 + room), 1.0)
    # what the estimate leaves of the gradient says how far off it is
    off = rounded(d + 2) * (np.abs(dataset.y) + size @ np.abs(fit.theta))
    gradient = np.abs(X.T @ residual - lam * fit.theta) + size.T @ off
    gradient += rounded(n + 4) * (size.T @ np.abs(residual) + lam * np.abs(fit.theta))
    scale = np.sqrt(np.einsum("ij,ij->j", X, X) + lam)
    moved = 1.01 * float(np.linalg.norm(gradient / scale)) / math.sqrt(least)
    off = off + np.sqrt(high) * moved
    return RecordRanges(
        low,
        high,
        np.maximum(1 - high, left_least),
        1 - low,
        np.maximum(np.abs(residual) - off, 0.0),
        np.abs(residual) + off,
        fit.solve(X) if solve else np.empty((0, d)),
        (4 * solves + 1.1 * share) * np.sqrt(high),
    )


def _in_balls(dataset: Dataset, lam: float) -> RecordRanges:
    n, d = dataset.X.shape
    with ctx.workprec(256 + 8 * d):
        X = arb_mat(n, d, dataset.X.ravel().tolist())
        rows, response = X.transpose(), arb_mat(n, 1, dataset.y.tolist())
        hessian = rows * X
        for i in range(d):
            hessian[i, i] += arb(lam)
        solved = hessian.solve(rows)
        fitted = X * (solved * response)
        leverage = [sum((X[i, j] * solved[j, i] for j in range(d)), arb(0)) for i in range(n)]
        residual = [abs(response[i, 0] - fitted[i, 0]) for i in range(n)]
        left = [1 - each for each in leverage]
        if lam == 0 and any(each.contains(0) for each in left):
            left = [arb(0) if one.contains(0) and _alone(dataset, i) else one for i, one in enumerate(left)]
        return RecordRanges(
            *_ends(leverage),
            *_ends(left),
            *_ends(residual),
            np.array([float(each) for each in solved.transpose().entries()]).reshape(n, d),
            np.zeros(n),
        )


def _alone(dataset: Dataset, index: int) -> bool:
    """Return whether a record alone determines a direction: the others, taken as rationals, are of smaller rank."""
    rest = np.delete(dataset.X, index, axis=0)
    ratios = (value.as_integer_ratio() for value in rest.ravel().tolist())
    return int(fmpq_mat(len(rest), dataset.dim, [fmpq(*ratio) for ratio in ratios]).rank()) < dataset.dim


def _ends(values: list[Ball]) -> tuple[FloatArray, FloatArray]:
    return (
        np.array([0.0 if value == 0 else max(below(value), 0.0) for value in values]),
        np.array([0.0 if value == 0 else max(above(value), 0.0) for value in values]),
    )
