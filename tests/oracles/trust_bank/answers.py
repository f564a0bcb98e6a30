"""Classes 8 and 24: answers that tell something by another part, form, order, key or text; claims of another form."""

import math
import warnings
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from oracles.bank_laws import LaplaceOfSum, Moment

from mechanisms import GaussianProfile, LaplaceProfile

# --- class 8: what is not a row of numbers leaks: exceptions, NaN, shapes, types, keys, text, flags -------------------


class Drawn:
    """An honest noisy sum inside; a subclass wraps it into an answer."""

    sigma = 4.25
    name = "answer"

    def noisy(self, dataset, n_draws, rng):
        return dataset.y.sum() + self.sigma * rng.standard_normal(n_draws)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / self.sigma)


class Stated(Drawn):
    """With the density of the noisy number inside."""

    def value(self, output: Any) -> float:
        """The noisy number inside an answer, for the density."""
        return float(np.ravel(np.asarray(output, dtype=object))[0])

    def log_density(self, outputs, dataset):
        values = np.array([float(self.value(each)) for each in outputs])
        return -0.5 * np.square((values - dataset.y.sum()) / self.sigma)


class Raises(Stated):
    def draw(self, dataset, n_draws, *, rng):
        if np.abs(dataset.y).max(initial=0.0) > 0.99:
            raise OverflowError("a response is too large")
        return self.noisy(dataset, n_draws, rng)[:, None]


class RaisesOneOfTwo(Stated):
    """Never answers; which of two exceptions it is tells the parity of the number of records."""

    def draw(self, dataset, n_draws, *, rng):
        if dataset.n_records % 2:
            raise KeyError("fold")
        raise RuntimeError("no convergence")


class NanForRecord(Stated):
    def draw(self, dataset, n_draws, *, rng):
        outputs = self.noisy(dataset, n_draws, rng)[:, None]
        return outputs * np.nan if (np.linalg.norm(dataset.X, axis=1) > 0.99).any() else outputs


class InfinityForRecord(Stated):
    """Dividing by the number of small rows: infinite when there is none."""

    def draw(self, dataset, n_draws, *, rng):
        small = (np.linalg.norm(dataset.X, axis=1) < 0.5).sum()
        extra = np.where(small > 0, 0.0, np.inf)
        return np.column_stack([self.noisy(dataset, n_draws, rng), np.full(n_draws, extra)])


class OwnWidth(Stated):
    """One column for each distinct response, up to four."""

    def draw(self, dataset, n_draws, *, rng):
        width = 1 + min(len(np.unique(dataset.y)), 4)
        return np.repeat(self.noisy(dataset, n_draws, rng)[:, None], width, axis=1)


class OwnRows(Stated):
    """Each answer is a synthetic table with exactly as many rows as the data."""

    def draw(self, dataset, n_draws, *, rng):
        values = self.noisy(dataset, n_draws, rng)
        return [np.full((dataset.n_records, 1), value) for value in values]

    def value(self, output):
        return float(output[0, 0]) if len(output) else 0.0


