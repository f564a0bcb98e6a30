"""The conformance suite: what every mechanism with a density must show. Each check returns the complaints it has.

A complaint of a random check is false with probability at most ``LEVEL`` for a sound mechanism (finite-sample bounds).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from audits.stats.intervals import empirical_bernstein
from audits.white_box.identities import Transport, gaps, transports
from mechanisms.base import BOTH, Direction, ExactLaw, WhiteBox
from mechanisms.catalogue import Example
from mechanisms.data.dataset import DataError, Dataset

#: Probability with which one random check complains about one sound mechanism.
LEVEL = 1e-7
EPSILONS = (-1.0, -0.3, 0.0, 0.2, 0.5, 1.0, 2.0, 4.0)
#: A computed loss is known to this much near those levels: an atom of the loss at one of them may fall on either side.
ROOM = 1e-9
_KEPT: dict[object, Any] = {}


def sample(example: Example, direction: Direction, n_draws: int, seed: int) -> np.ndarray:
    """Draw from one data set of the pair; what was drawn of the last example is kept, as several checks look at it."""
    if _KEPT.get("example") is not example:
        _KEPT.clear()
        _KEPT["example"] = example
    if (direction, n_draws, seed) not in _KEPT:
        dataset = example.pair.first if direction is Direction.FORWARD else example.pair.second
        rng = np.random.default_rng([seed, direction is Direction.FORWARD])
        drawn = example.mechanism.draw(dataset, n_draws, rng=rng)
        drawn.setflags(write=False)
        _KEPT[direction, n_draws, seed] = drawn
    return _KEPT[direction, n_draws, seed]


def protocol(example: Example) -> Iterator[str]:
    if not isinstance(example.mechanism, WhiteBox) or not example.mechanism.name:
        yield "protocol: draw, log_density, privacy_loss and a name are needed"


def density(example: Example, n_draws: int, seed: int) -> Iterator[str]:
    """Draws follow the log density, on both data sets; every coordinate moved alone."""
    for direction in BOTH:
        dataset = example.pair.first if direction is Direction.FORWARD else example.pair.second
        pilot = sample(example, direction, 2000, seed + 1)
        with np.errstate(invalid="ignore", over="ignore"):
            moves = list(transports(example.mechanism, dataset, pilot, example.atoms))
            outputs = sample(example, direction, n_draws, seed)
            for gap in gaps(example.mechanism, dataset, outputs, moves, LEVEL / 2):
                if not gap.honest:
                    yield f"density: {gap.transport} {direction.name}: [{gap.low:.4g}, {gap.high:.4g}] without 0"


def loss(example: Example, seed: int) -> Iterator[str]:
    """The loss is the difference of log densities, and swapping the pair negates it."""
    mechanism, pair = example.mechanism, example.pair
    for direction in BOTH:
        outputs = sample(example, direction, 300, seed)
        stated = mechanism.privacy_loss(outputs, pair)
        first, second = (mechanism.log_density(outputs, data) for data in (pair.first, pair.second))
        if stated.shape != (300,) or first.shape != (300,):
            yield f"loss: shapes {stated.shape}, {first.shape}"
            return
        with np.errstate(invalid="ignore"):
            direct, size = first - second, np.abs(first) + np.abs(second)
        finite = np.isfinite(direct)
        if not np.array_equal(stated[~finite], direct[~finite]):
            yield "loss: infinite at other outputs than the difference of log densities"
        if not (np.abs(stated - direct)[finite] <= 1e-8 + 1e-12 * size[finite]).all():
            yield f"loss: off the difference of log densities by {np.abs(stated - direct)[finite].max():.3g}"
        swapped = mechanism.privacy_loss(outputs, pair.swapped())
        if not (np.abs(swapped + stated)[finite] <= 1e-8 + 1e-12 * size[finite]).all():
            yield f"loss: swapping the pair changes its size by {np.abs(swapped + stated)[finite].max():.3g}"


def identity(example: Example, n_draws: int, seed: int) -> Iterator[str]:
    """P_D'(L > t) = E_D[exp(-L) 1{L > t}] and the same from D' to D, at several t; both sides are bounded."""
    losses = {}
    for direction in BOTH:
        stated = example.mechanism.privacy_loss(sample(example, direction, n_draws, seed), example.pair)
        losses[direction] = stated if direction is Direction.FORWARD else -stated
    share = LEVEL / (2 * 2 * len(EPSILONS))
    for direction in BOTH:
        own, other = (_off_the_levels(losses[direction]), _off_the_levels(-losses[direction.opposite]))
        for t in EPSILONS:
            weighted = np.exp(-np.maximum(own, t)) * (own > t)
            counted = (other > t).astype(float)
            # the weights lie in [0, exp(-t)], the frequencies in [0, 1]
            left = _interval(weighted, share, math.exp(-t))
            right = _interval(counted, share, 1.0)
            if left.low > right.high or right.low > left.high:
                yield f"identity: t = {t}, {direction.name}: {_text(left)} against {_text(right)}"


def profile(example: Example, n_draws: int, seed: int) -> Iterator[str]:
    """The profile is non-increasing, convex in exp(epsilon), dual to its reverse, and within the Monte Carlo band."""
    if not isinstance(example.mechanism, ExactLaw):
        return
    law = example.mechanism.profile(example.pair)
    grid = np.linspace(-3.0, 6.0, 60)
    share = LEVEL / (2 * 2 * len(EPSILONS))
    for direction in BOTH:
        delta = np.array([law.delta_at(float(e), direction) for e in grid])
        tail = np.array([law.tail_at(float(e), direction) for e in grid])
        slopes = np.diff(delta) / np.diff(np.exp(grid))
        if (np.diff(delta) > 1e-13).any() or (np.diff(tail) > 1e-13).any():
            yield f"profile: increases ({direction.name})"
        if (np.diff(slopes) < -1e-12).any():
            yield f"profile: not convex in exp(epsilon) ({direction.name})"
        back = np.array([law.delta_at(float(-e), direction.opposite) for e in grid])
        if not np.allclose(delta, -np.expm1(grid) + np.exp(grid) * back, rtol=1e-8, atol=1e-10):
            yield f"profile: not dual to the other direction ({direction.name})"
        stated = example.mechanism.privacy_loss(sample(example, direction, n_draws, seed), example.pair)
        own = stated if direction is Direction.FORWARD else -stated
        for e in EPSILONS:
            payoff = -np.expm1(np.minimum(e - own, 0.0))
            for what, value, surely, perhaps in (
                ("delta", law.delta_at(e, direction), payoff, payoff),
                ("tail", law.tail_at(e, direction), own > e + ROOM, own > e - ROOM),
            ):
                low, high = _interval(surely, share, 1.0).low - ROOM, _interval(perhaps, share, 1.0).high + ROOM
                if not low <= value <= high:
                    yield f"profile: {what}({e}) = {value:.4g} outside [{low:.4g}, {high:.4g}] ({direction.name})"
    for bad in (-0.1, 1.1, math.nan):
        yield from _not_refused(f"profile: delta = {bad}", lambda bad=bad: law.epsilon_at(bad, Direction.FORWARD))


def order(example: Example, seed: int) -> Iterator[str]:
    """The order of the records changes nothing but rounding."""
    dataset = example.pair.first
    shuffled = np.random.default_rng(seed).permutation(dataset.n_records)
    other = Dataset(dataset.X[shuffled], dataset.y[shuffled], dataset.x_bound, dataset.y_bound)
    outputs = sample(example, Direction.FORWARD, 200, seed)
    as_given, moved = (example.mechanism.log_density(outputs, data) for data in (dataset, other))
    if not np.allclose(as_given, moved, rtol=1e-9, atol=1e-8):
        yield f"order: log density moves by {np.abs(as_given - moved).max():.3g}"


def refusals(example: Example) -> Iterator[str]:
    """Bad input is refused with a ValueError: no draws, misshapen outputs, records outside the bounds.

    NaN in an output is refused too, or gives NaN: never a number.
    """
    mechanism, dataset, rng = example.mechanism, example.pair.first, np.random.default_rng(0)
    outputs = mechanism.draw(dataset, 3, rng=rng)
    if outputs.ndim != 2 or len(outputs) != 3:
        yield f"refusals: three draws have shape {outputs.shape}"
    spoilt = outputs.copy()
    spoilt[1, -1] = math.nan
    for what, call in {
        "no draws": lambda: mechanism.draw(dataset, 0, rng=rng),
        "half a draw": lambda: mechanism.draw(dataset, 1.5, rng=rng),
        "outputs too wide": lambda: mechanism.log_density(np.hstack([outputs, outputs]), dataset),
        "outputs too wide (loss)": lambda: mechanism.privacy_loss(np.hstack([outputs, outputs]), example.pair),
    }.items():
        yield from _not_refused(f"refusals: {what}", call)
    for what, call in {
        "density": lambda: mechanism.log_density(spoilt, dataset),
        "loss": lambda: mechanism.privacy_loss(spoilt, example.pair),
    }.items():
        try:
            if not np.isnan(call()[1]):
                yield f"refusals: NaN in an output gives a number ({what})"
        except ValueError:
            pass
    X, y = np.array(dataset.X), np.array(dataset.y)
    X[0, 0] = math.nan
    for what, call in {
        "NaN in the data": lambda: Dataset(X, y, 1.0, 1.0),
        "a row beyond its bound": lambda: Dataset(10 * dataset.X, y, 1.0, 10.0),
    }.items():
        yield from _not_refused(f"refusals: {what}", call, DataError)


def complaints(example: Example, n_draws: int, seed: int) -> Iterator[str]:
    """Yield everything the suite has to say against a mechanism, cheap checks first."""
    found = list(protocol(example))
    yield from found
    if found:
        return
    yield from refusals(example)
    yield from order(example, seed)
    yield from loss(example, seed)
    yield from density(example, n_draws, seed)
    yield from profile(example, n_draws, seed)
    yield from identity(example, n_draws, seed)


def errors_detected(example: Example, n_draws: int, seed: int, size: float) -> tuple[bool, bool]:
    """Return whether the density check refutes an error of that size in spread, and in mean (in spreads)."""
    dataset = example.pair.first
    pilot = sample(example, Direction.FORWARD, 2000, seed + 1)
    with np.errstate(invalid="ignore", over="ignore"):
        moves = list(transports(example.mechanism, dataset, pilot, example.atoms))
        outputs = sample(example, Direction.FORWARD, n_draws, seed)
        return tuple(
            detects(example.mechanism, dataset, outputs, moves, LEVEL, size, scaled=scaled) for scaled in (True, False)
        )


def _off_the_levels(losses: np.ndarray) -> np.ndarray:
    """Return losses with those that lie at a level, up to rounding, put exactly there."""
    levels = np.array(EPSILONS)
    nearest = levels[np.abs(losses[:, None] - levels).argmin(axis=1)]
    return np.where(np.abs(losses - nearest) <= ROOM, nearest, losses)


def _interval(values: np.ndarray, failure_prob: float, high: float):
    return empirical_bernstein(values.mean(), values.var(ddof=1), values.size, failure_prob, high=high)


def _text(interval) -> str:
    return f"[{interval.low:.4g}, {interval.high:.4g}]"


def _not_refused(what: str, call, error=ValueError) -> Iterator[str]:
    try:
        call()
    except error:
        return
    yield f"{what} was not refused"


__all__ = ["Transport", "detects", "gaps", "transports"]


def detects(
    mechanism: WhiteBox,
    dataset: Dataset,
    outputs: np.ndarray,
    moves: list[Transport],
    failure_prob: float,
    size: float,
    *,
    scaled: bool,
) -> bool:
    """Return whether the check refutes an error of each coordinate's spread (or mean, in spreads) by that much.

    Each coordinate is spoilt alone.
    """
    for column in sorted({move.column for move in moves}):
        own = [move for move in moves if move.column == column and not move.slope]
        values = outputs[:, column]
        movable = own[0].movable(values)
        centre, spread = np.median(values[movable]), values[movable].std()
        spoilt = outputs.copy()
        change = size * (values - centre) if scaled else size * spread
        if own[0].atom is not None:  # stay on one side of the atom
            change = size * (values - own[0].atom)
        spoilt[:, column] = np.where(movable, values + np.where(movable, change, 0.0), values)
        share = failure_prob * len(own) / len(moves)
        if all(gap.honest for gap in gaps(mechanism, dataset, spoilt, own, share)):
            return False
    return True
