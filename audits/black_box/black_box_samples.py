"""Rank events from three disjoint samples: scores are learned on one, events chosen on one, counted on one.

Predictions may be rough: they decide which event is certified on fresh draws and have no part in its validity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from mechanisms import Dataset, Mechanism, NeighbouringPair
from mechanisms.data.dataset import FloatArray

from ..estimate import Budget
from .black_box_events import RankEvent
from .black_box_results import CurvePoints
from .black_box_scores import (
    BITS,
    CELL_KINDS,
    MAX_ADDITIVE,
    WHOLE,
    Places,
    Score,
    fit_additive,
    fit_bins,
    fit_cells,
    fit_hinges,
    fit_lean,
    fit_quadratic,
    fit_raw,
    fit_sum,
    of_columns,
    telling_columns,
)

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
    """The event that will be certified; see ``Candidates``."""

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
        """The event in words, in the sign and the units of the score."""
        side, up = "first" if self.forward else "second", self.forward is not getattr(self.score, "minus", False)
        end, limit, at = ("largest", "at least", self.threshold) if up else ("smallest", "at most", -self.threshold)
        where = f"{limit} {at + 0.0:.6g}, " if self.counted else ""
        return f"{self.score.name} {where}among the {end} {self.mass:.3%} of the {side} data set"


def candidates(
    score: Score, first: FloatArray, second: FloatArray, ratio: Callable[[FloatArray], FloatArray] | None = None
) -> tuple[Candidates, Candidates]:
    """Return the events of ``score`` in both directions, their masses predicted from two samples of outputs.

    ``ratio`` gives the log likelihood ratio at scores ``(n, 1)`` where it is known; otherwise it is fitted.
    """
    s1, s2 = score(first), score(second)
    values, repeats = np.unique(np.concatenate([s1, s2]), return_counts=True)
    counted = bool((repeats - 1).sum() > DISCRETE * (len(s1) + len(s2)))
    if counted:
        in_first = np.bincount(np.searchsorted(values, s1), minlength=len(values)).astype(np.float64)
        in_second = np.bincount(np.searchsorted(values, s2), minlength=len(values)).astype(np.float64)
    else:
        ratio = ratio or fit_hinges(s1[:, None], s2[:, None])
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


def predicted_epsilon(
    c: Candidates, n: int, delta: float, failure_prob: float, n_other: int | None = None
) -> FloatArray:
    """Return the predicted lower bound on epsilon of each event, for ``n`` certifying draws per data set.

    With ``n_other``, these are the draws under ``P`` alone, and so many are made under ``Q``.
    """
    m = n if n_other is None else n_other
    a, b = _spreads(c, n, m, delta, failure_prob)
    ratio = np.log(np.maximum(c.mass - delta, 1e-300) / np.maximum(c.other, 0.7 / m))
    doubt = (1.0 if c.counted else DOUBT) * np.sqrt(
        (1 - c.mass) / (c.mass * c.seen) + 1.0 / (np.maximum(c.other, 0.5 / c.seen) * c.seen)
    )
    return np.where(c.mass * n >= 2, ratio - np.hypot(a, b) - doubt, -np.inf)


def _spreads(c: Candidates, n: int, m: int, delta: float, failure_prob: float) -> tuple[FloatArray, FloatArray]:
    half = stats.norm.isf(failure_prob) * np.sqrt(c.mass * (1 - c.mass) / n)
    a = np.log(np.maximum(c.mass - delta, 1e-300) / np.maximum(c.mass - delta - half, 1e-300))
    floor = np.maximum(c.other, 0.7 / m)
    upper = special.betaincinv(c.other * m + 1, np.maximum(m * (1 - c.other), 1e-9), 1 - failure_prob)
    return a, np.log(np.maximum(upper, floor) / floor)


#: The place of an event among candidates, the prediction there, and the claimed point that it attacks.
Predicted = tuple[int, float, dict[str, float]]


def choose_epsilon(
    options: Sequence[Candidates], n: int, delta: float, failure_prob: float, n_other: int | None = None
) -> Choice:
    """Return the event with the largest predicted lower bound on epsilon at ``delta``; see ``predicted_epsilon``."""

    def predict(c: Candidates) -> Predicted:
        predicted = predicted_epsilon(c, n, delta, failure_prob, n_other)
        return int(np.argmax(predicted)), float(predicted.max()), {}

    return _chosen(options, predict)


def choose_mu(options: Sequence[Candidates], n: int, failure_prob: float) -> Choice:
    """Return, per score the event at which mu is estimated most sharply, and of these the largest predicted bound.

    Under the assumption of this line mu is the same at every event, so the sharpest one is the best one.
    """
    z = stats.norm.isf(failure_prob)

    def predict(c: Candidates) -> Predicted:
        edge = 0.5 / c.seen
        p, q = np.clip(c.mass, edge, 1 - edge), np.clip(c.other, edge, 1 - edge)
        xp, xq = special.ndtri(p), special.ndtri(q)
        spread = np.sqrt(p * (1 - p) / stats.norm.pdf(xp) ** 2 + q * (1 - q) / stats.norm.pdf(xq) ** 2) / np.sqrt(n)
        place = int(np.argmin(spread))
        return place, float(xp[place] - xq[place] - z * spread[place]), {}

    return _chosen(options, predict)


def choose_attack(
    options: Sequence[Candidates], n: int, epsilons: FloatArray, forward: FloatArray, backward: FloatArray
) -> Choice:
    """Return the event, and the point of the claimed curve, whose violation is predicted to be the clearest.

    ``forward`` and ``backward`` are the claimed deltas at ``epsilons`` in the two directions, shape ``(n_points,)``.
    """

    def predict(c: Candidates) -> Predicted:
        deltas = forward if c.forward else backward
        slope = np.exp(-epsilons)[None, :]
        least = slope * np.maximum(c.mass[:, None] - deltas[None, :], 0.0)
        noise = least * (1 - least) + (slope**2) * (c.mass * (1 - c.mass))[:, None]
        predicted = (least - c.other[:, None]) * np.sqrt(n) / np.sqrt(np.maximum(noise, 1.0 / n))
        i, j = np.unravel_index(int(np.argmax(predicted)), predicted.shape)
        return int(i), float(predicted[i, j]), {"epsilon": float(epsilons[j]), "delta": float(deltas[j])}

    return _chosen(options, predict)


def _chosen(options: Sequence[Candidates], predict: Callable[[Candidates], Predicted]) -> Choice:
    """Return the best event of all scores; a change of score must be worth it."""
    best: tuple[float, Choice] | None = None
    for c in options:
        if not len(c.mass):
            continue
        place, predicted, point = predict(c)
        if best is not None:
            needed = best[0] if best[1].score.name == c.score.name else best[0] + (ADVANTAGE - 1) * abs(best[0])
            if predicted <= needed:
                continue
        event = float(c.threshold[place]), float(c.mass[place]), float(c.other[place])
        best = predicted, Choice(c.score, c.forward, c.counted, *event, **point)
    if best is None:
        raise ValueError("n_draws must be large enough for at least one event to be considered, got too few draws")
    return best[1]


#: Below this many draws per data set nothing is spent on choosing: preset events are certified instead.
SMALL = 2000
#: Training draws per data set that show the shape of an output.
PROBE = 10
#: Levels of P(S) of the preset events.
PRESET_LEVELS = (0.3, 0.5, 0.7)
#: Most numbers that a chunk of draws may hold.
CHUNK = 1 << 22
#: Most draws per data set that training or choosing keeps.
KEPT = 200_000
#: Most numbers per data set that are held as drawn; draws beyond that are reduced to scores at once.
HELD = 1 << 24
#: Calls of the mechanism end at these shares of its draws, so that a later call may repeat an earlier one and be seen.
CALL_ENDS = (0.25, 0.55)


def sample_sizes(n: int, k: int) -> tuple[int, int, int]:
    """Return how many of ``n`` draws per data set, of ``k`` numbers each, train, choose and certify."""
    if n < SMALL:
        train, choose = (0.08 if k == 1 else 0.3), 0.0
    else:
        train, choose = (0.02, 0.08) if k == 1 else (0.25, 0.15)
    n_train, n_choose = min(max(PROBE, round(train * n)), KEPT), min(round(choose * n), KEPT)
    return n_train, n_choose, n - n_train - n_choose


@dataclass(frozen=True)
class Learned:
    """What training and choosing gave: scores, candidate events, and what is left for certifying.

    ``options`` read outputs as numbers; ``bit_options`` read the floating-point grid they lie on.
    """

    scores: tuple[Score, ...]
    options: tuple[Candidates, ...]
    bit_options: tuple[Candidates, ...]
    train: tuple[FloatArray, FloatArray]
    chosen: tuple[FloatArray, FloatArray] | None
    n_certify: int
    n_draws: int

    @property
    def method(self) -> str:
        """How a bound of a rank event was made, in words."""
        return f"black box, exact rank event, {self.n_certify} certifying draws per data set"


def learn(mechanism: Mechanism, pair: NeighbouringPair, budget: Budget) -> Learned:
    """Return what the train and choose samples give; streams are keyed, so the same budget gives the same draws."""
    n = budget.n_draws // 2
    if n < 50:
        raise ValueError(f"n_draws must be at least 100 for a black-box audit, got n_draws={budget.n_draws}")
    probe = _draw(mechanism, pair, budget, "train", PROBE)  # the shape of an output is not known before the first draws
    k = probe[0].shape[1]
    n_train, n_choose, n_certify = sample_sizes(n, k)
    train = probe
    if n_train > PROBE:
        more = _draw(mechanism, pair, budget, "train more", n_train - PROBE)
        train = np.concatenate([probe[0], more[0]]), np.concatenate([probe[1], more[1]])
    scores = _scores(*train, learned=n_choose > 0)
    options: list[Candidates] = []
    bit_options: list[Candidates] = []
    chosen = None
    if n_choose:
        chosen = _draw(mechanism, pair, budget, "choose", n_choose)
        for score in scores:
            (bit_options if score.name == BITS else options).extend(candidates(score, *chosen))
    return Learned(scores, tuple(options), tuple(bit_options), train, chosen, n_certify, 2 * n)


def _draw(
    mechanism: Mechanism, pair: NeighbouringPair, budget: Budget, purpose: str, n: int
) -> tuple[FloatArray, FloatArray]:
    first, second = (
        np.asarray(mechanism.draw(dataset, n, rng=budget.key.child(purpose, member).rng()), dtype=np.float64)
        for dataset, member in ((pair.first, "first"), (pair.second, "second"))
    )
    return first, second


def _draw_scores(
    mechanism: Mechanism,
    dataset: Dataset,
    learned: Learned,
    scores: Sequence[Score],
    budget: Budget,
    member: str,
    held: int,
) -> tuple[FloatArray, list[FloatArray]]:
    """Return the scores of the certifying draws, shape ``(n_scores, n)``, and the first ``held`` draws as they are."""
    rng = budget.key.child("certify", member).rng()
    n, k = learned.n_certify, learned.train[0].shape[1]
    result, kept = np.empty((len(scores), n)), []
    for start, end in _calls(n, learned.n_draws // 2, max(1, CHUNK // k), held):
        outputs = np.asarray(mechanism.draw(dataset, end - start, rng=rng), dtype=np.float64)
        for row, score in enumerate(scores):
            result[row, start:end] = score(outputs)
        if start < held:
            kept.append(outputs[: held - start])
    return result, kept


def _calls(n: int, n_all: int, rows: int, held: int) -> list[tuple[int, int]]:
    """Return where calls that draw ``n`` rows start and end, at most ``rows`` each."""
    ends = {n, *range(rows, n, rows)}
    if held:
        ends |= {end for share in CALL_ENDS if 0 < (end := round(share * n_all) - (n_all - n)) < n}
    ordered = sorted(ends)
    return list(zip([0, *ordered], ordered, strict=False))


def _scores(first: FloatArray, second: FloatArray, *, learned: bool) -> tuple[Score, ...]:
    columns = telling_columns(first, second)
    if columns is not None:
        return _wide_scores(first, second, columns, learned=learned)
    scores: list[Score] = [fit_raw(first, second) if first.shape[1] == 1 else fit_quadratic(first, second)]
    if learned:
        if first.shape[1] == 1:
            scores += [fit_hinges(first, second), fit_bins(first, second)]
        elif first.shape[1] <= MAX_ADDITIVE:
            scores.append(fit_additive(first, second))
        for kind in CELL_KINDS:
            cells = fit_cells(first, second, kind)
            if any(len(c) for c in cells.cells):  # one cell against everything that lies in none is a test, too
                scores.append(cells)
    return tuple(scores)


def _wide_scores(first: FloatArray, second: FloatArray, columns: Places, *, learned: bool) -> tuple[Score, ...]:
    """Return the scores of outputs of many columns: of the chosen ones, and of all at once."""
    one, two = first[:, columns], second[:, columns]
    scores: list[Score] = [of_columns(fit_quadratic(one, two), columns)]
    if learned:
        scores += [score for fit in (fit_sum, fit_lean) if (score := fit(first, second)) is not None]
        whole = fit_cells(first, second, WHOLE)
        some = [fit_cells(one, two, kind) for kind in CELL_KINDS if kind != WHOLE]
        scores += [of_columns(cells, columns) for cells in some if any(len(c) for c in cells.cells)]
        scores += [whole] if any(len(c) for c in whole.cells) else []
    return tuple(scores)


def preset_choices(learned: Learned, points: CurvePoints | None) -> list[Choice]:
    """Return preset events of the most trusted score in both directions, each with the claimed point it attacks."""
    choices: list[Choice] = []
    for forward in (True, False):
        for level in PRESET_LEVELS:
            epsilon = delta = 0.0
            if points is not None:
                deltas = points.forward if forward else points.backward
                place = int(np.argmax(np.exp(-points.epsilons) * (level - deltas)))
                epsilon, delta = float(points.epsilons[place]), float(deltas[place])
            choices.append(Choice(learned.scores[0], forward, False, 0.0, level, level, epsilon, delta))
    return choices


@dataclass(frozen=True)
class Certified:
    """Events of each line's choices, counted on one fresh sample, and every draw that is held, in order of drawing."""

    events: list[list[RankEvent]]
    first: FloatArray
    second: FloatArray


