"""W18, Algorithm 2 and Theorem 3: each typed formula on known answers and literal twins."""

import math
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds, one
from oracles.mechanisms.profiles import gaussian_log_delta
from oracles.unit_change import Sizes, Terms, assert_units
from oracles.verify.w18_small import gaussian_delta
from rows import for_each
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms import GaussianProfile
from mechanisms.base import BOTH
from verify.papers.wang2018.shared import adaptive_ssp


# The three releases of AdaSSP: their joint distance, and the epsilon from which the printed noise is not enough.
def test_adaptive_ssp_distance_of_the_three_releases() -> None:
    """sqrt(3) times epsilon/(3 sqrt(log(6/delta))): 1 at epsilon = 3, log(6/delta) = 3."""
    assert adaptive_ssp.together({"epsilon": 3.0, "delta": 6 / math.e**3}) == pytest.approx(1.0)


def test_adaptive_ssp_largest_epsilon_of_the_printed_noise() -> None:
    """The printed noise first fails, over all delta, between 15.5 and 15.9."""

    def excess(epsilon: float, delta: float) -> float:
        mu = epsilon / math.sqrt(3 * math.log(6 / delta))
        return max(GaussianProfile(mu).log_delta_at(epsilon, d) for d in BOTH) - math.log(delta)

    deltas = np.geomspace(1e-12, 0.99, 120)
    least = min(brentq(lambda e, d=d: excess(e, d), 0.1, 200.0) for d in deltas)
    assert adaptive_ssp.LARGEST == 15.5
    assert 15.5 < least < 15.9


# W18, Algorithm 2: sensitivities by hand, the joint divergence of the three releases, the line that leaks X^T X.
def _distance(epsilon: float, delta: float) -> float:
    """Three releases at noise sqrt(log(6/delta))/(epsilon/3) times their sensitivity: 1/noise^2 adds up."""
    noise = sqrt(log(6 / delta)) / (epsilon / 3)
    return sqrt(3 / noise**2)


def test_alg_2_sensitivities_in_one_dimension() -> None:
    """A row x in d = 1 moves the eigenvalue and the triangle by x^2, the moment by |x y|: all three sensitivities."""
    one = {"n": 6, "dim": 1, "X": "generic", "row": "generic"}
    assert exact_value("W18-A2", "#sensitivity", "printed", one) == pytest.approx(1.0, abs=1e-9)
    cut = exact_value("W18-A2", "#sensitivity", "sensitivities cut by 10 %", one)
    assert cut == pytest.approx(1 / 0.9, abs=1e-9)
    assert exact_value("W18-A2", "#sensitivity", "eigenvalue moves by the norm, not its square", one) == pytest.approx(
        10
    )


def test_alg_2_sensitivities_are_upper_bounds() -> None:
    """No random row changes a statistic by more; the triangle of x x^T has norm |x|^2 exactly on an axis."""
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    for _ in range(50):
        X, x = rng.standard_normal((5, 3)), rng.standard_normal(3)
        before, after = (np.linalg.eigvalsh(A.T @ A)[0] for A in (X, np.vstack([X, x])))
        assert 0 <= after - before <= x @ x + 1e-12
        assert np.linalg.norm(np.triu(np.outer(x, x))) <= x @ x + 1e-12
    axis = {"n": 20, "dim": 4, "X": "generic", "row": "on an axis"}
    assert exact_value("W18-A2", "#sensitivity", "printed", axis) == pytest.approx(1.0, abs=1e-9)


@for_each("part", ["#releases", "#output@raw"])
@for_each(("epsilon", "delta"), [(0.1, 0.25), (1.0, 0.1), (5.0, 1e-3), (15.5, 0.3)])
def test_alg_2_three_releases_are_one_gaussian_mechanism(part: str, epsilon: float, delta: float) -> None:
    evidence = decide("W18-A2", part, "corrected", epsilon=epsilon, delta=delta)
    assert evidence.claim.published == epsilon
    assert evidence.exact.value == pytest.approx(gaussian_delta(_distance(epsilon, delta), epsilon), rel=1e-6)
    assert evidence.claim.in_domain
    assert evidence.exact.high <= delta == evidence.claim.high


def test_alg_2_printed_noise_fails_from_an_epsilon_between_15_5_and_15_8() -> None:
    """Over a grid of delta, the smallest epsilon at which delta(epsilon) = delta; the corrected claim stops before."""

    def excess(epsilon: float, delta: float) -> float:
        return float(gaussian_delta(_distance(epsilon, delta), epsilon)) - delta

    least = min(brentq(excess, 1.0, 200.0, args=(d,)) for d in np.linspace(0.2, 0.6, 81))
    assert 15.5 < least < 15.8
    point = {"epsilon": 17.0, "delta": 0.5}
    assert not holds("W18-A2", "#releases", "printed", point)
    assert not decide("W18-A2", "#releases", "corrected", point).claim.in_domain
    assert not holds("W18-A2", "#releases", "epsilon up to 16.5", epsilon=16.5, delta=0.35)
    assert claimed("W18-A2", "#output@raw", "epsilon cut by 5 %", epsilon=10.0, delta=0.1) == 9.5


