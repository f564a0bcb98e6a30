"""RW21, Theorem 17: costs by hand, coverage by scipy's normal law, norms of named matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_17 import STATEMENT


@pytest.mark.parametrize("part", [".1", ".3"])
def test_cost_by_hand(part: str) -> None:
    """||H||_F = 2, sigma_3 = 1, delta = e^-2: 1 + 2 * 2/sqrt 2; mu = sqrt 2."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    epsilon = 1 + 2 * math.sqrt(2.0)
    assert claimed(STATEMENT, part, "printed", at) == pytest.approx(epsilon)
    assert claimed(STATEMENT, part, "epsilon cut by 5 %", at) == pytest.approx(0.95 * epsilon)
    assert claimed(STATEMENT, part, "norm of the strict upper triangle", at) == pytest.approx(0.5 + 2.0)
    mu = math.sqrt(2.0)
    truth = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert exact_value(STATEMENT, part, "printed", at) == pytest.approx(truth, rel=1e-9)


def test_classical_release_by_hand() -> None:
    """beta = 2, sigma = 1, delta = e^-2: 2 + 2 * 2; its noise over sqrt 2 halves nothing on the diagonal."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    assert claimed(STATEMENT, ".4", "printed", at) == pytest.approx(6.0)
    assert claimed(STATEMENT, ".4", "epsilon cut by 5 %", at) == pytest.approx(5.7)
    assert claimed(STATEMENT, ".4", "the formula of the GOE release", at) == pytest.approx(1 + 2 * math.sqrt(2.0))
    for what, ratio in (("diagonal variance", 1.0), ("off-diagonal variance", 0.5), ("epsilon", 1.0)):
        assert exact_value(STATEMENT, ".4", "printed", at | {"compare": what}) == pytest.approx(ratio, abs=1e-12)


@pytest.mark.parametrize("delta", [0.5, 1e-3])
def test_ex_post_coverage(delta: float) -> None:
    """mu = 1: P(|L| <= 1/2 + sqrt(2 log(1/delta))), L ~ N(1/2, 1)."""
    full = 0.5 + math.sqrt(2 * math.log(1 / delta))
    for version, epsilon, level in (
        ("printed", full, 1 - 2 * delta),
        ("failure at most 0.9 delta", full, 1 - 0.9 * delta),
        ("epsilon cut by 10 %", 0.9 * full, 1 - 2 * delta),
    ):
        found = decide(STATEMENT, ".2", version, {"norm": math.sqrt(2.0), "sigma": 1.0, "delta": delta})
        assert found.exact is not None
        assert found.exact.value == pytest.approx(norm.cdf(epsilon - 0.5) - norm.cdf(-epsilon - 0.5), abs=1e-12)
        assert found.claim.low == pytest.approx(level)


@pytest.mark.parametrize("shape", ["full", "diagonal", "rank one"])
@pytest.mark.parametrize("dim", [1, 3])
def test_norms_of_triangles(shape: str, dim: int) -> None:
    raw = np.random.Generator(np.random.PCG64DXSM(dim)).integers(-64, 65, size=(dim, dim)).astype(float)
    H = np.triu(raw) + np.triu(raw, 1).T
    H = np.diag(np.diag(H)) if shape == "diagonal" else np.outer(raw[0], raw[0]) if shape == "rank one" else H
    scaled = np.concatenate([np.diag(H) / math.sqrt(2.0), H[np.triu_indices(dim, 1)]])
    at, whole = {"dim": dim, "shape": shape}, np.linalg.norm(H) ** 2
    assert scaled @ scaled / whole == pytest.approx(0.5)
    assert exact_value(STATEMENT, ".5", "printed", at) == 0.5
    plain = H[np.triu_indices(dim)]
    for part, version, more in ((".5", "diagonal not divided", {}), (".4", "printed", {"compare": "sensitivity"})):
        assert exact_value(STATEMENT, part, version, at | more) == pytest.approx(plain @ plain / whole)