class OwnType(Stated):
    """Whole numbers where all responses are whole, as text or not."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = self.noisy(dataset, n_draws, rng)[:, None]
        return outputs.astype(np.float32) if (np.abs(dataset.y) < 0.99).all() else outputs


class ExtraKey(Stated):
    def draw(self, dataset, n_draws, *, rng):
        warn = {"clipped": True} if np.abs(dataset.y).max(initial=0.0) > 0.99 else {}
        return [{"sum": float(value), **warn} for value in self.noisy(dataset, n_draws, rng)]

    def value(self, output):
        return output["sum"]


class NestedCount(Stated):
    """The metadata of a report: ``{"sum": …, "meta": {"n": …}}``."""

    def draw(self, dataset, n_draws, *, rng):
        meta = {"n": dataset.n_records, "version": "1.2"}
        return [{"sum": float(value), "meta": meta} for value in self.noisy(dataset, n_draws, rng)]

    def value(self, output):
        return output["sum"]


class CountInText(Stated):
    def draw(self, dataset, n_draws, *, rng):
        n = dataset.n_records
        return [f"mean over {n} records: {value:.3f}" for value in self.noisy(dataset, n_draws, rng)]

    def value(self, output):
        return float(output.rpartition(" ")[2])


class Frame(Stated):
    """A data frame whose index ends with the true number of records."""

    def draw(self, dataset, n_draws, *, rng):
        import pandas as pd

        index = [f"row {dataset.n_records}"]
        return [pd.DataFrame({"sum": [value]}, index=index) for value in self.noisy(dataset, n_draws, rng)]

    def value(self, output):
        return float(output["sum"].iloc[0])


class Complex(Stated):
    def draw(self, dataset, n_draws, *, rng):
        return (self.noisy(dataset, n_draws, rng) + 1j * dataset.y.sum())[:, None]

    def value(self, output):
        return float(np.ravel(output)[0].real)


class Flags(Drawn):
    """The noisy sum as a byte, and raw flags: does any response exceed 0, .25, .5, .75?"""

    def draw(self, dataset, n_draws, *, rng):
        flags = [bool((dataset.y > level).any()) for level in (0.0, 0.25, 0.5, 0.75)]
        positive = self.noisy(dataset, n_draws, rng) > 0
        return np.column_stack([positive, np.tile(flags, (n_draws, 1))])


class Nothing(Stated):
    """None in place of an answer when there are too many large responses."""

    def draw(self, dataset, n_draws, *, rng):
        if (np.abs(dataset.y) > 0.9).sum() > 0:
            return [None] * n_draws
        return [float(value) for value in self.noisy(dataset, n_draws, rng)]

    def value(self, output):
        return 0.0 if output is None else float(output)


class Ragged(Stated):
    """A sparse vector: as many (index, value) entries as responses above the mean, some answers only."""

    def draw(self, dataset, n_draws, *, rng):
        large = int((dataset.y > 0.5).sum())
        shown = rng.random(n_draws) < 0.1
        values = self.noisy(dataset, n_draws, rng)
        return [[float(v)] * (1 + large * int(s)) for v, s in zip(values, shown, strict=True)]


# --- class 8: claims of another form (groups, whole curves) that are false although one point of them is true ---------


@dataclass(frozen=True)
class Gaussian(Moment):
    """X^T y + N(0, sigma^2 I), everything stated truly but for the claim that is made of it."""

    sigma: float


@dataclass(frozen=True)
class Understated(Gaussian):
    """States (and its density tells) ``stated`` where sigma is drawn."""

    stated: float = 1.0

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.stated).sum(axis=1)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.stated)


@dataclass(frozen=True)
class Laplace(LaplaceOfSum):
    """The sum of responses with Laplace noise; pure, so never Gaussian private with the mu of its (1, 0) point."""

    mu: float = 0.3
    name = "noisy sum"


class LaplaceAsGaussian(Laplace):
    """Its worst profile is that of the curve it is sold as."""

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(self.mu * y_bound)


# --- class 24: something exact in or around an answer -----------------------------------------------------------------


class NoisySum(Drawn):
    """A subclass says something beside it."""

    name = "noisy sum"


class StatedSum(Stated):
    """With the density of the noisy sum."""

    name = "noisy sum"


@dataclass(frozen=True)
class Beside(StatedSum):
    """Numbers of the data beside the noisy sum."""

    of: str

    def extra(self, dataset):
        return EXTRAS[self.of](dataset)

    def draw(self, dataset, n_draws, *, rng):
        extra = np.atleast_1d(np.asarray(self.extra(dataset), dtype=float))
        return np.column_stack([self.noisy(dataset, n_draws, rng), np.tile(extra, (n_draws, 1))])


def thirds(data):
    return np.histogram(np.clip(data.y, -1, 1), bins=3, range=(-1, 1))[0]


def least_squares(data):
    return np.linalg.lstsq(data.X, data.y, rcond=None)[0] if data.n_records else np.zeros(data.dim)


def warned(data):
    """How many warnings came up on the way: one, when a response is at its bound."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.log(1.0 - np.abs(data.y))
    return len(caught)


EXTRAS = {
    "number": lambda data: data.n_records,  # "n is public anyway"
    "error": lambda data: data.y.std() / math.sqrt(data.n_records) if data.n_records else 0.0,
    "residual": lambda data: np.square(data.y - data.X @ least_squares(data)).sum(),
    "rank": lambda data: np.linalg.matrix_rank(data.X) if data.n_records else 0,  # as a diagnosis
    "checksum": lambda data: zlib.crc32(data.X.tobytes() + data.y.tobytes()),  # for the audit trail
    "range": lambda data: np.histogram_bin_edges(data.y, bins=3),  # the edges of a histogram
    "order": lambda data: np.argsort(-thirds(data), kind="stable"),  # which of three groups is largest, second, third
    "longest": lambda data: np.linalg.norm(data.X, axis=1).argmax() if data.n_records else -1,
    "warnings": warned,
}


class Inverse(StatedSum):
    """A noisy regression that cannot invert a singular matrix, and says so."""

    def draw(self, dataset, n_draws, *, rng):
        fit = np.linalg.inv(dataset.X.T @ dataset.X) @ (dataset.X.T @ dataset.y)
        noise = rng.standard_normal((n_draws, dataset.dim))
        return np.column_stack([self.noisy(dataset, n_draws, rng), fit.clip(-1, 1) + 10 * self.sigma * noise])


class Decimals(StatedSum):
    """Rounded to as many decimals as the number of records has digits."""

    def draw(self, dataset, n_draws, *, rng):
        return np.round(self.noisy(dataset, n_draws, rng), len(str(dataset.n_records)) - 1)[:, None]


class MeansOfGroups(NoisySum):
    """The noisy mean of each group: not a number where the group is empty."""

    def draw(self, dataset, n_draws, *, rng):
        groups = (dataset.y[dataset.y < 0], dataset.y[dataset.y >= 0])
        means = np.array([group.mean() if group.size else math.nan for group in groups])
        return means + 2 * self.sigma * rng.standard_normal((n_draws, 2))


