"""W19, sections 3 and 4 up to Remark 4.2: each typed formula on known answers and literal twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.profiles import gaussian_log_delta, quadratic_delta
from oracles.rational_floats import floats
from rows import for_each
from scipy.stats import norm

from verify.methods.rational import design, random_matrix

# W19, Lemma 3.1, on X = (1), y = 0, target (1, 1): H = 1, H' = 2, minimisers 0 and 1/2, gradients -1 and -1/2.
SMALL = {"loss": "squared"}


def test_lem_3_1_signs_by_hand() -> None:
    """The difference is -1/2; the second display gives +1/2 as printed (a deviation of 1 over 1/2), -1/2 corrected."""
    assert exact_value("W19-L3.1", "#without", "printed", SMALL) == 2.0
    assert exact_value("W19-L3.1", "#without", "corrected", SMALL) == 0.0
    assert exact_value("W19-L3.1", "#with", "printed", SMALL) == 0.0


@for_each("part", ["#with", "#without"])
def test_lem_3_1_mutants_by_hand(part: str) -> None:
    """With the other Hessian or minimiser the right side is -1 or -1/4 for -1/2; scaled it is -1/2.02."""
    assert exact_value("W19-L3.1", part, "the other Hessian", SMALL) == 0.5
    assert exact_value("W19-L3.1", part, "the other minimiser", SMALL) == 0.5
    assert exact_value("W19-L3.1", part, "Hessian scaled by 1.01", SMALL) == pytest.approx(0.01 / 1.01)


@for_each("loss", ["logistic", "poisson", "quartic"])
def test_lem_3_1_smooth_losses_hold_only_with_the_integrated_hessian(loss: str) -> None:
    params = {"loss": loss, "dim": 2, "n": 3, "seed": 5}
    assert holds("W19-L3.1", "#with", "printed", params)
    assert holds("W19-L3.1", "#without", "corrected", params)
    assert not holds("W19-L3.1", "#without", "printed", params)
    assert not holds("W19-L3.1", "#with", "Hessian at the end", params)


# W19, equation 3.3, against numbers worked out by hand and the law of the noise.
def test_eq_3_3_output_perturbation_by_hand() -> None:
    """Delta = 2, delta = 1.25/e: the root is 1, so the printed epsilon is 2 for every gamma."""
    for gamma in (1.0, 9.0):
        point = {"gamma": gamma, "sensitivity": 2.0, "delta": 1.25 / math.e}
        assert claimed("W19-E3.3", "", "printed", point) == pytest.approx(2.0)
        assert claimed("W19-E3.3", "", "corrected", point) == pytest.approx(2.0 * math.sqrt(2.0 * gamma))


def test_eq_3_3_exact_delta_is_that_of_two_normal_laws() -> None:
    point = {"gamma": 100.0, "sensitivity": 0.01, "delta": 1e-3}
    found = decide("W19-E3.3", "", "printed", point)
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(found.claim.published, 0.1), rel=1e-9)


# W19, equation 3.4, on X = (1, 1), y = 0, target (1, 3): H = 2, H' = 3, theta_hat = 0, theta_hat' = 1, Delta = 1.
def test_eq_3_4_both_expressions_by_hand() -> None:
    """Squares over Delta^2: (2/3)^2 through H' with r' = 2 as printed, (3/3)^2 with r = 3, (2/2)^2 by H with r'."""
    assert exact_value("W19-E3.4", "#first", "printed", {"A": "identity"}) == pytest.approx(4 / 9)
    assert exact_value("W19-E3.4", "#first", "corrected", {"A": "identity"}) == 1.0
    assert exact_value("W19-E3.4", "#second", "printed", {"A": "identity"}) == 1.0
    assert exact_value("W19-E3.4", "#first", "the other residual", {"A": "identity"}) == pytest.approx(4 / 9)
    assert exact_value("W19-E3.4", "#second", "the other residual", {"A": "identity"}) == pytest.approx(9 / 4)


def test_eq_3_4_leverage_by_hand() -> None:
    """The factor is sqrt(1/2) and sqrt(1/3), the leverages 1/2 and 1/3: in squares over squares 2 and 3."""
    assert exact_value("W19-E3.4", "#leverage", "printed", {"design": "X"}) == 2.0
    assert exact_value("W19-E3.4", "#leverage", "printed", {"design": "[X, x]"}) == 3.0
    assert exact_value("W19-E3.4", "#leverage", "corrected", {"design": "[X, x]"}) == 1.0


