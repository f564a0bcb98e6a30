"""Where to look for counterexamples: structured pairs of data sets, and a search over real parameters.

A search finds on one random stream; whatever it finds is confirmed by the caller on another.

The best of many estimates flatters itself, so what a search saw is an indication only: the pair that it found is drawn
from anew, and the interval of this confirmation takes no account of the search because it need not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.base import BOTH, Direction, ExactLaw, WhiteBox
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate, Result
from ..stats.intervals import check_size
from ..white_box.tails import audit_tails, loss_sample, payoff

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
    name : str, how it was built, in words
    pair : NeighbouringPair
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
    n_records : int, records of the smaller data set, at least 1
    dim : int, features, at least 1
    x_bound, y_bound : float, public bounds; finite, since the pairs sit on them

    Returns
    -------
    tuple of NamedPair
        The same ones every time.

    Examples
    --------
    >>> from audits.search import adversarial_pairs
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
    point : (k,) array, in the box
    value : float, of the objective there
    n_evaluations : int, of the objective
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
    rng : Generator, places the scan
    n_starts : int
        Points of the scan (a Latin hypercube); the corners are added when they are no more than that.
    n_polish : int, local searches
    evaluations_each : int, largest number of evaluations of one local search

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
    >>> from audits.search import search_maximum
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
    chosen: list[FloatArray] = []
    for point in points:
        if len(chosen) < n_points and all((np.abs(point - other) >= APART * sides).any() for other in chosen):
            chosen.append(point)
    return chosen


@dataclass(frozen=True, repr=False)
class ConfirmedPair(Result):
    """The worst pair that a search found, and delta(epsilon) of the worse direction on fresh draws.

    Attributes
    ----------
    name : str, how the pair was built, in words
    found : float
        What the search saw: exact delta of a mechanism whose profile is known, otherwise the largest of many estimates.
    confirmed : Estimate
        Of the pair found, from draws that took no part in finding it; holds except with its ``failure_prob``. It speaks
        about this pair: a search proves nothing about the pairs that it did not try.
    n_searched : int, pairs that were looked at
    n_draws : int, mechanism evaluations of search and confirmation together
    """

    name: str
    pair: NeighbouringPair
    found: float
    confirmed: Estimate
    n_searched: int
    n_draws: int


def worst_pair(mechanism: WhiteBox, pairs: Sequence[NamedPair], budget: Budget, *, epsilon: float) -> ConfirmedPair:
    """Return the worst of several pairs (of ``adversarial_pairs``, for example) at ``epsilon``.

    Half of ``budget.n_draws`` search, an even share for each pair, unless the mechanism's profile is known; the rest
    confirms, with all of ``budget.failure_prob``.

    Parameters
    ----------
    mechanism, budget, epsilon
        As of ``search_pair``.
    pairs : sequence of NamedPair, at least one

    Returns
    -------
    ConfirmedPair
        The pair, and delta of it on fresh draws.

    Raises
    ------
    ValueError
        If there is no pair, or too few draws for each.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.search import adversarial_pairs, worst_pair
    >>> from mechanisms import PosteriorSampling
    >>> pairs = adversarial_pairs(3, 2, x_bound=1.0, y_bound=1.0)
    >>> worst_pair(PosteriorSampling(1.0, 1.0), pairs, Budget(2000, 0.01, StreamKey(1)), epsilon=0.5).name
    'rows over the axes; responses alike; least excited direction, response -; add'
    """
    if not pairs:
        raise ValueError("pairs must be at least one, got none")
    look = _Objective(mechanism, epsilon, budget, len(pairs))
    values = [look(named.pair) for named in pairs]
    best = pairs[int(np.argmax(values))]
    return look.confirm(best.name, best.pair, max(values))


def search_pair(
    mechanism: WhiteBox,
    build: Callable[[FloatArray], NeighbouringPair],
    box: Sequence[tuple[float, float]],
    budget: Budget,
    *,
    epsilon: float,
    n_starts: int = 32,
    n_polish: int = 3,
    evaluations_each: int = 60,
) -> ConfirmedPair:
    """Return the worst pair of a family with real parameters that a multi-start search finds at ``epsilon``.

    Parameters
    ----------
    mechanism : WhiteBox, with ``draw`` and ``privacy_loss``
    build : callable, from a point of ``box``, shape ``(k,)``, to a pair
    box : sequence of (low, high), one finite interval a parameter
    budget : Budget
    epsilon : float, natural log, finite
    n_starts, n_polish, evaluations_each : int
        See ``search_maximum``. All evaluations share one stream (common random numbers), so the estimated objective is
        a function of the point.

    Returns
    -------
    ConfirmedPair
        The pair, and delta of it on fresh draws.

    Raises
    ------
    ValueError
        If there are too few draws for the evaluations.
    """
    corners = 2 ** len(box)
    evaluations = n_starts + (corners if corners <= n_starts else 0) + n_polish * evaluations_each + 1
    look = _Objective(mechanism, epsilon, budget, evaluations)
    rng = budget.key.child("search", "points").rng()
    best = search_maximum(
        lambda point: look(build(point)),
        box,
        rng=rng,
        n_starts=n_starts,
        n_polish=n_polish,
        evaluations_each=evaluations_each,
    )
    return look.confirm(f"point {np.round(best.point, 6).tolist()}", build(best.point), best.value)


class _Objective:
    """Delta at epsilon, worse direction: exact, or estimated from an even share of half of the draws."""

    def __init__(self, mechanism: WhiteBox, epsilon: float, budget: Budget, evaluations: int) -> None:
        self.mechanism, self.epsilon, self.budget = mechanism, epsilon, budget
        self.exact = isinstance(mechanism, ExactLaw)
        self.n_each = 0 if self.exact else budget.n_draws // 2 // (len(BOTH) * evaluations)
        self.n_searched = 0
        if not self.exact and not self.n_each:
            raise ValueError(f"n_draws must be at least {4 * evaluations} here, got n_draws={budget.n_draws}")

    def __call__(self, pair: NeighbouringPair) -> float:
        """Return log delta where it is known, otherwise an estimate of delta, negative where no loss was that large."""
        self.n_searched += 1
        return max(self._one(pair, direction) for direction in BOTH)

    def _one(self, pair: NeighbouringPair, direction: Direction) -> float:
        if isinstance(self.mechanism, ExactLaw):
            return self.mechanism.profile(pair).log_delta_at(self.epsilon, direction)
        rng = self.budget.key.child("search", direction.name).rng()  # the same stream for every pair
        losses = loss_sample(self.mechanism, pair, direction, self.n_each, rng=rng)
        delta = float(payoff(losses, self.epsilon).mean())
        return delta if delta > 0 else min(float(losses.max()) - self.epsilon, 0.0)

    def confirm(self, name: str, pair: NeighbouringPair, value: float) -> ConfirmedPair:
        searched = self.n_searched * self.n_each * len(BOTH)
        fresh = self.budget.part("confirm", n_draws=self.budget.n_draws - searched)
        audit = audit_tails(self.mechanism, pair, [self.epsilon], fresh)
        seen = math.exp(value) if self.exact else max(value, 0.0)
        return ConfirmedPair(name, pair, seen, audit.delta(self.epsilon), self.n_searched, searched + audit.n_draws)
