"""Class 24: answers whose other parts, form, order, keys or text tell something exact."""

from __future__ import annotations

import math
import warnings
import zlib
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 24


class Drawn:
    """A sum of responses under N(0, 4.25^2); a subclass says something beside it."""

    sigma = 4.25
    name = "noisy sum"

    def noisy(self, dataset, n_draws, rng):
        return dataset.y.sum() + self.sigma * rng.standard_normal(n_draws)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / self.sigma)


class Sum(Drawn):
    """With the density of the noisy sum."""

    def value(self, output):
        return output[0]

    def log_density(self, outputs, dataset):
        values = np.array([float(self.value(each)) for each in outputs])
        return -0.5 * np.square((values - dataset.y.sum()) / self.sigma)


class Beside(Sum):
    """Numbers of the data beside the noisy sum."""

    def draw(self, dataset, n_draws, *, rng):
        extra = np.atleast_1d(np.asarray(self.extra(dataset), dtype=float))
        return np.column_stack([self.noisy(dataset, n_draws, rng), np.tile(extra, (n_draws, 1))])


class NumberBeside(Beside):
    """The exact number of records: "n is public anyway"."""

    def extra(self, dataset):
        return dataset.n_records


class ErrorBeside(Beside):
    """The exact standard error of the mean."""

    def extra(self, dataset):
        return dataset.y.std() / math.sqrt(dataset.n_records) if dataset.n_records else 0.0


class ResidualBeside(Beside):
    """The exact residual sum of squares of a regression."""

    def extra(self, dataset):
        fit = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else np.zeros(dataset.dim)
        return np.square(dataset.y - dataset.X @ fit).sum()


class RankBeside(Beside):
    """The exact rank of the features, as a diagnosis."""

    def extra(self, dataset):
        return np.linalg.matrix_rank(dataset.X) if dataset.n_records else 0


class ChecksumBeside(Beside):
    """A checksum of the records, for the audit trail."""

    def extra(self, dataset):
        return zlib.crc32(dataset.X.tobytes() + dataset.y.tobytes())


class RangeBeside(Beside):
    """The edges of a histogram, from the smallest to the largest response."""

    def extra(self, dataset):
        return np.histogram_bin_edges(dataset.y, bins=3)


class OrderBeside(Beside):
    """Which of three groups is largest, second and third, exactly."""

    def extra(self, dataset):
        return np.argsort(-np.histogram(np.clip(dataset.y, -1, 1), bins=3, range=(-1, 1))[0], kind="stable")


class LongestBeside(Beside):
    """Which row is the longest: "a row number is not a value"."""

    def extra(self, dataset):
        return np.linalg.norm(dataset.X, axis=1).argmax() if dataset.n_records else -1


class WarningsBeside(Beside):
    """How many warnings came up on the way: one, when a response is at its bound."""

    def extra(self, dataset):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.log(1.0 - np.abs(dataset.y))
        return len(caught)


class Inverse(Sum):
    """A noisy regression that cannot invert a singular matrix, and says so."""

    def draw(self, dataset, n_draws, *, rng):
        fit = np.linalg.inv(dataset.X.T @ dataset.X) @ (dataset.X.T @ dataset.y)
        noise = rng.standard_normal((n_draws, dataset.dim))
        return np.column_stack([self.noisy(dataset, n_draws, rng), fit.clip(-1, 1) + 10 * self.sigma * noise])


class Decimals(Sum):
    """Rounded to as many decimals as the number of records has digits."""

    def draw(self, dataset, n_draws, *, rng):
        return np.round(self.noisy(dataset, n_draws, rng), len(str(dataset.n_records)) - 1)[:, None]


class MeansOfGroups(Drawn):
    """The noisy mean of each group: not a number where the group is empty."""

    def draw(self, dataset, n_draws, *, rng):
        groups = (dataset.y[dataset.y < 0], dataset.y[dataset.y >= 0])
        means = np.array([group.mean() if group.size else math.nan for group in groups])
        return means + 2 * self.sigma * rng.standard_normal((n_draws, 2))


class Sparse(Sum):
    """Noise is added where the moment is not zero, for a sparse answer."""

    def draw(self, dataset, n_draws, *, rng):
        moment = dataset.X.T @ dataset.y
        return moment + self.sigma * (moment != 0) * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / self.sigma).sum(axis=1)


