"""RW21, Proposition 12: in one dimension every event is one of one or two normal variables."""

from __future__ import annotations

import pytest
from oracles.formula_cases import decide
from scipy.integrate import quad
from scipy.stats import norm

from verify.papers.redberg_wang2021.prop_12 import STATEMENT

#: One dimension, lambda_min = 1: lambda_hat = 1 + margin N/z before it is lowered, H_hat = 1 + noise N'/z.
ONE = {"dim": 1, "rho": 0.1, "H": "identity", "tau sigma_3": 0.3, "sigma_4 z": 0.2, "lambda": 0.1}
Z = norm.isf(0.05)


def covered(part: str, version: str, **numbers: float) -> tuple[float, float]:
    """Return the simulated coverage's interval."""
    found = decide(STATEMENT, part, version, ONE | numbers, draws=20_000)
    assert found.sampled is not None
    assert found.claim.low == pytest.approx(0.8)
    return found.sampled.low, found.sampled.high


def near(interval: tuple[float, float], truth: float) -> None:
    low, high = interval
    assert low <= truth <= high
    assert high - low < 0.06


def test_range_of_the_eigenvalue() -> None:
    """Lowered by the margin, it is within the margin of 1 only for 0 <= N <= 2 z; up to two below 1 for |N| <= z."""
    near(covered(".1", "printed"), norm.cdf(2 * Z) - 0.5)
    near(covered(".1", "corrected"), 0.9)
    near(covered(".1", "1.7 margins"), norm.cdf(Z) - norm.cdf(-0.7 * Z))
    near(covered(".1", "lambda_hat as released"), norm.cdf(2 * Z) - 0.5)  # from two margins below to lambda_min


def test_regularised_estimator() -> None:
    """0 <= 1 + N'/z <= k/lambda_hat; with no noise on lambda_hat = 1 the factor k = 2 is |N'| <= z."""
    quiet = {"sigma_4 z": 1e-9}
    near(covered(".2", "printed", **quiet), 0.9)
    near(covered(".2", "1.7 tau sigma_3", **quiet), norm.cdf(0.7 * Z) - norm.cdf(-Z))

    def given(n: float) -> float:  # the released eigenvalue as it is, which may exceed 1
        released = 1.0 + 2.0 * n / Z
        top = 2.0 / released - 1.0 if released > 0 else -1.0
        return norm.pdf(n) * max(norm.cdf(top * Z) - norm.cdf(-Z), 0.0)

    near(
        covered(".2", "lambda_hat as released", **{"sigma_4 z": 2.0}), quad(given, -8, 8, points=[-Z / 2], limit=200)[0]
    )


def test_standard_estimator_and_all_at_once() -> None:
    quiet = {"sigma_4 z": 1e-9}
    near(covered(".3", "printed", **quiet), 0.9)
    near(covered(".3", "0.8 tau sigma_3", **quiet), 2 * norm.cdf(0.8 * Z) - 1)
    # nothing is claimed by P12.3 where lambda_hat < 2 tau sigma_3
    near(covered(".3", "0.8 tau sigma_3", **quiet, **{"tau sigma_3": 0.6}), 1.0)
    found = decide(STATEMENT, "#joint", "corrected", ONE)
    assert found.exact is not None
    assert found.exact.low == pytest.approx(0.9**2, abs=1e-6)  # two independent events
