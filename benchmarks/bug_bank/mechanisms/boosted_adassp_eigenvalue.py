"""Boosted AdaSSP, as published first: the least eigenvalue is looked for among the positive ones.

1,000 equal records have the eigenvalues 1000 and 0, and 1000 is taken for the least; with a record of length 0.001
across them it is 1e-6. The noise is scaled for a change of 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from boosted_adassp import CLAIM, composed_sigma, drawn
from lines import Rows, serve

SAME = [[1.0, 0.0]] * 1000


def least_positive(values: np.ndarray) -> float:
    """Return the least of the positive eigenvalues."""
    return float(values[values > 0].min())


def claim(right: bool) -> dict[str, Any]:
    return CLAIM


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    return drawn(X, y, n_draws, seed, composed_sigma(1), np.min if right else least_positive)


if __name__ == "__main__":
    serve("scipy", first=SAME, second=[*SAME, [0.0, 0.001]], claim=claim, release=release)
