"""Where to look for counterexamples: structured pairs of data sets, and a search over real parameters.

A search finds on one random stream; whatever it finds is confirmed by the caller on another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..results import Result
from ..stats.intervals import check_size

#: Relative size of the second direction in a nearly singular design.
NEARLY = 1e-4

#: Least distance of two starts of local searches, as a share of the box along some side.
APART = 0.3

#: Stands for a value that is not finite in a search.
_HUGE = 1e300


@dataclass(frozen=True)
class NamedPair:
    """A pair and the words that say how it was built.

    Attributes
    ----------
    name : str
        How it was built, in words.
    pair : NeighbouringPair
        The two data sets.
    """

    name: str
    pair: NeighbouringPair


def adversarial_pairs(n_records: int, dim: int, *, x_bound: float, y_bound: float) -> tuple[NamedPair, ...]:
    """Return structured pairs at the edges of a public domain, each as ADD and as REMOVE.

    Designs: all rows alike, rows spread over the axes, a nearly singular design, rows that are almost zero.
    Responses at the bound, alike or alternating. Targets: the least and the most excited direction at the full norm,
    with either response; a copy of the first record with the opposite response.

    Parameters
    ----------
    n_records : int
        Records of the smaller data set, at least 1.
    dim : int
        Features, at least 1.
    x_bound, y_bound : float
        Public bounds; finite, since the pairs sit on them.

    Returns
    -------
    tuple of NamedPair
        The same ones every time.

    Examples
    --------
    >>> from audits import adversarial_pairs
    >>> pairs = adversarial_pairs(3, 2, x_bound=1.0, y_bound=1.0)
    >>> len(pairs), pairs[0].name
    (80, 'rows alike; responses alike; least excited direction, response +; add')
    """
    n_records, dim = check_size(n_records), check_size(dim)
    if not (math.isfinite(x_bound) and math.isfinite(y_bound) and x_bound > 0 and y_bound > 0):
        raise ValueError(f"x_bound and y_bound must be finite and positive, got {x_bound=}, {y_bound=}")
    pairs = []
    for (design, X), (responses, y) in itertools.product(
        _designs(n_records, dim, x_bound), _responses(n_records, y_bound)
    ):
        dataset = Dataset(X, y, x_bound, y_bound, name=f"{design}, {responses}", public=True)
        for target, x, response in _targets(dataset):
            added = NeighbouringPair.add(dataset, x, response)
            name = f"{design}; {responses}; {target}"
            pairs += [NamedPair(f"{name}; add", added), NamedPair(f"{name}; remove", added.swapped())]
    return tuple(pairs)


def _designs(n: int, dim: int, bound: float) -> Iterator[tuple[str, FloatArray]]:
    axes = bound * np.eye(dim)
    alike = np.tile(axes[0], (n, 1))
    yield "rows alike", alike
    if dim > 1:
        yield "rows over the axes", axes[np.arange(n) % dim]
        tilted = (axes[0] + NEARLY * axes[1]) / math.hypot(1.0, NEARLY)
        yield "nearly singular", np.where((np.arange(n) % 2 == 0)[:, None], axes[0], tilted)
    yield "rows almost zero", NEARLY * alike


def _responses(n: int, bound: float) -> Iterator[tuple[str, FloatArray]]:
    yield "responses alike", np.full(n, bound)
    if n > 1:
        yield "responses alternate", np.where(np.arange(n) % 2 == 0, bound, -bound)


def _targets(dataset: Dataset) -> Iterator[tuple[str, FloatArray, float]]:
    _, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    columns = [("least excited", vectors[:, 0])] + ([("most excited", vectors[:, -1])] if dataset.dim > 1 else [])
    for word, vector in columns:
        x = vector * (dataset.x_bound / np.linalg.norm(vector))
        for sign in (1.0, -1.0):
            yield f"{word} direction, response {'+' if sign > 0 else '-'}", x, sign * dataset.y_bound
    yield "first record, opposite response", dataset.X[0], -float(dataset.y[0])


@dataclass(frozen=True, repr=False)
class Maximum(Result):
    """The best point a search found; a search proves nothing about the points it did not try.

    Attributes
    ----------
    point : (k,) array
        In the box.
    value : float
        Of the objective there.
    n_evaluations : int
        Of the objective.
    """

    point: FloatArray
    value: float
    n_evaluations: int


def search_maximum(
    objective: Callable[[FloatArray], float],
    box: Sequence[tuple[float, float]],
    *,
    rng: np.random.Generator,
    n_starts: int = 64,
    n_polish: int = 6,
    evaluations_each: int = 200,
) -> Maximum:
    """Return the best of a stratified scan of a box, of its corners, and of Nelder-Mead runs from the best points.

    The local searches start from points that are some way apart, lest they all climb one broad hill.

    Parameters
    ----------
    objective : callable
        Takes a point of shape ``(k,)``; deterministic; nan counts as the worst value.
    box : sequence of (low, high)
        One finite interval a parameter (search on a log scale by parametrising so).
    rng : Generator
        Places the scan.
    n_starts : int
        Points of the scan (a Latin hypercube); the corners are added when they are no more than that.
    n_polish : int
        Local searches.
    evaluations_each : int
        Largest number of evaluations of one local search.

    Returns
    -------
    Maximum
        The best point seen.

    Raises
    ------
    ValueError
        If the box is not finite intervals with low <= high.

    Examples
    --------
    >>> from audits import search_maximum
    >>> best = search_maximum(lambda p: -abs(p[0] - 0.3), [(0.0, 1.0)], rng=np.random.default_rng(0))
    >>> round(float(best.point[0]), 6)
    0.3
    """
    from scipy.optimize import minimize

    low, high = (np.array(ends, dtype=np.float64) for ends in zip(*box, strict=True))
    if not (np.isfinite(low).all() and np.isfinite(high).all() and (low <= high).all()):
        raise ValueError(f"box must be finite intervals with low <= high, got box={list(box)}")
    n_starts, dim = check_size(n_starts), low.size
    used = 0

    def loss(point: FloatArray) -> float:
        nonlocal used
        used += 1
        value = float(objective(np.clip(point, low, high)))
        return -value if math.isfinite(value) else (_HUGE if math.isnan(value) or value < 0 else -_HUGE)

    strata = rng.permuted(np.tile(np.arange(n_starts), (dim, 1)), axis=1).T
    starts = [low + (high - low) * row for row in (strata + rng.random((n_starts, dim))) / n_starts]
    if 2**dim <= n_starts:
        starts += [np.array(corner) for corner in itertools.product(*zip(low, high, strict=True))]
    losses = [loss(start) for start in starts]
    order = sorted(range(len(starts)), key=losses.__getitem__)
    best_loss, best = losses[order[0]], starts[order[0]]
    for start in _apart([starts[i] for i in order], high - low, n_polish):
        result = minimize(
            loss,
            start,
            method="Nelder-Mead",
            bounds=list(zip(low, high, strict=True)),
            options={"maxfev": evaluations_each, "xatol": 1e-12, "fatol": 1e-12},
        )
        if result.fun < best_loss:
            best_loss, best = float(result.fun), np.clip(result.x, low, high)
    return Maximum(best, float(objective(best)), used + 1)


def _apart(points: Sequence[FloatArray], sides: FloatArray, n_points: int) -> list[FloatArray]:
    """Return the first points, best first, that keep their distance from those before them."""
    chosen: list[FloatArray] = []
    for point in points:
        if len(chosen) < n_points and all((np.abs(point - other) >= APART * sides).any() for other in chosen):
            chosen.append(point)
    return chosen
