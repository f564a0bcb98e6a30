"""W18, appendix C: each typed formula on known answers and literal twins."""

import math
from dataclasses import dataclass
from math import log, log10, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, holds
from oracles.rational_floats import floats
from oracles.ridge_ssp import Rate, last_of_13, problem, rate_12, rate_13, rho_at_the_median
from rows import for_each
from scipy import stats
from scipy.optimize import minimize
from scipy.stats import norm

from verify.kernel.statement import Value
from verify.methods.rational import design, random_matrix

# W18, Lemma 4: the error of a perturbed solution, evaluated again in floats and in one dimension by hand.
PLAIN = {"X": "generic", "n": 6, "dim": 3, "E1": "any", "moment": "X^T y", "seed": 11}


@given(
    seed=st.integers(1, 10_000),
    dim=st.integers(1, 4),
    kind=st.sampled_from(["any", "symmetric"]),
    literal=st.booleans(),
)
def test_lem_4_the_identity_holds_with_either_moment(seed: int, dim: int, kind: str, literal: bool) -> None:
    """X y for X^T y does no harm, since the same vector stands in both estimates."""
    moment, n = ("X y", dim) if literal else ("X^T y", dim + 3)
    X, E1 = design("generic", n, dim, seed), random_matrix(dim, dim, seed, 3)
    gram = X.transpose() * X
    assume(all(M.det() != 0 for M in (gram, gram + (E1 + E1.transpose() if kind == "symmetric" else E1))))
    assert holds("W18-L4", "", "printed", PLAIN | {"n": n, "dim": dim, "E1": kind, "moment": moment, "seed": seed})


@for_each("wrong", ["sign of the first term", "first term 1 % larger", "plain inverse"])
def test_lem_4_deviations_of_wrong_forms(wrong: str) -> None:
    """-(A + E1)^-1 E1 theta* + (A + E1)^-1 E2 with one thing wrong, from floats and numpy's inverse."""
    draws = [(6, 3, 11, 0), (6, 1, 11, 2), (3, 3, 11, 3), (3, 1, 11, 4)]
    X, y, E1, E2 = (floats(random_matrix(*d)) for d in draws)
    A, b = X.T @ X, X.T @ y
    theta, P = np.linalg.inv(A) @ b, np.linalg.inv(A + E1)
    first = -P @ E1 @ theta
    right = {
        "sign of the first term": P @ E2 - first,
        "first term 1 % larger": 1.01 * first + P @ E2,
        "plain inverse": np.linalg.inv(A) @ (E2 - E1 @ theta),
    }[wrong]
    left = P @ (b + E2) - theta
    np.testing.assert_allclose(left, first + P @ E2, rtol=1e-9)
    want = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
    assert exact_value("W18-L4", "", wrong, PLAIN) == pytest.approx(want, rel=1e-9)


# W18, appendix C.1: constants in one dimension by scipy, the order and (9) at equality by hand.
EQUAL = {"E1": "equality", "dim": 3, "seed": 0}


@for_each(("version", "power"), [("printed", 0.0), ("corrected", 1.0), ("power 0.8 of the logarithm", 0.8)])
def test_rem_c1a_rate_in_delta(version: str, power: float) -> None:
    """d = 1, n = c sqrt(log(4/delta)): the noise over the Gram matrix is fixed, the rate falls as log^(p - 1)."""
    rate = [log**power / math.sqrt(log) ** 2 for log in (10.0, 1e5)]
    assert exact_value("W18-C1a", "#rate", version, {"dim": 1}) == pytest.approx(
        math.log10(rate[0] / rate[1]), abs=1e-9
    )


