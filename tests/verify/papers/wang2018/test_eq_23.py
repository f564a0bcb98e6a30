"""W18, (23): ridge estimates by hand on equal records, singular values by numpy on random ones."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide, holds

from verify.papers.wang2018.eq_23 import STATEMENT

ROOT = "root cut by 30 % (sharp: 1/sqrt(2))"


@pytest.mark.parametrize(("n", "lam"), [(1, 1.0), (2, 9.0), (9, 2.0**-20), (9, 2.0**20)])
def test_equal_records_at_both_bounds(n: int, lam: float) -> None:
    """n records (e_1, 1): theta = n/(n + lambda); bounds sqrt(n/(2 lambda)) and n/lambda, all squared."""
    case = {"n": n, "dim": 3, "seed": 0, "lam": lam}
    theta = n / (n + lam)
    for part, version, value, bound in (
        ("#root", "printed", theta**2, n / (2 * lam)),
        ("#root", ROOT, theta**2, 0.49 * n / (2 * lam)),
        ("#linear", "printed", theta**2, (n / lam) ** 2),
        ("#linear", "linear bound cut by 5 %", theta**2, (0.95 * n / lam) ** 2),
        # (theta + 1)^2 against (sqrt(n/(2 lambda)) + 1)^2: decided through theta^2 alone
        ("#Lipschitz", "printed", theta**2, n / (2 * lam)),
        ("#Lipschitz", "Lipschitz constant without its 1", theta**2 + 1, n / (2 * lam)),
    ):
        notes = decide(STATEMENT, part, version, case).notes
        assert (notes["value"], notes["bound"]) == pytest.approx((value, bound), rel=1e-12)
        if version == "printed":
            assert holds(STATEMENT, part, version, case)


def test_what_is_refuted() -> None:
    """lambda = n: theta = 1/2 = sqrt(n)/(2 sqrt(lambda)), so 0.7 of the root bound 0.707 is too little; and so on."""
    even = {"n": 1, "dim": 1, "seed": 0}
    assert not holds(STATEMENT, "#root", ROOT, {**even, "lam": 1.0})
    assert not holds(STATEMENT, "#linear", "linear bound cut by 5 %", {**even, "lam": 1024.0})
    assert not holds(STATEMENT, "#Lipschitz", "Lipschitz constant without its 1", {**even, "lam": 16.0})


@pytest.mark.parametrize(
    ("part", "version", "gap"),
    [
        ("#root", "printed", lambda v: 2**-0.5 - v / (1 + v**2)),
        ("#root", ROOT, lambda v: 0.7 * 2**-0.5 - v / (1 + v**2)),
        ("#linear", "printed", lambda v: 1 - 1 / (1 + v**2)),
    ],
)
def test_one_singular_value(part: str, version: str, gap: object) -> None:
    """The norm of (X^T X + lambda I)^-1 X^T is s/(s^2 + lambda), s = v sqrt(lambda), against 1/sqrt(2 lambda)."""
    assert callable(gap)
    evidence = decide(STATEMENT, part, version, {})
    assert evidence.exact is not None
    assert evidence.exact.high == pytest.approx(gap(float(str(evidence.found["v"]))), abs=1e-12)


def test_norm_of_the_smoother() -> None:
    """(23)'s first step, on random rows of length at most 1 and responses at most 1."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    for lam in (0.01, 1.0, 100.0):
        X, y = rng.standard_normal((7, 3)), rng.uniform(-1, 1, 7)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        smoother = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T)
        size = np.linalg.norm(smoother, 2)
        assert np.linalg.norm(smoother @ y) <= size * np.sqrt(7)
        assert size * np.sqrt(7) <= min(np.sqrt(7 / (2 * lam)), 7 / lam) + 1e-12


def test_random_data() -> None:
    for part in ("#root", "#linear", "#Lipschitz"):
        for seed in (3, 4):
            assert holds(STATEMENT, part, "printed", {"n": 5, "dim": 2, "seed": seed, "lam": 0.5})
