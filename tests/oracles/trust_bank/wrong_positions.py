"""Class 14: the position of a record matters: blocks, folds, heads, tails, steps and passes by index."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 14


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
class BlockMeans(Noisy):
    """Sums of blocks by index, each over n_min / blocks: a record is in one block, but behind it all others shift."""

    blocks: int = 10
    n_min: int = 50

    def centre(self, dataset):
        return np.array([each.sum() for each in np.array_split(dataset.y, self.blocks)]) * self.blocks / self.n_min

    def believed(self, dataset):
        return 2.0 * dataset.y_bound * self.blocks / self.n_min


@dataclass(frozen=True)
class LargestBlock(BlockMeans):
    """The spread of the sums of blocks by index, as if one block of one record had changed."""

    blocks: int = 20

    def centre(self, dataset):
        return float(sum(abs(each.sum()) for each in np.array_split(dataset.y, self.blocks)))

    def believed(self, dataset):
        return dataset.y_bound


@dataclass(frozen=True)
class ErrorOfRest(Noisy):
    """The mean error on the last fifth of a ridge fitted to the others, with the sensitivity of a test record alone."""

    lam: float = 0.1
    most: float = 4.0

    def centre(self, dataset):
        X, y, cut = dataset.X, dataset.y, dataset.n_records - dataset.n_records // 5
        beta = np.linalg.solve(X[:cut].T @ X[:cut] + self.lam * np.eye(dataset.dim), X[:cut].T @ y[:cut])
        errors = np.minimum(np.square(y[cut:] - X[cut:] @ beta), self.most)
        return float(errors.sum() / max(len(errors), 1))

    def believed(self, dataset):
        return self.most / max(dataset.n_records // 5, 1)


@dataclass(frozen=True)
class LastTen(Noisy):
    """The sum of the last ten responses, with noise for ten drawn at random of n, which nobody drew."""

    def centre(self, dataset):
        return float(dataset.y[-10:].sum())

    def believed(self, dataset):
        return 2.0 * dataset.y_bound * min(1.0, 10 / max(dataset.n_records, 1))


@dataclass(frozen=True)
class EveryTenth(Noisy):
    """The sum of every tenth response; a record that is taken out in front moves all others up."""

    step: int = 10

    def centre(self, dataset):
        return float(dataset.y[:: self.step].sum())


class EveryTenthAmplified(EveryTenth):
    """The sum of every tenth response with a tenth of the noise, "by sampling"."""

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / self.step


@dataclass(frozen=True)
class FirstHundred(Noisy):
    """The sum over the first records alone: one of them that leaves makes room for the next."""

    many: int = 100

    def centre(self, dataset):
        return float(dataset.y[: self.many].sum())


@dataclass(frozen=True)
class Validated(Noisy):
    """Which of three penalties wins on five folds by index is told exactly; only the coefficient gets noise."""

    penalties = (0.1, 1.0, 10.0)

    def winner(self, dataset):
        X, y, errors = dataset.X, dataset.y, np.zeros(3)
        for fold in np.array_split(np.arange(dataset.n_records), 5):
            keep = np.ones(dataset.n_records, dtype=bool)
            keep[fold] = False
            gram, moment = X[keep].T @ X[keep], X[keep].T @ y[keep]
            for k, lam in enumerate(self.penalties):
                errors[k] += np.square(
                    y[fold] - X[fold] @ np.linalg.solve(gram + lam * np.eye(X.shape[1]), moment)
                ).sum()
        return int(errors.argmin())

    def draw(self, dataset, n_draws, *, rng):
        noisy = super().draw(dataset, n_draws, rng=rng)
        return np.column_stack([np.full(n_draws, float(self.winner(dataset))), noisy])

    def log_density(self, outputs, dataset):
        """With respect to the number of winners times area."""
        right = outputs[:, 0] == self.winner(dataset)
        return np.where(right, super().log_density(outputs[:, 1:], dataset), -np.inf)


@dataclass(frozen=True)
class MovingAverage(Noisy):
    """An exponential moving average that starts with the first response; each is thought to weigh a tenth."""

    rate: float = 0.1

    def centre(self, dataset):
        y = dataset.y
        if len(y) == 0:
            return 0.0
        weights = self.rate * (1 - self.rate) ** np.arange(len(y) - 1, -1, -1.0)
        weights[0] /= self.rate
        return float(weights @ y)

    def believed(self, dataset):
        return 2.0 * self.rate * dataset.y_bound


class NeighbourProducts(Noisy):
    """The autocovariance sum: a record is in two products, and a third appears when it leaves."""

    def centre(self, dataset):
        return float(dataset.y[:-1] @ dataset.y[1:])


class AlternatingDifferences(Noisy):
    """The sum of differences of the pairs (1, 2), (3, 4), ...: behind a record that leaves all pairs change."""

    def centre(self, dataset):
        y = dataset.y[: dataset.n_records // 2 * 2]
        return float((y[0::2] - y[1::2]).sum() / 2)


class Variation(Noisy):
    """The sum of sizes of successive differences, with the sensitivity of one difference."""

    def centre(self, dataset):
        return float(np.abs(np.diff(dataset.y)).sum())

    def believed(self, dataset):
        return 2.0 * dataset.y_bound


class RunningMaximum(Noisy):
    """The mean running maximum, with the sensitivity of a mean: the first record is in all of them."""

    def centre(self, dataset):
        return float(np.maximum.accumulate(dataset.y).mean()) if dataset.n_records else 0.0

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / max(dataset.n_records, 1)


class FromFirst(Noisy):
    """Responses relative to the first record's, the "baseline", added up and clipped to [-1, 1] each."""

    def centre(self, dataset):
        return float(np.clip(dataset.y - dataset.y[:1], -1.0, 1.0).sum()) if dataset.n_records else 0.0


