"""Classes 5 and 23: a stated worst case that forgets the data, and models that are fitted in noisy steps."""

import math
from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile

# --- class 5: noise whose size or whose statistic depends on the data; the stated worst case forgets it ---------------


@dataclass(frozen=True)
class Stated:
    """The statistic ``of``, with noise of ``size``; draws and density agree, ``worst_profile`` is what is false."""

    of: str = "moment"
    size: str = "stated"
    sigma: float = 4.25
    many: int = 20
    name = "noisy moment"

    def centre(self, dataset):
        return STATISTICS[self.of](dataset)

    def scale(self, dataset):
        return SIZES[self.size](dataset, self)

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        return centre + self.scale(dataset) * rng.standard_normal((n_draws, centre.size))

    def log_density(self, outputs, dataset):
        centre, scale = np.atleast_1d(self.centre(dataset)), self.scale(dataset)
        return -0.5 * np.square((outputs - centre) / scale).sum(axis=1) - centre.size * math.log(scale)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class ForgetsResponse(Stated):
    """Calibrated to the features alone although the responses reach 5."""

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound / self.sigma)


def standardised(data):
    """Columns divided by their own root mean square first: a record of the largest norm counts for more than 1."""
    if data.n_records == 0:
        return np.zeros(data.dim)
    root = np.sqrt(np.square(data.X).mean(axis=0))
    return (data.X / np.maximum(root, 1e-6)).T @ data.y


def quantile_clipped(data):
    """Responses divided by their own 90 % quantile and clipped to [-1, 1], then the stated noise."""
    if data.n_records == 0:
        return np.zeros(data.dim)
    top = max(float(np.quantile(np.abs(data.y), 0.9)), 1e-9)
    return data.X.T @ np.clip(data.y / top, -1.0, 1.0)


def mean_centred(data):
    """The cross product of centred columns: one record moves it by up to 4 x_bound y_bound."""
    if data.n_records == 0:
        return np.zeros(data.dim)
    return (data.X - data.X.mean(axis=0)).T @ (data.y - data.y.mean())


def own_largest(lengths, made):
    return made.sigma * max(lengths.max(initial=0.0), 1e-3)


def own_range(data, made):
    """For the range that the data happen to have."""
    spread = float(np.ptp(data.y)) if data.n_records else 2.0
    return made.sigma * max(spread, 1e-3) / max(data.n_records, 1)


def gap_of_largest(data, made):
    """The distance of the largest response to the second largest."""
    top = np.sort(np.append(data.y, [-1.0, -1.0]))[-2:]
    return made.sigma * max(float(top[1] - top[0]), 1e-2)


STATISTICS = {
    "moment": lambda data: data.X.T @ data.y,
    "standardised": standardised,
    "quantile clipped": quantile_clipped,
    "mean centred": mean_centred,
    "mean": lambda data: float(data.y.mean()) if data.n_records else 0.0,
    "sum over number": lambda data: float(data.y.sum()) / max(data.n_records, 1),
    "median": lambda data: float(np.median(data.y)) if data.n_records else 0.0,
    # coefficients with noise for a strongly convex sum: the Hessian's dependence on the target is forgotten
    "ridge": lambda data: np.linalg.solve(data.X.T @ data.X + 0.05 * np.eye(data.dim), data.X.T @ data.y),
    "largest response": lambda data: float(data.y.max(initial=-1.0)),
}
SIZES = {
    "stated": lambda data, made: made.sigma,
    "own largest response": lambda data, made: own_largest(np.abs(data.y), made),
    "own largest norm": lambda data, made: own_largest(np.linalg.norm(data.X, axis=1), made),
    "own deviation": lambda data, made: made.sigma * max(float(data.y.std()) if data.n_records else 1.0, 1e-3),
    # the largest change that taking out a present record makes
    "local sensitivity": lambda data, made: own_largest(np.linalg.norm(data.X * data.y[:, None], axis=1), made),
    # "the law of large numbers protects everybody": hardly any noise for many records
    "none for many": lambda data, made: made.sigma if data.n_records < made.many else 0.02,
    "own range": own_range,
    # divided by the true number of records, under adding and removing
    "own number": lambda data, made: made.sigma / max(data.n_records, 1),
    "of a mean": lambda data, made: 2 * made.sigma / max(data.n_records, 2),  # the sensitivity of a median is 1
    "gap of largest": gap_of_largest,
}


# --- class 23: noisy training with something exact on the way ---------------------------------------------------------


