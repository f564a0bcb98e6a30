"""OpenDP 2922: ``then_laplace_threshold`` over counts by key.

A key that one record alone holds is released when its noisy count is at least the threshold; the map's delta is the
chance that it lies above it. At threshold 4 the chance is the delta that the map states for 3.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from lines import Rows, serve

dp.enable_features("contrib")
THRESHOLD = 3


def counts(threshold: int) -> Any:
    keys = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return dp.t.make_count_by(*keys) >> dp.m.then_laplace_threshold(scale=1.0, threshold=threshold)


def claim(right: bool) -> dict[str, Any]:
    epsilon, delta = counts(THRESHOLD).map(1)
    return {"form": "point", "epsilon": epsilon, "delta": delta}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    keys, released = [int(row[0]) for row in X], counts(THRESHOLD + right)
    return [released(keys).get(7, 0) for _ in range(n_draws)]  # the count of key 7; 0 where it is not released


if __name__ == "__main__":
    serve("opendp", first=[], second=[[7]], claim=claim, release=release)
