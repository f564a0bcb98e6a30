"""W18, Theorem 2(ii): units, the bias of the least ridge by hand, the corrected rate retyped."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.unit_change import assert_units
from scipy.stats import norm

from verify.papers.wang2018.thm_2ii import STATEMENT

AT = {"dim": 2, "copies": 50, "bound": 3.0, "epsilon": 0.5, "delta": 1e-3, "rho": 0.2, "spectrum": "one small"}


def test_units() -> None:
    """d [d + log(1/rho)] |theta*|^2/(alpha n epsilon^2) is no loss without |X|^2."""
    second = {"printed": lambda s: s.theta**2, "corrected": lambda s: s.X**2 * s.theta**2}
    for version, term in second.items():
        assert_units(STATEMENT, "#units", version, lambda s, t=term: [t(s), s.X**2 * s.theta**2], lambda s: s.Y**2)


def test_bias_by_hand() -> None:
    """log(6/delta) = 100: n = 100, ridge 50.5, error 50 (50.5/150.5)^2, rate (1 + log 10)(100 - log 6)/100."""
    evidence = decide(STATEMENT, "#rate", "printed", {"log": 100.0, "constant": 1.0})
    assert evidence.notes["error at least"] == pytest.approx(50 * (50.5 / 150.5) ** 2)
    assert evidence.notes["printed rate"] == pytest.approx((1 + math.log(10)) * (100 - math.log(6)) / 100)
    assert evidence.exact is not None
    assert evidence.exact.low == pytest.approx(norm.cdf(3 * 10 / 4) / 2)
    assert exact_value(STATEMENT, "#rate", "printed", {"log": 100.0, "constant": 2.0}) < 1  # 5.6 < 2 * 3.2
    assert decide(STATEMENT, "#rate", "printed", {"log": 100.0, "constant": 2.0}).exact.low == 0.0  # type: ignore[union-attr]


@pytest.mark.parametrize(("version", "square"), [("corrected", True), ("no square of the logarithm", False)])
def test_corrected_rate(version: str, square: bool) -> None:
    """min{sqrt(k)/epsilon, d k/(alpha n epsilon^2)}, |X| |theta*| = 1, alpha n |X|^2/d = 50 0.1^2 |X|^2."""
    log = math.log(6000)
    k = (2 + math.log(5)) * log + (log**2 if square else 0)
    evidence = decide(STATEMENT, "#rate", version, AT, draws=500)
    assert evidence.notes["rate"] == pytest.approx(min(math.sqrt(k) / 0.5, k / (0.5 * 0.25)))
    assert evidence.claim.low == pytest.approx(1 - 0.2 - 1e-3)
    assert evidence.sampled is not None


def test_deficient_design_has_the_first_term_alone() -> None:
    evidence = decide(STATEMENT, "#rate", "corrected", AT | {"spectrum": "deficient"}, draws=200)
    log = math.log(6000)
    assert evidence.notes["rate"] == pytest.approx(math.sqrt((2 + math.log(5)) * log + log**2) / 0.5)