def test_rem_c1a_size_and_norm_in_one_dimension() -> None:
    """lambda_min/2 = alpha n/2 = c sqrt(log(4/delta))/(2 epsilon), the noise 2 sqrt(log(4/delta))/epsilon."""
    for part, version, deviate in (
        ("#n", "printed", 10 / 2 / 2),
        ("#n", "constant 5 % below the critical one", 6.2496 / 4),
        ("#norm", "corrected", 5 / 2),
        ("#norm", "constant 5 % below the critical one", 3.1248 / 2),
    ):
        assert exact_value("W18-C1a", part, version, {"dim": 1}) == pytest.approx(2 * norm.sf(deviate), rel=1e-9)
    assert 2 * norm.sf(6.2496 / 0.95 / 4) == pytest.approx(0.1, rel=1e-3)


@for_each(
    ("part", "version", "power"), [("#n", "printed", 0.5), ("#n", "power 1 of d", 0.0), ("#norm", "corrected", 0.5)]
)
def test_rem_c1a_norm_of_the_noise_in_three_dimensions(part: str, version: str, power: float) -> None:
    """2.5 d^power deviates against the operator norm of drawn matrices; 0.03 is 4.5 standard errors."""
    rng = np.random.Generator(np.random.PCG64DXSM(4))
    half = np.triu(rng.standard_normal((20_000, 3, 3)))
    norms = np.linalg.norm(half + np.swapaxes(np.triu(half, 1), 1, 2), ord=2, axis=(1, 2))
    sampled = decide("W18-C1a", part, version, {"dim": 3}, draws=8_000).sampled
    assert sampled.value == pytest.approx(np.mean(norms > 2.5 * 3**power), abs=0.03)


def test_rem_c1a_printed_norm_near_delta_1_over_12() -> None:
    """sqrt(log(4/delta)/log(12 delta)) at delta = (1 + h)/12, from h = 1e-2 to 1e-12, with 40 digits."""
    with mpmath.workdps(40):
        ratios = []
        for h in (mpmath.mpf("1e-2"), mpmath.mpf("1e-12")):
            delta = (1 + h) / 12
            ratios.append(mpmath.sqrt(mpmath.log(4 / delta) / mpmath.log(12 * delta)))
        decades = float(mpmath.log10(ratios[1] / ratios[0]))
    exact = decide("W18-C1a", "#norm", "printed").exact
    assert exact.low <= decades <= exact.high
    assert exact.low > 0.5


def test_rem_c1a_order_at_equality() -> None:
    """X^T X = I, E_1 = -I/2: the lower difference is 0, at 0.55 it is -0.05; the upper 1.45 - 1/2."""
    assert exact_value("W18-C1a", "#order", "printed", EQUAL) == 0.0
    assert exact_value("W18-C1a", "#order", "lower edge 0.55", EQUAL) == pytest.approx(-0.05)
    for seed in (5, 6):
        assert holds("W18-C1a", "#order", "printed", {"E1": "any", "dim": 3, "seed": seed})


def test_rem_c1a_9_at_equality() -> None:
    """E_2 = -E_1 theta*: |2 (E_2 - E_1 theta*)|^2 = 4 |E_2 - E_1 theta*|^2/1 = 8 (|E_2|^2 + |E_1 theta*|^2)."""
    assert exact_value("W18-C1a", "#9", "printed", EQUAL) == 1.0
    assert exact_value("W18-C1a", "#9", "constant cut by 5 %", EQUAL) == pytest.approx(8 / 7.6)
    for seed in (5, 6):
        assert holds("W18-C1a", "#9", "printed", {"E1": "any", "dim": 3, "seed": seed})


def test_rem_c1a_9_on_the_box() -> None:
    """d = 1: (cos - sin)^2/(1 + g)^2 is at most 8, least room at g near -1/2, phi = 3 pi/4."""
    evidence = decide("W18-C1a", "#9", "printed", {})
    found = minimize(lambda v: 8 - (math.cos(v[1]) - math.sin(v[1])) ** 2 / (1 + v[0]) ** 2, (-0.4, 2.0),
                     bounds=[(-0.499, 0.5), (0, math.pi)])  # fmt: skip
    assert 0 <= evidence.exact.low <= found.fun <= evidence.exact.high + 1e-9


