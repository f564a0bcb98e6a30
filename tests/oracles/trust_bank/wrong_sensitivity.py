"""Class 10: a formula whose sensitivity was assumed: penalised regression and matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 10


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


def ridge(X, y, lam):
    return np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)


@dataclass(frozen=True)
class Ridge(Noisy):
    """Ridge coefficients: one record is thought to move them by x_bound y_bound / lambda, as if its residual were y."""

    lam: float = 1.0

    def centre(self, dataset):
        return ridge(dataset.X, dataset.y, self.lam)

    def believed(self, dataset):
        return dataset.x_bound * dataset.y_bound / self.lam


@dataclass(frozen=True)
class ClippedRidge(Ridge):
    """Coefficients are clipped to a ball, which is thought to have repaired the residual."""

    radius: float = 8.0

    def centre(self, dataset):
        found = super().centre(dataset)
        return found * min(1.0, self.radius / max(float(np.linalg.norm(found)), 1e-12))


@dataclass(frozen=True)
class ToppedUpRidge(Ridge):
    """The penalty tops up the data's own smallest eigenvalue to lambda, and the noise is that of lambda."""

    def centre(self, dataset):
        least = float(np.linalg.eigvalsh(dataset.X.T @ dataset.X)[0])
        return ridge(dataset.X, dataset.y, max(self.lam - least, 1e-6 * self.lam))


@dataclass(frozen=True)
class ValidatedRidge(Noisy):
    """The penalty is the best of three by generalised cross-validation; noise as if it had been chosen before."""

    penalties = (0.1, 1.0, 10.0)

    def chosen(self, dataset):
        X, y = dataset.X, dataset.y
        gram, moment, n = X.T @ X, X.T @ y, max(dataset.n_records, 1)
        scores = []
        for lam in self.penalties:
            inverse = np.linalg.inv(gram + lam * np.eye(dataset.dim))
            beta = inverse @ moment
            error = float(y @ y) - 2 * float(beta @ moment) + float(beta @ gram @ beta)
            scores.append(error / (n - np.trace(inverse @ gram)) ** 2)
        return self.penalties[int(np.argmin(scores))]

    def centre(self, dataset):
        return ridge(dataset.X, dataset.y, self.chosen(dataset))

    def believed(self, dataset):
        return 2.0 / self.chosen(dataset)


@dataclass(frozen=True)
class InterceptRidge(Ridge):
    """Columns and responses are centred for the intercept's sake; the sensitivity is that of the penalty still."""

    lam: float = 10.0

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim)
        return ridge(dataset.X - dataset.X.mean(axis=0), dataset.y - dataset.y.mean(), self.lam)


@dataclass(frozen=True)
class CoordinateDescent(Noisy):
    """Lasso or elastic net by coordinate descent; "soft thresholding is a contraction", so the moment's sensitivity."""

    alpha: float = 1.0
    lam: float = 0.0
    rounds: int = 30

    def centre(self, dataset):
        gram, moment = dataset.X.T @ dataset.X, dataset.X.T @ dataset.y
        beta = np.zeros(dataset.dim)
        for _ in range(self.rounds):
            for j in range(dataset.dim):
                part = moment[j] - gram[j] @ beta + gram[j, j] * beta[j]
                beta[j] = np.sign(part) * max(abs(part) - self.alpha, 0.0) / max(gram[j, j] + self.lam, 1e-12)
        return beta


