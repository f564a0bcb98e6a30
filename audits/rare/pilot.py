"""The pilot of importance sampling: climbs to a rare event by levels and returns what to draw from, and how to cut."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from mechanisms.data.dataset import FloatArray
from mechanisms.envelopes.loss_points import LossPoints

from .proposals import MAX_PIECES, Mixture, Whitening, effective_size, fit_mixture, fit_whitening

#: What a loss counts at an epsilon, in [0, 1]: ``gain(losses, epsilon)``.
Gain = Callable[[FloatArray, float], FloatArray]

#: Rounds that the pilot's evaluations are divided into, and the bounds on the size of one.
ROUNDS, SMALLEST_ROUND, LARGEST_ROUND = 20, 40, 1000

#: Effective number of points above a level of the climb, and above epsilon at its end, as shares of a round.
ELITE, ENOUGH = 0.2, 3.0

#: Factor on the fitted mean beyond the surface: at epsilon, and on the way, where the next level is to be found.
AT_EPSILON, ON_THE_WAY = 1.1, 2.0

#: Stands for a log density of -inf where one is subtracted.
LOWEST = -1e300

#: Truncation levels that are compared, and the log of the largest, in units of a point's contribution to the mean.
CUTS, LARGEST_CUT = 40, 600.0


@dataclass(frozen=True)
class White:
    """The points of a source in coordinates in which they have about mean 0 and covariance I."""

    source: LossPoints
    whitening: Whitening

    def evaluate(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log density of each white point and its loss (``-inf`` outside the support), both ``(n,)``."""
        return self.at(self.whitening.raw(points))

    def at(self, raw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the same of points of the source: its own draws must not go through white coordinates and back.

        Where tails are so heavy that a standard deviation is far above the bulk, rounding would move them.
        """
        log_density = np.asarray(self.source.log_density(raw), dtype=np.float64) + self.whitening.log_det
        losses = np.asarray(self.source.losses(raw), dtype=np.float64)
        losses = np.where(np.isneginf(log_density), -np.inf, losses)
        for name, values in (("log_density", log_density), ("losses", losses)):
            if values.shape != (len(raw),) or np.isnan(values).any():
                raise ValueError(f"{name} of {self.source.name} must be one number a point, got shape={values.shape}")
        return log_density, losses

    def reaches(self, level: float, point: FloatArray) -> bool:
        """Return whether the loss at one white point is at least ``level``."""
        return bool(self.evaluate(point[None])[1][0] >= level)


@dataclass(frozen=True)
class Pool:
    """All points of the pilot so far. Each round came from a proposal of its own, the first from the mechanism.

    ``log_proposals`` is the log of the sum, over all rounds, of the proposal's density at each point. The weight of a
    point is its density over the mean of them; rounds are equally large.
    """

    points: FloatArray
    log_density: FloatArray
    losses: FloatArray
    log_proposals: FloatArray
    mixtures: tuple[Mixture, ...]

    @cached_property
    def log_weights(self) -> FloatArray:
        """Log weight of each point, shape ``(n,)``."""
        return self.log_density - self.log_proposals + math.log(1 + len(self.mixtures))

    def level(self, epsilon: float, size: float) -> float:
        """Return the highest level, at most ``epsilon``, with an effective number ``size`` of points at or above it."""
        order = np.argsort(-self.losses, kind="stable")
        weights = scaled(self.log_weights[order])
        total, squares = np.cumsum(weights), np.cumsum(np.square(weights))
        enough = (total > 0) & (total**2 >= size * squares)
        last = int(np.argmax(enough)) if enough.any() else order.size - 1
        return min(epsilon, float(self.losses[order[last]]))

    def extended(self, white: White, mixture: Mixture, rng: np.random.Generator) -> Pool:
        """Return the pool with one more round, drawn from ``mixture``."""
        points = mixture.draw(len(self.points) // (1 + len(self.mixtures)), rng)
        log_density, losses = white.evaluate(points)
        mixtures = (*self.mixtures, mixture)
        proposals = np.logaddexp.reduce([log_density, *(mixture.log_density(points) for mixture in mixtures)])
        return Pool(
            np.vstack([self.points, points]),
            np.concatenate([self.log_density, log_density]),
            np.concatenate([self.losses, losses]),
            np.concatenate([np.logaddexp(self.log_proposals, mixture.log_density(self.points)), proposals]),
            mixtures,
        )


@dataclass(frozen=True)
class Proposal:
    """What the pilot found; ``mixture`` is None where the event is so common that plain draws serve."""

    white: White
    mixture: Mixture | None
    pool: Pool
    n_pilot: int

    def weighted(self, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the log weights and the losses of fresh draws, both ``(n_draws,)``."""
        if self.mixture is None:
            return np.zeros(n_draws), self.white.at(np.asarray(self.white.source.draw(n_draws, rng), np.float64))[1]
        points = self.mixture.draw(n_draws, rng)
        log_density, losses = self.white.evaluate(points)
        log_mixture = self.mixture.log_density(points)
        # a point drawn on a surface may be rounded to its wrong side: it does not count
        return np.where(log_mixture > -np.inf, log_density, -np.inf) - np.maximum(log_mixture, LOWEST), losses

    def plain_if_better(self, gain: Gain, epsilon: float, n_draws: int, failure_prob: float) -> Proposal:
        """Return this proposal, or plain draws of the source where these promise a larger lower end."""
        plain = replace(self, mixture=None)
        ends = [proposal.cut(gain, epsilon, n_draws, failure_prob)[0] for proposal in (self, plain)]
        return plain if ends[1] > ends[0] else self

    def cut(self, gain: Gain, epsilon: float, n_draws: int, failure_prob: float) -> tuple[float, float]:
        """Return the largest lower end to be expected and the truncation level that promises it; logs of both.

        The pilot's points alone decide: a mean under the mixture is one over the pool, weighted with mixture over pool.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            log_values = np.log(gain(self.pool.losses, epsilon))
            log_mass = self.pool.log_weights + log_values
            if self.mixture is not None:  # plain draws have no weights
                log_values += self.pool.log_density - self.mixture.log_density(self.pool.points)
        counted = np.isfinite(log_mass) & np.isfinite(log_values)
        if not counted.any():
            return -math.inf, 0.0
        unit = float(log_mass[counted].max()) - math.log(counted.size)  # the largest contribution of a point
        mass, log_values = scaled(log_mass[counted]), log_values[counted] - unit
        cuts = [-unit] if self.mixture is None else np.quantile(log_values, np.linspace(0.0, 1.0, CUTS)).tolist()
        cuts = [min(cut, LARGEST_CUT) for cut in cuts]  # no number of draws makes use of more, and it would overflow
        need, best = -math.log(failure_prob) / n_draws, (-math.inf, 0.0)
        for cut in cuts:
            kept = np.minimum(cut - log_values, 0.0)
            mean = float(mass @ np.exp(kept))
            square = float(mass @ np.exp(2 * kept + log_values))
            low = mean - math.sqrt(2 * max(square - mean**2, 0.0) * need) - math.exp(cut) * need
            best = max(best, (low, cut))
        return (math.log(best[0]) if best[0] > 0 else -math.inf) + unit, best[1] + unit


def climb(source: LossPoints, epsilon: float, most: int, rng: np.random.Generator) -> Proposal:
    """Return a proposal for ``{loss > epsilon}``, fitted with at most ``most`` evaluations (at least one round).

    Every round is drawn from a mixture that was fitted to all points above the level reached so far; the level is the
    highest with enough of them.
    """
    size = min(max(most // ROUNDS, SMALLEST_ROUND), LARGEST_ROUND)
    drawn = np.asarray(source.draw(size, rng), dtype=np.float64)
    white = White(source, fit_whitening(drawn))
    points = white.whitening.white(drawn)
    log_density, losses = white.at(drawn)
    pool, spent = Pool(points, log_density, losses, log_density, ()), size
    if np.count_nonzero(losses > epsilon) >= ELITE * size:
        return Proposal(white, None, pool, spent)
    while True:
        level = pool.level(epsilon, ELITE * size)
        above = pool.losses > epsilon if level >= epsilon else pool.losses >= level
        if not above.any():  # epsilon is reached, by an atom of the loss
            above = pool.losses >= level
        weights = scaled(pool.log_weights[above])
        longer = AT_EPSILON if level >= epsilon else ON_THE_WAY
        inside = partial(white.reaches, level)
        mixture, n_asked = fit_mixture(pool.points[above], weights, inside, longer=longer)
        spent += n_asked
        reached = level >= epsilon and effective_size(weights) >= ENOUGH * size
        if reached or spent + size + 2 * MAX_PIECES > most:
            return Proposal(white, mixture, pool, spent)
        pool, spent = pool.extended(white, mixture, rng), spent + size


def scaled(log_weights: FloatArray) -> FloatArray:
    """Return the weights, the largest of them being 1."""
    return np.asarray(np.exp(log_weights - max(float(log_weights.max()), LOWEST)))
