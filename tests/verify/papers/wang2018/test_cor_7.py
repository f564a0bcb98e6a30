"""W18, Corollary 7: its displays on scalar data worked out by hand, and on one 2x2 design by floating point."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds

from verify.kernel.statement import Value
from verify.papers.wang2018.cor_7 import STATEMENT


def named(kind: str, **more: Value) -> dict[str, Value]:
    return {"kind": kind, "n": 1, "dim": 1, "seed": 0, **more}


def test_error_word_for_word() -> None:
    """X = [[1, 1], [0, 1]], y = (0, 1), lambda = 1/4, no noise: true of X^T y, broken where X y is X y."""
    X, y, K = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0]), np.eye(2) / 4
    K = X.T @ X + K
    theta = np.linalg.solve(X.T @ X, X.T @ y)
    right = -np.linalg.solve(K, theta) / 4
    left = np.linalg.solve(K, X @ y) - theta
    case = named("two by two") | {"n": 2, "dim": 2}
    want = abs(left - right).max() / max(abs(left).max(), abs(right).max())
    assert exact_value(STATEMENT, "#error", "X y word for word", case) == pytest.approx(want, rel=1e-12)
    np.testing.assert_allclose(np.linalg.solve(K, X.T @ y) - theta, right, atol=1e-14)
    assert holds(STATEMENT, "#error", "printed", case)


def test_error_of_one_record() -> None:
    """X = 2, y = 2, lambda = 1, E_2 = 5: theta_hat = 9/5, error 4/5 = -1/5 + 1; a ridge term 1 % larger breaks it."""
    assert holds(STATEMENT, "#error", "printed", named("one record"))
    off = exact_value(STATEMENT, "#error", "ridge term 1 % larger", named("one record"))
    assert off == pytest.approx(0.01 * (1 / 5) / (4 / 5), rel=1e-12)
    assert exact_value(STATEMENT, "#error", "no ridge term", named("one record")) == pytest.approx((1 / 5) / 1)


@pytest.mark.parametrize(
    ("version", "kind", "want"),
    [
        ("printed", "one record, y = 0", 4 / (3 / 25)),  # E_2 = 10, M = 5: error 2; the right side sees |M^-1|^2 only
        ("corrected", "one record, y = 0", 4 / (3 * 4)),
        ("corrected", "equal terms", 1.0),  # three terms of 2/3: 2^2 = 3 * 3 * (2/3)^2
        ("constant cut by 5 %", "equal terms", 1 / 0.95),
    ],
)
def test_three_terms(version: str, kind: str, want: float) -> None:
    assert exact_value(STATEMENT, ".p1", version, named(kind, A="identity")) == pytest.approx(want, rel=1e-12)


def test_three_terms_need_the_ridge() -> None:
    """lambda = 10^9, no noise: the error is the ridge term alone."""
    assert not holds(STATEMENT, ".p1", "no ridge term", named("large ridge", A="identity"))


def test_order() -> None:
    """E_1 = 0, K = 5: K - K/2 = 5/2; at E_1 = -K/2 equality, and 0.55 fails."""
    assert exact_value(STATEMENT, ".p2", "printed", named("one record")) == pytest.approx(-2.5)
    assert exact_value(STATEMENT, ".p2", "corrected", named("one record")) == pytest.approx(2.5)
    assert holds(STATEMENT, ".p2", "corrected", named("half"))
    assert exact_value(STATEMENT, ".p2", "0.55 in place of 0.5", named("half")) == pytest.approx(-0.05)


def test_rates_at_half() -> None:
    """G = 1, theta* = 2, E_1 = -1/2, E_2 = 1, lambda near 0: error 4; 16 = 12 (1 + 1) 2/3 and 8 = 6 (1 + 1) 2/3."""
    for part in ("#rate", "#rate of F"):
        assert exact_value(STATEMENT, part, "printed", named("half")) == pytest.approx(2 / 3, rel=1e-8)
        wrong = exact_value(STATEMENT, part, "constant half of the necessary one", named("half"))
        assert wrong == pytest.approx(2.0, rel=1e-8)


def test_rates_of_one_record() -> None:
    """X = 2, lambda = 1, E_2 = 5, theta* = 1: error 4/5, K = 5; 16/25 against 12 (25 + 1)/25, 32/25, 6 * 26/5."""
    assert exact_value(STATEMENT, "#rate", "printed", named("one record")) == pytest.approx(16 / (12 * 26))
    assert exact_value(STATEMENT, "#rate of F", "printed", named("one record")) == pytest.approx(
        (32 / 25) / (6 * 26 / 5)
    )
    for part in ("#rate", "#rate of F"):
        assert not holds(STATEMENT, part, "no ridge term", named("large ridge"))
        assert not holds(STATEMENT, part, "no moment term", named("one record, y = 0"))


def test_excess() -> None:
    """theta_hat = 9/5 on X = 2, y = 2: F = (8/5)^2/2 = 32/25; the inverse metric gives (1/4)(16/25)/2 = 2/25."""
    assert exact_value(STATEMENT, ".p3", "printed", named("one record")) == pytest.approx(30 / 32)
    assert exact_value(STATEMENT, ".p3", "corrected", named("one record")) == 0.0
    assert exact_value(STATEMENT, ".p3", "1 % larger", named("one record")) == pytest.approx(0.01 / 1.01)


def test_random_data_in_every_metric() -> None:
    for A in ("identity", "Gram matrix"):
        assert holds(STATEMENT, ".p1", "corrected", {"kind": "any", "n": 7, "dim": 3, "seed": 9, "A": A})
    evidence = decide(STATEMENT, "#rate", "printed", {"kind": "scaled to the condition", "n": 7, "dim": 3, "seed": 9})
    assert evidence.exact is not None
    assert 0 < evidence.exact.low <= evidence.exact.high < 1
