"""Class 11: order statistics, means, moments and trees whose sensitivity was read off the mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 11


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
class Replaced(Noisy):
    """For replacing a record the number of records is public; ``per_record`` / n is what the author believes."""

    per_record: float = 2.0

    def centre(self, dataset):
        return float(self.statistic(dataset.y)) if dataset.n_records else 0.0

    def statistic(self, y):
        return y.mean()

    def believed(self, dataset):
        return self.per_record * dataset.y_bound / max(dataset.n_records, 1)


@dataclass(frozen=True)
class Quantile(Replaced):
    """A quantile, with the sensitivity of a mean."""

    level: float = 0.9

    def statistic(self, y):
        return np.quantile(y, self.level)


class Spread(Replaced):
    """The distance of the quartiles, with twice the sensitivity of a mean."""

    def statistic(self, y):
        return np.subtract(*np.quantile(y, [0.75, 0.25]))


@dataclass(frozen=True)
class MedianOfBlocks(Replaced):
    """The median of the means of five blocks: "one record is in one block", and 2 / n where 10 / n is right."""

    blocks: int = 5

    def statistic(self, y):
        return np.median([each.mean() if len(each) else 0.0 for each in np.array_split(y, self.blocks)])


@dataclass(frozen=True)
class Trimmed(Replaced):
    """The mean of the middle records, divided by their number, with a sensitivity divided by that of all."""

    cut: float = 0.1

    def statistic(self, y):
        k = int(self.cut * len(y))
        return np.sort(y)[k : len(y) - k].mean()


@dataclass(frozen=True)
class Winsorised(Replaced):
    """Responses clipped to their own 10 % and 90 % quantiles, then averaged."""

    cut: float = 0.1

    def statistic(self, y):
        return np.clip(y, *np.quantile(y, [self.cut, 1 - self.cut])).mean()


class HodgesLehmann(Replaced):
    """The median of the means of mirrored order statistics, with the sensitivity of a mean."""

    def statistic(self, y):
        ordered = np.sort(y)
        return np.median((ordered + ordered[::-1]) / 2)


class Variance(Replaced):
    """The variance of responses in [-1, 1] with 1 / n, as if the mean were fixed at 0."""

    def statistic(self, y):
        return y.var()


class Deviation(Replaced):
    """The standard deviation with 2 / n: the root is steep at zero."""

    def statistic(self, y):
        return y.std()


class GeometricMean(Replaced):
    """The geometric mean of the sizes of responses, with the sensitivity of the arithmetic one."""

    def statistic(self, y):
        return np.exp(np.log(np.maximum(np.abs(y), 1e-12)).mean())


class HarmonicMean(Replaced):
    """The harmonic mean of responses mapped to [.01, 2.01], with the sensitivity of the arithmetic one."""

    def statistic(self, y):
        return 1 / (1 / (y + 1.01)).mean()


class Skewness(Replaced):
    """The mean cube of standardised responses, with the sensitivity of a mean of cubes."""

    def statistic(self, y):
        deviation = y.std()
        return (((y - y.mean()) / deviation) ** 3).mean() if deviation > 1e-9 else 0.0


@dataclass(frozen=True)
class Correlation(Replaced):
    """The correlation of the first column and the response, with 4 / n."""

    per_record: float = 4.0

    def centre(self, dataset):
        if dataset.n_records < 2:
            return 0.0
        x, y = dataset.X[:, 0] - dataset.X[:, 0].mean(), dataset.y - dataset.y.mean()
        return float(x @ y / np.sqrt(max(float(x @ x) * float(y @ y), 1e-18)))


@dataclass(frozen=True)
class ModeOfHistogram(Replaced):
    """The middle of the fullest of twenty bins: "a record fills a bin by 1 / n"."""

    def statistic(self, y):
        counts, edges = np.histogram(y, bins=20, range=(-1.0, 1.0))
        return edges[counts.argmax()] + 0.05


@dataclass(frozen=True)
class ShareAboveMean(Replaced):
    """The share of responses above their own mean, with 1 / n, as if the mean stood still."""

    per_record: float = 1.0

    def centre(self, dataset):
        return float((dataset.y > dataset.y.mean()).mean()) if dataset.n_records else 0.0


@dataclass(frozen=True)
class Leaves(Noisy):
    """Mean responses of the leaves of a stump, with the sensitivity of the mean of a smallest leaf.

    ``split``: ``best`` of nine by squared error, ``median`` of the first column, or ``zero``, where small leaves are
    left out.
    """

    split: str = "best"
    least: int = 10

    def at(self, x, y):
        if self.split == "zero":
            return 0.0
        if self.split == "median":
            return float(np.median(x))
        errors = []
        for cut in self.cuts:
            left = x < cut
            errors.append(sum(float(np.square(part - part.mean()).sum()) for part in (y[left], y[~left]) if len(part)))
        return float(self.cuts[int(np.argmin(errors))])

    @property
    def cuts(self):
        return np.linspace(-0.8, 0.8, 9)

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(2)
        left = dataset.X[:, 0] < self.at(dataset.X[:, 0], dataset.y)
        parts = dataset.y[left], dataset.y[~left]
        if self.split == "zero":
            return np.array([part.mean() if len(part) >= self.least else 0.0 for part in parts])
        return np.array([part.sum() / max(len(part), self.least) for part in parts])

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / self.least


class BestGain(Leaves):
    """The released split itself: the threshold with least squared error, "which one record hardly moves"."""

    def centre(self, dataset):
        return self.at(dataset.X[:, 0], dataset.y)


@dataclass(frozen=True)
class TopColumn(Noisy):
    """The response's moment with the column that is most correlated, chosen without noise; the others are left 0."""

    def centre(self, dataset):
        moment = dataset.X.T @ dataset.y
        return np.where(np.arange(dataset.dim) == np.abs(moment).argmax(), moment, 0.0)


