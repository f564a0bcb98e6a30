from fractions import Fraction

import numpy as np
import pytest

from mechanisms.numerics.spectra import coloured


@pytest.mark.parametrize("n_draws", [1, 50])
@pytest.mark.parametrize("dim", [1, 2, 7, 40])
@pytest.mark.parametrize("dense", [True, False])
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


@pytest.mark.parametrize("n_draws", [3, 100])
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
