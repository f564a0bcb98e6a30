"""Structured neighbouring pairs over a public domain: where a mechanism that is not private shows it soonest.

Kinds of faults that the pairs are laid out for: noise scaled by the data's own largest response or row, standardisation
or centring before the mechanism, clipping at a quantile of the data, a step that is left out for few, for many or for
equal records, and values treated specially. No list of pairs finds everything: it is a list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import Dataset, FloatArray, row_norms
from mechanisms.data.neighbours import NeighbouringPair, Relation

from .pair_designs import INWARDS, DesignRecord, PairDesign, listed
from .worst_case import NamedPair

#: Pairs of one examination.
N_PAIRS = 24
#: Sizes of rows and responses that are tried where the domain has no bound.
SCALES = (1.0, 1e3, 1e9, 1e6)
#: Recipes that are tried before a small domain is taken to have no more pairs.
MOST_RECIPES = 4000


@dataclass(frozen=True)
class PublicDomain:
    """What is public about the data.

    Parameters
    ----------
    dim : int, features, at least 1
    x_bound, y_bound : float
        Bounds on the Euclidean norm of a row and on ``|y|``; positive, infinity allowed.
    n_min, n_max : int, int or None, least and largest number of records; None where there is none
    """

    dim: int
    x_bound: float
    y_bound: float
    n_min: int = 0
    n_max: int | None = None

    def __post_init__(self) -> None:
        _whole("dim", self.dim, 1)
        for name in ("x_bound", "y_bound"):
            value = float(getattr(self, name))
            if not value > 0:
                raise ValueError(f"{name} must be positive (infinity allowed), got {name}={value}")
            object.__setattr__(self, name, value)
        _whole("n_min", self.n_min, 0)
        if self.n_max is not None and _whole("n_max", self.n_max, 0) < self.n_min:
            raise ValueError(f"n_max must be at least n_min={self.n_min}, got n_max={self.n_max}")

    def contains(self, dataset: Dataset) -> bool:
        """Return whether the records, and their number, lie in the domain."""
        largest = math.inf if self.n_max is None else self.n_max
        return (
            dataset.dim == self.dim
            and self.n_min <= dataset.n_records <= largest
            and float(row_norms(dataset.X).max(initial=0.0)) <= self.x_bound
            and float(np.abs(dataset.y).max(initial=0.0)) <= self.y_bound
        )


@dataclass(frozen=True, eq=False)
class GroupPair:
    """Two data sets ``distance`` records apart: that many added, removed or replaced."""

    first: Dataset
    second: Dataset
    relation: Relation
    words: str
    distance: int

    def swapped(self) -> GroupPair:
        """Return the same two data sets in the other order."""
        other = {Relation.ADD: Relation.REMOVE, Relation.REMOVE: Relation.ADD, Relation.REPLACE: Relation.REPLACE}
        return GroupPair(self.second, self.first, other[self.relation], f"{self.words}, swapped", self.distance)


@dataclass(frozen=True)
class NamedGroupPair:
    """A pair of data sets several records apart, and the words that say how it was built."""

    name: str
    pair: GroupPair


@overload
def examination_pairs(
    domain: PublicDomain, relation: Relation, *, group: Literal[1] = 1, count: int = N_PAIRS, labels: bool = False
) -> tuple[NamedPair, ...]: ...


@overload
def examination_pairs(
    domain: PublicDomain, relation: Relation, *, group: int, count: int = N_PAIRS, labels: bool = False
) -> tuple[NamedPair, ...] | tuple[NamedGroupPair, ...]: ...


def examination_pairs(
    domain: PublicDomain, relation: Relation, *, group: int = 1, count: int = N_PAIRS, labels: bool = False
) -> tuple[NamedPair, ...] | tuple[NamedGroupPair, ...]:
    """Return pairs inside a public domain, the most revealing first, always the same ones.

    Parameters
    ----------
    domain : PublicDomain
        What is public: the features, the bounds, the number of records.
    relation : Relation, ``REPLACE``, or ``ADD`` or ``REMOVE``: the last two alternate
    group : int
        Records that the two data sets are apart; from 2 on the pairs are ``NamedGroupPair``.
    count : int
        Pairs wanted; fewer come back only where the domain has no more (none where it allows no two such data sets).
    labels : bool, responses are -1 and +1 only (``y_bound`` must be at least 1)

    Returns
    -------
    tuple of NamedPair or of NamedGroupPair
        At most ``count``.

    Raises
    ------
    ValueError
        If a number is not whole, or labels are wanted and ``y_bound`` is below 1.

    Examples
    --------
    >>> from audits.search import PublicDomain, examination_pairs
    >>> from mechanisms import Relation
    >>> len(examination_pairs(PublicDomain(2, 1.0, 1.0), Relation.REPLACE, count=5))
    5
    """
    _whole("count", count, 0)
    _whole("group", group, 1)
    if labels and domain.y_bound < 1:
        raise ValueError(f"y_bound must be at least 1 for labels, got y_bound={domain.y_bound}")
    if group == 1:
        return tuple(islice(_single_pairs(domain, relation, labels), count))
    return tuple(islice(_group_pairs(domain, relation, group, labels), count))


def design_pair(
    domain: PublicDomain, design: PairDesign, relation: Relation, *, group: int = 1, labels: bool = False
) -> NamedPair | NamedGroupPair | None:
    """Return the pair of a design, its number of records brought into the domain; None where there is no such pair.

    ``relation``: ``REPLACE``, or ``ADD`` or ``REMOVE``: of these the design decides. ``group``: records that the two
    data sets are apart; from 2 on the pair is a ``NamedGroupPair``. ``labels``: responses are -1 and +1 only.
    """
    size = _sizes(domain, relation, group)
    parts = None if size is None else _build(domain, replace(design, n=size(design.n, twice=False)), relation, labels)
    if parts is None or not parts.differ:
        return None
    return _single(parts) if group == 1 else _grouped(parts, group)


def _single_pairs(domain: PublicDomain, relation: Relation, labels: bool) -> Iterator[NamedPair]:
    return map(_single, _different(domain, relation, 1, labels))


def _single(parts: _Parts) -> NamedPair:
    if parts.relation is Relation.ADD:
        pair = NeighbouringPair.add(parts.dataset(), parts.new.x, parts.new.y)
    elif parts.relation is Relation.REMOVE:
        pair = NeighbouringPair.remove(parts.dataset(parts.new), parts.place)
    else:
        pair = NeighbouringPair.replace(parts.dataset(parts.old), parts.place, parts.new.x, parts.new.y)
    return NamedPair(parts.name, pair)


def _group_pairs(domain: PublicDomain, relation: Relation, group: int, labels: bool) -> Iterator[NamedGroupPair]:
    return (_grouped(parts, group) for parts in _different(domain, relation, group, labels))


def _grouped(parts: _Parts, group: int) -> NamedGroupPair:
    smaller, larger = parts.dataset(), parts.dataset(*(parts.new,) * group)
    if parts.relation is Relation.REPLACE:
        first, second = parts.dataset(*(parts.old,) * group), larger
    else:
        first, second = (smaller, larger) if parts.relation is Relation.ADD else (larger, smaller)
    return NamedGroupPair(parts.name, GroupPair(first, second, parts.relation, parts.name, group))


@dataclass(frozen=True, eq=False)
class _Parts:
    """The common records, the target, what it replaces, and where in the data set it stands."""

    X: FloatArray
    y: FloatArray
    new: DesignRecord
    old: DesignRecord
    relation: Relation
    place: int
    name: str
    domain: PublicDomain

    def dataset(self, *records: DesignRecord) -> Dataset:
        X, y = self.X, self.y
        for record in records:
            X, y = np.insert(X, self.place, record.x, axis=0), np.insert(y, self.place, record.y)
        return Dataset(X, y, self.domain.x_bound, self.domain.y_bound, name=self.name, public=True)

    @property
    def key(self) -> tuple[object, ...]:
        arrays = (self.X, self.y, self.new.x, self.old.x) if self.replaces else (self.X, self.y, self.new.x)
        return (self.relation, self.new.y, self.old.y * self.replaces, *(array.tobytes() for array in arrays))

    @property
    def replaces(self) -> bool:
        return self.relation is Relation.REPLACE

    @property
    def differ(self) -> bool:
        return not self.replaces or self.new.y != self.old.y or not np.array_equal(self.new.x, self.old.x)


def _different(domain: PublicDomain, relation: Relation, group: int, labels: bool) -> Iterator[_Parts]:
    size = _sizes(domain, relation, group)
    if size is None:
        return
    seen: set[object] = set()
    for position in range(MOST_RECIPES):
        design = listed(position)
        parts = _build(domain, replace(design, n=size(design.n)), relation, labels)
        if parts.differ and parts.key not in seen and parts.name not in seen:
            seen |= {parts.key, parts.name}
            yield parts


def _sizes(domain: PublicDomain, relation: Relation, group: int) -> Callable[..., int] | None:
    """Return the map from a wanted number of common records to an allowed one; None where there is none."""
    taken = group if relation is Relation.REPLACE else 0  # records of the first data set beside the common ones
    least = max(domain.n_min - taken, 0)
    most = math.inf if domain.n_max is None else domain.n_max - group
    if most < least:
        return None

    def size(wanted: int, *, twice: bool = True) -> int:
        larger = (
            2 * least if wanted >= 300 and twice else least
        )  # two sizes even where the domain begins above the usual ones
        return int(min(max(wanted - taken, larger if least > 300 else least, 0), most))

    return size


def _build(domain: PublicDomain, design: PairDesign, relation: Relation, labels: bool) -> _Parts:
    """Return one pair's parts, in the units of the domain."""
    unit_X, unit_y = design.shared(domain.dim)
    target, replaced = design.records(unit_X, unit_y)
    x_scale, x_words = _scale("rows", domain.x_bound, SCALES[design.scales[0]])
    y_scale, y_words = _scale("responses", domain.y_bound, SCALES[design.scales[1]])
    labels = labels or (design.labels and domain.y_bound >= 1)
    y_words = ", labels -1 and +1" if labels else y_words

    def response(unit: FloatArray) -> FloatArray:
        return np.where(unit > 0, 1.0, -1.0) if labels else unit * y_scale

    def record(unit: DesignRecord) -> DesignRecord:
        return DesignRecord(_inside(unit.x) * x_scale, float(response(np.array([unit.y]))[0]))

    kind = relation
    if relation is not Relation.REPLACE:
        kind = Relation.REMOVE if design.removed else Relation.ADD
    name = f"{design.words}{x_words}{y_words}; {_DONE[kind]}"
    place = (0, design.n // 2, design.n)[design.place]
    return _Parts(
        _inside(unit_X) * x_scale, response(unit_y), record(target), record(replaced), kind, place, name, domain
    )


def _inside(X: FloatArray) -> FloatArray:
    """Return rows with those shortened that rounding carried out of the unit ball."""
    lengths = np.linalg.norm(X, axis=-1, keepdims=True)
    return np.asarray(np.where(lengths > 1, X * ((1 - INWARDS) / np.maximum(lengths, 1.0)), X))


_DONE = {Relation.ADD: "added", Relation.REMOVE: "removed", Relation.REPLACE: "put in the place of another"}


def _scale(word: str, bound: float, scale: float) -> tuple[float, str]:
    return (bound, "") if math.isfinite(bound) else (scale, f", {word} up to {scale:g}")


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not math.isfinite(value) or int(value) != value or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {name}={value}")
    return int(value)


@dataclass(frozen=True, eq=False)
class RawDataset:
    """Records of which nothing is demanded: values may be missing, infinite, or outside the public domain.

    Raises ``ValueError`` if the shapes disagree. No message and no ``repr`` shows a cell.
    """

    X: NDArray[Any] = field(repr=False)
    y: NDArray[Any] = field(repr=False)
    #: what a mechanism is told; no record is held to it
    x_bound: float
    y_bound: float
    name: str = "data"
    public: bool = False  #: true when the records themselves may be published

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
    """Two data sets of any kind, for audits that look at outputs alone."""

    first: Dataset | RawDataset = field(repr=False)
    second: Dataset | RawDataset = field(repr=False)
    relation: Relation
    words: str  #: how they differ, without a cell of either
    distance: int = 1  #: records apart, at least 1

    def __post_init__(self) -> None:
        if isinstance(self.distance, bool) or int(self.distance) != self.distance or self.distance < 1:
            raise ValueError(f"distance must be a whole number of at least 1, got distance={self.distance}")
