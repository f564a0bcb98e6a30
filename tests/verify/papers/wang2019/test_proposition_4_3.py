"""W19, Proposition 4.3 and its conditions: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value
from oracles.mechanisms.profiles import quadratic_delta
from oracles.rational_floats import floats
from rows import for_each
from scipy.stats import binom, chi2, norm

from verify.kernel.statement import Case, Standing
from verify.methods.rational import design, generator
from verify.papers.wang2019.shared.regressions import regression


# Rational regression problems against numpy.
@for_each("lam", [0, 3])
def test_regressions_fits_and_residuals(lam: int) -> None:
    case = Case("", "", Standing.PRINTED, {"shape": "generic", "n": 6, "dim": 3, "seed": 4})
    data = regression(case, lam)
    X, y, x, target = (floats(M) for M in (data.X, data.y, data.x, data.target))
    both, responses = np.vstack([X, x.T]), np.vstack([y, target])
    without = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T @ y)
    within = np.linalg.solve(both.T @ both + lam * np.eye(3), both.T @ responses)
    for found, expected in zip(data.fits, (without, within), strict=True):
        assert floats(found) == pytest.approx(expected, rel=1e-9)
    assert float(data.residual(data.fits[0])) == pytest.approx((target - x.T @ without).item(), rel=1e-9)
    assert floats(data.joined) == pytest.approx(both.T @ both + lam * np.eye(3), rel=1e-12)


# W19, section 4: condition (d) by hand and by scipy.
SIGNS = {"law": "two signs", "dim": 2, "m": 1.0}


def test_set_4_c_matrix_of_d() -> None:
    """X X' has rank 1 for three records of one feature; X'X is the sum of squares."""
    X = floats(design("generic", 3, 1, 7))
    plain = {"shape": "generic", "n": 3, "dim": 1}
    assert exact_value("W19-S4.C", "#d", "printed", plain) == 0.0
    assert exact_value("W19-S4.C", "#d", "corrected", plain) == pytest.approx((X**2).sum(), rel=1e-9)
    assert exact_value("W19-S4.C", "#d", "one column repeated", plain) == 0.0


def test_set_4_c_singular_rows_of_signs() -> None:
    """At n = 21 rows of two signs fail (d) with probability 2 sum_{k <= 5} C(21, k)/2^21 = 55792/2^21."""
    found = decide("W19-S4.C", "#size", "printed", SIGNS)
    assert found.notes["n"] == 21
    assert found.exact.value == pytest.approx(55792 / 2**21 * 21.0**10, rel=1e-12)


def test_set_4_c_normal_feature() -> None:
    """The smallest n above 10 log n is 36."""
    value = exact_value("W19-S4.C", "#size", "printed", {"law": "normal", "dim": 1, "m": 1.0})
    assert value == pytest.approx(chi2.cdf(18, 36) * 36.0**10, rel=1e-9)


@for_each(("version", "scale"), [("corrected", 1.0), ("sample size cut by 10 %", 0.9)])
def test_set_4_c_corrected_sample_size(version: str, scale: float) -> None:
    m, n = 0.3, 100
    while n * m * (1 - math.log(2)) / 2 < scale * 10 * math.log(n):
        n += 1
    found = decide("W19-S4.C", "#size", version, {"law": "rare ones", "dim": 1, "m": m})
    assert found.notes["n"] == n
    assert found.exact.value == pytest.approx(binom.cdf(math.floor(n * Fraction(m) / 2), n, m) * float(n) ** 10)


# W19, Proposition 4.3(1), pDP part: (4.5) by hand, and the corrected form from Theorem 4.1.
def test_prop_4_3_1a_by_hand() -> None:
    """h = 4, gamma = 2, r = 3, log = 2: 3 sqrt(2) + 18/8 + (1 + 4)/8 corrected, 3 + 9/4 + 2 (1 + 2)/8 printed."""
    p = {"ridge": 4.0, "gamma": 2.0, "residual": 3.0, "share": 1.0, "delta": 2.0 * math.exp(-2.0)}
    assert claimed("W19-P4.3.1a", "", "corrected", p) == pytest.approx(3.0 * math.sqrt(2.0) + 2.25 + 0.625, rel=1e-14)
    assert claimed("W19-P4.3.1a", "", "printed", p) == pytest.approx(3.0 + 2.25 + 0.75, rel=1e-14)
    # below 1 the maximum is 1: h = 1/4
    small = p | {"ridge": 0.25}
    assert claimed("W19-P4.3.1a", "", "printed", small) == pytest.approx(math.sqrt(16) * 3 + 9 + 12, rel=1e-14)


@settings(max_examples=30)
@given(st.floats(1e-3, 1e4), st.floats(1e-3, 1e3), st.floats(0.0, 100.0), st.floats(1e-9, 0.9))
def test_prop_4_3_1a_corrected_is_above_the_corrected_theorem(
    ridge: float, gamma: float, residual: float, delta: float
) -> None:
    """At leverage 1/ridge and any smaller one."""
    p = {"ridge": ridge, "gamma": gamma, "residual": residual, "share": 1.0, "delta": delta}
    for share in (1.0, 0.3):
        at = {"leverage": share / ridge, "residual": math.sqrt(gamma) * residual, "delta": delta}
        assert claimed("W19-T4.1", "#4.3", "corrected", at) <= claimed("W19-P4.3.1a", "", "corrected", p) * (1 + 1e-12)


# W19, Proposition 4.3(1): the largest residual, by hand and by a search over singular values.
@for_each(("n", "lam"), [(1, 1.0), (7, 3.0), (2, 9.0), (100, 0.5)])
def test_prop_4_3_1b_against_a_search_over_singular_values(n: int, lam: float) -> None:
    """||theta|| <= max over s <= sqrt(n) of s/(s^2 + lambda), times sqrt(n)."""
    s = np.linspace(1e-9, math.sqrt(n), 200_001)
    largest = 1 + math.sqrt(n) * (s / (s**2 + lam)).max()
    params = {"n": n, "lambda": lam}
    assert exact_value("W19-P4.3.1b", "#main", "corrected", params) == pytest.approx(1.0, rel=1e-12)
    printed = largest / (1 + n**0.5 * lam**-0.5)
    assert exact_value("W19-P4.3.1b", "#main", "printed", params) == pytest.approx(printed, rel=1e-8)
    appendix = largest / (1 + math.sqrt(n) / (2 * math.sqrt(lam)))
    assert exact_value("W19-P4.3.1b", ".p", "printed", params) == pytest.approx(appendix, rel=1e-8)
    assert exact_value("W19-P4.3.1b", "#main", "half without the cap", params) == pytest.approx(appendix, rel=1e-8)


def test_prop_4_3_1b_by_hand() -> None:
    """x = 1, y = 1, lambda = 1: theta = 1/2, so 3/2 against 2; lambda = 4: 6/5 against 5/4."""
    assert exact_value("W19-P4.3.1b", "#main", "printed", {"n": 1, "lambda": 1.0}) == pytest.approx(0.75)
    assert exact_value("W19-P4.3.1b", ".p", "printed", {"n": 1, "lambda": 4.0}) == pytest.approx(1.2 / 1.25)
    assert exact_value("W19-P4.3.1b", ".p", "scaled by 1.05", {"n": 1, "lambda": 1.0}) == pytest.approx(1 / 1.05)


# W19, Proposition 4.3(1), DP part: (4.6) by hand, and the exact law at equal rows in floats.
POINT = {"n": 16.0, "lambda": 4.0, "gamma": 1.0, "fill": 0.0, "delta": 2.0 * math.exp(-2.0)}


def test_prop_4_3_1c_by_hand() -> None:
    """n = 16, lambda = 4, gamma = 1, log = 2: sqrt(2 20 2)/4 + 40/16 + 3/8 printed; R = 2, 2 + 4/8 + 5/8 corrected."""
    assert claimed("W19-P4.3.1c", "", "printed", POINT) == pytest.approx(math.sqrt(80.0) / 4 + 2.5 + 0.375, rel=1e-14)
    assert claimed("W19-P4.3.1c", "", "corrected", POINT) == pytest.approx(2.0 + 0.5 + 0.625, rel=1e-14)
    # lambda = 3 > n = 1: R = 1 + 1/4, 1.25 sqrt(4/3) + 1.5625/6 + 5/6
    beyond = POINT | {"n": 1.0, "lambda": 3.0}
    expected = 1.25 * math.sqrt(4 / 3) + 1.5625 / 6 + 5 / 6
    assert claimed("W19-P4.3.1c", "", "corrected", beyond) == pytest.approx(expected, rel=1e-14)


def test_prop_4_3_1c_exact_delta_at_equal_rows() -> None:
    """Four rows of length 1/2, responses 1, lambda 1: X'X = 1, theta = 2/2 along the row; target (1, -1)."""
    found = decide("W19-P4.3.1c", "", "corrected", POINT | {"n": 4.0, "lambda": 1.0, "fill": 0.25, "gamma": 0.25})
    epsilon = found.claim.published
    worse = max(quadratic_delta(epsilon, 0.5, 0.5 * 2.0, backward=side) for side in (False, True))
    assert found.exact.value == pytest.approx(worse, rel=1e-8)