# W18, Lemma 5: excess squared error is a squared distance; wrong forms miss it by known shares.
@given(
    seed=st.integers(1, 10_000),
    dim=st.integers(2, 4),
    X=st.sampled_from(["generic", "duplicated rows", "last feature repeats the first"]),
)
def test_lem_5_the_identity_holds(seed: int, dim: int, X: str) -> None:
    assert holds("W18-L5", "", "printed", {"X": X, "n": 7, "dim": dim, "seed": seed})


@for_each(("wrong", "share"), [("one half on the right", 1 / 2), ("1 % larger", 0.01 / 1.01)])
def test_lem_5_deviations_of_wrong_factors(wrong: str, share: float) -> None:
    """Both sides are one number, so a factor c on the right leaves |1 - c|/max(1, c)."""
    assert exact_value("W18-L5", "", wrong, {"X": "generic", "n": 5, "dim": 3, "seed": 9}) == pytest.approx(share)


@for_each("wrong", ["X y in place of X^T y", "ridge estimate for the minimiser"])
def test_lem_5_another_centre_breaks_it(wrong: str) -> None:
    assert not holds("W18-L5", "", wrong, {"X": "generic", "n": 3, "dim": 3, "seed": 9})


# W18, Lemma 6: constants of the bound against scipy's normal tail, (10) and its corrections by hand.
RHOS = (0.5, 0.04, 1e-9)


@for_each("rho", RHOS)
def test_lem_6_printed_bound_in_one_dimension(rho: float) -> None:
    """E theta is one normal variable: P(Z^2 > log(2/rho)), of the order of sqrt(rho)."""
    found = exact_value("W18-L6", "", "printed", {"A": "identity", "dim": 1, "rho": rho})
    assert found == pytest.approx(2 * norm.sf(math.sqrt(math.log(2 / rho))), rel=1e-11)


@for_each("rho", RHOS)
@for_each("dim", [1, 2, 9, 400])
def test_lem_6_corrected_bound_on_flat_vectors(dim: int, rho: float) -> None:
    """(4 - 2/d) log(2 d^2/rho) over the variance 2 - 1/d leaves P(Z^2 > 2 log(2 d^2/rho))."""
    at = {"A": "rank one, flat", "dim": dim, "rho": rho}
    tail = 2 * norm.sf(math.sqrt(2 * math.log(2 * dim**2 / rho)))
    assert exact_value("W18-L6", "", "corrected", at) == pytest.approx(tail, rel=1e-11)
    log = math.log(2 * dim**2 / rho)
    cut = 2 * norm.sf(math.sqrt(1.8 * log))
    assert exact_value("W18-L6", "", "constant cut by 10 %", at) == pytest.approx(cut, rel=1e-11)
    two = 2 * norm.sf(math.sqrt(2 * log / (2 - 1 / dim)))
    assert exact_value("W18-L6", "", "constant 2 in every dimension", at) == pytest.approx(two, rel=1e-11)


def test_lem_6_largest_variance_is_2_minus_1_over_d() -> None:
    """Var(u'W theta) = 1 + (u'theta)^2 - sum u_i^2 theta_i^2; flat vectors give 2 - 1/d, and no random pair more."""
    rng = np.random.Generator(np.random.PCG64DXSM(6))
    for d in (1, 2, 7):
        u, theta = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((2, 500, d)))
        variance = 1 + (u * theta).sum(axis=1) ** 2 - (u**2 * theta**2).sum(axis=1)
        assert variance.max() <= 2 - 1 / d + 1e-12
        flat = np.full(d, d**-0.5)
        assert 1 + (flat @ flat) ** 2 - (flat**4).sum() == pytest.approx(2 - 1 / d)


