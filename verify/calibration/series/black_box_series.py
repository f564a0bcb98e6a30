"""False alarms of the black-box audit: whole runs, and the exact tests of one event that it is made of.

Claims hold with equality, at every point of their curve. A run below 2,000 draws per data set certifies preset events;
above, it trains a score, chooses an event and certifies it on fresh draws. The adapters of other libraries
(``audits.adapters.diffprivlib``, ``audits.adapters.opendp``) are not here: their mechanisms have no law that is known
exactly. ``audits.black_box.black_box_families``, ``audits.black_box.claims``, ``audits.black_box.black_box_bet``,
``audits.black_box.black_box_lines`` and ``audits.black_box.black_box_results`` serve the audit, which is calibrated;
``visible_leak`` computes a power and decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import (
    audit_claim,
    audit_epsilon,
    audit_gaussian_dp,
    black_box_audit,
    sequential_claim,
)
from audits.black_box.black_box_bet import Point, bet_against, label_test
from audits.black_box.black_box_events import (
    FixedEvent,
    GaussianTradeOff,
    PointTradeOff,
    RankEvent,
    TradeOff,
    barnard_p_value,
    mu_lower,
)
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from mechanisms import BOTH, Relation

from .series import PAIR, AuditSeries, Coin, Gaussian, Laplace, Misses, OnGrid, one_by_one

Bools = NDArray[np.bool_]
Law = OnGrid | Coin
GAUSSIAN, LAPLACE, COIN = OnGrid(Gaussian(1.0)), OnGrid(Laplace(1.0)), Coin(1.0)
RELATIONS = (Relation.ADD, Relation.REMOVE)

#: Draws of runs with preset events, of one that learns, and of one that looks several times.
FEW, PRESET, LEARNED, LOOKED = 100, 800, 4000, 3200

#: Draws per data set, and rank, of the tests of one event.
EVENT_DRAWS, RANK, BARNARD_DRAWS = 300, 90, 40


@cache
def _delta(law: Law, epsilon: float) -> float:
    """Return the claimed curve, which is the true one; every law here has the same in both directions."""
    return law.profile(PAIR).delta_at(epsilon, BOTH[0])


@cache
def _claim(law: Law) -> BlackBoxClaim:
    epsilon = 0.7 if law == GAUSSIAN else 1.0
    return BlackBoxClaim(epsilon, _delta(law, epsilon), RELATIONS, partial(_delta, law))


def _curve(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    found = audit_claim(law, PAIR, _claim(law), Budget(n_draws, level, key))
    return found.outcome is BlackBoxOutcome.REFUTED, False


def _looks(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    found = sequential_claim(law, PAIR, _claim(law), Budget(n_draws, level, key))
    return found.outcome is BlackBoxOutcome.REFUTED, False


def _epsilon(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    claim = _claim(law)
    found = audit_epsilon(law, PAIR, Budget(n_draws, level, key), delta=claim.delta)
    return found.estimate.low > claim.epsilon + 1e-9, False


def _all_lines(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    """All lines of one audit hold together."""
    claim = _claim(law)
    result = black_box_audit(law, PAIR, claim, Budget(n_draws, level, key))
    assert result.curve is not None
    wrong = [result.outcome, result.curve.outcome, result.implementation_outcome]
    return BlackBoxOutcome.REFUTED in wrong or result.epsilon.estimate.low > claim.epsilon + 1e-9, False


def _both(law: Law, n_draws: int, key: StreamKey) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rngs = key.child("first").rng(), key.child("second").rng()
    return law.draw(PAIR.first, n_draws // 2, rng=rngs[0]), law.draw(PAIR.second, n_draws // 2, rng=rngs[1])


def _point(law: Law) -> Point:
    claim = _claim(law)
    return Point(claim.epsilon, claim.delta, claim.delta)


def _betting(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    """Bets against the claimed point alone."""
    tests = bet_against(*_both(law, n_draws, key), [_point(law)])
    return tests[0].p_value() <= level, False


def _label_blind(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    """The test of labels alone; it abstains where its coins ask for more draws than there are."""
    tests = label_test(*_both(law, n_draws, key), [_point(law)], key.child("labels").rng())
    return any(test.p_value() <= level for test in tests), False


def _gaussian_dp(law: Law, n_draws: int, level: float, key: StreamKey) -> tuple[bool, bool]:
    """The line that assumes a Gaussian law, where it is one."""
    claim = _claim(law)
    found = audit_gaussian_dp(law, PAIR, Budget(n_draws, level, key), delta=claim.delta)
    return found.estimate.low > claim.epsilon + 1e-9, False


def _least(claim: TradeOff, mass: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.clip(claim.least_mass(mass), 0.0, 1.0)


def _rank_event(claim: TradeOff, refutes: Callable[[RankEvent, float], bool]) -> Misses:
    """The mass of the event under the first law is that of an order statistic; under the other, the least allowed."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        rng, n = key.rng(), EVENT_DRAWS
        found = rng.binomial(n, _least(claim, rng.beta(RANK, n - RANK + 1, n_repeats)))
        counts, place = np.unique(found, return_inverse=True)
        refuted = np.array([refutes(RankEvent(RANK, n, count, n), level) for count in counts.tolist()])[place]
        return np.column_stack([refuted, np.zeros_like(refuted)])

    return misses


