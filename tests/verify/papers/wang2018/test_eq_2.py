"""W18, (2): the risk of least squares and of wide priors, in floating point."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, holds

from verify.kernel.statement import Value
from verify.methods.minimax import fixed_design
from verify.papers.wang2018.eq_2 import STATEMENT


def _gram(shape: str, n: int, dim: int) -> np.ndarray:
    X = np.array([[float(v.p) / float(v.q) for v in row] for row in fixed_design(shape, n, dim).tolist()])
    return np.asarray(X.T @ X)


@pytest.mark.parametrize(("shape", "n", "dim"), [("generic", 9, 4), ("duplicated rows", 30, 2), ("one long row", 4, 1)])
@pytest.mark.parametrize("sigma", [0.25, 100.0])
def test_between_a_bayes_risk_and_least_squares(shape: str, n: int, dim: int, sigma: float) -> None:
    """sum sigma^2/eigenvalue; the prior N(0, tau^2 I) gives sum 1/(eigenvalue/sigma^2 + 1/tau^2), just below."""
    eigenvalues = np.linalg.eigvalsh(_gram(shape, n, dim))
    case: dict[str, Value] = {"n": n, "dim": dim, "X": shape, "sigma": sigma}
    exact = decide(STATEMENT, "", "printed", case).exact
    assert exact is not None
    assert exact.high == pytest.approx((sigma**2 / eigenvalues).sum(), rel=1e-8)
    bayes = (1 / (eigenvalues / sigma**2 + 1 / 1e12**2 / sigma**2)).sum()
    assert exact.low == pytest.approx(bayes, rel=1e-8)
    assert holds(STATEMENT, "", "printed", case)


@pytest.mark.parametrize(
    ("version", "stated"),
    [
        ("printed", lambda G: np.trace(np.linalg.inv(G))),
        ("constant 1 % larger", lambda G: 1.01 * np.trace(np.linalg.inv(G))),
        ("constant 1 % smaller", lambda G: 0.99 * np.trace(np.linalg.inv(G))),
        ("inverse of the trace", lambda G: 4 / np.trace(G)),
        ("inverse of the diagonal", lambda G: (1 / np.diag(G)).sum()),
    ],
)
def test_versions(version: str, stated: object) -> None:
    assert callable(stated)
    case: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}
    assert claimed(STATEMENT, "", version, case) == pytest.approx(float(stated(_gram("generic", 9, 2))))
    assert holds(STATEMENT, "", version, case) is (version == "printed")
