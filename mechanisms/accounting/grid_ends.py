"""One step on a grid: the pessimistic law that connects the dots, and its optimistic mirror image.

Both are proved in docs/derivations/accounting.md. Every number is a whole multiple of ``2^-scale`` between whole
bounds that come from ball arithmetic; floats only choose fractions whose effect is then proved in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from flint import arb, ctx, fmpz_poly
from scipy.signal import lfilter

from ..base import Direction, PrivacyProfile, check_delta
from ..data.dataset import FloatArray
from ..laws.profile_tools import has_tails, tails
from ..numerics.balls import Ball


@dataclass(frozen=True, eq=False)
class GridLaw:
    """One end of a law: ``masses[i] 2^-bits`` at the loss ``(start/2 + i) step``, ``beyond 2^-bits`` at infinity.

    Parameters
    ----------
    step : float
        Width of the grid, a power of two.
    start : int
        Twice the position of the first mass: the grid lies on whole or on half multiples of the step.
    masses : fmpz_poly
        Whole numbers, at least 0.
    beyond : int
        Probability of an infinite loss.
    bits : int
        Probabilities are whole multiples of ``2^-bits``.
    upper : bool
        Whether the law is the pessimistic end: what is rounded or cut off is moved to larger losses and counts more.
        At the optimistic end it moves to smaller losses or is dropped.
    """

    step: float
    start: int
    masses: Any
    beyond: int
    bits: int
    upper: bool

    def times(self, other: GridLaw, cut: int) -> GridLaw:
        """Return the law of the sum of two independent losses, each of whose ends is trimmed by less than ``cut``."""
        product = self.masses * other.masses
        one = 1 << self.bits
        # flint's // is a floor where nothing is negative, and only there
        masses = (product + fmpz_poly([one - 1] * product.length()) if self.upper else product) // one
        # 1 - (1 - b)(1 - c): either loss is infinite
        product = (one - self.beyond) * (one - other.beyond)
        beyond = one - (product // one if self.upper else -(-product // one))
        return GridLaw(self.step, self.start + other.start, masses, beyond, self.bits, self.upper).trimmed(cut)

    def power(self, count: int, cut: int) -> GridLaw:
        """Return the law of the sum of ``count`` independent losses, by squaring."""
        if count == 1:
            return self
        half = self.power(count // 2, cut)
        whole = half.times(half, cut)
        return whole.times(self, cut) if count % 2 else whole

    def trimmed(self, cut: int) -> GridLaw:
        """Return the law without its ends, each of less than ``cut``.

        Pessimistic: the lower end moves up to the lowest point kept, the upper one to infinity. Optimistic: the upper
        end moves down to the highest point kept, the lower one is dropped.
        """
        masses, n_masses = self.masses, self.masses.length()
        first, below = 0, 0
        while first < n_masses - 1 and below + masses[first] < cut:
            below += int(masses[first])
            first += 1
        last, above = n_masses - 1, 0
        while last > first and above + masses[last] < cut:
            above += int(masses[last])
            last -= 1
        kept = fmpz_poly(masses.coeffs()[first : last + 1])
        beyond = self.beyond
        if self.upper:
            kept[0] += below
            beyond = min(beyond + above, 1 << self.bits)
        elif above:
            kept[last - first] += above
        return GridLaw(self.step, self.start + 2 * first, kept, beyond, self.bits, self.upper)

    def losses(self) -> GridLosses:
        """Return the law with float64 masses, each rounded to the side of its end."""
        one = 1 << self.bits
        toward = math.inf if self.upper else 0.0
        masses = np.array([int(mass) / one for mass in self.masses.coeffs()] or [0.0])
        masses = np.where(masses > 0, np.nextafter(masses, toward), 0.0)
        beyond = math.nextafter(self.beyond / one, toward) if self.beyond else 0.0
        return GridLosses(self.step, self.start, masses, beyond, self.upper)


@dataclass(frozen=True, eq=False)
class GridLosses:
    """One end of a law in float64, from which divergences are read off, every rounding to its side.

    Parameters
    ----------
    step, start, beyond, upper
        As in ``GridLaw``; ``beyond`` is a probability.
    masses : (m,) array
        Probabilities.
    """

    step: float
    start: int
    masses: FloatArray
    beyond: float
    upper: bool

    @property
    def margin(self) -> float:
        """Relative error granted to a sum of all masses, each times a factor off by a few units in the last place."""
        return (self.masses.size + 16) * 2.0**-52

    def delta_at(self, epsilon: float) -> float:
        """Return ``E[(1 - e^(epsilon - L))_+]``, rounded to the side of the end; at most 1."""
        first = int(min(max(epsilon / self.step - 0.5 * self.start, 0.0), self.masses.size))
        # positions and the step are exact in float64, so that only the difference and the exponential round
        losses = (0.5 * self.start + np.arange(first, self.masses.size)) * self.step
        value = float(self.masses[first:] @ -np.expm1(np.minimum(epsilon - losses, 0.0))) + self.beyond
        return min(value * (1 + self.margin if self.upper else 1 - self.margin), 1.0)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the side of the end."""
        delta = check_delta(delta)
        if self.delta_at(0.0) <= delta:
            return 0.0
        if self.delta_at(math.inf) > delta:
            return math.inf
        found = max(self._root(delta), 0.0)
        room = 1e-13 * max(found, self.step)
        if self.upper:
            while self.delta_at(found) > delta:
                found, room = found + room, 2 * room
            return found
        while found > 0.0 and self.delta_at(found) <= delta:
            found, room = max(found - room, 0.0), 2 * room
        return found

    def _root(self, delta: float) -> float:
        """Return about where ``delta(epsilon) = delta``: between two points of the grid it is linear in e^epsilon."""
        above = np.cumsum(self.masses[::-1])[::-1] + self.beyond
        # sum over j >= i of masses[j] e^(loss_i - loss_j)
        decayed = lfilter([1.0], [1.0, -math.exp(-self.step)], self.masses[::-1])[::-1]
        at_most = np.flatnonzero(above - decayed <= delta)
        i = int(at_most[0]) if at_most.size else self.masses.size - 1
        loss = (0.5 * self.start + i) * self.step
        return loss + math.log(max(above[i] - delta, math.ulp(0.0)) / decayed[i]) if decayed[i] > 0 else loss