@for_each(("version", "factor"), [("printed", 1.0), ("corrected", 2.0), ("factor cut by 10 %", 1.8)])
def test_lem_6_largest_entry_in_one_dimension(version: str, factor: float) -> None:
    for rho in RHOS:
        want = 2 * norm.sf(math.sqrt(factor * math.log(2 / rho)))
        assert exact_value("W18-L6", ".p2", version, {"dim": 1, "rho": rho}) == pytest.approx(want, rel=1e-11)


def test_lem_6_display_10() -> None:
    """E = [[0, 1], [1, 0]], theta = e_1, A = e_1 e_1^T: E theta = e_2, so 0 = 1 as printed."""
    swap = {"E": "swap", "U": "identity", "dim": 2, "seed": 0}
    assert exact_value("W18-L6", ".p1", "printed", swap) == 1.0
    assert exact_value("W18-L6", ".p1", "corrected", swap) == 0.0
    random = {"E": "random", "U": "rotation", "dim": 3, "seed": 5}
    assert holds("W18-L6", ".p1", "corrected", random)
    assert exact_value("W18-L6", ".p1", "1 % larger", random) == pytest.approx(0.01 / 1.01)
    assert not holds("W18-L6", ".p1", "squares summed", random)


def test_lem_6_law_of_an_entry() -> None:
    """Rows of U have length 1, so every variance is 1; with 2 on the diagonal of E entry (1, 1) has 1 + 9/25."""
    assert holds("W18-L6", "#law of an entry", "printed", {"dim": 5})
    assert exact_value("W18-L6", "#law of an entry", "variance 5 % smaller", {"dim": 3}) == pytest.approx(0.05)
    found = exact_value("W18-L6", "#law of an entry", "variance 2 on the diagonal", {"dim": 2})
    assert found == pytest.approx(max(9, 16) / 25 / (1 + 16 / 25))


# W18, (11): tails of the two noises by scipy, in the paper's own units.
B, Y, EPSILON, LOG6 = 2.0, 3.0, 0.5, 11.0  # log(6/delta)


@for_each(("dim", "rho"), [(1, 0.999), (2, 0.05), (20, 1e-3), (200, 1e-12)])
def test_eq_11_moment_with_a_flat_spectrum(dim: int, rho: float) -> None:
    """|E_2|^2/eigenvalue with E_2 of variance B^2 Y^2 log(6/delta)/(epsilon/3)^2, against twice (11)."""
    eigenvalue, variance = 7.0, B**2 * Y**2 * LOG6 / (EPSILON / 3) ** 2
    bound = 2 * B**2 * Y**2 * (dim / eigenvalue) * LOG6 * log(dim / rho) / (EPSILON**2 / 9)
    case = {"spectrum": "flat", "dim": dim, "rho": rho}
    want = stats.chi2.sf(bound * eigenvalue / variance, dim)
    assert exact_value("W18-E11", "#moment", "printed", case) == pytest.approx(want, rel=1e-9)
    assert want <= rho


@for_each(("version", "threshold"), [("constant cut by 10 %", 1.8 * log(1e30)), ("no dependence on rho", 2 * log(3))])
def test_eq_11_moment_mutants(version: str, threshold: float) -> None:
    case = {"spectrum": "flat", "dim": 1, "rho": 1e-30}
    assert exact_value("W18-E11", "#moment", version, case) == pytest.approx(stats.chi2.sf(threshold, 1), rel=1e-9)
    assert not holds("W18-E11", "#moment", version, case)


