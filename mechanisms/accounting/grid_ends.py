"""One step on a grid: the pessimistic law that connects the dots, and its optimistic mirror image.

Both are proved in docs/derivations/accounting.md. Every number is a whole multiple of ``2^-scale`` between whole
bounds that come from ball arithmetic; floats only choose fractions whose effect is then proved in whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
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
LARGEST_LOSS: Final = 1e6

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
    p_low, p_high, q_low, q_high : list of int
        Bounds on ``P(L > point)`` and on ``Q(L > point)``, falling along the grid.
    e_low, e_high : list of int
        Bounds on ``e^point``.
    """

    step: float
    first: int
    scale: int
    p_low: Whole
    p_high: Whole
    q_low: Whole
    q_high: Whole
    e_low: Whole
    e_high: Whole


def loss_range(profile: PrivacyProfile, direction: Direction, cut: float) -> tuple[float, float]:
    """Return losses below and above which the loss has a probability of about ``cut`` (infinite ones apart)."""
    with ctx.workprec(96 + math.ceil(-math.log2(cut))):

        def low_enough(epsilon: float) -> bool:
            return bool(1 - tails(profile, arb(-epsilon), direction)[0] <= cut)

        def high_enough(epsilon: float) -> bool:
            return bool(tails(profile, arb(epsilon), direction)[1] * arb(epsilon).exp() <= cut)

        return -_first(low_enough), _first(high_enough)


def _first(holds: Callable[[float], bool]) -> float:
    """Return about the least number from which a condition holds that holds from somewhere on; never too little."""
    size = 2.0**-20
    if holds(0.0):  # it may hold below 0 already: the range then ends beyond 0, which costs a few points
        return size
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
    scale = bits + GUARD + max(0, -math.frexp(step)[1]) + math.ceil(1.4427 * max(last * step, 0.0))
    columns: list[Whole] = [[], [], [], [], [], []]
    with ctx.workprec(scale + 32):
        one = arb(2) ** scale
        for i in range(first, last + 1):
            point = arb(i * step)
            p_tail, q_tail = _narrow(profile, point, direction, scale)
            row = (*_between(p_tail, one, scale), *_between(q_tail, one, scale), *_whole(point.exp() * one))
            for column, value in zip(columns, row, strict=True):
                column.append(value)
    p_low, p_high, q_low, q_high, e_low, e_high = columns
    for column in (p_low, q_low):  # a tail falls: what is known further up holds here too
        for i in range(len(column) - 2, -1, -1):
            column[i] = max(column[i], column[i + 1])
    for column in (p_high, q_high):
        for i in range(1, len(column)):
            column[i] = min(column[i], column[i - 1])
    return GridTails(step, first, scale, p_low, p_high, q_low, q_high, e_low, e_high)


