"""Values that repeat where the stated law is continuous: raw numbers that are released now and then."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

FloatArray = NDArray[np.float64]

#: Probability that a value is allowed where the density says 0: outputs may lie on a grid of any library's floats.
ALLOWED = 1e-4
#: A value must hold this share of all repeats of its column, or it is one point of a grid.
GRID_SHARE = 0.05
#: Values that are watched.
WATCHED = 3


def repeats(
    drawn: FloatArray, n_learning: int, jumps: NDArray[np.bool_], columns: Sequence[int], level: float
) -> tuple[str, str, float, float, str, int] | None:
    """Return the test (its name, words, p-value, level, event, hits) of values seen at least thrice in training.

    A law with a density gives each value probability 0; every watched one is granted ``ALLOWED``. Values at which the
    stated density jumps are atoms by its own word and are not watched.
    """
    if not columns:
        return None
    watched: list[tuple[int, int, float]] = []
    for j in columns:
        values = drawn[:n_learning, j][~jumps[:n_learning, j]]
        distinct, counts = np.unique(values, return_counts=True)
        repeated = counts[counts > 1].sum()
        for i in np.flatnonzero((counts >= 3) & (counts >= GRID_SHARE * repeated)):
            watched.append((int(counts[i]), j, float(distinct[i])))
    watched = sorted(watched, key=lambda each: -each[0])[:WATCHED]
    fresh, free = drawn[n_learning:], ~jumps[n_learning:]
    hit = np.zeros(len(fresh), dtype=np.bool_)
    for _, j, value in watched:
        hit |= (fresh[:, j] == value) & free[:, j]
    hits, name = int(hit.sum()), "values that repeat"
    if not hits:
        return name, "no output repeats where the stated density is continuous", 1.0, level, "", 0
    p_value = float(binom.sf(hits - 1, len(fresh), len(watched) * ALLOWED))
    event = "; ".join(f"column {j} equal to {value:.6g}" for _, j, value in watched)
    return name, "outputs repeat where the stated density is continuous", p_value, level, event, hits