def test_eq_11_moment_with_a_spread_spectrum() -> None:
    """Null: the drawn frequency is that of a literal run, at a level where it is moderate; 6 standard errors 0.02."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    eigenvalues = 1 / np.geomspace(1.0, 1e-4, 5)
    rho = 5 / 1.9  # log(d/rho) is small here, so that the bound is often exceeded
    E2 = B * Y * sqrt(LOG6) / (EPSILON / 3) * rng.standard_normal((40_000, 5))
    bound = 2 * B**2 * Y**2 * sum(1 / eigenvalues) * LOG6 * log(5 / rho) / (EPSILON**2 / 9)
    direct = np.mean((E2**2 / eigenvalues).sum(axis=1) > bound)
    sampled = decide("W18-E11", "#moment", "printed", draws=40_000, spectrum="spread", dim=5, rho=rho).sampled
    assert 0.1 < direct < 0.5
    assert sampled.value == pytest.approx(direct, abs=0.02)


@for_each(("version", "share"), [("printed", 1.0), ("constant cut by 10 %", 0.9)])
@for_each(("dim", "rho"), [(1, 0.9), (2, 1e-3), (20, 1e-12)])
def test_eq_11_gram_matrix_in_a_metric_of_rank_one(version: str, share: float, dim: int, rho: float) -> None:
    """u'E theta with flat u and theta has variance 2 - 1/d; the stated constant is 4 - 2/d, so the ratio is 2."""
    flat = np.full(dim, dim**-0.5)
    variance = 1 + (flat @ flat) ** 2 - (flat**4).sum()  # diagonal entries once, others twice
    assert variance == pytest.approx(2 - 1 / dim)
    threshold = share * (4 - 2 / dim) * log(2 * dim**2 / rho)
    want = 2 * stats.norm.sf(sqrt(threshold / variance))
    case = {"spectrum": "rank one", "dim": dim, "rho": rho}
    assert exact_value("W18-E11", "#Gram matrix", version, case) == pytest.approx(want, rel=1e-9)


# W18, Corollary 7: its displays on scalar data worked out by hand, and on one 2x2 design by floating point.
def named(kind: str, **more: Value) -> dict[str, Value]:
    return {"kind": kind, "n": 1, "dim": 1, "seed": 0, **more}


def test_cor_7_error_word_for_word() -> None:
    """X = [[1, 1], [0, 1]], y = (0, 1), lambda = 1/4, no noise: true of X^T y, broken where X y is X y."""
    X, y, K = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([0.0, 1.0]), np.eye(2) / 4
    K = X.T @ X + K
    theta = np.linalg.solve(X.T @ X, X.T @ y)
    right = -np.linalg.solve(K, theta) / 4
    left = np.linalg.solve(K, X @ y) - theta
    case = named("two by two") | {"n": 2, "dim": 2}
    want = abs(left - right).max() / max(abs(left).max(), abs(right).max())
    assert exact_value("W18-C7", "#error", "X y word for word", case) == pytest.approx(want, rel=1e-12)
    np.testing.assert_allclose(np.linalg.solve(K, X.T @ y) - theta, right, atol=1e-14)
    assert holds("W18-C7", "#error", "printed", case)


def test_cor_7_error_of_one_record() -> None:
    """X = 2, y = 2, lambda = 1, E_2 = 5: theta_hat = 9/5, error 4/5 = -1/5 + 1; a ridge term 1 % larger breaks it."""
    assert holds("W18-C7", "#error", "printed", named("one record"))
    off = exact_value("W18-C7", "#error", "ridge term 1 % larger", named("one record"))
    assert off == pytest.approx(0.01 * (1 / 5) / (4 / 5), rel=1e-12)
    assert exact_value("W18-C7", "#error", "no ridge term", named("one record")) == pytest.approx((1 / 5) / 1)


@for_each(
    ("version", "kind", "want"),
    [
        ("printed", "one record, y = 0", 4 / (3 / 25)),  # E_2 = 10, M = 5: error 2; the right side sees |M^-1|^2 only
        ("corrected", "one record, y = 0", 4 / (3 * 4)),
        ("corrected", "equal terms", 1.0),  # three terms of 2/3: 2^2 = 3 * 3 * (2/3)^2
        ("constant cut by 5 %", "equal terms", 1 / 0.95),
    ],
)
def test_cor_7_three_terms(version: str, kind: str, want: float) -> None:
    assert exact_value("W18-C7", ".p1", version, named(kind, A="identity")) == pytest.approx(want, rel=1e-12)


