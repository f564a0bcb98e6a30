"""W18, (20) to (22) with their chains: each typed formula on known answers and literal twins."""

from math import e, exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, holds
from oracles.rational_floats import floats
from rows import for_each
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from verify.kernel.statement import Value
from verify.methods.rational import design, random_matrix

# W18, (20) and the chain before it: one record by hand, quadratics by numpy's roots, literal draws for (20).
ONE: dict[str, Value] = {"n": 1, "dim": 1, "seed": 0}


@for_each(
    ("version", "right"),
    [("printed", 3 / 2), ("corrected", 1 / 2), ("subtracted penalty 1 % smaller", 1 / 2 + 1 / 2 - 0.99 / 2)],
)
def test_eq_20_first_equality_on_one_record(version: str, right: float) -> None:
    """x = 1, y = 0, lambda = 1, theta = 1: F(1) - F(0) = 1/2; with lambda |theta|^2 added 3/2; halved, taken off."""
    want = abs(right - 1 / 2) / max(right, 1 / 2)
    assert exact_value("W18-E20", ".p1", version, ONE) == pytest.approx(want, rel=1e-12)


def test_eq_20_first_equality_on_random_data() -> None:
    case = {"n": 4, "dim": 3, "seed": 8}
    assert holds("W18-E20", ".p1", "corrected", case)
    assert not holds("W18-E20", ".p1", "printed", case)


def _c(dim: int, rho: float, cross: float = 1.0) -> float:
    return dim / 2 + cross * sqrt(dim * log(1 / rho)) + log(1 / rho)


@for_each(("version", "weight"), [("printed", 1.0), ("corrected", 0.5)])
@for_each(("G", "lam", "gamma"), [(1.0, 0.5, 4.0), (100.0, 2.0**-10, 1.0), (1.0, 8.0, 1.0)])
@for_each("rho", [0.5, 1e-3])
def test_eq_20_first_step_in_one_dimension(
    version: str, weight: float, G: float, lam: float, gamma: float, rho: float
) -> None:
    """t ~ N(G/(G + lambda), 1/(gamma (G + lambda))), theta* = 1: P(G (t - 1)^2/2 + w lambda (t^2 - 1) > c/gamma)."""
    square, linear, rest = G / 2 + weight * lam, -G, G / 2 - weight * lam - _c(1, rho) / gamma
    low, high = sorted(np.roots([square, linear, rest]).real)
    centre, spread = G / (G + lam), 1 / sqrt(gamma * (G + lam))
    want = norm.cdf(low, centre, spread) + norm.sf(high, centre, spread)
    case = {"dim": 1, "rho": rho, "eigenvalue": G, "lam": lam, "gamma": gamma}
    assert exact_value("W18-E20", ".p2", version, case) == pytest.approx(want, rel=1e-6)


@for_each(("version", "cross"), [("corrected", 1.0), ("no cross term", 0.0)])
def test_eq_20_first_step_in_several_dimensions(version: str, cross: float) -> None:
    """Null: the frequency of 40,000 literal draws; 6 standard errors 0.015. theta* = (1, ..., 1), G I the Gram."""
    d, G, lam, gamma, rho = 4, 2.0, 0.5, 1.5, 0.4
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    theta = G / (G + lam) + rng.standard_normal((40_000, d)) / sqrt(gamma * (G + lam))

    def objective(t: np.ndarray) -> np.ndarray:
        return np.asarray(G / 2 * ((t - 1) ** 2).sum(axis=-1) + lam / 2 * (t**2).sum(axis=-1))

    above = np.mean(objective(theta) - objective(np.ones(d)) > _c(d, rho, cross) / gamma)
    case = {"dim": d, "rho": rho, "eigenvalue": G, "lam": lam, "gamma": gamma}
    assert exact_value("W18-E20", ".p2", version, case) == pytest.approx(above, abs=0.015)


def test_eq_20_first_step_is_refuted_at_a_tiny_rho() -> None:
    rare = {"dim": 1, "rho": 1e-18, "eigenvalue": 1.0, "lam": 2.0**-10, "gamma": 2.0**23}
    assert not holds("W18-E20", ".p2", "printed", rare)
    assert holds("W18-E20", ".p2", "corrected", rare)
    rare = {"dim": 50, "rho": 0.1, "eigenvalue": 100.0, "lam": 2.0**-10, "gamma": 1.0}
    assert not holds("W18-E20", ".p2", "no cross term", rare)


