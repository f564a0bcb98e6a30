"""diffprivlib 105 (also the first point of 104): ``LinearRegression`` and its sums of squares.

The noise on each sum of squares of a feature is scaled by the lower bound alone. With bounds (0, 1) that is no noise
at all, and one record moves the sum from 0.01 to 1.01. With bounds (-1, 1), which hold for the same records, the
formula happens to be right: the library as it is, told so.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.models import LinearRegression
from lines import Rows, serve

EPSILON = 1.0


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[float]:
    noise = np.random.RandomState(seed % 2**32)  # one stream for all the fits of a request
    bounds = (-1.0, 1.0) if right else (0.0, 1.0)
    settings = {"epsilon": EPSILON, "bounds_X": bounds, "bounds_y": (-1.0, 1.0), "fit_intercept": False}
    fitted = (LinearRegression(**settings, random_state=noise).fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [float(model.coef_[0]) for model in fitted]


if __name__ == "__main__":
    serve(
        "diffprivlib",
        first=[[1.0], [0.1]],
        second=[[0.0], [0.1]],
        labels=([1.0, 0.1], [0.0, 0.1]),
        claim=claim,
        release=release,
    )