def test_cor_7_three_terms_need_the_ridge() -> None:
    """lambda = 10^9, no noise: the error is the ridge term alone."""
    assert not holds("W18-C7", ".p1", "no ridge term", named("large ridge", A="identity"))


def test_cor_7_order() -> None:
    """E_1 = 0, K = 5: K - K/2 = 5/2; at E_1 = -K/2 equality, and 0.55 fails."""
    assert exact_value("W18-C7", ".p2", "printed", named("one record")) == pytest.approx(-2.5)
    assert exact_value("W18-C7", ".p2", "corrected", named("one record")) == pytest.approx(2.5)
    assert holds("W18-C7", ".p2", "corrected", named("half"))
    assert exact_value("W18-C7", ".p2", "0.55 in place of 0.5", named("half")) == pytest.approx(-0.05)


def test_cor_7_rates_at_half() -> None:
    """G = 1, theta* = 2, E_1 = -1/2, E_2 = 1, lambda near 0: error 4; 16 = 12 (1 + 1) 2/3 and 8 = 6 (1 + 1) 2/3."""
    for part in ("#rate", "#rate of F"):
        assert exact_value("W18-C7", part, "printed", named("half")) == pytest.approx(2 / 3, rel=1e-8)
        wrong = exact_value("W18-C7", part, "constant half of the necessary one", named("half"))
        assert wrong == pytest.approx(2.0, rel=1e-8)


def test_cor_7_rates_of_one_record() -> None:
    """X = 2, lambda = 1, E_2 = 5, theta* = 1: error 4/5, K = 5; 16/25 against 12 (25 + 1)/25, 32/25, 6 * 26/5."""
    assert exact_value("W18-C7", "#rate", "printed", named("one record")) == pytest.approx(16 / (12 * 26))
    assert exact_value("W18-C7", "#rate of F", "printed", named("one record")) == pytest.approx(
        (32 / 25) / (6 * 26 / 5)
    )
    for part in ("#rate", "#rate of F"):
        assert not holds("W18-C7", part, "no ridge term", named("large ridge"))
        assert not holds("W18-C7", part, "no moment term", named("one record, y = 0"))


def test_cor_7_excess() -> None:
    """theta_hat = 9/5 on X = 2, y = 2: F = (8/5)^2/2 = 32/25; the inverse metric gives (1/4)(16/25)/2 = 2/25."""
    assert exact_value("W18-C7", ".p3", "printed", named("one record")) == pytest.approx(30 / 32)
    assert exact_value("W18-C7", ".p3", "corrected", named("one record")) == 0.0
    assert exact_value("W18-C7", ".p3", "1 % larger", named("one record")) == pytest.approx(0.01 / 1.01)


def test_cor_7_random_data_in_every_metric() -> None:
    for A in ("identity", "Gram matrix"):
        assert holds("W18-C7", ".p1", "corrected", {"kind": "any", "n": 7, "dim": 3, "seed": 9, "A": A})
    evidence = decide("W18-C7", "#rate", "printed", {"kind": "scaled to the condition", "n": 7, "dim": 3, "seed": 9})
    assert 0 < evidence.exact.low <= evidence.exact.high < 1


