"""Several canaries, one at a time: every run without a canary serves them all.

Let ``Q`` be the law of a run on the data and ``P_j`` that of a run with canary ``j`` of ``K`` beside them, and ``S_j``
the event that score ``j`` is at least ``t`` and larger than the other scores. These events exclude each other. If the
training is ``(epsilon, delta)``-DP for each canary, then on average over ``j``

    mean_j P_j(S_j)  <=  e^epsilon mean_j Q(S_j) + delta  <=  e^epsilon Q(largest score >= t) / K + delta.

Both sides are probabilities of one event of one run: that of a canary thrown at random, and that of a run without any.
So the rank event of a single canary is certified as ever, at an epsilon that is ``log K`` smaller, and a run without a
canary is worth up to ``K``. Nothing is assumed about the scores; with canaries that are orthogonal little is lost.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.base import Direction, Mechanism, check_delta
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.numerics.transcripts import batches

from ..black_box.black_box_events import PointTradeOff, largest_rejected
from ..black_box.black_box_results import LowerBound
from ..black_box.black_box_samples import Choice, candidates, choose_epsilon, count_event, predicted_epsilon
from ..black_box.black_box_scores import raw_score
from ..estimate import Budget, Estimate
from .canary import CanaryLaw, Gradients, NoisyTraining, step_log_odds
from .planned_event import check_given, check_runs, simulated_runs

#: Shares of the runs with a canary that a plan chooses from.
SHARES: Final = (0.2, 0.3, 0.4, 0.5, 0.6)
#: Largest epsilon that is looked for.
LARGEST = 60.0


def audit_canaries(
    training: NoisyTraining,
    dataset: Dataset,
    X: ArrayLike,
    y: ArrayLike,
    budget: Budget,
    *,
    delta: float,
    drawn: Mechanism | None = None,
) -> LowerBound:
    """Return a certified lower bound on epsilon from the gradients of several canaries, each added alone.

    With ``K`` canaries that are orthogonal to each other and to the data, nearly the bound that ``K`` times as many
    runs without a canary would give. It bounds the epsilon of the worst of the canaries.

    Parameters
    ----------
    training, delta, drawn
        As of ``audit_canary``.
    dataset : Dataset, the other records; may be empty
    X, y : (K, dim) array_like, (K,) array_like, the canaries
    budget : Budget
        ``n_draws`` counts trainings, with a canary and without one together; at least 100.

    Returns
    -------
    LowerBound
        ``estimate.low`` is at most the largest epsilon of the ``K`` pairs (direction: with the canary against without)
        except with the failure probability of the budget.

    Raises
    ------
    ValueError
        If there are fewer than 100 runs or no canary, or ``delta`` is outside [0, 1].

    Examples
    --------
    >>> import numpy as np
    >>> from audits import Budget, StreamKey
    >>> from audits.training import audit_canaries
    >>> from mechanisms import DPSGD, Dataset
    >>> nobody = Dataset(np.empty((0, 4)), np.empty(0), 1.0, 100.0, name="nobody", public=True)
    >>> training = DPSGD("squared", 20, 0.2, 1.0, 1.0, 0.01, normaliser=1.0)
    >>> budget = Budget(20_000, failure_prob=0.05, key=StreamKey(1))
    >>> found = audit_canaries(training, nobody, np.eye(4), np.full(4, 100.0), budget, delta=1e-3)
    >>> bool(1.5 < found.estimate.low < 3.8)
    True
    """
    check_given(budget, training, "iterates", drawn)
    check_runs(budget)
    delta = check_delta(delta)
    pairs = [NeighbouringPair.add(dataset, x, label) for x, label in _canaries(X, y)]
    choice, n_with = _plan(training, len(pairs), budget, delta)
    source = training if drawn is None else drawn
    n_without, rng = budget.n_draws - n_with, budget.key.child("canaries").rng()
    thrown = rng.multinomial(n_with, np.full(len(pairs), 1 / len(pairs)))
    with_canary = np.concatenate(
        [
            _scores(training, source, pairs, j, int(n), budget.key.child("with", str(j)).rng())
            for j, n in enumerate(thrown)
        ]
    )
    without = _scores(training, source, pairs, None, n_without, budget.key.child("without").rng())
    ties = budget.key.child("ties").rng()
    event = count_event(choice, with_canary, without, ties.random(n_with), ties.random(n_without))
    less = math.log(len(pairs))
    level = budget.spend("epsilon, from below")
    low = largest_rejected(event, lambda e: PointTradeOff(e - less, delta), level, 0.0, LARGEST)
    p, q = event.masses
    value = math.inf if q == 0 and p > delta else math.log(max(p - delta, 1e-300) / max(q, 1e-300)) + less
    method = f"black box, rank event planned on the stated law, {len(pairs)} canaries, {event.n} and {event.m} runs"
    estimate = Estimate(max(value, low), low, math.inf, budget.failure_prob, budget.n_draws, method)
    words = f"the largest score of {len(pairs)} gradient canaries among the top {choice.mass:.3%} with the canary"
    return LowerBound(estimate, delta, Direction.BACKWARD, words)


def _canaries(X: ArrayLike, y: ArrayLike) -> list[tuple[FloatArray, float]]:
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if rows.ndim != 2 or not len(rows) or labels.shape != (len(rows),):
        shapes = f"X.shape={rows.shape}, y.shape={labels.shape}"
        raise ValueError(f"X and y must have shapes (K, dim) and (K,) with K at least 1, got {shapes}")
    return list(zip(rows, labels.tolist(), strict=True))


def _plan(training: NoisyTraining, n_canaries: int, budget: Budget, delta: float) -> tuple[Choice, int]:
    """Return the event, and the number of runs with a canary, of the largest predicted bound under the stated law."""
    law, n = CanaryLaw(training, Relation.REMOVE), simulated_runs(2 * training.n_steps, budget)
    with_canary, without = law(n, budget.key.child("plan").rng())
    forward, _ = candidates(raw_score(), with_canary[:, None], without[:, None], lambda ratio: ratio[:, 0])
    # the mass of the canary's own score, where the others of the run, as under the second law, lie below it
    mass = np.cumsum(np.diff(forward.mass, prepend=0.0) * (1 - forward.other) ** (n_canaries - 1))
    event = replace(forward, mass=mass, other=-np.expm1(n_canaries * np.log1p(-np.minimum(forward.other, 1 - 1e-12))))
    sizes = [round(share * budget.n_draws) for share in SHARES]

    def predicted(size: int) -> float:
        return float(predicted_epsilon(event, size, delta, budget.failure_prob, budget.n_draws - size).max())

    size = max(sizes, key=predicted)
    return choose_epsilon([event], size, delta, budget.failure_prob, budget.n_draws - size), size


def _scores(
    training: NoisyTraining,
    source: Mechanism,
    pairs: list[NeighbouringPair],
    canary: int | None,
    n: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the largest score of each run, minus infinity where it is not that of the canary in the data.

    Scores are finite (0 for NaN), so that minus infinity means that and nothing else: a rank event that reaches down to
    it holds for every run without a canary, and refutes nothing.
    """
    shared = pairs[0].first
    dataset = shared if canary is None else pairs[canary].second
    X, y = np.stack([pair.x for pair in pairs]), np.array([pair.y for pair in pairs])
    canaries = training.records(Dataset(X, y, shared.x_bound, shared.y_bound, name="canaries", public=shared.public))
    result = np.empty(n)
    for part in batches(n, 8 * training.n_steps * dataset.dim):
        outputs = source.draw(dataset, part.stop - part.start, rng=rng)
        with np.errstate(invalid="ignore", over="ignore"):  # of runs that diverged
            scores = np.nan_to_num(_each(training, canaries, outputs, dataset.dim))
        if canary is None:
            result[part] = scores.max(axis=1)
        else:
            own = scores[:, canary].copy()
            scores[:, canary] = -np.inf
            result[part] = np.where(own > scores.max(axis=1), own, -np.inf)
    return result


def _each(training: NoisyTraining, canaries: Gradients, outputs: FloatArray, dim: int) -> FloatArray:
    """Return the score of every canary, larger where a run is more like one with it, shape ``(n_draws, K)``.

    As ``GradientCanary`` has it, without what a released number of records tells, which is the same for each.
    """
    scores = np.zeros((len(outputs), len(canaries.X)))
    norms = np.einsum("ij,ij->i", canaries.X, canaries.X)
    for theta, seen in training.iterates(outputs, dim):
        weights = canaries.weights(theta)
        scores += step_log_odds(
            weights * (seen @ canaries.X.T), weights * weights * norms, training.rate, training.sigma**2
        )
    return scores
