"""False alarms and power of audits of a trained pipeline: canaries in the gradients, final models, scores of others.

The truths are exact: of one record among no others, whose gradient is always clipped, the law of the score is the law
that the accountant composes (``audits.training.planned_event`` serves the audits that are
calibrated here).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from audits import Budget, StreamKey, point_claim
from audits.black_box import audit_claim
from audits.training import epsilon_from_scores, final_model_epsilon
from audits.training.canary import audit_canary, claim_from_scores, gradient_canary
from audits.training.final_model import audit_final_model
from audits.training.many_canaries import audit_canaries
from mechanisms import BOTH, DPSGD, Dataset, GaussianProfile, Mechanism, NeighbouringPair, Relation
from mechanisms.accounting.composed_law import compose
from mechanisms.accounting.subsampled_gaussian import SubsampledGaussianProfile
from mechanisms.broken.broken_training import (
    BrokenTraining,
    HalfNoise,
    OwnBatch,
    OwnCount,
    TwiceTheRate,
    UnclippedTraining,
    UnscaledNoise,
)
from mechanisms.data.dataset import FloatArray

from .series import FINE, AuditSeries, BankMutant, missed, one_by_one

#: One record and nobody else: a response far beyond the clip, so that its gradient is always clipped.
NOBODY = Dataset(np.empty((0, 1)), np.empty(0), 1.0, 100.0, name="nobody", public=True)
CANARY = NeighbouringPair.add(NOBODY, [1.0], 100.0)
MANY = 4
NOBODY_WIDE = Dataset(np.empty((0, MANY)), np.empty(0), 1.0, 100.0, name="nobody, wide", public=True)
STEPS = DPSGD("squared", 4, 0.5, 2.0, 2.0, 0.01, normaliser=1.0)
DELTA, RUNS, RUNS_FOR_MUTANTS = 0.05, 400, 50_000
#: Two records, and a third: where a normaliser that reads the data tells most, and training that shows it.
DIM = 4
FEW = NeighbouringPair.add(
    Dataset(np.eye(DIM)[:2], np.array([4.0, -4.0]), 1.0, 4.0, name="two records", public=True), np.eye(DIM)[2], 4.0
)
SHOWN = DPSGD("squared", 5, 0.5, 16.0, 2.0, 1.0, normaliser=10.0, observer="final")


@cache
def stated_epsilon(training: DPSGD, delta: float) -> float:
    """Return the accountant's epsilon of a record more or less, from above; at rate 1 exactly."""
    mu = training.clip / training.sigma
    if training.rate == 1:
        return GaussianProfile(mu * math.sqrt(training.n_steps)).epsilon_at(delta)
    law = compose([(SubsampledGaussianProfile(training.rate, mu, Relation.ADD), training.n_steps)], upper_only=True)
    return max(law.epsilon_at(delta, direction) for direction in BOTH)


def _canary(training: DPSGD, level: float, key: StreamKey) -> tuple[bool, bool]:
    found = audit_canary(training, CANARY, Budget(RUNS, level, key), delta=DELTA)
    return missed(found.estimate, stated_epsilon(training, DELTA), rounding=1e-9)


def _canaries(alike: bool, level: float, key: StreamKey) -> tuple[bool, bool]:
    """Canaries that are orthogonal, or that cannot be told from each other."""
    rows = np.tile(np.eye(MANY)[0], (MANY, 1)) if alike else np.eye(MANY)
    budget = Budget(RUNS, level, key)
    found = audit_canaries(STEPS, NOBODY_WIDE, rows, np.full(MANY, 100.0), budget, delta=DELTA)
    return missed(found.estimate, stated_epsilon(STEPS, DELTA), rounding=1e-9)


@dataclass(frozen=True)
class Diverging:
    """Outputs laid out as those of a training, that do not read the data: noise, and in some runs one number only."""

    training: DPSGD
    share: float = 0.1
    value: float = math.inf
    name: str = "diverging"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return normal noise, or in a share of the runs ``value`` everywhere."""
        outputs = 50 * rng.standard_normal((n_draws, self.training.n_steps * dataset.dim))
        outputs[rng.random(n_draws) < self.share] = self.value
        return outputs


def _unread(level: float, key: StreamKey) -> tuple[bool, bool]:
    """Nothing is given away, so that every bound above 0 is false."""
    stated = replace(STEPS, sigma=0.5)
    rows, far = np.eye(MANY), np.full(MANY, 100.0)
    budget = Budget(RUNS, level, key)
    found = audit_canaries(stated, NOBODY_WIDE, rows, far, budget, delta=DELTA, drawn=Diverging(stated))
    return missed(found.estimate, 0.0, rounding=1e-9)


def _claimed(training: DPSGD, level: float, key: StreamKey) -> tuple[bool, bool]:
    """The canary's score in the test of a claim that holds with equality."""
    claim = point_claim(stated_epsilon(training, DELTA), DELTA).black_box()
    return audit_claim(gradient_canary(training, CANARY), CANARY, claim, Budget(RUNS, level, key)).refuted, False


