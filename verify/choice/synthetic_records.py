"""Records drawn from a public domain: nothing of the private ones is read, so that a choice made by them is free.

The law: a column with a public range is uniform on it, a column with public levels has one of them, each as likely, and
both are prepared as the configuration says; without ranges, prepared rows are uniform in the ball of the features'
bound. With coefficients uniform on the sphere and scores ``u`` of unit variance, a response is
``(y_bound/3) (u + z)/sqrt(2)`` with standard normal ``z``, clipped; a label is +1 with probability
``1/(1 + exp(-2 u))``.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray

from ..certificates.config.config import DataSection
from ..certificates.reading.data_files import Preparation

#: Name of every such data set.
NAME = "synthetic records"


def ball_records(
    n_records: int, dim: int, x_bound: float, y_bound: float, *, loss: str, rng: np.random.Generator
) -> Dataset:
    """Return records whose features are uniform in the ball of radius ``x_bound``."""
    X = _ball(n_records, dim, x_bound, rng)
    return _with_response(X, x_bound, y_bound, f"features uniform in the ball of radius {x_bound:g}", loss, rng)


def prepared_records(section: DataSection, n_records: int, *, loss: str, rng: np.random.Generator) -> Dataset:
    """Return records that are drawn as a configuration's columns are stated, and prepared as it says."""
    assert section.x_bound is not None
    assert section.y_bound is not None
    columns = Preparation(section)
    if all(name in section.ranges or name in section.categories for name in section.features):
        quiet = section.model_copy(update={"log": None, "threshold": None, "response_scale": 1.0})
        X, _ = Preparation(quiet)(_columns(section, n_records, rng), np.zeros(n_records))
        law = "columns uniform on their public ranges and levels"
    else:
        constant = section.intercept or 0.0
        if section.ranges:
            constant /= math.sqrt(columns.dim)
        n_own = columns.dim - (section.intercept is not None)
        X = _ball(n_records, n_own, math.sqrt(max(section.x_bound**2 - constant**2, 0.0)), rng)
        if section.intercept is not None:
            X = np.column_stack([X, np.full(n_records, constant)])
        law = f"features uniform in the ball of radius {section.x_bound:g}, the intercept as it is"
    return _with_response(X, section.x_bound, section.y_bound, law, loss, rng)


def _ball(n_records: int, dim: int, radius: float, rng: np.random.Generator) -> FloatArray:
    X = rng.standard_normal((n_records, dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # a rounding must not put a record outside
    return np.asarray(X * (radius * (1 - 1e-15) * rng.uniform(size=(n_records, 1)) ** (1 / dim)))


def _columns(section: DataSection, n_records: int, rng: np.random.Generator) -> FloatArray:
    """Return raw columns: numbers on their ranges, and one 0/1 column a level."""
    blocks = []
    for name in section.features:
        if name in section.categories:
            n_levels = len(section.categories[name])
            blocks.append(np.eye(n_levels)[rng.integers(0, n_levels, n_records)])
        else:
            blocks.append(rng.uniform(*section.ranges[name], size=(n_records, 1)))
    return np.hstack(blocks)


def _with_response(
    X: FloatArray, x_bound: float, y_bound: float, law: str, loss: str, rng: np.random.Generator
) -> Dataset:
    theta = rng.standard_normal(X.shape[1])
    scores = X @ (theta / np.linalg.norm(theta))
    spread = float(scores.std())
    scores = (scores - scores.mean()) / (spread or 1.0) if loss == "squared" else scores / (spread or 1.0)
    if loss == "squared":
        y = np.clip(y_bound / 3 * (scores + rng.standard_normal(len(X))) / math.sqrt(2), -y_bound, y_bound)
        response = f"response linear with as much noise, of standard deviation {y_bound / 3:g}, clipped to the bound"
    else:
        y = np.where(rng.uniform(size=len(X)) < expit(2 * scores), 1.0, -1.0)
        response = "labels of a logistic model"
    return Dataset(X, y, x_bound, y_bound, name=NAME, public=True, steps=(law, response))
