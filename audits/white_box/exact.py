"""Laws that are known: exact deltas and epsilons, several mechanisms together, and the sharpest draws beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from mechanisms import NeighbouringPair
from mechanisms.accounting.composed_law import compose
from mechanisms.base import BOTH, Bracket, Direction, ExactLaw, PrivacyProfile, WhiteBox, check_delta, check_positive
from mechanisms.capabilities import RareEvents
from mechanisms.laws.profile_tools import epsilon_bracket
from mechanisms.reference import is_reference

from ..estimate import Budget, Estimate, Result
from ..rare.importance import audit_rare
from .tails import LARGE, audit_tails, worse

#: Smallest deltas of interest, tried one after the other until the pessimistic end is above.
LEAST_DELTAS: Final = (1e-12, 1e-24, 1e-48, 1e-96)


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
    profiles : sequence of PrivacyProfile, at least one; equal ones are composed by squaring
    epsilon : float, natural log, finite
    directions : sequence of Direction, the profiles' own
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
    >>> from audits import exact_delta
    >>> from audits.white_box import composed_delta
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


METHOD = "ball arithmetic"


def exact_delta(profile: PrivacyProfile, epsilon: float, *, directions: Sequence[Direction] = BOTH) -> Estimate:
    """Return a proved enclosure of delta(epsilon) in the worst of ``directions``.

    Parameters
    ----------
    profile : PrivacyProfile, an exact law of the loss
    epsilon : float, natural log, finite
    directions : sequence of Direction, distinct; the worst of them counts

    Returns
    -------
    Estimate
        A proved enclosure; ``failure_prob`` is 0.

    Examples
    --------
    >>> from audits import exact_delta
    >>> from mechanisms import GaussianProfile
    >>> round(exact_delta(GaussianProfile(1.0), 1.0).value, 6)  # Balle and Wang 2018, theorem 8
    0.126937
    """
    return _worst([profile.delta_bracket(epsilon, d) for d in directions])


def exact_tail(profile: PrivacyProfile, epsilon: float, *, directions: Sequence[Direction] = BOTH) -> Estimate:
    """Return a proved enclosure of P(L > epsilon) in the worst of ``directions``.

    Parameters
    ----------
    profile, epsilon, directions
        As of ``exact_delta``.

    Returns
    -------
    Estimate
        A proved enclosure; ``failure_prob`` is 0.

    Examples
    --------
    >>> from audits.white_box import exact_tail
    >>> from mechanisms import GaussianProfile
    >>> round(exact_tail(GaussianProfile(1.0), 0.5).value, 6)  # the loss is normal, mean 1/2 and variance 1
    0.5
    """
    return _worst([profile.tail_bracket(epsilon, d) for d in directions])


def exact_epsilon(profile: PrivacyProfile, delta: float, *, directions: Sequence[Direction] = BOTH) -> Estimate:
    """Return a proved enclosure of the smallest epsilon >= 0 with delta(epsilon) <= ``delta``, worst direction.

    The profile's own solution is only a guess here: both ends are proved from enclosures of delta.

    Parameters
    ----------
    profile, directions
        As of ``exact_delta``.
    delta : float, in [0, 1]

    Returns
    -------
    Estimate
        A proved enclosure; infinite where no epsilon has that delta.

    Examples
    --------
    >>> from audits import exact_epsilon
    >>> from mechanisms import GaussianProfile
    >>> round(exact_epsilon(GaussianProfile(1 / 3.730632), 1e-5).value, 4)
    1.0
    """
    check_delta(delta)

    def bracket(direction: Direction) -> Bracket:
        own = getattr(profile, "epsilon_bracket", None)  # of a law that knows its own two ends
        if own is not None:
            return cast(Bracket, own(delta, direction))
        return epsilon_bracket(
            lambda e: profile.delta_bracket(e, direction), delta, profile.epsilon_at(delta, direction)
        )

    return _worst([bracket(d) for d in directions])


def _worst(brackets: Sequence[Bracket]) -> Estimate:
    return worse([Estimate.proved(b.low, b.high, METHOD) for b in brackets])


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Whether an exact and a sampled witness of one quantity agree."""

    exact: Estimate
    sampled: Estimate
    #: false when the two intervals are disjoint: a defect of ours, except with the sampled failure probability
    consistent: bool
    #: an exact value that is wrong by more than this, to whichever side, would have been caught
    smallest_detectable_error: float


def compare(exact: Estimate, sampled: Estimate) -> Comparison:
    """Return the comparison of an exact with a sampled estimate of the same quantity."""
    if not exact.exact or sampled.exact:
        raise ValueError("exact must be a proved enclosure and sampled a confidence interval, got them otherwise")
    consistent = exact.low <= sampled.high and sampled.low <= exact.high
    reach = max(sampled.high - exact.low, exact.high - sampled.low)
    return Comparison(exact, sampled, consistent, reach)


#: Draws below which a rare event is not formed over a large data set: it takes some hundred passes over the records.
WORTH = 2_000


def sampled_delta(mechanism: WhiteBox, pair: NeighbouringPair, epsilon: float, budget: Budget) -> Estimate:
    """Return an interval of delta(epsilon), worse direction: inside a proved rare event where there is one."""
    asked = pair.dataset.n_records <= LARGE or budget.n_draws >= WORTH
    # beside a law that is known exactly plain draws are the independent witness
    asked = asked and is_reference(mechanism) and not isinstance(mechanism, ExactLaw)
    events = [mechanism.envelope(pair, d, epsilon) for d in BOTH] if asked and isinstance(mechanism, RareEvents) else []
    proved = [event for event in events if event is not None]
    if not proved or len(proved) < len(events):
        return audit_tails(mechanism, pair, [epsilon], budget).delta(epsilon)
    parts = budget.split({d.name: 1 / len(BOTH) for d in BOTH}, n_draws=max(1, budget.n_draws // 2))
    return worse([audit_rare(event, part).delta for event, part in zip(proved, parts.values(), strict=True)])
