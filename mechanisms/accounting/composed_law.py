"""The privacy losses of many steps together, between two proved ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ..base import BOTH, Bracket, Direction, PrivacyProfile, check_positive
from ..laws.profile_tools import is_symmetric, larger
from .grid_ends import WIDENING, GridLaw, GridLosses, grid_tails, loss_range, optimistic, pessimistic

#: No ``least_delta`` is smaller: masses of one step, in their whole multiples, must be floats.
LEAST: Final = 1e-200
#: The part of ``least_delta`` that all cuts of the ends of the laws amount to, as a power of two.
CUT_BITS: Final = 24
#: Bits of the masses beyond those of ``least_delta``.
ROUNDING_BITS: Final = 80
#: No grid is refined beyond this many points of the sum, or of one step.
MOST_POINTS: Final = 1 << 19
MOST_STEP_POINTS: Final = 1 << 17
#: About the most points of the sum in the first pass.
FIRST_POINTS: Final = 1 << 16
#: Deltas at which the ends are compared, evenly spaced in their logarithm.
ASKED: Final = 12
#: Passes over finer and finer grids.
PASSES: Final = 12
#: Distances at which the slope of delta is taken, for the tail.
SLOPES: Final = tuple(2.0**-i for i in range(11))

Part = tuple[PrivacyProfile, int]


@dataclass(frozen=True, eq=False)
class ComposedLaw:
    """The law of the summed privacy loss of many steps, between two proved ends; its plain numbers are upper bounds.

    Valid for adaptive steps too where every part dominates its steps whatever came before (Zhu, Dong and Wang 2022).
    Without a ``direction`` every method answers for the worse of the directions composed: the larger epsilon, delta or
    tail, and of brackets the larger of either end.

    Parameters
    ----------
    parts : tuple of (PrivacyProfile, int)
        Distinct steps with their numbers.
    directions : tuple of Direction
        Those composed.
    lower, upper : tuple of GridLosses
        Optimistic and pessimistic end in each of these directions; ``lower`` is empty where only the other was made.
    """

    parts: tuple[Part, ...]
    directions: tuple[Direction, ...]
    lower: tuple[GridLosses, ...]
    upper: tuple[GridLosses, ...]

    def delta_bracket(self, epsilon: float, direction: Direction | None = None) -> Bracket:
        """Return a proved enclosure of ``delta(epsilon)``, any real ``epsilon``."""
        if direction is None:
            return larger(self.delta_bracket(epsilon, each) for each in self.directions)
        low, high = self._ends(direction)
        sure = -math.expm1(min(epsilon, 0.0))
        return Bracket(max(low.delta_at(epsilon), math.nextafter(sure, 0.0)) if low else 0.0, high.delta_at(epsilon))

    def epsilon_bracket(self, delta: float, direction: Direction | None = None) -> Bracket:
        if direction is None:
            return larger(self.epsilon_bracket(delta, each) for each in self.directions)
        low, high = self._ends(direction)
        return Bracket(low.epsilon_at(delta) if low else 0.0, high.epsilon_at(delta))

    def tail_bracket(self, epsilon: float, direction: Direction | None = None) -> Bracket:
        """Return a proved enclosure of ``P(L > epsilon)``, from the slopes of delta, which is convex in e^epsilon."""
        if direction is None:
            return larger(self.tail_bracket(epsilon, each) for each in self.directions)
        here = self.delta_bracket(epsilon, direction)
        low, high = here.low, 1.0
        for distance in SLOPES:
            up, factor = math.exp(distance), -math.expm1(-distance)
            before = self.delta_bracket(epsilon - distance, direction).high
            after = self.delta_bracket(epsilon + distance, direction).high
            high = min(high, (before - here.low / up) / factor * (1 + 1e-12))
            low = max(low, (here.low - after / up) / factor - 1e-12 * (here.low + after) / factor)
        return Bracket(min(low, high), high)

    def delta_at(self, epsilon: float, direction: Direction | None = None) -> float:
        """Return a proved upper bound on ``delta(epsilon)``."""
        return max(self._ends(each)[1].delta_at(epsilon) for each in self._asked(direction))

    def log_delta_at(self, epsilon: float, direction: Direction | None = None) -> float:
        delta = self.delta_at(epsilon, direction)
        return math.log(delta) if delta > 0 else -math.inf

    def epsilon_at(self, delta: float, direction: Direction | None = None) -> float:
        return max(self._ends(each)[1].epsilon_at(delta) for each in self._asked(direction))

    def tail_at(self, epsilon: float, direction: Direction | None = None) -> float:
        return self.tail_bracket(epsilon, direction).high

    def step_of(self, direction: Direction | None = None) -> float:
        return max(self._ends(each)[1].step for each in self._asked(direction))

    def _asked(self, direction: Direction | None) -> tuple[Direction, ...]:
        return self.directions if direction is None else (direction,)

    def _ends(self, direction: Direction) -> tuple[GridLosses | None, GridLosses]:
        if direction not in self.directions:
            raise ValueError(f"direction must be one of those composed, got direction={direction!r}")
        i = self.directions.index(direction)
        return self.lower[i] if self.lower else None, self.upper[i]


def compose(
    parts: Iterable[Part],
    *,
    width: float = 1e-3,
    least_delta: float = 1e-12,
    directions: Sequence[Direction] = BOTH,
    upper_only: bool = False,
    step: float | None = None,
) -> ComposedLaw:
    """Return the law of the summed privacy loss of independent steps, between two proved ends.

    Parameters
    ----------
    parts : iterable of (PrivacyProfile, int)
        Each profile with the number of its steps, at least 1. Equal profiles are taken together.
    width : float
        The grid is refined until the ends are at most so far apart in epsilon (natural log) at ``least_delta`` and
        eleven of its roots, ``least_delta^(k/12)``, as long as the sum has at most half a million points. Both ends are
        proved anyway.
    least_delta : float
        The smallest delta of interest, in [1e-200, 1): what is cut off amounts to less than ``2^-24`` of it.
    directions : sequence of Direction
        The profiles' own.
    upper_only : bool
        Make the pessimistic end alone, in about half the time, on the grid that promises ``width``.
    step : float, optional
        Width of the grid, rounded down to a power of two, all its points taken; ``width`` is then not asked for.

    Returns
    -------
    ComposedLaw
        Its numbers are those of the worse of these directions unless one is named.

    References
    ----------
    Doroshenko and others 2022 for the pessimistic end; docs/derivations/accounting.md for both.

    Examples
    --------
    >>> from mechanisms import GaussianProfile
    >>> law = compose([(GaussianProfile(0.25), 16)])
    >>> found = law.epsilon_bracket(1e-6)
    >>> found.low <= GaussianProfile(1.0).epsilon_at(1e-6) <= found.high < found.low + 1e-3
    True

    500 steps of DP-SGD at sampling rate 0.02 and noise multiplier 1, one record added or removed:

    >>> from mechanisms import Direction, Relation

    >>> from mechanisms.accounting import SubsampledGaussianProfile
    >>> law = compose([(SubsampledGaussianProfile(0.02, 1.0, Relation.ADD), 500)])
    >>> round(law.epsilon_at(1e-5), 2), round(law.epsilon_at(1e-5, Direction.FORWARD), 2)
    (2.77, 1.97)
    """
    counted = _counted(parts)
    if not LEAST <= least_delta < 1:
        raise ValueError(f"least_delta must be in [{LEAST:g}, 1), got least_delta={least_delta}")
    if step is not None:
        step = 2.0 ** math.floor(math.log2(check_positive("step", step)))
    ends: list[tuple[PrivacyProfile, PrivacyProfile]] = [
        getattr(profile, "ends", (profile, profile)) for profile, _ in counted
    ]
    if any(low is not high for low, high in ends):  # steps that know how far their own laws may be off
        asked: dict[str, Any] = {"width": width, "least_delta": least_delta, "directions": directions, "step": step}
        counts = [count for _, count in counted]
        above = compose(zip((high for _, high in ends), counts, strict=True), upper_only=upper_only, **asked)
        below = () if upper_only else compose(zip((low for low, _ in ends), counts, strict=True), **asked).lower
        return ComposedLaw(counted, above.directions, below, above.upper)
    arguments = counted, check_positive("width", width), float(least_delta), tuple(directions), upper_only, step
    try:
        hash(counted)
    except TypeError:
        return _compose(*arguments)
    return _remembered(*arguments)


def _counted(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return distinct profiles with the number of their steps."""
    profiles: list[PrivacyProfile] = []
    counts: list[int] = []
    for profile, count in parts:
        if isinstance(count, bool) or int(count) != count or count < 1:
            raise ValueError(f"count must be a whole number, at least 1, got count={count}")
        if profile not in profiles:
            profiles.append(profile)
            counts.append(0)
        counts[profiles.index(profile)] += int(count)
    if not profiles:
        raise ValueError("parts must not be empty: nothing was released")
    return tuple(zip(profiles, counts, strict=True))


