"""Draws from a mechanism in chunks of bounded memory; only what the audit needs of each draw is kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mechanisms.base import Direction, Mechanism, WhiteBox, check_draws
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair

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

    Raises
    ------
    ValueError
        If the mechanism returns a loss that is not a number or has the wrong shape (infinite losses are allowed).
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
