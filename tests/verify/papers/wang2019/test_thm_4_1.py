"""W19, Theorem 4.1: (4.3) and (4.4) retyped from the text, on ridge regressions with and without a record."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value
from oracles.mechanisms.profiles import quadratic_delta

from verify.papers.wang2019.thm_4_1 import STATEMENT


def ridge(seed: int, gamma: float, delta: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the point of the statement, and every right-hand side from the two data sets themselves."""
    rng = np.random.default_rng(seed)
    X, y, x, target, lam = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3), rng.normal() * 3, 0.5
    both, responses = np.vstack([X, x]), np.append(y, target)
    H, joined = X.T @ X + lam * np.eye(3), both.T @ both + lam * np.eye(3)
    mu, inside = x @ np.linalg.solve(H, x), x @ np.linalg.solve(joined, x)
    r = target - x @ np.linalg.solve(H, X.T @ y)
    r1 = target - x @ np.linalg.solve(joined, both.T @ responses)
    log = math.log(2 / delta)
    sides = {
        "#4.3 printed": 0.5 * abs(-math.log(1 + mu) + gamma * mu / (1 + mu) * r**2)
        + mu / 2 * log
        + math.sqrt(gamma * mu * log) * abs(r),
        "#4.4 printed": 0.5 * abs(-math.log(1 - inside) - gamma * inside / (1 - inside) * r1**2)
        + inside / 2 * log
        + math.sqrt(gamma * inside * log) * abs(r1),
        "#4.3 corrected": 0.5 * abs(-math.log(1 + mu) + gamma * mu / (1 + mu) * r**2)
        + mu * log
        + math.sqrt(2 * gamma * mu * log) * abs(r),
        "#4.4 corrected": 0.5 * abs(math.log(1 - inside) + gamma * inside / (1 - inside) ** 2 * r1**2)
        + inside / (1 - inside) * log
        + math.sqrt(2 * gamma * inside * log) / (1 - inside) ** 1.5 * abs(r1),
    }
    return {"leverage": mu, "residual": math.sqrt(gamma) * abs(r), "delta": delta}, sides


@pytest.mark.parametrize("seed", range(4))
def test_right_hand_sides_on_data(seed: int) -> None:
    point, sides = ridge(seed, 1.7, 1e-4)
    for name, value in sides.items():
        part, version = name.split()
        assert claimed(STATEMENT, part, version, point) == pytest.approx(value, rel=1e-10)
    for version in ("printed", "corrected"):
        gap = sides[f"#4.4 {version}"] / sides[f"#4.3 {version}"] - 1
        assert exact_value(STATEMENT, "#=", version, point) == pytest.approx(gap, abs=1e-10)


def test_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: |2 - log 2|/2 + 1/2 + 2 as printed, + 1 + 2 sqrt 2 corrected."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    centre = 0.5 * (2.0 - math.log(2.0))
    assert claimed(STATEMENT, "#4.3", "printed", point) == pytest.approx(centre + 0.5 + 2.0)
    assert claimed(STATEMENT, "#4.3", "corrected", point) == pytest.approx(centre + 1.0 + 2.0 * math.sqrt(2.0))
    # sign of the logarithm: (|log 2 + 2| - |log 2 - 2|)/2 = log 2 more
    gap = math.log(2.0) / (centre + 1.0 + 2.0 * math.sqrt(2.0))
    assert exact_value(STATEMENT, "#=", "sign of the logarithm", point) == pytest.approx(gap)


@settings(max_examples=50)
@given(st.floats(1e-6, 1e4), st.floats(0.0, 1e3), st.floats(1e-9, 0.99))
def test_corrected_sides_agree(leverage: float, residual: float, delta: float) -> None:
    point = {"leverage": leverage, "residual": residual, "delta": delta}
    left, right = (claimed(STATEMENT, part, "corrected", point) for part in ("#4.3", "#4.4"))
    assert left == pytest.approx(right, rel=1e-9)


def test_exact_delta_from_its_definition() -> None:
    found = decide(STATEMENT, "#4.3", "printed", {"leverage": 1.0, "residual": 2.0, "delta": 1e-3})
    epsilon = found.claim.published
    worse = max(quadratic_delta(epsilon, 1.0, 2.0, backward=side) for side in (False, True))
    assert found.exact is not None
    assert found.exact.value == pytest.approx(worse, rel=1e-8)
