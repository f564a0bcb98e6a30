"""Bugs of SmartNoise's ``DPcovariance``.

The package's ``__init__`` asks for scikit-learn before 0.24 and torch; the module by itself needs neither. The noise is
numpy's global generator.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lines import Bug, Rows, point, serve

EPSILON = 1.0
PAIRS = [[0.2, 0.4], [0.8, 0.5], [0.5, 0.1], [0.3, 0.9], [0.6, 0.7], [0.1, 0.2], [0.9, 0.8], [0.4, 0.6], [0.7, 0.3]]
WIDTHS = [1.0, 100.0, 1.0]
TRIPLES = [[0.2, 40.0, 0.3], [0.8, 50.0, 0.5], [0.5, 10.0, 0.9], [0.3, 90.0, 0.1], [0.6, 70.0, 0.7]]


def covariance_module() -> Any:
    """Return ``snsynth.models.dp_covariance`` without the package around it."""
    package = importlib.util.find_spec("snsynth")
    file = Path(package.submodule_search_locations[0]) / "models" / "dp_covariance.py"
    told = importlib.util.spec_from_file_location("dp_covariance", file)
    module = importlib.util.module_from_spec(told)
    told.loader.exec_module(module)
    return module


def drawn(data: pd.DataFrame, bounds: Any, n_draws: int, seed: int) -> list[list[float]]:
    np.random.seed(seed % 2**32)  # noqa: NPY002 - the library draws from the global generator
    columns = list(data.columns)
    made = covariance_module().DPcovariance(len(data), columns, pd.DataFrame(bounds, columns=columns), EPSILON)
    return [[float(value) for value in made.release(data)] for _ in range(n_draws)]


def clipped(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """Issue 622: the covariance is that of the data before they were clipped to their bounds.

    ``DPcovariance.release`` clips the records and then takes the covariance of what it was given. The noise is scaled
    for features in (0, 1); one of ten records lies at 100. Both features have the same width: see ``order``.
    """
    return drawn(pd.DataFrame(X, columns=["x", "y"]), [[0.0, 0.0], [1.0, 1.0]], n_draws, seed)


def order(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    """The noise goes to the entries in another order than the one it was scaled in.

    Sensitivities are listed row by row above the diagonal, covariances row by row below it. Of three features of widths
    1, 100 and 1 the variance of the second gets the noise of the covariance of the first with the third. The right
    variant divides each feature by its width first: then all entries have one scale, and the order does not matter.
    """
    widths = np.ones(3) if right else np.array(WIDTHS)
    data = pd.DataFrame(np.array(X) / WIDTHS * widths, columns=["x", "y", "z"])
    return drawn(data, [np.zeros(3), widths], n_draws, seed)


serve(
    "smartnoise-synth",
    {
        "smartnoise_622": Bug([*PAIRS, [0.5, 0.5]], [*PAIRS, [100.0, 100.0]], point(EPSILON), clipped),
        "smartnoise_order": Bug([*TRIPLES, [0.5, 50.0, 0.5]], [*TRIPLES, [0.5, 100.0, 0.5]], point(EPSILON), order),
    },
)