def test_eq_3_4_printed_first_expression_on_a_random_design_in_floats() -> None:
    """The printed right-hand side over the distance of two least-squares fits, squared: (1 + mu)^-2."""
    X = floats(design("generic", 5, 3, 3))
    x = floats(random_matrix(3, 1, 3, 6)).ravel()
    mu = x @ np.linalg.solve(X.T @ X, x)
    params = {"A": "random", "shape": "generic", "n": 5, "dim": 3, "seed": 3}
    assert exact_value("W19-E3.4", "#first", "printed", params) == pytest.approx((1 + mu) ** -2, rel=1e-9)


# W19, section 4: three choices of A in floats.
PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3}
X = floats(design("generic", 6, 3, 3))
GRAM = X.T @ X


def test_set_4_a_isotropic() -> None:
    """The largest x'H^-2 x over unit x is 1/lambda_min^2."""
    top = np.linalg.eigvalsh(np.linalg.inv(GRAM) @ np.linalg.inv(GRAM))[-1]
    smallest = np.linalg.eigvalsh(GRAM)[0]
    value = exact_value("W19-S4.A", "1", "printed", PLAIN)
    assert value == pytest.approx(top * smallest**2, rel=1e-8)
    assert value == pytest.approx(1.0, rel=1e-8)
    assert exact_value("W19-S4.A", "1", "bound cut by 5 %", PLAIN) == pytest.approx(1 / 0.95**2, rel=1e-8)


def test_set_4_a_democratic() -> None:
    assert exact_value("W19-S4.A", "2", "printed", PLAIN) == 0.0
    assert exact_value("W19-S4.A", "2", "scaled by 1.01", PLAIN) == pytest.approx(0.01 / 1.01)
    rows = [floats(random_matrix(3, 1, 3, 40 + k)).ravel() for k in range(3)]
    left, right = [x @ np.linalg.solve(GRAM, x) for x in rows], [x @ x for x in rows]
    gap = np.abs(np.subtract(left, right)).max() / max(*left, *right)
    assert exact_value("W19-S4.A", "2", "the Fisher choice", PLAIN) == pytest.approx(gap, rel=1e-9)


def test_set_4_a_fisher() -> None:
    """X'X/sigma^2 times A^-1/gamma is a multiple of I only for A = X'X."""
    assert exact_value("W19-S4.A", "3", "printed", PLAIN) == 0.0
    information = GRAM / 2.25
    for name, A in (("identity for A", np.eye(3)), ("the democratic choice", GRAM @ GRAM)):
        left, right = np.linalg.solve(A, information), np.eye(3) / 2.25
        gap = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
        assert exact_value("W19-S4.A", "3", name, PLAIN) == pytest.approx(gap, rel=1e-9)


# W19, equation 4.1: the covariance of the minimiser, by hand and in floats.
NOISY = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "sigma^2": 2.25}


def test_eq_4_1_by_hand() -> None:
    """X = 1, sigma^2 = 4: as printed nothing is random, the stated variance is 1/gamma = 1; drawn z gives 4/4."""
    assert exact_value("W19-E4.1", "", "printed", {"sigma^2": 4.0}) == 1.0
    assert exact_value("W19-E4.1", "", "corrected", {"sigma^2": 4.0}) == 0.0
    assert exact_value("W19-E4.1", "", "gamma = 4.04/sigma^2", {"sigma^2": 4.0}) == pytest.approx(0.01 / 1.01)


def test_eq_4_1_mutants_in_floats() -> None:
    """The minimiser is (X'X)^-1 (X'y - z/2): its covariance is sigma^2/4 (X'X)^-2."""
    X = floats(design("generic", 6, 3, 3))
    inverse = np.linalg.inv(X.T @ X)
    covariance = 2.25 / 4 * inverse @ inverse
    for name, root in (("the Fisher choice", inverse), ("the identity", np.eye(3))):
        stated = 2.25 / 4 * root
        gap = np.abs(covariance - stated).max() / max(np.abs(covariance).max(), np.abs(stated).max())
        assert exact_value("W19-E4.1", "", name, NOISY) == pytest.approx(gap, rel=1e-9)
    assert exact_value("W19-E4.1", "", "corrected", NOISY) == 0.0


