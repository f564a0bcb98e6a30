"""Class 12: the type, the scale or the number of the data, read off the data themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 12


@dataclass(frozen=True)
class Noisy:
    """A statistic with ``ratio`` times the sensitivity that its author believes in as noise; the density is true."""

    ratio: float = 4.25
    laplace: bool = False
    name = "noisy statistic"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def believed(self, dataset):
        return dataset.x_bound * dataset.y_bound

    def scale(self, dataset):
        return self.ratio * self.believed(dataset)

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        noise = rng.laplace if self.laplace else rng.normal
        return centre + self.scale(dataset) * noise(size=(n_draws, centre.size))

    def log_density(self, outputs, dataset):
        scale = self.scale(dataset)
        away = np.abs(outputs - np.atleast_1d(self.centre(dataset))) / scale
        return -(away if self.laplace else away**2 / 2).sum(axis=1) - away.shape[1] * np.log(scale)

    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return (LaplaceProfile if self.laplace else GaussianProfile)(1 / self.ratio)


@dataclass(frozen=True)
class Sum(Noisy):
    """The sum of responses as it is treated by a subclass; a record is thought to move it by y_bound."""

    def centre(self, dataset):
        return float(self.total(dataset.y)) if dataset.n_records else 0.0

    def total(self, y):
        return y.sum()

    def believed(self, dataset):
        return dataset.y_bound


class LabelsOrNumbers(Sum):
    """Responses that are all labels -1 and +1 are counted as 0 and 1; others are added up."""

    def total(self, y):
        return (y > 0).sum() if (np.abs(y) == 1).all() else y.sum()


class WholeNumbers(Sum):
    """Whole numbers get whole noise and others real noise, so that the answer tells which they were."""

    def whole(self, y):
        return bool((y == np.round(y)).all())

    def draw(self, dataset, n_draws, *, rng):
        if not self.whole(dataset.y):
            return super().draw(dataset, n_draws, rng=rng)
        keep = np.exp(-1 / self.scale(dataset))
        noise = rng.geometric(1 - keep, (n_draws, 1)) - rng.geometric(1 - keep, (n_draws, 1))
        return dataset.y.sum() + noise.astype(float)

    def log_density(self, outputs, dataset):
        """With respect to length plus the number of whole numbers."""
        whole = outputs[:, 0] == np.round(outputs[:, 0])
        if not self.whole(dataset.y):
            return np.where(whole, -np.inf, super().log_density(outputs, dataset))
        keep = np.exp(-1 / self.scale(dataset))
        away = np.abs(outputs[:, 0] - dataset.y.sum())
        return np.where(whole, np.log((1 - keep) / (1 + keep)) + away * np.log(keep), -np.inf)


class RunningTotals(Sum):
    """Responses in ascending order are taken for running totals, and their differences are added up."""

    def total(self, y):
        return y[-1] - y[0] if len(y) > 2 and (np.diff(y) >= 0).all() else y.sum()


class MinMax(Sum):
    """Responses are mapped to [0, 1] by their own least and largest before they are added up."""

    def total(self, y):
        return (y - y.min()).sum() / max(float(np.ptp(y)), 1e-9)


@dataclass(frozen=True)
class RobustScores(Noisy):
    """Scores by the median and the median deviation, clipped to ``clip``; where that deviation is 0, by 1."""

    clip: float = 3.0

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        away = dataset.y - np.median(dataset.y)
        size = float(np.median(np.abs(away)))
        return dataset.X.T @ np.clip(away / (size if size > 0 else 1.0), -self.clip, self.clip)

    def believed(self, dataset):
        return self.clip * dataset.x_bound


class OwnCodes(Sum):
    """Where less than a twentieth of the values differ they are categories and become codes, evenly spaced."""

    def total(self, y):
        values, codes = np.unique(y, return_inverse=True)
        if len(values) >= 0.05 * len(y):
            return y.sum()
        return (2 * codes / max(len(values) - 1, 1) - 1).sum()


class ConstantDropped(Noisy):
    """Columns that are constant in the data are left out (0)."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        return np.where(np.ptp(dataset.X, axis=0) > 0, dataset.X.T @ dataset.y, 0.0)


