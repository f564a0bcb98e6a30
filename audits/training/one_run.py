"""Lower bounds on privacy from the canaries of one training run.

The theorems, their proofs and what one run can never show: docs/one_run.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr

from mechanisms import GaussianProfile, PrivacyProfile
from mechanisms.base import check_delta, check_positive
from mechanisms.laws.gaussian_calibration import analytic_mu, check_open_delta
from mechanisms.numerics.transcripts import check_count

from ..black_box.black_box_results import BlackBoxOutcome
from ..estimate import Estimate
from ..results import Result
from ..stats.intervals import check_failure_prob
from ..stats.multiplicity import even_share
from .one_run_guesses import GuessCounts, guess_counts
from .one_run_tails import LeastShare, gaussian_least, least_total, point_p_value, profile_least

POINT = "one run: the exact worst case of so many right guesses"
CURVE = "one run: right guesses under a Gaussian curve (Mahloujifar, Melis and Chaudhuri 2024)"

#: Halvings of an interval in which a bound is looked for; the end that is returned was tested itself.
HALVINGS = 40
#: Beyond this neither epsilon nor mu is looked for.
LARGEST = 64.0
#: Numbers of guesses that a plan tries are this far apart, and a plan ends where the bound has fallen to this share.
PLAN_RATIO, PLAN_END = 1.4, 0.8

#: One number of guesses, or several: then each has an equal share of the failure probability.
NGuesses = int | Sequence[int]


@dataclass(frozen=True, repr=False)
class OneRunBound(Result):
    """The mechanism is not ``(e, delta)``-DP for any ``e`` below the lower end.

    Attributes
    ----------
    epsilon : Estimate
        Its ``high`` is infinite: one run can refute and never support.
    delta : float
        Where the bound is taken.
    counts : GuessCounts
        What it was read from.
    """

    epsilon: Estimate
    delta: float
    counts: GuessCounts

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"epsilon": self.epsilon, "delta": self.delta, "counts": str(self.counts)}

    def brief(self) -> str:
        """Return the bound and where it is taken."""
        return f"{self.epsilon.brief()} at delta {self.delta:.6g}"


@dataclass(frozen=True, repr=False)
class OneRunCurveBound(Result):
    """The mechanism is not ``mu``-Gaussian-DP for any ``mu`` below the lower end: a statement about a whole curve.

    It refutes "at least as private as this Gaussian curve" and no single point of the curve: a mechanism may keep
    ``(curve_epsilon, delta)`` and break the curve elsewhere. For the point there is ``OneRunBound``.

    Attributes
    ----------
    mu : Estimate
        Its ``high`` is infinite.
    delta : float
        Where the curve is read.
    curve_epsilon : float
        The epsilon of the refuted curve at ``delta``: a name of the curve, not a bound on the mechanism's epsilon.
    counts : GuessCounts
        What it was read from.
    """

    mu: Estimate
    delta: float
    curve_epsilon: float
    counts: GuessCounts

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        refuted = f"the whole Gaussian curve through ({self.curve_epsilon:.6g}, {self.delta:.6g}), no point of it"
        return {"mu": self.mu, "refuted": refuted, "counts": str(self.counts)}

    def brief(self) -> str:
        """Return the bound and the name of the curve."""
        return f"Gaussian curve {self.mu.brief()}, through ({self.curve_epsilon:.6g}, {self.delta:.6g})"


@dataclass(frozen=True, repr=False)
class OneRunCurveTest(Result):
    """A test of one claimed curve; refuting it refutes no single point of it.

    Attributes
    ----------
    p_value : float
        An upper bound; with several numbers of guesses the smallest times how many they are.
    failure_prob : float
        The level.
    counts : GuessCounts
        What it was read from.
    """

    p_value: float
    failure_prob: float
    counts: GuessCounts

    @property
    def refuted(self) -> bool:
        """Whether the claimed curve is refuted."""
        return self.p_value <= self.failure_prob

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not."""
        return BlackBoxOutcome.REFUTED if self.refuted else BlackBoxOutcome.NOT_REFUTED

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "outcome": self.outcome,
            "p_value": self.p_value,
            "failure_prob": self.failure_prob,
            "counts": str(self.counts),
        }


