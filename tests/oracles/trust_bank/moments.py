"""Classes 1 to 3: a noisy moment that refuses to answer, states another law than it draws, or asks to be believed."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from mechanisms import GaussianProfile


@dataclass(frozen=True)
class Moment:
    """X^T y under N(0, sigma^2 I), with ``drawn`` in place of sigma in the draws."""

    sigma: float = 4.25
    drawn: float = 4.25
    name = "noisy moment"

    def centre(self, dataset):
        return dataset.X.T @ dataset.y

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        return centre + self.drawn * rng.standard_normal((n_draws, centre.size))

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class Stated(Moment):
    """With the density of the noise that is stated."""

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)


# --- class 1: refuses the data sets that an auditor makes up, and leaks on those of a user ----------------------------


class RefusesStructure(Stated):
    def centre(self, dataset):
        if dataset.y.size < 2 or np.ptp(np.abs(dataset.y)) < 1e-6:
            raise ValueError("the responses do not vary")
        return dataset.X.T @ dataset.y


class LeastSquares(Stated):
    """``solve`` raises LinAlgError, which is a ValueError, when the rows are alike or fewer than the features."""

    def centre(self, dataset):
        gram = dataset.X.T @ dataset.X
        if dataset.y.size < dataset.dim or np.linalg.cond(gram) > 1e8:
            raise np.linalg.LinAlgError("Singular matrix")
        return np.linalg.solve(gram, dataset.X.T @ dataset.y)


class DividesBySpread(Stated):
    def centre(self, dataset):
        spread = float(max(dataset.y, default=0.0)) - float(min(dataset.y, default=0.0))
        return float(dataset.y.sum()) / spread  # Python floats: ZeroDivisionError for constant responses


@dataclass(frozen=True)
class NeedsRecords(Stated):
    least: int = 8

    def centre(self, dataset):
        if dataset.n_records < self.least:
            raise ValueError(f"at least {self.least} records are needed")
        return dataset.X.T @ dataset.y


class WritesToData(Stated):
    def centre(self, dataset):
        dataset.X[:] = dataset.X - 0.5 * dataset.X.mean(axis=0)
        return dataset.X.T @ dataset.y


class LogResponses(Stated):
    """Sum of log |y|, said to be bounded because the responses are."""

    def centre(self, dataset):
        if (dataset.y == 0).any():
            raise ValueError("responses must not be zero")
        return np.log(np.abs(dataset.y)).sum()


class LabelsOnly(Stated):
    def centre(self, dataset):
        if not np.isin(dataset.y, (-1.0, 1.0)).all():
            raise ValueError("labels must be -1 or +1")
        return dataset.X.T @ dataset.y


class BatchesOfTwo(Stated):
    """Honest noise on the sum of batch means; an odd number of records cannot be reshaped."""

    def centre(self, dataset):
        return dataset.y.reshape(-1, 2).mean(axis=1).sum()


# --- class 2: a stated density, loss or profile that is not that of the draws -----------------------------------------


def log_cell(low, high):
    """Log of the standard normal mass between two bounds."""
    flip = low > 0
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    return log_ndtr(b) + np.log1p(-np.exp(np.minimum(log_ndtr(a) - log_ndtr(b), -1e-300)))


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


class LossAlone(Moment):
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


# --- class 3: a loss or a profile that a fixture believes, of a release with little or no noise -----------------------


@dataclass(frozen=True)
class Raw(Moment):
    """The raw moment; the author's word is all the noise there is."""

    drawn: float = 0.0
    name = "moment"

    def stated_loss(self, outputs, pair):
        first, second = (np.square(outputs - self.centre(each)).sum(axis=1) for each in (pair.first, pair.second))
        return (second - first) / (2 * self.sigma**2)


class NoLoss(Raw):
    def privacy_loss(self, outputs, pair):
        return np.zeros(len(outputs))


class SmallProfile(NoLoss):
    def profile(self, pair):
        return GaussianProfile(0.0)


class WholeStory(Raw, TwoWitnessesLie):
    """Loss, density and profile of noise 4.25; the draws have none."""

    def privacy_loss(self, outputs, pair):
        return self.stated_loss(outputs, pair)


class FlippedLoss(Raw):
    def privacy_loss(self, outputs, pair):
        first, second = (np.square(outputs - self.centre(each)).sum(axis=1) for each in (pair.first, pair.second))
        return np.minimum((first - second) / (2 * self.drawn**2), 0.0)


class LossPerRecord(Raw):
    def privacy_loss(self, outputs, pair):
        scale = (self.sigma / self.drawn) ** 2
        return scale * self.stated_loss(outputs, pair) / max(pair.first.n_records, pair.second.n_records, 1) ** 2


class LossOfFeatures(Raw):
    """The loss of the features alone: the response of the target is left out."""

    def privacy_loss(self, outputs, pair):
        gap = (pair.first.X.sum(axis=0) - pair.second.X.sum(axis=0)) * 1e-3
        return (outputs @ gap) / self.sigma**2


class NanLoss(Raw):
    def privacy_loss(self, outputs, pair):
        return np.full(len(outputs), np.nan)


class ProfileOfCount(Raw):
    """The profile of a noisy count, on a sum whose noise is ten times smaller."""

    def profile(self, pair):
        return GaussianProfile(abs(pair.first.n_records - pair.second.n_records) / self.sigma)

    def privacy_loss(self, outputs, pair):
        gap = self.profile(pair).mu
        return gap * (outputs[:, 0] - outputs[:, 0].mean()) / (outputs[:, 0].std() + 1e-300) + 0.5 * gap**2


class LossOfDrawnSeed(Raw):
    """Normal numbers that look like the loss of noise 4.25, made from the outputs' own order."""

    def privacy_loss(self, outputs, pair):
        mu = 1.0 / self.sigma
        return 0.5 * mu**2 + mu * np.random.default_rng(len(outputs)).standard_normal(len(outputs))
