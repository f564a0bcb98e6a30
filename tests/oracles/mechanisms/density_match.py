"""How small an error of a spread, or of a mean, ``audits.white_box.identities`` still refutes."""

from __future__ import annotations

import numpy as np

from audits.white_box.identities import Transport, gaps, transports
from mechanisms.base import WhiteBox
from mechanisms.data.dataset import Dataset

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
