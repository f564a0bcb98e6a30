"""diffprivlib 104, its second point: ``LinearRegression`` centres X and y each for the slice set aside for both.

With d features, 1/(d + 1) of epsilon is set aside for the intercept; the mean of X spends that much and the mean of y
as much again, so that all together spends 1 + 1/(d + 1) of epsilon: 1.5 for one feature.

A noisy mean is clamped to the bounds. With upper bounds 0 the intercept is 0 exactly where both means were clamped
there, so the output is whether it is, and the coefficient where it is. There the lower bound is the wider one of what
is left, and the error of issue 105, which looks at that one alone, is none.

The right variant (ours: none is released) gives half of the slice to each mean.

Where the other error leaves the square no noise and it is 0, the objective has no least value and the optimiser is slow
to say so: there the coefficient is NaN instead. The intercept is not 0 there, so no output is another one for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.models import LinearRegression, linear_regression
from lines import Rows, serve
from scipy.optimize import OptimizeResult, minimize

EPSILON = 1.0


def least(objective: Any, start: Any, **settings: Any) -> Any:
    """Return scipy's result, or NaN where the objective is a line."""
    if np.array_equal(objective(start)[1], objective(start + 1.0)[1]):
        return OptimizeResult(x=np.full(start.shape, np.nan))
    return minimize(objective, start, **settings)


linear_regression.minimize = least


class HalfEach(LinearRegression):
    """Linear regression whose two means share the slice."""

    @staticmethod
    def _preprocess_data(X: Any, y: Any, *, epsilon: float, **settings: Any) -> Any:
        return LinearRegression._preprocess_data(X, y, epsilon=epsilon / 2, **settings)


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)  # one stream for all the fits of a request
    make = HalfEach if right else LinearRegression
    model = make(epsilon=EPSILON, bounds_X=(-1.0, 0.0), bounds_y=(-1.0, 0.0), random_state=noise)
    fitted = (model.fit(np.array(X), np.array(y)) for _ in range(n_draws))
    return [[1.0, float(each.coef_[0])] if each.intercept_ == 0.0 else [0.0, 0.0] for each in fitted]


if __name__ == "__main__":
    serve(
        "diffprivlib",
        first=[[0.0]],
        second=[[-1.0]],
        labels=([0.0], [-1.0]),
        claim=claim,
        release=release,
    )
