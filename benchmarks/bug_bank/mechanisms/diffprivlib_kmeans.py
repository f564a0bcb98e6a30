"""diffprivlib ``KMeans`` and a cluster without records.

Such a cluster is passed over, so its centre stays where it began, and the beginning is told from an update: with two
features of widths 100 and 1 every first centre has exactly 0.5 in the second, an update never has. Record 2 alone at
age 100 keeps the second cluster alive; moved to 0 it leaves the cluster empty.

The right variant (ours: none is released) updates every cluster, with half of epsilon, since a record that moves from
one cluster to another changes two counts and two sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from diffprivlib.mechanisms import GeometricFolded, LaplaceBoundedDomain
from diffprivlib.models import KMeans
from lines import Rows, serve

EPSILON = 1.0
BOUNDS = ([0.0, 0.0], [100.0, 1.0])


class EveryCluster(KMeans):
    """k-means in which a cluster without records gets its noisy count and sum like any other."""

    def _update_centers(self, X: Any, centers: Any, labels: Any, dims: int, total_iters: int, random_state: Any) -> Any:
        of_count, of_sum = self._split_epsilon(dims, total_iters)
        counts = GeometricFolded(
            epsilon=of_count, sensitivity=1, lower=0.5, upper=float("inf"), random_state=random_state
        )
        for cluster in range(self.n_clusters):
            members = X[labels == cluster]
            count = counts.randomise(len(members))
            for i in range(dims):
                low, high = self.bounds[0][i], self.bounds[1][i]
                noise = LaplaceBoundedDomain(
                    epsilon=of_sum,
                    sensitivity=max(abs(low), abs(high)),
                    lower=count * low,
                    upper=count * high,
                    random_state=random_state,
                )
                centers[cluster, i] = noise.randomise(float(members[:, i].sum())) / count
        return centers


def claim(right: bool) -> dict[str, Any]:
    return {"form": "point", "epsilon": EPSILON, "delta": 0.0}


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[float]]:
    noise = np.random.RandomState(seed % 2**32)
    make, epsilon = (EveryCluster, EPSILON / 2) if right else (KMeans, EPSILON)
    fitted = (
        make(n_clusters=2, epsilon=epsilon, bounds=BOUNDS, random_state=noise).fit(np.array(X)) for _ in range(n_draws)
    )
    return [[float(value) for value in model.cluster_centers_.ravel()] for model in fitted]


if __name__ == "__main__":
    serve(
        "diffprivlib",
        first=[[0.0, 0.5], [100.0, 0.5]],
        second=[[0.0, 0.5], [0.0, 0.5]],
        claim=claim,
        release=release,
    )