#: Bits beyond those of the masses, for the differences that the masses are made of.
GUARD: Final = 64
#: Fractions of a cell are whole multiples of 2^-SHARE.
SHARE: Final = 62
#: What a share takes more than it needs, as a loss: the rounding of the floats that choose it.
SLACK: Final = 1e-15
#: A surplus below this part of a step is left where it is.
IDLE: Final = 1e-9
#: Cells that lend to one group, at most.
REACH: Final = 64
#: What wide cells may add to the cost of a grid, for each halving of what lies beyond; and their most steps.
WIDENING: Final = 0.05
WIDEST: Final = 64
#: No range of losses is taken to be shorter.
LEAST_RANGE: Final = 2.0**-20

Whole = list[int]


@dataclass(frozen=True)
class GridTails:
    """Both tails at points of a grid, between whole multiples of ``2^-scale``.

    Parameters
    ----------
    step : float
        A power of two.
    points : list of int
        Rising; the points are these multiples of the step, close together but where little lies beyond them.
    p_low, p_high : list of int
        Bounds on ``P(L > point)``, falling along the grid.
    q_low, q_high : list of int
        Bounds on ``e^point Q(L > point)``, which is never above it.
    """

    step: float
    points: Whole
    scale: int
    p_low: Whole
    p_high: Whole
    q_low: Whole
    q_high: Whole

    def factors(self) -> Callable[[float], tuple[int, int]]:
        """Return the function of ``n`` that gives bounds on ``e^(n step)``, each computed once."""

        @cache
        def factor(n_steps: float) -> tuple[int, int]:
            with ctx.workprec(self.scale + 32):
                return _whole(arb(n_steps * self.step).exp() * arb(2) ** self.scale)

        return factor


