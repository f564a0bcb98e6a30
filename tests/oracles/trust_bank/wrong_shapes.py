"""Class 13: data of a rare shape (copies, ties, zeros, one class, one record) that are treated apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechanisms import GaussianProfile, LaplaceProfile

KLASS = 13


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
class LeverageDropped(Noisy):
    """Records whose leverage exceeds ``most`` (0: twice its mean, 2 d / n) are left out of the moment."""

    most: float = 0.9

    def centre(self, dataset):
        X, y = dataset.X, dataset.y
        inverse = np.linalg.pinv(X.T @ X, rcond=1e-10, hermitian=True)
        leverage = np.einsum("ij,jk,ik->i", X, inverse, X)
        most = self.most or 2 * dataset.dim / max(dataset.n_records, 1)
        return X.T @ (y * (leverage <= most))


class OncePerKey(Noisy):
    """Of the records with one row the ``last`` is kept: "a join on the key"; taking it out shows the one before."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return 0.0
        keys = np.unique(dataset.X[::-1], axis=0, return_index=True)[1]
        return float(dataset.y[::-1][keys].sum())


class JoinedWithItself(Noisy):
    """A join on the row without a unique key: every record meets all its copies, and the products are added up."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return 0.0
        _, key = np.unique(dataset.X, axis=0, return_inverse=True)
        return float(np.square(np.bincount(key.ravel(), dataset.y)).sum())


class Reversals(Noisy):
    """A record whose exact negative is present is taken for a reversal, and all its copies are left out."""

    def centre(self, dataset):
        key = (dataset.X * np.sqrt(np.arange(2.0, 2.0 + dataset.dim))).sum(axis=1)
        return dataset.X.T @ (dataset.y * ~np.isin(key, -key))


class CollinearDropped(Noisy):
    """Where the columns are exactly collinear the later one is left out (0)."""

    def centre(self, dataset):
        moment = dataset.X.T @ dataset.y
        if dataset.n_records < dataset.dim or np.linalg.matrix_rank(dataset.X) == dataset.dim:
            return moment
        return np.where(np.arange(dataset.dim) < np.linalg.matrix_rank(dataset.X), moment, 0.0)


@dataclass(frozen=True)
class OrthogonalDesign(Noisy):
    """Where the columns are orthogonal, least squares column by column; otherwise a ridge of ``lam``."""

    lam: float = 1.0

    def centre(self, dataset):
        gram, moment = dataset.X.T @ dataset.X, dataset.X.T @ dataset.y
        if np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12:
            return moment / np.maximum(np.diag(gram), self.lam * 0.5)
        return np.linalg.solve(gram + self.lam * np.eye(dataset.dim), moment)


class BalancedWeights(Noisy):
    """Records weighted by n / (2 n_class), as libraries call "balanced": the only one of its class counts n / 2."""

    def centre(self, dataset):
        positive = dataset.y > 0
        n, many = dataset.n_records, int(positive.sum())
        weights = np.where(positive, n / (2 * max(many, 1)), n / (2 * max(n - many, 1)))
        return dataset.X.T @ (np.where(positive, 1.0, -1.0) * weights)


class EmptyClass(Noisy):
    """Without a positive response there is "nothing to learn": zeros."""

    def centre(self, dataset):
        return dataset.X.T @ dataset.y * float((dataset.y > 0).any())


@dataclass(frozen=True)
class Differences(Noisy):
    """The difference of class means; a class of fewer than ``least`` is replaced by the mean of everybody."""

    least: int = 20

    def centre(self, dataset):
        means = []
        for part in (dataset.y > 0, dataset.y <= 0):
            rows = dataset.X[part] if part.sum() >= self.least else dataset.X
            means.append(rows.sum(axis=0) / max(len(rows), self.least))
        return means[0] - means[1]

    def believed(self, dataset):
        return 4.0 * dataset.x_bound / self.least


class SingleRecord(Noisy):
    """With one record there is no sample whose spread could be hidden: the deviation with n - 1 becomes 0."""

    def scale(self, dataset):
        n = dataset.n_records
        return super().scale(dataset) * (0.01 if n == 1 else 1.0)


class AllEqual(Noisy):
    """Equal records are a constant, and a constant is not personal: a hundredth of the noise."""

    def scale(self, dataset):
        equal = dataset.n_records > 1 and np.ptp(np.column_stack([dataset.X, dataset.y]), axis=0).max() == 0
        return super().scale(dataset) * (0.01 if equal else 1.0)


class DenseRanks(Noisy):
    """Responses weighted by the dense rank of the first column over the number of ranks."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return 0.0
        values, rank = np.unique(dataset.X[:, 0], return_inverse=True)
        return float(dataset.y @ ((rank + 1) / len(values)))


class AboveMinusBelow(Noisy):
    """The responses above the first column's own median less those below; records at the median count for nothing."""

    def centre(self, dataset):
        if dataset.n_records == 0:
            return 0.0
        return float(np.sign(dataset.X[:, 0] - np.median(dataset.X[:, 0])) @ dataset.y)


class DirectionsSummed(Noisy):
    """Rows are divided by their length; a row of zeros makes the sum NaN, and NaN becomes 0."""

    def centre(self, dataset):
        with np.errstate(invalid="ignore", divide="ignore"):
            rows = dataset.X / np.linalg.norm(dataset.X, axis=1)[:, None]
        return np.nan_to_num(rows.T @ dataset.y)


class LogLengths(Noisy):
    """The product of the rows' lengths to the power 1 / n_min, through logarithms: a row of zeros makes it 0."""

    def centre(self, dataset):
        with np.errstate(divide="ignore"):
            logs = np.log(np.linalg.norm(dataset.X, axis=1)).sum()
        return float(np.exp(logs / 50))

    def believed(self, dataset):
        return 0.1


