"""False alarms of whole auditors: each repetition is one run on a mechanism whose law is known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget, StreamKey
from audits.stats.coverage import audit_coverage, sequential_delta, sequential_mean, sequential_proportion
from audits.white_box.attack import likelihood_ratio_attack
from audits.white_box.exposure import Exposure, exposure, sampled_exposure
from audits.white_box.identities import gaps, loss_overlap, normalisation_gap, transports
from audits.white_box.random_matrix import goe_norm_coverage, sandwich_coverage, sandwich_exact
from audits.white_box.tails import audit_curves, audit_tails
from mechanisms import BOTH
from mechanisms.catalogue import example_data
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation

from .series import PAIR, AuditSeries, Gaussian, Laplace, any_missed, missed, one_by_one

Law = Gaussian | Laplace
LAWS: tuple[Law, ...] = (Gaussian(1.0), Laplace(1.0))

#: Epsilons off the atoms of the loss, where rounding would decide a strict inequality.
EPSILONS = (-0.3, 0.2, 0.7)
CURVE_GRID = np.linspace(-2.03, 2.97, 41)
DELTAS = (0.0, 1e-3, 0.05, 0.2)

#: A data set whose records are exposed, and where their epsilons are taken.
OPS, FEW, EXPOSED_DELTA = PosteriorSampling(3.0, 1.0), example_data(6), 0.05


def _tails(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    audit, profile = audit_tails(law, PAIR, EPSILONS, Budget(400, level, key)), law.profile(PAIR)
    return any_missed(
        [missed(point.tail, profile.tail_at(point.epsilon, point.direction)) for point in audit.points]
        + [missed(point.delta, profile.delta_at(point.epsilon, point.direction)) for point in audit.points]
    )


def _curves(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    curves, profile, grid = audit_curves(law, PAIR, Budget(400, level, key)), law.profile(PAIR), CURVE_GRID
    low = high = False
    for direction, curve in curves.items():
        for band, exact in ((curve.tail_at(grid), profile.tail_at), (curve.delta_at(grid), profile.delta_at)):
            truth = np.array([exact(float(e), direction) for e in grid])
            low |= bool((band.low > truth + 1e-12).any())
            high |= bool((band.high < truth - 1e-12).any())
    return low, high


def _attack(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    """Advantage and accuracy are exact from the profile; every lower bound on epsilon holds at its delta."""
    audit, profile = likelihood_ratio_attack(law, PAIR, Budget(1000, level, key)), law.profile(PAIR)
    advantage = profile.delta_at(0.0, BOTH[0])
    found = [missed(audit.advantage, advantage), missed(audit.accuracy, 0.5 * (1 + advantage))]
    found += [missed(rate.tpr, _power(law, rate.fpr)) for rate in audit.rates]
    bounds = [audit.epsilon_lower(delta).low > profile.epsilon_at(delta, BOTH[0]) + 1e-9 for delta in DELTAS]
    if isinstance(law, Gaussian):
        bounds.append(audit.events.mu_lower().low > law.mu + 1e-9)
    low, high = any_missed(found)
    return low or any(bounds), high


@cache
def _power(law: Law, fpr: float) -> float:
    """Return the largest power of a test at level ``fpr``: ``min over epsilon of e^epsilon fpr + delta(epsilon)``."""
    grid = np.linspace(-6.0, 6.0, 2401) if isinstance(law, Gaussian) else np.linspace(-law.size, law.size, 2401)
    profile = law.profile(PAIR)
    return float(min(math.exp(e) * fpr + profile.delta_at(e, BOTH[0]) for e in grid.tolist()))


def _attack_if_gaussian(level: float, key: StreamKey) -> tuple[bool, bool]:
    """The assumption of this bound is true of a Gaussian law."""
    law = Gaussian(1.0)
    audit, profile = likelihood_ratio_attack(law, PAIR, Budget(1000, level, key)), law.profile(PAIR)
    bounds = (audit.epsilon_if_gaussian(delta).low > profile.epsilon_at(delta) + 1e-9 for delta in DELTAS if delta)
    return any(bounds), False


def _coverage(level: float, key: StreamKey) -> tuple[bool, bool]:
    """Two parts that hold with probability 0.95 and 0.9, and together with 0.855."""

    def events(n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        return np.asarray(rng.random((n, 2)) < (0.95, 0.9))

    audit = audit_coverage(events, Budget(400, level, key))
    pairs = zip((*audit.parts, audit.joint), (0.95, 0.9, 0.855), strict=True)
    return any_missed([missed(estimate, truth) for estimate, truth in pairs])


def _sequential_proportion(level: float, key: StreamKey) -> tuple[bool, bool]:
    """The claim "at most 0.1" is true with equality, so the audit looks until its budget is spent or it is wrong."""
    audit = sequential_proportion(lambda n, rng: rng.random(n) < 0.1, (0.0, 0.1), Budget(1600, level, key), first=100)
    return missed(audit.estimate, 0.1)


def _sequential_mean(level: float, key: StreamKey) -> tuple[bool, bool]:
    audit = sequential_mean(
        lambda n, rng: rng.beta(0.5, 2.0, n), (0.2, 1.0), Budget(800, level, key), low=0.0, high=1.0, first=100
    )
    return missed(audit.estimate, 0.2)


def _sequential_delta(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    """The claim is true with equality, in both directions."""
    truth = law.profile(PAIR).delta_at(0.7, BOTH[0])
    audit = sequential_delta(law, PAIR, Budget(1600, level, key), epsilon=0.7, delta=truth, first=200)
    return missed(audit.estimate, truth)


def _overlap(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    return any_missed([missed(e, 0.0) for e in loss_overlap(law, PAIR, Budget(400, level, key))])


def _normalisation(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    budget = Budget(400, level, key)
    return missed(normalisation_gap(law, PAIR.first, budget, mean=[1.2], covariance=[[1.5]]), 0.0)


def _density(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    pilot = law.draw(PAIR.first, 200, rng=key.child("pilot").rng())
    moves = list(transports(law, PAIR.first, pilot, {}))
    found = gaps(law, PAIR.first, law.draw(PAIR.first, 400, rng=key.rng()), moves, level)
    return any(gap.low > 0 for gap in found), any(gap.high < 0 for gap in found)


def _matrices(level: float, key: StreamKey) -> tuple[bool, bool]:
    """The median of the spectral norm in three dimensions, from its exact law."""
    law = GoeLaw(3, Extreme.SPECTRAL_NORM, Normalisation.UNIT_OFF_DIAGONAL)
    return missed(goe_norm_coverage(3, law.isf(0.5), law.normalisation, Budget(300, level, key)), 0.5, rounding=1e-9)


@cache
def _exposed() -> Exposure:
    return exposure(OPS, FEW, Budget(1, 0.5, StreamKey(0)), delta=EXPOSED_DELTA)


def _exposure(level: float, key: StreamKey) -> tuple[bool, bool]:
    """Three numbers of every record of a small data set at once, against their exact laws."""
    found, exact = sampled_exposure(OPS, FEW, Budget(300, level, key), delta=EXPOSED_DELTA), _exposed()
    low = high = False
    for part in ("advantage", "drawn_with", "drawn_without"):
        sampled, truth = getattr(found, part), getattr(exact, part).value
        low |= bool((sampled.low > truth + 1e-9).any())
        high |= bool((sampled.high < truth - 1e-9).any())
    return low, high


@cache
def _sandwich_truth() -> float:
    return sandwich_exact(3, 4.0, 1.0).value


def _sandwich(level: float, key: StreamKey) -> tuple[bool, bool]:
    """``H = 4 I`` in three dimensions, whose sandwich has a probability that is known exactly."""
    found = sandwich_coverage(4.0 * np.eye(3), 1.0, budget=Budget(300, level, key))
    return missed(found, _sandwich_truth(), rounding=1e-9)


def auditor_series() -> Iterator[AuditSeries]:
    """Yield the series of whole auditors."""
    per_law: tuple[tuple[str, int, Callable[[Law, float, StreamKey], tuple[bool, bool]], bool], ...] = (
        ("tails and divergences", 400, _tails, True),
        ("whole loss curves", 400, _curves, True),
        ("likelihood-ratio attack", 1000, _attack, False),
        ("sequential delta", 1600, _sequential_delta, True),
        ("overlap of loss and draws", 400, _overlap, True),
        ("normalisation of the density", 400, _normalisation, True),
        ("density against draws", 400, _density, True),
    )
    for auditor, n_draws, audit, halves in per_law:
        for law in LAWS:
            repeat = one_by_one(partial(audit, law))
            yield AuditSeries(auditor, law.name, n_draws, repeat, halves=halves, seconds=3e-3)
    words, gaussian = "likelihood-ratio attack, if Gaussian", one_by_one(_attack_if_gaussian)
    yield AuditSeries(words, LAWS[0].name, 1000, gaussian, halves=False, seconds=4e-3)
    yield AuditSeries("coverage of two parts", "independent events", 400, one_by_one(_coverage))
    yield AuditSeries("sequential proportion", "claim true with equality", 1600, one_by_one(_sequential_proportion))
    yield AuditSeries("sequential mean", "claim true with equality", 800, one_by_one(_sequential_mean))
    yield AuditSeries("random matrices", "median of the norm, GOE(3)", 300, one_by_one(_matrices))
    yield AuditSeries("random matrices", "sandwich in three dimensions", 300, one_by_one(_sandwich))
    words, records = "who is most exposed", "one-posterior sampling, 6 records"
    yield AuditSeries(words, records, 300, one_by_one(_exposure), seconds=3e-3)
