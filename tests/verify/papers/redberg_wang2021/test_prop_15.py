"""RW21, Proposition 15: the report for one user and for all x of a grid, draw by draw with the literal twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.reports import algorithm_2
from scipy.stats import norm

from verify.papers.redberg_wang2021.prop_15 import STATEMENT

N = 1_500


def one_user(version: str, p: dict[str, float]) -> float:
    """Return how often both inequalities hold: D = {(1, 1)}, squared loss, the record removed."""
    rng, hits, z = np.random.default_rng(15), 0, norm.isf(p["rho"] / 2)
    sigma, s2, s3, lam = p["sigma"], p["sigma_2"], p["sigma_3"], p["lam"]
    for _ in range(N):
        b = sigma * rng.standard_normal()
        theta = (1.0 - b) / (1.0 + lam)  # theta - 1 + lam theta + b = 0
        slope, gradient = theta - 1.0, -b
        terms = (-math.log(1.0 - 1.0 / (1.0 + lam)), slope**2 / (2 * sigma**2), -gradient * slope / sigma**2)
        released = np.array([[1.0 + lam + math.sqrt(2.0) * s3 * rng.standard_normal()]])
        _, _, bar = algorithm_2(
            np.ones(1), slope, 1.0, sigma=sigma, lam=lam, rho=p["rho"], sigma2=s2, sigma3=s3,
            g_hat=np.array([gradient + s2 * rng.standard_normal()]), H_hat=released, corrected=version != "printed",
        )  # fmt: skip
        loss = abs(sum(terms))
        if version == "corrected":
            upper = 12 * sum(map(abs, terms)) + 2 * min(sigma, s2) * abs(slope) * z / sigma**2
        else:
            extra = abs(slope) / s2 * math.sqrt(2 * math.log(1 / p["rho"]))
            upper = 12 * loss + (extra if version == "printed" else 0.0)
        hits += loss <= bar <= upper
    return hits / N


@pytest.mark.parametrize(
    ("version", "level", "scales"),
    [
        ("printed", 0.8, {"sigma": 4.0, "sigma_2": 0.4, "lam": 1e4}),
        ("printed", 0.8, {"sigma": 10.0, "sigma_2": 100.0, "lam": 1e4}),
        ("corrected", 0.7, {"sigma": 4.0, "sigma_2": 0.4, "lam": 1e4}),
        ("corrected", 0.7, {"sigma": 1.0, "sigma_2": 1.0, "lam": 2.2}),
    ],
)
def test_one_user(version: str, level: float, scales: dict[str, float]) -> None:
    p = {"n": 1, "rho": 0.1, "sigma_3": 0.02} | scales
    found = decide(STATEMENT, ".1", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(one_user(version, p), abs=0.035)
    assert found.claim.low == pytest.approx(level)


def test_quantile_of_n_users() -> None:
    """Large lambda and sigma_2: the bound is Gaussian, so each user's fails with rho/n, or with rho."""
    p = {"n": 5, "rho": 0.2, "sigma": 10.0, "sigma_2": 1e3, "sigma_3": 0.1, "lam": 1e6}
    for version, each in (("corrected", 0.2 / 5), ("margin of a single user", 0.2)):
        found = decide(STATEMENT, ".1", version, p, draws=20_000)
        # the slope is -1, so the loss is 1/(2 sigma^2) - b/sigma^2: inside for -z sigma <= b <= 1 + z sigma
        z = norm.isf(each / 2)
        inside = norm.cdf(z + 0.1) - norm.cdf(-z)
        assert found.notes["lower inequality"] == pytest.approx(inside**5, abs=0.015)


@pytest.mark.parametrize("version", ["printed", "corrected", "factor 1"])
def test_all_x_in_one_dimension(version: str) -> None:
    """No data, squared loss, every record (x, +-1) added: 40 sizes of x on both sides of 0."""
    p = {"rho": 0.1, "sigma": 1.0, "sigma_3": 0.1, "lam": 3.0}
    rng, hits, n = np.random.default_rng(4), 0, 300
    sizes = np.geomspace(1e-3, 1.0, 40)
    extra = math.sqrt(2.0 * math.log(20.0))
    for _ in range(n):
        b = rng.standard_normal()
        theta, H_hat = -b / 3.0, 3.0 + math.sqrt(2.0) * 0.1 * rng.standard_normal()
        good = True
        for x in (*sizes, *-sizes):
            for y in (-1.0, 1.0):
                g = (theta * x - y) * x
                first, second, third = math.log(1 + x * x / 3.0), g * g / 2, g * b
                loss = abs(-first + second - third)
                mu = min(1.5 * x * x / H_hat, x * x / 3.0)
                bar = -math.log(1 - mu) + second + abs(g) * extra
                size = loss if version == "printed" else first + second
                good &= loss <= bar <= (1.0 if version == "factor 1" else 12.0) * size + abs(g) * extra
        hits += good
    found = decide(STATEMENT, ".2", version, p, draws=4_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(hits / n, abs=0.1)
    if version == "corrected":
        assert found.exact is not None
        assert found.exact.low == pytest.approx(0.9 * math.erf(extra / math.sqrt(2.0)), rel=1e-6)