def test_alg_2_raw_gram_matrix_is_given_away() -> None:
    """theta = (G + lambda I)^-1 m gives m - lambda theta = G theta for the raw G alone: delta is 1 at every epsilon."""
    case = {"dim": 2, "n": 3, "epsilon": 20.0, "delta": 0.5}
    evidence = decide("W18-A2", "#output@raw", "printed", case)
    assert evidence.exact.low == 1.0
    assert evidence.notes["recognised under D'"] == 0
    assert not holds("W18-A2", "#output@raw", "printed", case)


def test_alg_2_the_released_matrix_adds_nothing_to_the_releases() -> None:
    for dim, n in ((1, 1), (2, 3), (3, 4)):
        case = {"dim": dim, "n": n}
        assert holds("W18-A2", "#output@hat", "printed", case)
        assert not holds("W18-A2", "#output@hat", "a hundredth of the raw matrix", case)
        assert not holds("W18-A2", "#output@hat", "lambda from the data", case)


def test_alg_2_a_lost_hat_is_not_refuted_as_printed() -> None:
    """Both readings rest on one damaged line of our copy."""
    output = [part for part in one("W18-A2").parts if part.display == "W18-A2#output"]
    assert [part.reading for part in output] == ["hat", "raw"]
    assert all(part.damaged for part in output)


# W18, Theorem 3(i): one release and all three against the definition of the Gaussian divergence.
AT = {"epsilon": 2.0, "delta": 1e-5}


@for_each(
    ("version", "log", "factor"),
    [
        ("printed", math.log(2e5), 1.0),
        ("corrected", 2 * math.log(1.25e5), 1.0),
        ("any epsilon", 2 * math.log(1.25e5), 1.0),
        ("epsilon 2 % below the least possible", 2 * math.log(1.25e5), 0.98 * 0.8786169183736016),
    ],
)
def test_thm_3i_one_release(version: str, log: float, factor: float) -> None:
    """delta is a third of the budget's: log(6/(3 delta)) printed, 2 log(3.75/(3 delta)) corrected."""
    evidence = decide("W18-TH3i", ".p", version, AT)
    assert evidence.claim.published == pytest.approx(factor * 2 / 3)
    want = gaussian_log_delta(factor * 2 / 3, 2 / 3 / math.sqrt(log))
    assert math.log(evidence.exact.value) == pytest.approx(want, rel=1e-9)


def test_thm_3i_domain_of_the_classical_constant() -> None:
    """epsilon/3 at most 1."""
    for epsilon, inside in ((2.9, True), (3.1, False)):
        assert decide("W18-TH3i", ".p", "corrected", AT | {"epsilon": epsilon}).claim.in_domain is inside


@for_each("part", ["@hat", "@raw"])
def test_thm_3i_three_releases(part: str) -> None:
    """Distance epsilon/sqrt(3 log(6/delta)); claimed up to epsilon = 15.5."""
    evidence = decide("W18-TH3i", part, "corrected", AT)
    want = gaussian_log_delta(2.0, 2 / math.sqrt(3 * math.log(6e5)))
    assert math.log(evidence.exact.value) == pytest.approx(want, rel=1e-9)
    for epsilon, inside in ((15.4, True), (15.6, False)):
        assert decide("W18-TH3i", part, "corrected", AT | {"epsilon": epsilon}).claim.in_domain is inside
    assert decide("W18-TH3i", part, "epsilon cut by 5 %", AT).claim.published == pytest.approx(1.9)


@for_each(("epsilon", "delta", "true"), [(2.0, 1e-5, True), (15.5, 0.3, True), (17.0, 0.5, False)])
def test_thm_3i_the_released_matrix_promises_every_epsilon(epsilon: float, delta: float, true: bool) -> None:
    assert decide("W18-TH3i", "@hat", "printed", epsilon=epsilon, delta=delta).claim.in_domain
    assert holds("W18-TH3i", "@hat", "printed", epsilon=epsilon, delta=delta) is true


def test_thm_3i_the_raw_matrix_is_given_away() -> None:
    """Mutually singular laws: the divergence is 1 at every epsilon."""
    at = {"dim": 2, "n": 3, "epsilon": 5.0, "delta": 0.5}
    assert decide("W18-TH3i", "@raw", "printed", at).notes == {"recognised under D": 16, "recognised under D'": 0}
    assert exact_value("W18-TH3i", "@raw", "printed", at) == 1.0


