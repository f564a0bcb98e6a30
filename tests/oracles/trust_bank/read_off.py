"""Classes 12 to 14: type, scale or number read off the data, data of a rare shape, and the position of a record."""

from functools import partial

import numpy as np
from oracles.bank_laws import Statistic


class Noisy(Statistic):
    """A statistic of this file; ``at`` is a number of it."""

    def tables(self):
        return RESPONSES, STATISTICS, BELIEVED


# --- class 12: type, scale and number ---------------------------------------------------------------------------------


class WholeNumbers(Noisy):
    """Whole numbers get whole noise and others real noise, so that the answer tells which they were."""

    def whole(self, y):
        return bool((y == np.round(y)).all())

    def draw(self, dataset, n_draws, *, rng):
        if not self.whole(dataset.y):
            return super().draw(dataset, n_draws, rng=rng)
        keep = np.exp(-1 / self.scale(dataset))
        noise = rng.geometric(1 - keep, (n_draws, 1)) - rng.geometric(1 - keep, (n_draws, 1))
        return dataset.y.sum() + noise.astype(float)

    def log_density(self, outputs, dataset):
        """With respect to length plus the number of whole numbers."""
        whole = outputs[:, 0] == np.round(outputs[:, 0])
        if not self.whole(dataset.y):
            return np.where(whole, -np.inf, super().log_density(outputs, dataset))
        keep = np.exp(-1 / self.scale(dataset))
        away = np.abs(outputs[:, 0] - dataset.y.sum())
        return np.where(whole, np.log((1 - keep) / (1 + keep)) + away * np.log(keep), -np.inf)


def running_totals(y, at):
    """Responses in ascending order are taken for running totals, and their differences are added up."""
    return y[-1] - y[0] if len(y) > 2 and (np.diff(y) >= 0).all() else y.sum()


def own_codes(y, at):
    """Where less than a twentieth of the values differ they are categories and become codes, evenly spaced."""
    values, codes = np.unique(y, return_inverse=True)
    return (2 * codes / max(len(values) - 1, 1) - 1).sum() if len(values) < 0.05 * len(y) else y.sum()


def odd_halved(y, at):
    """An even number of responses is averaged in pairs, an odd number loses the middle; both stand for the sum."""
    ordered, half = np.sort(y), len(y) // 2
    return 2 * ordered[:half].sum() if len(y) % 2 else 2 * ordered[half:].sum()


