"""Proved enclosures against the closed forms at sixty digits, over random laws: none may miss.

The truth comes from mpmath, in formulas of its own; the enclosures come from ball arithmetic. ``audits.stats.rates``
has no series: it divides such enclosures and draws nothing. Nor have ``relative_error``, ``absolute_error``,
``density_mass`` and ``forward_backward`` of ``audits.white_box.identities``, which compare given numbers; nor the
games of ``audits.games.adaptive_games`` (``audits.games.finite_steps``,
``audits.games.filter_examination``), which are rational numbers found by going through every analyst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath

from audits import Estimate, StreamKey, exact_delta
from audits.white_box import exact_tail
from audits.white_box.exact import composed_delta, exact_epsilon
from audits.white_box.random_matrix import goe_norm_exact, sandwich_exact
from mechanisms import BOTH, Bracket, Dataset, Direction, GaussianProfile, NeighbouringPair, Relation
from mechanisms.accounting import SubsampledGaussianProfile
from mechanisms.accounting.composed_law import compose
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.numerics.goe import Normalisation

from .series import AuditSeries, any_missed, one_by_one

#: Decimal digits of the closed forms; enclosures are float64.
DIGITS = 60

Number = Any  # mpmath's own
Misses = tuple[bool, bool]


def _outside(enclosure: Estimate | Bracket, truth: Number) -> Misses:
    return bool(mpmath.mpf(enclosure.low) > truth), bool(mpmath.mpf(enclosure.high) < truth)


def _outside_root(enclosure: Estimate | Bracket, delta: float, at: Callable[[Number], Number]) -> Misses:
    """Return the misses of an enclosure of the smallest epsilon >= 0 with ``at(epsilon) <= delta``; ``at`` falls."""
    low, high = mpmath.mpf(enclosure.low), mpmath.mpf(enclosure.high)
    return bool(low > 0 and at(low) < delta), bool(at(high) > delta)


def _gaussian(_: float, key: StreamKey) -> Misses:
    rng = key.rng()
    mu = float(10 ** rng.uniform(-2, 1))
    epsilon = float(mu * (mu / 2 + rng.uniform(-2, 8)))
    delta = float(10 ** rng.uniform(-12, -0.5))
    profile = GaussianProfile(mu)
    with mpmath.workdps(DIGITS):
        size = mpmath.mpf(mu)
        return any_missed(
            [
                _outside(exact_delta(profile, epsilon), _gaussian_delta(size, mpmath.mpf(epsilon))),
                _outside(exact_tail(profile, epsilon), mpmath.ncdf(size / 2 - epsilon / size)),
                _outside_root(exact_epsilon(profile, delta), delta, lambda e: _gaussian_delta(size, e)),
            ]
        )


def _posterior(_: float, key: StreamKey) -> Misses:
    """One-posterior sampling in one dimension, from the data on: two normal laws, and a quadratic between them."""
    rng = key.rng()
    n_records, (x, y) = int(rng.integers(1, 6)), rng.uniform(-1, 1, 2).tolist()
    data = Dataset(rng.uniform(-1, 1, (n_records, 1)), rng.uniform(-1, 1, n_records), 1.0, 1.0)
    mechanism, pair = (
        PosteriorSampling(*(10 ** rng.uniform((-1, -1), (2, 1))).tolist()),
        NeighbouringPair.add(data, [x], y),
    )
    direction = Direction.FORWARD if rng.random() < 0.5 else Direction.BACKWARD
    level = float(10 ** rng.uniform(-9, -0.5))
    epsilon = mechanism.profile(pair).epsilon_at(level, direction)
    with mpmath.workdps(DIGITS):
        laws = [_posterior_law(mechanism, member) for member in (pair.first, pair.second)]
        first, second = laws if direction is Direction.FORWARD else laws[::-1]

        def tail_and_delta(e: Number) -> tuple[Number, Number]:
            own = _beyond(first, second, e, first)
            return own, own - mpmath.exp(e) * _beyond(first, second, e, second)

        tail, delta = tail_and_delta(mpmath.mpf(epsilon))
        return any_missed(
            [
                _outside(mechanism.tail_bracket(pair, epsilon, direction), tail),
                _outside(mechanism.delta_bracket(pair, epsilon, direction), delta),
                _outside_root(mechanism.epsilon_bracket(pair, level, direction), level, lambda e: tail_and_delta(e)[1]),
            ]
        )


def _posterior_law(mechanism: PosteriorSampling, data: Dataset) -> tuple[Number, Number]:
    """Return mean and precision of the output."""
    xs, ys = ([mpmath.mpf(v) for v in values.ravel().tolist()] for values in (data.X, data.y))
    hessian = sum((x * x for x in xs), mpmath.mpf(mechanism.lam))
    return sum((x * y for x, y in zip(xs, ys, strict=True)), mpmath.mpf(0)) / hessian, hessian * mechanism.gamma


def _beyond(
    first: tuple[Number, Number], second: tuple[Number, Number], e: Number, under: tuple[Number, Number]
) -> Number:
    """Return the probability under one normal law that ``log first - log second > e``."""
    (m1, p1), (m2, p2) = first, second
    a, b = (p2 - p1) / 2, p1 * m1 - p2 * m2  # the log ratio is a t^2 + b t + c
    c = (p2 * m2**2 - p1 * m1**2 + mpmath.log(p1 / p2)) / 2 - e
    root = b * b - 4 * a * c
    if root <= 0:
        return mpmath.mpf(a > 0)
    ends = sorted((-b + sign * mpmath.sqrt(root)) / (2 * a) for sign in (-1, 1))
    below, above = ((end - under[0]) * mpmath.sqrt(under[1]) for end in ends)
    if a > 0:
        return mpmath.ncdf(below) + mpmath.ncdf(-above)
    return mpmath.ncdf(above) - mpmath.ncdf(below) if below < 0 else mpmath.ncdf(-below) - mpmath.ncdf(-above)


def _sampled(_: float, key: StreamKey) -> Misses:
    """One Poisson-sampled step with normal noise: mixtures of normal laws, cut where the likelihood ratio says."""
    rng = key.rng()
    relation, direction = list(Relation)[rng.integers(3)], BOTH[rng.integers(2)]
    rate, mu = (10 ** rng.uniform((-3, -1.5), (0, 0.7))).tolist()
    level = float(10 ** rng.uniform(-12, -0.5))
    profile = SubsampledGaussianProfile(rate, mu, relation)
    epsilon = profile.epsilon_at(level, direction) * float(rng.uniform(-0.5, 1.5))
    with mpmath.workdps(DIGITS):
        absent, present, opposite = (mpmath.mpf(shift) for shift in (0, mu, -mu))
        first, second = {
            Relation.ADD: (absent, present),
            Relation.REMOVE: (present, absent),
            Relation.REPLACE: (present, opposite),
        }[relation]
        if direction is Direction.BACKWARD:
            first, second = second, first

        def tail_and_delta(e: Number) -> tuple[Number, Number]:
            own, other = _sampled_tails(mpmath.mpf(rate), first, second, mpmath.exp(e))
            return own, own - mpmath.exp(e) * other

        tail, delta = tail_and_delta(mpmath.mpf(epsilon))
        return any_missed(
            [
                _outside(profile.tail_bracket(epsilon, direction), tail),
                _outside(profile.delta_bracket(epsilon, direction), delta),
                _outside_root(profile.epsilon_bracket(level, direction), level, lambda e: tail_and_delta(e)[1]),
            ]
        )


def _sampled_tails(rate: Number, first: Number, second: Number, factor: Number) -> tuple[Number, Number]:
    """Return the probabilities under both laws that the density of the first exceeds ``factor`` times the second's.

    With ``u = e^(mu x)`` the difference of the two densities is a multiple of ``a u^2 + b u + c``, which is positive
    on one side of one point, where it is positive at all.
    """
    weights = {mpmath.mpf(0): (1 - rate) * (1 - factor)}
    kept = rate * mpmath.exp(-max(first**2, second**2) / 2)  # the longer shift is mu
    for shift, weight in ((first, mpmath.mpf(1)), (second, -factor)):
        weights[shift] = weights.get(shift, mpmath.mpf(0)) + weight * (kept if shift else rate)
    mu = max(first, second, -second, -first)
    a, b, c = (weights.get(shift, mpmath.mpf(0)) for shift in (mu, mpmath.mpf(0), -mu))
    u = (-b + mpmath.sign(a) * mpmath.sqrt(b * b - 4 * a * c)) / (2 * a) if a * c else -b / a
    if u <= 0:
        sure = mpmath.mpf(a > 0)
        return sure, sure
    edge, side = mpmath.log(u) / mu, 1 if a > 0 else -1
    own, other = (
        (1 - rate) * mpmath.ncdf(-side * edge) + rate * mpmath.ncdf(side * (shift - edge)) for shift in (first, second)
    )
    return own, other


def _composed(_: float, key: StreamKey) -> Misses:
    """One to three normal releases together are one: ``mu^2`` is the sum of theirs; and one Poisson-sampled step.

    With rate ``q`` and the record in the first data set, ``delta(e) = q delta_normal(log(1 + (exp(e) - 1)/q))``.
    """
    rng = key.rng()
    mus = (10 ** rng.uniform(-1, 0.3, rng.integers(1, 4))).tolist()
    with mpmath.workdps(DIGITS):
        size = mpmath.sqrt(sum((mpmath.mpf(mu) ** 2 for mu in mus), mpmath.mpf(0)))
        epsilon = float(size * (size / 2 + rng.uniform(-1, 5)))
        found = composed_delta([GaussianProfile(mu) for mu in mus], epsilon, directions=BOTH[:1], interval=0.125)
        rate, above = float(10 ** rng.uniform(-3, 0)), float(rng.uniform(0, 2))
        law = compose([(SubsampledGaussianProfile(rate, mus[0], Relation.REMOVE), 1)], directions=BOTH[:1], step=0.125)
        plain = mpmath.log1p(mpmath.expm1(above) / mpmath.mpf(rate))
        return any_missed(
            [
                _outside(found, _gaussian_delta(size, mpmath.mpf(epsilon))),
                _outside(law.delta_bracket(above), mpmath.mpf(rate) * _gaussian_delta(mpmath.mpf(mus[0]), plain)),
            ]
        )


def _gaussian_delta(size: Number, e: Number) -> Number:
    """Balle and Wang 2018, theorem 8: ``Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu)``."""
    return mpmath.ncdf(size / 2 - e / size) - mpmath.exp(e) * mpmath.ncdf(-size / 2 - e / size)


def _matrices(_: float, key: StreamKey) -> Misses:
    """The spectral norm in two dimensions: ``|m| + r`` with ``m`` normal of variance 1 and ``r^2 / 2`` exponential.

    ``P(|m| + r <= t) = erf(t/sqrt 2) - sqrt 2 exp(-t^2/4) erf(t/2)``, off-diagonal variance 1.
    """
    rng = key.rng()
    t, lambda_min, sigma = float(rng.uniform(0.05, 9)), float(rng.uniform(0.1, 9)), float(rng.uniform(0.3, 3))

    def inside(tau: Number) -> Number:
        root = mpmath.sqrt(2)
        return mpmath.erf(tau / root) - root * mpmath.exp(-tau * tau / 4) * mpmath.erf(tau / 2)

    with mpmath.workdps(DIGITS):
        return any_missed(
            [
                _outside(goe_norm_exact(2, t, Normalisation.UNIT_OFF_DIAGONAL), inside(mpmath.mpf(t))),
                _outside(sandwich_exact(2, lambda_min, sigma), inside(mpmath.mpf(lambda_min) / 2 / sigma)),
            ]
        )


def exact_series() -> Iterator[AuditSeries]:
    """Yield the series of proved enclosures, whose level is 0: one miss is one too many."""
    for law, audit, seconds in (
        ("Gaussian loss: tail, delta, epsilon", _gaussian, 1e-3),
        ("one-posterior sampling: the same", _posterior, 3e-3),
        ("one Poisson-sampled step: the same", _sampled, 1e-2),
        ("delta of normal releases together, and of a sampled step", _composed, 4e-2),
        ("norm and sandwich, GOE(2)", _matrices, 1e-3),
    ):
        yield AuditSeries("proved enclosures", law, 0, one_by_one(audit), halves=False, levels=(0.0,), seconds=seconds)
