"""One step of DP-SGD, normal noise on the sum of a Poisson sample: its exact privacy profile and Renyi divergences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Final, overload

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from ..base import BOTH, Bracket, Direction, check_delta, check_nonnegative
from ..data.dataset import FloatArray
from ..data.neighbours import Relation
from ..laws.gaussian_profile import gaussian_log_delta
from ..laws.profile_tools import epsilon_bracket, from_nonnegative, larger, smallest_epsilon
from ..numerics.balls import Ball, at_infinity, enclose
from ..numerics.mills import log_gap

#: Beyond this epsilon ``e^epsilon - 1 + rate`` and ``e^epsilon`` are one number in float64.
_LARGE: Final = 50.0
#: No distance is longer: the search for an epsilon of the order of its square must end.
LONGEST: Final = 1e20
#: Bits that decide on which side of the end of the losses, ``log(1 - rate)``, a float lies (doubled where they do not).
_SIDE_BITS: Final = 256


@lru_cache(maxsize=64)
def _constants(rate: float, mu: float, bits: int) -> tuple[Ball, ...]:
    """Return ``q, 1 - q, q/2, (1 - q)/2, 1/(sqrt2 mu), mu/sqrt2, sinh's factor`` at a precision; ``mu > 0``."""
    with ctx.workprec(bits):
        q, distance, root = arb(rate), arb(mu), arb(2).sqrt()
        factor = (1 - q) / q * (distance * distance / 2).exp()
        return q, 1 - q, q / 2, (1 - q) / 2, 1 / (root * distance), distance / root, factor


def _check_rate(rate: float) -> float:
    """Return a sampling rate as a float if it is in (0, 1]."""
    number = float(rate)
    if not 0 < number <= 1 or isinstance(rate, bool):
        raise ValueError(f"rate must be in (0, 1], got rate={rate}")
    return number


def unsampled(epsilon: float, rate: float) -> float:
    r"""Return ``log(1 + (e^epsilon - 1)/rate)``, the loss without sampling where the sampled one is ``epsilon``.

    Returns
    -------
    float
        Accurate to a few units in the last place; ``-inf`` where ``epsilon <= log(1 - rate)``, decided exactly.
    """
    if epsilon > _LARGE:
        return epsilon - math.log(rate)
    ratio = math.expm1(epsilon) / rate
    if ratio > -0.5:
        return math.log1p(ratio)
    if math.isinf(epsilon):
        return -math.inf
    if rate == 1.0:
        return epsilon
    bits = _SIDE_BITS
    while True:
        with ctx.workprec(bits):
            over = arb(epsilon).exp() - (1 - arb(rate))
            if over <= 0:
                return -math.inf
            if over > 0:
                return float((over / arb(rate)).log())
        bits *= 2