# W19, equation 4.2: the precision of the posterior, by hand and in floats.
def test_eq_4_2_by_hand() -> None:
    """exp(-(1 - theta)^2) has precision 2, where gamma X'X = 1; with the half in the exponent it has 1."""
    assert exact_value("W19-E4.2", "", "printed", {"gamma": 1.0}) == 0.5
    assert exact_value("W19-E4.2", "", "corrected", {"gamma": 1.0}) == 0.0
    assert exact_value("W19-E4.2", "", "factor 0.505", {"gamma": 1.0}) == pytest.approx(0.01 / 1.01)


def test_eq_4_2_mutants_in_floats() -> None:
    X = floats(design("generic", 6, 3, 3))
    gram, params = X.T @ X, {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "gamma": 0.75}
    for name, A in (("the democratic choice", gram @ gram), ("the identity", np.eye(3))):
        gap = np.abs(gram - A).max() / max(np.abs(gram).max(), np.abs(A).max())
        assert exact_value("W19-E4.2", "", name, params) == pytest.approx(gap, rel=1e-9)


# W19, Theorem 4.1: (4.3) and (4.4) retyped from the text, on ridge regressions with and without a record.
def ridge(seed: int, gamma: float, delta: float) -> tuple[dict[str, float], dict[str, float]]:
    """Return the point of the statement, and every right-hand side from the two data sets themselves."""
    rng = np.random.default_rng(seed)
    X, y, x, target, lam = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=3), rng.normal() * 3, 0.5
    both, responses = np.vstack([X, x]), np.append(y, target)
    H, joined = X.T @ X + lam * np.eye(3), both.T @ both + lam * np.eye(3)
    mu, inside = x @ np.linalg.solve(H, x), x @ np.linalg.solve(joined, x)
    r = target - x @ np.linalg.solve(H, X.T @ y)
    r1 = target - x @ np.linalg.solve(joined, both.T @ responses)
    log = math.log(2 / delta)
    sides = {
        "#4.3 printed": 0.5 * abs(-math.log(1 + mu) + gamma * mu / (1 + mu) * r**2)
        + mu / 2 * log
        + math.sqrt(gamma * mu * log) * abs(r),
        "#4.4 printed": 0.5 * abs(-math.log(1 - inside) - gamma * inside / (1 - inside) * r1**2)
        + inside / 2 * log
        + math.sqrt(gamma * inside * log) * abs(r1),
        "#4.3 corrected": 0.5 * abs(-math.log(1 + mu) + gamma * mu / (1 + mu) * r**2)
        + mu * log
        + math.sqrt(2 * gamma * mu * log) * abs(r),
        "#4.4 corrected": 0.5 * abs(math.log(1 - inside) + gamma * inside / (1 - inside) ** 2 * r1**2)
        + inside / (1 - inside) * log
        + math.sqrt(2 * gamma * inside * log) / (1 - inside) ** 1.5 * abs(r1),
    }
    return {"leverage": mu, "residual": math.sqrt(gamma) * abs(r), "delta": delta}, sides


@for_each("seed", range(4))
def test_thm_4_1_right_hand_sides_on_data(seed: int) -> None:
    point, sides = ridge(seed, 1.7, 1e-4)
    for name, value in sides.items():
        part, version = name.split()
        assert claimed("W19-T4.1", part, version, point) == pytest.approx(value, rel=1e-10)
    for version in ("printed", "corrected"):
        gap = sides[f"#4.4 {version}"] / sides[f"#4.3 {version}"] - 1
        assert exact_value("W19-T4.1", "#=", version, point) == pytest.approx(gap, abs=1e-10)


def test_thm_4_1_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: |2 - log 2|/2 + 1/2 + 2 as printed, + 1 + 2 sqrt 2 corrected."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    centre = 0.5 * (2.0 - math.log(2.0))
    assert claimed("W19-T4.1", "#4.3", "printed", point) == pytest.approx(centre + 0.5 + 2.0)
    assert claimed("W19-T4.1", "#4.3", "corrected", point) == pytest.approx(centre + 1.0 + 2.0 * math.sqrt(2.0))
    # sign of the logarithm: (|log 2 + 2| - |log 2 - 2|)/2 = log 2 more
    gap = math.log(2.0) / (centre + 1.0 + 2.0 * math.sqrt(2.0))
    assert exact_value("W19-T4.1", "#=", "sign of the logarithm", point) == pytest.approx(gap)