#: (20): shift of the released constant and exponent of the bound over C_2, and whether c keeps its tail.
BOUNDS = {
    "printed": (1.0, 2.0, True),
    "corrected": (sqrt(2), 4 * sqrt(2), True),
    "exponent of the shift alone": (sqrt(2), 2 * sqrt(2), True),
    "no chi-square tail": (sqrt(2), 0.0, False),
}


@for_each("version", BOUNDS)
@for_each(("data", "delta"), [("linear", 1e-2), ("y = 0", 1e-2), ("linear", 1.7)])
def test_eq_20_20_against_literal_draws(version: str, data: str, delta: float) -> None:
    """Null: the frequency of (20) failing, draw after draw; 3,000 each, 7 standard errors of the difference 0.09.

    B = Y = 1, a diagonal Gram matrix whose smallest eigenvalue is the released one, theta* flat of length 1 (or 0).
    """
    d, eigenvalue, condition, lam, epsilon, rho = 3, 1.0, 9.0, 0.2, 0.9, 1.0
    rng = np.random.Generator(np.random.PCG64DXSM(9))
    shift, exponent, tail = BOUNDS[version]
    G = np.geomspace(eigenvalue, eigenvalue * condition, d)
    theta = np.full(d, 1 / sqrt(d)) if data == "linear" else np.zeros(d)
    ridge, total = G * theta / (G + lam), eigenvalue + lam
    c1 = (_c(d, rho) if tail else d / 2) * log(2 / delta) / epsilon**2
    c2 = log(2 / delta) / epsilon
    bound = (1 + np.linalg.norm(theta)) ** 2 * (c1 * (1 + 1 / total) ** (exponent * c2) / total + lam)
    failures = 0
    for _ in range(3_000):
        step = log(1 + 1 / total)
        delta_ = log(1 + np.linalg.norm(ridge)) + step / (epsilon / sqrt(log(2 / delta))) * rng.standard_normal()
        released = exp(delta_ + shift * step * c2)
        gamma = total * epsilon**2 / (log(2 / delta) * released**2)
        sample = ridge + rng.standard_normal(d) / np.sqrt(gamma * (G + lam))
        failures += (sample - theta) @ (G * (sample - theta)) / 2 > bound
    case = {"data": data, "dim": d, "eigenvalue": eigenvalue, "condition": condition, "lam": lam}
    case |= {"epsilon": epsilon, "delta": delta, "rho": rho}
    sampled = decide("W18-E20", "#20", version, case, draws=3_000).sampled
    assert sampled.value == pytest.approx(failures / 3_000, abs=0.09)


@for_each("version", ["printed", "exponent of the shift alone"])
def test_eq_20_20_fails_by_its_exponent(version: str) -> None:
    """d = 1, y = 0, B = Y = lambda_min = 1, lambda = 0: fails where Z_2^2/2 4^(s Z_1) > c, s = sqrt(C_2/epsilon).

    The proved witness is a lower bound of that probability, by quadrature here; both are above delta + rho.
    """
    epsilon, delta, rho = 0.25, 1e-6, 0.05
    s = sqrt(log(2 / delta)) / epsilon
    true = quad(
        lambda z: norm.pdf(z) * 2 * norm.sf(sqrt(2 * _c(1, rho) * 4 ** (-s * z))), -8, 8, points=[0], limit=200
    )[0]
    case = {"data": "y = 0", "dim": 1, "eigenvalue": 1.0, "condition": 1.0, "lam": 0.0}
    case |= {"epsilon": epsilon, "delta": delta, "rho": rho}
    evidence = decide("W18-E20", "#20", version, case)
    assert delta + rho < evidence.exact.low < true
    assert evidence.claim.high == pytest.approx(delta + rho)


# W18, (21) and its constants: the minimum by scipy, the roots of step 3 and (8) by numpy.
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


