"""Mills ratios, gaps and intervals of the normal law against ball arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from rows import for_each

from mechanisms.numerics.mills import gap_integral, log_gap, log_interval, log_mills
from mechanisms.numerics.spectra import coloured


def phi(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def ndtr(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


@for_each("t", [-1e100, -1e8, -300.0, -37.0, -5.0, -1e-9, 0.0, 1e-9, 0.5, 5.0, 37.0, 40.0, 300.0])
def test_log_mills(t: float) -> None:
    with ctx.workprec(4000):
        exact = -arb(-t).log() if t < -1e7 else (ndtr(arb(t)) / phi(arb(t))).log()
        assert float(log_mills(t)) == pytest.approx(float(exact), rel=1e-14, abs=1e-14)


GAPS = [
    (-5.0, 1e-9, 0.0),
    (-5.0, 1e-9, 1e-7),
    (-0.1, 1e-3, 1e-3),
    (2.0, 1e-4, 0.0),
    (-30.0, 0.5, 3.0),
    (1.0, 3.0, 0.5),
    (-1000.0, 2.0, 1e4),
    (8.0, 9.0, 0.0),
]


@for_each(("u", "slope", "curve"), GAPS)
def test_log_gap(u: float, slope: float, curve: float) -> None:
    with ctx.workprec(8000):
        v, k, scale = arb(u), arb(slope), 1 / (1 + arb(curve)).sqrt()
        other = scale * (v - k)
        exact = (ndtr(v) - phi(v) * scale * ndtr(other) / phi(other)).log()
        assert float(log_gap(u, slope, curve)) == pytest.approx(float(exact), rel=1e-15, abs=1e-13)


def test_gap_of_nothing_is_minus_infinity() -> None:
    assert log_gap(0.3, 0.0) == -math.inf


def test_gap_integral_in_chunks_agrees_with_one_at_a_time() -> None:
    rng = np.random.default_rng(0)
    u, slope, curve = rng.uniform(-8, 1, 700), rng.uniform(0, 1e-2, 700), rng.uniform(0, 1e-2, 700)
    whole = gap_integral(u, slope, curve, 2.0)
    for i in (0, 255, 256, 699):
        alone = gap_integral(u[i : i + 1], slope[i : i + 1], curve[i : i + 1], 2.0)
        assert whole[i] == pytest.approx(alone[0], rel=1e-13)


@for_each(("v", "span"), [(-5.0, 1e-9), (0.0, 1e-4), (1.5, 0.01), (-40.0, 3.0), (3.0, 6.0), (2.0, 1e3)])
def test_log_interval(v: float, span: float) -> None:
    with ctx.workprec(4000):
        exact = float((ndtr(arb(v)) - ndtr(arb(v) - arb(span))).log())
        assert float(log_interval(v, span)) == pytest.approx(exact, rel=1e-15, abs=1e-13)


def test_interval_limits() -> None:
    assert log_interval(0.0, math.inf) == pytest.approx(math.log(0.5))
    assert log_interval(0.0, 0.0) == -math.inf


@for_each("n_draws", [1, 50])
@for_each("dim", [1, 2, 7, 40])
@for_each("dense", [True, False])
def test_against_an_explicit_inverse(dim: int, dense: bool, n_draws: int) -> None:
    """theta = centre + F^{-T} z / sqrt(gamma), row by row; relative rounding 1e-12."""
    rng = np.random.default_rng(dim)
    matrix = rng.normal(size=(dim, dim)) if dense else np.diag(rng.uniform(1, 2, dim))
    factor = np.linalg.cholesky(matrix @ matrix.T + np.eye(dim))
    centre, noise = rng.normal(size=dim), rng.normal(size=(n_draws, dim))
    expected = np.array([centre + np.linalg.inv(factor).T @ z / np.sqrt(3.0) for z in noise])
    found = coloured(centre, factor, 3.0, noise.copy())
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


@for_each("n_draws", [3, 100])
def test_a_nearly_singular_precision_loses_no_more_than_its_condition(n_draws: int) -> None:
    """F of condition 1e8: both ways agree with rational arithmetic to 1e-6 of the largest entry."""
    dim, rng = 6, np.random.default_rng(5)
    factor = np.tril(rng.normal(size=(dim, dim)), -1) + np.diag(10.0 ** -np.linspace(0, 8, dim))
    noise = rng.normal(size=(n_draws, dim))
    found = coloured(np.zeros(dim), factor, 1.0, noise.copy())
    for row, z in zip(found, noise, strict=True):
        exact = solved(factor, z)
        assert np.abs(row - exact).max() <= 1e-6 * np.abs(exact).max()


def solved(factor: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Solve F^T v = z in rational arithmetic."""
    value = [Fraction(0)] * len(z)
    for i in reversed(range(len(z))):
        rest = sum((Fraction(factor[j, i]) * value[j] for j in range(i + 1, len(z))), Fraction(0))
        value[i] = (Fraction(z[i]) - rest) / Fraction(factor[i, i])
    return np.array([float(v) for v in value])
