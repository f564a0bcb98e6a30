"""RW21, sections 1 and 2: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, one
from oracles.mechanisms.objective_perturbation import (
    gradient,
    hessian,
    hockey_stick_1d,
    log_density,
    logistic_density_1d,
)
from oracles.verify.w18_small import gaussian_delta
from rows import for_each

from mechanisms import Dataset
from mechanisms.objective.losses import LogisticLoss, SquaredLoss


# RW21, introduction: the accuracy of the best attack, from randomised response.
@for_each(("epsilon", "percent", "half"), [(2.0, 88.0, 0.5), (5.0, 99.3, 0.05)])
def test_num_i1_randomised_response(epsilon: float, percent: float, half: float) -> None:
    """Telling the truth with odds e^epsilon is right with probability e^epsilon/(1 + e^epsilon)."""
    at = {"epsilon": epsilon, "percent": percent, "half digit": half}
    odds = math.exp(epsilon)
    found = decide("RW21-I1", "", "printed", at)
    assert found.exact.value == pytest.approx(100 * odds / (1 + odds), rel=1e-12)
    assert (found.claim.low, found.claim.high) == pytest.approx((percent - half, percent + half))
    assert exact_value("RW21-I1", "", "total variation 1 - exp(-epsilon)", at) == pytest.approx(100 - 50 / odds)
    larger = math.exp(1.02 * epsilon)
    assert exact_value("RW21-I1", "", "epsilon 2 % larger", at) == pytest.approx(100 * larger / (1 + larger))


# RW21, Example 4, in fractions by hand.
def test_exp_4_footnote_by_hand() -> None:
    """Q = 0, Q' = 1, o = 1/10, sigma = 1: loss |(-0.9)^2 - 0.1^2|/2 = 0.4; 0.1 - 0.5 +- 0.4 = 0 and -0.8."""
    assert exact_value("RW21-E4", ".4", "printed") == 0.0
    assert exact_value("RW21-E4", ".4", "second possibility -0.9") == pytest.approx(0.1)
    at = {"o": "1/10", "variance": "1", "Q": 0}
    # the versions of the loss err by |0 - 1| |o - 1|/2 - 0.4 = 0.05, by another 0.4, by 0.004
    assert exact_value("RW21-E4", ".1", "o for 2 o", at | {"Q'": 1}) == pytest.approx(0.05)
    assert exact_value("RW21-E4", ".1", "no 2 in the denominator", at | {"Q'": 1}) == pytest.approx(0.4)
    assert exact_value("RW21-E4", ".1", "1 % too large", at | {"Q'": 1}) == pytest.approx(0.004)
    # 0.6 +- 0.4, -0.4 +- 0.2 and -0.4 +- 0.404: the nearer solution is 0.2, 0.2 and 0.004 away from 0
    assert exact_value("RW21-E4", ".2", "plus a half", at) == pytest.approx(0.2)
    assert exact_value("RW21-E4", ".2", "half the variance", at) == pytest.approx(0.2)
    assert exact_value("RW21-E4", ".2", "loss 1 % too large", at) == pytest.approx(0.004)


def test_exp_4_the_text_s_outcome() -> None:
    """o = 1, Q = 0: 1 - 0.5 +- 0.5 are both integers; the corrected form claims nothing there."""
    at = {"o": "1", "variance": "1", "Q": 0}
    assert exact_value("RW21-E4", ".3", "printed", at) == 2.0
    assert not decide("RW21-E4", ".3", "corrected", at).claim.in_domain
    assert decide("RW21-E4", ".3", "any o that is no integer", at | {"o": "1/2"}).claim.in_domain


@settings(max_examples=30)
@given(
    o=st.fractions(-5, 5, max_denominator=50),
    variance=st.fractions(Fraction(1, 10), 10, max_denominator=20),
    count=st.integers(0, 20),
    other=st.integers(0, 20),
)
def test_exp_4_against_normal_densities(o: Fraction, variance: Fraction, count: int, other: int) -> None:
    """E4.1 is the log ratio of two normal densities, E4.2 its solution; the exact ones differ by 0 from both."""
    at = {"o": str(o), "variance": str(variance), "Q": count}
    assert exact_value("RW21-E4", ".1", "printed", at | {"Q'": other}) == 0.0
    assert exact_value("RW21-E4", ".2", "printed", at) == 0.0
    doubled = exact_value("RW21-E4", ".1", "no 2 in the denominator", at | {"Q'": other})  # twice the loss, less it
    log_ratio = ((o - other) ** 2 - (o - count) ** 2) / (2 * variance)
    assert math.isclose(doubled, abs(float(log_ratio)), rel_tol=1e-12, abs_tol=1e-15)


# RW21, Theorem 5: the noise by hand, its divergence by scipy's normal law and by the trapezoidal rule.
def variance(xi: float, epsilon: float, delta: float) -> float:
    return xi * xi * (8 * math.log(2 / delta) + 4 * epsilon) / (epsilon * epsilon)


