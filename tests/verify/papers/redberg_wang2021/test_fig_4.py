"""RW21, Figure 4: both bounds record by record with the literal twin, and the factor of two medians."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.reports import algorithm_2
from scipy.stats import binom

from mechanisms.data.synthetic import sphere_labels
from mechanisms.releases.report_terms import Releases, corrected_terms
from verify.papers.redberg_wang2021.fig_4 import STATEMENT
from verify.papers.redberg_wang2021.figures.rw21_worst_case import bounds, run, scales
from verify.papers.redberg_wang2021.shared.worst_cases import median_interval


def test_bounds_of_every_record() -> None:
    rng = np.random.default_rng(4)
    dataset, chosen = sphere_labels(12, 3, temperature=1.0, rng=rng).dataset, scales(3)
    theta, noise = rng.standard_normal(3), rng.standard_normal((3, 3))
    H = chosen.lam * np.eye(3) + 0.1 * (noise + noise.T)
    released = Releases(theta[None], 5.0 * rng.standard_normal((1, 3)), H[None])
    both = bounds(chosen, released, dataset)
    given = {"sigma": chosen.sigma, "lam": chosen.lam, "rho": chosen.failure_prob, "sigma2": chosen.sigma2}
    for i, (x, y) in enumerate(zip(dataset.X, dataset.y, strict=True)):
        slope = -y / (1 + math.exp(y * (x @ theta)))
        second = abs(slope) * (1 - abs(slope))
        free = algorithm_2(x, slope, second, **given)[2]
        tight = algorithm_2(x, slope, second, **given, g_hat=released.gradient[0], H_hat=H, corrected=True)[2]
        assert (both[0][i], both[1][i]) == pytest.approx((free, tight), rel=1e-12)


def test_factor_of_two_medians() -> None:
    """Noise that grows as sqrt(n) divides the bounds at n = 100 by (1/10)^(1/2): the same draws, sqrt(10) larger."""
    at = {"n": 100, "temperature": 0.0}
    flat, grown = (
        decide(STATEMENT, "", version, at | more, draws=44)
        for version, more in (("printed", {}), ("noise that grows as sqrt(n)", {"power": 0.5}))
    )
    assert flat.sampled is not None
    assert grown.sampled is not None
    root, factor = math.sqrt(10.0), flat.sampled.value  # of the worse bound, in either direction
    assert 1.0 < factor < 2.0
    assert root / factor <= grown.sampled.value * (1 + 1e-9)
    assert grown.sampled.value <= root * factor * (1 + 1e-9)
    assert (flat.claim.low, flat.claim.high) == (1.0, 2.0)


@pytest.mark.parametrize("dim", [1, 4])
def test_bounds_of_all_records_are_those_of_one_at_a_time(dim: int) -> None:
    chosen = scales(dim)
    mechanism, dataset, releases, _ = run(40, dim, 1.0, 0.0, np.random.default_rng(3))
    assert mechanism.lam == chosen.lam
    free, released = bounds(chosen, releases, dataset)
    alone, plain = replace(chosen, sigma2=None, sigma3=None), Releases(releases.theta)
    for i in range(dataset.n_records):
        x, y = dataset.X[i], float(dataset.y[i])
        assert free[i] == pytest.approx(corrected_terms(alone, plain, x, y).epsilon1_bar[0], rel=1e-12)
        assert released[i] == pytest.approx(corrected_terms(chosen, releases, x, y).epsilon1_bar[0], rel=1e-12)
    assert (released <= free * (1 + 1e-12)).all()


@pytest.mark.parametrize(("n", "failure_prob"), [(44, 1e-9), (100, 1e-6), (9, 0.1)])
def test_order_statistics_of_the_median(n: int, failure_prob: float) -> None:
    """The interval's ends are the order statistics whose binomial tail is at most half of the failure probability."""
    low, middle, high = median_interval(np.arange(n, dtype=float), failure_prob)
    assert binom.cdf(int(low), n, 0.5) <= failure_prob / 2 < binom.cdf(int(low) + 1, n, 0.5)
    assert (low + high, middle) == (n - 1.0, (n - 1) / 2)
    with pytest.raises(ValueError, match="must be more"):
        median_interval(np.arange(3.0), 1e-9)
