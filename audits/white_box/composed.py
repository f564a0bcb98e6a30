"""Several mechanisms on the same data: delta(epsilon) of all their outputs together, between two proved bounds.

The arithmetic is that of ``mechanisms.accounting``, in whole numbers, every rounding to the side of its end.
``accountant_bounds`` asks dp-accounting the same question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mechanisms.accounting.composed_law import compose
from mechanisms.accounting.grid_ends import loss_range
from mechanisms.base import BOTH, Direction, PrivacyProfile, check_positive

from ..estimate import Estimate
from ..results import Result
from .tails import worse

#: Smallest deltas of interest, tried one after the other until the pessimistic end is above.
LEAST_DELTAS: Final = (1e-12, 1e-24, 1e-48, 1e-96)
#: Probability that dp-accounting's grids leave out at either end.
CUT: Final = 1e-15


def composed_delta(
    profiles: Sequence[PrivacyProfile],
    epsilon: float,
    *,
    directions: Sequence[Direction] = BOTH,
    interval: float | None = None,
) -> Estimate:
    """Return proved bounds on delta(epsilon) of independent releases with known profiles, in the worst direction.

    ``low`` is the optimistic and ``high`` the pessimistic end: of one mechanism the mass of a grid's cell is split to
    its ends, or merged to its middle: losses are off by the square of the step (docs/derivations/accounting.md).
    Every infinite loss is covered. Adaptive choices of later mechanisms are too where each profile is that of its
    release whatever came before.

    Parameters
    ----------
    profiles : sequence of PrivacyProfile
        At least one; equal ones are composed by squaring.
    epsilon : float
        Natural log, finite.
    directions : sequence of Direction
        The profiles' own.
    interval : float, optional
        Width of the grid, positive; rounded down to a power of two, which makes its points exact. Without it the grid
        is refined until the ends are at most 1e-3 apart in epsilon.

    Returns
    -------
    Estimate
        ``failure_prob`` is 0.

    References
    ----------
    Doroshenko and others 2022 (the pessimistic end).

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
    if interval is not None:
        check_positive("interval", interval)
    return worse([_in_direction(profiles, epsilon, direction, interval) for direction in directions])


def _in_direction(
    profiles: Sequence[PrivacyProfile], epsilon: float, direction: Direction, interval: float | None
) -> Estimate:
    parts = [(profile, 1) for profile in profiles]
    for least_delta in LEAST_DELTAS:
        law = compose(parts, least_delta=least_delta, directions=[direction], step=interval)
        found = law.delta_bracket(epsilon, direction)
        if found.high == 0.0 or found.low >= least_delta:
            break
    return Estimate.proved(found.low, found.high, f"composition on a grid of {law.step_of(direction):g}, proved")


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
    step = 2.0 ** math.floor(math.log2(check_positive("interval", interval)))
    whole: list[Any] = [None, None]
    for profile in profiles:
        low, high = loss_range(profile, direction, CUT)
        first, last = math.floor(low / step), math.ceil(high / step)
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