# W19, Proposition 4.3(2): the explicit forms by hand, the orders in plain floats, the average from its data again.
def test_prop_4_3_2_bound_by_hand() -> None:
    """nu = 1/2, gamma = 2, R = 3, log = 2: sqrt(4) 3 + (18 + 5)/4; without the last term 6 + 18/4."""
    p = {"nu": 0.5, "gamma": 2.0, "R": 3.0, "share": 1.0, "delta": 2.0 * math.exp(-2.0)}
    assert claimed("W19-P4.3.2", "#all", "corrected", p) == pytest.approx(11.75, rel=1e-14)
    assert claimed("W19-P4.3.2", "#all", "no term without gamma", p) == pytest.approx(10.5, rel=1e-14)


def test_prop_4_3_2_printed_orders_in_floats() -> None:
    """The proved lower bounds over the stated orders, n^(1/4)/sqrt(log n) and sqrt(n)/log(n) up to constants."""

    def wide(n: float) -> float:
        mu, log = 1 / 11, math.sqrt(n)
        return (mu * log / 2 - math.log1p(mu) / 2 - 1) / math.sqrt(mu * math.log(n) * log)

    def average(n: float) -> float:
        k, log = math.sqrt(n), math.log(20)
        gamma = 4 * n * log / (1 + log) ** 2
        total = gamma * (k - 1) / (4 * k) - k * (math.log1p(1 / (k - 1)) / 2 + 1)
        return total**2 / (n * k) / (gamma / n * log * math.log(4 * n))

    for part in ("#all", "#model"):
        grown = math.log10(wide(1e20) / wide(1e6))
        assert exact_value("W19-P4.3.2", part, "printed", {}) == pytest.approx(grown, rel=1e-9)
    assert exact_value("W19-P4.3.2", "#average", "printed", {}) == pytest.approx(
        math.log10(average(1e20) / average(1e4)), rel=1e-9
    )


