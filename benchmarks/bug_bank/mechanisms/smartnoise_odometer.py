"""SmartNoise's odometer of equal steps: delta (1 - delta) where the theorem has delta (1 - slack).

500 answers, each the worst that is (0.001, 0.001)-DP, show the record with chance 0.394; the odometer says delta 0.239.
The right variant gives 270 of them, to which the theorem of Kairouz, Oh and Viswanath gives what the odometer says.
"""

from __future__ import annotations

from typing import Any

from lines import Rows, serve
from worst_answers import counted, price

EPSILON, DELTA, ANSWERS = 0.001, 1e-3, 500


def claim(right: bool) -> dict[str, Any]:
    return price(EPSILON, DELTA, ANSWERS)


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[int]]:
    return counted(X[0][0] == 1.0, EPSILON, DELTA, 270 if right else ANSWERS, n_draws, seed)


if __name__ == "__main__":
    serve("smartnoise-sql", first=[[0.0]], second=[[1.0]], claim=claim, release=release)
