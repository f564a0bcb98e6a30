"""Draws of the privacy loss in chunks, and tails P(L > epsilon) and divergences delta(epsilon) estimated from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.base import BOTH, Direction, Mechanism, WhiteBox, check_draws
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

from ..estimate import Budget, Estimate, Result
from ..stats.intervals import Band, betting, clopper_pearson_band, dkw_radius, even_share

#: Draws asked from a mechanism at once. Part of the definition of a stream: other chunks would be other draws.
CHUNK = 1 << 14
#: Records above which draws that only accompany a proof, or illustrate, are fewer in proportion; and the fewest.
LARGE, FEWEST = 50_000, 50


def thinned(n_draws: int, n_records: int) -> int:
    """Return how many draws are made where each costs a pass over the records and nothing is decided by them.

    Up to ``LARGE`` records all of them; beyond, as many as cost the same time, and at least ``FEWEST``. A rule
    on two numbers: the same data and the same budget always give the same draws.
    """
    return n_draws if n_records <= LARGE else min(n_draws, max(FEWEST, n_draws * LARGE // n_records))


def chunk_sizes(n_draws: int, chunk: int = CHUNK) -> Iterator[int]:
    """Yield the sizes of the chunks that ``n_draws`` are drawn in."""
    for start in range(0, check_draws(n_draws), chunk):
        yield min(chunk, n_draws - start)


def member(pair: NeighbouringPair, direction: Direction) -> Dataset:
    """Return the data set that a direction draws from."""
    return pair.first if direction is Direction.FORWARD else pair.second


def directed(loss: FloatArray, direction: Direction) -> FloatArray:
    """Return the loss seen in a direction: ``log p_D - log p_D'`` forward, its negative backward."""
    return loss if direction is Direction.FORWARD else -loss


