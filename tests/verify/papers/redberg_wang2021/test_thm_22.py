"""RW21, Theorem 22: the loss at an outcome from normal log densities; the printed bound by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_22 import STATEMENT


def test_smallest_counterexample() -> None:
    """Nothing changes, the bound is 1, o = Q(D), sigma = 1: the loss is 0 and the formula gives 1/2."""
    assert claimed(STATEMENT, "", "printed", {}) == 0.5
    assert exact_value(STATEMENT, "", "printed", {}) == 0.5
    assert exact_value(STATEMENT, "", "corrected", {}) == 0.0


@pytest.mark.parametrize(("dim", "seed", "variance"), [(1, 2, 9), (3, 9, 4)])
def test_against_normal_densities(dim: int, seed: int, variance: int) -> None:
    rng = np.random.Generator(np.random.PCG64DXSM([dim, seed]))
    q, change, outcome = (rng.integers(-40, 41, dim) / 8 for _ in range(3))
    at = {"dim": dim, "seed": seed, "sigma^2": variance}
    scale = variance**0.5
    ratio = (norm.logpdf(outcome, q, scale) - norm.logpdf(outcome, q + change, scale)).sum()
    square, inner = change @ change / (2 * variance), change @ (outcome - q) / variance
    longer = np.abs(change) + 1
    for version, expected in {
        "corrected": abs(ratio),
        "change taken backwards": abs(square + inner),
        "no half": abs(2 * square - inner),
        "scaled by 1.01": 1.01 * abs(ratio),
        "printed": abs(longer @ longer / (2 * variance) - longer @ (outcome - q) / variance),
    }.items():
        found = decide(STATEMENT, "", version, at)
        assert found.notes["loss"] == pytest.approx(abs(ratio), rel=1e-10)
        assert found.claim.published == pytest.approx(expected, rel=1e-10)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(expected - abs(ratio), abs=1e-10)
    assert Fraction(exact_value(STATEMENT, "", "corrected", at)) == 0