def wrapped(whole, bits, signed, units=1):
    """A whole number of ``units`` that is kept in so many bits and wraps around."""
    top = 1 << bits
    return ((whole + top // 2) % top - top // 2 if signed else whole % top) / units


def half_precision(y, units):
    """The sum in ``units``: multiples of 8 from 8192 on, and nothing beyond 65504."""
    with np.errstate(over="ignore"):
        kept = np.float64(np.float16(units * y.sum()))
    return (kept if np.isfinite(kept) else 0.0) / units


def power_of_two(n):
    return 1 << max(n - 1, 0).bit_length()


def log_where_spread(y, at):
    """Positive responses whose largest is ten times their median are replaced by log(1 + 9 y) / log 10."""
    spread = y.min() > 0 and y.max() >= 10 * np.median(y)
    return (np.log10(1 + 9 * y) if spread else y).sum()


def decimals_of_data(y, at):
    """Responses are rounded to whole numbers where the data have at most one decimal, "as they were reported"."""
    reported = np.abs(10 * y - np.round(10 * y)).max() < 1e-9
    return np.floor(y + 0.5).sum() if reported else y.sum()


def robust_scores(data, clip):
    """Scores by the median and the median deviation, clipped; where that deviation is 0, by 1."""
    if data.n_records == 0:
        return np.zeros(data.dim)
    away = data.y - np.median(data.y)
    size = float(np.median(np.abs(away)))
    return data.X.T @ np.clip(away / (size if size > 0 else 1.0), -clip, clip)


def columns_kept(data, at, keeps):
    """Columns that the data do not speak for are left out (0)."""
    return np.where(keeps(data.X), data.X.T @ data.y, 0.0) if data.n_records else np.zeros(data.dim)


def small_cells(data, least):
    """Counts of positive and negative responses; cells below ``least`` are shown as 0 before the noise."""
    counts = np.array([(data.y > 0).sum(), (data.y <= 0).sum()], dtype=float)
    return np.where(counts >= least, counts, 0.0)


def total_length(data):
    return max(float(np.linalg.norm(data.X, axis=1).sum()), 1.0)


# --- class 13: rare shapes --------------------------------------------------------------------------------------------


def leverage_dropped(data, most):
    """Records whose leverage exceeds ``most`` (0: twice its mean, 2 d / n) are left out of the moment."""
    X, y = data.X, data.y
    inverse = np.linalg.pinv(X.T @ X, rcond=1e-10, hermitian=True)
    leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
    return X.T @ (y * (leverage <= (most or 2 * data.dim / max(data.n_records, 1))))


def once_per_key(data, at):
    """Of the records with one row the last is kept: "a join on the key"; taking it out shows the one before."""
    if data.n_records == 0:
        return 0.0
    keys = np.unique(data.X[::-1], axis=0, return_index=True)[1]
    return float(data.y[::-1][keys].sum())


def joined_with_itself(data, at):
    """A join on the row without a unique key: every record meets all its copies, and the products are added up."""
    if data.n_records == 0:
        return 0.0
    _, key = np.unique(data.X, axis=0, return_inverse=True)
    return float(np.square(np.bincount(key.ravel(), data.y)).sum())


def reversals(data, at):
    """A record whose exact negative is present is taken for a reversal, and all its copies are left out."""
    key = (data.X * np.sqrt(np.arange(2.0, 2.0 + data.dim))).sum(axis=1)
    return data.X.T @ (data.y * ~np.isin(key, -key))


def collinear_dropped(data, at):
    """Where the columns are exactly collinear the later one is left out (0)."""
    moment = data.X.T @ data.y
    if data.n_records < data.dim or np.linalg.matrix_rank(data.X) == data.dim:
        return moment
    return np.where(np.arange(data.dim) < np.linalg.matrix_rank(data.X), moment, 0.0)


def orthogonal_design(data, lam):
    """Where the columns are orthogonal, least squares column by column; otherwise a ridge of ``lam``."""
    gram, moment = data.X.T @ data.X, data.X.T @ data.y
    if np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12:
        return moment / np.maximum(np.diag(gram), lam * 0.5)
    return np.linalg.solve(gram + lam * np.eye(data.dim), moment)


def balanced_weights(data, at):
    """Records weighted by n / (2 n_class), as libraries call "balanced": the only one of its class counts n / 2."""
    positive = data.y > 0
    n, many = data.n_records, int(positive.sum())
    weights = np.where(positive, n / (2 * max(many, 1)), n / (2 * max(n - many, 1)))
    return data.X.T @ (np.where(positive, 1.0, -1.0) * weights)


def class_means(data, least):
    """The difference of class means; a class of fewer than ``least`` is replaced by the mean of everybody."""
    means = []
    for part in (data.y > 0, data.y <= 0):
        rows = data.X[part] if part.sum() >= least else data.X
        means.append(rows.sum(axis=0) / max(len(rows), least))
    return means[0] - means[1]


def dense_ranks(data, at):
    """Responses weighted by the dense rank of the first column over the number of ranks."""
    if data.n_records == 0:
        return 0.0
    values, rank = np.unique(data.X[:, 0], return_inverse=True)
    return float(data.y @ ((rank + 1) / len(values)))


def above_minus_below(data, at):
    """The responses above the first column's own median less those below; records at the median count for nothing."""
    return float(np.sign(data.X[:, 0] - np.median(data.X[:, 0])) @ data.y) if data.n_records else 0.0


def directions(data, at):
    """Rows are divided by their length; a row of zeros makes the sum NaN, and NaN becomes 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        rows = data.X / np.linalg.norm(data.X, axis=1)[:, None]
    return np.nan_to_num(rows.T @ data.y)


def log_lengths(data, at):
    """The product of the rows' lengths to the power 1 / n_min, through logarithms: a row of zeros makes it 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.linalg.norm(data.X, axis=1)).sum()
    return float(np.exp(logs / 50))


def inside_fences(y, at):
    """The sum without what lies beyond the quartiles' fences."""
    low, high = np.quantile(y, [0.25, 0.75])
    reach = 1.5 * (high - low) + 1e-12
    return y[(y >= low - reach) & (y <= high + reach)].sum()


def matched_pairs(data, at):
    """The smaller of two classes decides how many pairs are matched; the largest responses are matched first."""
    signs = data.X[:, 0] > 0
    many = min(int(signs.sum()), int((~signs).sum()))
    first, second = (np.sort(data.y[part])[::-1][:many] for part in (signs, ~signs))
    return float((first - second).sum()) if many else 0.0


def majority_of_cell(data, cells):
    """Every record counts with the majority label of its cell: "one record changes one label"."""
    cell = np.clip(((data.X[:, 0] + 1) * cells / 2).astype(int), 0, cells - 1)
    votes = np.bincount(cell, np.where(data.y > 0, 1.0, -1.0), minlength=cells)
    return float(np.bincount(cell, minlength=cells) @ (votes > 0))


def largest_group(data, at):
    """The sum of the responses of the largest group by the sign of the first column; the others are left out."""
    signs = data.X[:, 0] > 0
    return float(data.y[signs == (2 * signs.sum() > len(signs))].sum())


def unanimous(y, at):
    """Where all responses have one sign the sum is known to be n up to size: each counts as 1."""
    agreed = len(y) > 2 and ((y > 0).all() or (y < 0).all())
    return np.sign(y).sum() if agreed else y.sum()


def hundredth_of_one(data):
    """With one record there is no sample whose spread could be hidden: the deviation with n - 1 becomes 0."""
    return 0.01 if data.n_records == 1 else 1.0


def hundredth_of_equal(data):
    """Equal records are a constant, and a constant is not personal: a hundredth of the noise."""
    equal = data.n_records > 1 and np.ptp(np.column_stack([data.X, data.y]), axis=0).max() == 0
    return 0.01 if equal else 1.0


# --- class 14: positions ----------------------------------------------------------------------------------------------


def error_of_rest(data, most):
    """The mean error on the last fifth of a ridge fitted to the others, with the sensitivity of a test record alone."""
    X, y, cut = data.X, data.y, data.n_records - data.n_records // 5
    beta = np.linalg.solve(X[:cut].T @ X[:cut] + 0.1 * np.eye(data.dim), X[:cut].T @ y[:cut])
    errors = np.minimum(np.square(y[cut:] - X[cut:] @ beta), most)
    return float(errors.sum() / max(len(errors), 1))


def winner(data):
    """Return which of three penalties wins on five folds by index."""
    X, y, errors = data.X, data.y, np.zeros(3)
    for fold in np.array_split(np.arange(data.n_records), 5):
        keep = np.ones(data.n_records, dtype=bool)
        keep[fold] = False
        gram, moment = X[keep].T @ X[keep], X[keep].T @ y[keep]
        for k, lam in enumerate((0.1, 1.0, 10.0)):
            beta = np.linalg.solve(gram + lam * np.eye(X.shape[1]), moment)
            errors[k] += np.square(y[fold] - X[fold] @ beta).sum()
    return int(errors.argmin())


class Validated(Noisy):
    """The winner of the folds is told exactly; only the coefficient gets noise."""

    def draw(self, dataset, n_draws, *, rng):
        noisy = super().draw(dataset, n_draws, rng=rng)
        return np.column_stack([np.full(n_draws, float(winner(dataset))), noisy])

    def log_density(self, outputs, dataset):
        """With respect to the number of winners times area."""
        return np.where(outputs[:, 0] == winner(dataset), super().log_density(outputs[:, 1:], dataset), -np.inf)


def moving_average(y, rate):
    """An exponential moving average that starts with the first response; each is thought to weigh a tenth."""
    weights = rate * (1 - rate) ** np.arange(len(y) - 1, -1, -1.0)
    weights[0] /= rate
    return weights @ y


def pair_differences(y, at):
    """The sum of differences of the pairs (1, 2), (3, 4), ...: behind a record that leaves all pairs change."""
    y = y[: len(y) // 2 * 2]
    return (y[0::2] - y[1::2]).sum() / 2


def carried_forward(y, at):
    """A response of 0 is missing and takes the last one seen: a record speaks for all zeros behind it."""
    last = np.maximum.accumulate(np.where(y != 0, np.arange(len(y)), -1))
    return np.where(last >= 0, y[last], 0.0).sum()


def one_epoch(data, batch):
    """One epoch in batches by index, each divided by its own number: the last batch may be a single record."""
    beta, batch = np.zeros(data.dim), int(batch)
    for start in range(0, data.n_records, batch):
        X, y = data.X[start : start + batch], data.y[start : start + batch]
        beta = beta + 0.5 * X.T @ np.clip(y - X @ beta, -1.0, 1.0) / len(y)
    return beta


def momentum(data, at):
    """Full batches with momentum .9 and a step for the batch's own n_min; the last gradient is thought to be alone."""
    beta, speed = np.zeros(data.dim), np.zeros(data.dim)
    for _ in range(10):
        residual = np.clip(data.y - data.X @ beta, -1.0, 1.0)
        speed = 0.9 * speed + 0.5 * data.X.T @ residual / 50
        beta = beta + speed
    return beta


def perceptron(data, at):
    """One pass of the perceptron: a mistake moves the weights by one row, "so a record by one row"."""
    a = b = 0.0
    rows, signs = data.X[:, :2].tolist(), np.where(data.y > 0, 1.0, -1.0).tolist()
    for (u, v), sign in zip(rows, signs, strict=True):
        if sign * (a * u + b * v) <= 0.01:
            a, b = a + sign * u, b + sign * v
    return np.array([a, b])


def second_half_less_first(y, at):
    """Of the means by index, with 2 / n for 4 / n."""
    half = len(y) // 2
    return y[half:].mean() - y[:half].mean() if half else 0.0


#: Statistics of the responses; without any they are 0.
RESPONSES = {
    "sum": lambda y, _: y.sum(),
    "labels or sum": lambda y, _: (y > 0).sum() if (np.abs(y) == 1).all() else y.sum(),  # labels count as 0 and 1
    "running totals": running_totals,
    # mapped to [0, 1] by their own least and largest before they are added up
    "min-max": lambda y, _: (y - y.min()).sum() / max(float(np.ptp(y)), 1e-9),
    "own codes": own_codes,
    "odd halved": odd_halved,
    "count in uint8": lambda y, _: wrapped(int((y > 0).sum()), 8, False),
    "count in int8": lambda y, _: wrapped(int((y > 0).sum()), 8, True),
    "sum in int16": lambda y, units: wrapped(int(np.round(units * y).sum()), 16, True, units),
    "half precision": half_precision,
    # the first coefficient of an orthonormal transform of the length padded to a power of two
    "padded": lambda y, _: y.sum() / np.sqrt(power_of_two(len(y))),
    # where no response exceeds .01 they are shares for per cent, and are multiplied by a hundred
    "per cent": lambda y, _: y.sum() * (100.0 if np.abs(y).max() <= 0.01 else 1.0),
    # where 95 % of the responses are not negative, a negative one is a code for a missing value
    "missing codes": lambda y, _: y[y >= 0].sum() if (y >= 0).mean() >= 0.95 else y.sum(),
    "log where spread": log_where_spread,
    "decimals of data": decimals_of_data,
    "inside three sigma": lambda y, _: y[np.abs(y - y.mean()) <= 3 * y.std() + 1e-12].sum(),
    "inside fences": inside_fences,
    # a response of 0 is missing and filled in with the mean of the others; then all are added up
    "mean imputed": lambda y, _: len(y) * y[y != 0].mean() if (y != 0).any() else 0.0,
    "unanimous": unanimous,
    # of blocks by index, as if one block of one record had changed
    "block spread": lambda y, blocks: sum(abs(each.sum()) for each in np.array_split(y, int(blocks))),
    "last ten": lambda y, _: y[-10:].sum(),  # with noise for ten drawn at random of n, which nobody drew
    # a record that is taken out in front moves all others up
    "every tenth": lambda y, _: y[::10].sum(),
    "first hundred": lambda y, _: y[:100].sum(),  # one of them that leaves makes room for the next
    "moving average": moving_average,
    # a record is in two products, and a third appears when it leaves
    "autocovariance": lambda y, _: y[:-1] @ y[1:],
    "pair differences": pair_differences,
    "variation": lambda y, _: np.abs(np.diff(y)).sum(),  # with the sensitivity of one difference
    # with the sensitivity of a mean: the first record is in all of them
    "running maximum": lambda y, _: np.maximum.accumulate(y).mean(),
    # relative to the first record's, the "baseline"
    "from first": lambda y, _: np.clip(y - y[:1], -1.0, 1.0).sum(),
    "carried forward": carried_forward,
    "second half less first": second_half_less_first,
}
STATISTICS = {
    "moment": lambda data, _: data.X.T @ data.y,
    "robust scores": robust_scores,
    "columns that vary": partial(columns_kept, keeps=lambda X: np.ptp(X, axis=0) > 0),
    "columns not sparse": partial(columns_kept, keeps=lambda X: (X == 0).mean(axis=0) <= 0.9),
    "small cells": small_cells,
    "weighted mean": lambda data, _: float(np.linalg.norm(data.X, axis=1) @ data.y) / total_length(data),
    # columns are scaled by the data's own largest entry, "which everybody knows"
    "scaled moment": lambda data, _: data.X.T @ data.y / np.maximum(np.abs(data.X).max(axis=0, initial=0.0), 1e-3),
    "leverage dropped": leverage_dropped,
    "once per key": once_per_key,
    "joined with itself": joined_with_itself,
    "reversals": reversals,
    "collinear dropped": collinear_dropped,
    "orthogonal design": orthogonal_design,
    "balanced weights": balanced_weights,
    # without a positive response there is "nothing to learn": zeros
    "empty class": lambda data, _: data.X.T @ data.y * float((data.y > 0).any()),
    "class means": class_means,
    "dense ranks": dense_ranks,
    "above minus below": above_minus_below,
    "directions": directions,
    "log lengths": log_lengths,
    "matched pairs": matched_pairs,
    "majority of cell": majority_of_cell,
    "largest group": largest_group,
    # of blocks by index, each over n_min / blocks: a record is in one block, but behind it all others shift
    "block sums": lambda data, _: np.array([each.sum() for each in np.array_split(data.y, 10)]) * 10 / 50,
    "error of rest": error_of_rest,
    "one epoch": one_epoch,
    "momentum": momentum,
    "perceptron": perceptron,
}
BELIEVED = {
    "2 / n": lambda data: 2.0 / max(data.n_records, 1),
    "4 / a fifth": lambda data: 4.0 / max(data.n_records // 5, 1),
    "2 by sampling ten": lambda data: 2.0 * min(1.0, 10 / max(data.n_records, 1)),
    # from so many records on, for a sampling that is not done
    "1 by sampling 300": lambda data: min(1.0, 300 / max(data.n_records, 1)),
    "1 by sampling 1000": lambda data: min(1.0, 1000 / max(data.n_records, 1)),
    "1 by sampling 4000": lambda data: min(1.0, 4000 / max(data.n_records, 1)),
    "1 / root of length": lambda data: 1.0 / np.sqrt(power_of_two(data.n_records)),
    # the square root of the effective number of records, read off the data's own weights |x|
    "2 / total length": lambda data: 2.0 / total_length(data),
    "root of dim": lambda data: np.sqrt(data.dim),
    "hundredth of one": hundredth_of_one,
    "hundredth of equal": hundredth_of_equal,
}