def loss_range(profile: PrivacyProfile, direction: Direction, cut: float) -> tuple[float, float]:
    """Return losses below and above which a loss has a probability of about ``cut`` (larger than any grid apart)."""
    # e^epsilon must not overflow, nor 1 - P(L > epsilon) vanish, where float64 is at work
    furthest, below = (2.0**20, cut) if has_tails(profile) else (700.0, max(cut, 2.0**-48))
    with ctx.workprec(96 + math.ceil(-math.log2(cut))):
        beyond = tails(profile, arb(furthest), direction)[0].lower()

        def low_enough(epsilon: float) -> bool:
            return bool(1 - tails(profile, arb(-epsilon), direction)[0] <= below)

        def high_enough(epsilon: float) -> bool:
            return bool(tails(profile, arb(epsilon), direction)[0] - beyond <= cut)

        low = -_first(low_enough, furthest)
        return low, max(_first(high_enough, furthest), low + LEAST_RANGE)


def _first(holds: Callable[[float], bool], furthest: float) -> float:
    """Return about the least number from which a condition holds that holds from somewhere on; never too little."""
    size = LEAST_RANGE
    if holds(0.0):
        inner = 0.0
        while holds(-size) and size < furthest:
            inner, size = -size, 2 * size
        low, high = -size, inner
    else:
        while not holds(size) and size < furthest:
            size = min(2 * size, furthest)
        low, high = size / 2, size
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def grid_tails(
    profile: PrivacyProfile, direction: Direction, step: float, first: int, last: int, bits: int, count: int | None
) -> GridTails:
    """Return the tails of a profile between the points ``first step`` and ``last step``, for ``count`` such steps.

    Without a ``count`` all points are taken. Otherwise, where only a small probability lies beyond, cells are wider:
    with a width of ``n`` steps and a probability ``p`` they add ``p n^2`` to what the square of the step costs. Above,
    ``p`` is not taken to be below ``1/count``: one large loss in all steps may be what delta consists of. Below,
    ``p n`` is at most 1 too: an edge costs as much.
    """
    scale = bits + GUARD + max(0, -math.frexp(step)[1])
    points: Whole = []
    columns: tuple[Whole, Whole, Whole, Whole] = [], [], [], []
    with ctx.workprec(scale + 32):
        one = arb(2) ** scale
        at, width, rising = first, 1, True
        while True:
            row = _point(profile, arb(at * step), direction, one, scale)
            above, below = row[1] / (1 << scale), ((1 << scale) - row[0]) / (1 << scale)
            at_most = _cell_width(max(below, below**2 * WIDENING / step**2) if count else 1.0)
            widest = _cell_width(max(above, 1 / (count or 1))) if above < 0.5 else at_most
            if rising and width > at_most:  # more lies below than was known at the cell's lower point
                at, width = at - width + width // 2, width // 2
                continue
            rising = above >= 0.5
            points.append(at)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
            if at == last:
                break
            width = min(widest, last - at)
            at += width
    p_low, p_high, q_low, q_high = columns
    for i in range(len(p_low) - 2, -1, -1):  # a tail falls: what is known further up holds here too
        p_low[i] = max(p_low[i], p_low[i + 1])
    for i in range(1, len(p_high)):
        p_high[i] = min(p_high[i], p_high[i - 1])
    return GridTails(step, points, scale, p_low, p_high, q_low, q_high)


def _cell_width(beyond: float) -> int:
    """Return a power of two of steps, at most ``WIDEST``."""
    return 1 << max(0, math.floor(math.log2(min(math.sqrt(WIDENING / max(beyond, 1e-300)), WIDEST))))