def test_thm_3i_the_step_of_the_proof_does_not_decide_the_theorem() -> None:
    parts = {part.id: part for part in one("W18-TH3i").parts}
    assert parts["W18-TH3i.p"].proof
    assert parts["W18-TH3i@hat"].damaged
    assert parts["W18-TH3i@raw"].damaged


# W18, Theorem 3(ii): units, the spiked spectrum by hand, the corrected bound's constants retyped.
SPIKED = {"dim": 10, "constant": 1.0, "delta": 1e-6}
FLAT = {"dim": 2, "lambda_min": 2.0, "rho": 0.1, "delta": 1e-4, "spectrum": "flat"}


def test_thm_3ii_units() -> None:
    assert_units(
        "W18-TH3ii", "#units", "printed",
        lambda s: [s.X**2 * s.theta**2, s.X**4 * s.theta**2 / s.eigenvalue], lambda s: s.Y**2,
    )  # fmt: skip


def test_thm_3ii_spiked_spectrum_by_hand() -> None:
    """total = 3 sqrt(log(6/delta) d log(2 d^2/rho)); the error is total/16, the second term 2 log log'/total."""
    log, entries = math.log(6e6), math.log(1000)
    total = 3 * math.sqrt(log * 10 * math.log(2000))
    rate = min(math.sqrt(10 * entries * log), 1.001 * log * entries * 2 / total)
    evidence = decide("W18-TH3ii", "", "printed", SPIKED)
    assert evidence.notes["error at least"] == pytest.approx(total / 16)
    assert evidence.notes["printed rate"] == pytest.approx(rate)
    assert 90 / 32 / 1.01 < total / 16 / rate < 90 / 32 * 1.2
    assert evidence.exact.low == pytest.approx(norm.cdf(math.sqrt(log)) / 4)
    far = decide("W18-TH3ii", "", "printed", SPIKED | {"constant": 4.0}).exact
    assert far is not None
    assert far.low == 0.0


def test_thm_3ii_corrected_bound() -> None:
    """tau = 2 s (sqrt(d) + sqrt(log(6/rho))), s = 3 sqrt(log(6/delta)); the bound holds in all of 500 draws."""
    evidence = decide("W18-TH3ii", "", "corrected", FLAT, draws=500)
    s = 3 * math.sqrt(math.log(6e4))
    assert evidence.notes["tau"] == pytest.approx(2 * s * (math.sqrt(2) + math.sqrt(math.log(60))))
    assert evidence.claim.low == pytest.approx(0.9)
    assert evidence.sampled.value == 1.0


def test_thm_3ii_a_36th_of_the_bound_is_too_little() -> None:
    wrong = decide("W18-TH3ii", "", "bound divided by 36", FLAT | {"dim": 1, "delta": 1e-6}, draws=8_000)
    assert wrong.sampled.high < 0.9


# W18, Theorem 3(iii): thresholds and ratios retyped, errors given the event by quadrature and by drawing.
OF_ERROR = {"what": "error", "dim": 3, "delta": 1e-4, "multiple": 2.0, "Y": 2.0, "theta": 0.5, "sigma": 4.0}


def threshold(dim: int, delta: float) -> float:
    """lambda_min from which max{0, s sqrt(d log(2 d^2/rho)) - released} is 0 on E: rho = 0.05, epsilon = 1."""
    log = math.log(6 / delta)
    s = 3 * math.sqrt(log)
    return s * (math.sqrt(log) + norm.isf(delta / 3) + math.sqrt(dim * math.log(2 * dim**2 / 0.05)))


@for_each(("version", "constant"), [("printed", 9.0), ("constant 8.1 (9 is reached)", 8.1)])
def test_thm_3iii_excess_with_the_raw_matrix(version: str, constant: float) -> None:
    """E_2 alone: (3 sqrt(log) Y)^2 tr2 over (Y^2 + theta^2 + sigma^2 tr1) tr2 log."""
    trace = 3 / (2 * threshold(3, 1e-4))
    want = 9 * 4 / (4 + 0.25 + 16 * trace)
    evidence = decide("W18-TH3iii", "@raw", version, OF_ERROR)
    assert evidence.claim.published == pytest.approx(constant)
    assert evidence.exact.value == pytest.approx(want, rel=1e-9)


def test_thm_3iii_bias_below_the_threshold() -> None:
    """Released eigenvalue 0: theta is shrunk by lambda_min/(lambda_min + total)."""
    at = OF_ERROR | {"what": "mean", "multiple": 0.1}
    smallest = 0.1 * threshold(3, 1e-4)
    total = 3 * math.sqrt(math.log(6e4)) * math.sqrt(3 * math.log(18 / 0.05))
    assert exact_value("W18-TH3iii", "@raw", "any alpha", at) == pytest.approx(total / (smallest + total))
    assert exact_value("W18-TH3iii", "@raw", "printed", at | {"multiple": 1.0}) == 0.0
    assert not decide("W18-TH3iii", "@raw", "printed", at).claim.in_domain