@settings(max_examples=50)
@given(st.floats(1e-6, 1e4), st.floats(0.0, 1e3), st.floats(1e-9, 0.99))
def test_thm_4_1_corrected_sides_agree(leverage: float, residual: float, delta: float) -> None:
    point = {"leverage": leverage, "residual": residual, "delta": delta}
    left, right = (claimed("W19-T4.1", part, "corrected", point) for part in ("#4.3", "#4.4"))
    assert left == pytest.approx(right, rel=1e-9)


def test_thm_4_1_exact_delta_from_its_definition() -> None:
    found = decide("W19-T4.1", "#4.3", "printed", {"leverage": 1.0, "residual": 2.0, "delta": 1e-3})
    epsilon = found.claim.published
    worse = max(quadratic_delta(epsilon, 1.0, 2.0, backward=side) for side in (False, True))
    assert found.exact.value == pytest.approx(worse, rel=1e-8)


# W19, proof of Theorem 4.1, on X = (1), y = 0, lambda = gamma = 1, target (1, 2), output 1. H = 2, H' = 3, mu =
# 1/2, mu' = 1/3, the estimates are 0 and 2/3; p is N(0, 1/2), p' is N(2/3, 1/3).
ONE = {"gamma": 1.0}
RATIO = norm.logpdf(1, 0, 0.5**0.5) - norm.logpdf(1, 2 / 3, (1 / 3) ** 0.5)


def test_thm_4_1p_log_density_ratios() -> None:
    """Out of sample the display gives the ratio; in sample the wrong sign adds log(2/3)."""
    out = -math.log(1.5) / 2 + 0.5 * (1 - 4 / 1.5)
    inside = math.log(2 / 3) / 2 + 0.5 * (1 - (2 - 2 / 3) ** 2 / (2 / 3))
    assert out == pytest.approx(RATIO, rel=1e-12)
    assert inside == pytest.approx(RATIO, rel=1e-12)
    assert exact_value("W19-T4.1p", "#out", "printed", ONE) == pytest.approx(0.0, abs=1e-15)
    assert exact_value("W19-T4.1p", "#in", "corrected", ONE) == pytest.approx(0.0, abs=1e-15)
    assert exact_value("W19-T4.1p", "#in", "printed", ONE) == pytest.approx(math.log(2 / 3) / abs(RATIO), rel=1e-12)
    assert exact_value("W19-T4.1p", "#out", "sign of the logarithm", ONE) == pytest.approx(
        math.log(2 / 3) / abs(RATIO), rel=1e-12
    )
    # one hundredth of (4/3)/2
    assert exact_value("W19-T4.1p", "#out", "residual term scaled by 1.01", ONE) == pytest.approx(
        4 / 3 / 100 / abs(RATIO), rel=1e-9
    )


def test_thm_4_1p_matrix_identities() -> None:
    """Deviations over the largest entry, worked out by hand."""
    assert exact_value("W19-T4.1p", "#det", "printed", ONE) == 0.0
    assert exact_value("W19-T4.1p", "#det", "leverages exchanged", ONE) == pytest.approx(0.5 / 3)
    assert exact_value("W19-T4.1p", "#A.2", "printed", ONE) == 0.0
    assert exact_value("W19-T4.1p", "#A.2", "1 + mu'", ONE) == pytest.approx(1 / 6)  # 1/3 + (1/9)/(4/3) = 5/12 for 1/2
    assert exact_value("W19-T4.1p", "#A.1", "printed", ONE) == 0.0  # 1/3 - 2 = 1 + 4/3 - 0 - 4
    assert exact_value("W19-T4.1p", "#A.1", "sign of the cross term", ONE) == pytest.approx(8 / (19 / 3))
    assert exact_value("W19-T4.1p", "#covariance", "printed", ONE) == pytest.approx((3 - 1 / 3) / 3)
    assert exact_value("W19-T4.1p", "#covariance", "corrected", ONE) == 0.0


