"""W18, sections 2 and 3.1: each typed formula on known answers and literal twins."""

from math import exp, log, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.rational_floats import floats
from oracles.unit_change import Sizes, assert_units
from rows import for_each
from scipy.optimize import brentq

from verify.kernel.statement import Value
from verify.methods.minimax import REPEATED, fixed_design
from verify.methods.rational import SHAPES, design, random_matrix


# W18, section 2: the gradient of the ridge objective, the range of alpha and one record's slope, in floating point.
@for_each("lam", [1e-6, 1.0, 30.0])
@for_each(
    ("version", "weight"), [("printed", 1.0), ("corrected", 0.5), ("penalty 1 % heavier", 0.505), ("no penalty", 0.0)]
)
def test_def_2_ridge_objective_on_one_record(version: str, weight: float, lam: float) -> None:
    """Record (1, 1): derivative of (1 - t)^2/2 + weight lambda t^2 at t = 1/(1 + lambda); X^T y = 1."""
    slope = mpmath.diff(lambda t: (1 - t) ** 2 / 2 + weight * lam * t**2, 1 / (1 + mpmath.mpf(lam)))
    value = exact_value("W18-D2", "#ridge", version, {"n": 1, "dim": 1, "X": "ones", "lam": lam})
    assert value == pytest.approx(abs(float(slope)), abs=1e-9)


@for_each("shape", SHAPES)
def test_def_2_ridge_solution_is_the_minimiser_of_half_the_penalty(shape: str) -> None:
    assert holds("W18-D2", "#ridge", "corrected", {"n": 5, "dim": 2, "X": shape, "lam": 0.25})


@for_each("shape", SHAPES)
def test_def_2_alpha(shape: str) -> None:
    """lambda_min d/(n max |x_i|^2), by numpy's eigenvalues."""
    X = floats(design(shape, 12, 2, 18))
    want = np.linalg.svd(X, compute_uv=False)[-1] ** 2 * 2 / (12 * (X**2).sum(axis=1).max())
    case = {"n": 12, "dim": 2, "X": shape}
    assert exact_value("W18-D2", "#alpha", "printed", case) == pytest.approx(want, rel=1e-6, abs=1e-16)
    assert holds("W18-D2", "#alpha", "printed", case)


def test_def_2_alpha_at_its_edges() -> None:
    """The identity: every eigenvalue 1, so alpha = d/n = 1, d without the d over n; fewer records than features: 0."""
    identity = {"n": 4, "dim": 4, "X": "identity"}
    assert exact_value("W18-D2", "#alpha", "printed", identity) == pytest.approx(1.0)
    assert exact_value("W18-D2", "#alpha", "no dimension", identity) == pytest.approx(4.0)
    assert exact_value("W18-D2", "#alpha", "a tenth larger", identity) == pytest.approx(1.1)
    assert exact_value("W18-D2", "#alpha", "printed", {"n": 3, "dim": 4, "X": "generic"}) == pytest.approx(0, abs=1e-9)


@for_each(("n", "B", "Y", "radius"), [(1, 1.0, 1.0, 1.0), (2, 0.5, 3.0, 2.0), (7, 50.0, 0.5, 0.01)])
def test_def_2_lipschitz_constant(n: int, B: float, Y: float, radius: float) -> None:
    """Slope of sum (Y - B t)^2/2 at t = -radius, against B^2 radius + B Y: n times it for F, once for one record."""
    slope = abs(float(mpmath.diff(lambda t: (Y - B * t) ** 2 / 2, -radius)))
    constant = B**2 * radius + B * Y
    params = {"n": n, "B": B, "Y": Y, "radius": radius}
    for version, value, bound in (
        ("printed", n * slope, constant),
        ("corrected", slope, constant),
        ("constant cut by 10 %", slope, 0.9 * constant),
        ("no responses", slope, B**2 * radius),
    ):
        notes = decide("W18-D2", "#lipschitz", version, params).notes
        assert (notes["value"], notes["bound"]) == pytest.approx((value, bound), rel=1e-9)


# W18, (1): least squares by numpy's projection, and a Bayes risk from below.
@for_each("shape", ["generic", "duplicated rows", REPEATED])
@for_each("sigma", [1.0, 3.0])
def test_eq_1_risk_of_least_squares(shape: str, sigma: float) -> None:
    """Prediction risk sigma^2 tr(P)/2; with the same responses inside F the excess is -sigma^2 tr(P)/2."""
    X = floats(fixed_design(shape, 9, 4))
    projection = float(np.trace(X @ np.linalg.pinv(X)))
    case: dict[str, Value] = {"n": 9, "dim": 4, "X": shape, "sigma": sigma}
    for version, sign in (("printed", -1), ("corrected", 1)):
        exact = decide("W18-E1", "", version, case).exact
        assert exact.value == pytest.approx(sign * sigma**2 * projection / 2, rel=1e-9)
    assert claimed("W18-E1", "", "printed", case) == pytest.approx(4 * sigma**2 / 2)
    assert claimed("W18-E1", "", "corrected", case) == pytest.approx(round(projection) * sigma**2 / 2)


