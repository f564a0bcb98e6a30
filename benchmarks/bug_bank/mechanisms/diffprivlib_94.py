"""diffprivlib 94: noise in floating point.

A count of 0 or 1 with Laplace noise at epsilon 1. As real numbers the outputs keep the promise; which doubles can come
out at all depends on the count: 1 plus a small double is rounded to a coarser grid. So each output is told with the
power of two in its denominator, which anybody reads off it. ``Snapping`` rounds to a grid of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.mechanisms import Laplace, Snapping
from lines import Rows, serve

EPSILON = 1.0


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)
    if right:
        mechanism = Snapping(epsilon=EPSILON, sensitivity=1.0, lower=-20.0, upper=20.0, random_state=noise)
    else:
        mechanism = Laplace(epsilon=EPSILON, sensitivity=1.0, random_state=noise)
    drawn = (float(mechanism.randomise(float(len(X)))) for _ in range(n_draws))
    return [[value, value.as_integer_ratio()[1].bit_length() - 1] for value in drawn]


if __name__ == "__main__":
    serve("diffprivlib", first=[], second=[[0.0]], claim=claim, release=release)