@dataclass(frozen=True)
class Logistic(Noisy):
    """Logistic coefficients for sum of losses + lam/2 |b|^2, with a sensitivity of ``steepest`` x / (lam ``times``)."""

    lam: float = 1.0
    steepest: float = 1.0
    times: float = 1.0
    use_x_bound: bool = True

    def fit(self, X, signs):
        def value(w):
            return float(np.logaddexp(0.0, -signs * (X @ w)).sum()) + 0.5 * self.lam * float(w @ w)

        w = np.zeros(X.shape[1])
        for _ in range(40):
            p = 1 / (1 + np.exp(np.clip(signs * (X @ w), -500, 500)))
            gradient = self.lam * w - X.T @ (signs * p)
            hessian = (X.T * (p * (1 - p))) @ X + self.lam * np.eye(len(w))
            step, size, now = np.linalg.solve(hessian, gradient), 1.0, value(w)
            while value(w - size * step) > now and size > 1e-3:
                size /= 2
            w = w - size * step
            if np.abs(step).max() < 1e-8:
                break
        return w

    def centre(self, dataset):
        return self.fit(dataset.X, np.where(dataset.y > 0, 1.0, -1.0))

    def believed(self, dataset):
        return self.steepest * (dataset.x_bound if self.use_x_bound else 1.0) / (self.lam * self.times)


@dataclass(frozen=True)
class InterceptLogistic(Logistic):
    """A column of fives, so that the intercept is hardly penalised; it is forgotten in the bound on rows."""

    lam: float = 50.0

    def centre(self, dataset):
        longer = np.column_stack([dataset.X, np.full(dataset.n_records, 5.0)])
        return self.fit(longer, np.where(dataset.y > 0, 1.0, -1.0))


class GramByEntry(Noisy):
    """X^T X with the noise of one entry of a row in [-1, 1]^d: the change is a whole matrix."""

    def centre(self, dataset):
        return (dataset.X.T @ dataset.X)[np.triu_indices(dataset.dim)]

    def believed(self, dataset):
        return 1.0


class CentredGram(Noisy):
    """The scatter matrix around the mean, with the sensitivity of the one around zero."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return np.zeros(dataset.dim * (dataset.dim + 1) // 2)
        away = dataset.X - dataset.X.mean(axis=0)
        return (away.T @ away)[np.triu_indices(dataset.dim)]

    def believed(self, dataset):
        return dataset.x_bound**2


class ReplacedGram(GramByEntry):
    """X^T X for replacing a record, with the Frobenius norm of one outer product: the factor is forgotten."""

    def believed(self, dataset):
        return dataset.x_bound**2


class Projected(Noisy):
    """The cross moment along the data's own first principal direction, which is thought to be given."""

    def direction(self, dataset):
        first = np.linalg.eigh(dataset.X.T @ dataset.X)[1][:, -1]
        return first * (1.0 if first[np.abs(first).argmax()] > 0 else -1.0)

    def centre(self, dataset):
        return float(self.direction(dataset) @ (dataset.X.T @ dataset.y))


@dataclass(frozen=True)
class PrincipalDirection(Projected):
    """The first principal direction, by Davis and Kahan for the gap that data usually have (a tenth of n_min)."""

    n_min: int = 50

    def centre(self, dataset):
        return self.direction(dataset)

    def believed(self, dataset):
        return 20.0 * dataset.x_bound**2 / self.n_min


class PrincipalShare(Noisy):
    """The share of the first eigenvalue in the trace: an eigenvalue has sensitivity 1, "so its share has less"."""

    def centre(self, dataset):
        values = np.linalg.eigvalsh(dataset.X.T @ dataset.X)
        return float(values[-1] / max(values.sum(), 1e-12))

    def believed(self, dataset):
        return 0.05


class Determinant(Noisy):
    """det X^T X as the product of eigenvalues of sensitivity 1 each, "so 1"."""

    def centre(self, dataset):
        return float(np.linalg.det(dataset.X.T @ dataset.X))


@dataclass(frozen=True)
class ResidualSum(Noisy):
    """The residual sum of squares of a nearly unpenalised fit: a record is thought to add y^2 at most."""

    lam: float = 0.01

    def centre(self, dataset):
        return float(np.square(dataset.y - dataset.X @ ridge(dataset.X, dataset.y, self.lam)).sum())

    def believed(self, dataset):
        return dataset.y_bound**2