def test_eq_1_excess_of_the_objective_is_negative() -> None:
    """F(theta_hat) - F(theta_0) = -|P noise|^2/2 on any data: never positive, as printed it would average d/2."""
    rng = np.random.Generator(np.random.PCG64DXSM(1))
    X, theta, noise = rng.standard_normal((6, 2)), rng.standard_normal(2), rng.standard_normal(6)
    y = X @ theta + noise
    fit = np.linalg.lstsq(X, y, rcond=None)[0]
    excess = (np.sum((y - X @ fit) ** 2) - np.sum((y - X @ theta) ** 2)) / 2
    assert excess == pytest.approx(-np.sum((X @ np.linalg.pinv(X) @ noise) ** 2) / 2)


@for_each(
    ("version", "stated"),
    [
        ("corrected", 0.5),
        ("number of features for the rank", 1.0),
        ("no half", 1.0),
        ("constant 1 % larger", 0.505),
        ("constant 1 % smaller", 0.495),
    ],
)
def test_eq_1_versions_at_rank_one(version: str, stated: float) -> None:
    case: dict[str, Value] = {"n": 4, "dim": 2, "X": REPEATED, "sigma": 1.0}
    assert claimed("W18-E1", "", version, case) == pytest.approx(stated)
    assert holds("W18-E1", "", version, case) is (version == "corrected")


# W18, (2): the risk of least squares and of wide priors, in floating point.
def _gram(shape: str, n: int, dim: int) -> np.ndarray:
    X = floats(fixed_design(shape, n, dim))
    return np.asarray(X.T @ X)


@for_each(("shape", "n", "dim"), [("generic", 9, 4), ("duplicated rows", 30, 2), ("one long row", 4, 1)])
@for_each("sigma", [0.25, 100.0])
def test_eq_2_between_a_bayes_risk_and_least_squares(shape: str, n: int, dim: int, sigma: float) -> None:
    """sum sigma^2/eigenvalue; the prior N(0, tau^2 I) gives sum 1/(eigenvalue/sigma^2 + 1/tau^2), just below."""
    eigenvalues = np.linalg.eigvalsh(_gram(shape, n, dim))
    case: dict[str, Value] = {"n": n, "dim": dim, "X": shape, "sigma": sigma}
    exact = decide("W18-E2", "", "printed", case).exact
    assert exact.high == pytest.approx((sigma**2 / eigenvalues).sum(), rel=1e-8)
    bayes = (1 / (eigenvalues / sigma**2 + 1 / 1e12**2 / sigma**2)).sum()
    assert exact.low == pytest.approx(bayes, rel=1e-8)
    assert holds("W18-E2", "", "printed", case)


@for_each(
    ("version", "stated"),
    [
        ("printed", lambda G: np.trace(np.linalg.inv(G))),
        ("constant 1 % larger", lambda G: 1.01 * np.trace(np.linalg.inv(G))),
        ("constant 1 % smaller", lambda G: 0.99 * np.trace(np.linalg.inv(G))),
        ("inverse of the trace", lambda G: 4 / np.trace(G)),
        ("inverse of the diagonal", lambda G: (1 / np.diag(G)).sum()),
    ],
)
def test_eq_2_versions(version: str, stated: object) -> None:
    assert callable(stated)
    case: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}
    assert claimed("W18-E2", "", version, case) == pytest.approx(float(stated(_gram("generic", 9, 2))))
    assert holds("W18-E2", "", version, case) is (version == "printed")


# W18, (3): covariances of linear estimators by numpy.
GENERIC: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}


X = floats(fixed_design("generic", 9, 2))
G_INVERSE = np.linalg.inv(X.T @ X)
LEAST_SQUARES = G_INVERSE @ X.T
#: Another unbiased one: random rows minus their projection, which no mean X theta reaches.
OTHER = LEAST_SQUARES + floats(random_matrix(2, 9, 5, 9)) @ (np.eye(9) - X @ LEAST_SQUARES)
RIDGE = np.linalg.inv(X.T @ X + np.eye(2) / 10) @ X.T


