"""SmartNoise's ``DPcovariance``: the noise goes to the entries in another order than the one it was scaled in.

Sensitivities are listed row by row above the diagonal, covariances row by row below it. Of three features of widths
1, 100 and 1 the variance of the second gets the noise of the covariance of the first with the third. The right variant
divides each feature by its width first: then all entries have one scale, and the order does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from lines import Rows, serve
from smartnoise_622 import EPSILON, covariance_module

COLUMNS = ["x", "y", "z"]
WIDTHS = [1.0, 100.0, 1.0]
OTHERS = [[0.2, 40.0, 0.3], [0.8, 50.0, 0.5], [0.5, 10.0, 0.9], [0.3, 90.0, 0.1], [0.6, 70.0, 0.7]]


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the library draws from the global generator
    widths = np.ones(3) if right else np.array(WIDTHS)
    data = pd.DataFrame(np.array(X) / WIDTHS * widths, columns=COLUMNS)
    bounds = pd.DataFrame([np.zeros(3), widths], columns=COLUMNS)
    covariance = covariance_module().DPcovariance(len(X), COLUMNS, bounds, EPSILON)
    return [[float(value) for value in covariance.release(data)] for _ in range(n_draws)]


if __name__ == "__main__":
    serve(
        "smartnoise-synth",
        first=[*OTHERS, [0.5, 50.0, 0.5]],
        second=[*OTHERS, [0.5, 100.0, 0.5]],
        claim=claim,
        release=release,
    )