@for_each(("xi", "epsilon", "delta"), [(0.01, 1.0, 1e-3), (2.0, 0.5, 1e-6), (1.0, 10.0, 0.1)])
def test_thm_5_linear_losses(xi: float, epsilon: float, delta: float) -> None:
    """Releasing theta is releasing a number that moves by xi under noise sigma; sigma^2 stands for sigma as printed."""
    at = {"xi": xi, "epsilon": epsilon, "delta": delta}
    root = math.sqrt(variance(xi, epsilon, delta))
    for version, sigma in {
        "printed": root**2,
        "corrected": root,
        "no logarithm in the variance": xi * math.sqrt(4 * epsilon) / epsilon,
    }.items():
        found = decide("RW21-T5", "", version, at)
        assert found.claim.published == epsilon
        assert found.claim.high == delta
        assert found.exact.value == pytest.approx(gaussian_delta(xi / sigma, epsilon), rel=1e-6, abs=1e-300)


def test_thm_5_sigma_by_hand() -> None:
    """xi = 2, epsilon = 1, delta = 2 e^-4: 4 (32 + 4) = 144 as printed, its root 12 corrected; mu = 2/144 and 2/12."""
    at = {"xi": 2.0, "epsilon": 1.0, "delta": 2 * math.exp(-4.0)}
    assert exact_value("RW21-T5", "", "corrected", at) == pytest.approx(gaussian_delta(1 / 6, 1.0), rel=1e-6)
    at = {"xi": 0.1, "epsilon": 1.0, "delta": 2 * math.exp(-4.0)}  # 0.01 * 36 = 0.36, root 0.6
    assert exact_value("RW21-T5", "", "printed", at) == pytest.approx(gaussian_delta(0.1 / 0.36, 1.0), rel=1e-6)
    assert exact_value("RW21-T5", "", "corrected", at) == pytest.approx(gaussian_delta(1 / 6, 1.0), rel=1e-6)


def test_thm_5_the_least_sigma_of_linear_losses() -> None:
    """At epsilon = 10, delta = 1e-12 a sigma 5 % above the mutant's is exactly private."""
    at = {"xi": 1.0, "epsilon": 10.0, "delta": 1e-12}
    found = decide("RW21-T5", "", "sigma 5 % below what linear losses bear", at)
    low, high = 0.01, 100.0  # mu by bisection
    for _ in range(200):
        low, high = (
            (low, (low + high) / 2) if gaussian_delta((low + high) / 2, 10.0) > 1e-12 else ((low + high) / 2, high)
        )
    assert found.exact.value == pytest.approx(gaussian_delta(low / 0.95, 10.0), rel=1e-5)


@pytest.mark.parametrize(("n", "y"), [(0, 1.0), (1, -1.0)])
@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_thm_5_logistic_loss_on_the_line(version: str, n: int, y: float) -> None:
    """Both densities on a grid, from the derivative of their distribution functions, lie in the proved enclosure."""
    xi, epsilon, delta = 0.1, 1.0, 1e-1
    found = decide("RW21-T5", "", version, {"xi": xi, "epsilon": epsilon, "delta": delta, "n": n, "y": y})
    sigma, lam = variance(xi, epsilon, delta), 0.5 * xi**2 / epsilon
    sigma = sigma if version == "printed" else math.sqrt(sigma)
    rows, labels = [[-0.5 * xi]] * n, [-1.0] * n
    without = Dataset(np.array(rows).reshape(n, 1), np.array(labels), 1.0, 1.0)
    with_z = Dataset(np.array([*rows, [xi]]), np.array([*labels, y]), 1.0, 1.0)
    grid = np.linspace(-12 * sigma / lam, 12 * sigma / lam, 20_001)
    logs = [np.log([max(logistic_density_1d(t, d, lam, sigma), 1e-300) for t in grid]) for d in (without, with_z)]
    truth = max(hockey_stick_1d(*pair, grid, epsilon) for pair in (logs, logs[::-1]))
    assert found.exact.low <= truth * (1 + 1e-4) + 1e-9
    assert truth <= found.exact.high
    assert found.exact.high - found.exact.low < 0.05 * delta


