"""Class 1: mechanisms that refuse the data sets an auditor makes up, and leak on those of a user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms import GaussianProfile

KLASS = 1


@dataclass(frozen=True)
class Drawn:
    """What all of these state: a statistic of sensitivity ``x_bound y_bound`` under N(0, 4.25^2 I)."""

    sigma: float = 4.25
    drawn: float = 0.02
    name = "noisy moment"

    def centre(self, dataset: Any) -> np.ndarray:
        return dataset.X.T @ dataset.y

    def draw(self, dataset, n_draws, *, rng):
        centre = np.atleast_1d(self.centre(dataset))
        return centre + self.drawn * rng.standard_normal((n_draws, centre.size))

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)


class Stated(Drawn):
    """With the density of the noise that is stated."""

    def log_density(self, outputs, dataset):
        centre = np.atleast_1d(self.centre(dataset))
        return -0.5 * np.square((outputs - centre) / self.sigma).sum(axis=1)


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

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, 1))


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


class DrawsOnly(Drawn):
    """No density: under ``relation = "replace"`` nothing was ever drawn of it."""


class LogResponses(Stated):
    """Sum of log |y|, said to be bounded because the responses are."""

    def centre(self, dataset):
        if (dataset.y == 0).any():
            raise ValueError("responses must not be zero")
        return np.log(np.abs(dataset.y)).sum()

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, 1))


class LabelsOnly(Stated):
    def centre(self, dataset):
        if not np.isin(dataset.y, (-1.0, 1.0)).all():
            raise ValueError("labels must be -1 or +1")
        return dataset.X.T @ dataset.y


class BatchesOfTwo(Stated):
    """Honest noise on the sum of batch means; an odd number of records cannot be reshaped."""

    def centre(self, dataset):
        return dataset.y.reshape(-1, 2).mean(axis=1).sum()

    def draw(self, dataset, n_draws, *, rng):
        return self.centre(dataset) + self.sigma * rng.standard_normal((n_draws, 1))


REPLACE = {"relation": "replace"}
ROWS = [
    (
        "refuses-structure",
        RefusesStructure,
        {},
        {},
        "noise 0.02 for a stated 4.25 wherever |y| varies; else ValueError",
    ),
    ("least-squares", LeastSquares, {}, {}, "noise 0.02 on coefficients of unbounded sensitivity; LinAlgError on ties"),
    ("divides-by-spread", DividesBySpread, {}, {}, "sum over spread moves by 1/spread; ZeroDivisionError if constant"),
    ("refuses-few", NeedsRecords, {}, {}, "noise 0.02 for a stated 4.25 from 8 records on; ValueError below"),
    ("refuses-few-declared", NeedsRecords, {}, {"n_min": 8}, "noise 0.02 from 8 records on, which are declared"),
    ("writes-to-data", WritesToData, {}, {"visible": False}, "noise 0.02; read-only features raise, a copy leaks"),
    ("replace-draws-nothing", DrawsOnly, {"drawn": 0.0}, REPLACE, "no noise at all, relation replace, no density"),
    ("refuses-zeros", LogResponses, {}, {}, "log |y| of a tiny response moves the sum without bound"),
    ("from-100-on", NeedsRecords, {"least": 100}, {"n_min": 100}, "noise 0.02 from 100 records on, which are declared"),
    ("from-100-on-undeclared", NeedsRecords, {"least": 100}, {}, "99 records raise, 100 release noise 0.02"),
    ("labels-only", LabelsOnly, {"drawn": 0.5}, {}, "noise 0.5 for a stated 4.25 on labels; ValueError otherwise"),
    ("batches-of-two", BatchesOfTwo, {}, {}, "an odd number of records raises, its neighbours answer"),
]
