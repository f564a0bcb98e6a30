"""Exact laws as estimates, and the comparison of an exact with a sampled witness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from mechanisms.base import BOTH, Bracket, Direction, PrivacyProfile, check_delta, check_positive
from mechanisms.laws.profile_tools import epsilon_bracket

from ..estimate import Estimate
from ..results import Result
from ..stats.intervals import check_size
from .composed import accountant
from .tails import worse

METHOD = "ball arithmetic"


def exact_delta(profile: PrivacyProfile, epsilon: float, *, directions: Sequence[Direction] = BOTH) -> Estimate:
    """Return a proved enclosure of delta(epsilon) in the worst of ``directions``.

    Parameters
    ----------
    profile : PrivacyProfile
        An exact law of the loss.
    epsilon : float
        Natural log, finite.
    directions : sequence of Direction
        Distinct; the worst of them counts.

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
    profile : PrivacyProfile
        An exact law of the loss.
    epsilon : float
        Natural log, finite.
    directions : sequence of Direction
        Distinct; the worst of them counts.

    Returns
    -------
    Estimate
        A proved enclosure; ``failure_prob`` is 0.

    Examples
    --------
    >>> from audits import exact_tail
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
    profile : PrivacyProfile
        An exact law of the loss.
    delta : float
        In [0, 1].
    directions : sequence of Direction
        Distinct; the worst of them counts.

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
    """Whether an exact and a sampled witness of one quantity agree.

    Attributes
    ----------
    consistent : bool
        False when the two intervals are disjoint: a defect of ours, except with the sampled failure probability.
    smallest_detectable_error : float
        An exact value that is wrong by more than this, to whichever side, would have been caught.
    """

    exact: Estimate
    sampled: Estimate
    consistent: bool
    smallest_detectable_error: float


def compare(exact: Estimate, sampled: Estimate) -> Comparison:
    """Return the comparison of an exact with a sampled estimate of the same quantity."""
    if not exact.exact or sampled.exact:
        raise ValueError("exact must be a proved enclosure and sampled a confidence interval, got them otherwise")
    consistent = exact.low <= sampled.high and sampled.low <= exact.high
    reach = max(sampled.high - exact.low, exact.high - sampled.low)
    return Comparison(exact, sampled, consistent, reach)


def gaussian_composition(
    sigma: float, n_releases: int, epsilon: float, *, sensitivity: float = 1.0, discretisation: float = 1e-4
) -> Bracket:
    """Return delta(epsilon) of repeated Gaussian releases as bracketed by an independent accountant.

    Needs the optional extra ``accounting`` (dp-accounting). The two ends are its optimistic and pessimistic
    discretisations of the loss; rounding is not enclosed, so this is an oracle for tests and never a verdict
    (``composed_delta`` is proved).
    """
    _, pld = accountant()
    check_positive("sigma", sigma)
    deltas = []
    for pessimistic in (False, True):
        one = pld.from_gaussian_mechanism(
            sigma,
            sensitivity=check_positive("sensitivity", sensitivity),
            pessimistic_estimate=pessimistic,
            value_discretization_interval=discretisation,
        )
        deltas.append(float(one.self_compose(check_size(n_releases)).get_delta_for_epsilon(epsilon)))
    return Bracket(*deltas)