def one_run_bound(
    scores: ArrayLike, included: ArrayLike, *, delta: float, failure_prob: float, n_guesses: NGuesses
) -> OneRunBound:
    """Return a lower bound on epsilon at ``delta`` from the scores of one run's canaries.

    Parameters
    ----------
    scores : array_like, shape (m,)
        Of each canary, finite, made from what the run put out; higher speaks for inclusion. Of scores the wrong way
        round (a loss, say) the bound is 0.
    included : array_like of bool, shape (m,)
        Whether each canary took part, decided by independent throws of a fair coin.
    delta : float
        In [0, 1].
    failure_prob : float
        In (0, 1); over the coins and the run.
    n_guesses : int or sequence of int
        Fixed before the run was looked at, for instance by ``planned_guesses``. Each of several has an equal share of
        ``failure_prob``.

    Returns
    -------
    OneRunBound
        With ``epsilon.low`` in natural logs.

    Raises
    ------
    ValueError
        For scores or labels of a wrong shape or kind, or a number of guesses that is not from 1 to ``m``.

    Examples
    --------
    >>> import numpy as np
    >>> from audits import one_run_bound
    >>> rng = np.random.default_rng(1)
    >>> included = rng.random(1000) < 0.5
    >>> scores = np.where(included, 1.5, -1.5) + rng.standard_normal(1000)
    >>> found = one_run_bound(scores, included, delta=1e-5, failure_prob=0.05, n_guesses=200)
    >>> round(found.epsilon.low, 2)
    4.19
    """
    looks = _looks(scores, included, n_guesses)
    delta, share = check_delta(delta), even_share(failure_prob, len(looks))
    low, counts = max(((point_bound(counts, delta, share), counts) for counts in looks), key=lambda found: found[0])
    return OneRunBound(Estimate(low, low, math.inf, failure_prob, 1, POINT), delta, counts)


def one_run_gaussian_bound(
    scores: ArrayLike, included: ArrayLike, *, delta: float, failure_prob: float, n_guesses: NGuesses
) -> OneRunCurveBound:
    """Return the least private Gaussian curve that the scores of one run's canaries refute.

    Parameters
    ----------
    scores, included, failure_prob, n_guesses
        As in ``one_run_bound``.
    delta : float
        In (0, 1): where the refuted curve is read; the bound on ``mu`` does not depend on it.

    Returns
    -------
    OneRunCurveBound
        About a curve, never about a point.

    Raises
    ------
    ValueError
        As in ``one_run_bound``.
    """
    looks = _looks(scores, included, n_guesses)
    delta, share = check_open_delta(delta), even_share(failure_prob, len(looks))
    low, counts = max(((gaussian_bound(counts, share), counts) for counts in looks), key=lambda found: found[0])
    mu = Estimate(low, low, math.inf, failure_prob, 1, CURVE)
    return OneRunCurveBound(mu, delta, GaussianProfile(low).epsilon_bracket(delta).low, counts)


def one_run_curve(
    scores: ArrayLike, included: ArrayLike, profile: PrivacyProfile, *, failure_prob: float, n_guesses: NGuesses
) -> OneRunCurveTest:
    """Test a claimed privacy curve with the scores of one run's canaries.

    Parameters
    ----------
    scores, included, failure_prob, n_guesses
        As in ``one_run_bound``.
    profile : PrivacyProfile
        What is claimed for every pair of neighbours, in both directions: of a Gaussian, a composition, …

    Returns
    -------
    OneRunCurveTest
        Its p-value, an upper bound.

    Raises
    ------
    ValueError
        As in ``one_run_bound``.
    """
    if not callable(getattr(profile, "delta_at", None)):
        raise ValueError(f"profile must be a privacy profile, got profile of type {type(profile).__name__}")
    looks = _looks(scores, included, n_guesses)
    check_failure_prob(failure_prob)
    least = profile_least(profile, looks[0].n_canaries)
    p_value, counts = min(((curve_p_value(counts, least), counts) for counts in looks), key=lambda found: found[0])
    return OneRunCurveTest(min(p_value * len(looks), 1.0), failure_prob, counts)


