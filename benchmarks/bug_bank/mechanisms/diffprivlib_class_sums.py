"""diffprivlib ``GaussianNB``: a record that changes its class takes its whole value along, not the bounds' width.

Noise on the sum of a class is scaled for the width, 1 here, where bounds (1000, 1001) let the sum change by 1001. The
mean is inside the bounds only where the noisy count is the true one: 40 records of class 0, or 39.

The right variant takes 1000 from every value first (bounds (0, 1), where the width is the largest value), and has half
of epsilon, since two classes change.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.models import GaussianNB
from lines import Rows, serve

EPSILON = 1.0
LOW = 1000.0


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)
    shift, epsilon = (LOW, EPSILON / 2) if right else (0.0, EPSILON)
    model = GaussianNB(epsilon=epsilon, bounds=(LOW - shift, LOW + 1.0 - shift), random_state=noise)
    fitted = (model.fit(np.array(X) - shift, np.array(y)) for _ in range(n_draws))
    return [[float(each.class_count_[0]), float(each.theta_[0, 0])] for each in fitted]


if __name__ == "__main__":
    values = [[LOW + 0.5]] * 80
    serve(
        "diffprivlib",
        first=values,
        second=values,
        labels=([0.0] * 40 + [1.0] * 40, [0.0] * 39 + [1.0] * 41),
        claim=claim,
        release=release,
    )
