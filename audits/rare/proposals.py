"""Proposals for rare events: laws around curved surfaces, fitted to weighted points of the event.

Derivation: docs/derivations/importance_sampling.md.

The pilot climbs to a rare event by levels and returns what to draw from, and where to cut the weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray
from mechanisms.envelopes.loss_points import LossPoints

IntArray = NDArray[np.intp]

#: A group of points whose mean lies outside the event is split in two, into at most so many pieces.
MAX_PIECES = 8

#: Effective size below which a group is not split off.
SMALLEST_GROUP = 12.0

#: Share of a mixture that is spread evenly over its pieces, and share that goes to wider copies of them.
EVEN, DEFENSIVE = 0.1, 0.15

#: Factor on fitted variances across the direction.
WIDER = 1.15

#: Share of the points that may lie before the surface.
BEFORE = 0.004

#: Weights, in points, of the prior guesses: covariance I, surface flat.
PRIOR_COVARIANCE, PRIOR_FLAT = 2.0, 20.0

#: Smallest mean distance beyond the surface, in standard deviations.
THINNEST = 1e-3


@dataclass(frozen=True)
class Piece:
    """A law beyond a curved surface: normal across a direction, exponential along it.

    In the coordinates ``points @ frame`` the first is the direction; the others, minus ``centre`` and divided by
    ``scales``, are a standard normal vector ``u``. The first exceeds ``start + slope u + bend u^2`` by an exponential
    variable of mean ``1 / rate``. The density is normalised whatever the surface is.
    """

    frame: FloatArray  # orthogonal, (k, k)
    centre: FloatArray  # (k - 1,), like the next three
    scales: FloatArray
    slope: FloatArray
    bend: FloatArray
    start: float
    rate: float

    def _surface(self, u: FloatArray) -> FloatArray:
        return np.asarray(self.start + u @ self.slope + np.square(u) @ self.bend)

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent points, shape ``(n_draws, k)``."""
        u = rng.standard_normal((n_draws, self.centre.size))
        along = self._surface(u) + rng.standard_exponential(n_draws) / self.rate
        return np.asarray(np.column_stack([along, self.centre + u * self.scales]) @ self.frame.T)

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return the log density of each point, ``-inf`` before the surface."""
        local = points @ self.frame
        u = (local[:, 1:] - self.centre) / self.scales
        beyond = local[:, 0] - self._surface(u)
        constant = math.log(self.rate) - float(np.log(self.scales).sum()) - 0.5 * u.shape[1] * math.log(2 * math.pi)
        return np.where(beyond >= 0, constant - self.rate * beyond - 0.5 * np.square(u).sum(axis=1), -np.inf)

    def wider(self) -> Piece:
        """Return a copy that starts earlier, is flatter, and falls off more slowly in every direction."""
        return replace(
            self,
            scales=1.3 * self.scales,
            slope=1.3 * self.slope,  # the same slope in the coordinates of the points
            bend=0.85 * self.bend,  # half of the bend
            start=self.start - 1.0 / self.rate,
            rate=0.5 * self.rate,
        )


@dataclass(frozen=True)
class Mixture:
    """A mixture of pieces; ``shares`` add up to 1."""

    pieces: tuple[Piece, ...]
    shares: FloatArray

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent points, shape ``(n_draws, k)``."""
        which = rng.choice(len(self.pieces), size=n_draws, p=self.shares)
        points = np.empty((n_draws, len(self.pieces[0].frame)))
        for i, piece in enumerate(self.pieces):
            of_piece = which == i
            points[of_piece] = piece.draw(int(of_piece.sum()), rng)
        return points

    def log_density(self, points: FloatArray) -> FloatArray:
        """Return the log density of each point."""
        densities = np.stack([piece.log_density(points) for piece in self.pieces])
        return np.asarray(np.logaddexp.reduce(densities + np.log(self.shares)[:, None]))