def point_bound(counts: GuessCounts, delta: float, failure_prob: float) -> float:
    """Return the largest epsilon at which so many right guesses are less probable than ``failure_prob``, or 0."""
    return _largest(lambda epsilon: point_p_value(counts, epsilon, delta) <= failure_prob, 0.0)


def gaussian_bound(counts: GuessCounts, failure_prob: float) -> float:
    """Return the largest ``mu`` under whose Gaussian curve they are less probable than ``failure_prob``, or 0."""
    return _largest(lambda mu: least_total(counts, failure_prob, gaussian_least(mu)) > 1, 0.0)


def curve_p_value(counts: GuessCounts, least: LeastShare) -> float:
    """Return the smallest probability of so many right guesses or more that a curve is found not to allow, or 1."""
    return math.exp(-_largest(lambda x: least_total(counts, math.exp(-x), least) > 1, 0.0))


def planned_guesses(n_canaries: int, *, epsilon: float, delta: float, failure_prob: float, curve: bool = False) -> int:
    """Return how many guesses promise most if the mechanism is Gaussian and its canaries do not disturb each other.

    Made of public numbers alone, so that the number of guesses is fixed before the run; the bound is valid whether the
    mechanism is like that or not.

    Parameters
    ----------
    n_canaries : int
        At least 1.
    epsilon, delta, failure_prob : float
        What is expected of the mechanism (positive, natural log; in (0, 1)), and the level of the bound.
    curve : bool
        Whether the guesses are for ``one_run_gaussian_bound`` or ``one_run_curve`` rather than ``one_run_bound``.

    Returns
    -------
    int
        From 1 to ``n_canaries``.

    Raises
    ------
    ValueError
        For no canary, an epsilon that is not positive, or probabilities outside (0, 1).
    """
    n_canaries, failure_prob = check_count("n_canaries", n_canaries), check_failure_prob(failure_prob)
    mu = analytic_mu(check_positive("epsilon", epsilon), delta)
    bound: Callable[[GuessCounts], float] = (
        partial(gaussian_bound, failure_prob=failure_prob)
        if curve
        else partial(point_bound, delta=delta, failure_prob=failure_prob)
    )
    best, chosen, n_guesses = 0.0, n_canaries, 4.0
    while n_guesses < PLAN_RATIO * n_canaries:
        whole = min(int(n_guesses), n_canaries)
        found = bound(GuessCounts(n_canaries, whole, int(whole * ideal_accuracy(whole / n_canaries, mu))))
        if found > best:
            best, chosen = found, whole
        if found < PLAN_END * best:
            break
        n_guesses *= PLAN_RATIO
    return chosen


def ideal_accuracy(share: float, mu: float) -> float:
    """Return how often the guesses at the two ends are right if scores are ``N(mu/2, 1)`` and ``N(-mu/2, 1)``."""

    def beyond(cut: float) -> tuple[float, float]:
        return float(ndtr(mu / 2 - cut)), float(ndtr(-mu / 2 - cut))

    cut = float(brentq(lambda c: sum(beyond(c)) - share, 0.0, 40.0 + mu)) if share < 1 else 0.0
    right, wrong = beyond(cut)
    return right / (right + wrong)


def _looks(scores: ArrayLike, included: ArrayLike, n_guesses: NGuesses) -> list[GuessCounts]:
    numbers = np.atleast_1d(np.asarray(n_guesses)).ravel().tolist()
    if not numbers:
        raise ValueError("n_guesses must be one number or several, got n_guesses=()")
    return [guess_counts(scores, included, number) for number in numbers]


def _largest(refuted: Callable[[float], bool], low: float) -> float:
    """Return the largest number found that is still refuted, where all below it are; ``low`` if it is not itself."""
    if not refuted(low):
        return low
    high = max(1.0, 2 * low)
    while refuted(high):
        low, high = high, 2 * high
        if high > LARGEST:
            return low
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low
