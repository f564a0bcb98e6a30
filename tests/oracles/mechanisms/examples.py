"""Small data sets and pairs that several tests share."""

import numpy as np

from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair


def linear_data(n=30, dim=2, seed=0, x_bound=1.0, y_bound=1.0):
    """Rows in the ball, a linear response with noise, cut to its bound."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim))
    X *= x_bound / np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    y = np.clip(X @ np.linspace(0.7, -0.4, dim) / x_bound * y_bound + 0.1 * rng.standard_normal(n), -y_bound, y_bound)
    return Dataset(X, y, x_bound, y_bound)


def pairs(dataset, seed=1):
    """One pair of each relation, by name."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(dataset.dim)
    x *= 0.95 * dataset.x_bound / np.linalg.norm(x)
    return {
        "add": NeighbouringPair.add(dataset, x, -0.9 * dataset.y_bound),
        "remove": NeighbouringPair.remove(dataset, dataset.n_records // 2),
        "replace": NeighbouringPair.replace(dataset, 0, x, 0.8 * dataset.y_bound),
    }


def awkward_data(dim=2):
    """Data sets on which nothing may be refused: empty, one record, duplicates, a constant column, fewer than dim."""
    row = np.full((1, dim), 0.5 / np.sqrt(dim))
    return {
        "empty": Dataset(np.zeros((0, dim)), np.zeros(0), 1.0, 1.0),
        "one record": Dataset(row, np.array([0.3]), 1.0, 1.0),
        "duplicates": Dataset(np.repeat(row, 4, axis=0), np.full(4, 0.3), 1.0, 1.0),
        "constant column": Dataset(np.column_stack([np.full(5, 0.5), np.linspace(-0.5, 0.5, 5)]), np.ones(5), 1.0, 1.0),
        "zeros": Dataset(np.zeros((3, dim)), np.zeros(3), 1.0, 1.0),
    }
