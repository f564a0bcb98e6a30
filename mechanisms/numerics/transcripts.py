"""Flattened transcripts: checking, packing and splitting what a joint release shows, and batches of bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..data.dataset import Dataset, FloatArray

BoolArray = NDArray[np.bool_]

#: Cells of float64 that one batch of temporaries may hold (about 32 MB).
MAX_CELLS: Final = 4_000_000


def check_outputs(outputs: FloatArray, width: int) -> FloatArray:
    """Return ``outputs`` as a float64 array of shape ``(n_draws, width)`` without NaN (infinities are a code)."""
    array = np.asarray(outputs, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"outputs must have shape (n_draws, {width}), got outputs.shape={array.shape}")
    if np.isnan(array).any():
        raise ValueError("outputs must be numbers, got outputs=nan")
    return array


def check_bounds(dataset: Dataset, *, response: bool = True) -> tuple[float, float]:
    """Return ``(x_bound, y_bound)``, refusing the infinite ones that a sensitivity would need."""
    if not np.isfinite(dataset.x_bound):
        raise ValueError(f"x_bound must be finite where a sensitivity needs it, got x_bound={dataset.x_bound}")
    if response and not np.isfinite(dataset.y_bound):
        raise ValueError(f"y_bound must be finite where a sensitivity needs it, got y_bound={dataset.y_bound}")
    return dataset.x_bound, dataset.y_bound


def check_count(name: str, value: int, *, least: int = 1) -> int:
    """Return ``value`` as an int if it is a whole number of at least ``least``."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {name}={value}")
    return int(value)


def batches(n_draws: int, cells_per_draw: int) -> Iterator[slice]:
    """Yield consecutive slices of ``range(n_draws)`` whose temporaries hold at most ``MAX_CELLS`` cells."""
    step = max(1, MAX_CELLS // max(1, cells_per_draw))
    for start in range(0, n_draws, step):
        yield slice(start, min(start + step, n_draws))


def triangle_size(dim: int) -> int:
    """Return the number of entries on and above the diagonal of a ``dim`` by ``dim`` matrix."""
    return dim * (dim + 1) // 2


def pack_triangle(matrix: FloatArray) -> FloatArray:
    """Return the entries on and above the diagonal, row by row; ``(…, dim, dim)`` to ``(…, dim(dim+1)/2)``."""
    rows, columns = np.triu_indices(matrix.shape[-1])
    return np.asarray(matrix[..., rows, columns])


def unpack_triangle(packed: FloatArray, dim: int) -> FloatArray:
    """Return the symmetric matrices with the given entries on and above the diagonal; undoes ``pack_triangle``."""
    rows, columns = np.triu_indices(dim)
    matrix = np.empty((*packed.shape[:-1], dim, dim))
    matrix[..., rows, columns] = packed
    matrix[..., columns, rows] = packed
    return matrix


def normal_log_density(values: FloatArray, mean: FloatArray | float, sigma: FloatArray | float) -> FloatArray:
    """Return the log density of independent normals summed over the last axis, shape of ``values`` without it."""
    z = (values - mean) / sigma
    log_scale = np.broadcast_to(np.log(sigma), values.shape).sum(axis=-1)
    count = values.shape[-1]
    return np.asarray(-0.5 * np.einsum("...i,...i->...", z, z) - log_scale - 0.5 * count * np.log(2 * np.pi))


def finite_rows(array: FloatArray) -> BoolArray:
    """Return which rows of a matrix are finite throughout, shape ``(n_draws,)``."""
    return np.asarray(np.isfinite(array).all(axis=1))


def loss_of(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference of two log densities, infinite where one law cannot produce the output.

    Raises
    ------
    ValueError
        If an output is impossible under both data sets (its loss is undefined).
    """
    if (np.isneginf(first) & np.isneginf(second)).any():
        raise ValueError("outputs must be possible under one of the two data sets")
    return np.asarray(first - second)
