"""W18, Algorithm 1: each printed step retyped; its unit, the bracket of (8), the curvature of (7)."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

import mpmath
import pytest
from oracles.formula_cases import decide, exact_value, holds
from oracles.unit_change import Sizes, assert_units

from verify.papers.wang2018.alg_1 import STATEMENT

EPSILON, LOG = 0.7, log(6 / 1e-6)


def _eigenvalue(s: Sizes) -> float:
    return s.eigenvalue


def test_step_2_has_noise_without_unit() -> None:
    """sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4): 16 decades short; Algorithm 2 has ||X||^2."""

    def noise(s: Sizes) -> tuple[float, float]:
        return sqrt(LOG) / (EPSILON / 4), LOG / (EPSILON / 4)

    assert_units(STATEMENT, "#2", "printed", noise, _eigenvalue)
    assert_units(STATEMENT, "#2", "corrected", lambda s: (s.X**2 * n for n in noise(s)), _eigenvalue)
    assert exact_value(STATEMENT, "#2", "printed", unit="features") == -16.0


def test_step_4_is_an_eigenvalue() -> None:
    """(7): ||X||^4 C_1 [1 + ||X||^2/(t + lambda)]^(2 C_2)/(t + lambda) + t, and t_min."""

    def terms(s: Sizes) -> tuple[float, ...]:
        t = released = s.eigenvalue
        c1, c2 = (2 + sqrt(4 * log(20)) + log(20)) * LOG / 0.17**2, LOG / (EPSILON / 4)
        first = s.X**4 * c1 * (1 + s.X**2 / (t + released)) ** (2 * c2) / (t + released)
        return first, t, s.X**2 * (1 + LOG) / (2 * EPSILON)

    assert_units(STATEMENT, "#4", "printed", terms, _eigenvalue)


def test_temperature_is_one_over_a_loss() -> None:
    """Step 7: 1/gamma = log(6/delta) L^2/((lambda_min + lambda) epsilon^2), a squared response."""
    assert_units(STATEMENT, "#output", "printed", lambda s: (LOG * s.L**2 / (s.eigenvalue * 0.09),), lambda s: s.Y**2)


@pytest.mark.parametrize("size", [2.0, 4.0, 29.0])
def test_bracket_of_8(size: float) -> None:
    """At log(6/delta) = l: 1/l (1 + l)/l side by side, 1/l + (1 + l)/l in the proof; 3/4 against 2 at l = 2."""
    ell = Fraction(size)
    proof = 1 / ell + (1 + ell) / ell
    printed = exact_value(STATEMENT, "#8@product", "printed", log=size)
    assert printed == pytest.approx(float((1 / ell) * ((1 + ell) / ell) / proof), rel=1e-15)
    assert exact_value(STATEMENT, "#8@product", "corrected", log=size) == 1.0
    assert exact_value(STATEMENT, "#8@sum", "printed", log=size) == 1.0
    assert not holds(STATEMENT, "#8@product", "printed", log=size)
    for part in ("#8@sum", "#8@product"):
        assert exact_value(STATEMENT, part, "a tenth more", log=size) == pytest.approx(1.1)


@pytest.mark.parametrize(("version", "sign"), [("printed", 1), ("exponent -2 C_2", -1)])
def test_curvature_of_7(version: str, sign: int) -> None:
    """At its worst point the check has v^2 times the second derivative of log([1 + 1/v]^(2 C_2)/v), by mpmath."""
    evidence = decide(STATEMENT, "#7", version)
    v, c2 = evidence.found["v"], evidence.found["C2"]
    assert isinstance(v, float)
    assert isinstance(c2, float)
    with mpmath.workdps(40):
        second = mpmath.diff(lambda u: sign * 2 * c2 * mpmath.log1p(1 / u) - mpmath.log(u), mpmath.mpf(v), 2, h=v / 1e9)
    assert evidence.exact is not None
    assert evidence.exact.high == pytest.approx(float(v**2 * second), rel=1e-6)
    assert holds(STATEMENT, "#7", version) is (sign == 1)