@dataclass(frozen=True)
class RatioOfSums(Noisy):
    """A mean as the ratio of two sums, of sensitivity 1 each, "so 2 / n_min", as if every row had length 1."""

    n_min: int = 20

    def centre(self, dataset):
        return float(dataset.y @ dataset.X[:, 0] / max(float(np.abs(dataset.X[:, 0]).sum()), 1e-6))

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / self.n_min


PURE = {"delta": 0.0, "relation": "replace"}
LAPLACE = {"ratio": 1.0, "laplace": True}
REPLACE = {"relation": "replace"}
ROWS = [
    ("quantile-0.9", Quantile, {}, REPLACE, "the next order statistic may be far; p 1, q 0"),
    ("median-replaced", Quantile, {**LAPLACE, "level": 0.5}, PURE, "the next order statistic may be far; p 1.00, q 0"),
    ("least-of-all", Quantile, {"level": 0.0}, REPLACE, "the least response, with 2 / n; p 1, q 7e-7"),
    ("quartile-distance", Spread, {"per_record": 4.0}, REPLACE, "the next order statistic may be far; p 1, q 7e-7"),
    ("median-of-blocks", MedianOfBlocks, {}, REPLACE, "the middle block's mean moves by 10 / n; p .08, q .02"),
    ("trimmed-mean-0.1", Trimmed, {}, {**REPLACE, "visible": False}, "2 / (.8 n), for 2 / n; p 5e-4, q 2e-4"),
    ("trimmed-mean-0.4", Trimmed, {"cut": 0.4}, REPLACE, "2 / (.2 n), for 2 / n; p .38, q .07"),
    ("trimmed-mean-laplace", Trimmed, {**LAPLACE, "cut": 0.25}, PURE, "2 / (.5 n), for 2 / n; p .70, q .11"),
    ("winsorised-mean", Winsorised, {}, REPLACE, "a tenth of the records moves with the quantile; p .79, q .05"),
    ("hodges-lehmann", HodgesLehmann, {}, REPLACE, "a median of means is a median; p .93, q .02"),
    ("variance-1-over-n", Variance, {"per_record": 1.0}, REPLACE, "responses at one end: 4 / n; p .27, q .06"),
    ("deviation-2-over-n", Deviation, {}, REPLACE, "equal responses: 2 / sqrt n; p .21, q .05"),
    ("geometric-mean", GeometricMean, {}, REPLACE, "a response of zero takes the mean along; p .76, q .06"),
    ("harmonic-mean", HarmonicMean, {}, REPLACE, "a response of -1 weighs a hundred; p 1, q 6e-7"),
    ("skewness", Skewness, {}, REPLACE, "nearly equal responses, and one outlier; p 1, q 0"),
    ("correlation", Correlation, {}, REPLACE, "nearly constant columns; p 1, q 1e-4"),
    ("mode", ModeOfHistogram, {}, REPLACE, "two bins as full as each other; p 1, q 2e-5"),
    ("share-above-mean", ShareAboveMean, {}, REPLACE, "many responses just at the mean; p 1, q 0"),
    ("stump-best-split", Leaves, {}, {}, "two splits as good as each other; p .16, q .04"),
    ("stump-median-split", Leaves, {"split": "median"}, {}, "ties at the median go to one side together; p .54, q .08"),
    ("stump-small-leaves", Leaves, {"split": "zero"}, {}, "the tenth record shows nine others; p .38, q .07"),
    ("split-point", BestGain, {}, {}, "two splits as good as each other; p .38, q .07"),
    ("top-column", TopColumn, {}, {}, "two columns as good as each other; p 1.00, q 6e-4"),
    ("ratio-of-sums", RatioOfSums, {}, {"n_min": 20},
     "short rows: the denominator is no number of records; p .88, q .03"),
]  # fmt: skip
