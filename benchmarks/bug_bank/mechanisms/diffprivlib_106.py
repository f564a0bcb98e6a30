"""diffprivlib 106: which classes there are is read off the labels; reported of logistic regression, here naive Bayes.

``fit`` takes the classes from the labels, so the one record of a rare class decides whether that class has a mean at
all. ``partial_fit`` told the classes leaves the mean of an absent one at 0, without noise, so it is no remedy. The
right variant (ours: none is released) adds one public record of each class first, and has half of epsilon, since a
record that changes its class changes the counts, sums and squares of two.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.models import GaussianNB
from lines import Rows, serve

EPSILON = 1.0


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)
    epsilon = EPSILON
    if right:
        X, y, epsilon = [*X, [0.5], [0.5], [0.5]], [*y, 0.0, 1.0, 2.0], EPSILON / 2
    model = GaussianNB(epsilon=epsilon, bounds=(0.0, 1.0), random_state=noise)
    fitted = (model.fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [[float(value) for value in each.theta_.ravel()] for each in fitted]


if __name__ == "__main__":
    serve(
        "diffprivlib",
        first=[[0.5]] * 6,
        second=[[0.5]] * 6,
        labels=([0.0, 0.0, 1.0, 1.0, 0.0, 2.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]),
        claim=claim,
        release=release,
    )
