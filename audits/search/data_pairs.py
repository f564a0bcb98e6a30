"""Neighbouring pairs that start from data at hand: its own extreme records, and the edge of what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from mechanisms.data.dataset import Dataset, FloatArray, row_norms
from mechanisms.data.neighbours import NeighbouringPair, Relation

from ..stats.intervals import check_size
from .worst_case import NamedPair

#: How far beyond the data a record goes where there is no public bound.
BEYOND = 10.0


def own_data_pairs(
    dataset: Dataset,
    relation: Relation,
    count: int = 8,
    *,
    n_min: int = 0,
    n_max: int | None = None,
    labels: bool = False,
) -> tuple[NamedPair, ...]:
    """Return pairs around a user's own data, in which one of its extreme records is removed or replaced.

    The records of largest ``|y|``, row norm, residual and leverage, the first and the last. For ``ADD`` or ``REMOVE``
    the two alternate, and records at the edge of the domain are added to the whole data set as well; for ``REPLACE``
    a record becomes the opposite extreme within the bounds, then zero. The names quote no value of the data.

    Parameters
    ----------
    dataset : Dataset, the user's own
    relation : Relation, ``REPLACE``, or ``ADD`` or ``REMOVE``: the last two alternate
    count : int, pairs wanted; there may be fewer
    n_min, n_max : int, int or None, least and largest number of records that the domain allows
    labels : bool, responses are -1 and +1 only

    Returns
    -------
    tuple of NamedPair
        At most ``count``.
    """
    check_size(count, 0)
    build = _replaced if relation is Relation.REPLACE else _more_or_less
    pairs = build(dataset, _extreme_records(dataset) if dataset.n_records else {}, labels)
    most = math.inf if n_max is None else n_max
    allowed = (p for p in pairs if all(n_min <= d.n_records <= most for d in (p.pair.first, p.pair.second)))
    return tuple(islice(allowed, count))


def _extreme_records(dataset: Dataset) -> dict[int, str]:
    """Return the places of the extreme records, each once, with words."""
    scale = max(float(np.abs(dataset.X).max()), 1e-300)
    X = dataset.X / scale
    inverse = np.linalg.pinv(X.T @ X, hermitian=True)
    residuals = dataset.y - X @ (inverse @ (X.T @ dataset.y))
    extreme = {
        "largest response": int(np.argmax(np.abs(dataset.y))),
        "largest row": int(np.argmax(row_norms(dataset.X))),
        "largest residual": int(np.argmax(np.abs(residuals))),
        "largest leverage": int(np.argmax(np.einsum("ij,jk,ik->i", X, inverse, X))),
        "first place": 0,
        "last place": dataset.n_records - 1,
    }
    places: dict[int, str] = {}
    for words, place in extreme.items():
        places[place] = f"{places[place]} and {words}" if place in places else words
    return places


def _edges(dataset: Dataset, labels: bool) -> tuple[float, float]:
    """Return the largest row norm and response that are tried."""
    x_edge, y_edge = dataset.x_bound, dataset.y_bound
    if not math.isfinite(x_edge):
        x_edge = BEYOND * max(1.0, float(row_norms(dataset.X).max(initial=0.0)))
    if not math.isfinite(y_edge):
        y_edge = BEYOND * max(1.0, float(np.abs(dataset.y).max(initial=0.0)))
    return x_edge, 1.0 if labels else y_edge


def _more_or_less(dataset: Dataset, places: dict[int, str], labels: bool) -> Iterator[NamedPair]:
    for number, (place, words) in enumerate(places.items()):
        removed = NeighbouringPair.remove(dataset, place)
        if number % 2:
            yield NamedPair(f"your data, its record of {words} added to the others", removed.swapped())
        else:
            yield NamedPair(f"your data, its record of {words} removed", removed)
    x_edge, y_edge = _edges(dataset, labels)
    for words, direction in _directions(dataset):
        for sign in (1.0, -1.0):
            name = f"your data and a record in the {words} excited direction, response {'+' if sign > 0 else '-'}"
            yield NamedPair(name, NeighbouringPair.add(dataset, direction * x_edge, sign * y_edge))


def _directions(dataset: Dataset) -> Iterator[tuple[str, FloatArray]]:
    X = dataset.X / max(float(np.abs(dataset.X).max(initial=0.0)), 1e-300)
    _, vectors = np.linalg.eigh(X.T @ X)
    for words, column in (("least", 0), ("most", -1)):
        if column == 0 or dataset.dim > 1:
            vector = vectors[:, column]
            yield words, np.asarray(vector * ((1 - 1e-14) / np.linalg.norm(vector)))


def _replaced(dataset: Dataset, places: dict[int, str], labels: bool) -> Iterator[NamedPair]:
    x_edge, y_edge = _edges(dataset, labels)
    norms = row_norms(dataset.X)
    for place, words in places.items():
        x, y = dataset.X[place], float(dataset.y[place])
        unit = x / norms[place] if norms[place] > 0 else np.eye(dataset.dim)[0]
        opposite = -y if labels else -math.copysign(y_edge, y)
        pair = NeighbouringPair.replace(dataset, place, -unit * ((1 - 1e-14) * x_edge), opposite)
        yield NamedPair(f"your data, its record of {words} replaced by the opposite extreme", pair)
    for place, words in places.items():
        response = float(dataset.y[place]) if labels else 0.0
        if dataset.X[place].any() or response != dataset.y[place]:
            pair = NeighbouringPair.replace(dataset, place, np.zeros(dataset.dim), response)
            yield NamedPair(f"your data, its record of {words} replaced by a zero", pair)


def refusal_boundary(accepts: Callable[[Dataset], bool], refused: Dataset, accepted: Dataset) -> NamedPair | None:
    """Return two neighbouring data sets of which the first is refused and the second accepted, or the reverse order.

    On a path that turns the refused data set into the accepted one by one record a step, two neighbours differ;
    bisection finds such a place in about ``log2(n) + 3`` calls, whatever the rule of refusal is.

    ``accepts``: whether the mechanism takes a data set; a fixed answer for each. ``refused``, ``accepted``: of one
    public domain; None comes back where the answers for these are not as said.
    """
    path = _Path(refused, accepted)
    if accepts(refused) or not accepts(accepted):
        return None
    low, high = 0, path.length  # low is refused, high is accepted
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(path.dataset(middle)) else (middle, high)
    pair = path.step(low)
    sizes = f"{pair.first.n_records} records refused, {pair.second.n_records} accepted"
    return NamedPair(f"edge of what is refused: {sizes}", pair)


class _Path:
    """From one data set to another: records of the second are added first, then those of the first are taken away.

    The records of the second that lie beyond the first's number come first, so that a prefix grows as a prefix.
    """

    def __init__(self, start: Dataset, end: Dataset) -> None:
        if (start.dim, start.x_bound, start.y_bound) != (end.dim, end.x_bound, end.y_bound):
            raise ValueError("refused must be of the public domain of accepted, got another one")
        self.start = start
        order = np.roll(np.arange(end.n_records), -start.n_records) if end.n_records > start.n_records else slice(None)
        self.X, self.y = end.X[order], end.y[order]
        grow = max(end.n_records - start.n_records, 0)
        shrink = max(start.n_records - end.n_records, 0)
        both = min(start.n_records, end.n_records)
        swap = (0, 1) if shrink or not grow else (1, 0)  # keep the sizes between those of the two ends if possible
        moves = [0] * grow + [1] * shrink + [swap[i % 2] for i in range(2 * both)]
        self.added = np.concatenate([[0], np.cumsum([move == 0 for move in moves])]).astype(int)
        self.length = len(moves)

    def dataset(self, steps: int) -> Dataset:
        added = self.added[steps]
        taken = steps - added
        X = np.vstack([self.start.X[taken:], self.X[:added]])
        return replace(self.start, X=X, y=np.concatenate([self.start.y[taken:], self.y[:added]]), public=False)

    def step(self, steps: int) -> NeighbouringPair:
        before, added = self.dataset(steps), self.added[steps]
        if self.added[steps + 1] > added:
            return NeighbouringPair.add(before, self.X[added], float(self.y[added]))
        return NeighbouringPair.remove(before, 0)
