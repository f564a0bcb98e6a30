"""False alarms and power of one training run: the worst private mechanism, revealing ones, normal scores.

The exact tails and the guesses are in ``audits.training.one_run``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from audits import Budget, StreamKey
from audits.training import one_run_bound, one_run_gaussian_bound
from audits.training.one_run import (
    GuessCounts,
    LeastShare,
    curve_p_value,
    guess_counts,
    point_bound,
    point_p_value,
    profile_least,
)
from mechanisms import GaussianProfile
from mechanisms.data.dataset import FloatArray

from .series import AuditSeries, BankMutant, any_missed, missed, one_by_one

EPSILON, DELTA, CANARIES, GUESSES = 1.0, 1e-3, 400, 100
#: Of the mechanism that reveals everything now and then: with so few canaries m delta is small.
RARELY, FEW = 0.01, 30
MU, PROFILE = 1.5, GaussianProfile(1.5)
#: Of a mutant: canaries, guesses, and the claim that it breaks. At a level of 1e-4 one run sees coarse errors alone.
MUTANT_CANARIES, MUTANT_GUESSES, CLAIMED, CLAIMED_DELTA = 20_000, 3_000, GaussianProfile(0.5), 1e-5

Misses = tuple[bool, bool]
#: Scores and inclusions.
Canaries = tuple[FloatArray, NDArray[np.bool_]]


@cache
def _turn(level: float) -> tuple[int, float]:
    """Return the smallest number of right guesses that is refuted, and how often the worst mechanism goes there."""
    counts = range(1, GUESSES + 1)
    turn = next(v for v in counts if point_p_value(GuessCounts(CANARIES, GUESSES, v), EPSILON, DELTA) <= level)
    odds = 1 / (1 + math.exp(-EPSILON))
    leak = CANARIES * DELTA * binom.sf(turn - 1, GUESSES, odds) / (turn * binom.pmf(turn, GUESSES, odds))
    return turn, min(1.0, float(leak))


def _worst(level: float, key: StreamKey) -> Misses:
    """The right guesses of the mechanism that attains the bound: binomial, and now and then given that they refute."""
    rng, (turn, leak), odds = key.rng(), _turn(level), 1 / (1 + math.exp(-EPSILON))
    least = turn if rng.random() < leak else 0
    u = rng.uniform(0.0, float(binom.sf(least - 1, GUESSES, odds)))
    right = max(least, int(binom.isf(u, GUESSES, odds)))
    return point_bound(GuessCounts(CANARIES, GUESSES, right), DELTA, level) > EPSILON + 1e-12, False


def _answers(n: int, revealed: float, rng: np.random.Generator, *, together: bool = False) -> Canaries:
    """Return scores and inclusions: randomised responses, and some told as they are; noise makes scores distinct."""
    included = rng.random(n) < 0.5
    told = rng.random(1 if together else n) < revealed
    true = told | (rng.random(n) < 1 / (1 + math.exp(-EPSILON)))
    size = np.where(told, 3.0, 1.0) + rng.random(n)
    return np.where(included == true, size, -size), included


def _revealing(together: bool, level: float, key: StreamKey) -> Misses:
    n, n_guesses, delta = (FEW, FEW, RARELY) if together else (CANARIES, GUESSES, DELTA)
    scores, included = _answers(n, delta, key.rng(), together=together)
    found = one_run_bound(scores, included, delta=delta, failure_prob=level, n_guesses=n_guesses)
    return missed(found.epsilon, EPSILON)


def _normal(n: int, mu: float, rng: np.random.Generator) -> Canaries:
    included = rng.random(n) < 0.5
    return np.where(included, mu / 2, -mu / 2) + rng.standard_normal(n), included


@cache
def _claimed() -> LeastShare:
    return profile_least(PROFILE, CANARIES)


def _gaussian(level: float, key: StreamKey) -> Misses:
    """Three statements, each of which may fail with a third of the level."""
    scores, included = _normal(CANARIES, MU, key.rng())
    parts = Budget(1, level, key).split(dict.fromkeys(("point", "curve", "claim"), Fraction(1, 3)))
    of_point, of_curve, of_claim = (part.spend(name) for name, part in parts.items())
    point = one_run_bound(scores, included, delta=DELTA, failure_prob=of_point, n_guesses=[GUESSES, CANARIES])
    curve = one_run_gaussian_bound(scores, included, delta=DELTA, failure_prob=of_curve, n_guesses=GUESSES)
    claimed = curve_p_value(guess_counts(scores, included, GUESSES), _claimed())
    return any_missed(
        [missed(point.epsilon, PROFILE.epsilon_at(DELTA)), missed(curve.mu, MU), (claimed <= of_claim, False)]
    )


def _unpaid(level: float, key: StreamKey) -> Misses:
    """The best of many numbers of guesses, each at the whole level."""
    scores, included = _answers(CANARIES, 0.0, key.rng())
    looks = (guess_counts(scores, included, n) for n in range(10, CANARIES + 1, 10))
    return any(point_p_value(counts, EPSILON, 0.0) <= level for counts in looks), False


def one_run_series() -> Iterator[AuditSeries]:
    """Yield the series of one training run; only the lower ends say anything."""
    for law, n, audit, seconds in (
        ("the mechanism that attains the bound", CANARIES, _worst, 1e-2),
        ("randomised response, some revealed", CANARIES, partial(_revealing, False), 1e-2),
        ("randomised response, all revealed now and then", FEW, partial(_revealing, True), 1e-2),
        ("normal scores: point, curve, claim", CANARIES, _gaussian, 5e-2),
    ):
        yield AuditSeries("one run", law, n, one_by_one(audit), halves=False, seconds=seconds)
    name, unpaid = "CONTROL unpaid numbers of guesses", one_by_one(_unpaid)
    # wrong in a third of the audits: forty repetitions could not tell that from a tenth
    yield AuditSeries(
        name, "one run", CANARIES, unpaid, halves=False, control=True, levels=(0.1,), times=5, seconds=3e-3
    )


def _point_refuted(strength: float, budget: Budget) -> bool:
    scores, included = _normal(budget.n_draws, CLAIMED.mu * (1 + strength), budget.key.rng())
    found = one_run_bound(
        scores, included, delta=CLAIMED_DELTA, failure_prob=budget.spend("one run"), n_guesses=MUTANT_GUESSES
    )
    return found.epsilon.low > CLAIMED.epsilon_at(CLAIMED_DELTA)


def _curve_refuted(strength: float, budget: Budget) -> bool:
    scores, included = _normal(budget.n_draws, CLAIMED.mu * (1 + strength), budget.key.rng())
    found = one_run_gaussian_bound(
        scores, included, delta=CLAIMED_DELTA, failure_prob=budget.spend("one run"), n_guesses=MUTANT_GUESSES
    )
    return found.mu.low > CLAIMED.mu


def one_run_mutants() -> Iterator[BankMutant]:
    """Yield noise that is too small by degrees, seen in one run."""
    grades = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
    for auditor, refute, stated in (("point", _point_refuted, 3.0), ("curve", _curve_refuted, 2.0)):
        name, auditor = f"Gaussian noise divided by 1 + s: one run, {auditor}", f"one run, {auditor}"
        yield BankMutant(name, grades, refute, stated, MUTANT_CANARIES, "s", auditor, seconds=0.03)
