"""The scales of W18's section 2, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechanisms.data.dataset import Dataset
from mechanisms.linear.regression_scales import RegressionDomain, lipschitz, normalised_eigenvalue, ridge_objective


def test_ridge_solution_minimises_the_half_penalty_only() -> None:
    """X = [1], y = 1, lam = 1: theta = 1/2; gradients 0 with the half, 1/2 without."""
    data = Dataset(np.ones((1, 1)), np.ones(1), 1.0, 1.0)
    step = 1e-4

    def slope(half: bool) -> float:
        up, down = (ridge_objective(data, np.array([0.5 + s]), 1.0, half=half) for s in (step, -step))
        return (up - down) / (2 * step)

    assert slope(True) == pytest.approx(0.0, abs=1e-9)
    assert slope(False) == pytest.approx(0.5, abs=1e-9)


def test_normalised_eigenvalue_of_an_orthogonal_design_is_one() -> None:
    assert normalised_eigenvalue(Dataset(2.0 * np.eye(3), np.zeros(3), 2.0, 1.0)) == pytest.approx(1.0)
    assert normalised_eigenvalue(Dataset(np.eye(3)[:2], np.zeros(2), 1.0, 1.0)) == 0.0
    with pytest.raises(ValueError, match="n_records must be at least 1"):
        normalised_eigenvalue(Dataset(np.zeros((0, 2)), np.zeros(0), 1.0, 1.0))


def test_domain_admits_by_conditioning() -> None:
    data = Dataset(np.diag([1.0, 0.5]), np.zeros(2), 1.0, 1.0)  # smallest eigenvalue 1/4, alpha = 1/4
    assert RegressionDomain(1.0, 1.0, alpha=0.2).admits(data)
    assert not RegressionDomain(1.0, 1.0, alpha=0.3).admits(data)
    assert not RegressionDomain(0.5, 1.0).admits(data)
    assert RegressionDomain(2.0, 3.0, radius=5.0).lipschitz == lipschitz(2.0, 3.0, 5.0) == 26.0
    assert math.isinf(RegressionDomain(1.0, 1.0).lipschitz)
    with pytest.raises(ValueError, match="alpha must be in"):
        RegressionDomain(1.0, 1.0, alpha=1.0)