# W18, (12) and (13): how often the error exceeds 40 and 20 times the rate, against literal runs in the paper's units.
@pytest.mark.parametrize("ratio", [0.01, pytest.param(10.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("dim", "spectrum", "lam"), [(1, "large", 0.0), (5, "large", 0.0), (5, "large", 0.5), (3, "spread", 2.0)]
)
@pytest.mark.parametrize(
    ("id_", "part", "rate", "constant", "power"),
    [
        ("W18-E12", "", rate_12, 40, 2),
        ("W18-E13", "#trace", rate_13, 20, 1),
        ("W18-E13", "#last form", last_of_13, 20, 1),
    ],
)
def test_eq_12_and_13_bound_at_the_median_of_literal_runs(
    id_: str, part: str, rate: Rate, constant: int, power: int, dim: int, spectrum: str, ratio: float, lam: float
) -> None:
    """Null: at the rho that puts the bound at the median, as many drawn errors exceed it; 6 standard errors are 0.1."""
    rho, share = rho_at_the_median(problem(dim, spectrum, lam, ratio), rate, constant, power)
    params = {"dim": dim, "spectrum": spectrum, "lambda": lam, "Y/B|theta*|": ratio, "log(6/delta)": 10.0, "rho": rho}
    sampled = decide(id_, part, "printed", params, draws=4_000).sampled
    assert sampled.value == pytest.approx(share, abs=0.1)


# W18, (14): the last form of (13) as a function of the ridge, in the paper's units.
@dataclass(frozen=True)
class Bound:
    """d ||X||^2 (||Y||^2 + ||X||^2 |theta*|^2) log log/((lambda + lambda_min) epsilon^2) + lambda |theta*|^2."""

    Y: float
    d: int = 5
    B: float = 3.0
    length: float = 0.7  # |theta*|
    logs: float = 60.0  # log(6/delta) log(2 d^2/rho)
    epsilon: float = 0.2

    @property
    def r(self) -> float:
        return self.Y / (self.B * self.length)

    @property
    def ridge(self) -> float:
        """(14) with constant 1."""
        return sqrt(self.d * self.logs) * (self.B * self.Y / self.length + self.B**2) / self.epsilon

    def first(self, total: float) -> float:
        noise = self.d * self.B**2 * (self.Y**2 + self.B**2 * self.length**2) * self.logs
        return noise / (total * self.epsilon**2)

    def __call__(self, lam: float, smallest: float) -> float:
        return self.first(lam + smallest) + lam * self.length**2


@for_each("Y", [1e-6, 0.5, 2.1, 40.0, 1e7])
def test_eq_14_balance(Y: float) -> None:
    bound = Bound(Y)
    without = sqrt(bound.d * bound.logs) * bound.B**2 / bound.epsilon
    product = without * bound.r
    for version, lam in (("printed", bound.ridge), ("no responses in (14)", without)):
        want = bound.first(lam) / (lam * bound.length**2)
        assert exact_value("W18-E14", "#balance", version, r=bound.r) == pytest.approx(want, rel=1e-9)
    want = bound.first(product) / (product * bound.length**2)
    assert exact_value("W18-E14", "#balance", "product for the sum in (14)", r=bound.r) == pytest.approx(want, rel=1e-9)
    assert holds("W18-E14", "#balance", "printed", r=bound.r)


@for_each(("Y", "m", "t"), [(2.1, 1.0, 0.5), (0.3, 0.8, 1e-3), (90.0, 5.0, 7.0)])
def test_eq_14_price_of_a_ridge(Y: float, m: float, t: float) -> None:
    """(13) at lambda = t (14) minus (13) at 0, over t (14) |theta*|^2, times m (m + t), at lambda_min = m (14)."""
    bound = Bound(Y)
    loss = bound(t * bound.ridge, m * bound.ridge) - bound(0.0, m * bound.ridge)
    want = loss / (t * bound.ridge * bound.length**2) * m * (m + t)
    s = bound.r / (1 + bound.r)
    assert exact_value("W18-E14", "#no ridge", "printed", s=s, m=m, t=t) == pytest.approx(want, rel=1e-9)
    lower = exact_value("W18-E14", "#no ridge", "threshold 5 % lower", s=s, m=m / 0.95, t=t)
    assert lower == pytest.approx(want, rel=1e-9)


def test_eq_14_price_at_the_threshold() -> None:
    """r tiny, lambda_min = (14): 0 up to m t; 5 % lower a small ridge pays."""
    edge = {"s": 2.0**-30, "m": 1.0, "t": 2.0**-10}
    assert holds("W18-E14", "#no ridge", "printed", edge)
    assert not holds("W18-E14", "#no ridge", "threshold 5 % lower", edge)


@for_each(
    ("version", "power"),
    [("printed", 1.0), ("bound of order 1/epsilon^2", 2.0), ("bound of order epsilon^(-0.8)", 0.8)],
)
def test_eq_14_order(version: str, power: float) -> None:
    """From epsilon = 1 to 1e-8 the balanced bound times epsilon^power runs over |8 (1 - power)| decades."""
    values = [bound(bound.ridge, 0.0) * bound.epsilon**power for bound in (Bound(1.0, epsilon=e) for e in (1.0, 1e-8))]
    want = abs(log10(values[1] / values[0]))
    assert exact_value("W18-E14", "#order", version, {}) == pytest.approx(want, abs=1e-9)


# W18, (15): the noise matrix against the printed and corrected bounds, by scipy in d = 1 and by literal draws.
#: In units of the noise: what |E_1| must not exceed. For the choice, half of lambda at lambda_min = 0.
BOUNDS = {
    ("#norm", "printed"): lambda d, rho: 2 * sqrt(d * log(d**2 / rho)),
    ("#norm", "no dimension"): lambda d, rho: 2 * sqrt(log(d**2 / rho)),
    ("#norm", "constant 1"): lambda d, rho: sqrt(d * log(d**2 / rho)),
    ("#choice", "printed"): lambda d, rho: sqrt(d * log(2 * d**2 / rho)) / 2,
    ("#choice", "corrected"): lambda d, rho: 2 * sqrt(2) * sqrt(d * log(2 * d**2 / rho)) / 2,
    ("#choice", "constant cut by 10 %"): lambda d, rho: 0.9 * 2 * sqrt(2) * sqrt(d * log(2 * d**2 / rho)) / 2,
}


@for_each(("part", "version"), BOUNDS)
@for_each("rho", [0.99, 0.05, 1e-9])
def test_eq_15_one_dimension(part: str, version: str, rho: float) -> None:
    """Only an entry: P(|Z| > bound)."""
    want = 2 * stats.norm.sf(BOUNDS[part, version](1, rho))
    assert exact_value("W18-E15", part, version, dim=1, rho=rho) == pytest.approx(want, rel=1e-9)


def test_eq_15_ridge_of_algorithm_2_fails_by_hand() -> None:
    """rho = 0.05: lambda = sqrt(log 40) noise units, so |Z| <= 0.96 is needed; it fails with probability 0.3369."""
    assert exact_value("W18-E15", "#choice", "printed", dim=1, rho=0.05) == pytest.approx(0.3369, abs=1e-4)


@for_each(("part", "version"), [("#norm", "printed"), ("#norm", "no dimension"), ("#choice", "printed")])
def test_eq_15_several_dimensions(part: str, version: str) -> None:
    """Null: the frequency of literal draws at the rho (no probability) where it is one half; 6 standard errors 0.07."""
    rng, d = np.random.Generator(np.random.PCG64DXSM(4)), 3
    upper = np.triu(rng.standard_normal((4_000, d, d)))
    norms = np.linalg.norm(upper + np.triu(upper, 1).transpose(0, 2, 1), 2, axis=(1, 2))
    rhos = np.geomspace(1e-6, d**2 * 0.999, 4_000)
    rho = float(min(rhos, key=lambda rho: abs(BOUNDS[part, version](d, rho) - np.median(norms))))
    sampled = decide("W18-E15", part, version, draws=4_000, dim=d, rho=rho).sampled
    assert sampled.value == pytest.approx(np.mean(norms > BOUNDS[part, version](d, rho)), abs=0.07)