class CarriedForward(Noisy):
    """A response of 0 is missing and takes the last one seen: a record speaks for all zeros behind it."""

    def centre(self, dataset):
        y = dataset.y
        last = np.maximum.accumulate(np.where(y != 0, np.arange(len(y)), -1))
        return float(np.where(last >= 0, y[last], 0.0).sum()) if len(y) else 0.0


@dataclass(frozen=True)
class OneEpoch(Noisy):
    """One epoch in batches by index, each divided by its own number: the last batch may be a single record."""

    batch: int = 20
    rate: float = 0.5

    def centre(self, dataset):
        beta = np.zeros(dataset.dim)
        for start in range(0, dataset.n_records, self.batch):
            X, y = dataset.X[start : start + self.batch], dataset.y[start : start + self.batch]
            beta = beta + self.rate * X.T @ np.clip(y - X @ beta, -1.0, 1.0) / len(y)
        return beta

    def believed(self, dataset):
        return 2.0 * self.rate * dataset.x_bound / self.batch


@dataclass(frozen=True)
class Momentum(OneEpoch):
    """Full batches with momentum .9 and a step for the batch's own n_min; the last gradient is thought to be alone."""

    def centre(self, dataset):
        beta, speed = np.zeros(dataset.dim), np.zeros(dataset.dim)
        for _ in range(10):
            residual = np.clip(dataset.y - dataset.X @ beta, -1.0, 1.0)
            speed = 0.9 * speed + self.rate * dataset.X.T @ residual / 50
            beta = beta + speed
        return beta

    def believed(self, dataset):
        return self.rate * dataset.x_bound / 50


class Perceptron(Noisy):
    """One pass of the perceptron: a mistake moves the weights by one row, "so a record by one row"."""

    def centre(self, dataset):
        a = b = 0.0
        rows, signs = dataset.X[:, :2].tolist(), np.where(dataset.y > 0, 1.0, -1.0).tolist()
        for (u, v), sign in zip(rows, signs, strict=True):
            if sign * (a * u + b * v) <= 0.01:
                a, b = a + sign * u, b + sign * v
        return np.array([a, b])


class HeadTail(Noisy):
    """The mean of the second half less that of the first, by index, with 2 / n for 4 / n."""

    def centre(self, dataset):
        half = dataset.n_records // 2
        first, second = dataset.y[:half], dataset.y[half:]
        return float(second.mean() - first.mean()) if half else 0.0

    def believed(self, dataset):
        return 2.0 * dataset.y_bound / max(dataset.n_records, 1)


PURE = {"delta": 0.0}
LAPLACE = {"ratio": 1.0, "laplace": True}
REPLACE = {"relation": "replace"}
GAUSS = {"type": "gaussian-dp", "mu": 0.5}
ROWS = [
    ("block-sums", BlockMeans, {}, {"n_min": 50}, "a record in front shifts the borders of all blocks; p .16, q .04"),
    ("block-spread", LargestBlock, {"blocks": 20}, {"n_min": 50},
     "a record in front shifts the borders of all blocks; p 1, q 1e-6"),
    ("test-error", ErrorOfRest, {}, REPLACE, "a record of the training part moves all test errors; p 1.00, q 5e-4"),
    ("last-ten", LastTen, {}, {**REPLACE, "n_min": 20},
     "one of the last ten has a tenth of the noise and less; p .79, q .06"),
    ("last-ten-laplace", LastTen, LAPLACE, {**PURE, **REPLACE, "n_min": 20},
     "one of the last ten, as above; p .93, q .02"),
    ("every-tenth", EveryTenth, {}, {}, "periodic responses, and one record less in front; p .98, q .0046"),
    ("every-tenth-amplified", EveryTenthAmplified, {}, REPLACE,
     "one of the tenth has a tenth of the noise; p .79, q .06"),
    ("first-hundred", FirstHundred, LAPLACE, PURE, "the next record comes in for one that left: 2; p .70, q .11"),
    ("folds-winner", Validated, {}, {}, "the winner is told exactly; p 1, q 0"),
    ("moving-average", MovingAverage, {}, {}, "the first response weighs nine tenths of two; p .73, q .06"),
    ("autocovariance", NeighbourProducts, {}, {}, "two products go and one of another sign comes; p .14, q .04"),
    ("pair-differences", AlternatingDifferences, {}, {}, "alternating responses, and one less in front; p 1, q 2e-4"),
    ("variation", Variation, {"ratio": 1.0, "laplace": True}, PURE, "a peak between two lows counts 4; p .70, q .11"),
    ("running-maximum", RunningMaximum, {}, REPLACE, "a large first response is in all of them; p 1, q 7e-7"),
    ("from-first", FromFirst, {}, {}, "everything is relative to the first record; p 1, q 1e-4"),
    ("carried-forward", CarriedForward, {}, {}, "a record speaks for all zeros behind it; p 1, q 7e-5"),
    ("one-epoch", OneEpoch, {}, {}, "the last batch is a single record; p .79, q .06"),
    ("one-epoch-gdp", OneEpoch, {"ratio": 2.0, "batch": 10}, GAUSS, "the last batch is a single record; p .84, q .07"),
    ("momentum", Momentum, {}, {}, "ten gradients, each carried on; p 1, q 2e-6"),
    ("perceptron", Perceptron, {}, {}, "one record more or less decides about the mistakes behind it; p .07, q .02"),
    ("second-half-less-first", HeadTail, {}, REPLACE, "4 / n, for 2 / n; p .03, q .0089"),
]  # fmt: skip
