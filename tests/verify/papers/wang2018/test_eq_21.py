"""W18, (21) and its constants: the minimum by scipy, the roots of step 3 and (8) by numpy."""

from __future__ import annotations

from math import e, exp, log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy.optimize import minimize_scalar

from verify.papers.wang2018.eq_21 import STATEMENT


def step_3(ell: float, epsilon: float) -> float:
    """Positive root of x^2/(2 log(6/delta)) + x - epsilon/4."""
    return float(max(np.roots([1 / (2 * ell), 1, -epsilon / 4]).real))


def equation_8(ell: float, epsilon: float) -> float:
    """Positive root of (8) with its bracket as printed, a product."""
    return float(max(np.roots([(1 / ell) * ((1 + ell) / ell) / 2, 1, -epsilon / 2]).real))


def constants(c: float, ell: float, epsilon: float) -> tuple[float, float, float, float]:
    """C_1, C_2, t_min + eigenvalue and C_1~ of Algorithm 1 at ||X|| = 1."""
    c1, c2, floor = c * ell / step_3(ell, epsilon) ** 2, ell / (epsilon / 4), (1 + ell) / (2 * epsilon)
    return c1, c2, floor, max(c1, c2**2 / e**2, (1 + ell) ** 2 / (4 * epsilon**2) / e**2)


POINTS = [
    (0.5, 2.0, 0.01, 1e-3), (30.0, 20.0, 1.0, 100.0), (1e4, 500.0, 0.5, 1e7), (1e5, 1000.0, 1e-3, 1e-6),
    (0.5, 1e3, 1.0, 1e-6), (6.0, 16.0, 1.5, 60.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("version", "scale", "power", "plain"),
    [
        ("printed", 2.0, 0.5, False),
        ("constant 1.7", 1.7, 0.5, False),
        ("power 0.45 for the root", 2.0, 0.45, False),
        ("C_1 for its upper bound", 2.0, 0.5, True),
    ],
)
@pytest.mark.parametrize(("c", "ell", "epsilon", "eigenvalue"), POINTS)
def test_minimum(
    version: str, scale: float, power: float, plain: bool, c: float, ell: float, epsilon: float, eigenvalue: float
) -> None:
    """min over t of C_1 (1 + 1/(t + l))^(2 C_2)/(t + l) + t, searched in log(t + l), over the stated minimum."""
    c1, c2, floor, tilde = constants(c, ell, epsilon)
    tilde = c1 if plain else tilde

    def objective(size: float) -> float:
        return float(c1 * np.exp(min(2 * c2 * np.log1p(exp(-size)), 700.0)) / exp(size) + exp(size) - eigenvalue)

    edge = log(max(floor, eigenvalue))
    inner = minimize_scalar(objective, bounds=(edge, edge + 40), method="bounded", options={"xatol": 1e-12})
    least = min(objective(edge), inner.fun)
    want = least / (scale * min(e**2 * tilde / eigenvalue, e * tilde**power))
    case = {"c": c, "log": ell, "epsilon": epsilon, "eigenvalue": eigenvalue}
    assert exact_value(STATEMENT, "#21", version, case) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("ell", "epsilon"), [(16.0, 1.0), (2.0, 0.125), (50.0, 2.0)])
def test_epsilon_bar(ell: float, epsilon: float) -> None:
    """Distance from the root of step 3, over epsilon; printed epsilon/2 - epsilon^2/8 [1/l + (1 + l)/l]."""
    root = step_3(ell, epsilon)
    at = {"log": ell, "epsilon": epsilon}
    printed = epsilon / 2 - epsilon**2 / 8 * (1 / ell + (1 + ell) / ell)
    assert exact_value(STATEMENT, ".p1", "printed", at) == pytest.approx((printed - root) / epsilon, rel=1e-9)
    assert epsilon / 4 - root**2 / (2 * ell) == pytest.approx(root)
    assert holds(STATEMENT, ".p1", "corrected", at)
    off = (epsilon / 4 - root**2 / (1.01 * 2 * ell) - root) / epsilon
    value = exact_value(STATEMENT, ".p1", "1 % less of the square", at)
    assert value == pytest.approx(off, rel=1e-6)


@pytest.mark.parametrize(
    ("version", "inequality"),
    [
        ("printed", "first"),
        ("printed", "second"),
        ("one tenth for one eighth", "first"),
        ("bracket 5 % below that of (8)", "second"),
    ],
)
def test_chain(version: str, inequality: str) -> None:
    """At its worst point the check has the literal gap over epsilon~^2 (over epsilon~^2/2 in the second)."""
    evidence = decide(STATEMENT, "#chain", version, inequality=inequality)
    ell, epsilon = (float(str(evidence.found[name])) for name in ("log", "epsilon"))
    root, product = equation_8(ell, epsilon), (1 + ell) / ell**2
    bracket = 0.95 * product if "5 %" in version else 1 / ell + (1 + ell) / ell
    share = 10 if "tenth" in version else 8
    if inequality == "first":  # epsilon^2/8 [...] >= epsilon~^2/2 [...]
        want = (epsilon**2 / share - root**2 / 2) / root**2
    else:  # epsilon/2 - epsilon~^2/2 [...] <= epsilon~
        want = (root - epsilon / 2 + root**2 / 2 * bracket) / (root**2 / 2)
    assert evidence.exact is not None
    assert evidence.exact.high == pytest.approx(want, rel=1e-6, abs=1e-9)
    assert holds(STATEMENT, "#chain", version, inequality=inequality) is (version == "printed")


def test_quarter() -> None:
    """log = 16, epsilon = 1: the root is 0.24808..., below epsilon/4 and above 0.23."""
    at = {"log": 16.0, "epsilon": 1.0}
    root = -16 + sqrt(16**2 + 16 / 2)
    assert exact_value(STATEMENT, ".p2", "printed", at) == pytest.approx(root, rel=1e-12)
    assert not holds(STATEMENT, ".p2", "printed", at)
    assert holds(STATEMENT, ".p2", "corrected", at)


@pytest.mark.parametrize(("version", "constant"), [("corrected", 0.23), ("constant 5 % larger", 0.2415)])
def test_quarter_on_the_box(version: str, constant: float) -> None:
    evidence = decide(STATEMENT, ".p2", version, {})
    ell, share = (float(str(evidence.found[name])) for name in ("log", "share"))
    epsilon = share * 2 * ell / (1 + ell)
    assert evidence.exact is not None
    assert evidence.exact.high == pytest.approx(step_3(ell, epsilon) / epsilon - constant, abs=1e-9)
    assert holds(STATEMENT, ".p2", version, {}) is (version == "corrected")


@pytest.mark.parametrize(("version", "constant"), [("printed", 16.0), ("corrected", 19.0), ("constant 18", 18.0)])
@pytest.mark.parametrize(("c", "ell", "share"), [(5.0, log(6) + 1e-3, 0.999), (4.5, 30.0, 0.5), (1e3, 4.0, 0.01)])
def test_bound_of_c1_tilde(version: str, constant: float, c: float, ell: float, share: float) -> None:
    epsilon = share * 2 * ell / (1 + ell)
    want = constants(c, ell, epsilon)[3] / (constant * ell * max(c, ell / e**2) / epsilon**2)
    case = {"c": c, "log": ell, "share": share}
    assert exact_value(STATEMENT, ".p3", version, case) == pytest.approx(want, rel=1e-9)
    assert holds(STATEMENT, ".p3", version, case) is (want <= 1)