def test_prop_4_3_2_new_response() -> None:
    """P(|sigma Z + off| > sigma sqrt(2 log(2/delta')) + off) by scipy."""
    edge = math.sqrt(2 * math.log(2 / 0.1))
    for off in (0.0, 0.3):
        expected = norm.sf(edge) + norm.sf(edge + 2 * off)
        params = {"delta'": 0.1, "off": off}
        assert exact_value("W19-P4.3.2", "#model", "corrected", params) == pytest.approx(expected, rel=1e-9)
    cut = 2 * norm.sf(0.9 * edge)
    assert exact_value("W19-P4.3.2", "#model", "deviation cut by 10 %", {"delta'": 0.1, "off": 0.0}) == pytest.approx(
        cut
    )


def test_prop_4_3_2_average_bound_from_leave_one_out_fits() -> None:
    """nu and rho from the n fits that leave a record out."""
    n, dim, gamma, delta = 12, 3, 2.0, 1e-2
    rng = generator(n, dim, 52)
    X = rng.choice([-1.0, 1.0], (n, dim)) / math.sqrt(dim)
    y = X.sum(axis=1) + rng.standard_normal(n)
    inside = [x @ np.linalg.solve(X.T @ X, x) for x in X]
    rho = 0.0
    for i in range(n):
        rest = np.arange(n) != i
        theta = np.linalg.lstsq(X[rest], y[rest], rcond=None)[0]
        rho = max(rho, abs(y[i] - X[i] @ theta))
    nu, log = max(inside), math.log(2 / delta)
    stated = 3 * dim / n * (4 * gamma * log * rho**2 + nu * (1 + 2 * log) ** 2 + nu * gamma**2 * rho**4)
    params = {"n": n, "dim": dim, "gamma": gamma, "delta": delta, "weak": 1.0}
    assert claimed("W19-P4.3.2", "#average", "corrected", params) == pytest.approx(stated, rel=1e-9)
    without = claimed("W19-P4.3.2", "#average", "no term in gamma^2", params)
    assert without == pytest.approx(stated - 3 * dim / n * nu * gamma**2 * rho**4, rel=1e-9)
    assert decide("W19-P4.3.2", "#average", "corrected", params).claim.in_domain is bool(nu <= 0.5)


# W19, Proposition 4.3(3): the risk by hand and from numpy, the order of the bias in floats.
ONE = {"shape": "one record", "lambda": 1, "gamma": 1, "sigma^2": 1}
PLAIN = {"shape": "generic", "n": 5, "dim": 2, "lambda": 3, "gamma": 2, "sigma^2": 4}


