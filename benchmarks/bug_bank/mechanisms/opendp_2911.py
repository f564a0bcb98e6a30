"""OpenDP 2911: ``make_noisy_max`` under zero-concentrated divergence.

Two candidates; one record moves each score by at most 1. The privacy-loss of permute-and-flip at scale s is pure
epsilon = 2/s, which is rho = epsilon^2/2 and no less (the map says epsilon^2/8): scale 2 has what scale 1 claims.
"""

from __future__ import annotations

from typing import Any

import opendp.prelude as dp
from lines import Rows, serve

dp.enable_features("contrib")


def noisy_max(scale: float) -> Any:
    scores = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    return dp.m.make_noisy_max(*scores, dp.zero_concentrated_divergence(), scale=scale)


def claim(right: bool) -> dict[str, Any]:
    return {"form": "zcdp", "rho": noisy_max(1.0).map(1)}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[Any]:
    scores, select = [int(row[0]) for row in X], noisy_max(2.0 if right else 1.0)
    return [select(scores) for _ in range(n_draws)]


serve("opendp", first=[[0], [0]], second=[[1], [-1]], claim=claim, release=release)