@for_each(
    ("version", "scale", "power", "plain"),
    [
        ("printed", 2.0, 0.5, False),
        ("constant 1.7", 1.7, 0.5, False),
        ("power 0.45 for the root", 2.0, 0.45, False),
        ("C_1 for its upper bound", 2.0, 0.5, True),
    ],
)
@for_each(("c", "ell", "epsilon", "eigenvalue"), POINTS)
def test_eq_21_minimum(
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
    assert exact_value("W18-E21", "#21", version, case) == pytest.approx(want, rel=1e-6)


@for_each(("ell", "epsilon"), [(16.0, 1.0), (2.0, 0.125), (50.0, 2.0)])
def test_eq_21_epsilon_bar(ell: float, epsilon: float) -> None:
    """Distance from the root of step 3, over epsilon; printed epsilon/2 - epsilon^2/8 [1/l + (1 + l)/l]."""
    root = step_3(ell, epsilon)
    at = {"log": ell, "epsilon": epsilon}
    printed = epsilon / 2 - epsilon**2 / 8 * (1 / ell + (1 + ell) / ell)
    assert exact_value("W18-E21", ".p1", "printed", at) == pytest.approx((printed - root) / epsilon, rel=1e-9)
    assert epsilon / 4 - root**2 / (2 * ell) == pytest.approx(root)
    assert holds("W18-E21", ".p1", "corrected", at)
    off = (epsilon / 4 - root**2 / (1.01 * 2 * ell) - root) / epsilon
    value = exact_value("W18-E21", ".p1", "1 % less of the square", at)
    assert value == pytest.approx(off, rel=1e-6)


@for_each(
    ("version", "inequality"),
    [
        ("printed", "first"),
        ("printed", "second"),
        ("one tenth for one eighth", "first"),
        ("bracket 5 % below that of (8)", "second"),
    ],
)
def test_eq_21_chain(version: str, inequality: str) -> None:
    """At its worst point the check has the literal gap over epsilon~^2 (over epsilon~^2/2 in the second)."""
    evidence = decide("W18-E21", "#chain", version, inequality=inequality)
    ell, epsilon = (float(str(evidence.found[name])) for name in ("log", "epsilon"))
    root, product = equation_8(ell, epsilon), (1 + ell) / ell**2
    bracket = 0.95 * product if "5 %" in version else 1 / ell + (1 + ell) / ell
    share = 10 if "tenth" in version else 8
    if inequality == "first":  # epsilon^2/8 [...] >= epsilon~^2/2 [...]
        want = (epsilon**2 / share - root**2 / 2) / root**2
    else:  # epsilon/2 - epsilon~^2/2 [...] <= epsilon~
        want = (root - epsilon / 2 + root**2 / 2 * bracket) / (root**2 / 2)
    assert evidence.exact.high == pytest.approx(want, rel=1e-6, abs=1e-9)
    assert holds("W18-E21", "#chain", version, inequality=inequality) is (version == "printed")


def test_eq_21_quarter() -> None:
    """log = 16, epsilon = 1: the root is 0.24808..., below epsilon/4 and above 0.23."""
    at = {"log": 16.0, "epsilon": 1.0}
    root = -16 + sqrt(16**2 + 16 / 2)
    assert exact_value("W18-E21", ".p2", "printed", at) == pytest.approx(root, rel=1e-12)
    assert not holds("W18-E21", ".p2", "printed", at)
    assert holds("W18-E21", ".p2", "corrected", at)


@for_each(("version", "constant"), [("corrected", 0.23), ("constant 5 % larger", 0.2415)])
def test_eq_21_quarter_on_the_box(version: str, constant: float) -> None:
    evidence = decide("W18-E21", ".p2", version, {})
    ell, share = (float(str(evidence.found[name])) for name in ("log", "share"))
    epsilon = share * 2 * ell / (1 + ell)
    assert evidence.exact.high == pytest.approx(step_3(ell, epsilon) / epsilon - constant, abs=1e-9)
    assert holds("W18-E21", ".p2", version, {}) is (version == "corrected")


@for_each(("version", "constant"), [("printed", 16.0), ("corrected", 19.0), ("constant 18", 18.0)])
@for_each(("c", "ell", "share"), [(5.0, log(6) + 1e-3, 0.999), (4.5, 30.0, 0.5), (1e3, 4.0, 0.01)])
def test_eq_21_bound_of_c1_tilde(version: str, constant: float, c: float, ell: float, share: float) -> None:
    epsilon = share * 2 * ell / (1 + ell)
    want = constants(c, ell, epsilon)[3] / (constant * ell * max(c, ell / e**2) / epsilon**2)
    case = {"c": c, "log": ell, "share": share}
    assert exact_value("W18-E21", ".p3", version, case) == pytest.approx(want, rel=1e-9)
    assert holds("W18-E21", ".p3", version, case) is (want <= 1)


# W18, (22): the law of total covariance by listing, the roots and lognormal moment by numpy and scipy.
def _at(version: str, part: str, *names: str) -> tuple[float, ...]:
    """Return the worst point of a box and the smallest value there."""
    evidence = decide("W18-E22", part, version, {})
    return (*(float(str(evidence.found[name])) for name in names), evidence.exact.high)


@for_each(
    ("version", "ridge", "factor"), [("printed", 0.0, 1.0), ("1 % larger", 0.0, 1.01), ("with a ridge", 0.1, 1.0)]
)
def test_eq_22_total_covariance(version: str, ridge: float, factor: float) -> None:
    """Three equally likely pairs of centre and 1/gamma = 1/3, 2/3, 1; every mixture moment by numpy."""
    X, centres = floats(design("generic", 6, 3, 2)), [floats(random_matrix(3, 1, 2, 20 + i))[:, 0] for i in range(3)]
    gram = X.T @ X
    inverse, heats = np.linalg.inv(gram), np.array([1 / 3, 2 / 3, 1.0])
    means = np.array([np.linalg.solve(gram + ridge * np.eye(3), gram @ c) for c in centres])
    left = np.cov(means.T, bias=True) + heats.mean() * inverse
    right = factor * heats.mean() * inverse + np.cov(np.array(centres).T, bias=True)
    want = np.abs(left - right).max() / max(np.abs(left).max(), np.abs(right).max())
    value = exact_value("W18-E22", "#covariance", version, {"X": "generic", "n": 6, "dim": 3, "seed": 2})
    assert value == pytest.approx(want, rel=1e-6, abs=1e-12)
    assert (value == 0) is (version == "printed")


@for_each(("version", "divisor"), [("printed", 4.0), ("epsilon over 2.2", 2.2)])
def test_eq_22_order(version: str, divisor: float) -> None:
    """The root of (8) with its printed product, over epsilon/4, minus 1, at the worst point of the box."""
    ell, epsilon, value = _at(version, "#order", "log", "epsilon")
    root = max(np.roots([(1 + ell) / ell**2 / 2, 1, -epsilon / 2]).real)
    assert value == pytest.approx(root / (epsilon / divisor) - 1, abs=1e-9)
    assert holds("W18-E22", "#order", version, {}) is (version == "printed")


@pytest.mark.parametrize(
    ("version", "exponent"),
    [
        ("printed", lambda ell: 4.0),
        ("half of the condition", lambda ell: 4.0),
        ("exponent 2", lambda ell: 2.0),
        ("sharp exponent 2 + 2/log(6/delta) cut by 5 %", lambda ell: 0.95 * (2 + 2 / ell)),
    ],
)
def test_eq_22_lognormal_factor(version: str, exponent: object) -> None:
    """E[exp(2 Delta)]/(Y + B |theta*|)^2 by quadrature over Z, at lambda_min = s 8 B^2 log/epsilon, halved."""
    assert callable(exponent)
    ell, epsilon, s, value = _at(version, "#factor", "log", "epsilon", "s")
    step = np.log1p(1 / (s * 8 * ell / epsilon / 2))  # log(1 + B^2/released)
    noise, shift = step / (epsilon / (4 * ell**0.5)), step / (epsilon / (4 * ell))
    centre = 2 * noise  # of the tilted normal
    moment = quad(
        lambda z: norm.pdf(z) * exp(2 * (noise * z + shift)), centre - 12, centre + 12, points=[centre], limit=200
    )[0]
    assert value == pytest.approx(exponent(ell) - log(moment), abs=1e-7)
    assert holds("W18-E22", "#factor", version, {}) is (version == "printed")


def test_eq_22_second_moment_of_least_squares() -> None:
    """|theta_0|^2 + (9/4) tr[(X^T X)^-1] with sigma = 3/2; a trace 1 % larger is off by its share."""
    X, theta = floats(design("generic", 6, 3, 2)), floats(random_matrix(3, 1, 2, 3))[:, 0]
    trace = 2.25 * np.trace(np.linalg.inv(X.T @ X))
    square = float(theta @ theta)
    case = {"X": "generic", "n": 6, "dim": 3, "seed": 2}
    assert holds("W18-E22", "#norm", "printed", case)
    off = exact_value("W18-E22", "#norm", "trace 1 % larger", case)
    assert off == pytest.approx(0.01 * trace / (square + 1.01 * trace), rel=1e-9)


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_eq_22_square_of_a_sum(Y: int, B: int) -> None:
    """(Y + b)^2 <= 2 Y^2 + 2 b^2, equality at Y = b."""
    notes = decide("W18-E22", "#square", "printed", n=Y, dim=1, seed=B).notes
    assert (notes["value"], notes["bound"]) == ((Y + B) ** 2, 2 * Y**2 + 2 * B**2)
    assert holds("W18-E22", "#square", "printed", n=Y, dim=1, seed=B)
    if Y:
        assert exact_value("W18-E22", "#square", "1.9 for 2", n=Y, dim=1, seed=Y) == pytest.approx(4 / 3.8)
