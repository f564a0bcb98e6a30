"""The three disjoint samples of a black-box audit, and the events counted on the last of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms import Dataset, Mechanism, NeighbouringPair

from .base import Budget
from .black_box_choose import Candidates, Choice, candidates
from .black_box_events import FixedEvent, RankEvent, TestedEvent
from .black_box_scores import (
    BITS,
    CELL_KINDS,
    MAX_ADDITIVE,
    Score,
    fit_additive,
    fit_bins,
    fit_cells,
    fit_hinges,
    fit_quadratic,
    fit_raw,
)

FloatArray = NDArray[np.float64]

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
#: A train sample counts as discrete when more than this share of it is repeated.
REPEATED = 0.05


@dataclass(frozen=True)
class CurvePoints:
    """Claimed deltas at a grid of epsilons, in both directions, shape ``(n_points,)`` each."""

    epsilons: FloatArray
    forward: FloatArray
    backward: FloatArray


@dataclass(frozen=True)
class Plan:
    """Shares of each data set's draws that are spent on training and on choosing; the rest certifies."""

    train: float
    choose: float

    @classmethod
    def default(cls, n: int, k: int) -> Plan:
        """Return the plan for ``n`` draws per data set of ``k`` numbers each."""
        if n < SMALL:
            return cls(0.08 if k == 1 else 0.3, 0.0)
        return cls(0.02, 0.08) if k == 1 else cls(0.25, 0.15)

    def sizes(self, n: int) -> tuple[int, int, int]:
        """Return the three sample sizes, which add up to ``n``."""
        train = min(max(PROBE, round(self.train * n)), KEPT)
        choose = min(round(self.choose * n), KEPT)
        return train, choose, n - train - choose


@dataclass(frozen=True)
class Learned:
    """What training and choosing gave: scores, candidate events, and what is left for certifying.

    ``options`` read outputs as numbers; ``bit_options`` read the floating-point grid they lie on.
    """

    scores: tuple[Score, ...]
    options: tuple[Candidates, ...]
    bit_options: tuple[Candidates, ...]
    train: tuple[FloatArray, FloatArray]
    n_certify: int
    n_draws: int

    def method(self, choice: Choice) -> str:
        """Return how the bound was made, in words."""
        test = "Clopper-Pearson pair on a fixed event" if choice.fixed else "exact rank event"
        return f"black box, {test}, {self.n_certify} certifying draws per data set"


def learn(mechanism: Mechanism, pair: NeighbouringPair, budget: Budget) -> Learned:
    """Return what the train and choose samples give; streams are keyed, so the same budget gives the same draws."""
    n = budget.n_draws // 2
    if n < 50:
        raise ValueError(f"n_draws must be at least 100 for a black-box audit, got n_draws={budget.n_draws}")
    probe = _draw(mechanism, pair, budget, "train", PROBE)  # the shape of an output is not known before the first draws
    k = probe[0].shape[1]
    n_train, n_choose, n_certify = Plan.default(n, k).sizes(n)
    train = probe
    if n_train > PROBE:
        more = _draw(mechanism, pair, budget, "train more", n_train - PROBE)
        train = np.concatenate([probe[0], more[0]]), np.concatenate([probe[1], more[1]])
    scores = _scores(*train, learned=n_choose > 0)
    options: list[Candidates] = []
    bit_options: list[Candidates] = []
    if n_choose:
        chosen = _draw(mechanism, pair, budget, "choose", n_choose)
        for score in scores:
            (bit_options if score.name == BITS else options).extend(candidates(score, *chosen))
    return Learned(scores, tuple(options), tuple(bit_options), train, n_certify, 2 * n)


def _draw(
    mechanism: Mechanism, pair: NeighbouringPair, budget: Budget, purpose: str, n: int
) -> tuple[FloatArray, FloatArray]:
    first, second = (
        np.asarray(mechanism.draw(dataset, n, rng=budget.key.child(purpose, member).rng()), dtype=np.float64)
        for dataset, member in ((pair.first, "first"), (pair.second, "second"))
    )
    return first, second


def _draw_scores(
    mechanism: Mechanism, dataset: Dataset, n: int, scores: Sequence[Score], budget: Budget, member: str, k: int
) -> FloatArray:
    """Return the scores of the certifying draws, shape ``(n_scores, n)``, drawn in chunks of bounded memory."""
    rng = budget.key.child("certify", member).rng()
    rows = max(1, CHUNK // k)
    result = np.empty((len(scores), n))
    for start in range(0, n, rows):
        size = min(rows, n - start)
        outputs = np.asarray(mechanism.draw(dataset, size, rng=rng), dtype=np.float64)
        for row, score in enumerate(scores):
            result[row, start : start + size] = score(outputs)
    return result


def _scores(first: FloatArray, second: FloatArray, *, learned: bool) -> tuple[Score, ...]:
    """Return the scores, the most trusted one first."""
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


def preset_choices(learned: Learned, points: CurvePoints | None) -> list[Choice]:
    """Return preset events of the most trusted score in both directions, each with the claimed point it attacks.

    A score that repeats values in training gets fixed thresholds at its training quantiles instead of ranks.
    """
    score = learned.scores[0]
    trained = [score(outputs) for outputs in learned.train]
    pooled = np.concatenate(trained)
    fixed = len(np.unique(pooled)) < (1 - REPEATED) * len(pooled)
    choices: dict[tuple[bool, float], Choice] = {}
    for forward in (True, False):
        values = trained[0] if forward else -trained[1]
        for level in PRESET_LEVELS:
            threshold = float(np.quantile(values, 1 - level, method="lower"))
            epsilon = delta = 0.0
            if points is not None:
                deltas = points.forward if forward else points.backward
                place = int(np.argmax(np.exp(-points.epsilons) * (level - deltas)))
                epsilon, delta = float(points.epsilons[place]), float(deltas[place])
            key = (forward, threshold if fixed else level)
            choices[key] = Choice(score, forward, fixed, threshold, level, level, epsilon=epsilon, delta=delta)
    return list(choices.values())


def certify(
    mechanism: Mechanism,
    pair: NeighbouringPair,
    budget: Budget,
    learned: Learned,
    lines: Sequence[Sequence[Choice]],
) -> list[list[TestedEvent]]:
    """Return the events of each line's choices as counted on one fresh sample, the certifying draws."""
    used = {choice.score.name: choice.score for choices in lines for choice in choices}
    k = learned.train[0].shape[1]
    first, second = (
        _draw_scores(mechanism, dataset, learned.n_certify, list(used.values()), budget, member, k)
        for dataset, member in ((pair.first, "first"), (pair.second, "second"))
    )
    names = list(used)
    return [
        [
            _count(choice, first[names.index(choice.score.name)], second[names.index(choice.score.name)])
            for choice in line
        ]
        for line in lines
    ]


def _count(choice: Choice, first: FloatArray, second: FloatArray) -> TestedEvent:
    """Return the event as counted on the scores of the certifying draws."""
    n = len(first)
    p, q = (first, second) if choice.forward else (-second, -first)
    if choice.fixed:
        return FixedEvent(int((p >= choice.threshold).sum()), n, int((q >= choice.threshold).sum()), n, choice.share)
    k = min(max(1, round(choice.mass * n)), n)
    threshold = np.partition(p, n - k)[n - k]
    return RankEvent(k, n, int((q >= threshold).sum()), n)
