"""Classes 10 and 11: formulas whose sensitivity was assumed: regression, matrices, order statistics, means, trees."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from oracles.bank_laws import Statistic


@dataclass(frozen=True)
class Noisy(Statistic):
    """A statistic of this file; ``at`` is a penalty, a level or a share."""

    at: float = 1.0

    def tables(self):
        return RESPONSES, STATISTICS, BELIEVED


# --- regression and matrices ------------------------------------------------------------------------------------------


def ridge(X, y, lam):
    return np.linalg.solve(X.T @ X + lam * np.eye(X.shape[1]), X.T @ y)


def clipped_ridge(data, lam, radius=8.0):
    """Coefficients are clipped to a ball, which is thought to have repaired the residual."""
    found = ridge(data.X, data.y, lam)
    return found * min(1.0, radius / max(float(np.linalg.norm(found)), 1e-12))


def topped_up_ridge(data, lam):
    """The penalty tops up the data's own smallest eigenvalue to lambda, and the noise is that of lambda."""
    least = float(np.linalg.eigvalsh(data.X.T @ data.X)[0])
    return ridge(data.X, data.y, max(lam - least, 1e-6 * lam))


def chosen(data):
    """The best of three penalties by generalised cross-validation; noise as if it had been chosen before."""
    X, y, penalties = data.X, data.y, (0.1, 1.0, 10.0)
    gram, moment, n = X.T @ X, X.T @ y, max(data.n_records, 1)
    scores = []
    for lam in penalties:
        inverse = np.linalg.inv(gram + lam * np.eye(data.dim))
        beta = inverse @ moment
        error = float(y @ y) - 2 * float(beta @ moment) + float(beta @ gram @ beta)
        scores.append(error / (n - np.trace(inverse @ gram)) ** 2)
    return penalties[int(np.argmin(scores))]


def intercept_ridge(data, lam):
    """Columns and responses are centred for the intercept's sake; the sensitivity is that of the penalty still."""
    if data.n_records == 0:
        return np.zeros(data.dim)
    return ridge(data.X - data.X.mean(axis=0), data.y - data.y.mean(), lam)


def coordinate_descent(data, alpha, lam):
    """Lasso or elastic net; "soft thresholding is a contraction", so the moment's sensitivity."""
    gram, moment = data.X.T @ data.X, data.X.T @ data.y
    beta = np.zeros(data.dim)
    for _ in range(30):
        for j in range(data.dim):
            part = moment[j] - gram[j] @ beta + gram[j, j] * beta[j]
            beta[j] = np.sign(part) * max(abs(part) - alpha, 0.0) / max(gram[j, j] + lam, 1e-12)
    return beta


def logistic(X, y, lam):
    """Coefficients for the sum of losses + lam/2 |b|^2."""
    signs = np.where(y > 0, 1.0, -1.0)

    def value(w):
        return float(np.logaddexp(0.0, -signs * (X @ w)).sum()) + 0.5 * lam * float(w @ w)

    w = np.zeros(X.shape[1])
    for _ in range(40):
        p = 1 / (1 + np.exp(np.clip(signs * (X @ w), -500, 500)))
        gradient = lam * w - X.T @ (signs * p)
        hessian = (X.T * (p * (1 - p))) @ X + lam * np.eye(len(w))
        step, size, now = np.linalg.solve(hessian, gradient), 1.0, value(w)
        while value(w - size * step) > now and size > 1e-3:
            size /= 2
        w = w - size * step
        if np.abs(step).max() < 1e-8:
            break
    return w


def logistic_intercept(data, lam):
    """A column of fives, so that the intercept is hardly penalised; it is forgotten in the bound on rows."""
    return logistic(np.column_stack([data.X, np.full(data.n_records, 5.0)]), data.y, lam)


