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
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from mechanisms import Direction, GaussianProfile, PrivacyProfile
from mechanisms.base import check_delta, check_positive
from mechanisms.data.dataset import FloatArray
from mechanisms.laws.gaussian_calibration import analytic_mu, check_open_delta
from mechanisms.numerics.balls import START_BITS, Ball, above
from mechanisms.numerics.transcripts import check_count

from ..black_box.black_box_results import BlackBoxOutcome
from ..estimate import Estimate, Result
from ..stats.intervals import check_failure_prob, check_size, even_share

#: So many throws of a fair coin come out the same with a probability of at most 1e-15: they are taken for a mistake.
SURELY_MIXED = 51


@dataclass(frozen=True)
class GuessCounts:
    """How many canaries there were, for how many of them a guess was made, and how many guesses were right."""

    n_canaries: int  #: at least 1; each was included, or not, by the throw of a fair coin of its own
    n_guesses: int  #: from 1 to ``n_canaries``; fixed before the run was looked at (docs/one_run.md says why)
    n_correct: int  #: from 0 to ``n_guesses``

    def __post_init__(self) -> None:
        check_size(self.n_canaries)
        if not _whole_between(self.n_guesses, 1, self.n_canaries):
            raise ValueError(f"n_guesses must be from 1 to {self.n_canaries}, got n_guesses={self.n_guesses}")
        if not _whole_between(self.n_correct, 0, self.n_guesses):
            raise ValueError(f"n_correct must be from 0 to {self.n_guesses}, got n_correct={self.n_correct}")

    def __str__(self) -> str:
        """Return the counts in words."""
        return f"{self.n_correct} right of {self.n_guesses} guesses, {self.n_canaries} canaries"


def guess_counts(scores: ArrayLike, included: ArrayLike, n_guesses: int) -> GuessCounts:
    """Guess from both ends of the order of the scores, and count the right guesses.

    The highest scores (half of the guesses, and the odd one) are guessed to be included, the lowest not; between them
    nothing is guessed. Among equal scores at an end the wrong guesses are counted first, so that neither the order of
    the canaries nor a coarse score can help; independent noise of any small size makes such scores distinct.

    ``scores``, array_like, shape (m,): of each canary, finite; made from what the run put out, never from ``included``.
    A higher score speaks for inclusion. ``included``, array_like of bool, shape (m,): whether each canary took part.
    ``n_guesses``: from 1 to ``m``. Raises ``ValueError`` for other shapes, scores that are not finite numbers, labels
    other than true and false, or the same for more than 50 canaries, or a wrong number of guesses.
    """
    given, labels = _numbers(scores), np.asarray(included)
    if given.ndim != 1 or not given.size:
        raise ValueError(f"scores must be a non-empty vector, got shape={given.shape}")
    if labels.shape != given.shape:
        raise ValueError(f"included must be as long as scores, got shape={labels.shape}, scores {given.shape}")
    if not np.isfinite(given).all():
        raise ValueError(f"scores must be finite, got {int((~np.isfinite(given)).sum())} that are not")
    if labels.dtype != np.bool_ and not np.isin(labels, (0, 1)).all():
        raise ValueError("included must be true or false (1 or 0), got other values")
    truth = labels.astype(np.bool_)
    if given.size >= SURELY_MIXED and truth.all() == truth.any():
        raise ValueError(f"included must be thrown by fair coins, got the same for all {given.size} canaries")
    GuessCounts(given.size, n_guesses, 0)
    order = np.lexsort((~truth, given))
    low, high = n_guesses // 2, n_guesses - n_guesses // 2
    correct = int((~truth[order[:low]]).sum()) + int(truth[order[given.size - high :]].sum())
    return GuessCounts(given.size, n_guesses, correct)


def _numbers(scores: ArrayLike) -> FloatArray:
    """Return scores as float64, or raise where they are no numbers: text that looks like a number is none."""
    given = np.asarray(scores)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"scores must be real numbers, got dtype={given.dtype}")
    return given.astype(np.float64)