def outputs_in_chunks(
    mechanism: Mechanism, dataset: Dataset, n_draws: int, *, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield independent outputs, ``(chunk, k)`` at a time."""
    for size in chunk_sizes(n_draws):
        outputs = np.asarray(mechanism.draw(dataset, size, rng=rng), dtype=np.float64)
        if outputs.ndim != 2 or outputs.shape[0] != size:
            raise ValueError(f"draw of {mechanism.name} must return shape ({size}, k), got shape={outputs.shape}")
        yield outputs


def loss_sample(
    mechanism: WhiteBox, pair: NeighbouringPair, direction: Direction, n_draws: int, *, rng: np.random.Generator
) -> FloatArray:
    """Return ``n_draws`` independent privacy losses in one direction, shape ``(n_draws,)``, natural log.

    Raises ``ValueError`` if the mechanism returns a loss that is not a number or has the wrong shape (infinite losses
    are allowed).
    """
    kept = np.empty(check_draws(n_draws))
    start = 0
    for outputs in outputs_in_chunks(mechanism, member(pair, direction), n_draws, rng=rng):
        losses = np.asarray(mechanism.privacy_loss(outputs, pair), dtype=np.float64)
        if losses.shape != (outputs.shape[0],):
            raise ValueError(
                f"privacy_loss of {mechanism.name} must return shape ({outputs.shape[0]},), got shape={losses.shape}"
            )
        kept[start : start + losses.size] = losses
        start += losses.size
    if np.isnan(kept).any():
        raise ValueError(f"privacy_loss of {mechanism.name} must be a number at every output, got nan")
    return directed(kept, direction)


#: A loss is taken to be known to this much, relative to its size where that is above 1. It matters where it has an
#: atom at epsilon (Laplace noise at its largest loss): rounding alone would decide on which side such a draw falls.
ROUNDING = 1e-9

#: Points that a summary shows.
SHOWN_POINTS = 6

TAIL_METHOD = "Clopper-Pearson"
DELTA_METHOD = "betting (hedged capital)"


@dataclass(frozen=True, repr=False)
class TailPoint(Result):
    """One epsilon in one direction: ``tail`` is P(L > epsilon), ``delta`` is E[(1 - exp(epsilon - L))_+]."""

    direction: Direction
    epsilon: float
    tail: Estimate
    delta: Estimate


@dataclass(frozen=True, repr=False)
class TailAudit(Result):
    """All points of one audit; every interval holds at once except with probability ``failure_prob``.

    Attributes
    ----------
    mechanism : str
    points : tuple of TailPoint, one for every epsilon and direction
    failure_prob : float, with which the intervals may miss the truth, all together
    n_draws : int, mechanism evaluations spent
    """

    mechanism: str
    points: tuple[TailPoint, ...]
    failure_prob: float
    n_draws: int

    def at(self, epsilon: float, direction: Direction) -> TailPoint:
        """Return the point of one audited epsilon and direction."""
        for point in self.points:
            if point.epsilon == epsilon and point.direction is direction:
                return point
        raise ValueError(f"epsilon must be one that was audited in this direction, got epsilon={epsilon}")

    def delta(self, epsilon: float) -> Estimate:
        """Return delta(epsilon) in the worse of the audited directions (what an (epsilon, delta) claim is about)."""
        return worse([point.delta for point in self.points if point.epsilon == epsilon])

    def tail(self, epsilon: float) -> Estimate:
        """Return P(L > epsilon) in the worse of the audited directions."""
        return worse([point.tail for point in self.points if point.epsilon == epsilon])

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        shown = {
            f"delta({point.epsilon:g}), {point.direction.name.lower()}": point.delta
            for point in self.points[:SHOWN_POINTS]
        }
        return {
            "mechanism": self.mechanism,
            "points": len(self.points),
            **shown,
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
        }


def worse(estimates: Sequence[Estimate]) -> Estimate:
    """Return an estimate of the largest of several quantities; the failure probabilities add up."""
    if not estimates:
        raise ValueError("estimates must not be empty: nothing was audited there")
    if len(estimates) == 1:
        return estimates[0]
    return Estimate(
        value=max(e.value for e in estimates),
        low=max(e.low for e in estimates),
        high=max(e.high for e in estimates),
        failure_prob=sum(e.failure_prob for e in estimates),
        n_draws=sum(e.n_draws for e in estimates),
        method=f"{estimates[0].method}, worst of {len(estimates)}",
    )


def slack(levels: ArrayLike) -> FloatArray:
    """Return how far a computed loss may be from the true one where that is near ``levels``, same shape."""
    return ROUNDING * np.maximum(1.0, np.abs(np.asarray(levels, dtype=np.float64)))


def payoff(losses: FloatArray, epsilon: float) -> FloatArray:
    """Return ``(1 - exp(epsilon - L))_+`` in [0, 1] for each loss; its mean is delta(epsilon)."""
    return 0.0 - np.expm1(np.minimum(epsilon - losses, 0.0))


def delta_estimate(losses: FloatArray, epsilon: float, failure_prob: float) -> Estimate:
    """Return delta(epsilon) alone from draws of the loss, all of ``failure_prob`` spent on it."""
    gains, room = payoff(losses, epsilon), float(slack(epsilon))
    interval = betting(gains, failure_prob)
    low, high = max(interval.low - room, 0.0), min(interval.high + room, 1.0)  # a payoff moves by at most that
    return Estimate(min(max(float(gains.mean()), low), high), low, high, failure_prob, losses.size, DELTA_METHOD)


def tail_estimates(
    losses: ArrayLike, epsilons: Sequence[float], failure_prob: float, *, direction: Direction = Direction.FORWARD
) -> tuple[TailPoint, ...]:
    """Return tails and divergences at several epsilons from draws of the loss in one direction.

    ``losses``, (n,) array_like: independent privacy losses (natural log, infinities allowed), drawn from the first law
    of ``direction``. ``epsilons``: fixed before the draws are seen; any real numbers. ``failure_prob``: of all
    intervals together: each of the ``2 len(epsilons)`` quantities has an even share. ``direction``: only written into
    the points.
    """
    sample, levels = _checked(losses, epsilons)
    share = even_share(failure_prob, 2 * levels.size)
    n = sample.size
    room = slack(levels)
    surely, counts, perhaps = (
        np.array([np.count_nonzero(sample > level) for level in edges])
        for edges in (levels + room, levels, levels - room)
    )
    tail_low, tail_high = clopper_pearson_band(surely, n, share).low, clopper_pearson_band(perhaps, n, share).high
    points = []
    for i, epsilon in enumerate(levels.tolist()):
        tail = Estimate(float(counts[i] / n), float(tail_low[i]), float(tail_high[i]), share, n, TAIL_METHOD)
        points.append(TailPoint(direction, epsilon, tail, delta_estimate(sample, epsilon, share)))
    return tuple(points)


def audit_tails(
    mechanism: WhiteBox,
    pair: NeighbouringPair,
    epsilons: Sequence[float],
    budget: Budget,
    *,
    directions: Sequence[Direction] = BOTH,
) -> TailAudit:
    """Return tails and divergences of a mechanism's privacy loss between the members of a pair.

    ``budget.n_draws`` and ``budget.failure_prob`` are split evenly over the directions, the latter then over epsilons
    and the two quantities. Each direction has its own random stream.

    Parameters
    ----------
    mechanism, pair, budget
        As of ``sequential_delta``.
    epsilons : sequence of float, fixed before the draws are seen; finite
    directions : sequence of Direction, distinct

    Returns
    -------
    TailAudit
        A point for every epsilon and direction; ``.delta(epsilon)`` is the worse direction.

    Raises
    ------
    ValueError
        If there are fewer draws than directions, or an epsilon or a loss is not a number.

    Examples
    --------
    >>> from audits import Budget, StreamKey, audit_tails, exact_delta
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> seen, truth = audit_tails(mechanism, pair, [0.1], budget).delta(0.1), exact_delta(mechanism.profile(pair), 0.1)
    >>> seen.low <= truth.low <= truth.high <= seen.high
    True
    """
    n_each = split_draws(budget, directions)
    points: list[TailPoint] = []
    parts = budget.split({direction.name: 1 / len(directions) for direction in directions})
    for direction in directions:
        rng = budget.key.child("tails", direction.name).rng()
        losses = loss_sample(mechanism, pair, direction, n_each, rng=rng)
        share = parts[direction.name].spend("tail and delta")
        points += tail_estimates(losses, epsilons, share, direction=direction)
    return TailAudit(mechanism.name, tuple(points), budget.failure_prob, n_each * len(directions))


@dataclass(frozen=True, repr=False)
class LossCurve(Result):
    """Both whole curves of one direction, with one radius for every epsilon at once (also one chosen afterwards).

    ``losses`` is sorted. As delta(epsilon) is an average of the tail curve over larger epsilons, its error is never
    larger than that of the tail curve, and the same radius serves both.

    Attributes
    ----------
    losses : (n,) array, sorted
    radius : float, half width of both bands
    failure_prob : float, with which a band may leave the truth anywhere
    """

    losses: FloatArray
    radius: float
    failure_prob: float

    @property
    def n_draws(self) -> int:
        """Number of losses."""
        return int(self.losses.size)

    def tail_at(self, epsilons: ArrayLike) -> Band:
        """Return the band around P(L > epsilon), same shape as ``epsilons``."""
        levels = np.asarray(epsilons, dtype=np.float64)
        room = slack(levels)
        surely, perhaps = (
            1.0 - np.searchsorted(self.losses, edges, side="right") / self.n_draws
            for edges in (levels + room, levels - room)
        )
        return self._band(surely, perhaps)

    def delta_at(self, epsilons: ArrayLike) -> Band:
        """Return the band around delta(epsilon), same shape as ``epsilons``."""
        levels = np.asarray(epsilons, dtype=np.float64)
        means = [float(payoff(self.losses, level).mean()) for level in levels.ravel().tolist()]
        centre, room = np.reshape(means, levels.shape), slack(levels)
        return self._band(centre - room, centre + room)

    def _band(self, low: FloatArray, high: FloatArray) -> Band:
        return Band(np.clip(low - self.radius, 0.0, 1.0), np.clip(high + self.radius, 0.0, 1.0))


def loss_curve(losses: ArrayLike, failure_prob: float) -> LossCurve:
    """Return the curves of P(L > epsilon) and delta(epsilon) with their DKW radius (Massart 1990)."""
    sample, _ = _checked(losses, [0.0])
    return LossCurve(np.sort(sample), dkw_radius(sample.size, failure_prob), failure_prob)


def audit_curves(
    mechanism: WhiteBox, pair: NeighbouringPair, budget: Budget, *, directions: Sequence[Direction] = BOTH
) -> dict[Direction, LossCurve]:
    """Return the whole loss curve in each direction; draws and failure probability are split evenly.

    Parameters
    ----------
    mechanism, pair, budget
        As of ``sequential_delta``.
    directions : sequence of Direction, distinct

    Returns
    -------
    dict of Direction to LossCurve
        Bands around P(L > epsilon) and delta(epsilon) that hold at every epsilon at once, also one chosen afterwards.

    References
    ----------
    Massart 1990.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.white_box import audit_curves
    >>> from mechanisms import Direction
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> curve = audit_curves(mechanism, pair, budget)[Direction.FORWARD]
    >>> band = curve.delta_at([0.0, 0.1])
    >>> bool((band.low <= mechanism.profile(pair).delta_at(0.0, Direction.FORWARD)).all())
    True
    """
    n_each = split_draws(budget, directions)
    parts = budget.split({d.name: 1 / len(directions) for d in directions})
    rngs = {d: budget.key.child("curve", d.name).rng() for d in directions}
    return {
        d: loss_curve(loss_sample(mechanism, pair, d, n_each, rng=rngs[d]), parts[d.name].spend("the whole curve"))
        for d in directions
    }


def split_draws(budget: Budget, directions: Sequence[Direction]) -> int:
    """Return the draws of each direction, at least 1."""
    if not directions or len(set(directions)) != len(directions):
        raise ValueError(f"directions must be distinct and at least one, got {[d.name for d in directions]}")
    if budget.n_draws < len(directions):
        raise ValueError(f"n_draws must be at least {len(directions)}, got n_draws={budget.n_draws}")
    return budget.n_draws // len(directions)


def _checked(losses: ArrayLike, epsilons: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    sample = np.asarray(losses, dtype=np.float64)
    levels = np.asarray(epsilons, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0 or np.isnan(sample).any():
        raise ValueError(f"losses must be a non-empty vector without nan, got shape={sample.shape}")
    if levels.ndim != 1 or levels.size == 0 or not np.isfinite(levels).all():
        raise ValueError(f"epsilons must be finite and at least one, got epsilons={list(epsilons)}")
    return sample, levels
