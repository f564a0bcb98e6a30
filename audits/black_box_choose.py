"""Which event to certify: predictions made from the choosing draws only.

Predictions may be rough: they decide which event is certified on fresh draws and have no part in its validity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from .black_box_scores import Score, fit_hinges

FloatArray = NDArray[np.float64]

#: Levels of P(S) that are considered, beside the extreme tails that the sample size allows.
LEVELS = 80
#: A score counts as discrete when more than this share of its pooled values is repeated.
DISCRETE = 0.05
#: A learned score must be predicted to beat the one before it by this factor (noise in the predictions aside).
ADVANTAGE = 1.05
#: Standard errors of the choosing sample's own log ratio that a smoothed prediction is reduced by.
DOUBT = 0.1
#: Standard errors by which the rank of a counted event may stay below what was counted: one step beyond an atom can
#: add a cell that the other data set is full of.
MARGINS = (0.7, 3.0)
#: Equally likely errors of a counted mass, in standard errors; wider than those of one event, since the best of many
#: flatters itself.
NODES = 1.5 * stats.norm.ppf((np.arange(12) + 0.5) / 12)


@dataclass(frozen=True)
class Candidates:
    """Events ``{score >= threshold}`` of one score in one direction, with predicted masses.

    ``counted`` events belong to a discrete score, whose masses are counted and not smoothed.
    ``forward`` events have ``P`` = law under the first data set; otherwise the data sets swap roles and the
    score its sign.
    ``mass`` and ``other`` are the predicted ``P(S)`` and ``Q(S)``.
    """

    score: Score
    forward: bool
    counted: bool
    threshold: FloatArray
    mass: FloatArray
    other: FloatArray
    seen: int


@dataclass(frozen=True)
class Choice:
    """The event that will be certified; see :class:`Candidates`."""

    score: Score
    forward: bool
    counted: bool
    threshold: float
    mass: float
    other: float
    epsilon: float = 0.0
    delta: float = 0.0

    @property
    def event(self) -> str:
        """The event in words."""
        side, sign = ("first", "") if self.forward else ("second", "minus ")
        what = f"among the top {self.mass:.3%} of the {side} data set"
        what += f", about {self.threshold:.6g} or more" if self.counted else ""
        return f"{sign}score ({self.score.name}) {what}"


def candidates(score: Score, first: FloatArray, second: FloatArray) -> tuple[Candidates, Candidates]:
    """Return the events of ``score`` in both directions, their masses predicted from two samples of outputs."""
    s1, s2 = score(first), score(second)
    values, repeats = np.unique(np.concatenate([s1, s2]), return_counts=True)
    counted = bool((repeats - 1).sum() > DISCRETE * (len(s1) + len(s2)))
    if counted:
        in_first = np.bincount(np.searchsorted(values, s1), minlength=len(values)).astype(np.float64)
        in_second = np.bincount(np.searchsorted(values, s2), minlength=len(values)).astype(np.float64)
    else:
        ratio = fit_hinges(s1[:, None], s2[:, None])
        likely = special.expit(ratio(values[:, None]))
        in_first, in_second = likely * repeats, (1.0 - likely) * repeats
    forward = _tail(score, True, counted, values[::-1], in_first[::-1], in_second[::-1], len(s1))
    return forward, _tail(score, False, counted, -values, in_second, in_first, len(s1))


def _tail(
    score: Score, forward: bool, counted: bool, values: FloatArray, in_p: FloatArray, in_q: FloatArray, seen: int
) -> Candidates:
    """Return the half-lines of ``values`` (descending) at which the mass under ``P`` reaches a grid of levels."""
    p, q = np.cumsum(in_p) / in_p.sum(), np.cumsum(in_q) / in_q.sum()
    if counted:  # nothing smooths these counts, and an event never seen is not an event that never happens
        q = (np.cumsum(in_q) + 1.0) / (in_q.sum() + 1.0)
    if counted and len(values) <= 4 * LEVELS:
        places = np.arange(len(values))
    else:
        smallest = min(0.05, 5.0 / len(values))
        levels = np.r_[np.geomspace(smallest, 0.5, LEVELS // 2), np.linspace(0.5, 0.995, LEVELS // 2)[1:]]
        places = np.unique(np.minimum(np.searchsorted(p, levels), len(values) - 1))
    # an event that always happened is one to certify when it was counted (no noise at all), not when it was smoothed
    places = places[(p[places] > 0) & (counted | (p[places] < 1))]
    if not counted:
        return Candidates(score, forward, counted, values[places], p[places], q[places], seen)
    spread = np.sqrt(p[places] * (1 - p[places]) / seen)
    mass = np.concatenate([np.maximum(p[places] - margin * spread, 0.25 * p[places]) for margin in MARGINS])
    curve = np.r_[0.0, p], np.r_[1.0 / (in_q.sum() + 1.0), q]
    reached = mass[:, None] + np.tile(spread, len(MARGINS))[:, None] * NODES
    other = np.interp(reached, *curve).mean(axis=1)  # where a rank lies on the counted curve is known to its noise only
    return Candidates(score, forward, counted, np.tile(values[places], len(MARGINS)), mass, other, seen)


def predicted_epsilon(c: Candidates, n: int, delta: float, failure_prob: float) -> FloatArray:
    """Return the predicted lower bound on epsilon of each event, for ``n`` certifying draws per data set."""
    a, b = _spreads(c, n, delta, failure_prob)
    ratio = np.log(np.maximum(c.mass - delta, 1e-300) / np.maximum(c.other, 0.7 / n))
    doubt = (1.0 if c.counted else DOUBT) * np.sqrt(
        (1 - c.mass) / (c.mass * c.seen) + 1.0 / (np.maximum(c.other, 0.5 / c.seen) * c.seen)
    )
    return np.where(c.mass * n >= 2, ratio - np.hypot(a, b) - doubt, -np.inf)


def _spreads(c: Candidates, n: int, delta: float, failure_prob: float) -> tuple[FloatArray, FloatArray]:
    half = stats.norm.isf(failure_prob) * np.sqrt(c.mass * (1 - c.mass) / n)
    a = np.log(np.maximum(c.mass - delta, 1e-300) / np.maximum(c.mass - delta - half, 1e-300))
    floor = np.maximum(c.other, 0.7 / n)
    upper = special.betaincinv(c.other * n + 1, np.maximum(n * (1 - c.other), 1e-9), 1 - failure_prob)
    return a, np.log(np.maximum(upper, floor) / floor)


def choose_epsilon(options: Sequence[Candidates], n: int, delta: float, failure_prob: float) -> Choice:
    """Return the event with the largest predicted lower bound on epsilon at ``delta``."""
    best: tuple[float, Choice] | None = None
    for c in options:
        predicted = predicted_epsilon(c, n, delta, failure_prob)
        if len(predicted):
            best = _better(best, c, int(np.argmax(predicted)), float(predicted.max()))
    return _chosen(best)


def choose_mu(options: Sequence[Candidates], n: int, failure_prob: float) -> Choice:
    """Return, per score the event at which mu is estimated most sharply, and of these the largest predicted bound.

    Under the assumption of this line mu is the same at every event, so the sharpest one is the best one.
    """
    best: tuple[float, Choice] | None = None
    z = stats.norm.isf(failure_prob)
    for c in options:
        if not len(c.mass):
            continue
        edge = 0.5 / c.seen
        p, q = np.clip(c.mass, edge, 1 - edge), np.clip(c.other, edge, 1 - edge)
        xp, xq = special.ndtri(p), special.ndtri(q)
        spread = np.sqrt(p * (1 - p) / stats.norm.pdf(xp) ** 2 + q * (1 - q) / stats.norm.pdf(xq) ** 2) / np.sqrt(n)
        place = int(np.argmin(spread))
        best = _better(best, c, place, float(xp[place] - xq[place] - z * spread[place]))
    return _chosen(best)


def choose_attack(
    options: Sequence[Candidates], n: int, epsilons: FloatArray, forward: FloatArray, backward: FloatArray
) -> Choice:
    """Return the event, and the point of the claimed curve, whose violation is predicted to be the clearest.

    ``forward`` and ``backward`` are the claimed deltas at ``epsilons`` in the two directions, shape ``(n_points,)``.
    """
    best: tuple[float, Choice] | None = None
    for c in options:
        if not len(c.mass):
            continue
        deltas = forward if c.forward else backward
        slope = np.exp(-epsilons)[None, :]
        least = slope * np.maximum(c.mass[:, None] - deltas[None, :], 0.0)
        noise = least * (1 - least) + (slope**2) * (c.mass * (1 - c.mass))[:, None]
        predicted = (least - c.other[:, None]) * np.sqrt(n) / np.sqrt(np.maximum(noise, 1.0 / n))
        i, j = np.unravel_index(int(np.argmax(predicted)), predicted.shape)
        point = {"epsilon": float(epsilons[j]), "delta": float(deltas[j])}
        best = _better(best, c, int(i), float(predicted[i, j]), **point)
    return _chosen(best)


def _better(
    best: tuple[float, Choice] | None, c: Candidates, place: int, predicted: float, **more: float
) -> tuple[float, Choice]:
    """Return the better of two choices; a change of score must be worth it."""
    if best is not None:
        needed = best[0] if best[1].score.name == c.score.name else best[0] + (ADVANTAGE - 1) * abs(best[0])
        if predicted <= needed:
            return best
    chosen = Choice(
        c.score, c.forward, c.counted, float(c.threshold[place]), float(c.mass[place]), float(c.other[place]), **more
    )
    return predicted, chosen


def _chosen(best: tuple[float, Choice] | None) -> Choice:
    if best is None:
        raise ValueError("n_draws must be large enough for at least one event to be considered, got too few draws")
    return best[1]
