"""One rank event, planned on the law that a training states, and certified on runs of which none was spent on planning.

The stated law decides which event is counted and how the runs are shared between the two data sets, before any run is
made; that the event was likely under one and rare under the other is then certified on the runs alone. A training that
does not keep to its statement gets a worse plan and a bound that is as valid.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.numerics.transcripts import batches

from ..black_box.black_box_events import epsilon_lower
from ..black_box.black_box_lines import direction
from ..black_box.black_box_results import LowerBound
from ..black_box.black_box_samples import candidates, choose_epsilon, count_event
from ..black_box.black_box_scores import raw_score
from ..estimate import Budget, Estimate

#: Rows of the first batch, which shows how wide an output is.
FIRST_ROWS = 256


@dataclass(frozen=True)
class ScoredMechanism:
    """A mechanism of which one number of each output is looked at: post-processing, at least as private.

    Parameters
    ----------
    mechanism : Mechanism
    score : callable, from outputs ``(n, k)`` to scores ``(n,)``, row by row
    words : str, what the score is
    """

    mechanism: Mechanism
    score: Callable[[FloatArray], FloatArray]
    words: str = "a score of each output"

    @property
    def name(self) -> str:
        """The mechanism, and what is looked at."""
        return f"{self.mechanism.name}: {self.words}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return one score of each of as many outputs, shape ``(n_draws, 1)``; the outputs are not kept."""
        scores = np.empty((n_draws, 1))
        head = self.mechanism.draw(dataset, min(FIRST_ROWS, n_draws), rng=rng)
        scores[: len(head), 0] = self.score(head)
        rest = scores[len(head) :]
        for part in batches(len(rest), 4 * head.shape[1]):
            rest[part, 0] = self.score(self.mechanism.draw(dataset, part.stop - part.start, rng=rng))
        return scores


#: Share of the runs on the data set under which the event is likely: the rare side needs more.
LIKELY_SHARE = 0.2
#: Simulated runs of the stated law for each data set, as a share of the runs; their fewest, most, and most numbers.
SIMULATED_SHARE, SIMULATED_LEAST, SIMULATED_MOST, SIMULATED_NUMBERS = 0.25, 2_000, 50_000, 10_000_000
#: Fewest runs of an audit.
LEAST_RUNS = 100

#: ``law(n, rng)``: log likelihood ratios, first data set over second, of ``n`` outputs of each; shapes ``(n,)``.
StatedLaw = Callable[[int, np.random.Generator], tuple[FloatArray, FloatArray]]


def check_given(budget: object, training: object, reads: str, drawn: object, pair: object = None) -> None:
    """Raise in one line where an audit was given something of another kind.

    ``budget``, ``training``, ``drawn``, ``pair``: as given; the last two may be None. ``reads``: the method by which
    the audit reads outputs of ``training``. Raises ``ValueError`` if one of them is of another kind.
    """
    kinds: tuple[tuple[str, object, type], ...] = (("budget", budget, Budget), ("pair", pair, NeighbouringPair))
    for name, value, kind in kinds:
        if value is not None and not isinstance(value, kind):
            raise ValueError(f"{name} must be a {kind.__name__}, got {name} of type {type(value).__name__}")
    for name, value, method in (("training", training, reads), ("drawn", drawn, "draw")):
        if value is not None and (isinstance(value, type) or not hasattr(value, method)):
            raise ValueError(
                f"{name} must be an object with a method {method}, got {name} of type {type(value).__name__}"
            )


def check_runs(budget: Budget) -> None:
    """Raise where there are too few runs for any bound.

    Raises ``ValueError`` if there are fewer than 100.
    """
    if budget.n_draws < LEAST_RUNS:
        raise ValueError(f"n_draws must be at least {LEAST_RUNS} for a training, got n_draws={budget.n_draws}")


def simulated_runs(numbers: int, budget: Budget) -> int:
    """Return how many outputs of each data set a plan simulates, of ``numbers`` random numbers each."""
    wanted = min(SIMULATED_MOST, round(SIMULATED_SHARE * budget.n_draws), SIMULATED_NUMBERS // max(1, numbers))
    return max(SIMULATED_LEAST, wanted)


def planned_epsilon(
    scored: ScoredMechanism, pair: NeighbouringPair, law: StatedLaw, numbers: int, budget: Budget, delta: float
) -> LowerBound:
    """Return a certified lower bound on epsilon at ``delta`` from one event that a stated law plans.

    ``scored``: its scores are larger where an output is more like one of the first data set. ``law``: what the training
    states about the log likelihood ratio; see ``StatedLaw``. It is not believed. ``numbers``: random numbers that one
    output of ``law`` takes. ``budget``: ``n_draws`` counts the runs on both data sets together. ``delta``: in [0, 1].
    Raises ``ValueError`` if there are fewer than 100 runs.
    """
    check_runs(budget)
    likely = max(1, round(LIKELY_SHARE * budget.n_draws))
    rare = budget.n_draws - likely
    first, second = law(simulated_runs(numbers, budget), budget.key.child("plan").rng())
    options = candidates(raw_score(), first[:, None], second[:, None], lambda ratio: ratio[:, 0])
    choice = choose_epsilon(options, likely, delta, budget.failure_prob, rare)
    sizes = (likely, rare) if choice.forward else (rare, likely)

    def runs(dataset: Dataset, n: int, member: str) -> tuple[FloatArray, FloatArray]:
        scores = scored.draw(dataset, n, rng=budget.key.child("certify", member).rng())[:, 0]
        return np.nan_to_num(scores), budget.key.child("ties", member).rng().random(n)

    (one, ties), (two, other_ties) = (runs(pair.first, sizes[0], "first"), runs(pair.second, sizes[1], "second"))
    event = count_event(choice, one, two, ties, other_ties)
    low = epsilon_lower(event, delta, budget.spend("epsilon, from below"))
    p, q = event.masses
    value = math.inf if q == 0 and p > delta else math.log(max(p - delta, 1e-300) / max(q, 1e-300))
    method = f"black box, rank event planned on the stated law, {event.n} and {event.m} runs"
    estimate = Estimate(max(value, low), low, math.inf, budget.failure_prob, budget.n_draws, method)
    side = "first" if choice.forward else "second"
    words = f"{scored.words} among the top {choice.mass:.3%} of the {side} data set"
    return LowerBound(estimate, delta, direction(choice.forward), words)
