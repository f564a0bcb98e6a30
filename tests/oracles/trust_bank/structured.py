"""Class 8a: what is not a row of numbers leaks: exceptions, NaN, shapes, types, keys, text, flags."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechanisms import GaussianProfile

KLASS = 8


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
        values = np.array([self.value(each) for each in outputs])
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


class Text(Stated):
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


ROWS = [
    ("raises", Raises, {}, {}, "OverflowError exactly when a response is at its bound"),
    ("raises-one-of-two", RaisesOneOfTwo, {}, {}, "never answers; the exception's type is the parity of n"),
    ("nan-for-record", NanForRecord, {}, {}, "NaN exactly when a row of norm 1 is present"),
    ("infinity-for-record", InfinityForRecord, {}, {}, "infinite exactly when no row is short"),
    ("own-width", OwnWidth, {}, {}, "as many columns as distinct responses"),
    ("own-rows", OwnRows, {}, {}, "each answer has as many rows as the data"),
    ("own-type", OwnType, {}, {}, "float32 or float64 by the size of the responses"),
    ("extra-key", ExtraKey, {}, {}, "a key that is there only when a response is at its bound"),
    ("nested-count", NestedCount, {}, {}, "the true number of records in the metadata"),
    ("text-with-count", Text, {}, {}, "the true number of records in the sentence"),
    ("frame-index", Frame, {}, {}, "the true number of records in the index of a data frame"),
    ("complex", Complex, {}, {}, "the imaginary part is raw"),
    ("flags", Flags, {}, {}, "four raw flags beside one noisy bit"),
    ("none-for-record", Nothing, {}, {}, "None exactly when a large response is present"),
    ("ragged", Ragged, {}, {}, "one answer in ten has the true number of large responses as its length"),
]