def certify(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    budget: Budget,
    learned: Learned,
    lines: Sequence[Sequence[Choice]],
    *,
    hold: bool = False,
) -> Certified:
    """Return the events of each line's choices as counted on one fresh sample, the certifying draws.

    With ``hold``, the draws are returned as well, those of training and choosing first, up to ``HELD`` numbers.
    """
    used = {choice.score.name: choice.score for choices in lines for choice in choices}
    samples = [learned.train] if learned.chosen is None else [learned.train, learned.chosen]
    k, before = learned.train[0].shape[1], sum(len(first) for first, _ in samples)
    held = max(0, min(learned.n_certify, HELD // k - before)) if hold else 0
    scores: list[FloatArray] = []
    draws: list[FloatArray] = []
    ties: list[FloatArray] = []
    for place, (dataset, member) in enumerate(((pair.first, "first"), (pair.second, "second"))):
        row, kept = _draw_scores(mechanism, dataset, learned, list(used.values()), budget, member, held)
        scores.append(row)
        draws.append(np.concatenate([*(sample[place] for sample in samples), *kept]) if hold else np.empty((0, k)))
        ties.append(budget.key.child("ties", member).rng().random(learned.n_certify))
    places = {name: place for place, name in enumerate(used)}

    def count(choice: Choice) -> RankEvent:
        place = places[choice.score.name]
        return count_event(choice, scores[0][place], scores[1][place], ties[0], ties[1])

    return Certified([[count(choice) for choice in line] for line in lines], draws[0], draws[1])


def count_event(
    choice: Choice, first: FloatArray, second: FloatArray, first_ties: FloatArray, second_ties: FloatArray
) -> RankEvent:
    """Return the event as counted on scores; equal scores are ordered by independent uniform numbers."""
    p, q = (first, second) if choice.forward else (-second, -first)
    n = len(p)
    p_ties, q_ties = (first_ties, second_ties) if choice.forward else (second_ties, first_ties)
    k = min(max(1, round(choice.mass * n)), n)
    threshold = np.partition(p, n - k)[n - k]
    still = k - int((p > threshold).sum())
    tied = np.sort(p_ties[p == threshold])
    count = (q > threshold).sum() + ((q == threshold) & (q_ties >= tied[len(tied) - still])).sum()
    return RankEvent(k, n, int(count), len(q))