def _compose(
    parts: tuple[Part, ...],
    width: float,
    least_delta: float,
    directions: tuple[Direction, ...],
    upper_only: bool,
    step: float | None,
) -> ComposedLaw:
    alike = all(is_symmetric(profile) for profile, _ in parts)
    made: dict[Direction, tuple[GridLosses, ...]] = {}
    for direction in directions:
        made[direction] = (
            next(iter(made.values()))
            if alike and made
            else _Steps(parts, direction, least_delta).ends(width, upper_only, step)
        )
    found = list(made.values())
    lower = () if upper_only else tuple(ends[1] for ends in found)
    return ComposedLaw(parts, tuple(made), lower, tuple(ends[0] for ends in found))


_remembered: Callable[..., ComposedLaw] = lru_cache(maxsize=64)(_compose)


class _Steps:
    """What does not depend on the grid: where the losses of each part lie, how many bits, how much is cut off."""

    def __init__(self, parts: tuple[Part, ...], direction: Direction, least_delta: float) -> None:
        self.parts, self.direction, self.least_delta = parts, direction, least_delta
        self.count = sum(count for _, count in parts)
        needed = ROUNDING_BITS + math.log2(self.count) / 2 - math.log2(least_delta)
        self.bits = 64 * math.ceil(needed / 64)
        # a law of m steps goes into count/m sums: all its cuts, at every size, are at most about 4 count of these
        self.cut = least_delta * 2.0**-CUT_BITS / (4 * self.count)
        self.ranges = [loss_range(profile, direction, self.cut) for profile, _ in parts]

    def ends(self, width: float, upper_only: bool, step: float | None) -> tuple[GridLosses, ...]:
        """Return the pessimistic end and, where asked for, the optimistic one."""
        if step is not None:
            return self._made(step, (True,) if upper_only else (True, False), even=True)
        widest = max(high - low for low, high in self.ranges)
        coarse = min(4 * math.sqrt(width / self.count), widest / 32)
        step = _power_of_two(max(coarse, widest * math.sqrt(self.count) / FIRST_POINTS))
        for _ in range(PASSES):
            both = self._made(step, (True, False))
            gap = self._gap(*both)
            # the gap goes with the square of the step
            halvings = min(max(math.ceil(math.log2(1.1 * gap / width) / 2), 1), 2) if gap > width else 0
            wider = max(1.0, math.sqrt(WIDENING * self.count) / 2)
            room = min(MOST_POINTS / both[0].masses.size, MOST_STEP_POINTS * wider * step / widest)
            halvings = min(halvings, math.floor(math.log2(max(room, 1.0))))
            if not halvings:
                break
            step /= 2.0**halvings
            if upper_only and gap <= 64 * width:
                return self._made(step, (True,))
        return both[:1] if upper_only else both

    def _gap(self, upper: GridLosses, lower: GridLosses) -> float:
        """Return the largest width of epsilon at some deltas; 0 where it is infinite."""
        widest = 0.0
        for k in range(1, ASKED + 1):
            delta = self.least_delta ** (k / ASKED)
            high = upper.epsilon_at(delta)
            if math.isfinite(high):
                widest = max(widest, high - lower.epsilon_at(delta))
        return widest

    def _made(self, step: float, ends: tuple[bool, ...], *, even: bool = False) -> tuple[GridLosses, ...]:
        """Return ends of the sum on one grid, where not ``even`` with wider cells where little lies."""
        spread = None if even else self.count
        cut = max(math.floor(math.ldexp(self.cut, self.bits)), 1)
        sums: list[GridLaw | None] = [None] * len(ends)
        for (profile, count), (low, high) in zip(self.parts, self.ranges, strict=True):
            first, last = math.floor(low / step), math.ceil(high / step)
            grid = grid_tails(profile, self.direction, step, first, last, self.bits, count=spread)
            for i, upper in enumerate(ends):
                one = (pessimistic if upper else optimistic)(grid, self.bits).trimmed(cut)
                power, other = one.power(count, cut), sums[i]
                sums[i] = power if other is None else other.times(power, cut)
        return tuple(law.losses() for law in sums if law is not None)


def _power_of_two(value: float) -> float:
    return 2.0 ** math.floor(math.log2(value))