def test_prop_4_3_3_by_hand() -> None:
    """X = [1], lambda = gamma = sigma = 1: ridge has variance 1/4, the posterior 1/2; printed 1/2 (1 + 1) = 1."""
    assert exact_value("W19-P4.3.3", "#risk", "printed", ONE) == pytest.approx(1 / 0.75)
    assert exact_value("W19-P4.3.3", ".p", "printed", ONE) == 0.5
    assert exact_value("W19-P4.3.3", ".p", "corrected", ONE) == 1.0


def test_prop_4_3_3_risk_of_the_estimator_itself() -> None:
    """E||theta~ - theta_0||^2 from the affine map y -> theta_hat and the posterior's covariance, in numpy."""
    X = floats(design("generic", 5, 2, 3))
    theta, lam, gamma, variance = np.array([1.0, 2.0]), 3, 2, 4
    H = X.T @ X + lam * np.eye(2)
    solve = np.linalg.solve(H, X.T)
    truth = ((solve @ X @ theta - theta) ** 2).sum() + variance * (solve**2).sum() + np.trace(np.linalg.inv(H)) / gamma
    assert claimed("W19-P4.3.3", "#risk", "corrected", PLAIN) == pytest.approx(truth, rel=1e-12)
    bias = lam**2 * (np.linalg.solve(H, theta) ** 2).sum()
    printed = variance * np.trace(np.linalg.inv(H)) * (1 + 1 / gamma) + bias
    assert claimed("W19-P4.3.3", "#risk", "printed", PLAIN) == pytest.approx(printed, rel=1e-12)
    assert exact_value("W19-P4.3.3", "#risk", "printed", PLAIN) == pytest.approx(printed / truth, rel=1e-12)
    assert claimed("W19-P4.3.3", "#risk", "no bias", PLAIN) == pytest.approx(truth - bias, rel=1e-12)


@for_each(("version", "power"), [("printed", -1), ("corrected", 1), ("lambda_min = n^0.9", 0.9)])
def test_prop_4_3_3_order_of_the_bias(version: str, power: float) -> None:
    """lambda^2 |theta|^2/(lambda_min + lambda)^2 over lambda^2 |theta|^2/n^2, lambda = n^(1/4), from n = 1 to 1e5."""

    def over(n: float) -> float:
        lam = n**0.25
        return (lam / (n**power + lam)) ** 2 / (lam / n) ** 2

    grown = math.log10(over(1e5) / over(1.0))
    assert exact_value("W19-P4.3.3", "#order", version, {}) == pytest.approx(grown, rel=1e-9, abs=1e-8)


# W19, Proposition 4.3(4): the excess of the objective, by hand, by numpy and by scipy's chi-square.
def test_prop_4_3_4_mean_by_hand() -> None:
    """X = [1], y = 0, lambda = 0: Z^2/2, mean 1/2, not 1. y = 30, lambda = 1: centre 15, minimiser 10, 75/2 more."""
    one = {"shape": "one record", "y": 0, "lambda": 0, "gamma": 1}
    assert exact_value("W19-P4.3.4", "#a", "printed", one) == 2.0
    assert exact_value("W19-P4.3.4", "#a", "corrected", one) == 1.0
    far = {"shape": "one record", "y": 30, "lambda": 1, "gamma": 1}
    assert exact_value("W19-P4.3.4", "#a", "printed", far) == pytest.approx(1 / (37.5 + 0.75))


def test_prop_4_3_4_mean_by_numpy() -> None:
    """E F - min F from the posterior N(centre, H^-1/gamma), for both objectives."""
    X, y, lam, gamma = floats(design("generic", 7, 3, 5)), np.arange(-2.0, 5.0), 40, 25
    H = X.T @ X + lam * np.eye(3)
    centre, covariance = np.linalg.solve(H, X.T @ y), np.linalg.inv(H) / gamma
    params = {"shape": "generic", "n": 7, "dim": 3, "lambda": lam, "gamma": gamma}
    for version, ridge, stated in (("printed", 2 * lam, 3 / gamma), ("corrected", lam, 3 / (2 * gamma))):
        hessian = X.T @ X + ridge * np.eye(3)
        gap = centre - np.linalg.solve(hessian, X.T @ y)
        mean = gap @ hessian @ gap / 2 + np.trace(hessian @ covariance) / 2
        assert claimed("W19-P4.3.4", "#a", version, params) == pytest.approx(stated)
        assert exact_value("W19-P4.3.4", "#a", version, params) == pytest.approx(stated / mean, rel=1e-9)