@dataclass(frozen=True)
class OutliersOut(Noisy):
    """The sum of responses without outliers by the data's own rule: three sigma, or the quartiles' fences."""

    fences: bool = False

    def centre(self, dataset):
        y = dataset.y
        if len(y) == 0:
            return 0.0
        if not self.fences:
            return float(y[np.abs(y - y.mean()) <= 3 * y.std() + 1e-12].sum())
        low, high = np.quantile(y, [0.25, 0.75])
        reach = 1.5 * (high - low) + 1e-12
        return float(y[(y >= low - reach) & (y <= high + reach)].sum())


class MeanImputed(Noisy):
    """A response of 0 is missing and filled in with the mean of the others; then all are added up."""

    def centre(self, dataset):
        seen = dataset.y != 0
        return float(dataset.n_records * dataset.y[seen].mean()) if seen.any() else 0.0


class MatchedPairs(Noisy):
    """The smaller of two classes decides how many pairs are matched; the largest responses are matched first."""

    def centre(self, dataset):
        signs = dataset.X[:, 0] > 0
        many = min(int(signs.sum()), int((~signs).sum()))
        first, second = (np.sort(dataset.y[part])[::-1][:many] for part in (signs, ~signs))
        return float((first - second).sum()) if many else 0.0


@dataclass(frozen=True)
class MajorityOfCell(Noisy):
    """Every record counts with the majority label of its cell: "one record changes one label"."""

    cells: int = 4

    def centre(self, dataset):
        cell = np.clip(((dataset.X[:, 0] + 1) * self.cells / 2).astype(int), 0, self.cells - 1)
        votes = np.bincount(cell, np.where(dataset.y > 0, 1.0, -1.0), minlength=self.cells)
        return float(np.bincount(cell, minlength=self.cells) @ (votes > 0))


class TopGroupOnly(Noisy):
    """The sum of the responses of the largest group by the sign of the first column; the others are left out."""

    def centre(self, dataset):
        signs = dataset.X[:, 0] > 0
        return float(dataset.y[signs == (2 * signs.sum() > len(signs))].sum())


class UnanimousShown(Noisy):
    """Where all responses have one sign the sum is known to be n up to size: each counts as 1."""

    def centre(self, dataset):
        y = dataset.y
        agreed = len(y) > 2 and ((y > 0).all() or (y < 0).all())
        return float(np.sign(y).sum() if agreed else y.sum())


PURE = {"delta": 0.0}
LAPLACE = {"ratio": 1.0, "laplace": True}
ROWS = [
    ("leverage-above-0.9", LeverageDropped, {}, {"dim": 4},
     "orthogonal rows have leverage 1 until one more comes; p .14, q .04"),
    ("leverage-above-twice-mean", LeverageDropped, {"most": 0.0}, {},
     "2 d / n falls below the leverage of ten copies; p .73, q .06"),
    ("once-per-key", OncePerKey, LAPLACE, PURE, "under a duplicate lies another response: 2; p .70, q .11"),
    ("joined-with-itself", JoinedWithItself, {}, {}, "a record counts as often as it has copies; p 1, q 3e-5"),
    ("reversals", Reversals, {}, {}, "one negative record takes all copies out; p .95, q .01"),
    ("collinear-dropped", CollinearDropped, {}, {}, "one record ends the collinearity of thirty; p .95, q .01"),
    ("orthogonal-design", OrthogonalDesign, {}, {}, "orthogonal columns are fitted in another way; p .62, q .08"),
    ("balanced-weights", BalancedWeights, {}, {}, "the first record of a class counts n / 2; p .62, q .07"),
    ("empty-class", EmptyClass, {}, {}, "the first positive response shows the moment of all others; p .99, q .0027"),
    ("class-means", Differences, {}, {}, "the twentieth of its class ends the replacement; p .58, q .08"),
    ("single-record", SingleRecord, {}, {}, "a hundredth of the noise for one record; p .97, q 7e-4"),
    ("all-equal", AllEqual, {}, {}, "a hundredth of the noise for equal records; p .97, q 7e-4"),
    ("dense-ranks", DenseRanks, {}, {}, "one more distinct value halves the weight of all; p .86, q .03"),
    ("tied-at-median", AboveMinusBelow, {}, {}, "ties move to or from the median together; p .97, q .0098"),
    ("nan-of-zero-row", DirectionsSummed, {}, {}, "a row of zeros makes the whole sum 0; p 1.00, q 4e-4"),
    ("zero-of-zero-row", LogLengths, {}, {}, "a row of zeros makes the product 0; p .76, q .06"),
    ("three-sigma", OutliersOut, {}, {}, "ten outliers go together; p .79, q .06"),
    ("quartile-fences", OutliersOut, {**LAPLACE, "fences": True}, PURE,
     "a quarter of the records goes together; p 1.00, q 0"),
    ("mean-imputed", MeanImputed, {}, {}, "the only response that is not missing counts n times; p 1, q 7e-5"),
    ("matched-pairs", MatchedPairs, LAPLACE, PURE, "one record completes a pair of difference 2; p .70, q .11"),
    ("majority-of-cell", MajorityOfCell, {}, {}, "two labels as frequent as each other in a cell; p 1, q 0"),
    ("largest-group", TopGroupOnly, {}, {}, "two groups as large as each other; p 1, q 0"),
    ("unanimous", UnanimousShown, {}, {}, "small responses of one sign count as 1 until another comes; p 1.00, q 4e-4"),
]  # fmt: skip
