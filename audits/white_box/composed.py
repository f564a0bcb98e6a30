"""Several mechanisms on the same data: delta(epsilon) of all their outputs together, between two proved bounds.

Each privacy loss is rounded to a grid, down for the optimistic and up for the pessimistic end (Meiser and Mohammadi
2018); losses of independent releases add up, so that their laws are polynomials to be multiplied. Here that is done in
whole numbers, every rounding to the side of its end: nothing is lost to a Fourier transform, however small delta is.
``accountant_bounds`` asks dp-accounting the same question.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from flint import fmpz_poly

from mechanisms.base import BOTH, Direction, PrivacyProfile, check_positive

from ..estimate import Estimate
from ..results import Result
from .tails import worse

#: Probabilities are whole multiples of 2^-BITS.
BITS: Final = 192
#: Losses with a tail below this are taken together as infinite by the pessimistic end.
CUT: Final = 1e-45
#: As much probability is left below the grid.
BELOW: Final = 1e-12
#: Largest loss on a grid.
LARGEST_LOSS: Final = 700.0
#: Relative error granted to a float64 sum of positive terms.
SUMMED: Final = 1e-9


@dataclass(frozen=True, eq=False)
class _Rounded:
    """A law on the grid: ``masses[i] 2^-BITS`` at the loss ``(start + i) step``, ``beyond 2^-BITS`` at infinity."""

    start: int
    masses: Any
    beyond: int

    def times(self, other: _Rounded, divide: Callable[[Any], Any]) -> _Rounded:
        """Return the law of the sum; ``divide`` takes the scale out again, to one side."""
        return _Rounded(self.start + other.start, divide(self.masses * other.masses), self.beyond + other.beyond)

    def delta(self, epsilon: float, step: float) -> float:
        """Return ``E[(1 - e^(epsilon - L))_+]``, up to ``SUMMED`` relatively."""
        first = max(math.floor(epsilon / step) - self.start, 0)
        masses = np.array([int(mass) / (1 << BITS) for mass in self.masses.coeffs()[first:]])
        losses = (self.start + first + np.arange(masses.size)) * step
        return float(masses @ -np.expm1(np.minimum(epsilon - losses, 0.0))) + self.beyond / (1 << BITS)


def composed_delta(
    profiles: Sequence[PrivacyProfile],
    epsilon: float,
    *,
    directions: Sequence[Direction] = BOTH,
    interval: float = 2.0**-10,
) -> Estimate:
    """Return proved bounds on delta(epsilon) of independent releases with known profiles, in the worst direction.

    ``low`` is the optimistic and ``high`` the pessimistic end; they are about ``len(profiles) * interval`` apart in
    epsilon. The largest loss and every infinite one are covered. Adaptive choices of later mechanisms are not: each
    profile must be that of its release whatever came before.

    Parameters
    ----------
    profiles : sequence of PrivacyProfile
        At least one; equal ones are composed by squaring.
    epsilon : float
        Natural log, finite.
    directions : sequence of Direction
        The profiles' own.
    interval : float
        Width of the grid, positive; rounded down to a power of two, which makes its points exact.

    Returns
    -------
    Estimate
        ``failure_prob`` is 0.

    References
    ----------
    Meiser and Mohammadi 2018.

    Examples
    --------
    >>> from audits import composed_delta, exact_delta
    >>> from mechanisms import GaussianProfile
    >>> four = composed_delta([GaussianProfile(0.5)] * 4, 1.0, interval=2**-6)
    >>> one = exact_delta(GaussianProfile(1.0), 1.0)  # four normal releases are one of twice the distance
    >>> four.low <= one.low <= one.high <= four.high
    True
    """
    if not profiles:
        raise ValueError("profiles must not be empty: nothing was released")
    if not math.isfinite(epsilon):
        raise ValueError(f"epsilon must be finite, got epsilon={epsilon}")
    step = _power_of_two(interval)
    estimates = []
    for direction in directions:
        ends = [_ends(profile, count, direction, step) for profile, count in _counted(profiles)]
        low, high = ends[0]
        for other_low, other_high in ends[1:]:
            low, high = low.times(other_low, _down), high.times(other_high, _up)
        bounds = low.delta(epsilon, step) * (1 - SUMMED), high.delta(epsilon, step) * (1 + SUMMED)
        estimates.append(Estimate.proved(bounds[0], min(bounds[1], 1.0), f"composition on a grid of {step:g}, proved"))
    return worse(estimates)


def _power_of_two(interval: float) -> float:
    return 2.0 ** math.floor(math.log2(check_positive("interval", interval)))


def _counted(profiles: Sequence[PrivacyProfile]) -> list[tuple[PrivacyProfile, int]]:
    """Return distinct profiles with their multiplicities."""
    distinct: list[PrivacyProfile] = []
    for profile in profiles:
        if profile not in distinct:
            distinct.append(profile)
    return [(profile, sum(profile == other for other in profiles)) for profile in distinct]


def _down(masses: Any) -> Any:
    return masses // (1 << BITS)


def _up(masses: Any) -> Any:
    return -((-masses) // (1 << BITS))


def _ends(profile: PrivacyProfile, count: int, direction: Direction, step: float) -> tuple[_Rounded, _Rounded]:
    """Return the two laws of ``count`` equal releases."""
    low, high = _one(profile, direction, step)
    return _power(low, count, _down), _power(high, count, _up)


def _power(law: _Rounded, count: int, divide: Callable[[Any], Any]) -> _Rounded:
    if count == 1:
        return law
    half = _power(law, count // 2, divide)
    whole = half.times(half, divide)
    return whole.times(law, divide) if count % 2 else whole


def _one(profile: PrivacyProfile, direction: Direction, step: float) -> tuple[_Rounded, _Rounded]:
    """Return the loss rounded down, a law below it; and rounded up, a law above it (stochastically)."""
    first, last = _range(profile, direction, step)
    brackets = [profile.tail_bracket(i * step, direction) for i in range(first, last + 1)]
    # P(L > i step), times 2^BITS: a float is a whole multiple of a power of two, so that only the last step rounds
    at_least = [_scaled(bracket.low, up=False) for bracket in brackets]
    at_most = [_scaled(bracket.high, up=True) for bracket in brackets]
    for i in range(len(brackets) - 2, -1, -1):  # a tail falls: what is known further up holds here too
        at_least[i] = max(at_least[i], at_least[i + 1])
    for i in range(1, len(brackets)):
        at_most[i] = min(at_most[i], at_most[i - 1])
    low = [a - b for a, b in zip(at_least, [*at_least[1:], 0], strict=True)]  # L in (i, i+1] step counts as i step
    high = [a - b for a, b in zip([1 << BITS, *at_most[:-1]], at_most, strict=True)]  # ... and as (i+1) step
    return _Rounded(first, fmpz_poly(low), 0), _Rounded(first, fmpz_poly(high), at_most[-1])


def _scaled(probability: float, *, up: bool) -> int:
    numerator, denominator = max(probability, 0.0).as_integer_ratio()
    product = numerator << BITS
    return min(-(-product // denominator) if up else product // denominator, 1 << BITS)


def _range(profile: PrivacyProfile, direction: Direction, step: float) -> tuple[int, int]:
    """Return grid positions that hold almost all of the loss; nothing is proved about them, nor need be."""
    top, bottom = 1, -1
    while profile.tail_at(top * step, direction) > CUT and 2 * top * step <= LARGEST_LOSS:
        top *= 2
    while profile.tail_at(bottom * step, direction) < 1 - BELOW and -2 * bottom * step <= LARGEST_LOSS:
        bottom *= 2
    last = _first(lambda i: profile.tail_at(i * step, direction) <= CUT, bottom, top)
    return min(_first(lambda i: profile.tail_at(i * step, direction) < 1 - BELOW, bottom, top) - 1, last - 1), last


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first position in (low, high] where a rising condition holds, or ``high``."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


@dataclass(frozen=True, repr=False)
class AccountantBounds(Result):
    """The same two ends from dp-accounting: an oracle beside ours, in float64, its rounding not enclosed."""

    optimistic: float
    pessimistic: float


def accountant_bounds(
    profiles: Sequence[PrivacyProfile], epsilon: float, *, direction: Direction, interval: float = 2.0**-10
) -> AccountantBounds:
    """Return delta(epsilon) of independent releases by dp-accounting's privacy-loss distributions, in one direction.

    Pessimistic by its connect-the-dots (Doroshenko and others 2022, from the divergences at the grid), optimistic from
    losses rounded down. Its convolutions are Fourier transforms: useless below a delta of about 1e-14, and no verdict.

    Raises
    ------
    ModuleNotFoundError
        If the optional extra ``accounting`` is not installed.
    """
    pmfs, pld = accountant()
    step = _power_of_two(interval)
    whole: list[Any] = [None, None]
    for profile in profiles:
        first, last = _range(profile, direction, step)
        grid = [i * step for i in range(first, last + 1)]
        tails = np.array([*(profile.tail_at(e, direction) for e in grid), 0.0])
        masses = dict(zip(range(first, last + 1), np.maximum(tails[:-1] - tails[1:], 0.0).tolist(), strict=True))
        deltas = np.minimum.accumulate([profile.delta_at(e, direction) for e in grid])
        parts = (
            pmfs.create_pmf(masses, step, 0.0, False),
            pmfs.create_pmf_pessimistic_connect_dots_fixed_gap(step, first, last, deltas),
        )
        for end, part in enumerate(map(pld.PrivacyLossDistribution, parts)):
            whole[end] = part if whole[end] is None else whole[end].compose(part, 0.0)
    return AccountantBounds(*(float(end.get_delta_for_epsilon(epsilon)) for end in whole))


def accountant() -> tuple[Any, Any]:
    """Return dp-accounting's modules ``pld_pmf`` and ``privacy_loss_distribution``, or say what to install."""
    try:
        from dp_accounting.pld import pld_pmf, privacy_loss_distribution
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "dp-accounting must be installed for this oracle (pip install 'pdp-verify[accounting]'), "
            f"got no module {missing.name}"
        ) from missing
    return pld_pmf, privacy_loss_distribution
