"""The three disjoint samples of a black-box audit, and the events counted on the last of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms import Dataset, Mechanism, NeighbouringPair

from .base import Budget
from .black_box_choose import Candidates, Choice, candidates
from .black_box_events import RankEvent
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
#: Most numbers per data set that are held as drawn; draws beyond that are reduced to scores at once.
HELD = 1 << 24
#: Calls of the mechanism end at these shares of its draws, so that a later call may repeat an earlier one and be seen.
CALL_ENDS = (0.25, 0.55)


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
    n_train, n_choose, n_certify = Plan.default(n, k).sizes(n)
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
    n = len(first)
    p, q = (first, second) if choice.forward else (-second, -first)
    p_ties, q_ties = (first_ties, second_ties) if choice.forward else (second_ties, first_ties)
    k = min(max(1, round(choice.mass * n)), n)
    threshold = np.partition(p, n - k)[n - k]
    still = k - int((p > threshold).sum())
    tied = np.sort(p_ties[p == threshold])
    count = (q > threshold).sum() + ((q == threshold) & (q_ties >= tied[len(tied) - still])).sum()
    return RankEvent(k, n, int(count), n)
