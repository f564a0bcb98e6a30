"""Composition and post-processing of per-instance DP (W19, fact 2.6)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from flint import arb
from scipy.special import gammaln, logsumexp

from ..base import Bracket, Direction, ExactLaw, Mechanism, WhiteBox, check_delta, check_nonnegative
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import GaussianProfile, gaussian_balls
from ..laws.profile_tools import FromDistance
from ..linear.gaussian_output import GaussianOutput
from ..linear.ridge import RidgeMap
from ..linear.sufficient_statistics import SufficientStatistics
from ..numerics.balls import Ball, enclose, square_root
from ..numerics.transcripts import check_count, check_outputs
from ..reference import is_reference


class EpsilonDelta(NamedTuple):
    """One (epsilon, delta) for one pair of data sets."""

    epsilon: float
    delta: float


def advanced_composition(epsilon: float, delta: float, k: int, slack: float) -> EpsilonDelta:
    """Return the explicit form of W19-F2.6.2: ``sqrt(2k log(1/slack)) e + k e (exp(e) - 1)``, ``k delta + slack``.

    Dwork and Roth 2014, theorem 3.20: ``k >= 1`` adaptive releases, each ``(epsilon, delta)``; ``slack`` in (0, 1).
    """
    epsilon, delta = _check(epsilon, delta)
    k, slack = check_count("k", k), check_open_delta(slack, "slack")
    total = math.sqrt(2 * k * math.log(1 / slack)) * epsilon + k * epsilon * math.expm1(epsilon)
    return EpsilonDelta(total, min(1.0, k * delta + slack))


def optimal_composition(epsilon: float, delta: float, k: int, total: float) -> float:
    r"""Return the least delta at ``total`` that ``k`` adaptive ``(epsilon, delta)`` releases are sure of.

    ``1 - (1 - delta)^k (1 - max_S)`` with the hockey stick of ``k`` randomised responses,
    ``sum_l C(k, l) (e^((k-l) epsilon) - e^(total + l epsilon))_+ / (1 + e^epsilon)^k`` (Kairouz, Oh and Viswanath 2015,
    theorem 3.3, read at any ``total``); attained, so that no composition theorem can promise less.
    """
    epsilon, delta = _check(epsilon, delta)
    k, total = check_count("k", k), check_nonnegative("total", total)
    if epsilon == 0:
        return -math.expm1(k * math.log1p(-delta)) if delta < 1 else 1.0
    index = np.arange(k + 1)
    gap = (k - 2 * index) * epsilon - total  # the loss minus the total
    index, gap = index[gap > 0], gap[gap > 0]
    log_choose = gammaln(k + 1) - gammaln(index + 1) - gammaln(k - index + 1)
    log_terms = log_choose + (k - index) * epsilon + np.log(-np.expm1(-gap)) - k * np.logaddexp(0.0, epsilon)
    pure = math.exp(logsumexp(log_terms)) if index.size else 0.0
    if delta == 1:
        return 1.0
    survive = math.exp(k * math.log1p(-delta))
    return -math.expm1(k * math.log1p(-delta)) + survive * pure


@dataclass(frozen=True)
class Composition:
    """Several mechanisms run independently on the same data; the transcript is their outputs side by side.

    Parameters
    ----------
    parts : tuple of mechanisms
        At least one.
    widths : tuple of int
        Length of each part's output, in the same order.

    Examples
    --------
    >>> ssp = SufficientStatistics(1.2, 1.0)
    >>> both = Composition((ssp, ssp), (5, 5))
    >>> round(both.profile(example_pair()).mu / ssp.profile(example_pair()).mu, 6)
    1.414214
    """

    parts: tuple[WhiteBox, ...]
    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.parts or len(self.parts) != len(self.widths):
            raise ValueError(
                f"widths must name one length for each part, got {len(self.parts)} parts, {len(self.widths)} widths"
            )
        for width in self.widths:
            check_count("width", width)

    @property
    def name(self) -> str:
        return " and ".join(part.name for part in self.parts)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return np.hstack([part.draw(dataset, n_draws, rng=rng) for part in self.parts])

    def split(self, outputs: FloatArray) -> list[FloatArray]:
        edges = np.cumsum(self.widths)
        return np.split(check_outputs(outputs, int(edges[-1])), edges[:-1], axis=1)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the sum of the parts' log densities, shape ``(n_draws,)``."""
        pieces = zip(self.parts, self.split(outputs), strict=True)
        return np.asarray(sum(part.log_density(piece, dataset) for part, piece in pieces))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the sum of the parts' losses, shape ``(n_draws,)``."""
        pieces = zip(self.parts, self.split(outputs), strict=True)
        return np.asarray(sum(part.privacy_loss(piece, pair) for part, piece in pieces))

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law of the loss where every part's is Gaussian: the squares of ``mu`` add up.

        Raises
        ------
        ValueError
            If a part has no such law.
        """
        laws = []
        for part in self.parts:
            law = part.profile(pair) if isinstance(part, ExactLaw) else None
            if not isinstance(law, GaussianProfile):
                raise ValueError(f"parts must have Gaussian profiles to be composed exactly, got part={part.name!r}")
            laws.append(law)
        mu = math.hypot(*(law.mu for law in laws))
        # a length moves by at most the length of what its parts move by
        return GaussianProfile(mu, math.hypot(*(law.room for law in laws)) * (1 + 1e-12) + 1e-15 * mu)

    def proves(self, pair: NeighbouringPair) -> bool:
        return all(isinstance(part, FromDistance) and is_reference(part) and part.proves(pair) for part in self.parts)

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, 1)

    def _proved(self, pair: NeighbouringPair, epsilon: float, at: int) -> Bracket:
        parts = [part for part in self.parts if isinstance(part, FromDistance)]

        def evaluate() -> Ball:
            square = sum((part.distance_ball(pair) ** 2 for part in parts), arb(0))
            return gaussian_balls(arb(epsilon), square_root(square))[at]

        return enclose(evaluate, low=0.0, high=1.0)


@dataclass(frozen=True)
class PostProcessed:
    """A function of another mechanism's output: every guarantee of that mechanism carries over (W19-F2.6.3).

    Parameters
    ----------
    function : callable
        Maps outputs ``(n_draws, k)`` to ``(n_draws, m)``, row by row, without looking at the data.
    """

    mechanism: Mechanism
    function: Callable[[FloatArray], FloatArray]

    @property
    def name(self) -> str:
        return f"a function of {self.mechanism.name}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self.function(self.mechanism.draw(dataset, n_draws, rng=rng)), dtype=np.float64)


def _check(epsilon: float, delta: float) -> EpsilonDelta:
    return EpsilonDelta(check_nonnegative("epsilon", epsilon), check_delta(delta))


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    ssp = SufficientStatistics(1.2, 1.0, lam=0.5)
    gaussian = GaussianOutput(np.array([[2.0, 0.5], [0.5, 1.0]]), 30.0, RidgeMap(1.0))
    return {"composition": Example(Composition((ssp, gaussian), (5, 2)), example_pair())}
