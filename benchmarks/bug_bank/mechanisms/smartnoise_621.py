"""SmartNoise 621: a logarithm is missing in the odometer's second bound, which makes it too large.

Too large a price is no broken promise: 1,000 answers, each the worst that is (0.1, 1e-6)-DP, keep what the odometer
says they cost (22.69 at delta 0.000999; the theorem's 22.03 at 0.001 is what the next release says of epsilon). What
the odometer says of delta is another matter: see ``smartnoise_odometer``.
"""

from __future__ import annotations

from typing import Any

from lines import Rows, serve
from worst_answers import counted, price

EPSILON, DELTA, ANSWERS = 0.1, 1e-6, 1000


def claim(right: bool) -> dict[str, Any]:
    return price(EPSILON, DELTA, ANSWERS)


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[int]]:
    return counted(X[0][0] == 1.0, EPSILON, DELTA, ANSWERS, n_draws, seed)


if __name__ == "__main__":
    serve("smartnoise-sql", first=[[0.0]], second=[[1.0]], claim=claim, release=release)