@for_each(("dim", "delta"), [(1, "1/100"), (5, "1/2"), (50, "1/1000000")])
def test_prop_4_3_4_tail_by_scipy(dim: int, delta: str) -> None:
    top, bottom = map(int, delta.split("/"))
    params = {"shape": "generic", "n": 60, "dim": dim, "lambda": 1, "gamma": 25, "delta": delta}
    full = 2 * dim * math.log(dim * bottom / top)
    plain = 2 * dim * math.log(bottom / top)
    assert exact_value("W19-P4.3.4", "#b", "corrected", params) == pytest.approx(chi2.sf(full, dim), rel=1e-9)
    assert exact_value("W19-P4.3.4", "#b", "bound cut by 10 %", params) == pytest.approx(chi2.sf(0.9 * full, dim))
    assert exact_value("W19-P4.3.4", "#b", "d log(1/delta)", params) == pytest.approx(chi2.sf(plain, dim), rel=1e-9)


def test_prop_4_3_4_printed_tail_by_hand() -> None:
    """3/2 (theta - 10)^2 > log 10 with theta ~ N(15, 1/2)."""
    far = {"shape": "one record", "y": 30, "lambda": 1, "gamma": 1, "delta": "1/10"}
    edge = math.sqrt(2 * math.log(10) / 3)
    expected = norm.sf((edge - 5) / 0.5**0.5) + norm.sf((edge + 5) / 0.5**0.5)
    assert exact_value("W19-P4.3.4", "#b", "printed", far) == pytest.approx(expected, rel=1e-9)


# W19, the discussion of Proposition 4.3, along n with 60 digits.
def excess(n: mpmath.mpf, alpha: float) -> mpmath.mpf:
    """Mean squared error of a posterior sample over 1/n, minus 1: X'X = n, theta_0 = sigma = 1."""
    lam, gamma = n ** ((1 - mpmath.mpf(alpha)) / 2), n ** (mpmath.mpf(alpha) / 2)
    error = n / (n + lam) ** 2 + 1 / (gamma * (n + lam)) + lam**2 / (n + lam) ** 2
    return n * error - 1


@for_each(("version", "share"), [("printed", 1.0), ("corrected", 0.5), ("exponent 10 % larger", 0.55)])
def test_rem_u1_relative_efficiency(version: str, share: float) -> None:
    with mpmath.workdps(60):
        ends = [excess(n, 0.5) * n ** (mpmath.mpf(0.5) * share) for n in (mpmath.mpf(10) ** 8, mpmath.mpf(10) ** 32)]
        grown = float(mpmath.log10(ends[1] / ends[0]))
    assert exact_value("W19-U1", "#efficiency", version, {"alpha": 0.5}) == pytest.approx(grown, rel=1e-8, abs=1e-8)


def test_rem_u1_excess_by_hand() -> None:
    """n = 16, alpha = 1/2: lambda = gamma = 2, 64/81 - 1 + 4/9 + 16/81 = 35/81."""
    assert float(excess(mpmath.mpf(16), 0.5)) == pytest.approx(35 / 81)


@for_each("alpha", [0.125, 0.5])
def test_rem_u1_bound_on_the_loss(alpha: float) -> None:
    """The corrected (4.5) at residual 1 and h = lambda >= 1, over n^(-1/4 + alpha/2)."""

    def over(n: mpmath.mpf) -> mpmath.mpf:
        lam, gamma, log = n ** ((1 - mpmath.mpf(alpha)) / 2), n ** (mpmath.mpf(alpha) / 2), mpmath.log(2000)
        bound = mpmath.sqrt(2 * gamma * log / lam) + gamma / (2 * lam) + (1 + 2 * log) / (2 * lam)
        return bound / n ** (mpmath.mpf(alpha) / 2 - mpmath.mpf(1) / 4)

    with mpmath.workdps(60):
        grown = float(mpmath.log10(over(mpmath.mpf(10) ** 40) / over(mpmath.mpf(10) ** 4)))
    found = exact_value("W19-U1", "#loss", "corrected", {"alpha": alpha, "last": 40})
    assert found == pytest.approx(grown, rel=1e-8, abs=1e-8)


def test_rem_u1_printed_loss_beyond_one_half() -> None:
    """gamma/lambda = n^(alpha - 1/2) against n^(-1/4 + alpha/2): (alpha/2 - 1/4) 36 = 4.5 decades at alpha = 3/4."""
    assert exact_value("W19-U1", "#loss", "printed", {"alpha": 0.75, "last": 40}) == pytest.approx(4.5, abs=1.0)
