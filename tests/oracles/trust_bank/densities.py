"""Class 2: a stated density, loss or profile that is not that of the draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from mechanisms import GaussianProfile

KLASS = 2


def log_cell(low, high):
    """Log of the standard normal mass between two bounds."""
    flip = low > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    return log_ndtr(b) + np.log1p(-np.exp(np.minimum(log_ndtr(a) - log_ndtr(b), -1e-300)))


@dataclass(frozen=True)
class Drawn:
    """X^T y under N(0, sigma^2 I), with ``drawn`` in place of sigma in the draws."""

    sigma: float = 4.25
    drawn: float = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.drawn * rng.standard_normal((n_draws, dataset.dim))

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class Stated(Drawn):
    """With the density of the noise that is stated."""

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)


class ConstantDensity(Stated):
    def log_density(self, outputs, dataset):
        return np.zeros(len(outputs))


class ShiftedConstant(Stated):
    """The density of a law that ignores the data altogether."""

    def log_density(self, outputs, dataset):
        return -0.5 * np.square(outputs / self.sigma).sum(axis=1)


class SignDensity(Stated):
    def log_density(self, outputs, dataset):
        return log_ndtr(np.sign(outputs) * self.centre(dataset) / self.sigma).sum(axis=1)

    def draw(self, dataset, n_draws, *, rng):
        """The signs are honest, their sizes are the raw statistic."""
        signs = np.sign(self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, dataset.dim)))
        return signs * (1.0 + np.abs(self.centre(dataset)))


class RoundedDensity(Stated):
    """Honest whole numbers; the raw statistic in the decimals."""

    def draw(self, dataset, n_draws, *, rng):
        whole = np.round(super().draw(dataset, n_draws, rng=rng))
        return whole + 0.4 * np.tanh(self.centre(dataset))

    def log_density(self, outputs, dataset):
        whole = np.round(outputs) - self.centre(dataset)
        return log_cell((whole - 0.5) / self.sigma, (whole + 0.5) / self.sigma).sum(axis=1)


class FirstColumnDensity(Stated):
    def draw(self, dataset, n_draws, *, rng):
        outputs = super().draw(dataset, n_draws, rng=rng)
        outputs[:, 1:] = self.centre(dataset)[1:] + 0.01 * rng.standard_normal((n_draws, dataset.dim - 1))
        return outputs

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs[:, 0] - self.centre(dataset)[0]) / self.sigma)


class SumDensity(Stated):
    """Two shares whose sum has honest noise; each share has noise 0.05."""

    def draw(self, dataset, n_draws, *, rng):
        first, second = self.centre(dataset)[:2]
        small, large = 0.05 * rng.standard_normal(n_draws), self.sigma * rng.standard_normal(n_draws)
        return np.column_stack([first + small, second + large - small])

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs.sum(axis=1) - self.centre(dataset).sum()) / self.sigma)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class IgnoredColumn(Stated):
    def draw(self, dataset, n_draws, *, rng):
        raw = np.full((n_draws, 1), dataset.y.sum())
        return np.hstack([super().draw(dataset, n_draws, rng=rng), raw])

    def log_density(self, outputs, dataset):
        return super().log_density(outputs[:, : dataset.dim], dataset)


class NanToZero(Stated):
    """An "overflow guard" that looks at the raw statistic."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = super().draw(dataset, n_draws, rng=rng)
        if np.abs(self.centre(dataset)).max() > 0.9:
            outputs[:] = np.nan
        return outputs

    def log_density(self, outputs, dataset):
        return super().log_density(np.nan_to_num(outputs), dataset)


class NanNowAndThen(NanToZero):
    """One output in fifty is NaN when a response is at its bound, and never otherwise."""

    def draw(self, dataset, n_draws, *, rng):
        outputs = Stated.draw(self, dataset, n_draws, rng=rng)
        if np.abs(dataset.y).max(initial=0.0) > 0.99:
            outputs[rng.random(n_draws) < 0.02] = np.nan
        return outputs


@dataclass(frozen=True)
class RawNowAndThen(Stated):
    share: float = 0.01
    shrink: float = 0.0

    def draw(self, dataset, n_draws, *, rng):
        noise = self.sigma * rng.standard_normal((n_draws, dataset.dim))
        noise[rng.random(n_draws) < self.share] *= self.shrink
        return self.centre(dataset) + noise


class LossAlone(Drawn):
    """A loss of 0, and no density."""

    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))


class LossZero(Stated):
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.drawn).sum(axis=1)

    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))


class LossClipped(LossZero):
    def privacy_loss(self, outputs, pair):
        return np.clip(self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second), -1.0, 1.0)