def _narrow(profile: PrivacyProfile, point: Ball, direction: Direction, scale: int) -> tuple[Ball, Ball]:
    """Return both tails, from up to four times the bits where that makes them narrow."""
    widest = arb(2) ** -scale
    for more in (32, scale, 3 * scale):
        with ctx.workprec(scale + more):
            p_tail, q_tail = tails(profile, point, direction)
        if p_tail.rad() <= widest and q_tail.rad() <= widest:
            break
    return p_tail, q_tail


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
    n_points, half, scale = len(grid.p_low), 1 << SHARE, grid.scale
    out = [0] * n_points
    out[0] = (1 << scale) - grid.p_low[0]
    for i in range(n_points - 1):
        p_high = grid.p_high[i] - grid.p_low[i + 1]
        if p_high <= 0:
            continue
        p_low = max(grid.p_low[i] - grid.p_high[i + 1], 0)
        q_high = grid.q_high[i] - grid.q_low[i + 1]
        q_low = max(grid.q_low[i] - grid.q_high[i + 1], 0)
        # u at the upper and p - u at the lower point, where u (1 - e^-step) = p - q e^point
        most = min(-(-max(p_high - (grid.e_low[i] * q_low >> scale), 0) * share_high // half), p_high)
        least = min(max(p_low - _shifted_up(grid.e_high[i] * q_high, scale), 0) * share_low // half, p_high)
        out[i] += p_high - least
        out[i + 1] += most
    last = n_points - 1
    out[last] += min(_shifted_up(grid.e_high[last] * grid.q_high[last], scale), grid.p_high[last])
    beyond = max(grid.p_high[last] - (grid.e_low[last] * grid.q_low[last] >> scale), 0)
    down = scale - bits
    masses = fmpz_poly([_shifted_up(mass, down) for mass in out])
    return GridLaw(grid.step, 2 * grid.first, masses, _shifted_up(beyond, down), bits, True)


def optimistic(grid: GridTails, bits: int) -> GridLaw:
    """Return the optimistic end: cells between the points, each on its middle, rounded down to it.

    Outcomes of a cell are merged to one, whose loss ``log(P/Q)`` is off the middle by the square of the step; some of
    the cell above (or below) are merged with them such that the loss is just above the middle. Where that fails the
    mass goes to the next middle that is proved to lie below its loss. Losses below the grid are dropped.
    """
    n_cells, scale = len(grid.p_low) - 1, grid.scale
    with ctx.workprec(scale + 32):
        to_middle = _whole(arb(grid.step / 2).exp() * (arb(2) ** scale))[1]
    middles = [_shifted_up(e * to_middle, scale) for e in grid.e_high[:-1]]
    p_mass = [max(grid.p_low[i] - grid.p_high[i + 1], 0) for i in range(n_cells)]
    q_mass = [grid.q_high[i] - grid.q_low[i + 1] for i in range(n_cells)]
    from_above, from_below = _borrowed(p_mass, q_mass, middles, grid)
    out, half = [0] * n_cells, 1 << SHARE
    for i in range(n_cells):
        own = half - (from_above[i - 1] if i else 0) - (from_below[i + 1] if i + 1 < n_cells else 0)
        p, q = own * p_mass[i], own * q_mass[i]
        if from_above[i]:
            p, q = p + from_above[i] * p_mass[i + 1], q + from_above[i] * q_mass[i + 1]
        if from_below[i]:
            p, q = p + from_below[i] * p_mass[i - 1], q + from_below[i] * q_mass[i - 1]
        at, p = i, p >> SHARE
        while at >= 0 and p << (scale + SHARE) < middles[at] * q:
            at -= 1
        if at >= 0:
            out[at] += p
    beyond = grid.p_low[-1] if grid.q_high[-1] == 0 else 0
    out[-1] += grid.p_low[-1] - beyond
    down = scale - bits
    return GridLaw(grid.step, 2 * grid.first + 1, fmpz_poly([mass >> down for mass in out]), beyond >> down, bits, False)


def _borrowed(p_mass: Whole, q_mass: Whole, middles: Whole, grid: GridTails) -> tuple[Whole, Whole]:
    """Return which fraction of the cell above, and of that below, each cell takes, in multiples of ``2^-SHARE``.

    Any fractions are sound, since what they lead to is checked.
    """
    n_cells, scale, step, half = len(p_mass), grid.scale, grid.step, 1 << SHARE
    floor = 1 << max(scale - 600, GUARD)
    # the loss of a cell relative to its middle; 0 where there is too little to bother
    off = [
        math.log((p << scale) / (middle * q)) if p > floor and q > 0 else 0.0
        for p, q, middle in zip(p_mass, q_mass, middles, strict=True)
    ]
    size = [p / (1 << scale) for p in p_mass]
    from_above, from_below = [0] * n_cells, [0] * n_cells
    left = size[0]
    for i in range(n_cells - 1):
        taken = 0.0
        if off[i] < 0:
            surplus = -math.expm1(-(off[i + 1] + step))
            taken = left * math.expm1(SLACK - off[i]) / surplus if surplus > 0 else math.inf
            if taken < 0.5 * size[i + 1]:
                from_above[i] = int(taken / size[i + 1] * half)
            else:
                taken = 0.0
        left = size[i + 1] - taken
    left = size[-1]
    for i in range(n_cells - 1, 0, -1):
        taken = 0.0
        if off[i] > SLACK and not from_above[i] and not from_above[i - 1]:
            taken = -left * math.expm1(SLACK - off[i]) / math.expm1(step - off[i - 1])
            if off[i - 1] < step and taken < 0.5 * size[i - 1]:
                from_below[i] = int(taken / size[i - 1] * half)
            else:
                taken = 0.0
        left = size[i - 1] - taken
    return from_above, from_below


def _shifted_up(value: int, by: int) -> int:
    return -(-value >> by)


def one_step(
    profile: PrivacyProfile, direction: Direction, step: float, bits: int, cut: float, *, ends: Sequence[bool]
) -> list[GridLaw]:
    """Return the ends of one step that are asked for (``True``: pessimistic) on a grid that holds all but ``cut``."""
    low, high = loss_range(profile, direction, cut)
    first, last = math.floor(low / step), math.ceil(high / step)
    grid = grid_tails(profile, direction, step, first, last, bits)
    return [pessimistic(grid, bits) if upper else optimistic(grid, bits) for upper in ends]
