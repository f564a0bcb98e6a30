"""SmartNoise 622: the covariance is that of the data before they were clipped to their bounds.

``DPcovariance.release`` clips the records and then takes the covariance of what it was given. The noise is scaled for
features in (0, 1); one of ten records lies at 100. Both features have the same width: see ``smartnoise_order``.

The package's ``__init__`` asks for scikit-learn before 0.24 and torch; the module by itself needs neither. The noise is
numpy's global generator.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lines import Rows, serve

EPSILON = 1.0
COLUMNS = ["x", "y"]
OTHERS = [[0.2, 0.4], [0.8, 0.5], [0.5, 0.1], [0.3, 0.9], [0.6, 0.7], [0.1, 0.2], [0.9, 0.8], [0.4, 0.6], [0.7, 0.3]]


def covariance_module() -> Any:
    """Return ``snsynth.models.dp_covariance`` without the package around it."""
    package = importlib.util.find_spec("snsynth")
    file = Path(package.submodule_search_locations[0]) / "models" / "dp_covariance.py"
    told = importlib.util.spec_from_file_location("dp_covariance", file)
    module = importlib.util.module_from_spec(told)
    told.loader.exec_module(module)
    return module


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the library draws from the global generator
    bounds = pd.DataFrame([[0.0, 0.0], [1.0, 1.0]], columns=COLUMNS)
    data = pd.DataFrame(X, columns=COLUMNS)
    covariance = covariance_module().DPcovariance(len(X), COLUMNS, bounds, EPSILON)
    return [[float(value) for value in covariance.release(data)] for _ in range(n_draws)]


if __name__ == "__main__":
    serve(
        "smartnoise-synth",
        first=[*OTHERS, [0.5, 0.5]],
        second=[*OTHERS, [100.0, 100.0]],
        claim=claim,
        release=release,
    )