class LossClippedAlone(LossAlone):
    def privacy_loss(self, outputs, pair):
        first, second = (
            -0.5 * np.square((outputs - self.centre(each)) / self.drawn).sum(axis=1)
            for each in (pair.first, pair.second)
        )
        return np.clip(first - second, -1.0, 1.0)


class LossHalved(LossZero):
    def privacy_loss(self, outputs, pair):
        return 0.5 * (self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second))


class TwoWitnessesLie(Stated):
    """Density, profile and worst profile agree with one another, and with no draw."""

    def profile(self, pair):
        return GaussianProfile(float(np.linalg.norm(self.centre(pair.first) - self.centre(pair.second))) / self.sigma)


class OneCoordinate(Stated):
    def draw(self, dataset, n_draws, *, rng):
        outputs = np.tile(self.centre(dataset), (n_draws, 1))
        outputs[:, 0] += self.sigma * rng.standard_normal(n_draws)
        return outputs


class HalfShort(Stated):
    """Draws from a mixture that is uniform on a short interval half of the time."""

    def draw(self, dataset, n_draws, *, rng):
        size = (n_draws, dataset.dim)
        short = rng.uniform(-0.5, 0.5, size)
        long = self.sigma * rng.standard_normal(size)
        return self.centre(dataset) + np.where(rng.random((n_draws, 1)) < 0.5, short, long)


class CorrelatedNoise(Stated):
    """One noise value for every coordinate: differences of coordinates are raw, each marginal is right."""

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, 1))


BULK = {"epsilon": 1.0, "delta": 1e-2}
TENTH = {"drawn": 0.425}
ROWS = [
    ("density-zero", ConstantDensity, TENTH, {}, "noise ten times smaller; log_density = 0"),
    ("density-of-no-data", ShiftedConstant, TENTH, {}, "noise ten times smaller; the density ignores the data"),
    ("density-of-sign", SignDensity, {}, {}, "the size of each number is raw, the density is that of the sign"),
    ("density-of-rounded", RoundedDensity, {}, {}, "raw statistic in the decimals, density of the whole numbers"),
    ("density-of-first-column", FirstColumnDensity, {}, {}, "second column has noise 0.01, the density ignores it"),
    ("density-of-sum", SumDensity, {}, {}, "each share has noise 0.05, the density is that of their sum"),
    ("ignored-column", IgnoredColumn, {}, {}, "the last column is the raw sum of responses"),
    ("nan-to-zero", NanToZero, {}, {}, "NaN exactly when the raw statistic is large, mapped to 0 by the density"),
    ("nan-now-and-then", NanNowAndThen, {}, {}, "NaN with probability .02 only when a response is at its bound"),
    ("raw-once-in-200", RawNowAndThen, {"share": 0.005}, {}, "raw statistic with probability .005"),
    ("raw-once-in-100", RawNowAndThen, {"share": 0.01}, {}, "raw statistic with probability .01"),
    ("raw-once-in-50", RawNowAndThen, {"share": 0.02}, {}, "raw statistic with probability .02"),
    ("tiny-noise-once-in-100", RawNowAndThen, {"shrink": 0.01}, {}, "noise 100 times smaller with probability .01"),
    ("loss-zero-alone", LossAlone, TENTH, {}, "noise ten times smaller, privacy_loss = 0, no density"),
    ("loss-zero", LossZero, TENTH, {}, "noise ten times smaller, a true density, privacy_loss = 0"),
    ("loss-clipped", LossClipped, TENTH, {}, "a true density, and a loss clipped at the claimed epsilon"),
    ("loss-clipped-alone", LossClippedAlone, TENTH, {}, "a loss clipped at the claimed epsilon, no density"),
    ("loss-halved", LossHalved, {"drawn": 1.4}, {}, "noise three times smaller, half of the true loss"),
    ("two-witnesses-lie", TwoWitnessesLie, TENTH, {}, "density and profile agree on ten times the noise drawn"),
    ("noise-less-by-1.5", Stated, {"sigma": 1.9, "drawn": 1.9 / 1.5}, BULK, "noise 1.5 times smaller than stated"),
    ("noise-less-by-3", Stated, {"drawn": 4.25 / 3}, {}, "noise three times smaller than stated"),
    ("one-coordinate", OneCoordinate, {}, {}, "the second coordinate has no noise"),
    ("half-short-noise", HalfShort, {}, {}, "half of the outputs are within 0.5 of the raw statistic"),
    ("correlated-noise", CorrelatedNoise, {}, {}, "the difference of the two coordinates is raw"),
]