def _fixed_event(mass: float, n: int, claim: PointTradeOff, refutes: Callable[[FixedEvent, float], bool]) -> Misses:
    """The event has ``mass`` under the first law, and the least mass that is allowed under the other."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> Bools:
        rng, other = key.rng(), float(_least(claim, np.array([mass]))[0])
        pairs = np.column_stack([rng.binomial(n, mass, n_repeats), rng.binomial(n, other, n_repeats)])
        events, place = np.unique(pairs, axis=0, return_inverse=True)
        refuted = np.array([refutes(FixedEvent(x, n, count, n), level) for x, count in events.tolist()])
        refuted = refuted[place.ravel()]
        return np.column_stack([refuted, np.zeros_like(refuted)])

    return misses


@cache
def _barnard(event: FixedEvent, claim: PointTradeOff) -> float:
    return barnard_p_value(event.x, event.n, event.count, event.m, claim.epsilon, claim.delta)


def _events() -> Iterator[AuditSeries]:
    """Yield the series of the tests of one event."""
    pure, point, gaussian = PointTradeOff(1.0, 0.0), PointTradeOff(0.5, 0.1), GaussianTradeOff(1.0)
    ranks: tuple[tuple[str, TradeOff, Callable[[RankEvent, float], bool]], ...] = (
        ("epsilon 1", pure, lambda event, level: event.p_value(pure) <= level),
        ("epsilon 0.5, delta 0.1", point, lambda event, level: event.p_value(point) <= level),
        ("Gaussian, mu 1", gaussian, lambda event, level: event.p_value(gaussian) <= level),
        ("lower bound on mu 1", gaussian, lambda event, level: mu_lower(event, level) > 1 + 1e-9),
    )
    for words, claim, refutes in ranks:
        rank = _rank_event(claim, refutes)
        yield AuditSeries("black box, rank event", words, EVENT_DRAWS, rank, halves=False, times=20, seconds=1e-3)
    for mass in (0.2, 0.5, 0.8):
        words = f"mass {mass:g}, epsilon 0.5, delta 0.1"
        fixed = _fixed_event(mass, 1000, point, lambda event, level: event.evidence(point, level) > 0)
        yield AuditSeries("black box, fixed event", words, 1000, fixed, halves=False)
        n, name = BARNARD_DRAWS, "black box, Barnard's test"
        barnard = _fixed_event(mass, n, point, lambda event, level: _barnard(event, point) <= min(level, 0.999))
        yield AuditSeries(name, words, n, barnard, halves=False, times=20, seconds=1e-3)


def black_box_series() -> Iterator[AuditSeries]:
    """Yield the series of black-box audits."""
    runs: tuple[tuple[str, Law, Callable[[Law, int, float, StreamKey], tuple[bool, bool]], int, float], ...] = (
        ("whole curve", GAUSSIAN, _curve, PRESET, 5e-3),
        ("whole curve", LAPLACE, _curve, PRESET, 5e-3),
        ("whole curve", GAUSSIAN, _curve, LEARNED, 1e-2),
        ("whole curve", COIN, _curve, LEARNED, 1e-2),
        ("sequential", GAUSSIAN, _looks, LOOKED, 2e-2),
        ("epsilon", GAUSSIAN, _epsilon, LEARNED, 1e-2),
        ("epsilon", LAPLACE, _epsilon, LEARNED, 1e-2),
        ("assuming a Gaussian curve", GAUSSIAN, _gaussian_dp, LEARNED, 1e-2),
        ("whole curve", COIN, _curve, PRESET, 5e-3),
        ("epsilon", COIN, _epsilon, LEARNED, 1e-2),
        ("betting", LAPLACE, _betting, LEARNED, 2e-2),
        ("betting", GAUSSIAN, _betting, LEARNED, 2e-2),
        ("betting", COIN, _betting, LEARNED, 2e-2),
        ("label-blind", LAPLACE, _label_blind, LEARNED, 1e-2),
        ("label-blind", GAUSSIAN, _label_blind, LEARNED, 1e-2),
        ("label-blind", COIN, _label_blind, LEARNED, 1e-2),
        ("all lines", LAPLACE, _all_lines, FEW, 2e-2),
        ("all lines", GAUSSIAN, _all_lines, LEARNED, 3e-2),
        ("all lines", LAPLACE, _all_lines, LEARNED, 3e-2),
    )
    for words, law, audit, n_draws, seconds in runs:
        name = f"{law.name}, {'learned' if n_draws >= LEARNED else 'preset'} events, {n_draws} draws"
        repeat = one_by_one(partial(audit, law, n_draws))
        yield AuditSeries(f"black box, {words}", name, n_draws, repeat, halves=False, seconds=seconds)
    yield from _events()
