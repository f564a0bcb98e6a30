"""RW21, Figure 2: the 0-1 loss at a few draws of the noise by another minimiser."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide
from scipy.optimize import minimize

from audits import StreamKey
from verify.figures.figure_page import stream
from verify.papers.redberg_wang2021.fig_2 import STATEMENT
from verify.papers.redberg_wang2021.figures.rw21_fig_2 import data, lambda_0


def test_mean_change_of_the_loss() -> None:
    """epsilon = 1, c = 100: lambda = 50 against 1/2, the same five draws of the noise."""
    found = decide(STATEMENT, "", "printed", {"epsilon": 1.0, "other epsilon": 1.0, "c": 100.0, "data": 1}, draws=5)
    dataset = data(stream(1, "RW21-F2"))
    sigma = math.sqrt(8 * math.log(2e6) + 4)
    noise = sigma * StreamKey(1).child("noise").rng().standard_normal((5, 50))

    def zero_one(lam: float, b: np.ndarray) -> float:
        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            margin = dataset.y * (dataset.X @ theta)
            value = np.logaddexp(0, -margin).sum() + lam * theta @ theta / 2 + b @ theta
            return value, -dataset.X.T @ (dataset.y / (1 + np.exp(margin))) + lam * theta + b

        theta = minimize(objective, np.zeros(50), jac=True, method="L-BFGS-B", options={"gtol": 1e-7, "ftol": 0}).x
        return float((dataset.y * (dataset.X @ theta) <= 0).mean())

    moved = np.array([zero_one(50.0, b) - zero_one(0.5, b) for b in noise])
    assert found.notes["mean change"] == pytest.approx(moved.mean(), abs=1e-3)
    assert found.notes["largest"] == pytest.approx(np.abs(moved).max(), abs=2e-3)
    assert found.sampled is not None
    assert found.sampled.value == (np.abs(moved) <= 0.05).mean()
    assert found.claim.low == 0.8


def test_least_lambda_is_the_papers() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        assert lambda_0(epsilon) == pytest.approx(1 / (2 * epsilon), rel=1e-12)
