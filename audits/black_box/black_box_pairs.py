"""Pairs that no ``NeighbouringPair`` can hold, for black-box audits only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms import Dataset, Relation


@dataclass(frozen=True, eq=False)
class RawDataset:
    """Records of which nothing is demanded: values may be missing, infinite, or outside the public domain.

    Parameters
    ----------
    X : (n_records, dim) array
    y : (n_records,) array
    x_bound, y_bound : float
        What a mechanism is told; no record is held to it.
    name : str
    public : bool
        True when the records themselves may be published.

    Raises
    ------
    ValueError
        If the shapes disagree. No message and no ``repr`` shows a cell.
    """

    X: NDArray[Any] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    x_bound: float
    y_bound: float
    name: str = "data"
    public: bool = False

    def __post_init__(self) -> None:
        X, y = np.array(self.X), np.array(self.y)
        if X.ndim != 2:
            raise ValueError(f"X must have 2 axes (records, features), got X.ndim={X.ndim}")
        if y.shape != (len(X),):
            raise ValueError(f"y must have shape ({len(X)},), got y.shape={y.shape}")
        for name, array in (("X", X), ("y", y)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def n_records(self) -> int:
        """Number of records (may be 0)."""
        return len(self.X)

    @property
    def dim(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])


@dataclass(frozen=True, eq=False)
class BlackBoxPair:
    """Two data sets of any kind, for audits that look at outputs alone.

    Parameters
    ----------
    first, second : Dataset or RawDataset
    relation : Relation
    words : str
        How they differ, without a cell of either.
    distance : int
        Records apart, at least 1.
    """

    first: Dataset | RawDataset = field(repr=False)
    second: Dataset | RawDataset = field(repr=False)
    relation: Relation
    words: str
    distance: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.distance, bool) or int(self.distance) != self.distance or self.distance < 1:
            raise ValueError(f"distance must be a whole number of at least 1, got distance={self.distance}")