@dataclass(frozen=True)
class Training:
    """Its author counts ``steps`` noisy sums of contributions of length 1, noise ``sigma`` sqrt(steps) on each."""

    sigma: float = 4.25
    steps: int = 1
    rate: float = 0.1
    name = "noisy training"

    @property
    def noise(self):
        return self.sigma * math.sqrt(self.steps)

    def gradient(self, dataset):
        """The sum of y x, the descent direction of the linear loss - y x.w, whatever w is."""
        return dataset.X.T @ dataset.y

    def normal(self, dataset, n_draws, rng):
        return rng.standard_normal((n_draws, dataset.dim))

    def steps_from(self, weights, dataset, rng, n_steps=None):
        """Noisy gradient steps of the linear loss."""
        for _ in range(self.steps if n_steps is None else n_steps):
            noise = self.noise * rng.standard_normal((len(weights), dataset.dim))
            weights = weights + self.rate * (self.gradient(dataset) + noise)
        return weights

    def fitted(self, dataset, n_draws, rng):
        return self.steps_from(np.zeros((n_draws, dataset.dim)), dataset, rng)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(1 / self.sigma)


@dataclass(frozen=True)
class Linear(Training):
    """The last weights are normal: ``centre`` and ``scale`` are theirs, and the density is true."""

    direction: str = "sum"
    noisy: str = "every step"
    fewer: float = 1.0

    def gradient(self, dataset):
        return DIRECTIONS[self.direction](dataset.X.T @ dataset.y, max(dataset.n_records, 1))

    def centre(self, dataset):
        return self.rate * self.steps * self.gradient(dataset)

    def scale(self, dataset):
        return NOISES[self.noisy](self, dataset) / self.fewer

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.scale(dataset) * self.normal(dataset, n_draws, rng)

    def log_density(self, outputs, dataset):
        size = self.scale(dataset)
        return -0.5 * np.square((outputs - self.centre(dataset)) / size).sum(axis=1) - dataset.dim * math.log(size)


def clipped(total):
    return total / max(1.0, float(np.linalg.norm(total)))


def of_loss(made, data):
    """Proportional to the exact mean loss: towards the end of training less is needed."""
    loss = float(np.square(data.y).mean()) if data.n_records else 1.0
    return NOISES["every step"](made, data) * max(loss, 1e-3)


DIRECTIONS = {
    "sum": lambda total, n: total,
    "clipped sum": lambda total, n: clipped(total),  # and not each gradient: one record turns it round
    "clipped mean": lambda total, n: clipped(total / n),  # with noise as if each of an expected fifty had been clipped
    "normalised": lambda total, n: total / max(1e-9, float(np.linalg.norm(total))),  # with noise for a fiftieth
}
NOISES = {
    "every step": lambda made, data: made.rate * math.sqrt(made.steps) * made.noise,
    "last step": lambda made, data: made.rate * made.sigma,  # all others are exact
    "for one step": lambda made, data: made.rate * math.sqrt(made.steps) * made.sigma,  # in each of the steps
    "loss": of_loss,
}


class Momentum(Linear):
    """The velocity adds up exact gradients; noise is added to the weights as if each step saw one gradient."""

    def centre(self, dataset):
        velocities = (1 - 0.9 ** np.arange(1, self.steps + 1)) / 0.1
        return self.rate * velocities.sum() * self.gradient(dataset)


class OwnStepSize(Linear):
    """The step size is one over the largest eigenvalue of the data's own X^T X."""

    def largest(self, dataset):
        return max(float(np.linalg.eigvalsh(dataset.X.T @ dataset.X)[-1]), 1e-6)

    def centre(self, dataset):
        return self.gradient(dataset) / self.largest(dataset)

    def scale(self, dataset):
        return self.sigma / self.largest(dataset)


class ExactStart(Linear):
    """Training begins at the exact least squares, "a good initial value"."""

    def centre(self, dataset):
        start = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else np.zeros(dataset.dim)
        return start + super().centre(dataset)


class NewtonStep(Linear):
    """The noisy gradient is multiplied by the inverse of the exact Hessian with a little ridge."""

    def inverse(self, dataset):
        return 1 / (0.01 + float(np.square(dataset.X).sum()))

    def centre(self, dataset):
        return self.inverse(dataset) * self.gradient(dataset)

    def scale(self, dataset):
        return self.inverse(dataset) * self.sigma


class EarlierNoise(Training):
    """Noise goes onto every gradient, and then the noisy one is clipped; what is summed has no noise beyond that."""

    def draw(self, dataset, n_draws, *, rng):
        each = (dataset.X * dataset.y[:, None])[None] + self.sigma * rng.standard_normal((n_draws, *dataset.X.shape))
        lengths = np.linalg.norm(each, axis=2, keepdims=True)
        return self.rate * (each / np.maximum(1.0, lengths)).sum(axis=1)