@for_each(
    ("version", "estimator", "bound", "other"),
    [
        ("printed", LEAST_SQUARES, 1.0, "least squares"),
        ("printed", OTHER, 1.0, "other"),
        ("bound 1 % larger", LEAST_SQUARES, 1.01, "least squares"),
        ("a ridge estimator (not unbiased)", RIDGE, 1.0, None),
    ],
)
def test_eq_3_covariance_and_variance(version: str, estimator: np.ndarray, bound: float, other: str | None) -> None:
    """Smallest eigenvalue of covariance minus bound over tr(bound); Var(theta_hat^T x) over its bound, minus 1."""
    case = GENERIC | ({} if other is None else {"estimator": other})
    excess = estimator @ estimator.T - bound * G_INVERSE
    want = np.linalg.eigvalsh(excess)[0] / np.trace(bound * G_INVERSE)
    assert exact_value("W18-E3", "#covariance", version, case) == pytest.approx(want, rel=1e-6, abs=1e-12)
    x = floats(random_matrix(2, 1, 9, 7))[:, 0]
    ratio = (x @ excess @ x) / (x @ G_INVERSE @ x * bound)
    assert exact_value("W18-E3", "#variance", version, case) == pytest.approx(ratio, rel=1e-9, abs=1e-12)
    for part in ("#covariance", "#variance"):
        assert holds("W18-E3", part, version, case) is (version == "printed")


def test_eq_3_least_squares_alone_attains_the_three_bounds() -> None:
    """Another unbiased estimator exceeds (1) as a risk, (2) and (3); the largest relative excess by numpy."""
    covariance = OTHER @ OTHER.T
    gaps = (
        np.trace(X @ covariance @ X.T) / 2 - 1,
        np.trace(covariance) / np.trace(G_INVERSE) - 1,
        np.abs(covariance - G_INVERSE).max() / np.trace(G_INVERSE),
    )
    assert np.isclose(np.trace(X @ LEAST_SQUARES), 2)  # (1) is d sigma^2/2 = 1
    value = exact_value("W18-E3", "#attained", "another unbiased estimator", GENERIC)
    assert value == pytest.approx(max(gaps), rel=1e-9)
    assert holds("W18-E3", "#attained", "printed", GENERIC | {"estimator": "least squares"})
    assert not holds("W18-E3", "#attained", "a ridge estimator (not unbiased)", GENERIC)


# W18, (4): the units of its three terms, and of the ridge that is said to match it.
N, D = 50, 3


def test_eq_4_terms_are_losses() -> None:
    """min{n Y^2, Theta^2 X^2 + d Y^2, sqrt(n) Theta X Y}."""

    def terms(s: Sizes) -> tuple[float, ...]:
        return N * s.Y**2, s.Theta**2 * s.X**2 + D * s.Y**2, sqrt(N) * s.Theta * s.X * s.Y

    assert_units("W18-E4", "#units", "printed", terms, lambda s: s.Y**2)
    off = exact_value("W18-E4", "#units", "a tenth of a power of the features' bound too much", unit="features")
    assert abs(off) == 0.8


def test_eq_4_ridge_has_the_unit_of_the_gram_matrix() -> None:
    assert_units("W18-E4", "@a", "printed", lambda s: (1.0,), lambda s: s.eigenvalue)
    assert_units("W18-E4", "@a", "corrected", lambda s: (s.X**2,), lambda s: s.eigenvalue)
    assert exact_value("W18-E4", "@a", "printed", unit="features") == -16


# W18, (5): the units of its terms, and the cited Lipschitz constant times the radius.
def test_eq_5_terms_are_losses() -> None:
    """min{n Y^2, sqrt(d) (X^2 Theta^2 + X Theta Y)/epsilon}."""

    def terms(s: Sizes) -> tuple[float, float]:
        return 50 * s.Y**2, sqrt(3) * (s.X**2 * s.Theta**2 + s.X * s.Theta * s.Y) / 0.1

    assert_units("W18-E5", "#units", "printed", terms, lambda s: s.Y**2)


@given(*[st.integers(1, 1000)] * 3)
def test_eq_5_cited_constant(B: int, radius: int, Y: int) -> None:
    """X^2 Theta^2 + X Theta Y = (X^2 Theta + X Y) Theta at all whole sizes; off by -1/11 with a tenth more."""
    sizes = {"B": B, "radius": radius, "Y": Y}
    assert holds("W18-E5", "#cited", "printed", sizes)
    printed, cited = B**2 * radius**2 + B * radius * Y, 1.1 * (B**2 * radius + B * Y) * radius
    assert exact_value("W18-E5", "#cited", "a tenth more", sizes) == pytest.approx(printed / cited - 1)
    # the mutant lacks X^2 Theta, and is a tenth off besides
    cited = 1.1 * B * Y * radius
    value = exact_value("W18-E5", "#cited", "no term without the responses", sizes)
    assert value == pytest.approx(printed / cited - 1)
    assert not holds("W18-E5", "#cited", "a tenth more", sizes)


