"""What every record of a data set means to it, in one pass: leverages, left-out residuals, exact privacy losses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..base import Direction, check_positive
from ..data.dataset import Dataset, FloatArray
from ..linear.ridge import ridge_fit
from ..numerics.batched_epsilon import ops_epsilon

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
    dataset : Dataset
    lam : float
        Ridge regularisation, at least 0.

    Raises
    ------
    ValueError
        If ``X^T X + lam I`` is singular.
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
    delta : float
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

    Parameters
    ----------
    dataset : Dataset
    gamma, lam : float
        Inverse temperature (positive) and regularisation (at least 0).
    delta : float
        In [0, 1].
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
