"""OpenDP 2945: a grouped sum through ``make_private_lazyframe`` with ``Margin(max_length=3)``.

A group of at most three records can lose three and gain three others. Its sum, each record within 10 of 0, then moves
by 60, where the map says 30: twice the scale has what is claimed.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
import polars as pl
from lines import Rows, serve

dp.enable_features("contrib")
SCHEMA = {"A": pl.String, "B": pl.Int32}
SCALE, DISTANCE = 30.0, 6


def grouped_sum(scale: float) -> Any:
    columns = [dp.series_domain("A", dp.atom_domain(T=str)), dp.series_domain("B", dp.atom_domain(T=dp.i32))]
    margin = dp.polars.Margin(by=["A"], max_length=3, max_groups=1, invariant="keys")
    query = pl.LazyFrame(schema=SCHEMA).group_by("A").agg(pl.col("B").dp.sum((-10, 10), scale=scale))
    domain = dp.with_margin(dp.lazyframe_domain(columns), margin)
    return dp.m.make_private_lazyframe(domain, dp.symmetric_distance(), dp.max_divergence(), query)


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": grouped_sum(SCALE).map(DISTANCE), "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    frame = pl.LazyFrame({"A": ["a"] * len(X), "B": [int(row[0]) for row in X]}, schema=SCHEMA)
    released = grouped_sum(2 * SCALE if right else SCALE)
    return [released(frame).collect()["B"].item() for _ in range(n_draws)]


if __name__ == "__main__":
    serve("opendp", first=[[10]] * 3, second=[[-10]] * 3, claim=claim, release=release)