# W18, (6) and footnote 1: units by evaluation, the substitution of alpha* in floating point.
RECORDS, FEATURES, EPSILON, ALPHA = 400, 3, 0.1, 0.5


def test_eq_6_units() -> None:
    """(6) is a loss, the condition on alpha* a pure number, footnote 1 lacks one over the radius."""

    def bound(s: Sizes) -> tuple[float, float]:
        return RECORDS * s.Y**2, FEATURES**2 * (s.X * s.Theta + s.Y) ** 2 / (RECORDS * ALPHA * EPSILON**2)

    def condition(s: Sizes) -> tuple[float]:
        return (FEATURES**1.5 * (s.X * s.Theta + s.Y) / (RECORDS * s.X * s.Theta * EPSILON),)

    assert_units("W18-E6", "#units", "printed", bound, lambda s: s.Y**2)
    assert_units("W18-E6", "#condition", "printed", condition, lambda s: 1.0)
    for reading, printed in (
        ("linear", lambda s: (sqrt(FEATURES) * s.L / EPSILON,)), ("root", lambda s: (sqrt(FEATURES * s.L) / EPSILON,))
    ):  # fmt: skip
        part = f"#footnote units@{reading}"
        assert_units("W18-E6", part, "printed", printed, lambda s: s.eigenvalue)
        assert_units(
            "W18-E6", part, "corrected", lambda s: (sqrt(FEATURES) * s.L / (s.Theta * EPSILON),), lambda s: s.eigenvalue
        )


SIZE = st.sampled_from([0.125, 0.5, 1.0, 2.0, 8.0])


@given(SIZE, SIZE, SIZE, SIZE, st.integers(1, 30), st.integers(1, 10**6))
def test_eq_6_footnote_1(B: float, radius: float, Y: float, epsilon: float, root_d: int, n: int) -> None:
    """lambda_min = alpha* n X^2/d at the least alpha* is sqrt(d) L*/(Theta epsilon); L* = X (X Theta + Y)."""
    alpha = root_d**3 * (B * radius + Y) / (n * B * radius * epsilon)
    smallest = alpha * n * B**2 / root_d**2
    stated = root_d * (B**2 * radius + B * Y) / epsilon
    params = {"B": B, "radius": radius, "Y": Y, "epsilon": epsilon, "root d": root_d, "n": n}
    assert exact_value("W18-E6", "#footnote@linear", "printed", params) == pytest.approx(smallest / stated)
    root = sqrt(root_d**2 * (B**2 * radius + B * Y)) / epsilon
    assert exact_value("W18-E6", "#footnote@root", "printed", params) == pytest.approx((smallest / root) ** 2)
    assert smallest == pytest.approx(stated / radius)
    for reading in ("linear", "root"):
        assert holds("W18-E6", f"#footnote@{reading}", "corrected", params)
        assert exact_value("W18-E6", f"#footnote@{reading}", "a tenth more", params) == pytest.approx(1 / 1.1)
    assert holds("W18-E6", "#meeting", "printed", params)
    # at that alpha* (6) is sqrt(d) L* Theta/epsilon, the term of (5)
    strong = root_d**4 * (B * radius + Y) ** 2 / (n * alpha * epsilon**2)
    assert strong == pytest.approx(root_d * (B**2 * radius + B * Y) * radius / epsilon)
    assert exact_value("W18-E6", "#meeting", "a tenth more", params) == pytest.approx(1 / 1.1)


def test_eq_6_footnote_is_right_at_radius_1_only() -> None:
    sizes = {"B": 1.0, "Y": 1.0, "epsilon": 1.0, "root d": 1.0, "n": 10}
    assert holds("W18-E6", "#footnote@linear", "printed", {**sizes, "radius": 1.0})
    for reading in ("linear", "root"):
        assert not holds("W18-E6", f"#footnote@{reading}", "printed", {**sizes, "radius": 2.0})


# W18, section 3.1: the epsilon at which the private bound meets the other, by solving for it in logarithms.
def _meeting(n: float, d: float, alpha: float, radius: float, Y: float) -> float:
    """Least epsilon with min{(5), (6)} <= (4) at ||X|| = 1, constants 1, the common term n Y^2 left out of (5), (6)."""
    free = min(n * Y**2, radius**2 + d * Y**2, sqrt(n) * radius * Y)

    def excess(log_epsilon: float) -> float:
        epsilon = exp(log_epsilon)
        lipschitz = sqrt(d) * (radius**2 + radius * Y) / epsilon
        strong = d**2 * (radius + Y) ** 2 / (n * alpha * epsilon**2)
        return log(min(lipschitz, strong) / free)

    return exp(brentq(excess, -80.0, 80.0, xtol=1e-13))