class SortedByExact(Sum):
    """Labelled noisy counts, the largest exact one first."""

    def draw(self, dataset, n_draws, *, rng):
        counts = np.histogram(np.clip(dataset.y, -1, 1), bins=3, range=(-1, 1))[0]
        noisy = counts + self.sigma * rng.standard_normal((n_draws, 3))
        names = ("low", "middle", "high")
        order = np.argsort(-counts, kind="stable")
        return [{names[i]: float(row[i]) for i in order} for row in noisy]

    def log_density(self, outputs, dataset):
        counts = np.histogram(np.clip(dataset.y, -1, 1), bins=3, range=(-1, 1))[0]
        rows = np.array([[each["low"], each["middle"], each["high"]] for each in outputs])
        return -0.5 * np.square((rows - counts) / self.sigma).sum(axis=1)


class ClippedToRange(Drawn):
    """The noisy mean is clipped to the smallest and the largest response that there are, to be plausible."""

    def draw(self, dataset, n_draws, *, rng):
        mean = float(dataset.y.mean()) if dataset.n_records else 0.0
        low, high = dataset.y.min(initial=1.0), dataset.y.max(initial=-1.0)
        return np.clip(mean + 2 * self.sigma * rng.standard_normal((n_draws, 1)), min(low, high), max(low, high))


class Exemplar(Drawn):
    """Beside the noisy sum the record that is nearest to a noisy mean, as an example."""

    def draw(self, dataset, n_draws, *, rng):
        if dataset.n_records == 0:
            return np.column_stack([self.noisy(dataset, n_draws, rng), np.zeros((n_draws, dataset.dim))])
        aims = dataset.X.mean(axis=0) + self.sigma * rng.standard_normal((n_draws, dataset.dim))
        distances = np.square(dataset.X).sum(axis=1) - 2 * aims @ dataset.X.T
        return np.column_stack([self.noisy(dataset, n_draws, rng), dataset.X[distances.argmin(axis=1)]])


@dataclass(frozen=True)
class Memorised(Drawn):
    """Synthetic records; now and then the generator repeats one of its training records."""

    share: float = 0.05

    def draw(self, dataset, n_draws, *, rng):
        made = np.clip(2 * self.sigma * rng.standard_normal((n_draws, dataset.dim + 1)), -1, 1)
        if dataset.n_records == 0:
            return made
        own = np.column_stack([dataset.X, dataset.y])[rng.integers(dataset.n_records, size=n_draws)]
        return np.where(rng.random((n_draws, 1)) < self.share, own, made)


class Text(Sum):
    """A sentence or a line with the noisy sum in it."""

    def value(self, output):
        return output.split()[0]

    def draw(self, dataset, n_draws, *, rng):
        words = self.words(dataset)
        return [f"{value:.4f} {words}" for value in self.noisy(dataset, n_draws, rng)]


class ExactInText(Text):
    """The sentence compares the noisy sum with the exact one to one decimal."""

    def words(self, dataset):
        return f"(before noise about {dataset.y.sum():.1f})"


class Bar(Text):
    """A bar of stars, one for each record."""

    def words(self, dataset):
        return "*" * dataset.n_records


class Padded(Text):
    """Names of rows without any value, one field a record."""

    def words(self, dataset):
        return ",".join("?" for _ in range(dataset.n_records))


class Stars(Text):
    """Stars of significance by the exact statistic."""

    def words(self, dataset):
        n = dataset.n_records
        t = abs(dataset.y.sum()) / math.sqrt(max(float(np.square(dataset.y).sum()), 1e-9)) if n else 0.0
        return "***" if t > 3.3 else "**" if t > 2.6 else "*" if t > 2.0 else "n.s."


class Singular(Text):
    """The sentence says "record" for one and "records" for more."""

    def words(self, dataset):
        return "of one record" if dataset.n_records == 1 else "of several records"


