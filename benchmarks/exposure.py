"""Who is most exposed: time for all records at once, beside one pair at a time. ``python benchmarks/exposure.py``.

Exact: one-posterior sampling, 100,000 records. Sampled: logistic objective perturbation, 1,000 records, 10,000 draws
from the data set shared by all of them; "one pair at a time" is timed on a few records and multiplied. One BLAS thread.
"""

from __future__ import annotations

import time

import numpy as np
from threadpoolctl import threadpool_limits

from audits import Budget, StreamKey, exposure
from audits.white_box import likelihood_ratio_attack
from mechanisms import BOTH, Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation, PosteriorSampling
from mechanisms.data.synthetic import linear_unit_rows

KEY = StreamKey(20261121, ("benchmark", "exposure"))
FEW = 4


def labels(n: int, dim: int) -> Dataset:
    """Logistic labels; norms from 0.2 to 1, so that records differ."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, dim))
    X *= (rng.uniform(0.2, 1.0, n) / np.linalg.norm(X, axis=1))[:, None]
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * X @ rng.normal(size=dim))), 1.0, -1.0)
    return Dataset(X, y, 1.0, 1.0, name="benchmark", public=True)


def exact() -> None:
    data = linear_unit_rows(100_000, 50, noise_sd=0.5, rng=np.random.default_rng(1)).dataset
    mechanism = PosteriorSampling(1.0, 1.0)
    start = time.perf_counter()
    found = exposure(mechanism, data, Budget(1, 1e-6, KEY), delta=1e-6)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    for index in range(FEW):
        profile = mechanism.profile(NeighbouringPair.remove(data, index))
        _ = profile.delta_at(0.0, BOTH[0]), [profile.epsilon_at(1e-6, d) for d in BOTH]
    each = (time.perf_counter() - start) / FEW
    print(
        f"exact, 100,000 records, dim 50: {whole:.2f} s; one pair at a time {each * 1e5:.0f} s; "
        f"most exposed {found.epsilon.candidates.tolist()}, epsilon {found.epsilon.value.max():.4g} "
        f"(median {np.median(found.epsilon.value):.4g})"
    )


def sampled() -> None:
    data, mechanism, n_draws = labels(1000, 10), ObjectivePerturbation(LogisticLoss(), 2.0, 1.0), 10_000
    start = time.perf_counter()
    found = exposure(mechanism, data, Budget(n_draws, 1e-4, KEY), delta=0.01)
    whole = time.perf_counter() - start
    start = time.perf_counter()
    for index in range(FEW):
        likelihood_ratio_attack(mechanism, NeighbouringPair.remove(data, index), Budget(n_draws, 1e-4, KEY))
    each = (time.perf_counter() - start) / FEW
    top = found.advantage.ranking[0]
    advantage = [float(end[top]) for end in (found.advantage.low, found.advantage.value, found.advantage.high)]
    print(
        f"sampled, 1,000 records, dim 10, 10,000 draws: {whole:.1f} s; one attack at a time {each * 1e3:.0f} s; "
        f"candidates for the most exposed: {found.advantage.candidates.size} by advantage, "
        f"{found.drawn_with.candidates.size} by epsilon at 0.01; largest advantage {advantage[1]:.4f} "
        f"in [{advantage[0]:.4f}, {advantage[2]:.4f}], all 1,000 at once"
    )


if __name__ == "__main__":
    with threadpool_limits(1):
        exact()
        sampled()
