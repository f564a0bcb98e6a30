import numpy as np
import pytest

from mechanisms.coloured_noise import coloured


@pytest.mark.parametrize("dim", [1, 2, 7, 40])
@pytest.mark.parametrize("dense", [True, False])
def test_against_an_explicit_inverse(dim: int, dense: bool) -> None:
    """theta = centre + F^{-T} z / sqrt(gamma), row by row; relative rounding 1e-12."""
    rng = np.random.default_rng(dim)
    matrix = rng.normal(size=(dim, dim)) if dense else np.diag(rng.uniform(1, 2, dim))
    factor = np.linalg.cholesky(matrix @ matrix.T + np.eye(dim))
    centre, noise = rng.normal(size=dim), rng.normal(size=(50, dim))
    expected = np.array([centre + np.linalg.inv(factor).T @ z / np.sqrt(3.0) for z in noise])
    found = coloured(centre, factor, 3.0, noise.copy())
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
