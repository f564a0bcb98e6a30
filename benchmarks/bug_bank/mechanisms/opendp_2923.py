"""OpenDP 2923: ``make_sum_of_squared_deviations`` on records of 2^50 and a quarter.

Numbers of this size are a quarter apart. The mean of 1,024 equal records is exact; with one of them a quarter larger
it is rounded, and every deviation moves by the rounding.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from lines import Rows, serve

dp.enable_features("contrib")
SIZE, LOW = 1024, 2.0**50
DEVIATIONS = dp.t.make_sum_of_squared_deviations(
    dp.vector_domain(dp.atom_domain(bounds=(LOW, LOW + 1), nan=False), size=SIZE), dp.symmetric_distance()
)
EQUAL = [[LOW + 0.25]] * SIZE
ONE_LARGER = [[LOW + 0.5], *EQUAL[1:]]


def noisy(scale: float) -> Any:
    return DEVIATIONS >> dp.m.then_laplace(scale=scale)


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": noisy(DEVIATIONS.map(2)).map(2), "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    records = [row[0] for row in X]
    released = noisy(SIZE / 16 if right else DEVIATIONS.map(2))  # 1,024 squares of a quarter: what the pair shows
    return [released(records) for _ in range(n_draws)]


if __name__ == "__main__":
    serve("opendp", first=EQUAL, second=ONE_LARGER, claim=claim, release=release)
