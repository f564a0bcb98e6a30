"""W19, the discussion of Proposition 4.3, along n with 60 digits."""

from __future__ import annotations

import mpmath
import pytest
from oracles.formula_cases import exact_value

from verify.papers.wang2019.rem_u1 import STATEMENT


def excess(n: mpmath.mpf, alpha: float) -> mpmath.mpf:
    """Mean squared error of a posterior sample over 1/n, minus 1: X'X = n, theta_0 = sigma = 1."""
    lam, gamma = n ** ((1 - mpmath.mpf(alpha)) / 2), n ** (mpmath.mpf(alpha) / 2)
    error = n / (n + lam) ** 2 + 1 / (gamma * (n + lam)) + lam**2 / (n + lam) ** 2
    return n * error - 1


@pytest.mark.parametrize(("version", "share"), [("printed", 1.0), ("corrected", 0.5), ("exponent 10 % larger", 0.55)])
def test_relative_efficiency(version: str, share: float) -> None:
    with mpmath.workdps(60):
        ends = [excess(n, 0.5) * n ** (mpmath.mpf(0.5) * share) for n in (mpmath.mpf(10) ** 8, mpmath.mpf(10) ** 32)]
        grown = float(mpmath.log10(ends[1] / ends[0]))
    assert exact_value(STATEMENT, "#efficiency", version, {"alpha": 0.5}) == pytest.approx(grown, rel=1e-8, abs=1e-8)


def test_excess_by_hand() -> None:
    """n = 16, alpha = 1/2: lambda = gamma = 2, 64/81 - 1 + 4/9 + 16/81 = 35/81."""
    assert float(excess(mpmath.mpf(16), 0.5)) == pytest.approx(35 / 81)


@pytest.mark.parametrize("alpha", [0.125, 0.5])
def test_bound_on_the_loss(alpha: float) -> None:
    """The corrected (4.5) at residual 1 and h = lambda >= 1, over n^(-1/4 + alpha/2)."""

    def over(n: mpmath.mpf) -> mpmath.mpf:
        lam, gamma, log = n ** ((1 - mpmath.mpf(alpha)) / 2), n ** (mpmath.mpf(alpha) / 2), mpmath.log(2000)
        bound = mpmath.sqrt(2 * gamma * log / lam) + gamma / (2 * lam) + (1 + 2 * log) / (2 * lam)
        return bound / n ** (mpmath.mpf(alpha) / 2 - mpmath.mpf(1) / 4)

    with mpmath.workdps(60):
        grown = float(mpmath.log10(over(mpmath.mpf(10) ** 40) / over(mpmath.mpf(10) ** 4)))
    found = exact_value(STATEMENT, "#loss", "corrected", {"alpha": alpha, "last": 40})
    assert found == pytest.approx(grown, rel=1e-8, abs=1e-8)


def test_printed_loss_beyond_one_half() -> None:
    """gamma/lambda = n^(alpha - 1/2) against n^(-1/4 + alpha/2): (alpha/2 - 1/4) 36 = 4.5 decades at alpha = 3/4."""
    assert exact_value(STATEMENT, "#loss", "printed", {"alpha": 0.75, "last": 40}) == pytest.approx(4.5, abs=1.0)