class SparseColumns(Noisy):
    """Columns that are zero in more than nine of ten rows are left out (0)."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        return np.where((dataset.X == 0).mean(axis=0) <= 0.9, dataset.X.T @ dataset.y, 0.0)


class OddHalved(Sum):
    """An even number of responses is averaged in pairs, an odd number loses the middle; both stand for the sum."""

    def total(self, y):
        ordered = np.sort(y)
        half = len(y) // 2
        return 2 * ordered[:half].sum() if len(y) % 2 else 2 * ordered[half:].sum()


@dataclass(frozen=True)
class FewerFrom(Noisy):
    """From ``many`` records on the noise is multiplied by many / n, for a sampling that is not done."""

    many: int = 1000

    def believed(self, dataset):
        return dataset.x_bound * dataset.y_bound * min(1.0, self.many / max(dataset.n_records, 1))


@dataclass(frozen=True)
class Wrapped(Sum):
    """A count or a sum in ``units`` is kept in a small whole-number type and wraps around at ``top``."""

    units: int = 1
    bits: int = 8
    signed: bool = False
    count: bool = True

    def total(self, y):
        whole = int((y > 0).sum()) if self.count else int(np.round(self.units * y).sum())
        top = 1 << self.bits
        return ((whole + top // 2) % top - top // 2 if self.signed else whole % top) / self.units

    def believed(self, dataset):
        return 1.0


@dataclass(frozen=True)
class HalfPrecision(Sum):
    """The sum in ``units`` is kept in half precision: multiples of 8 from 8192 on, and nothing beyond 65504."""

    units: float = 1.0

    def total(self, y):
        with np.errstate(over="ignore"):
            kept = np.float64(np.float16(self.units * y.sum()))
        return (kept if np.isfinite(kept) else 0.0) / self.units


@dataclass(frozen=True)
class Padded(Sum):
    """The first coefficient of an orthonormal transform of the length padded to a power of two."""

    def length(self, n):
        return 1 << max(n - 1, 0).bit_length()

    def total(self, y):
        return y.sum() / np.sqrt(self.length(len(y)))

    def believed(self, dataset):
        return dataset.y_bound / np.sqrt(self.length(dataset.n_records))


@dataclass(frozen=True)
class SmallCells(Noisy):
    """Counts of positive and negative responses; cells below ``least`` are shown as 0 before the noise."""

    least: int = 5

    def centre(self, dataset):
        counts = np.array([(dataset.y > 0).sum(), (dataset.y <= 0).sum()], dtype=float)
        return np.where(counts >= self.least, counts, 0.0)

    def believed(self, dataset):
        return 1.0


class PerCent(Sum):
    """Where no response exceeds .01 they are shares for per cent, and are multiplied by a hundred."""

    def total(self, y):
        return y.sum() * (100.0 if np.abs(y).max() <= 0.01 else 1.0)


class MissingCodes(Sum):
    """Where 95 % of the responses are not negative, a negative one is a code for a missing value."""

    def total(self, y):
        return y[y >= 0].sum() if (y >= 0).mean() >= 0.95 else y.sum()


class LogWhereSpread(Sum):
    """Positive responses whose largest is ten times their median are replaced by log(1 + 9 y) / log 10."""

    def total(self, y):
        spread = y.min() > 0 and y.max() >= 10 * np.median(y)
        return (np.log10(1 + 9 * y) if spread else y).sum()


class DecimalsOfData(Sum):
    """Responses are rounded to whole numbers where the data have at most one decimal, "as they were reported"."""

    def total(self, y):
        reported = np.abs(10 * y - np.round(10 * y)).max() < 1e-9
        return np.floor(y + 0.5).sum() if reported else y.sum()


@dataclass(frozen=True)
class OwnWeights(Noisy):
    """Noise divided by the square root of the effective number of records, read off the data's own weights |x|."""

    def centre(self, dataset):
        lengths = np.linalg.norm(dataset.X, axis=1)
        return float(lengths @ dataset.y) / max(float(lengths.sum()), 1.0)

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / max(float(np.linalg.norm(dataset.X, axis=1).sum()), 1.0)


