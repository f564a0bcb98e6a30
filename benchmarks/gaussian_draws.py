"""Speed of Gaussian draws against numpy's ``standard_normal``: ``python benchmarks/gaussian_draws.py``.

Prints normal values per second of each mechanism's ``draw`` relative to the bare generator filling an array of the same
shape, alternating the two in one run (median of the ratios of neighbours). Isotropic noise in any dimension, dense
covariance up to d = 100.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from running import timed

from audits.white_box.tails import CHUNK
from mechanisms import Dataset
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import RidgeMap
from mechanisms.releases.gaussian_shift import draw_shifted

DIMS = (1, 2, 10, 30, 100)
VALUES = 1_000_000
REPEATS = 5


def ratio(draw: Callable[[int, np.random.Generator], object], dim: int) -> float:
    """Return the median speed of ``draw`` as a share of that of ``standard_normal``."""
    n_draws = min(CHUNK, max(1, VALUES // dim))
    rounds = max(1, VALUES // (n_draws * dim))
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    found = []
    for _ in range(REPEATS):
        raw = timed(lambda: [rng.standard_normal((n_draws, dim)) for _ in range(rounds)], time.process_time)[1]
        ours = timed(lambda: [draw(n_draws, rng) for _ in range(rounds)], time.process_time)[1]
        found.append(raw / ours)
    return statistics.median(found)


def main() -> None:
    print(
        " dim",
        *(f"{name:>19s}" for name in ("isotropic shift", "isotropic output", "dense output", "posterior sampling")),
    )
    for dim in DIMS:
        data_rng = np.random.default_rng(1)
        X = data_rng.normal(size=(4 * dim + 5, dim))
        X /= np.linalg.norm(X, axis=1).max()
        data = Dataset(X, np.clip(X.sum(axis=1), -1.0, 1.0), 1.0, 1.0, public=True)
        dense = X.T @ X + np.eye(dim)
        flat, scaled = GaussianOutput.isotropic(2.0, dim), GaussianOutput(0.5 * (dense + dense.T), 3.0, RidgeMap(1.0))
        posterior, mean, scale = PosteriorSampling(3.0, 1.0), np.zeros(dim), np.full(dim, 2.0)
        speeds = (
            ratio(lambda n, rng, mean=mean, scale=scale: draw_shifted(mean, scale, n, rng), dim),
            ratio(lambda n, rng, m=flat, data=data: m.draw(data, n, rng=rng), dim),
            ratio(lambda n, rng, m=scaled, data=data: m.draw(data, n, rng=rng), dim),
            ratio(lambda n, rng, m=posterior, data=data: m.draw(data, n, rng=rng), dim),
        )
        print(f"{dim:4d}", *(f"{speed:19.2f}" for speed in speeds), flush=True)


if __name__ == "__main__":
    main()
