"""One step on a grid: the pessimistic law that connects the dots, and its optimistic mirror image.

Both are proved in docs/derivations/accounting.md. Every number is a whole multiple of ``2^-scale`` between whole
bounds that come from ball arithmetic; floats only choose fractions whose effect is then proved in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from flint import arb, ctx, fmpz_poly

from ..base import Direction, PrivacyProfile
from ..numerics.balls import Ball
from .ball_profile import has_tails, tails
from .grid_law import GridLaw

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
#: No range of losses is taken to be shorter.
LEAST_RANGE: Final = 2.0**-20

Whole = list[int]


@dataclass(frozen=True)
class GridTails:
    """Both tails at the points ``(first + i) step`` of a grid, between whole multiples of ``2^-scale``.

    Parameters
    ----------
    step : float
        A power of two.
    first : int
    scale : int
    p_low, p_high : list of int
        Bounds on ``P(L > point)``, falling along the grid.
    q_low, q_high : list of int
        Bounds on ``e^point Q(L > point)``, which is never above it.
    """

    step: float
    first: int
    scale: int
    p_low: Whole
    p_high: Whole
    q_low: Whole
    q_high: Whole

    def factor(self, loss: float) -> tuple[int, int]:
        """Return bounds on ``e^loss``."""
        with ctx.workprec(self.scale + 32):
            return _whole(arb(loss).exp() * arb(2) ** self.scale)


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
    profile: PrivacyProfile, direction: Direction, step: float, first: int, last: int, bits: int
) -> GridTails:
    """Return the tails of a profile at the points ``first step`` to ``last step``."""
    scale = bits + GUARD + max(0, -math.frexp(step)[1])
    columns: tuple[Whole, Whole, Whole, Whole] = [], [], [], []
    with ctx.workprec(scale + 32):
        one = arb(2) ** scale
        for i in range(first, last + 1):
            for column, value in zip(columns, _point(profile, arb(i * step), direction, one, scale), strict=True):
                column.append(value)
    p_low, p_high, q_low, q_high = columns
    for i in range(len(p_low) - 2, -1, -1):  # a tail falls: what is known further up holds here too
        p_low[i] = max(p_low[i], p_low[i + 1])
    for i in range(1, len(p_high)):
        p_high[i] = min(p_high[i], p_high[i - 1])
    return GridTails(step, first, scale, p_low, p_high, q_low, q_high)


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
    with ctx.workprec(256):
        share_low, share_high = _whole(arb(2) ** SHARE / -arb(-grid.step).expm1())
    down_low, down_high = grid.factor(-grid.step)
    n_points, half, scale = len(grid.p_low), 1 << SHARE, grid.scale
    out = [0] * n_points
    out[0] = (1 << scale) - grid.p_low[0]
    for i in range(n_points - 1):
        p_high = grid.p_high[i] - grid.p_low[i + 1]
        p_low = max(grid.p_low[i] - grid.p_high[i + 1], 0)
        # e^point times the Q-mass of the cell
        q_high = grid.q_high[i] - (down_low * grid.q_low[i + 1] >> scale)
        q_low = max(grid.q_low[i] - _shifted_up(down_high * grid.q_high[i + 1], scale), 0)
        # u at the upper and p - u at the lower point, where u (1 - e^-step) = p - q e^point
        most = min(-(-max(p_high - q_low, 0) * share_high // half), p_high)
        least = min(max(p_low - q_high, 0) * share_low // half, p_high)
        out[i] += p_high - least
        out[i + 1] += most
    out[-1] += min(grid.q_high[-1], grid.p_high[-1])
    beyond = max(grid.p_high[-1] - grid.q_low[-1], 0)
    down = scale - bits
    masses = fmpz_poly([_shifted_up(mass, down) for mass in out])
    return GridLaw(grid.step, 2 * grid.first, masses, _shifted_up(beyond, down), bits, True)


def optimistic(grid: GridTails, bits: int) -> GridLaw:
    """Return the optimistic end: outcomes merged to groups whose loss lies just above the middle of a cell.

    A group is put at the highest middle that is proved to be at most its loss ``log(P/Q)``: merging is post-processing,
    and a loss is rounded down. Losses below the grid are dropped, those above it put on the last middle.
    """
    scale, less = grid.scale, grid.scale - bits
    n_cells = len(grid.p_low) - 1
    down_low, to_middle = grid.factor(-grid.step)[0], grid.factor(grid.step / 2)[1]
    p_mass = [max(grid.p_low[i] - grid.p_high[i + 1], 0) for i in range(n_cells)]
    # e^middle times the Q-mass of the cell, at most
    q_mass = [
        _shifted_up(to_middle * (grid.q_high[i] - (down_low * grid.q_low[i + 1] >> scale)), scale)
        for i in range(n_cells)
    ]
    factors = {distance: grid.factor(distance * grid.step)[1] for distance in range(-1, REACH + 1)}
    out = [0] * n_cells
    for middle, group in _groups(p_mass, q_mass, grid.step):
        p = sum(share * p_mass[i] for i, share in group)
        # e^middle of this middle times the Q-mass of the group, at most
        q = sum(_shifted_up(share * q_mass[i] * factors[middle - i], scale) for i, share in group)
        at = middle
        while at >= 0 and p < q:
            at, q = at - 1, _shifted_up(q * factors[-1], scale)
        if at >= 0:
            out[at] += p >> SHARE
    beyond = grid.p_low[-1] if grid.q_high[-1] == 0 else 0
    out[-1] += grid.p_low[-1] - beyond
    masses = fmpz_poly([mass >> less for mass in out])
    return GridLaw(grid.step, 2 * grid.first + 1, masses, beyond >> less, bits, False)


def _groups(p_mass: Whole, q_mass: Whole, step: float) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield for each middle, from the highest down, the cells merged there, each with its share in ``2^-SHARE``.

    The shares of a cell add up to at most 1; nothing else need hold, since what they lead to is checked. The loss of a
    cell is off its middle by the square of the step. A cell that falls short gets some of the cell above, or sends
    down what it cannot hold; one with a surplus takes from the cells below.
    """
    half, floor = 1 << SHARE, 1 << GUARD
    off = [math.log(p / q) if p > floor and q > 0 else 0.0 for p, q in zip(p_mass, q_mass, strict=True)]
    left = [half if p else 0 for p in p_mass]
    sent: list[tuple[int, int]] = []
    for j in range(len(p_mass) - 1, -1, -1):
        group, sent = sent, []
        # what the group has beyond its middle: sum of P - e^middle Q, in multiples of 2^-scale
        surplus = sum(share / half * p_mass[i] * -math.expm1(-off[i] - step) for i, share in group) * (1 - SLACK)
        own, left[j] = left[j], 0
        if own and j and off[j - 1] < 0:
            short = left[j - 1] / half * p_mass[j - 1] * math.expm1(SLACK - off[j - 1])
            lent = min(int(short / (-math.expm1(-off[j] - step) * p_mass[j]) * half), own)
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
            group += _taken(j, surplus, left, p_mass, off, step)
        yield j, group


def _taken(
    j: int, surplus: float, left: Whole, p_mass: Whole, off: Sequence[float], step: float
) -> Iterator[tuple[int, int]]:
    """Yield what a surplus at a middle lifts there from the cells below, and take it off what is left of them."""
    for i in range(j - 1, max(j - REACH, 0) - 1, -1):
        if left[i]:
            needed = p_mass[i] * math.expm1(SLACK - off[i] + (j - i) * step)
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