@dataclass(frozen=True)
class Groups:
    """Records by the quarter of their response with Laplace noise; the dictionary has what a subclass lets through."""

    threshold: float = 0.0
    name = "counts of groups"

    def counts(self, dataset):
        return np.histogram(np.clip(dataset.y, -1, 1), bins=4, range=(-1, 1))[0]

    def draw(self, dataset, n_draws, *, rng):
        counts = self.counts(dataset)
        noisy = counts + rng.laplace(size=(n_draws, 4))
        shown = self.shown(counts, noisy)
        return [{f"q{i}": float(row[i]) for i in np.flatnonzero(yes)} for row, yes in zip(noisy, shown, strict=True)]

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(1.0)


class PresentGroups(Groups):
    """Only groups that somebody belongs to have a key."""

    def shown(self, counts, noisy):
        return np.tile(counts > 0, (len(noisy), 1))


class ThresholdedGroups(Groups):
    """Groups that somebody belongs to have a key if their noisy count is above a threshold, which is too low."""

    def shown(self, counts, noisy):
        return (counts > 0) & (noisy > self.threshold)


class SuppressedGroups(Groups):
    """Groups of fewer than five have no key, by the exact count."""

    def shown(self, counts, noisy):
        return np.tile(counts >= 5, (len(noisy), 1))


class PositiveGroups(Groups):
    """Noisy counts of empty groups are removed where they are not positive, those of others never."""

    def shown(self, counts, noisy):
        return (counts > 0) | (noisy > 0)


SPARSE = {"dim": 3}
PURE, PRIME = {"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": 1e-6}
RARE = {**PRIME, "visible": False}
ROWS = [
    ("number-beside", NumberBeside, {}, {}, "the exact number of records"),
    ("error-beside", ErrorBeside, {}, {}, "the exact standard error"),
    ("residual-beside", ResidualBeside, {}, {}, "the exact residual sum of squares"),
    ("rank-beside", RankBeside, {}, {}, "the exact rank"),
    ("checksum-beside", ChecksumBeside, {}, {}, "a checksum of the records"),
    ("range-beside", RangeBeside, {}, {}, "the smallest and the largest response"),
    ("order-beside", OrderBeside, {}, {}, "the exact order of three groups"),
    ("longest-beside", LongestBeside, {}, {}, "the number of the longest row"),
    ("warnings-beside", WarningsBeside, {}, {}, "a warning exactly when a response is at its bound"),
    ("singular-matrix", Inverse, {}, {}, "LinAlgError exactly when the features are singular"),
    ("decimals-of-number", Decimals, {}, {}, "the number of digits of n"),
    ("mean-of-empty", MeansOfGroups, {}, {}, "NaN exactly when a group is empty"),
    ("sparse-moment", Sparse, {}, SPARSE, "an exact zero where no record has the feature"),
    ("sorted-by-exact", SortedByExact, {}, {}, "the order of the keys is that of the exact counts"),
    ("clipped-to-range", ClippedToRange, {}, {}, "the smallest and the largest response as atoms"),
    ("exemplar", Exemplar, {}, {}, "a record"),
    ("memorised-5", Memorised, {}, {}, "one output in twenty is a record"),
    ("memorised-1", Memorised, {"share": 0.01}, {}, "one output in a hundred is a record"),
    ("exact-in-text", ExactInText, {}, {}, "the exact sum to one decimal in the sentence"),
    ("bar-of-stars", Bar, {}, {}, "as many stars as records"),
    ("padded-line", Padded, {}, {}, "as many fields as records"),
    ("stars-of-significance", Stars, {}, {}, "stars by the exact statistic"),
    ("singular-word", Singular, {}, {"visible": False}, "the word tells whether there is exactly one record"),
    ("present-groups", PresentGroups, {}, PURE, "a key exactly when the group is not empty"),
    ("threshold-at-2", ThresholdedGroups, {"threshold": 2.0}, PRIME, "a group of one is shown with probability .18"),
    ("threshold-at-4", ThresholdedGroups, {"threshold": 4.0}, PRIME, "a group of one is shown with probability .025"),
    ("threshold-at-5", ThresholdedGroups, {"threshold": 5.0}, PRIME, "a group of one is shown with probability .009"),
    ("threshold-at-7", ThresholdedGroups, {"threshold": 7.0}, RARE, "a group of one is shown with probability .0012"),
    ("suppressed-below-5", SuppressedGroups, {}, PURE, "a key exactly when the group has five"),
    ("positive-groups", PositiveGroups, {}, PURE, "a count below 0 tells that the group is not empty"),
]
