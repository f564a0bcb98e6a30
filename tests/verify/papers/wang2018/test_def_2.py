"""W18, section 2: the gradient of the ridge objective, the range of alpha and one record's slope, in floating point."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds

from verify.methods.rational import SHAPES, design
from verify.papers.wang2018.def_2 import STATEMENT


@pytest.mark.parametrize("lam", [1e-6, 1.0, 30.0])
@pytest.mark.parametrize(
    ("version", "weight"), [("printed", 1.0), ("corrected", 0.5), ("penalty 1 % heavier", 0.505), ("no penalty", 0.0)]
)
def test_ridge_objective_on_one_record(version: str, weight: float, lam: float) -> None:
    """Record (1, 1): derivative of (1 - t)^2/2 + weight lambda t^2 at t = 1/(1 + lambda); X^T y = 1."""
    slope = mpmath.diff(lambda t: (1 - t) ** 2 / 2 + weight * lam * t**2, 1 / (1 + mpmath.mpf(lam)))
    value = exact_value(STATEMENT, "#ridge", version, {"n": 1, "dim": 1, "X": "ones", "lam": lam})
    assert value == pytest.approx(abs(float(slope)), abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_ridge_solution_is_the_minimiser_of_half_the_penalty(shape: str) -> None:
    assert holds(STATEMENT, "#ridge", "corrected", {"n": 5, "dim": 2, "X": shape, "lam": 0.25})


@pytest.mark.parametrize("shape", SHAPES)
def test_alpha(shape: str) -> None:
    """lambda_min d/(n max |x_i|^2), by numpy's eigenvalues."""
    X = np.array([[float(e.p) / float(e.q) for e in row] for row in design(shape, 12, 2, 18).tolist()])
    want = np.linalg.svd(X, compute_uv=False)[-1] ** 2 * 2 / (12 * (X**2).sum(axis=1).max())
    case = {"n": 12, "dim": 2, "X": shape}
    assert exact_value(STATEMENT, "#alpha", "printed", case) == pytest.approx(want, rel=1e-6, abs=1e-16)
    assert holds(STATEMENT, "#alpha", "printed", case)


def test_alpha_at_its_edges() -> None:
    """The identity: every eigenvalue 1, so alpha = d/n = 1, d without the d over n; fewer records than features: 0."""
    identity = {"n": 4, "dim": 4, "X": "identity"}
    assert exact_value(STATEMENT, "#alpha", "printed", identity) == pytest.approx(1.0)
    assert exact_value(STATEMENT, "#alpha", "no dimension", identity) == pytest.approx(4.0)
    assert exact_value(STATEMENT, "#alpha", "a tenth larger", identity) == pytest.approx(1.1)
    assert exact_value(STATEMENT, "#alpha", "printed", {"n": 3, "dim": 4, "X": "generic"}) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("n", "B", "Y", "radius"), [(1, 1.0, 1.0, 1.0), (2, 0.5, 3.0, 2.0), (7, 50.0, 0.5, 0.01)])
def test_lipschitz_constant(n: int, B: float, Y: float, radius: float) -> None:
    """Slope of sum (Y - B t)^2/2 at t = -radius, against B^2 radius + B Y: n times it for F, once for one record."""
    slope = abs(float(mpmath.diff(lambda t: (Y - B * t) ** 2 / 2, -radius)))
    constant = B**2 * radius + B * Y
    params = {"n": n, "B": B, "Y": Y, "radius": radius}
    for version, value, bound in (
        ("printed", n * slope, constant),
        ("corrected", slope, constant),
        ("constant cut by 10 %", slope, 0.9 * constant),
        ("no responses", slope, B**2 * radius),
    ):
        notes = decide(STATEMENT, "#lipschitz", version, params).notes
        assert (notes["value"], notes["bound"]) == pytest.approx((value, bound), rel=1e-9)