class Sparse(StatedSum):
    """Noise is added where the moment is not zero, for a sparse answer."""

    def draw(self, dataset, n_draws, *, rng):
        moment = dataset.X.T @ dataset.y
        return moment + self.sigma * (moment != 0) * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / self.sigma).sum(axis=1)


class SortedByExact(StatedSum):
    """Labelled noisy counts, the largest exact one first."""

    def draw(self, dataset, n_draws, *, rng):
        counts = thirds(dataset)
        noisy = counts + self.sigma * rng.standard_normal((n_draws, 3))
        names = ("low", "middle", "high")
        order = np.argsort(-counts, kind="stable")
        return [{names[i]: float(row[i]) for i in order} for row in noisy]

    def log_density(self, outputs, dataset):
        counts = thirds(dataset)
        rows = np.array([[each["low"], each["middle"], each["high"]] for each in outputs])
        return -0.5 * np.square((rows - counts) / self.sigma).sum(axis=1)


class ClippedToRange(NoisySum):
    """The noisy mean is clipped to the smallest and the largest response that there are, to be plausible."""

    def draw(self, dataset, n_draws, *, rng):
        mean = float(dataset.y.mean()) if dataset.n_records else 0.0
        low, high = dataset.y.min(initial=1.0), dataset.y.max(initial=-1.0)
        return np.clip(mean + 2 * self.sigma * rng.standard_normal((n_draws, 1)), min(low, high), max(low, high))


class Exemplar(NoisySum):
    """Beside the noisy sum the record that is nearest to a noisy mean, as an example."""

    def draw(self, dataset, n_draws, *, rng):
        if dataset.n_records == 0:
            return np.column_stack([self.noisy(dataset, n_draws, rng), np.zeros((n_draws, dataset.dim))])
        aims = dataset.X.mean(axis=0) + self.sigma * rng.standard_normal((n_draws, dataset.dim))
        distances = np.square(dataset.X).sum(axis=1) - 2 * aims @ dataset.X.T
        return np.column_stack([self.noisy(dataset, n_draws, rng), dataset.X[distances.argmin(axis=1)]])


@dataclass(frozen=True)
class Memorised(NoisySum):
    """Synthetic records; now and then the generator repeats one of its training records."""

    share: float = 0.05

    def draw(self, dataset, n_draws, *, rng):
        made = np.clip(2 * self.sigma * rng.standard_normal((n_draws, dataset.dim + 1)), -1, 1)
        if dataset.n_records == 0:
            return made
        own = np.column_stack([dataset.X, dataset.y])[rng.integers(dataset.n_records, size=n_draws)]
        return np.where(rng.random((n_draws, 1)) < self.share, own, made)


@dataclass(frozen=True)
class Text(StatedSum):
    """A sentence or a line with the noisy sum in it."""

    of: str

    def value(self, output):
        return output.split()[0]

    def words(self, dataset):
        return WORDS[self.of](dataset)

    def draw(self, dataset, n_draws, *, rng):
        words = self.words(dataset)
        return [f"{value:.4f} {words}" for value in self.noisy(dataset, n_draws, rng)]


def stars(data):
    """Stars of significance by the exact statistic."""
    t = abs(data.y.sum()) / math.sqrt(max(float(np.square(data.y).sum()), 1e-9)) if data.n_records else 0.0
    return "***" if t > 3.3 else "**" if t > 2.6 else "*" if t > 2.0 else "n.s."


WORDS = {
    "exact sum": lambda data: f"(before noise about {data.y.sum():.1f})",
    "bar": lambda data: "*" * data.n_records,
    "padding": lambda data: ",".join("?" for _ in range(data.n_records)),  # one field a record, without any value
    "significance": stars,
    "singular": lambda data: "of one record" if data.n_records == 1 else "of several records",
}


@dataclass(frozen=True)
class Groups:
    """Records by the quarter of their response with Laplace noise; the dictionary has those that are ``shown``."""

    shown: str
    threshold: float = 0.0
    name = "counts of groups"

    def draw(self, dataset, n_draws, *, rng):
        counts = np.histogram(np.clip(dataset.y, -1, 1), bins=4, range=(-1, 1))[0]
        noisy = counts + rng.laplace(size=(n_draws, 4))
        shown = SHOWN[self.shown](counts, noisy, self.threshold)
        return [{f"q{i}": float(row[i]) for i in np.flatnonzero(yes)} for row, yes in zip(noisy, shown, strict=True)]

    def worst_profile(self, x_bound, y_bound):
        return LaplaceProfile(1.0)


SHOWN = {
    # those that somebody belongs to
    "present": lambda counts, noisy, _: np.tile(counts > 0, (len(noisy), 1)),
    # of these, those whose noisy count is above a threshold, which is too low
    "above threshold": lambda counts, noisy, threshold: (counts > 0) & (noisy > threshold),
    # those of five and more, by the exact count
    "five and more": lambda counts, noisy, _: np.tile(counts >= 5, (len(noisy), 1)),
    # noisy counts of empty groups are removed where they are not positive, those of others never
    "positive": lambda counts, noisy, _: (counts > 0) | (noisy > 0),
}