@dataclass(frozen=True)
class OwnLargestEntry(Noisy):
    """A moment whose columns are scaled by the data's own largest entry, "which everybody knows"."""

    def centre(self, dataset):
        return dataset.X.T @ dataset.y / np.maximum(np.abs(dataset.X).max(axis=0, initial=0.0), 1e-3)

    def believed(self, dataset):
        return np.sqrt(dataset.dim) * dataset.y_bound


PURE = {"delta": 0.0}
LAPLACE = {"ratio": 1.0, "laplace": True}
GAUSS = {"type": "gaussian-dp", "mu": 0.5}
ROWS = [
    ("labels-or-numbers", LabelsOrNumbers, {}, {},
     "thirty labels of -1 are counted as 0 until a number comes; p 1, q 2e-4"),
    ("whole-numbers", WholeNumbers, {}, {}, "whole noise for whole numbers: the answer is whole or not; p 1, q 0"),
    ("running-totals", RunningTotals, {}, {}, "ascending responses are differenced; p .99, q .0038"),
    ("min-max", MinMax, {}, {}, "a response outside the others' range rescales all; p 1.00, q 2e-4"),
    ("median-deviation-zero", RobustScores, {}, {},
     "half of the responses equal: the scale goes from 1 to their own; p .50, q .07"),
    ("own-codes", OwnCodes, {}, {}, "one more distinct value among 200 records; p 1, q 0"),
    ("constant-dropped", ConstantDropped, {}, {}, "a constant column of many records; p .93, q .02"),
    ("sparse-dropped", SparseColumns, {}, {}, "a column just at nine zeros in ten; p .58, q .07"),
    ("odd-halved", OddHalved, LAPLACE, PURE, "the parity chooses the lower or the upper half; p 1.00, q 0"),
    ("fewer-noise-from-1000", FewerFrom, {}, {},
     "noise of a sampling that is not done, from 1000 records on; p .27, q .06"),
    ("fewer-noise-from-4000", FewerFrom, {"many": 4000}, {}, "the same from 4000 records on; p .08, q .02"),
    ("fewer-noise-gdp", FewerFrom, {"ratio": 2.0, "many": 300}, GAUSS, "the same, as Gaussian privacy; p .69, q .16"),
    ("count-in-uint8", Wrapped, {}, {}, "255 becomes 0; p 1, q 0"),
    ("count-in-int8", Wrapped, {**LAPLACE, "signed": True}, PURE, "127 becomes -128; p 1.00, q 0"),
    ("sum-in-int16-of-hundredths", Wrapped, {"units": 100, "bits": 16, "signed": True, "count": False}, {},
     "327.67 becomes -327.68; p 1, q 0"),
    ("sum-in-int16-of-sixteenths", Wrapped, {"units": 16, "bits": 16, "signed": True, "count": False}, {},
     "2048 becomes -2048; p 1, q 0"),
    ("half-precision-sum", HalfPrecision, {}, {}, "multiples of 4 or 8 from 4096 and 8192 on; p .66, q .07"),
    ("half-precision-overflow", HalfPrecision, {"units": 100.0}, {}, "beyond 655.04 there is nothing; p 1, q 0"),
    ("padded-to-power-of-two", Padded, {}, {}, "the scale changes at a power of two; p 1, q 0"),
    ("small-cells", SmallCells, {}, {}, "a cell goes from 0 to 5; p .38, q .07"),
    ("small-cells-20", SmallCells, {**LAPLACE, "least": 20}, PURE, "a cell goes from 0 to 20; p 1.00, q 0"),
    ("per-cent", PerCent, {}, {}, "small responses are scaled by a hundred until a larger one comes; p 1, q 0"),
    ("missing-codes", MissingCodes, {}, {}, "five of a hundred negatives are codes or numbers; p .50, q .08"),
    ("log-where-spread", LogWhereSpread, {}, {}, "one large response takes the logarithm of all; p 1, q 1e-5"),
    ("decimals-of-data", DecimalsOfData, {}, {},
     "one response with two decimals ends the rounding of all; p .98, q .0054"),
    ("own-weights", OwnWeights, {}, {}, "noise divided by the data's own total length; p .29, q .04"),
    ("own-largest-entry", OwnLargestEntry, {}, {}, "a large row rescales many small ones; p 1, q 7e-5"),
]  # fmt: skip
