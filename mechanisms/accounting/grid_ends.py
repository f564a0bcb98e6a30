"""One step on a grid: the pessimistic law that connects the dots, and its optimistic mirror image.

Both are proved in docs/derivations/accounting.md. Every number is a whole multiple of ``2^-scale`` between whole
bounds that come from ball arithmetic; floats only choose fractions whose effect is then proved in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import arb, ctx, fmpz_poly

from ..base import Direction, PrivacyProfile
from ..numerics.balls import Ball
from .ball_profile import tails
from .grid_law import GridLaw

#: Bits beyond those of the masses, for the differences that the masses are made of.
GUARD: Final = 64
#: Fractions of a cell are whole multiples of 2^-SHARE.
SHARE: Final = 62
#: What a fraction takes more than it needs, as a loss: the rounding of the floats that choose it.
SLACK: Final = 1e-15
#: Losses farther out than this are taken together.
LARGEST_LOSS: Final = 2.0**20
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
    with ctx.workprec(96 + math.ceil(-math.log2(cut))):
        beyond = tails(profile, arb(LARGEST_LOSS), direction)[0]

        def low_enough(epsilon: float) -> bool:
            return bool(1 - tails(profile, arb(-epsilon), direction)[0] <= cut)

        def high_enough(epsilon: float) -> bool:
            return bool(tails(profile, arb(epsilon), direction)[0] - beyond <= cut)

        low = -_first(low_enough)
        return low, max(_first(high_enough), low + LEAST_RANGE)


def _first(holds: Callable[[float], bool]) -> float:
    """Return about the least number from which a condition holds that holds from somewhere on; never too little."""
    size = 2.0**-20
    if holds(0.0):
        inner = 0.0
        while holds(-size) and size < LARGEST_LOSS:
            inner, size = -size, 2 * size
        low, high = -size, inner
    else:
        while not holds(size) and size < LARGEST_LOSS:
            size *= 2
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
    for more in (32, scale, 3 * scale):
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
    """Return the optimistic end: cells between the points, each on its middle, rounded down to it.

    Outcomes of a cell are merged to one, whose loss ``log(P/Q)`` is off the middle by the square of the step; some of
    the cell above (or below) are merged with them such that the loss is just above the middle. Where that fails the
    mass goes to the next middle that is proved to lie below its loss. Losses below the grid are dropped.
    """
    n_cells, scale, half = len(grid.p_low) - 1, grid.scale, 1 << SHARE
    down_low, down = grid.factor(-grid.step)
    up, to_middle = grid.factor(grid.step)[1], grid.factor(grid.step / 2)[1]
    p_mass = [max(grid.p_low[i] - grid.p_high[i + 1], 0) for i in range(n_cells)]
    # e^middle times the Q-mass of the cell, at most
    q_mass = [
        _shifted_up(to_middle * (grid.q_high[i] - (down_low * grid.q_low[i + 1] >> scale)), scale)
        for i in range(n_cells)
    ]
    shares = _shares(p_mass, q_mass, grid)
    out = [0] * n_cells

    def put(i: int, p: int, q: int) -> None:
        """Put merged outcomes at the highest middle, from that of cell ``i`` down, that their loss reaches."""
        while i >= 0 and p < q:
            i, q = i - 1, _shifted_up(q * down, scale)
        if i >= 0:
            out[i] += p >> SHARE

    for i, (above, below, kept) in enumerate(zip(*shares, strict=True)):
        p, q = kept * p_mass[i], kept * q_mass[i]
        if above:
            p, q = p + above * p_mass[i + 1], q + _shifted_up(above * q_mass[i + 1] * down, scale)
        if below:
            p, q = p + below * p_mass[i - 1], q + _shifted_up(below * q_mass[i - 1] * up, scale)
        put(i, p, q)
        rest = half - kept - (shares[0][i - 1] if i else 0) - (shares[1][i + 1] if i + 1 < n_cells else 0)
        if rest:
            put(i, rest * p_mass[i], rest * q_mass[i])
    beyond = grid.p_low[-1] if grid.q_high[-1] == 0 else 0
    out[-1] += grid.p_low[-1] - beyond
    less = scale - bits
    return GridLaw(
        grid.step, 2 * grid.first + 1, fmpz_poly([mass >> less for mass in out]), beyond >> less, bits, False
    )


def _shares(p_mass: Whole, q_mass: Whole, grid: GridTails) -> tuple[Whole, Whole, Whole]:
    """Return the fractions of the cell above and of that below that each cell takes, and that of its own it keeps.

    In multiples of ``2^-SHARE``. Any that add up to at most 1 for each cell are sound, since what they lead to is
    checked.
    """
    n_cells, step, half = len(p_mass), grid.step, 1 << SHARE
    floor = 1 << GUARD
    # the loss of a cell relative to its middle; 0 where there is too little to bother
    off = [math.log(p / q) if p > floor and q > 0 else 0.0 for p, q in zip(p_mass, q_mass, strict=True)]
    from_above, from_below, kept = [0] * n_cells, [0] * n_cells, [half] * n_cells
    for i in range(n_cells - 1):
        surplus = -math.expm1(-(off[i + 1] + step))
        if off[i] >= 0 or surplus <= 0 or p_mass[i + 1] == 0:
            continue
        needed = kept[i] * (p_mass[i] / p_mass[i + 1]) * math.expm1(SLACK - off[i]) / surplus
        if needed <= half:
            from_above[i] = int(needed)
        else:  # all of the cell above is too little: so much of this cell goes down
            from_above[i], kept[i] = half, int(kept[i] / needed * half * (1 - SLACK))
        kept[i + 1] -= from_above[i]
    for i in range(n_cells - 1, 0, -1):
        if off[i] <= SLACK or off[i - 1] >= step or p_mass[i - 1] == 0 or from_above[i] or from_above[i - 1]:
            continue
        useful = -kept[i] * (p_mass[i] / p_mass[i - 1]) * math.expm1(SLACK - off[i]) / math.expm1(step - off[i - 1])
        from_below[i] = min(int(useful), kept[i - 1])
        kept[i - 1] -= from_below[i]
    return from_above, from_below, kept


def _shifted_up(value: int, by: int) -> int:
    return -(-value >> by)
