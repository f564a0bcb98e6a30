"""Random-matrix audits: they cover the exact probabilities, refute nearby wrong ones, and refuse bad input."""

import math

import numpy as np
import pytest
from rows import for_each

from audits.estimate import Budget, StreamKey
from audits.white_box.random_matrix import (
    BATCH_FLOATS,
    goe_norm_coverage,
    goe_norm_exact,
    sandwich_coverage,
    sandwich_exact,
)
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, goe_tau

UNIT, HALF = Normalisation.UNIT_OFF_DIAGONAL, Normalisation.HALF_OFF_DIAGONAL


def budget(n_draws, *names):
    return Budget(n_draws, 1e-7, StreamKey(711, ("random matrix", *names)))


@pytest.mark.parametrize(("dim", "n_draws"), [(1, 40000), (2, 40000), (5, 40000), (30, 4000)])
def test_norm_coverage_agrees_with_the_exact_law_and_refutes_the_other_normalisation(dim, n_draws):
    """Null: P(||A|| <= tau) is the exact one; level 1e-7 an interval (Clopper-Pearson)."""
    tau = goe_tau(dim, 0.1)
    exact = goe_norm_exact(dim, tau, UNIT)
    assert exact.exact
    assert 1 - exact.value == pytest.approx(GoeLaw(dim, Extreme.SPECTRAL_NORM, UNIT).sf(tau), rel=1e-10)
    sampled = goe_norm_coverage(dim, tau, UNIT, budget(n_draws, f"norm {dim}"))
    assert sampled.low <= exact.low <= exact.high <= sampled.high
    assert goe_norm_coverage(dim, tau / math.sqrt(2), UNIT, budget(n_draws, f"half {dim}")).high < 0.9
    assert goe_norm_exact(dim, tau, HALF).low > 0.9


@for_each("dim", [1, 4])
def test_sandwich_for_a_multiple_of_the_identity(dim):
    """Null: the exact coverage for H = lambda_min I, which is the least over all H; level 1e-7 an interval."""
    sigma, rho = 0.7, 0.2
    lambda_min = 2 * sigma * goe_tau(dim, rho)
    exact = sandwich_exact(dim, lambda_min, sigma)
    assert 1 - rho - 1e-9 <= exact.low
    sampled = sandwich_coverage(lambda_min * np.eye(dim), sigma, budget=budget(30000, f"identity {dim}"))
    assert sampled.low <= exact.low <= exact.high <= sampled.high
    spread = np.diag(lambda_min * np.geomspace(1, 100, dim))
    assert sandwich_coverage(spread, sigma, budget=budget(30000, f"spread {dim}")).high >= exact.low
    short = sandwich_coverage(0.9 * lambda_min * np.eye(dim), sigma, budget=budget(30000, f"short {dim}"))
    assert short.high < 1 - rho  # ten per cent below the condition is refuted


def test_sandwich_is_decided_by_the_order_of_the_inverses():
    """The eigenvalue event equals the printed inequality for the inverses over the worst directions."""
    rng = np.random.default_rng(3)
    B = rng.standard_normal((4, 4))
    H = B @ B.T + 4 * np.eye(4)
    K = H + 0.9 * (B + B.T)
    L = np.linalg.cholesky(H)
    relative = np.linalg.eigvalsh(np.linalg.solve(L, np.linalg.solve(L, K).T))
    assert relative[0] > 0
    lower, upper = relative[0], relative[-1]
    inverse_gap_low = np.linalg.eigvalsh(np.linalg.inv(H) - lower * np.linalg.inv(K))
    inverse_gap_high = np.linalg.eigvalsh(upper * np.linalg.inv(K) - np.linalg.inv(H))
    assert inverse_gap_low[0] == pytest.approx(0, abs=1e-12)
    assert inverse_gap_high[0] == pytest.approx(0, abs=1e-12)


def test_more_than_one_batch_and_reproducibility():
    dim = 60
    n_draws = BATCH_FLOATS // dim**2 + 7
    first, second = (goe_norm_coverage(dim, 15.4, UNIT, budget(n_draws, "batches")) for _ in range(2))
    assert first == second
    assert first.n_draws == n_draws


@for_each(
    ("H", "kwargs", "message"),
    [
        (np.eye(2), {"sigma": 0.0}, "sigma must be"),
        (np.eye(2), {"sigma": math.nan}, "sigma must be"),
        (np.eye(2), {"sigma": 1.0, "lower": 0.0}, "lower must be"),
        (np.eye(2), {"sigma": 1.0, "lower": 2.0}, "lower must be"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), {"sigma": 1.0}, "H must be"),
        (-np.eye(2), {"sigma": 1.0}, "H must be positive definite"),
        (np.full((2, 2), np.nan), {"sigma": 1.0}, "H must be"),
    ],
)
def test_refusals(H, kwargs, message):
    with pytest.raises(ValueError, match=message):
        sandwich_coverage(H, budget=budget(10), **kwargs)