POINTS = [(16.0, 1.0, 1.0), (1e4, 9.0, 2.0**-7), (1e8, 900.0, 2.0**-20), (16.0, 1e6, 1.0), (1e14, 9.0, 2.0**-60)]


@for_each("Y", [1.0, 2.0**10])
@for_each(("n", "d", "alpha"), POINTS)
def test_eq_6b_case_1(n: float, d: float, alpha: float, Y: float) -> None:
    """||X|| ||Theta|| = ||Y||."""
    printed = min(max(1 / sqrt(d), sqrt(d / n)), max(sqrt(d**2 / (n**1.5 * alpha)), sqrt(d / (n * alpha))))
    want = (_meeting(n, d, alpha, Y, Y) / printed) ** 2
    params = {"root n": sqrt(n), "root d": sqrt(d), "alpha": alpha, "Y": Y}
    assert exact_value("W18-E6b", "#1", "printed", params) == pytest.approx(want, rel=1e-9)
    assert holds("W18-E6b", "#1", "printed", params)


@for_each("Y", [1.0, 2.0**-10])
@for_each(("n", "d", "alpha"), POINTS)
def test_eq_6b_case_2(n: float, d: float, alpha: float, Y: float) -> None:
    """||X|| ||Theta|| = sqrt(d) ||Y||^2 as printed, sqrt(d) ||Y|| corrected; a claim for n > d."""
    threshold = min(max(sqrt(d), d**1.5 / n), max(d / sqrt(n * alpha), d**1.5 / (n * sqrt(alpha))))
    params = {"root n": sqrt(n), "root d": sqrt(d), "alpha": alpha, "Y": Y}
    for version, radius in (("printed", sqrt(d) * Y**2), ("corrected", sqrt(d) * Y)):
        want = (_meeting(n, d, alpha, radius, Y) / threshold) ** 2
        assert exact_value("W18-E6b", "#2", version, params) == pytest.approx(want, rel=1e-9)
        assert decide("W18-E6b", "#2", version, params).claim.in_domain is (n > d)
    if n > d:
        assert holds("W18-E6b", "#2", "corrected", params)


def test_eq_6b_case_2_depends_on_the_unit_of_the_responses_as_printed() -> None:
    assert not holds("W18-E6b", "#2", "printed", {"root n": 100.0, "root d": 3.0, "alpha": 1.0, "Y": 2.0**-20})
    assert_units("W18-E6b", "#2 units", "printed", lambda s: (sqrt(3) * s.Y**2,), lambda s: s.X * s.Theta)
    assert_units("W18-E6b", "#2 units", "corrected", lambda s: (sqrt(3) * s.Y,), lambda s: s.X * s.Theta)


@for_each("root_d", [2.0, 3.0, 100.0])
def test_eq_6b_least_size(root_d: float) -> None:
    """At alpha* = 1 the threshold is d/sqrt(n) v d^1.5/n: 1 at n = d^2, more just below it."""
    d = root_d**2

    def threshold(n: float) -> float:
        return min(max(sqrt(d), d**1.5 / n), max(d / sqrt(n), d**1.5 / n))

    assert threshold(d**2) == pytest.approx(1.0)
    assert threshold(0.99 * d**2) > 1
    params = {"root d": root_d, "root n": 1.0, "alpha": 1.0}
    assert holds("W18-E6b", "#n", "printed", params)
    assert exact_value("W18-E6b", "#n", "a tenth more", params) == pytest.approx(1 / 1.1)
    assert exact_value("W18-E6b", "#n", "d instead", params) == pytest.approx(d)


@for_each("part", ["#1", "#2"])
def test_eq_6b_a_tenth_of_a_power_is_seen(part: str) -> None:
    """n = 2^120, d = 2^80: n^0.1 too much divides the squared ratio by 2^24, d^0.1 too little multiplies it by 2^16."""
    huge = {"root n": 2.0**60, "root d": 2.0**40, "alpha": 1.0, "Y": 1.0}
    right = exact_value("W18-E6b", part, "printed", huge)
    assert exact_value("W18-E6b", part, "n^0.1 too much", huge) == pytest.approx(right / 2**24)
    assert exact_value("W18-E6b", part, "d^0.1 too little", huge) == pytest.approx(right * 2**16)
