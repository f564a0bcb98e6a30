"""The forms in which a library may state a privacy claim, each with the curve delta(epsilon) that it implies.

A black-box audit refutes a point or a whole curve. For a claim of another form it attacks the curve that the form
implies: refuting that refutes the claim. Derivations: ``docs/derivations/claim_forms.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy import special

from mechanisms import BOTH, Bracket, Direction, GaussianProfile, LaplaceProfile, Relation
from mechanisms.base import check_delta, check_nonnegative
from mechanisms.data.dataset import FloatArray

from .black_box_results import BlackBoxClaim, CurvePoints

#: An implied curve is moved up by this share, far beyond the rounding of its formula.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ZcdpCurve:
    """What rho-zCDP implies at every ``epsilon >= 0``: the least of what its orders ``alpha > 1`` imply."""

    rho: float  #: finite, at least 0: the divergence of order ``alpha`` is at most ``alpha rho`` (Bun and Steinke 2016)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", check_nonnegative("rho", self.rho))

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``."""
        epsilon = check_nonnegative("epsilon", epsilon)
        if self.rho == 0:
            return 0.0
        order = 1.0 + math.exp(self._log_excess(epsilon))
        return _capped(_renyi_log_delta(epsilon, order, order * self.rho), self.rho)

    def _log_excess(self, epsilon: float) -> float:
        """Return ``log(alpha - 1)`` for the best order: where the derivative of the exponent, which increases, is 0."""
        low, high = -40.0, max(0.0, math.log1p(epsilon / self.rho), -math.log(self.rho)) + 2.0
        for _ in range(60):
            middle = 0.5 * (low + high)
            excess = math.exp(middle)
            slope = (1 + 2 * excess) * self.rho - epsilon + middle - math.log1p(excess)
            low, high = (low, middle) if slope > 0 else (middle, high)
        return 0.5 * (low + high)

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above."""
        return _inverse(self, delta)


@dataclass(frozen=True)
class RenyiCurve:
    """What ``(order, epsilon)``-Renyi DP implies at every ``epsilon >= 0``."""

    order: float  #: finite, above 1
    epsilon: float  #: the bound on the divergence of that order; finite, at least 0

    def __post_init__(self) -> None:
        order = float(self.order)
        if not (math.isfinite(order) and order > 1):
            raise ValueError(f"order must be finite and above 1, got order={self.order}")
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "epsilon", check_nonnegative("epsilon", self.epsilon))

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``."""
        epsilon = check_nonnegative("epsilon", epsilon)
        return _capped(_renyi_log_delta(epsilon, self.order, self.epsilon), self.epsilon)

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above."""
        return _inverse(self, delta)


@dataclass(frozen=True)
class TableCurve:
    """What several points, each in both directions, imply at every ``epsilon >= 0``.

    In ``r = e^epsilon`` the divergence is convex, does not increase, and is 1 at ``r = 0``; a point ``(e, d)`` of the
    other direction is a point ``1 - (1 - d)/r`` at ``1/r`` of this one. The curve is the lower convex hull of all of
    these, constant after the last.
    """

    points: tuple[tuple[float, float], ...]  #: at least one

    def __post_init__(self) -> None:
        if not self.points:
            raise ValueError("points must be at least one (epsilon, delta), got points=()")
        for epsilon, delta in self.points:
            check_nonnegative("epsilon", epsilon)
            check_delta(delta)

    def __call__(self, epsilon: float) -> float:
        """Return the implied delta at ``epsilon``: the least chord above it."""
        epsilon = check_nonnegative("epsilon", epsilon)
        knots, values = self._knots
        left, right = knots <= epsilon, knots >= epsilon
        flat = float(values[left].min())
        if not right.any():
            return flat
        a, b = knots[left][:, None], knots[right]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.exp(epsilon - b) * np.expm1(a - epsilon) / np.expm1(a - b)  # of the right end, linear in r
        share = np.where(a == b, 1.0, share)
        return float(min(flat, ((1 - share) * values[left][:, None] + share * values[right]).min()))

    @cached_property
    def _knots(self) -> tuple[FloatArray, FloatArray]:
        """Return the known points: epsilons (from minus infinity on) and deltas."""
        epsilons, deltas = np.array(self.points).T
        mirrored = -np.expm1(-epsilons) + np.exp(-epsilons) * deltas
        return np.concatenate([[-np.inf], -epsilons, epsilons]), np.concatenate([[1.0], mirrored, deltas])

    def epsilon_at(self, delta: float) -> float:
        """Return the least ``epsilon >= 0`` whose implied delta is at most ``delta``, from above; or infinity."""
        return _inverse(self, delta, max(epsilon for epsilon, _ in self.points))


def _renyi_log_delta(epsilon: float, order: float, divergence: float) -> float:
    r"""Return the log of the delta at ``epsilon`` that a divergence of one order implies.

    ``exp((a-1)(tau - epsilon)) (1 - 1/a)^{a-1} / a`` for order ``a`` and divergence ``tau`` (Canonne, Kamath and
    Steinke 2020, proposition 12).
    """
    less = order - 1.0
    if less == 0.0:
        return 0.0
    return less * (divergence - epsilon + math.log(less) - math.log1p(less)) - math.log1p(less)


def _capped(log_delta: float, relative_entropy: float) -> float:
    """Return delta, at most the total variation that the relative entropy allows.

    Pinsker, and Bretagnolle and Huber: ``min(sqrt(K/2), sqrt(1 - e^{-K}))``.
    """
    variation = math.sqrt(min(0.5 * relative_entropy, -math.expm1(-relative_entropy)))
    return min(1.0, min(math.exp(min(log_delta, 0.0)), variation) * (1 + ROUNDING))


def _inverse(curve: Callable[[float], float], delta: float, last: float = math.inf) -> float:
    """Return the least ``epsilon >= 0`` with ``curve(epsilon) <= delta``, from above; infinity where there is none."""
    delta, high = check_delta(delta), 1.0
    if curve(0.0) <= delta:
        return 0.0
    if delta == 0.0 and last == math.inf:
        return math.inf
    while curve(high) > delta:
        if high > last:
            return math.inf
        high *= 2
    low = 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if curve(middle) <= delta else (middle, high)
    return high


#: A record more or less; the relations of most claims.
ADD_REMOVE = (Relation.ADD, Relation.REMOVE)
#: The delta at which the epsilon of a claim without a point of its own is shown.
SHOWN_DELTA = 1e-6

#: What a claim says beyond its one point.
ClaimedCurve = GaussianProfile | ZcdpCurve | RenyiCurve | TableCurve


@dataclass(frozen=True)
class PrivacyClaim:
    """A claim in the form in which it was stated; build it with one of the functions of this module.

    Attributes
    ----------
    epsilon, delta : float
        A point that the claim contains or implies: the claimed one, or the one at which numbers are shown.
    relations : tuple of Relation, the neighbouring relations that the claim covers
    curve : GaussianProfile, ZcdpCurve, RenyiCurve, TableCurve or None
        What is claimed or implied at every ``epsilon >= 0``; None for a point.
    group : int, the claim is stated for data sets that many records apart
    source : str, where the claim is made
    """

    epsilon: float
    delta: float
    relations: tuple[Relation, ...] = ADD_REMOVE
    curve: ClaimedCurve | None = None
    group: int = 1
    source: str = ""

    def __post_init__(self) -> None:
        check_nonnegative("epsilon", self.epsilon)
        check_delta(self.delta)
        if not self.relations:
            raise ValueError("relations must be a non-empty tuple, got relations=()")
        if isinstance(self.group, bool) or int(self.group) != self.group or self.group < 1:
            raise ValueError(f"group must be a whole number of at least 1, got group={self.group}")

    @property
    def form(self) -> str:
        """One of "point", "gaussian-dp", "zcdp", "renyi" and "table"."""
        names = {GaussianProfile: "gaussian-dp", ZcdpCurve: "zcdp", RenyiCurve: "renyi", TableCurve: "table"}
        return "point" if self.curve is None else names[type(self.curve)]

    @property
    def sentence(self) -> str:
        """The claim in words, its parameters to 12 digits: "(1, 1e-06)", "mu = 0.5 Gaussian DP", "rho = 0.1 zCDP", …"""
        match self.curve:
            case None:
                words = _point(self.epsilon, self.delta)
            case GaussianProfile(mu=mu):
                words = f"mu = {mu:.12g} Gaussian DP"
            case ZcdpCurve(rho=rho):
                words = f"rho = {rho:.12g} zCDP"
            case RenyiCurve(order=order, epsilon=epsilon):
                words = f"order {order:.12g}, epsilon = {epsilon:.12g} Renyi DP"
            case TableCurve(points=points):
                words = " and ".join(_point(*point) for point in points)
                if len(points) > 3:
                    words = f"{len(points)} points from {_point(*points[0])} to {_point(*points[-1])}"
        return words if self.group == 1 else f"{words} for {self.group} records"

    def delta_at(self, epsilon: float) -> float:
        """Return the largest delta that the claim allows at ``epsilon >= 0``, as far as the claim says it."""
        if self.curve is None:
            return TableCurve(((self.epsilon, self.delta),))(epsilon)
        return self.curve.delta_at(epsilon) if isinstance(self.curve, GaussianProfile) else self.curve(epsilon)

    def black_box(self) -> BlackBoxClaim:
        """Return what a black-box audit attacks: the point, and the curve where there is one."""
        kind = TableClaim if isinstance(self.curve, TableCurve) else BlackBoxClaim
        return kind(self.epsilon, self.delta, self.relations, self.curve, self.source)


class TableClaim(BlackBoxClaim):
    """A table of points; an attack may pick the points of the table themselves."""

    def points(self) -> CurvePoints:
        """Return the points of the table, and a grid between them, from 0 to the last."""
        assert isinstance(self.curve, TableCurve)
        knots = [epsilon for epsilon, _ in self.curve.points]
        epsilons = np.union1d(np.array(knots), np.linspace(0.0, max(knots), 129))
        deltas = np.array([self.curve(float(epsilon)) for epsilon in epsilons])
        return CurvePoints(epsilons, deltas, deltas)


def point_claim(
    epsilon: float, delta: float, relations: Sequence[Relation] = ADD_REMOVE, *, source: str = ""
) -> PrivacyClaim:
    """Return the claim of ``(epsilon, delta)``-differential privacy (natural log; ``delta`` in [0, 1]).

    Parameters
    ----------
    epsilon : float, at least 0
    delta : float, in [0, 1]
    relations, source
        As of ``gaussian_dp_claim``.

    Returns
    -------
    PrivacyClaim
        ``.black_box()`` is what an audit takes.

    Examples
    --------
    >>> from audits import point_claim
    >>> point_claim(1.0, 1e-6).sentence
    '(1, 1e-06)'
    """
    return PrivacyClaim(check_nonnegative("epsilon", epsilon), check_delta(delta), tuple(relations), source=source)


def gaussian_dp_claim(
    mu: float, relations: Sequence[Relation] = ADD_REMOVE, *, shown_delta: float = SHOWN_DELTA, source: str = ""
) -> PrivacyClaim:
    """Return the claim of mu-Gaussian differential privacy (Dong, Roth and Su 2022); its curve is exact.

    Parameters
    ----------
    mu : float, finite, at least 0
    relations : sequence of Relation, the neighbouring relations that the claim covers
    shown_delta : float, the delta of the point at which numbers are shown, in (0, 1]
    source : str, where the claim is made

    Returns
    -------
    PrivacyClaim
        With the exact curve.

    References
    ----------
    Dong, Roth and Su 2022.

    Examples
    --------
    >>> from audits import gaussian_dp_claim
    >>> gaussian_dp_claim(0.5).sentence
    'mu = 0.5 Gaussian DP'
    """
    profile = GaussianProfile(mu)
    delta = _shown(shown_delta)
    return PrivacyClaim(max(profile.epsilon_at(delta, d) for d in BOTH), delta, tuple(relations), profile, 1, source)


def zcdp_claim(
    rho: float, relations: Sequence[Relation] = ADD_REMOVE, *, shown_delta: float = SHOWN_DELTA, source: str = ""
) -> PrivacyClaim:
    """Return the claim of rho-zero-concentrated differential privacy (Bun and Steinke 2016), with the implied curve.

    Parameters
    ----------
    rho : float, finite, at least 0
    relations, shown_delta, source
        As of ``gaussian_dp_claim``.

    Returns
    -------
    PrivacyClaim
        With the curve that it implies.

    References
    ----------
    Bun and Steinke 2016.

    Examples
    --------
    >>> from audits import zcdp_claim
    >>> zcdp_claim(0.1).sentence, round(zcdp_claim(0.1).epsilon, 3)
    ('rho = 0.1 zCDP', 2.142)
    """
    curve = ZcdpCurve(rho)
    delta = _shown(shown_delta)
    return PrivacyClaim(curve.epsilon_at(delta), delta, tuple(relations), curve, 1, source)


def renyi_claim(
    order: float,
    epsilon: float,
    relations: Sequence[Relation] = ADD_REMOVE,
    *,
    shown_delta: float = SHOWN_DELTA,
    source: str = "",
) -> PrivacyClaim:
    """Return the claim of ``(order, epsilon)``-Renyi differential privacy (Mironov 2017), with the implied curve.

    Parameters
    ----------
    order : float, finite, above 1
    epsilon : float, the bound on the divergence of that order, at least 0
    relations, shown_delta, source
        As of ``gaussian_dp_claim``.

    Returns
    -------
    PrivacyClaim
        With the curve that it implies.

    References
    ----------
    Mironov 2017; Canonne, Kamath and Steinke 2020, proposition 12.
    """
    curve = RenyiCurve(order, epsilon)
    delta = _shown(shown_delta)
    return PrivacyClaim(curve.epsilon_at(delta), delta, tuple(relations), curve, 1, source)


def table_claim(
    points: Iterable[tuple[float, float]], relations: Sequence[Relation] = ADD_REMOVE, *, source: str = ""
) -> PrivacyClaim:
    """Return the claim of several points ``(epsilon, delta)`` at once; the first one is shown.

    Parameters
    ----------
    points : iterable of (epsilon, delta), at least one; the first is shown
    relations, source
        As of ``gaussian_dp_claim``.

    Returns
    -------
    PrivacyClaim
        With the curve that the points imply.

    Examples
    --------
    >>> from audits import table_claim
    >>> table_claim([(1.0, 1e-6), (2.0, 0.0)]).sentence
    '(1, 1e-06) and (2, 0)'
    """
    curve = TableCurve(tuple((float(epsilon), float(delta)) for epsilon, delta in points))
    epsilon, delta = curve.points[0]
    return PrivacyClaim(epsilon, delta, tuple(relations), curve, 1, source)


def group_claim(claim: PrivacyClaim, group: int) -> PrivacyClaim:
    """Return the same claim, stated for data sets ``group`` records apart (nothing is derived from one record's).

    Parameters
    ----------
    claim : PrivacyClaim
    group : int, records apart, at least 1

    Returns
    -------
    PrivacyClaim
        The same point and curve.
    """
    return replace(claim, group=group)


def implied_by(profile: Enclosed, claim: PrivacyClaim, *, spare: float = ROUNDING) -> bool | None:
    """Return whether a stated worst-case profile supports a claim; None where that cannot be decided.

    True rests on the profile alone: the point or every point of a table in both directions; for Gaussian DP, zCDP and
    Renyi DP the law of a normal or Laplace pair, or a delta of 0 at the largest epsilon whose pure privacy implies the
    claim. False: the profile exceeds what the claim allows. A profile of one record says nothing about a group. Claimed
    numbers are read with a relative 1e-12 to spare: a scale of ``1 / epsilon`` has a largest loss that may be an ulp
    above ``epsilon``.

    ``profile``: of the worst pair one record apart; its ``delta_bracket`` decides. ``spare``: what a profile's delta
    may exceed the claimed one by, relatively.
    """
    if claim.group > 1:
        return None
    if claim.curve is None:
        return _within(profile, claim.epsilon, claim.delta, spare)
    if isinstance(claim.curve, TableCurve):
        return _every([_within(profile, epsilon, delta, spare) for epsilon, delta in claim.curve.points])
    allowed = _by_law(profile, claim.curve)
    if allowed is None and any(_within(profile, e, claim.delta_at(e), spare) is False for e in _LOOKS):
        return False
    return allowed


class Enclosed(Protocol):
    """What is held against a claim."""

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of delta."""


#: Where a profile of unknown law is held against a claimed curve.
_LOOKS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def _within(profile: Enclosed, epsilon: float, delta: float, spare: float = ROUNDING) -> bool | None:
    """Return whether the profile is at most ``delta`` at ``epsilon`` in both directions, up to rounding."""
    brackets = [profile.delta_bracket(epsilon * (1 + ROUNDING), direction) for direction in BOTH]
    limit = delta * (1 + spare)
    return _every([True if b.high <= limit else (False if b.low > limit else None) for b in brackets])


def _every(answers: Sequence[bool | None]) -> bool | None:
    if any(answer is False for answer in answers):
        return False
    return None if None in answers else True


def _by_law(profile: Enclosed, curve: GaussianProfile | ZcdpCurve | RenyiCurve) -> bool | None:
    """Return what a closed law says; equality on both sides of the comparison is allowed."""
    if isinstance(profile, GaussianProfile):
        match curve:
            case GaussianProfile(mu=mu):
                allowed = mu
            case ZcdpCurve(rho=rho):
                allowed = math.sqrt(2 * rho)
            case RenyiCurve(order=order, epsilon=epsilon):
                allowed = math.sqrt(2 * epsilon / order)
        return True if _at_most(profile.largest, allowed) else None if _at_most(profile.least, allowed) else False
    if isinstance(profile, LaplaceProfile) and isinstance(curve, RenyiCurve):
        return _at_most(laplace_renyi(profile.size, curve.order), curve.epsilon)
    return True if _within(profile, largest_pure(curve), 0.0) else None


def largest_pure(curve: GaussianProfile | ZcdpCurve | RenyiCurve) -> float:
    """Return the largest ``epsilon`` for which ``(epsilon, 0)``-DP implies the claim.

    Bun and Steinke 2016, proposition 3.3: the divergence of order ``a`` is at most ``min(epsilon, a epsilon^2 / 2)``.
    """
    match curve:
        case GaussianProfile(mu=mu):
            return float(special.log_ndtr(0.5 * mu) - special.log_ndtr(-0.5 * mu))
        case ZcdpCurve(rho=rho):
            return math.sqrt(2 * rho)
        case RenyiCurve(order=order, epsilon=claimed):
            return max(claimed, math.sqrt(2 * claimed / order))


def _at_most(value: float, limit: float) -> bool:
    return value <= limit * (1 + ROUNDING)


def laplace_renyi(size: float, order: float) -> float:
    """Return the Renyi divergence of finite ``order > 1`` between Laplace laws of scale 1 at distance ``size``.

    Mironov 2017, proposition 6: ``log[a/(2a-1) e^{(a-1) s} + (a-1)/(2a-1) e^{-a s}] / (a - 1)``.
    """
    less = order - 1.0
    ratio = math.log(order) + math.log1p(less / order * math.exp(-(2 * order - 1) * size)) - math.log(2 * order - 1)
    return max(0.0, size + ratio / less)


def _point(epsilon: float, delta: float) -> str:
    return f"({epsilon:.12g}, {delta:.12g})"


def _shown(delta: float) -> float:
    if not check_delta(delta, "shown_delta") > 0:
        raise ValueError(f"shown_delta must be in (0, 1], got shown_delta={delta}")
    return float(delta)