class OneDirection(Training):
    """One normal number a step, put onto all coordinates."""

    def draw(self, dataset, n_draws, *, rng):
        return self.rate * (self.gradient(dataset) + self.sigma * rng.standard_normal((n_draws, 1)))


class ExactIntercept(Training):
    """Noise on the weights; the intercept is the exact mean residual."""

    def draw(self, dataset, n_draws, *, rng):
        weights = self.fitted(dataset, n_draws, rng)
        X, y = (dataset.X, dataset.y) if dataset.n_records else (np.zeros((1, dataset.dim)), np.zeros(1))
        return np.column_stack([weights, y.mean() - weights @ X.mean(axis=0)])


class ProjectedOntoData(Training):
    """The noisy weights are projected onto the ball of the longest record that there is."""

    def draw(self, dataset, n_draws, *, rng):
        weights = self.gradient(dataset) + self.sigma * self.normal(dataset, n_draws, rng)
        radius = float(np.linalg.norm(dataset.X, axis=1).max(initial=0.0))
        return weights * np.minimum(1.0, radius / np.linalg.norm(weights, axis=1))[:, None]


class Losses(Training):
    """Weights of squared loss by noisy steps; a subclass tells something about their exact losses."""

    def loss(self, weights, dataset):
        return np.square(dataset.y - weights @ dataset.X.T).sum(axis=1) / 2


class LossOfEnd(Losses):
    """The exact training loss of the noisy weights is reported beside them."""

    def draw(self, dataset, n_draws, *, rng):
        weights = self.fitted(dataset, n_draws, rng)
        return np.column_stack([weights, self.loss(weights, dataset)])


class StopsEarly(Losses):
    """Training stops when the exact loss is small, and the number of steps is in the log."""

    def draw(self, dataset, n_draws, *, rng):
        weights, taken = np.zeros((n_draws, dataset.dim)), np.zeros(n_draws)
        for _ in range(self.steps):
            running = self.loss(weights, dataset) > 0.05
            weights[running] = self.steps_from(weights[running], dataset, rng, 1)
            taken += running
        return np.column_stack([weights, taken])


class StopsUnlogged(StopsEarly):
    """Training stops when the exact loss is small; weights that never moved are exactly zero."""

    def draw(self, dataset, n_draws, *, rng):
        return super().draw(dataset, n_draws, rng=rng)[:, :-1]


class StopsByGradient(StopsEarly):
    """Training stops when the exact gradient of the mean loss is short."""

    def loss(self, weights, dataset):
        if dataset.n_records == 0:
            return np.zeros(len(weights))
        residuals = dataset.y - weights @ dataset.X.T
        return np.linalg.norm(residuals @ dataset.X, axis=1) / dataset.n_records


class Converged(Losses):
    """A flag says whether the exact fit would explain the responses."""

    def draw(self, dataset, n_draws, *, rng):
        fit = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else np.zeros(dataset.dim)
        good = float(self.loss(fit[None], dataset)[0]) < 0.2
        return np.column_stack([self.fitted(dataset, n_draws, rng), np.full(n_draws, good)])


class BatchesCounted(Training):
    """One epoch in batches of two; the number of batches is in the log."""

    def draw(self, dataset, n_draws, *, rng):
        batches = math.ceil(dataset.n_records / 2)
        return np.column_stack([self.fitted(dataset, n_draws, rng), np.full(n_draws, batches)])


class ClippedCounted(Training):
    """How many gradients were clipped is in the log, exactly."""

    def draw(self, dataset, n_draws, *, rng):
        clipped = (np.linalg.norm(dataset.X * dataset.y[:, None], axis=1) > 0.5).sum()
        return np.column_stack([self.fitted(dataset, n_draws, rng), np.full(n_draws, clipped)])


@dataclass(frozen=True)
class BestOfRuns(Losses):
    """Several trainings are paid for, but not the choice of the one whose exact training loss is least."""

    runs: int = 50

    def draw(self, dataset, n_draws, *, rng):
        size = self.sigma * math.sqrt(self.runs)
        weights = self.gradient(dataset) + size * rng.standard_normal((self.runs, n_draws, dataset.dim))
        losses = np.array([self.loss(each, dataset) for each in weights])
        return weights[losses.argmin(axis=0), np.arange(n_draws)]


@dataclass(frozen=True)
class RejectsWorse(Losses):
    """A step is taken back when the exact loss became larger, which is not paid for; unmoved weights stay zero."""

    def draw(self, dataset, n_draws, *, rng):
        weights = np.zeros((n_draws, dataset.dim))
        proposed = self.steps_from(weights, dataset, rng, 1)
        better = self.loss(proposed, dataset) < self.loss(weights, dataset)
        return np.where(better[:, None], proposed, weights)