@dataclass(frozen=True)
class SubsampledGaussianProfile:
    r"""The law of the loss of one Poisson-sampled step with normal noise, between its two worst data sets.

    A record takes part with probability ``rate`` and then moves the mean by ``mu`` standard deviations of the noise.
    With ``M(c) = (1 - rate) N(0, 1) + rate N(c, 1)`` the pair ``(law of D, law of D')`` is ``(N(0, 1), M(mu))`` for
    ``ADD``, ``(M(mu), N(0, 1))`` for ``REMOVE`` and ``(M(mu), M(-mu))`` for ``REPLACE``. It dominates every step whose
    clipped gradients are at most ``mu`` standard deviations long, and does so adaptively, whatever the other records
    are (docs/derivations/dp_sgd.md, theorems 1 and 2; Zhu, Dong and Wang 2022 for add and remove).
    Without a ``direction`` every method answers for the worse of both: the larger epsilon, delta or tail, and of
    brackets the larger of either end.

    Parameters
    ----------
    rate : float
        Probability that the record takes part, in (0, 1].
    mu : float
        Bound on its clipped gradient over the standard deviation of the noise as added; at least 0, at most 1e20.
    relation : Relation
        How the two data sets differ.

    Examples
    --------
    >>> from mechanisms import Direction, Relation
    >>> law = SubsampledGaussianProfile(rate=0.01, mu=1.0, relation=Relation.REMOVE)
    >>> round(law.epsilon_at(1e-6), 6)  # the worse direction; the other one:
    0.363948
    >>> round(law.epsilon_at(1e-6, Direction.BACKWARD), 6)
    0.009514
    """

    rate: float
    mu: float
    relation: Relation

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _check_rate(self.rate))
        object.__setattr__(self, "mu", check_nonnegative("mu", self.mu))
        if self.mu > LONGEST:
            raise ValueError(f"mu must be at most {LONGEST:g}, got mu={self.mu}")
        if not isinstance(self.relation, Relation):
            raise ValueError(f"relation must be a Relation, got relation={self.relation!r}")

    @property
    def symmetric(self) -> bool:
        """Whether the loss has one law in both directions."""
        return self.relation is Relation.REPLACE or self.rate == 1.0 or self.mu == 0.0

    @property
    def _directions(self) -> tuple[Direction, ...]:
        """The directions that differ."""
        return BOTH[:1] if self.symmetric else BOTH

    def _mixture_drawn(self, direction: Direction) -> bool:
        """Whether the output is drawn from the data set that has the record (add and remove)."""
        return (self.relation is Relation.REMOVE) == (direction is Direction.FORWARD)

    def log_delta_at(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return ``log delta(epsilon)`` at any real ``epsilon``; ``-inf`` where delta is 0."""
        if direction is None:
            return max(self.log_delta_at(epsilon, each) for each in self._directions)
        if math.isnan(epsilon):
            raise ValueError("epsilon must be a number, got epsilon=nan")
        if self.mu == 0.0 or math.isinf(epsilon):
            return math.log(-math.expm1(epsilon)) if epsilon < 0 else -math.inf
        if self.relation is Relation.REPLACE:
            return self._log_delta_replaced(epsilon)
        if self._mixture_drawn(direction):
            plain = unsampled(epsilon, self.rate)
            if plain == -math.inf:
                return math.log(-math.expm1(epsilon))
            return min(0.0, math.log(self.rate) + float(gaussian_log_delta(plain, self.mu)))
        plain = unsampled(-epsilon, self.rate)
        if plain == -math.inf:
            return -math.inf
        # delta(epsilon) = (1 - (1 - q) e^epsilon) delta_normal(-plain), whose first factor is q e^(epsilon + plain)
        return min(0.0, math.log(self.rate) + epsilon + plain + float(gaussian_log_delta(-plain, self.mu)))

    def _edge_replaced(self, epsilon: float) -> float:
        """Return ``epsilon/2 + asinh(factor sinh(epsilon/2))``: ``mu`` times the output whose loss is ``epsilon``."""
        half = 0.5 * abs(epsilon)
        if self.rate == 1.0 or half == 0.0:
            return 0.5 * epsilon
        log_sinh = half + math.log(-math.expm1(-2 * half) / 2)
        log_term = math.log1p(-self.rate) - math.log(self.rate) + 0.5 * self.mu**2 + log_sinh
        bent = math.asinh(math.exp(log_term)) if log_term < _LARGE else math.log(2) + log_term
        return math.copysign(half + bent, epsilon)

    def _log_delta_replaced(self, epsilon: float) -> float:
        """Return log delta between ``M(mu)`` and ``M(-mu)``, a sum of two positive gaps of Mills ratios."""
        size, mu = abs(epsilon), self.mu
        edge = self._edge_replaced(size)
        start = edge / mu
        near = float(log_gap(max(mu - start, -1e150), mu))
        far = size - edge - 0.5 * mu**2 + float(log_gap(max(-start, -1e150), mu))
        above = math.log(self.rate) + float(np.logaddexp(near, far)) if start < 1e150 else -math.inf
        return min(0.0, float(from_nonnegative(np.asarray(epsilon), np.asarray(above))))

    def delta_at(self, epsilon: float, direction: Direction | None = None) -> float:
        return math.exp(self.log_delta_at(epsilon, direction))

    def epsilon_at(self, delta: float, direction: Direction | None = None) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the safe side."""
        if direction is None:
            return max(self.epsilon_at(delta, each) for each in self._directions)
        delta = check_delta(delta)
        if self.mu == 0.0 or delta == 1.0:
            return 0.0
        if delta == 0.0:
            return self._largest_loss(direction).high
        # without sampling delta(epsilon) <= exp(-(epsilon - d^2/2)^2 / (2 d^2)) at distance d, and sampling lowers it
        distance = 2 * self.mu if self.relation is Relation.REPLACE else self.mu
        upper = distance * (0.5 * distance + math.sqrt(-2 * math.log(delta)))
        return smallest_epsilon(lambda e: self.log_delta_at(e, direction), delta, upper)

    def _largest_loss(self, direction: Direction) -> Bracket:
        """Return the supremum of the loss: ``-log(1 - rate)`` where the record is absent from the data drawn from."""
        if self.symmetric or self._mixture_drawn(direction):
            return Bracket(math.inf, math.inf)
        return enclose(lambda: -(-arb(self.rate)).log1p(), low=0.0)

    def epsilon_bracket(self, delta: float, direction: Direction | None = None) -> Bracket:
        if direction is None:
            return larger(self.epsilon_bracket(delta, each) for each in self._directions)
        epsilon = self.epsilon_at(delta, direction)
        if delta == 0.0 and self.mu > 0.0:
            return self._largest_loss(direction)
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, epsilon)

    def log_tail_at(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return ``log P(L > epsilon)``."""
        if direction is None:
            return max(self.log_tail_at(epsilon, each) for each in self._directions)
        if self.mu == 0.0 or math.isinf(epsilon):
            return 0.0 if epsilon < 0 else -math.inf
        if self.relation is not Relation.REPLACE and not self._mixture_drawn(direction):
            return float(log_ndtr(0.5 * self.mu + unsampled(-epsilon, self.rate) / self.mu))
        if self.relation is Relation.REPLACE:
            edge = self._edge_replaced(epsilon) / self.mu
        else:
            edge = 0.5 * self.mu + unsampled(epsilon, self.rate) / self.mu
        moved = math.log(self.rate) + float(log_ndtr(self.mu - edge))
        if self.rate == 1.0:
            return moved
        return min(0.0, float(np.logaddexp(math.log1p(-self.rate) + float(log_ndtr(-edge)), moved)))

    def tail_at(self, epsilon: float, direction: Direction | None = None) -> float:
        return math.exp(self.log_tail_at(epsilon, direction))

    def tails(self, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
        """Return ``P(L > epsilon)`` and ``Q(L > epsilon)``: under the law drawn from, and the one compared with.

        Balls of two or three error functions at the precision of the flint context; not finite where more bits are
        needed.
        """
        if not epsilon.is_finite():
            return at_infinity(epsilon)
        if self.mu == 0.0:
            sure = arb(1) if epsilon < 0 else arb(0) if epsilon >= 0 else arb("nan")
            return sure, sure
        q, rest, half_q, half_rest, slope, step, factor = _constants(self.rate, self.mu, ctx.prec)
        if self.relation is Relation.REPLACE:
            half = epsilon / 2
            edge = (half + (factor * half.sinh()).asinh()) * slope
            common = half_rest * edge.erfc()
            return common + half_q * (edge - step).erfc(), common + half_q * (edge + step).erfc()
        drawn = self._mixture_drawn(direction)
        over = (epsilon if drawn else -epsilon).exp() - rest
        if not over > 0:
            sure = arb(int(drawn)) if over <= 0 else arb("nan")
            return sure, sure
        edge = (over / q).log() * slope + step / 2
        if drawn:
            absent = edge.erfc()
            return half_rest * absent + half_q * (edge - step).erfc(), absent / 2
        absent = (-edge).erfc()
        return absent / 2, half_rest * absent + half_q * (step - edge).erfc()

    def balls(self, epsilon: Ball, direction: Direction) -> tuple[Ball, Ball]:
        """Return ``(delta(epsilon), P(L > epsilon))`` as balls; not finite where more bits are needed."""
        first, second = self.tails(epsilon, direction)
        if not epsilon.is_finite():
            return first, second
        return first - epsilon.exp() * second, first

    def delta_bracket(self, epsilon: float, direction: Direction | None = None) -> Bracket:
        """Return a proved enclosure of ``delta_at`` (for ``rate`` and ``mu`` as they are stored)."""
        if direction is None:
            return larger(self.delta_bracket(epsilon, each) for each in self._directions)
        return enclose(lambda: self.balls(arb(epsilon), direction)[0], low=0.0, high=1.0)

    def tail_bracket(self, epsilon: float, direction: Direction | None = None) -> Bracket:
        if direction is None:
            return larger(self.tail_bracket(epsilon, each) for each in self._directions)
        return enclose(lambda: self.tails(arb(epsilon), direction)[0], low=0.0, high=1.0)


#: Records evaluated at once: their terms stay in the cache.
_CHUNK: Final = 4096
#: Distances from here on have an infinite cost: their squares overflow.
_FAR: Final = 1e150


def check_order(order: float) -> int:
    """Return a Renyi order as an int if it is a whole number of at least 2."""
    if not isinstance(order, Real):
        raise ValueError(f"order must be a whole number of at least 2, got order={order!r}")
    if isinstance(order, bool) or not math.isfinite(order) or int(order) != order or order < 2:
        raise ValueError(f"order must be a whole number of at least 2, got order={order}")
    return int(order)


@lru_cache(maxsize=64)
def _log_weights(rate: float, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the columns ``k (k - 1)/2`` and ``log C(order, k) (1 - rate)^(order - k) rate^k``, ``k = 2 … order``."""
    k = np.arange(2, order + 1, dtype=np.float64)
    weights: FloatArray = np.array([math.log(math.comb(order, j)) for j in range(2, order + 1)]) + k * math.log(rate)
    if rate < 1:
        weights += (order - k) * math.log1p(-rate)
    else:
        weights[:-1] = -math.inf
    return (0.5 * k * (k - 1))[:, None], weights[:, None]


def _log_excess(squared: FloatArray, pairs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return ``log sum_k w_k (exp(pairs_k squared) - 1)``, a sum of positive terms; ``-inf`` where it is 0."""
    growth = pairs * squared
    exponents = weights + growth
    top = exponents.max(axis=0)
    exponents -= top
    np.exp(exponents, out=exponents)
    exponents *= -np.expm1(-growth)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(exponents.sum(axis=0)))


@overload
def renyi_divergence(rate: float, mu: float, order: int) -> float: ...


@overload
def renyi_divergence(rate: float, mu: FloatArray, order: int) -> FloatArray: ...


def renyi_divergence(rate: float, mu: ArrayLike, order: int) -> float | FloatArray:
    r"""Return the Renyi divergence of one step, the larger of the two directions (add or remove one record).

    With ``q = rate`` it is ``log(sum_k C(order, k) (1 - q)^(order - k) q^k exp(k (k - 1) mu^2/2)) / (order - 1)``
    (Mironov, Talwar and Zhang 2019, section 3.3), that of ``(1 - q) N(0, 1) + q N(mu, 1)`` against ``N(0, 1)``. It
    bounds every step whose clipped gradient of the record is at most ``mu`` long, and the other direction too
    (docs/derivations/dp_sgd.md, theorems 1 and 5). Not for a replaced record. Gradient lengths ``mu >= 0`` are in
    standard deviations of the noise, any shape; ``rate`` in (0, 1], ``order`` at least 2. To about 1e-13 relatively, as
    it comes (neither rounded up nor down); infinite from 1e150 on.
    """
    pairs, weights = _log_weights(_check_rate(rate), check_order(order))
    lengths = np.asarray(mu, dtype=np.float64)
    if not (lengths >= 0).all():
        raise ValueError(f"mu must be at least 0, got mu={mu if lengths.ndim == 0 else 'an array with other values'}")
    flat = lengths.ravel()
    out = np.full(flat.shape, math.inf)
    near = np.flatnonzero(flat < _FAR)
    for start in range(0, near.size, _CHUNK):
        part = near[start : start + _CHUNK]
        out[part] = np.logaddexp(0.0, _log_excess(flat[part] ** 2, pairs, weights)) / (order - 1)
    return float(out[0]) if lengths.ndim == 0 else out.reshape(lengths.shape)


def _renyi_ball(rate: float, mu: float, order: int) -> Ball:
    """Return ``renyi_divergence`` as a ball at the precision of the flint context (for the numbers as stored)."""
    q, half = arb(_check_rate(rate)), arb(check_nonnegative("mu", mu)) ** 2 / 2
    order = check_order(order)
    # (1 - q)^0 = 1 at the last term, also where q = 1
    terms = (
        arb(math.comb(order, k)) * (1 - q) ** (order - k) * q**k * (k * (k - 1) * half).expm1()
        for k in range(2, order + 1)
    )
    return sum(terms, arb(0)).log1p() / (order - 1)


def renyi_bracket(rate: float, mu: float, order: int) -> Bracket:
    """Return a proved enclosure of ``renyi_divergence``."""
    return enclose(lambda: _renyi_ball(rate, mu, order), low=0.0)


def _check_real_order(order: float) -> float:
    number = float(order)
    if not 1 < number < math.inf:
        raise ValueError(f"order must be finite and exceed 1, got order={order}")
    return number


def _check_cost(cost: float) -> float:
    number = float(cost)
    if not number >= 0:
        raise ValueError(f"cost must be at least 0, got cost={cost}")
    return number


def renyi_to_epsilon(order: float, cost: float, delta: float) -> float:
    r"""Return an ``epsilon`` that a Renyi divergence of at most ``cost`` promises at ``delta`` in [0, 1].

    ``cost + log((a - 1)/a) - (log delta + log a)/(a - 1)`` with ``a = order > 1``, or 0 where that is negative;
    infinite at an infinite cost, and at ``delta = 0`` (Canonne, Kamath and Steinke 2020, proposition 12; Balle et al.
    2020, theorem 21; docs/derivations/dp_sgd.md, theorem 6).
    """
    a, cost, delta = _check_real_order(order), _check_cost(cost), check_delta(delta)
    if delta == 0.0:
        return math.inf if cost > 0 else 0.0
    return max(0.0, cost + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1))


def renyi_to_delta(order: float, cost: float, epsilon: float) -> float:
    r"""Return the ``delta`` that a Renyi divergence of at most ``cost`` promises at ``epsilon``: the inverse.

    ``exp((a - 1)(cost - epsilon)) (1 - 1/a)^(a - 1)/a`` with ``a = order``, or 1 where that is larger.
    """
    a, cost = _check_real_order(order), _check_cost(cost)
    if math.isnan(epsilon):
        raise ValueError("epsilon must be a number, got epsilon=nan")
    if math.isinf(epsilon):
        return 0.0 if epsilon > 0 and cost < math.inf else 1.0
    return math.exp(min(0.0, (a - 1) * (cost - epsilon + math.log1p(-1 / a)) - math.log(a)))
