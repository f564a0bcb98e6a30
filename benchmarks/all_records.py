"""Speed of the all-records quantities, as ratios to solving for every record at once.

Run with ``python benchmarks/all_records.py``. One BLAS thread; medians of interleaved repetitions.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

import numpy as np
from running import options, timed
from threadpoolctl import threadpool_limits

from mechanisms.data.dataset import Dataset
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.records.leverage import all_records_epsilon, record_quantities

DELTA, GAMMA, LAM = 1e-6, 1.0, 1.0


def baseline(dataset: Dataset) -> np.ndarray:
    """Form the matrix and solve once for all right-hand sides: the plain way to all leverages."""
    return np.linalg.solve(dataset.X.T @ dataset.X + LAM * np.eye(dataset.dim), dataset.X.T)


def main() -> None:
    asked = options(__doc__, records=100_000, dim=50, repetitions=7)
    dataset = linear_unit_rows(asked.records, asked.dim, noise_sd=0.5, rng=np.random.default_rng(1)).dataset
    tasks: dict[str, Callable[[], object]] = {
        "baseline": lambda: baseline(dataset),
        "leverages and residuals": lambda: record_quantities(dataset, LAM),
        "exact epsilon, both directions": lambda: all_records_epsilon(dataset, gamma=GAMMA, lam=LAM, delta=DELTA),
    }
    times: dict[str, list[float]] = {name: [] for name in tasks}
    with threadpool_limits(1):
        for task in tasks.values():
            task()
        for _ in range(asked.repetitions):
            for name, task in tasks.items():
                times[name].append(timed(task)[1])
    print(f"n={asked.records} dim={asked.dim} delta={DELTA:g}, medians of {asked.repetitions}, one BLAS thread")
    reference = median(times["baseline"])
    for name, values in times.items():
        print(f"{name:32s} {1e3 * median(values):9.1f} ms   {median(values) / reference:6.2f} x baseline")


if __name__ == "__main__":
    main()