def _final(level: float, key: StreamKey) -> tuple[bool, bool]:
    found = audit_final_model(STEPS, CANARY, Budget(RUNS, level, key), delta=DELTA)
    mu = STEPS.clip / STEPS.sigma
    return missed(found.estimate, final_model_epsilon(STEPS.rate, mu, STEPS.n_steps, DELTA).high, rounding=1e-9)


def _scores(sort: bool, level: float, key: StreamKey) -> tuple[bool, bool]:
    """Scores at distance 1, one of three columns that are not; sorted ones are no luckier."""
    rng = key.child("scores").rng()
    scores = rng.standard_normal((2, RUNS // 2, 3))
    scores[0, :, 1] += 1.0
    if sort:
        scores = np.sort(scores[:, :, 1], axis=1)
    law = GaussianProfile(1.0)
    parts = Budget(RUNS, level, key).split({"epsilon": 0.5, "claim": 0.5})
    of_epsilon, of_claim = (part.spend(name) for name, part in parts.items())
    found = epsilon_from_scores(scores[0], scores[1], delta=DELTA, failure_prob=of_epsilon, key=key)
    claim = point_claim(1.0, law.delta_at(1.0)).black_box()
    refuted = claim_from_scores(scores[0], scores[1], claim, failure_prob=of_claim, key=key).refuted
    return found.estimate.low > law.epsilon_at(DELTA) + 1e-9 or refuted, False


def training_series() -> Iterator[AuditSeries]:
    """Yield the series of audits of a trained pipeline; only the lower ends say anything."""
    runs: tuple[tuple[str, str, Callable[[float, StreamKey], tuple[bool, bool]]], ...] = (
        ("gradient canary", "every step, rate 1", partial(_canary, replace(STEPS, rate=1.0))),
        ("gradient canary", "4 steps, rate 0.5", partial(_canary, STEPS)),
        ("several canaries", "4 steps, rate 0.5, orthogonal", partial(_canaries, False)),
        ("several canaries", "4 steps, rate 0.5, alike", partial(_canaries, True)),
        ("several canaries", "outputs that do not read the data, some infinite", _unread),
        ("gradient canary, claim", "4 steps, rate 0.5", partial(_claimed, STEPS)),
        ("final model", "4 steps, rate 0.5", _final),
        ("scores made elsewhere", "Gaussian, mu 1, and two columns of noise", partial(_scores, False)),
        ("scores made elsewhere", "Gaussian, mu 1, sorted", partial(_scores, True)),
    )
    for auditor, law, audit in runs:
        yield AuditSeries(f"training: {auditor}", law, RUNS, one_by_one(audit), halves=False, seconds=0.03)


def _above(drawn: Mechanism, budget: Budget) -> bool:
    """Return whether the canary's bound lies above what the right training states."""
    return audit_canary(STEPS, CANARY, budget, delta=DELTA, drawn=drawn).estimate.low > stated_epsilon(STEPS, DELTA)


def _less_noise(strength: float, budget: Budget) -> bool:
    return _above(replace(STEPS, sigma=STEPS.sigma / (1 + strength)), budget)


def _planted(kind: type[BrokenTraining], _: float, budget: Budget) -> bool:
    return _above(kind(**vars(STEPS)), budget)


def _normaliser(kind: type[BrokenTraining], _: float, budget: Budget) -> bool:
    """The final model of small data sets, whose noise is divided by a number that the record changes."""
    training = kind(**vars(SHOWN))
    claim = point_claim(stated_epsilon(training, DELTA), DELTA).black_box()
    return audit_claim(training, FEW, claim, budget).refuted


def training_mutants() -> Iterator[BankMutant]:
    """Yield the planted errors of DP-SGD, and noise that is too small by degrees."""
    for kind, refute in (
        *((kind, _planted) for kind in (HalfNoise, TwiceTheRate, UnclippedTraining, UnscaledNoise)),
        *((kind, _normaliser) for kind in (OwnCount, OwnBatch)),
    ):
        auditor = "training: gradient canary" if refute is _planted else "black box, final model"
        name, runs = f"DP-SGD: {kind.words}", RUNS_FOR_MUTANTS
        yield BankMutant(name, (math.nan,), partial(refute, kind), math.nan, runs, auditor=auditor, seconds=0.5)
    name, auditor = "DP-SGD: noise divided by 1 + s", "training: gradient canary"
    yield BankMutant(name, FINE, _less_noise, 0.2, RUNS_FOR_MUTANTS, "s", auditor, seconds=0.3)