def scatter(data, lam):
    """The scatter matrix around the mean, with the sensitivity of the one around zero."""
    if data.n_records == 0:
        return np.zeros(data.dim * (data.dim + 1) // 2)
    away = data.X - data.X.mean(axis=0)
    return (away.T @ away)[np.triu_indices(data.dim)]


def direction(data, at=0.0):
    """The first principal direction, by Davis and Kahan for the gap that data usually have (a tenth of n_min)."""
    first = np.linalg.eigh(data.X.T @ data.X)[1][:, -1]
    return first * (1.0 if first[np.abs(first).argmax()] > 0 else -1.0)


def principal_share(data, at):
    """The share of the first eigenvalue in the trace: an eigenvalue has sensitivity 1, "so its share has less"."""
    values = np.linalg.eigvalsh(data.X.T @ data.X)
    return float(values[-1] / max(values.sum(), 1e-12))


# --- order statistics, means, moments and trees -----------------------------------------------------------------------


def trimmed(y, cut):
    """The mean of the middle records, divided by their number, with a sensitivity divided by that of all."""
    k = int(cut * len(y))
    return np.sort(y)[k : len(y) - k].mean()


def skewness(y, at):
    """The mean cube of standardised responses, with the sensitivity of a mean of cubes."""
    deviation = y.std()
    return (((y - y.mean()) / deviation) ** 3).mean() if deviation > 1e-9 else 0.0


def mode(y, at):
    """The middle of the fullest of twenty bins: "a record fills a bin by 1 / n"."""
    counts, edges = np.histogram(y, bins=20, range=(-1.0, 1.0))
    return edges[counts.argmax()] + 0.05


def correlation(data, at):
    """Of the first column and the response, with 4 / n."""
    if data.n_records < 2:
        return 0.0
    x, y = data.X[:, 0] - data.X[:, 0].mean(), data.y - data.y.mean()
    return float(x @ y / np.sqrt(max(float(x @ x) * float(y @ y), 1e-18)))


def best_cut(x, y):
    """Of nine thresholds the one with least squared error, "which one record hardly moves"."""
    cuts, errors = np.linspace(-0.8, 0.8, 9), []
    for cut in cuts:
        parts = y[x < cut], y[x >= cut]
        errors.append(sum(float(np.square(part - part.mean()).sum()) for part in parts if len(part)))
    return float(cuts[int(np.argmin(errors))])


def leaves(data, at, cut):
    """Mean responses of the leaves of a stump, with the sensitivity of the mean of a smallest leaf, of ten records."""
    if data.n_records == 0:
        return np.zeros(2)
    left = data.X[:, 0] < cut(data.X[:, 0], data.y)
    return np.array([part.sum() / max(len(part), 10) for part in (data.y[left], data.y[~left])])


def large_leaves(data, at):
    """The same with a split at zero, where small leaves are left out."""
    left = data.X[:, 0] < 0.0
    return np.array([part.mean() if len(part) >= 10 else 0.0 for part in (data.y[left], data.y[~left])])


def top_column(data, at):
    """The response's moment with the column that is most correlated, chosen without noise; the others are left 0."""
    moment = data.X.T @ data.y
    return np.where(np.arange(data.dim) == np.abs(moment).argmax(), moment, 0.0)


#: Statistics of the responses, with the sensitivity of a mean.
RESPONSES = {
    "quantile": lambda y, level: np.quantile(y, level),
    "distance of quartiles": lambda y, _: np.subtract(*np.quantile(y, [0.75, 0.25])),
    # "one record is in one block": 2 / n where 10 / n is right
    "median of blocks": lambda y, _: np.median([part.mean() if len(part) else 0.0 for part in np.array_split(y, 5)]),
    "trimmed mean": trimmed,
    "winsorised mean": lambda y, cut: np.clip(y, *np.quantile(y, [cut, 1 - cut])).mean(),
    "median of mirrored means": lambda y, _: np.median((np.sort(y) + np.sort(y)[::-1]) / 2),
    "variance": lambda y, _: y.var(),  # in [-1, 1] with 1 / n, as if the mean were fixed at 0
    "deviation": lambda y, _: y.std(),  # the root is steep at zero
    "geometric mean": lambda y, _: np.exp(np.log(np.maximum(np.abs(y), 1e-12)).mean()),  # of sizes
    "harmonic mean": lambda y, _: 1 / (1 / (y + 1.01)).mean(),  # of responses mapped to [.01, 2.01]
    "skewness": skewness,
    "mode": mode,
    "share above mean": lambda y, _: (y > y.mean()).mean(),  # as if the mean stood still
}
STATISTICS = {
    # one record is thought to move them by x_bound y_bound / lambda, as if its residual were y
    "ridge": lambda data, lam: ridge(data.X, data.y, lam),
    "clipped ridge": clipped_ridge,
    "topped up ridge": topped_up_ridge,
    "validated ridge": lambda data, _: ridge(data.X, data.y, chosen(data)),
    "ridge with intercept": intercept_ridge,
    # a prediction at a public point, with the sensitivity of a smoothed mean of responses
    "ridge prediction": lambda data, lam: float(ridge(data.X, data.y, lam)[0]),
    # of a nearly unpenalised fit: a record is thought to add y^2 at most
    "residual sum": lambda data, lam: float(np.square(data.y - data.X @ ridge(data.X, data.y, lam)).sum()),
    "lasso": lambda data, alpha: coordinate_descent(data, alpha, 0.0),
    "elastic net": lambda data, alpha: coordinate_descent(data, alpha, alpha),
    "logistic": lambda data, lam: logistic(data.X, data.y, lam),
    "logistic with intercept": logistic_intercept,
    "gram": lambda data, _: (data.X.T @ data.X)[np.triu_indices(data.dim)],
    "scatter": scatter,
    # the cross moment along the data's own first principal direction, which is thought to be given
    "projected moment": lambda data, _: float(direction(data) @ (data.X.T @ data.y)),
    "principal direction": direction,
    "principal share": principal_share,
    # the product of eigenvalues of sensitivity 1 each, "so 1"
    "determinant": lambda data, _: float(np.linalg.det(data.X.T @ data.X)),
    "correlation": correlation,
    "leaves at best split": partial(leaves, cut=best_cut),
    "leaves at median": partial(leaves, cut=lambda x, y: float(np.median(x))),
    "large leaves": large_leaves,
    "best split": lambda data, _: best_cut(data.X[:, 0], data.y),
    "top column": top_column,
    # of two sums of sensitivity 1 each, "so 2 / n_min", as if every row had length 1
    "ratio of sums": lambda data, _: float(data.y @ data.X[:, 0] / max(float(np.abs(data.X[:, 0]).sum()), 1e-6)),
}
BELIEVED = {
    "1 / n": lambda data: 1.0 / max(data.n_records, 1),
    "2 / n": lambda data: 2.0 / max(data.n_records, 1),
    "4 / n": lambda data: 4.0 / max(data.n_records, 1),
    "2 / chosen penalty": lambda data: 2.0 / chosen(data),
}
