"""The record-wise steps of a configuration, in order, each with public constants alone; no error quotes a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechanisms import DataError, RowClip, UnitRows
from mechanisms.data.dataset import FloatArray, row_norms

from ..config.config import DataSection

#: Largest coordinate of a row before it is scaled down: its norm is finite.
LARGEST = 1e300


class Preparation:
    """The record-wise steps of a configuration, applied chunk by chunk; ``steps`` says them in words."""

    def __init__(self, data: DataSection) -> None:
        self.data = data
        self.names = expanded_names(data)
        # the file's own column behind each prepared one
        self.columns = [name for name in data.features for _ in data.categories.get(name, [name])]
        self.dim = len(self.names) + (data.intercept is not None)
        root = math.sqrt(max(self.dim, 1))
        # a 0/1 column is divided by sqrt(k) as well; a number without a range stays as it is
        ends = [
            data.ranges.get(name, (-1.0, 1.0) if name not in data.features else (-1 / root, 1 / root))
            for name in self.names
        ]
        self.centres = np.array([0.5 * (low + high) for low, high in ends])
        self.scales = np.array([0.5 * (high - low) * root for low, high in ends])
        self.steps: list[str] = [f"features {', '.join(self.names)}; response {data.target}"]
        for column, levels in data.categories.items():
            self.steps.append(
                f"column {column}: one 0/1 column for each of {', '.join(levels)}; another level is all 0"
            )
        if data.ranges:
            pairs = ", ".join(f"{name} [{low:g}, {high:g}]" for name, (low, high) in data.ranges.items())
            self.steps.append(f"mapped from public ranges to [-1, 1]/sqrt({self.dim}): {pairs}")
        if data.intercept is not None:
            self.steps.append(f"intercept column {data.intercept:g}{' /sqrt(k)' if data.ranges else ''} appended")
        if data.missing == "drop":
            self.steps.append("records with a missing value left out")
        if data.log is not None:
            self.steps.append(f"{data.log} of the response")
        if data.threshold is not None:
            self.steps.append(f"response +1 above {data.threshold:g}, -1 otherwise")
        if data.response_scale != 1.0:
            self.steps.append(f"response divided by {data.response_scale:g}")
        self.steps += [str(step) for step in self._row_steps()]
        if data.response == "clip":
            self.steps.append(f"response clipped to [-{data.y_bound:g}, {data.y_bound:g}]")

    def _row_steps(self) -> list[Any]:
        bound = self.data.x_bound
        assert bound is not None
        match self.data.rows:
            case "clip":
                return [RowClip(bound)]
            case "unit":
                return [UnitRows(bound)]
            case "refuse":
                return []

    def _require(self, values: FloatArray, name: str) -> None:
        if np.isinf(values).any():
            raise DataError(f"column {name} must have no infinite value, got one")
        if self.data.missing == "refuse" and np.isnan(values).any():
            raise DataError(f"column {name} must have no missing value (data.missing = 'drop' leaves the records out)")

    def _logarithm(self, y: FloatArray) -> FloatArray:
        data = self.data
        floor, function = (0.0, np.log) if data.log == "log" else (-1.0, np.log1p)
        if not (y > floor).all():
            raise DataError(
                f"column {data.target} must be above {floor:g} for data.log = '{data.log}', got another number"
            )
        return np.asarray(function(y), dtype=np.float64)

    def __call__(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prepared features ``(m, dim)`` and responses ``(m,)`` of raw ones."""
        data = self.data
        for column, name in enumerate(self.columns):
            self._require(X[:, column], name)
        self._require(y, str(data.target))
        if data.missing == "drop":
            whole = ~(np.isnan(X).any(axis=1) | np.isnan(y))
            X, y = X[whole], y[whole]
        if data.ranges:
            with np.errstate(over="ignore"):
                X = np.clip((X - self.centres) / self.scales, -LARGEST, LARGEST)  # a long row, never an infinite one
        if data.intercept is not None:
            value = data.intercept / math.sqrt(self.dim) if data.ranges else data.intercept
            X = np.column_stack([X, np.full(len(X), value)])
        for step in self._row_steps():
            X = step(X)
        if data.log is not None:
            y = self._logarithm(y)
        if data.threshold is not None:
            y = np.where(y > data.threshold, 1.0, -1.0)
        y = y / data.response_scale
        assert data.x_bound is not None
        assert data.y_bound is not None
        if data.response == "clip":
            y = np.clip(y, -data.y_bound, data.y_bound)
        if not data.standardise and row_norms(X).max(initial=0.0) > data.x_bound * (1 + 1e-12):
            raise DataError(f"data.x_bound must be at least every row's norm, got data.x_bound={data.x_bound:g}; "
                            "data.rows = 'clip' scales longer rows down")  # fmt: skip
        if np.abs(y).max(initial=0.0) > data.y_bound * (1 + 1e-12):
            raise DataError(f"data.y_bound must be at least every |response|, got data.y_bound={data.y_bound:g}; "
                            "data.response = 'clip' clips them")  # fmt: skip
        return np.ascontiguousarray(X), y


def expanded_names(data: DataSection) -> list[str]:
    """Return the names of the feature columns after text columns became 0/1 columns."""
    unknown = [c for c in (*data.ranges, *data.categories) if c not in data.features]
    if unknown:
        raise DataError(f"data.features must name every column of ranges and categories, got no {unknown[0]}")
    both = [c for c in data.ranges if c in data.categories]
    if both:
        raise DataError(f"data.ranges.{both[0]} must be absent for a column with categories, got both")
    if not data.features or data.target is None:
        raise DataError("data.features and data.target must be given for a file, got nothing")
    if data.target in data.features:
        raise DataError(f"data.features must not hold the target, got {data.target}")
    names: list[str] = []
    for name in data.features:
        names += [f"{name}={level}" for level in data.categories[name]] if name in data.categories else [name]
    return names