def _whole_between(number: int, low: int, high: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and low <= number <= high


#: What a computed step of the recursion is lowered by, relatively, at each of its two ends: far more than its rounding.
LOWERED = 1e-11
#: Points of a claimed curve, evenly spaced in epsilon, and where the curve is left at last.
CURVE_STEP, CURVE_END = 0.02, 60.0
#: The curve is left where its delta is below this share of ``1 / n_canaries``.
NEGLIGIBLE = 1e-9

#: ``least(a)``: the smallest probability that an event can have without the record if it has probability ``a`` with it.
LeastShare = Callable[[float], float]


def point_p_value(counts: GuessCounts, epsilon: float, delta: float) -> float:
    """Return the largest probability of so many right guesses or more under ``(epsilon, delta)``-DP, rounded up.

    With ``F = P(B >= v)`` and ``b = P(B = v)`` for a binomial ``B`` of ``r`` throws with odds ``e^epsilon``, it is
    ``F + (1 - F) min(1, m delta F / (v b))``, and some private mechanism attains it.

    ``counts``: ``m`` canaries, ``r`` guesses, ``v`` right. ``epsilon``, ``delta``: at least 0 (natural log); in [0, 1].
    """
    m, r, v = counts.n_canaries, counts.n_guesses, counts.n_correct
    if v == 0:
        return 1.0
    bits, ctx.prec = ctx.prec, START_BITS
    try:
        odds = arb(epsilon).exp()
        over = _beyond(r, v, odds)
        log_atom = (arb(r + 1).lgamma() - arb(v + 1).lgamma() - arb(r - v + 1).lgamma()) + arb(epsilon) * v
        tail = over * (log_atom - r * (1 + odds).log()).exp()
        leak = above(arb(m) * arb(delta) * over / v)
        found = tail + (1 - tail) * min(leak, 1.0)
        return min(above(found), 1.0)
    finally:
        ctx.prec = bits


def _beyond(r: int, v: int, odds: Ball) -> Ball:
    """Return ``P(B >= v) / P(B = v)``: a sum of ratios, ended where a geometric series bounds the rest."""
    term, total = arb(1), arb(1)
    for k in range(v, r):
        ratio = odds * (r - k) / (k + 1)
        term *= ratio
        total += term
        if ratio < 0.999 and term * 1e30 < total * (1 - ratio):
            rest = (term * ratio / (1 - ratio)).upper()
            return total + rest.union(arb(0)) if k + 1 < r else total
    return total


def least_total(counts: GuessCounts, tau: float, least: LeastShare) -> float:
    """Return what the probabilities of all counts add up to at least if so many right guesses have ``tau``.

    More than 1 is a contradiction: then ``P(W >= v) < tau`` under the curve (Mahloujifar, Melis and Chaudhuri 2024,
    algorithm 3; docs/one_run.md has a short proof). The walk stops as soon as that is clear.

    ``counts``: ``m`` canaries, ``r`` guesses, ``v`` right. ``tau``: in (0, 1). ``least``: rises, is convex, never above
    its argument, and rounded down.
    """
    m, r, v = counts.n_canaries, counts.n_guesses, counts.n_correct
    right, wrong, enough = tau * v / m, tau * (r - v) / m, r / m
    for j in range(v - 1, -1, -1):
        needed = least(right)
        if needed <= wrong:  # nothing changes from here on
            break
        right += (needed - wrong) * (j / (r - j))
        wrong = needed
        if right + wrong > enough * (1 + LOWERED):
            break
    return (right + wrong) * m / r * (1 - LOWERED)


def gaussian_least(mu: float) -> LeastShare:
    """Return ``a -> Phi(Phi^-1(a) - mu)``, rounded down: two normal laws whose means are ``mu`` apart."""

    def least(share: float) -> float:
        return float(ndtr(ndtri(min(share * (1 - LOWERED), 1.0)) - mu)) * (1 - LOWERED)

    return least


def profile_least(profile: PrivacyProfile, n_canaries: int) -> LeastShare:
    """Return ``a -> max (a - delta(epsilon)) e^-epsilon`` over a grid of points of a claimed curve, rounded down.

    Fewer points claim less, so the grid keeps the test valid.

    ``profile``: what is claimed; the larger delta of the two directions counts. ``n_canaries``: decides where the curve
    is left.
    """
    epsilons: list[float] = []
    deltas: list[float] = []
    for epsilon in np.arange(0.0, CURVE_END, CURVE_STEP).tolist():
        delta = max(profile.delta_at(epsilon, direction) for direction in Direction)
        epsilons.append(epsilon)
        deltas.append(delta)
        if delta * n_canaries < NEGLIGIBLE:
            break
    # below 0 the curve is its own mirror: delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon))
    factors = np.exp(-np.array([*epsilons, *(-e for e in epsilons)]))
    given = np.array(deltas)
    away = np.concatenate((given, 1 - np.exp(-np.array(epsilons)) * (1 - given))) * (1 + LOWERED)

    def least(share: float) -> float:
        return max(0.0, float(((share - away) * factors).max()) * (1 - LOWERED))

    return least


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
    delta : float, where the bound is taken
    counts : GuessCounts, what it was read from
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
    mu : Estimate, its ``high`` is infinite
    delta : float, where the curve is read
    curve_epsilon : float
        The epsilon of the refuted curve at ``delta``: a name of the curve, not a bound on the mechanism's epsilon.
    counts : GuessCounts, what it was read from
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
    counts : GuessCounts, what it was read from
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
    delta : float, in [0, 1]
    failure_prob : float, in (0, 1); over the coins and the run
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
    >>> from audits.training import one_run_bound
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
    n_canaries : int, at least 1
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
