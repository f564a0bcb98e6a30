"""Bugs of OpenDP 0.16.0; what only some of their environments hold is imported where it is needed."""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from lines import Bug, Rows, point, serve

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")


# OpenDP 2911: ``make_noisy_max`` under zero-concentrated divergence.
#
# Two candidates; one record moves each score by at most 1, scale 2. The report says that winners are drawn by
# permute-and-flip, whose rho is epsilon^2/2, where the map says epsilon^2/8, which is right for the exponential
# mechanism. Draws as the report describes them are those of the measurement under pure differential privacy, which does
# permute and flip; what is right is what the release itself draws under zero-concentrated divergence.


def noisy_max(measure: Any) -> Any:
    scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    return dp.m.make_noisy_max(*scores, measure, scale=2.0)


def winner_claim(right: bool) -> dict[str, Any]:
    return {"form": "zcdp", "rho": noisy_max(dp.zero_concentrated_divergence()).map(1)}


def winners(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    scores = [int(row[0]) for row in X]
    select = noisy_max(dp.zero_concentrated_divergence() if right else dp.max_divergence())
    return [select(scores) for _ in range(n_draws)]


# OpenDP 2922: ``then_laplace_threshold`` over counts by key.
#
# A key that one record alone holds is released when its noisy count is at least the threshold; the map's delta is the
# chance that it lies above it. At threshold 4 the chance is the delta that the map states for 3.

THRESHOLD = 3


def counts(threshold: int) -> Any:
    keys = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    return dp.t.make_count_by(*keys) >> dp.m.then_laplace_threshold(scale=1.0, threshold=threshold)


def keys_claim(right: bool) -> dict[str, Any]:
    return point(*counts(THRESHOLD).map(1))


def keys(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    held, released = [int(row[0]) for row in X], counts(THRESHOLD + right)
    return [released(held).get(7, 0) for _ in range(n_draws)]  # the count of key 7; 0 where it is not released


# OpenDP 2923: ``make_sum_of_squared_deviations`` on records of 2^50 and a quarter.
#
# Numbers of this size are a quarter apart. The mean of 1,024 equal records is exact; with one of them a quarter larger
# it is rounded, and every deviation moves by the rounding.

SIZE, LOW = 1024, 2.0**50
EQUAL = [[LOW + 0.25]] * SIZE


def deviations() -> Any:
    records = dp.vector_domain(dp.atom_domain(bounds=(LOW, LOW + 1), nan=False), size=SIZE)
    return dp.t.make_sum_of_squared_deviations(records, dp.symmetric_distance())


def deviation_claim(right: bool) -> dict[str, Any]:
    exact = deviations()
    return point((exact >> dp.m.then_laplace(scale=exact.map(2))).map(2))


def squares(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    exact, records = deviations(), [row[0] for row in X]
    # 1,024 squares of a quarter: what the pair shows
    released = exact >> dp.m.then_laplace(scale=SIZE / 16 if right else exact.map(2))
    return [released(records) for _ in range(n_draws)]


# OpenDP 2945: a grouped sum through ``make_private_lazyframe`` with ``Margin(max_length=3)``.
#
# A group of at most three records can lose three and gain three others. Its sum, each record within 10 of 0, then moves
# by 60, where the map says 30: twice the scale has what is claimed.

SCALE, DISTANCE = 30.0, 6


def grouped_sum(scale: float) -> tuple[Any, dict[str, Any]]:
    """Return the measurement, and the schema of what it is asked about."""
    import polars as pl

    schema = {"A": pl.String, "B": pl.Int32}
    columns = [dp.series_domain("A", dp.atom_domain(T=str)), dp.series_domain("B", dp.atom_domain(T=dp.i32))]
    margin = dp.polars.Margin(by=["A"], max_length=3, max_groups=1, invariant="keys")
    query = pl.LazyFrame(schema=schema).group_by("A").agg(pl.col("B").dp.sum((-10, 10), scale=scale))
    domain = dp.with_margin(dp.lazyframe_domain(columns), margin)
    return dp.m.make_private_lazyframe(domain, dp.symmetric_distance(), dp.max_divergence(), query), schema


def group_claim(right: bool) -> dict[str, Any]:
    return point(grouped_sum(SCALE)[0].map(DISTANCE))


def group_sums(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    import polars as pl

    released, schema = grouped_sum(2 * SCALE if right else SCALE)
    frame = pl.LazyFrame({"A": ["a"] * len(X), "B": [int(row[0]) for row in X]}, schema=schema)
    return [released(frame).collect()["B"].item() for _ in range(n_draws)]


# OpenDP 2950: ``LinearRegression`` (Theil-Sen) on an odd number of records.
#
# The last record of an odd number is left out before records are paired at random. Without the first record the last
# one is back: one record more replaces one line through two records by another, which is two lines apart, and the map
# says one. Twice the scale has what is claimed.

#: Three records on one level, and one far below or far above: lines through it lie outside the bounds on y.
LEVEL, LABELS = [[0.0], [1.0], [9.0]], [0.3, 0.3, 0.3]


def regression(scale: float) -> Any:
    return dp.sklearn.linear_model.LinearRegression(
        dp.max_divergence(), x_bounds=[(0.0, 10.0)], y_bounds=(0.0, 10.0), scale=scale, candidates_count=3
    ).measurement


def line_claim(right: bool) -> dict[str, Any]:
    return point(regression(2.0).map(1))


def fits(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    import numpy as np

    records, fit = np.column_stack([np.array(X)[:, 0], y]), regression(4.0 if right else 2.0)
    return [[float(number) for number in fit(records)] for _ in range(n_draws)]


serve(
    "opendp",
    {
        "opendp_2911": Bug([[0], [0]], [[1], [-1]], winner_claim, winners),
        "opendp_2922": Bug([], [[7]], keys_claim, keys),
        "opendp_2923": Bug(EQUAL, [[LOW + 0.5], *EQUAL[1:]], deviation_claim, squares),
        "opendp_2945": Bug([[10]] * 3, [[-10]] * 3, group_claim, group_sums),
        "opendp_2950": Bug(
            [[5.0], *LEVEL, [5.0]], [*LEVEL, [5.0]], line_claim, fits, ([-1000.0, *LABELS, 1000.0], [*LABELS, 1000.0])
        ),
    },
)