def fit_mixture(
    points: FloatArray, weights: FloatArray, inside: Callable[[FloatArray], bool], *, longer: float
) -> tuple[Mixture, int]:
    """Return a mixture fitted to weighted points of an event, and how often ``inside`` was asked.

    A group of points whose mean is not ``inside`` the event is split in two, so that an event of several parts, or one
    that bends around the origin, gets a piece for each.

    ``points``, (n, k) array: in coordinates in which the law that is approximated has about mean 0 and covariance I.
    ``weights``, (n,) array: not negative, with a positive sum. ``inside``: whether a point ``(k,)`` lies in the event.
    ``longer``: factor on the fitted mean beyond the surface.
    """
    weights = weights / weights.sum()
    groups, n_asked = _groups(points, weights, inside)
    pieces = [_piece(points[group], weights[group], longer) for group in groups]
    shares = (1 - EVEN) * np.array([weights[group].sum() for group in groups]) + EVEN / len(groups)
    shares /= shares.sum()
    mixture = Mixture(
        (*pieces, *(piece.wider() for piece in pieces)), np.concatenate([(1 - DEFENSIVE) * shares, DEFENSIVE * shares])
    )
    return mixture, n_asked


def _effective_size(weights: FloatArray) -> float:
    """Return ``(sum w)^2 / sum w^2``: how many equal weights are as good."""
    squares = float(np.square(weights).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0


def _groups(
    points: FloatArray, weights: FloatArray, inside: Callable[[FloatArray], bool]
) -> tuple[list[IntArray], int]:
    done: list[IntArray] = []
    todo, n_asked = [np.arange(len(points))], 0
    while todo:
        group = todo.pop(0)
        halves: list[IntArray] = []
        if len(done) + len(todo) + 2 <= MAX_PIECES and _effective_size(weights[group]) >= 2 * SMALLEST_GROUP:
            mean, n_asked = np.average(points[group], axis=0, weights=weights[group]), n_asked + 1
            if not inside(mean):
                halves = [group[half] for half in _halves(points[group], weights[group], mean)]
        if halves and min(_effective_size(weights[half]) for half in halves) >= SMALLEST_GROUP:
            todo += halves
        else:
            done.append(group)
    return done, n_asked


def _halves(points: FloatArray, weights: FloatArray, mean: FloatArray) -> list[IntArray]:
    """Return the two clusters of weighted 2-means, started along the longest axis."""
    centred = points - mean
    second = centred @ np.linalg.eigh((centred.T * weights) @ centred)[1][:, -1] > 0
    for _ in range(10):
        if min(weights[second].sum(), weights[~second].sum()) <= 0:
            return []
        ends = [np.average(points[part], axis=0, weights=weights[part]) for part in (~second, second)]
        near, far = (np.square(points - end).sum(axis=1) for end in ends)
        second = far < near
    return [np.flatnonzero(~second), np.flatnonzero(second)]


def _piece(points: FloatArray, weights: FloatArray, longer: float) -> Piece:
    """Return the piece of one group: its direction is the mean, its surface lies just before nearly all points."""
    weights, k = weights / weights.sum(), points.shape[1]
    mean = weights @ points
    length = float(np.linalg.norm(mean))
    direction = mean / length if length > 0 else np.eye(k)[0]
    frame = np.linalg.qr(np.column_stack([direction, np.eye(k)]))[0]
    frame[:, 0] = direction
    across = points @ frame[:, 1:]
    variances, axes = shrunk_covariance(across - weights @ across, weights)
    frame[:, 1:] = frame[:, 1:] @ axes
    along, across = points @ frame[:, 0], points @ frame[:, 1:]
    centre, scales = weights @ across, np.sqrt(WIDER * variances)
    u = (across - centre) / scales
    slope, bend = _surface(u, along, weights)
    residual = along - u @ slope - np.square(u) @ bend
    order = np.argsort(residual, kind="stable")
    first = float(residual[order[np.searchsorted(np.cumsum(weights[order]), BEFORE)]])
    beyond = max(float(weights @ residual) - first, THINNEST)
    return Piece(frame, centre, scales, slope, bend, first - 0.1 * beyond, 1.0 / (longer * beyond))


def _surface(u: FloatArray, along: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients of ``u`` and ``u^2`` in a ridge regression of the coordinate along the direction."""
    features = np.column_stack([u, np.square(u)])
    features -= weights @ features
    penalty = PRIOR_FLAT / _effective_size(weights) * np.eye(features.shape[1])
    target = features.T @ (weights * (along - weights @ along))
    fit = np.linalg.solve((features.T * weights) @ features + penalty, target)
    return fit[: u.shape[1]], fit[u.shape[1] :]


def shrunk_covariance(centred: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return eigenvalues and eigenvectors of a covariance that is shrunk towards a sphere as far as it is uncertain.

    ``centred``, (n, dim) array. ``weights``, (n,) array: adding up to 1.

    References
    ----------
    Ledoit and Wolf, A well-conditioned estimator for large-dimensional covariance matrices, J. Multivariate Analysis
    88 (2004), for weighted points; then a few points' worth of the identity is added.
    """
    dim, size = centred.shape[1], _effective_size(weights)
    scatter = (centred.T * weights) @ centred
    sphere = float(np.trace(scatter)) / max(dim, 1) * np.eye(dim)
    lengths = np.square(centred).sum(axis=1)
    uncertain = float(np.square(weights) @ np.square(lengths)) - float(np.square(scatter).sum()) / size
    spread = float(np.square(scatter - sphere).sum())
    share = min(1.0, max(uncertain, 0.0) / spread) if spread > 0 else 1.0
    shrunk = share * sphere + (1 - share) * scatter
    eigenvalues, vectors = np.linalg.eigh((size * shrunk + PRIOR_COVARIANCE * np.eye(dim)) / (size + PRIOR_COVARIANCE))
    return np.asarray(eigenvalues), np.asarray(vectors)


@dataclass(frozen=True)
class Whitening:
    """An affine change of coordinates: ``raw = centre + matrix @ white``."""

    centre: FloatArray
    matrix: FloatArray
    log_det: float

    def raw(self, points: FloatArray) -> FloatArray:
        """Return white points, ``(n, k)``, in the coordinates of their source."""
        return np.asarray(self.centre + points @ self.matrix.T)

    def white(self, points: FloatArray) -> FloatArray:
        """Return points of the source, ``(n, k)``, in white coordinates."""
        return np.asarray(np.linalg.solve(self.matrix, (points - self.centre).T).T)


def fit_whitening(points: FloatArray) -> Whitening:
    """Return coordinates in which a sample ``(n, k)`` has about mean 0 and covariance I.

    Raises ``ValueError`` if the sample cannot come from a density on ``R^k``: points that are equal, or a coordinate
    that is constant.
    """
    if points.ndim != 2 or not np.isfinite(points).all():
        raise ValueError(f"draws must be finite vectors of one length, got shape={points.shape}")
    centre, scales = points.mean(axis=0), points.std(axis=0)
    if not (scales > 0).all() or len(np.unique(points, axis=0)) < len(points):
        raise ValueError("draws must have a density with respect to Lebesgue measure, got equal values")
    variances, axes = shrunk_covariance((points - centre) / scales, np.full(len(points), 1.0 / len(points)))
    matrix = scales[:, None] * axes * np.sqrt(variances)
    return Whitening(centre, matrix, float(np.log(scales).sum() + 0.5 * np.log(variances).sum()))


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
        reached = level >= epsilon and _effective_size(weights) >= ENOUGH * size
        if reached or spent + size + 2 * MAX_PIECES > most:
            return Proposal(white, mixture, pool, spent)
        pool, spent = pool.extended(white, mixture, rng), spent + size


def scaled(log_weights: FloatArray) -> FloatArray:
    """Return the weights, the largest of them being 1."""
    return np.asarray(np.exp(log_weights - max(float(log_weights.max()), LOWEST)))
