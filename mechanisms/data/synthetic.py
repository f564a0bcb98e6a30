"""Synthetic data sets of the papers' experiments; every generator takes its random stream by keyword."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv

from ..base import check_nonnegative
from .dataset import Dataset, FloatArray, UnitRows


@dataclass(frozen=True, eq=False)
class Planted:
    """A synthetic data set with the coefficients that it was made from.

    Attributes
    ----------
    theta : (dim,) array
    """

    dataset: Dataset
    theta: FloatArray


def _size(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {name}={value}")
    return int(value)


def _unit_rows(n_records: int, dim: int, rng: np.random.Generator) -> FloatArray:
    return UnitRows()(rng.standard_normal((n_records, dim)))


def linear_unit_rows(n_records: int, dim: int, *, noise_sd: float, rng: np.random.Generator) -> Planted:
    """Return the linear Gaussian model of W19-FIG1: rows of norm 1, responses clipped to [-1, 1].

    The paper does not give sizes, coefficients or the noise level; here the coefficients are uniform on the sphere.
    ``noise_sd`` is that of the responses before clipping.
    """
    n_records, dim = _size("n_records", n_records, 0), _size("dim", dim, 1)
    noise_sd = check_nonnegative("noise_sd", noise_sd)
    theta, X = _unit_rows(1, dim, rng)[0], _unit_rows(n_records, dim, rng)
    y = np.clip(X @ theta + noise_sd * rng.standard_normal(n_records), -1.0, 1.0)
    steps = (str(UnitRows()), "response clipped to [-1, 1]")
    name = f"linear, unit rows (n={n_records}, d={dim}, noise {noise_sd:g})"
    return Planted(Dataset(X, y, 1.0, 1.0, name=name, public=True, steps=steps), theta)


def linear_gaussian(n_records: int, dim: int = 10, *, rng: np.random.Generator) -> Planted:
    """Return the linear Gaussian model of W18-X2: normal design, coefficients uniform on [0, 1], unit noise."""
    n_records, dim = _size("n_records", n_records, 0), _size("dim", dim, 1)
    theta, X = rng.uniform(size=dim), rng.standard_normal((n_records, dim))
    y = X @ theta + rng.standard_normal(n_records)
    name = f"linear Gaussian (n={n_records}, d={dim})"
    return Planted(Dataset(X, y, math.inf, math.inf, name=name, public=True), theta)


def margin_classes(n_records: int, dim: int = 2, *, margin: float = 0.4, rng: np.random.Generator) -> Planted:
    """Return two separable classes in the unit ball (RW21-F1), labels in {-1, +1}.

    Records are uniform on the part of the unit ball that is at least ``margin`` away from the hyperplane through the
    origin orthogonal to the first axis; the label is the side. (The paper does not say how its points were drawn.)
    ``margin`` in [0, 1).
    """
    n_records, dim = _size("n_records", n_records, 0), _size("dim", dim, 1)
    if not 0 <= margin < 1:
        raise ValueError(f"margin must be in [0, 1), got margin={margin}")
    # the square of one coordinate of a uniform point of the ball is Beta(1/2, (dim + 1)/2); inverted above margin^2
    below = betainc(0.5, 0.5 * (dim + 1), margin**2)
    height = np.sqrt(betaincinv(0.5, 0.5 * (dim + 1), below + (1 - below) * rng.uniform(size=n_records)))
    height = np.clip(height, margin, 1.0)
    y = np.where(rng.uniform(size=n_records) < 0.5, -1.0, 1.0)
    X = np.column_stack([y * height, np.zeros((n_records, dim - 1))])
    if dim > 1:  # uniform in the slice of the ball at that height
        radius = np.sqrt(1 - height**2) * rng.uniform(size=n_records) ** (1 / (dim - 1))
        X[:, 1:] = radius[:, None] * _unit_rows(n_records, dim - 1, rng)
    theta = np.eye(dim)[0]
    name = f"two classes in the unit ball, margin {margin:g} (n={n_records}, d={dim})"
    return Planted(Dataset(X, y, 1.0, 1.0, name=name, public=True), theta)


def sphere_scores(n_records: int, dim: int = 50, *, rng: np.random.Generator) -> Planted:
    """Return the regression of RW21-F2: rows of norm 1, ``X theta`` rescaled to [0, 1] by its own range.

    The rescaling reads the smallest and largest score off the data, which is recorded as data-dependent.
    """
    n_records, dim = _size("n_records", n_records, 2), _size("dim", dim, 1)
    theta, X = rng.standard_normal(dim), _unit_rows(n_records, dim, rng)
    scores = X @ theta
    low, high = scores.min(), scores.max()
    y = np.clip((scores - low) / max(high - low, np.finfo(float).tiny), 0.0, 1.0)
    note = "response rescaled to [0, 1] by its smallest and largest value, read off the data"
    steps = (str(UnitRows()), note)
    name = f"unit rows, scores in [0, 1] (n={n_records}, d={dim})"
    dataset = Dataset(X, y, 1.0, 1.0, name=name, public=True, steps=steps, data_dependent=(note,))
    return Planted(dataset, theta)


def sphere_labels(n_records: int, dim: int = 50, *, temperature: float = 0.0, rng: np.random.Generator) -> Planted:
    """Return logistic data for RW21-F4 and F5: rows of norm 1, labels in {-1, +1}.

    The papers' binarisation is not stated. Here a label is the sign of ``x^T theta + temperature * logistic noise``
    with standard normal ``theta``: with temperature 0 the classes are separable, with 1 the logistic model holds.
    """
    n_records, dim = _size("n_records", n_records, 0), _size("dim", dim, 1)
    temperature = check_nonnegative("temperature", temperature)
    theta, X = rng.standard_normal(dim), _unit_rows(n_records, dim, rng)
    y = np.where(X @ theta + temperature * rng.logistic(size=n_records) > 0, 1.0, -1.0)
    name = f"unit rows, labels (n={n_records}, d={dim}, temperature {temperature:g})"
    return Planted(Dataset(X, y, 1.0, 1.0, name=name, public=True, steps=(str(UnitRows()),)), theta)
