"""How far rounding can have moved a loss's derivative at every record, from a bound on that of its predictor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from ..data.dataset import FloatArray

#: Half a unit in the last place of 1.
UNIT: Final = 2.0**-53
#: Relative error granted to the functions of a loss (``exp``, ``hypot``, a few products); granted, not proved.
GRANTED: Final = 32 * UNIT


def roundings(operations: float) -> float:
    """Return the relative error of so many roundings in a row; below 1/2 of them to the inverse unit."""
    return operations * UNIT / (1 - operations * UNIT)


def derivative_room(
    X: FloatArray, y: FloatArray, theta: FloatArray, derivative: Callable[[FloatArray, FloatArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return ``derivative(x^T theta, y)`` of every record, and how far each may be from its true value.

    The derivative has one maximum or none and no minimum inside (a convex loss's first and second), so that over the
    range of a predictor it is furthest from its value at an end, or equal to it up to the square of the range.
    """
    predictor = X @ theta
    room = roundings(X.shape[1] + 2) * (np.abs(X) @ np.abs(theta)) + 8 * UNIT * (np.abs(predictor) + np.abs(y) + 1.0)
    value = derivative(predictor, y)
    ends = [np.abs(derivative(end, y) - value) for end in (predictor - room, predictor + room)]
    return value, np.maximum(*ends) + GRANTED * (np.abs(value) + np.abs(y))


def summed(terms: FloatArray) -> tuple[FloatArray, float]:
    """Return the sum over the first axis, and the relative error of its sum of sizes: in two levels of few terms."""
    size = math.isqrt(len(terms)) + 1
    parts = [terms[start : start + size].sum(axis=0) for start in range(0, len(terms), size)]
    return np.sum(parts, axis=0) if parts else np.zeros(terms.shape[1:]), roundings(2 * size + 4)