def test_thm_3iii_no_mean_square_with_the_released_matrix() -> None:
    smallest, log = threshold(1, 0.3), math.log(20)
    for constant in (1.0, 1e7):
        evidence = decide("W18-TH3iii", "@hat", "printed", {"delta": 0.3, "constant": constant})
        allowed = 1 / smallest + constant * (2 + 1 / smallest) / smallest**2 * log
        assert evidence.claim.high == pytest.approx(allowed)
        assert evidence.exact.low > 1e6 * allowed


@for_each(("version", "constant"), [("corrected", 180.0), ("constant 26 (27 is reached)", 26.0)])
def test_thm_3iii_error_given_the_event(version: str, constant: float) -> None:
    """One dimension: ((E_2 + x^T noise - E_1 theta)/(a + E_1))^2 given |E_1| <= a/2, by scipy's quadrature."""
    delta, Y, theta, sigma = 0.01, 2.0, 0.5, 3.0
    log = math.log(6 / delta)
    s = 3 * math.sqrt(log)
    a = max(threshold(1, delta), 2 * s * (2 + 2 * math.sqrt(math.log(12 / delta))))

    def weight(e: float) -> float:
        return float(norm.pdf(e, scale=s))

    top = quad(lambda e: ((s * Y) ** 2 + sigma**2 * a + (e * theta) ** 2) / (a + e) ** 2 * weight(e), -a / 2, a / 2)[0]
    want = top / quad(weight, -a / 2, a / 2)[0]
    at = {"dim": 1, "delta": delta, "multiple": 1.0, "Y": Y, "theta": theta, "sigma": sigma}
    evidence = decide("W18-TH3iii", "@hat", version, at)
    assert evidence.exact.value == pytest.approx(want, rel=1e-8)
    allowed = sigma**2 / a + constant * (Y**2 + theta**2 + sigma**2 / a) / a**2 * log
    assert evidence.claim.high == pytest.approx(allowed)


# W18, closing remark of section 4: units of the compared rates, and the logarithms between them in floats.
def over_6(rate: float, s: Sizes) -> tuple[float, ...]:
    """A rate over (6) = d^2 (|X||Theta| + |Y|)^2/(n alpha epsilon^2), one quotient for each term of the sum."""
    return rate / (s.X * s.Theta) ** 2, rate / s.Y**2


@for_each(
    ("part", "version", "terms"),
    [
        ("#AdaOPS", "printed", lambda s: over_6(s.theta**2, s)),
        ("#AdaOPS", "corrected", lambda s: over_6(s.X**2 * s.theta**2, s)),
        (
            "#AdaSSP",
            "printed",
            lambda s: [over_6(s.X**p * s.theta**2 / s.eigenvalue ** (p // 4), s)[0] for p in (2, 4)],
        ),
    ],
)
def test_rem_3_units(part: str, version: str, terms: Terms) -> None:
    assert_units("W18-REM3", part, version, terms, lambda s: 1.0)


@given(
    root=st.sampled_from([1.0, 2.0, 30.0]), n=st.integers(1, 10**6), alpha=st.floats(0.01, 1), share=st.floats(0, 1),
    epsilon=st.floats(0.01, 2), log=st.floats(1.8, 40), tail=st.floats(0, 20),
)  # fmt: skip
def test_rem_3_corrected_rate_over_both_bounds(
    root: float, n: int, alpha: float, share: float, epsilon: float, log: float, tail: float
) -> None:
    """min{sqrt(k)/epsilon, d k/(n alpha epsilon^2)} term by term against sqrt(K) (5) and K (6), bounds and theta* 1."""
    d = root**2
    k, K = (d + tail) * log + log**2, (1 + tail) * log + log**2
    at = {"root d": root, "n": n, "alpha": alpha, "share": share, "epsilon": epsilon, "log": log, "tail": tail}
    for version, factor, logs in (
        ("printed", 1.0, K), ("a tenth less", 0.9, K), ("no square of the logarithm", 1.0, (1 + tail) * log)
    ):  # fmt: skip
        five = math.sqrt(logs) * math.sqrt(d) * (1 + share) / epsilon
        six = logs * d**2 * (1 + share) ** 2 / (n * alpha * epsilon**2)
        ratios = (math.sqrt(k) / epsilon / five, d * k / (n * alpha * epsilon**2) / six)
        assert exact_value("W18-REM3", "#logarithms", version, at) == pytest.approx(max(ratios) ** 2 / factor, rel=1e-9)
