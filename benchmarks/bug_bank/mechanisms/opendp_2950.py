"""OpenDP 2950: ``LinearRegression`` (Theil-Sen) on an odd number of records.

The last record of an odd number is left out before records are paired at random. Without the first record the last
one is back: one record more replaces one line through two records by another, which is two lines apart, and the map
says one. Twice the scale has what is claimed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import opendp.prelude as dp
from lines import Rows, serve

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")
#: Three records on one level, and one far below or far above: lines through it lie outside the bounds on y.
LEVEL = [[0.0], [1.0], [9.0]]
LABELS = [0.3, 0.3, 0.3]


def regression(scale: float) -> Any:
    return dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(), x_bounds=[(0.0, 10.0)], y_bounds=(0.0, 10.0), scale=scale, candidates_count=3
    ).measurement


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": regression(2.0).map(1), "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    records, fit = np.column_stack([np.array(X)[:, 0], y]), regression(4.0 if right else 2.0)
    return [[float(number) for number in fit(records)] for _ in range(n_draws)]


if __name__ == "__main__":
    serve(
        "opendp",
        first=[[5.0], *LEVEL, [5.0]],
        second=[*LEVEL, [5.0]],
        labels=([-1000.0, *LABELS, 1000.0], [*LABELS, 1000.0]),
        claim=claim,
        release=release,
    )