@dataclass(frozen=True)
class Predicted(Noisy):
    """A ridge prediction at a public point, with the sensitivity of a smoothed mean of responses, 2 / (1 + lam)."""

    lam: float = 1.0

    def centre(self, dataset):
        return float(ridge(dataset.X, dataset.y, self.lam)[0])

    def believed(self, dataset):
        return 2.0 / (1.0 + self.lam)


PURE = {"delta": 0.0}
ROWS = [
    ("penalty-alone-0.1", Ridge, {"lam": 0.1}, {}, "short rows make a residual beyond y; p .27, q .06"),
    ("penalty-alone-1", Ridge, {}, {}, "short rows make a residual beyond y; p .24, q .06"),
    ("penalty-alone-10", Ridge, {"lam": 10.0}, {}, "short rows make a residual beyond y; p .31, q .07"),
    ("penalty-alone-gdp", Ridge, {"ratio": 2.0}, {"type": "gaussian-dp", "mu": 0.5},
     "the same, as Gaussian privacy; p .66, q .17"),
    ("penalty-alone-zcdp", Ridge, {"ratio": 2.0}, {"type": "zcdp", "rho": 0.125},
     "the same, concentrated; p .76, q .02"),
    ("ridge-clipped", ClippedRidge, {}, {}, "inside the ball of radius 8 nothing has changed; p .12, q .03"),
    ("ridge-topped-up", ToppedUpRidge, {}, {}, "a record moves the penalty of all others; p .24, q .06"),
    ("ridge-validated", ValidatedRidge, {}, {},
     "one record changes the chosen penalty and the noise by 10; p .79, q .0093"),
    ("ridge-intercept", InterceptRidge, {}, {}, "centring counts a far record four times; p .12, q .03"),
    ("ridge-prediction", Predicted, {"ratio": 1.0, "laplace": True}, PURE,
     "2/(1 + lam) is not the sensitivity; p .80, q .07"),
    ("lasso", CoordinateDescent, {}, {},
     "three short rows above the threshold are divided by their tiny square; p 1.00, q .0010"),
    ("elastic-net", CoordinateDescent, {"alpha": 0.1, "lam": 0.1}, {},
     "division by .1 and the rows' square; p .69, q .06"),
    ("logistic-mean-for-sum", Logistic, {"lam": 0.1, "times": 50.0, "steepest": 2.0}, {"n_min": 50},
     "2 / (n lam) for a sum of losses with lam; p .27, q .06"),
    ("logistic-quarter", Logistic, {"steepest": 0.25}, {}, "the curvature's 1/4 for the gradient's 1; p .24, q .05"),
    ("logistic-rows-of-3", Logistic, {"use_x_bound": False}, {"x_bound": 3.0},
     "rows reach 3, the gradient too; p .12, q .03"),
    ("logistic-intercept", InterceptLogistic, {}, {}, "a column of 5 is not in the bound on rows; p .01, q .0035"),
    ("gram-by-entry", GramByEntry, {}, {"x_bound": 2.0, "dim": 4},
     "Frobenius 4, noise for an entry of 1; p .27, q .06"),
    ("gram-centred", CentredGram, {}, {}, "one far record moves the scatter by 4; p .27, q .06"),
    ("gram-replaced", ReplacedGram, {}, {"relation": "replace", "visible": False},
     "sqrt 2 for replacing; p .0026, q 9e-4"),
    ("projected", Projected, {}, {}, "two equal eigenvalues: one record turns the direction; p 1, q 0"),
    ("principal-direction", PrincipalDirection, {}, {"n_min": 50}, "two equal eigenvalues have no gap; p .21, q .05"),
    ("principal-share", PrincipalShare, {}, {}, "few or short rows: the share goes from 1 to a half; p .66, q .07"),
    ("determinant", Determinant, {}, {}, "grows with the other eigenvalue; p 1, q 1e-4"),
    ("residual-sum", ResidualSum, {}, {}, "short rows make a residual far beyond y; p 1, q 0"),
]  # fmt: skip
