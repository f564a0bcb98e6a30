"""diffprivlib 106: ``LogisticRegression`` reads off the labels which classes there are.

``fit`` takes the classes from the labels, so the one record of a rare class decides how many coefficients there are.
Reported for a record removed; here its label is replaced, so that the number of records is the same. The right variant
(ours: none is released) adds one public record of each class first: then the classes are always the same three.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from diffprivlib.models import LogisticRegression
from lines import Rows, serve

EPSILON = 1.0
CLASSES = [0.0, 1.0, 2.0]

warnings.filterwarnings("ignore", category=FutureWarning)  # scikit-learn's, about a setting that the library makes


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)  # one stream for all the fits of a request
    if right:
        X, y = [*X, *([0.5] for _ in CLASSES)], [*y, *CLASSES]
    model = LogisticRegression(epsilon=EPSILON, data_norm=1.0, random_state=noise)
    fitted = (model.fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [[float(value) for value in (*each.coef_.ravel(), *each.intercept_)] for each in fitted]


if __name__ == "__main__":
    serve(
        "diffprivlib",
        first=[[0.5]] * 6,
        second=[[0.5]] * 6,
        labels=([0.0, 0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]),
        claim=claim,
        release=release,
    )
