"""OpenDP 2911: ``make_noisy_max`` under zero-concentrated divergence.

Two candidates; one record moves each score by at most 1, scale 2. The report says that winners are drawn by
permute-and-flip, whose rho is epsilon^2/2, where the map says epsilon^2/8, which is right for the exponential
mechanism. Draws as the report describes them are those of the measurement under pure differential privacy, which does
permute and flip; what is right is what the release itself draws under zero-concentrated divergence.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from lines import Rows, serve

dp.enable_features("contrib")


def noisy_max(measure: Any) -> Any:
    scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    return dp.m.make_noisy_max(*scores, measure, scale=2.0)


def claim(right: bool) -> dict[str, Any]:
    return {"form": "zcdp", "rho": noisy_max(dp.zero_concentrated_divergence()).map(1)}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    scores = [int(row[0]) for row in X]
    select = noisy_max(dp.zero_concentrated_divergence() if right else dp.max_divergence())
    return [select(scores) for _ in range(n_draws)]


if __name__ == "__main__":
    serve("opendp", first=[[0], [0]], second=[[1], [-1]], claim=claim, release=release)
