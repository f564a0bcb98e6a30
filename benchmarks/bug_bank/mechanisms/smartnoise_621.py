"""SmartNoise 621: a logarithm is missing in the odometer's second bound, which makes it too large.

Too large a price is no broken promise: 500 answers, each the worst that is (0.1, 1e-6)-DP, are told to cost 14.87 at
delta 0.00050013, where the theorem (Kairouz, Oh and Viswanath) has 14.54; what they lose at 14.87 is 0.00049988.
"""

from __future__ import annotations

from typing import Any

from lines import Rows, serve
from worst_answers import counted, price

EPSILON, DELTA, ANSWERS = 0.1, 1e-6, 500


def claim(right: bool) -> dict[str, Any]:
    return price(EPSILON, DELTA, ANSWERS)


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[int]]:
    return counted(X[0][0] == 1.0, EPSILON, DELTA, ANSWERS, n_draws, seed)


if __name__ == "__main__":
    serve("smartnoise-sql", first=[[0.0]], second=[[1.0]], claim=claim, release=release)