# RW21, Theorem 6: the printed sum typed once more, against the density ratio of a literal twin.
@for_each("sign", [1, -1])
@for_each("loss", [LogisticLoss(), SquaredLoss()])
def test_thm_6_product_form_is_the_log_ratio(loss: LogisticLoss | SquaredLoss, sign: int) -> None:
    """mu_j from the eigenvectors of the target's Hessian (rank 2: two records), one after the other."""
    rng = np.random.default_rng(6)
    X, y, theta = rng.uniform(-0.5, 0.5, (7, 3)), rng.choice([-1.0, 1.0], 7), rng.standard_normal(3)
    sigma, lam = 1.5, 0.5
    rest, target, whole = (Dataset(X[s], y[s], 1.0, 1.0) for s in (slice(0, 5), slice(5, 7), slice(0, 7)))
    D, other = (rest, whole) if sign > 0 else (whole, rest)
    own_gradient = gradient(theta, target, loss, 0.0)
    values, vectors = np.linalg.eigh(hessian(theta, target, loss, 0.0))
    M, product = -hessian(theta, D, loss, lam), 1.0  # grad b, eq. (4)
    for value, u in zip(values, vectors.T, strict=True):
        product *= 1 - sign * value * (u @ np.linalg.solve(M, u))
        M = M - sign * value * np.outer(u, u)
    inner = gradient(theta, D, loss, lam) @ own_gradient
    printed = -np.log(product) + own_gradient @ own_gradient / (2 * sigma**2) + sign * inner / sigma**2
    truth = log_density(theta, D, loss, lam, sigma) - log_density(theta, other, loss, lam, sigma)
    assert printed == pytest.approx(truth, rel=1e-9)


@for_each("sign", [1, -1])
def test_thm_6_the_statement_agrees(sign: int) -> None:
    """Its own instances deviate by rounding only; a wrong sign, half or term by far more than the tolerance."""
    at = {"dim": 2, "rank": 2, "n": 3, "loss": "poisson", "sign": sign, "sigma": 0.5, "lam": 0.5}
    for version in {c.mutant or "printed" for c in one("RW21-T6").cases}:
        found = decide("RW21-T6", "", version, at)
        assert found.claim.high == 1e-9
        if version == "printed":
            assert found.exact.high < 1e-11
        else:
            assert found.exact.low > (1e-7 if "1e-6" in version else 1e-2)


# RW21, Corollary 7: the printed sum typed once more against a literal twin's density ratio; the proof line by hand.
@for_each("sign", [1, -1])
def test_cor_7_printed_sum_is_the_log_ratio(sign: int) -> None:
    """z outside the data (upper signs) and inside (lower), three dimensions."""
    rng, loss, sigma, lam = np.random.default_rng(7), LogisticLoss(), 1.5, 0.5
    X, y, theta = rng.uniform(-0.5, 0.5, (6, 3)), rng.choice([-1.0, 1.0], 6), rng.standard_normal(3)
    rest, whole = Dataset(X[:5], y[:5], 1.0, 1.0), Dataset(X, y, 1.0, 1.0)
    D, other = (rest, whole) if sign > 0 else (whole, rest)
    x, margin = X[5], y[5] * float(X[5] @ theta)
    slope, curvature = -y[5] / (1 + math.exp(margin)), 1 / (2 + math.exp(margin) + math.exp(-margin))
    mu = x @ np.linalg.inv(hessian(theta, D, loss, lam)) @ x
    printed = (
        -math.log(1 + sign * curvature * mu)
        + (slope * x) @ (slope * x) / (2 * sigma**2)
        + sign * gradient(theta, D, loss, lam) @ (slope * x) / sigma**2
    )
    truth = log_density(theta, D, loss, lam, sigma) - log_density(theta, other, loss, lam, sigma)
    assert printed == pytest.approx(truth, rel=1e-9)


@for_each("sign", [1, -1])
def test_cor_7_the_statement_agrees(sign: int) -> None:
    at = {"dim": 1, "n": 3, "loss": "logistic", "sign": sign, "sigma": 0.5, "lam": 0.5}
    for version in {c.mutant or "printed" for c in one("RW21-C7").cases if c.part.endswith("bound")}:
        found = decide("RW21-C7", "#bound", version, at)
        if version == "printed":
            assert found.exact.high < 1e-11
        else:
            assert found.exact.low > (1e-7 if "1e-6" in version else 1e-2)


@for_each(("lam", "u", "sign"), [(1.0, 0.0, 1), (4.0, 1.5, 1), (1.0, 1.5, -1)])
def test_cor_7_proof_line_in_one_dimension(lam: float, u: float, sign: int) -> None:
    """mu(x) = 1/H with H = lam, or lam + f'' where the record is in the data; mu_1 = -+ f'' mu(x)."""
    curvature = 1 / (2 + math.exp(u) + math.exp(-u))
    mu = 1 / (lam + (curvature if sign < 0 else 0.0))
    left = math.log(1 + sign * curvature * mu)
    at = {"lam": lam, "predictor": u, "sign": sign}
    assert exact_value("RW21-C7", ".p", "printed", at) == pytest.approx(left - math.log(1 + mu))
    assert exact_value("RW21-C7", ".p", "corrected", at) == pytest.approx(0.0, abs=1e-15)
    half = left - math.log(1 + sign * curvature * mu / 2)
    assert exact_value("RW21-C7", ".p", "half of f''", at) == pytest.approx(half)
