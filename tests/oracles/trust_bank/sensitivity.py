"""Class 5: noise whose size or whose statistic depends on the data; the stated worst case forgets it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile

KLASS = 5


@dataclass(frozen=True)
class Stated:
    """The draws and the density agree, also in a scale of the data's own; ``worst_profile`` is what is false."""

    sigma: float = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def scale(self, dataset):
        return self.sigma

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        return centre + self.scale(dataset) * rng.standard_normal((n_draws, centre.size))

    def log_density(self, outputs, dataset):
        centre, scale = np.atleast_1d(self.centre(dataset)), self.scale(dataset)
        return -0.5 * np.square((outputs - centre) / scale).sum(axis=1) - centre.size * math.log(scale)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class OwnLargestResponse(Stated):
    def scale(self, dataset):
        return self.sigma * max(np.abs(dataset.y).max(initial=0.0), 1e-3)


class OwnLargestNorm(Stated):
    def scale(self, dataset):
        return self.sigma * max(np.linalg.norm(dataset.X, axis=1).max(initial=0.0), 1e-3)


class OwnDeviation(Stated):
    def scale(self, dataset):
        return self.sigma * max(float(dataset.y.std()) if dataset.n_records else 1.0, 1e-3)


class LocalSensitivity(Stated):
    """The largest change that taking out a present record makes."""

    def scale(self, dataset):
        lengths = np.linalg.norm(dataset.X * dataset.y[:, None], axis=1)
        return self.sigma * max(lengths.max(initial=0.0), 1e-3)


class Standardised(Stated):
    """Columns divided by their own root mean square first: a record of the largest norm counts for more than 1."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        root = np.sqrt(np.square(dataset.X).mean(axis=0))
        return (dataset.X / np.maximum(root, 1e-6)).T @ dataset.y


class QuantileClipped(Stated):
    """Responses divided by their own 90 % quantile and clipped to [-1, 1], then the stated noise."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        top = max(float(np.quantile(np.abs(dataset.y), 0.9)), 1e-9)
        return dataset.X.T @ np.clip(dataset.y / top, -1.0, 1.0)


class Centred(Stated):
    """The cross product of centred columns: one record moves it by up to 4 x_bound y_bound."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        return (dataset.X - dataset.X.mean(axis=0)).T @ (dataset.y - dataset.y.mean())


@dataclass(frozen=True)
class NoNoiseFrom(Stated):
    """ "The law of large numbers protects everybody": hardly any noise for many records."""

    many: int = 20

    def scale(self, dataset):
        return self.sigma if dataset.n_records < self.many else 0.02


class ForgetsResponse(Stated):
    """Calibrated to the features alone although the responses reach 5."""

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound / self.sigma)


class OwnRange(Stated):
    """The mean response, with noise for the range that the data happen to have."""

    def centre(self, dataset):
        return float(dataset.y.mean()) if dataset.n_records else 0.0

    def scale(self, dataset):
        spread = float(np.ptp(dataset.y)) if dataset.n_records else 2.0
        return self.sigma * max(spread, 1e-3) / max(dataset.n_records, 1)


class OwnNumber(Stated):
    """A mean whose noise is divided by the true number of records, under adding and removing."""

    def centre(self, dataset):
        return float(dataset.y.sum()) / max(dataset.n_records, 1)

    def scale(self, dataset):
        return self.sigma / max(dataset.n_records, 1)


class ReplacedOnce(Stated):
    """Right for adding a record, sold for replacing one, which moves the moment by 2."""


class Median(Stated):
    """The median with the noise of a mean: its sensitivity is 1, not 2/n."""

    def centre(self, dataset):
        return float(np.median(dataset.y)) if dataset.n_records else 0.0

    def scale(self, dataset):
        return 2 * self.sigma / max(dataset.n_records, 2)


class LeastSquares(Stated):
    """Ridge coefficients with noise for a strongly convex sum: the Hessian's dependence on the target is forgotten."""

    def centre(self, dataset):
        return np.linalg.solve(dataset.X.T @ dataset.X + 0.05 * np.eye(dataset.dim), dataset.X.T @ dataset.y)


class MaximumOfResponses(Stated):
    """The largest response with noise of its own distance to the second largest."""

    def centre(self, dataset):
        return float(dataset.y.max(initial=-1.0))

    def scale(self, dataset):
        top = np.sort(np.append(dataset.y, [-1.0, -1.0]))[-2:]
        return self.sigma * max(float(top[1] - top[0]), 1e-2)


REPLACE = {"relation": "replace"}
ROWS = [
    ("own-largest-response", OwnLargestResponse, {}, {}, "noise proportional to the data's own max |y|"),
    ("own-largest-norm", OwnLargestNorm, {}, {}, "noise proportional to the data's own largest row"),
    ("own-deviation", OwnDeviation, {}, {}, "noise proportional to the responses' own deviation"),
    ("local-sensitivity", LocalSensitivity, {}, {}, "noise proportional to the largest record present"),
    ("standardised", Standardised, {}, {}, "columns divided by their own root mean square before"),
    ("quantile-clipped", QuantileClipped, {}, {}, "responses scaled by their own 90 % quantile before"),
    ("mean-centred", Centred, {}, {}, "centring: one record moves the statistic by up to 4"),
    ("no-noise-from-20", NoNoiseFrom, {}, {}, "noise 0.02 from 20 records on"),
    ("no-noise-from-200", NoNoiseFrom, {"many": 200}, {}, "noise 0.02 from 200 records on"),
    ("forgets-response", ForgetsResponse, {}, {"y_bound": 5.0}, "sensitivity 5, noise for 1"),
    ("own-range", OwnRange, {}, {}, "noise for the range of the responses in the data"),
    ("own-number", OwnNumber, {}, {}, "noise divided by the true number of records"),
    ("replaced-once", ReplacedOnce, {"sigma": 1.9}, {**REPLACE, "delta": 1e-2}, "replacing needs twice the noise"),
    ("median", Median, {}, {}, "noise 2/n on a statistic of sensitivity 1"),
    ("ridge", LeastSquares, {}, {}, "coefficients move by 1/(2 sqrt(.05)) = 2.2 and more, stated 1"),
    ("largest-response", MaximumOfResponses, {}, {}, "noise of the gap between the two largest responses"),
]
