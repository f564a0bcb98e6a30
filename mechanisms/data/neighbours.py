"""Neighbouring pairs: one data set, one target record, one relation; a non-neighbouring pair cannot be built."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from .dataset import DataError, Dataset, FloatArray, as_row


class Relation(Enum):
    """How the two members of a pair differ; every claim names its relation."""

    ADD = "add: the second data set has the target, the first has not"
    REMOVE = "remove: the first data set has the target, the second has not"
    REPLACE = "replace: the target takes the place of one record"


class UnsupportedRelation(ValueError):
    """The mechanism or claim does not cover this neighbouring relation (it is named in the message)."""


@dataclass(frozen=True, eq=False)
class NeighbouringPair:
    """A data set ``D``, a target ``z = (x, y)``, and the relation that derives ``D'`` from them.

    Build it with ``add``, ``remove`` or ``replace``.

    Attributes
    ----------
    dataset : Dataset
        ``D``, the first member; the privacy loss is ``log p_D - log p_D'``.
    x : (dim,) array
        Features of the target.
    y : float
        Response of the target.
    index : int or None
        Position of the record that is removed or replaced; None for ``ADD``.

    Examples
    --------
    >>> pair = NeighbouringPair.add(Dataset([[0.6]], [1.0], 1.0, 1.0), [-0.8], 0.5)
    >>> pair.first.n_records, pair.second.n_records
    (1, 2)
    """

    dataset: Dataset
    relation: Relation
    x: FloatArray
    y: float
    index: int | None = None

    def __post_init__(self) -> None:
        if self.relation is Relation.ADD:
            if self.index is not None:
                raise DataError(f"index must be None for ADD, got index={self.index}")
            return
        if self.index is None or not 0 <= self.index < self.dataset.n_records:
            raise DataError(f"index must be in [0, {self.dataset.n_records}), got index={self.index}")
        record, response = self.dataset.X[self.index], self.dataset.y[self.index]
        if self.relation is Relation.REMOVE and not (np.array_equal(self.x, record) and self.y == response):
            raise DataError("(x, y) must be the record at index for REMOVE, got another record")

    def __repr__(self) -> str:
        """Return the relation and the data set's name: nothing of the target, nor its place."""
        return f"NeighbouringPair({self.relation.name}, {self.dataset!r})"

    @classmethod
    def add(cls, dataset: Dataset, x: ArrayLike, y: float) -> NeighbouringPair:
        """Return the pair ``(D, D + z)`` for a target outside the data (W19, D_{+z})."""
        pair = cls(dataset, Relation.ADD, as_row(x, dataset.dim), float(y))
        _ = pair.second  # validates the target against the public domain now, not at the first use
        return pair

    @classmethod
    def remove(cls, dataset: Dataset, index: int) -> NeighbouringPair:
        """Return the pair ``(D, D - z)`` for the record at ``index``."""
        if not 0 <= index < dataset.n_records:
            raise DataError(f"index must be in [0, {dataset.n_records}), got index={index}")
        return cls(dataset, Relation.REMOVE, dataset.X[index], float(dataset.y[index]), index)

    @classmethod
    def replace(cls, dataset: Dataset, index: int, x: ArrayLike, y: float) -> NeighbouringPair:
        """Return the pair in which the record at ``index`` becomes ``(x, y)``."""
        pair = cls(dataset, Relation.REPLACE, as_row(x, dataset.dim), float(y), index)
        _ = pair.second
        return pair

    @property
    def first(self) -> Dataset:
        """``D``."""
        return self.dataset

    @cached_property
    def second(self) -> Dataset:
        """``D'``."""
        if self.relation is Relation.ADD:
            return self.dataset.with_record(self.x, self.y)
        assert self.index is not None
        if self.relation is Relation.REMOVE:
            return self.dataset.without_record(self.index)
        return self.dataset.with_record_in_place(self.index, self.x, self.y)

    @property
    def sign(self) -> float:
        """The papers' ``±``: +1 when the target is added, -1 when it is removed; a replacement has none."""
        if self.relation is Relation.ADD:
            return 1.0
        if self.relation is Relation.REMOVE:
            return -1.0
        raise UnsupportedRelation("relation must be ADD or REMOVE here, got relation=REPLACE")

    def swapped(self) -> NeighbouringPair:
        """Return the same two data sets in the other order (up to the order of records)."""
        if self.relation is Relation.ADD:
            return NeighbouringPair.remove(self.second, self.dataset.n_records)
        assert self.index is not None
        if self.relation is Relation.REMOVE:
            return NeighbouringPair.add(self.second, self.x, self.y)
        old_x, old_y = self.dataset.X[self.index], float(self.dataset.y[self.index])
        return NeighbouringPair.replace(self.second, self.index, old_x, old_y)

    def require(self, *relations: Relation) -> None:
        """Refuse, by name, a relation that is not among ``relations``."""
        if self.relation not in relations:
            allowed = " or ".join(r.name for r in relations)
            raise UnsupportedRelation(f"relation must be {allowed}, got relation={self.relation.name}")


def without_old(pair: NeighbouringPair) -> Dataset:
    """Return the first data set without the record that is removed or replaced (not copied again for REMOVE)."""
    pair.require(Relation.REMOVE, Relation.REPLACE)
    assert pair.index is not None
    return pair.second if pair.relation is Relation.REMOVE else pair.dataset.without_record(pair.index)


def same_pair(first: NeighbouringPair, second: NeighbouringPair) -> bool:
    """Return whether two pairs have the same members, up to the order of records, and the same relation."""
    return (
        first.relation is second.relation
        and np.array_equal(_sorted_records(first.first), _sorted_records(second.first))
        and np.array_equal(_sorted_records(first.second), _sorted_records(second.second))
    )


def _sorted_records(dataset: Dataset) -> FloatArray:
    records = np.column_stack([dataset.X, dataset.y])
    return np.asarray(records[np.lexsort(records.T)])