def _point(
    profile: PrivacyProfile, point: Ball, direction: Direction, one: Ball, scale: int
) -> tuple[int, int, int, int]:
    """Return the bounds at one point, from up to four times the bits where that makes them narrow."""
    widest = 1 / one
    for more in (32, scale, 3 * scale) if has_tails(profile) else (32,):
        with ctx.workprec(scale + more):
            p_tail, q_tail = tails(profile, point, direction)
            q_tail = q_tail * point.exp()
        if p_tail.rad() <= widest and q_tail.rad() <= widest:
            break
    return *_between(p_tail, one, scale), *_between(q_tail, one, scale)


def _between(probability: Ball, one: Ball, scale: int) -> tuple[int, int]:
    if not probability.is_finite():
        return 0, 1 << scale
    low, high = _whole(probability * one)
    return max(low, 0), min(max(high, 0), 1 << scale)


def _whole(ball: Ball) -> tuple[int, int]:
    """Return whole numbers around a ball."""
    return int(ball.lower().floor().unique_fmpz()), int(ball.upper().ceil().unique_fmpz())


def pessimistic(grid: GridTails, bits: int) -> GridLaw:
    """Return the pessimistic end: the mass of a cell on its two ends, such that both its P- and its Q-mass are kept.

    Its divergence at the points of the grid is the profile's, and linear in ``e^epsilon`` in between (Doroshenko and
    others 2022), hence nowhere smaller. Losses beyond the grid are split between its last point and infinity.
    """
    n_points, half, scale, first = len(grid.points), 1 << SHARE, grid.scale, grid.points[0]
    factor = grid.factors()

    @cache
    def share(n_steps: int) -> tuple[int, int]:
        with ctx.workprec(256):
            return _whole(arb(2) ** SHARE / -arb(-n_steps * grid.step).expm1())

    out = [0] * (grid.points[-1] - first + 1)
    out[0] = (1 << scale) - grid.p_low[0]
    for i in range(n_points - 1):
        here, there = grid.points[i] - first, grid.points[i + 1] - first
        down_low, down_high = factor(here - there)
        share_low, share_high = share(there - here)
        p_high = grid.p_high[i] - grid.p_low[i + 1]
        p_low = max(grid.p_low[i] - grid.p_high[i + 1], 0)
        # e^point times the Q-mass of the cell
        q_high = grid.q_high[i] - (down_low * grid.q_low[i + 1] >> scale)
        q_low = max(grid.q_low[i] - _shifted_up(down_high * grid.q_high[i + 1], scale), 0)
        # u at the upper and p - u at the lower point, where u (1 - e^-width) = p - q e^point
        most = min(-(-max(p_high - q_low, 0) * share_high // half), p_high)
        least = min(max(p_low - q_high, 0) * share_low // half, p_high)
        out[here] += p_high - least
        out[there] += most
    out[-1] += min(grid.q_high[-1], grid.p_high[-1])
    beyond = max(grid.p_high[-1] - grid.q_low[-1], 0)
    down = scale - bits
    masses = fmpz_poly([_shifted_up(mass, down) for mass in out])
    return GridLaw(grid.step, 2 * first, masses, _shifted_up(beyond, down), bits, True)


def optimistic(grid: GridTails, bits: int) -> GridLaw:
    """Return the optimistic end: outcomes merged to groups whose loss lies just above the middle of a cell.

    A group is put at the highest middle that is proved to be at most its loss ``log(P/Q)``: merging is post-processing,
    and a loss is rounded down. Losses below the grid are dropped, those above it put on the last middle.
    """
    scale, less, points = grid.scale, grid.scale - bits, grid.points
    n_cells, first, factor = len(points) - 1, points[0], grid.factors()
    # the middle of cell i lies at (middles[i] + 1/2) step; that of a wide cell is off by half a step
    middles = [points[i] + (points[i + 1] - points[i] - 1) // 2 for i in range(n_cells)]
    p_mass = [max(grid.p_low[i] - grid.p_high[i + 1], 0) for i in range(n_cells)]
    q_mass = []  # e^middle times the Q-mass of the cell, at most
    for i in range(n_cells):
        q = grid.q_high[i] - (factor(points[i] - points[i + 1])[0] * grid.q_low[i + 1] >> scale)
        q_mass.append(_shifted_up(q * factor(middles[i] - points[i] + 0.5)[1], scale))
    out = [0] * (points[-1] - first)
    for j, group in _groups(p_mass, q_mass, [middle * grid.step for middle in middles], grid.step):
        p = sum(share * p_mass[i] for i, share in group)
        # e^middle of this middle times the Q-mass of the group, at most
        q = sum(_shifted_up(share * q_mass[i] * factor(middles[j] - middles[i])[1], scale) for i, share in group)
        at = j
        while at > 0 and p < q:
            at, q = at - 1, _shifted_up(q * factor(middles[at - 1] - middles[at])[1], scale)
        if p >= q:
            out[middles[at] - first] += p >> SHARE
    beyond = grid.p_low[-1] if grid.q_high[-1] == 0 else 0
    out[middles[-1] - first] += grid.p_low[-1] - beyond
    masses = fmpz_poly([mass >> less for mass in out])
    return GridLaw(grid.step, 2 * first + 1, masses, beyond >> less, bits, False)


def _groups(
    p_mass: Whole, q_mass: Whole, middles: list[float], step: float
) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield for each middle, from the highest down, the cells merged there, each with its share in ``2^-SHARE``.

    The shares of a cell are at least 0 and add up to at most 1; nothing else need hold, since what they lead to is
    checked. The loss of a cell is off its middle by the square of the step, unless little is known of it: such a cell
    lends nothing. A cell that falls short gets some of the cell above, or sends
    down what it cannot hold; one with a surplus takes from the cells below.
    """
    half, floor = 1 << SHARE, 1 << GUARD
    off = [math.log(p / q) if p > floor and q > 0 else 0.0 for p, q in zip(p_mass, q_mass, strict=True)]
    left = [half if p else 0 for p in p_mass]
    sent: list[tuple[int, int]] = []
    for j in range(len(p_mass) - 1, -1, -1):
        group, sent = sent, []
        # what the group has beyond its middle: sum of P - e^middle Q, in multiples of 2^-scale
        beyond = sum(share / half * p_mass[i] * -math.expm1(-off[i] - middles[i] + middles[j]) for i, share in group)
        surplus = max(beyond, 0.0) * (1 - SLACK)
        own, left[j] = left[j], 0
        gain = -math.expm1(middles[j - 1] - middles[j] - off[j]) if own and j else 0.0
        if gain > 0 and off[j - 1] < 0:
            short = left[j - 1] / half * p_mass[j - 1] * math.expm1(SLACK - off[j - 1])
            lent = min(int(min(short / (gain * p_mass[j]), 1.0) * half), own)
            sent.append((j, lent))
            own -= lent
        if own:
            short = own / half * p_mass[j] * math.expm1(SLACK - off[j])
            if short > surplus:
                held = int(own * (surplus / short) * (1 - SLACK))
                sent.append((j, own - held))
                own, surplus = held, 0.0
            else:
                surplus -= short
            group.append((j, own))
        if surplus > IDLE * step * p_mass[j]:
            group += _taken(j, surplus, left, p_mass, off, middles, step)
        yield j, group


def _taken(
    j: int, surplus: float, left: Whole, p_mass: Whole, off: list[float], middles: list[float], step: float
) -> Iterator[tuple[int, int]]:
    """Yield what a surplus at a middle lifts there from the cells below, and take it off what is left of them."""
    for i in range(j - 1, max(j - REACH, 0) - 1, -1):
        if left[i]:
            needed = p_mass[i] * math.expm1(SLACK - off[i] + middles[j] - middles[i])
            if needed <= 0:
                return
            share = min(int(min(surplus / needed, 1.0) * (1 << SHARE)), left[i])
            left[i] -= share
            surplus -= share / (1 << SHARE) * needed
            yield i, share
        if surplus <= IDLE * step * p_mass[j]:
            return


def _shifted_up(value: int, by: int) -> int:
    return -(-value >> by)