@for_each("delta", [0.5, 0.01, 1e-9])
def test_thm_4_1p_tail_step(delta: float) -> None:
    log = math.log(2 / delta)
    printed = 2 * norm.sf(math.sqrt(log)) / (2 * math.exp(-log) / log)
    corrected = 2 * norm.sf(math.sqrt(2 * log)) / (2 * math.exp(-log) / math.sqrt(2 * log))
    cut = 2 * norm.sf(math.sqrt(1.9 * log)) / (2 * math.exp(-log) / math.sqrt(2 * log))
    assert exact_value("W19-T4.1p", "#tail", "printed", {"delta": delta}) == pytest.approx(printed, rel=1e-9)
    assert exact_value("W19-T4.1p", "#tail", "corrected", {"delta": delta}) == pytest.approx(corrected, rel=1e-9)
    assert exact_value("W19-T4.1p", "#tail", "quantile 1.9 log(2/delta)", {"delta": delta}) == pytest.approx(cut)
    assert exact_value("W19-T4.1p", "#last", "printed", {"delta": delta}) == pytest.approx(1 / log, rel=1e-12)
    assert holds("W19-T4.1p", "#last", "printed", {"delta": delta})


# W19, Remark 4.2: both forms by hand, the comparison with (4.3) in floats, the sequence of (b).
def test_rem_4_2_simplified_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: 1/2 (1 + 2) + 1/2 4 + 2 sqrt 2; with the residual inside, a is 1."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    assert claimed("W19-R4.2", "#a", "corrected", point) == pytest.approx(1.5 + 2.0 + 2.0 * math.sqrt(2.0))
    inside = claimed("W19-R4.2", "#a", "residual with the target", point)
    assert inside == pytest.approx(1.5 + 0.5 + math.sqrt(2.0))
    lower = claimed("W19-R4.2", "#a", "tail factor 1.6", point)
    assert lower == pytest.approx(1.3 + 2.0 + 2.0 * math.sqrt(1.6))


@for_each(("mu", "a"), [(1.0, 10.0), (0.1, 0.3), (50.0, 2.0)])
def test_rem_4_2_comparison_in_floats(mu: float, a: float) -> None:
    log, gamma = math.log(2e6), 1.0
    params = {"what": "comparison", "leverage": mu, "residual": a, "delta": 1e-6}
    for version, tail, r in (("printed", 1.0, a / (1 + mu)), ("corrected", 2.0, a)):
        long = 0.5 * abs(gamma * mu / (1 + mu) * a**2 - math.log(1 + mu))
        long += tail * mu / 2 * log + math.sqrt(tail * mu * log) * a
        short = mu / 2 * (1 + tail * log) + 0.5 * min(mu, 1) * r**2 + math.sqrt(tail * mu * log) * r
        assert exact_value("W19-R4.2", "#a", version, params) == pytest.approx(long / short, rel=1e-12)


def test_rem_4_2_comparison_on_the_whole_box() -> None:
    assert holds("W19-R4.2", "#a", "corrected", {"what": "box"})
    assert not holds("W19-R4.2", "#a", "square of the residual cut by 10 %", {"what": "box"})


def test_rem_4_2_small_residuals_by_hand() -> None:
    """small = mu log, reach = sqrt(gamma mu' log) |r'|, mu' = mu/(1 + mu), r' = r/(1 + mu)."""
    small, reach, log = 0.1, 0.5, math.log(2 / 1e-3)
    mu = small / log
    inside = mu / (1 + mu)
    r = reach / math.sqrt(inside * log) * (1 + mu)
    point = {"small": small, "reach": reach, "delta": 1e-3}
    expected = 2 * math.sqrt(mu * log) * r
    assert claimed("W19-R4.2", "#b", "no remainder", point) == pytest.approx(expected, rel=1e-12)
    assert claimed("W19-R4.2", "#b", "corrected", point) == pytest.approx(expected + mu * (0.5 + log), rel=1e-12)
    assert claimed("W19-R4.2", "#b", "constant 1.18", point) == pytest.approx(0.59 * expected + mu * (0.5 + log))


def test_rem_4_2_sequence_of_the_limit() -> None:
    """The exact epsilon is within a constant factor of log(2/delta), which grows by 5 decades."""
    found = exact_value("W19-R4.2", "#b", "printed", {"what": "sequence", "first log": 10.0, "last log": 1e6})
    assert found == pytest.approx(5.0, abs=0.1)
