"""Sums of clipped gradients for many trainings at once: each training has its own iterate and its own sample."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from ..data.dataset import DataError, Dataset, FloatArray, row_norms
from ..numerics.transcripts import BoolArray
from ..objective.losses import BY_NAME, CanonicalLoss, TrainedLoss

LossName = TrainedLoss
#: The losses that are trained on, by name.
LOSSES: dict[str, CanonicalLoss] = {name: BY_NAME[name]() for name in get_args(TrainedLoss)}
#: Rows are no longer than this, so that no predictor overflows at any iterate that sizes in reach allow.
LONGEST = 1e150
#: Below this rate only the records that take part are computed, above it all of them (either is right at any rate).
SPARSE_RATE = 0.03
#: Cells of one pass: about a processor's cache. Bytes where few take part, float64 where all are computed.
SPARSE_CELLS, DENSE_CELLS = 2**18, 2**17


@dataclass(frozen=True, eq=False)
class ClippedRecords:
    """Records with the longest slope of each for which its gradient, slope times row, is no longer than the clip.

    Attributes
    ----------
    X, y : ndarray
        The records.
    norms : ndarray
        Norms of the rows, shape ``(n_records,)``.
    limits : ndarray
        ``clip/norms``, smaller by what rounding may add; 0 where a row is 0.
    """

    loss: CanonicalLoss
    X: FloatArray
    y: FloatArray
    norms: FloatArray
    limits: FloatArray

    @classmethod
    def of(cls, loss: LossName, dataset: Dataset, clip: float) -> ClippedRecords:
        """Return the records of a data set.

        Raises
        ------
        DataError
            If labels are not -1 or +1 for the logistic loss, or a row is longer than floating point can be trusted
            with.
        """
        kind = LOSSES[loss]
        kind.check_response(dataset.y)
        norms = row_norms(dataset.X)
        if norms.max(initial=0.0) > LONGEST:
            raise DataError(f"rows of X must have Euclidean norm at most {LONGEST:g} to be trained on")
        slack = 1 - (dataset.dim + 8) * np.finfo(np.float64).eps
        with np.errstate(over="ignore", divide="ignore"):
            limits = np.where(norms > 0, clip * slack / norms, 0.0)
        return cls(kind, dataset.X, dataset.y, norms, limits)

    def weights(self, theta: FloatArray) -> FloatArray:
        """Return the slopes of the records at iterates, clipped: a gradient is its weight times its row.

        ``theta`` has shape ``(n_draws, dim)``; the weights have shape ``(n_draws, n_records)``.
        """
        return self._clipped(self.loss.rate * theta @ self.X.T, self.y, self.limits)

    def gradient_norms(self, theta: FloatArray) -> FloatArray:
        """Return the norms of the clipped gradients, shape ``(n_draws, n_records)``."""
        return np.asarray(np.abs(self.weights(theta)) * self.norms)

    def _clipped(self, values: FloatArray, y: FloatArray, limits: FloatArray) -> FloatArray:
        """Overwrite predictors times the loss's ``rate`` with the clipped slopes."""
        self.loss.mean_inplace(values)
        values -= y
        if self.loss.scale != 1:
            values *= self.loss.scale
        np.minimum(values, limits, out=values)
        return np.maximum(values, -limits, out=values)

    def sums(self, theta: FloatArray, rate: float, *, rng: np.random.Generator) -> FloatArray:
        """Return sums of clipped gradients, each over a Poisson sample of its own, shape ``(n_draws, dim)``."""
        if rate == 1:
            return self.full_sums(theta)
        shape = (len(theta), len(self.y))
        chosen = bernoulli(math.prod(shape), rate, rng=rng).reshape(shape)
        return self.sums_over(theta, chosen, sparse=rate < SPARSE_RATE)

    def full_sums(self, theta: FloatArray) -> FloatArray:
        """Return sums of all clipped gradients, shape ``(n_draws, dim)``."""
        sums, (n_records, dim) = np.empty(theta.shape), self.X.shape
        for part in passes(len(theta), n_records, dim, 1.0):
            sums[part] = self.weights(theta[part]) @ self.X
        return sums

    def sums_over(self, theta: FloatArray, chosen: BoolArray, *, sparse: bool = False) -> FloatArray:
        """Return sums of clipped gradients over given samples, shape ``(n_draws, dim)``.

        ``chosen`` (``(n_draws, n_records)``) says who takes part. With ``sparse`` those alone are computed; the sums
        are the same but for rounding.
        """
        if not sparse:
            weights = self.weights(theta)
            weights *= chosen
            return np.asarray(weights @ self.X)
        draw, record = np.divmod(np.flatnonzero(chosen), max(1, len(self.y)))
        values = np.einsum("ij,ij->i", (self.loss.rate * theta).take(draw, axis=0), self.X.take(record, axis=0))
        values = self._clipped(values, self.y.take(record), self.limits.take(record))
        starts = np.searchsorted(draw, np.arange(len(theta) + 1))
        return np.asarray(scipy.sparse.csr_array((values, record, starts), shape=chosen.shape) @ self.X)


def passes(n_draws: int, n_records: int, dim: int, rate: float) -> Iterator[slice]:
    """Yield consecutive slices of ``range(n_draws)``, each small enough for the temporaries of ``sums``."""
    per_draw = n_records + dim
    cells = DENSE_CELLS
    if rate < SPARSE_RATE:
        per_draw, cells = per_draw + math.ceil(2 * rate * n_records * dim), SPARSE_CELLS
    step = max(1, cells // per_draw)
    for start in range(0, n_draws, step):
        yield slice(start, min(start + step, n_draws))


def bernoulli(size: int, rate: float, *, rng: np.random.Generator) -> BoolArray:
    """Return independent events, each with probability ``rate`` exactly, shape ``(size,)``; ``rate < 1``.

    A uniform number is compared with ``rate`` one byte after the other: a tie is decided by the next one, and a float
    has only so many. Nothing is rounded.
    """
    rest = rate * 256
    digit = int(rest)
    drawn = _bytes(size, rng)
    chosen = drawn < digit
    tied = np.flatnonzero(drawn == digit)
    while tied.size and rest > digit:
        rest = (rest - digit) * 256
        digit = int(rest)
        drawn = _bytes(tied.size, rng)
        chosen[tied[drawn < digit]] = True
        tied = tied[drawn == digit]
    return np.asarray(chosen)


def _bytes(size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return independent uniform bytes, three times as fast as one at a time."""
    words = rng.integers(0, 2**64, -(-size // 8), dtype=np.uint64)
    return words.astype("<u8", copy=False).view(np.uint8)[:size]
