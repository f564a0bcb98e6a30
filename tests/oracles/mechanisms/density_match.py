"""How small an error of a spread, or of a mean, ``audits.white_box.densities`` still refutes."""

from __future__ import annotations

import numpy as np

from audits.white_box.densities import Transport, gaps, transports
from mechanisms.base import WhiteBox
from mechanisms.data.dataset import Dataset

__all__ = ["Transport", "gaps", "smallest_detected", "transports"]


def smallest_detected(
    mechanism: WhiteBox,
    dataset: Dataset,
    outputs: np.ndarray,
    moves: list[Transport],
    failure_prob: float,
    *,
    scaled: bool,
    sizes: tuple[float, ...] = (0.01, 0.015, 0.02, 0.03, 0.05, 0.1),
) -> float:
    """Return the smallest listed error of every coordinate's spread (or mean, in spreads) that the check refutes.

    Each coordinate is spoilt alone, and the worst one counts.
    """
    worst = 0.0
    for column in sorted({move.column for move in moves}):
        own = [move for move in moves if move.column == column and not move.slope]
        values = outputs[:, column]
        movable = own[0].movable(values)
        centre, spread = np.median(values[movable]), values[movable].std()
        found = np.inf
        for size in sizes:
            spoilt = outputs.copy()
            change = size * (values - centre) if scaled else size * spread
            if own[0].atom is not None:  # stay on one side of the atom
                change = size * (values - own[0].atom)
            spoilt[:, column] = np.where(movable, values + np.where(movable, change, 0.0), values)
            share = failure_prob * len(own) / len(moves)
            if not all(gap.honest for gap in gaps(mechanism, dataset, spoilt, own, share)):
                found = size
                break
        worst = max(worst, found)
    return worst
