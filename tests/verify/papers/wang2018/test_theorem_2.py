"""W18, Algorithm 1 and Theorem 2: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction
from math import log, sqrt

import mpmath
import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from oracles.mechanisms.profiles import gaussian_log_delta, quadratic_delta
from oracles.ops_calibration import corrected_rule, solve
from oracles.unit_change import Sizes, assert_units
from rows import for_each
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from mechanisms.data.dataset import Dataset
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018

# W18, Algorithm 1: each printed step retyped; its unit, the bracket of (8), the curvature of (7).
EPSILON, LOG = 0.7, log(6 / 1e-6)


def _eigenvalue(s: Sizes) -> float:
    return s.eigenvalue


def test_alg_1_step_2_has_noise_without_unit() -> None:
    """sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4): 16 decades short; Algorithm 2 has ||X||^2."""

    def noise(s: Sizes) -> tuple[float, float]:
        return sqrt(LOG) / (EPSILON / 4), LOG / (EPSILON / 4)

    assert_units("W18-A1", "#2", "printed", noise, _eigenvalue)
    assert_units("W18-A1", "#2", "corrected", lambda s: (s.X**2 * n for n in noise(s)), _eigenvalue)
    assert exact_value("W18-A1", "#2", "printed", unit="features") == -16.0


def test_alg_1_step_4_is_an_eigenvalue() -> None:
    """(7): ||X||^4 C_1 [1 + ||X||^2/(t + lambda)]^(2 C_2)/(t + lambda) + t, and t_min."""

    def terms(s: Sizes) -> tuple[float, ...]:
        t = released = s.eigenvalue
        c1, c2 = (2 + sqrt(4 * log(20)) + log(20)) * LOG / 0.17**2, LOG / (EPSILON / 4)
        first = s.X**4 * c1 * (1 + s.X**2 / (t + released)) ** (2 * c2) / (t + released)
        return first, t, s.X**2 * (1 + LOG) / (2 * EPSILON)

    assert_units("W18-A1", "#4", "printed", terms, _eigenvalue)


def test_alg_1_temperature_is_one_over_a_loss() -> None:
    """Step 7: 1/gamma = log(6/delta) L^2/((lambda_min + lambda) epsilon^2), a squared response."""
    assert_units("W18-A1", "#output", "printed", lambda s: (LOG * s.L**2 / (s.eigenvalue * 0.09),), lambda s: s.Y**2)


@for_each("size", [2.0, 4.0, 29.0])
def test_alg_1_bracket_of_8(size: float) -> None:
    """At log(6/delta) = l: 1/l (1 + l)/l side by side, 1/l + (1 + l)/l in the proof; 3/4 against 2 at l = 2."""
    ell = Fraction(size)
    proof = 1 / ell + (1 + ell) / ell
    printed = exact_value("W18-A1", "#8@product", "printed", log=size)
    assert printed == pytest.approx(float((1 / ell) * ((1 + ell) / ell) / proof), rel=1e-15)
    assert exact_value("W18-A1", "#8@product", "corrected", log=size) == 1.0
    assert exact_value("W18-A1", "#8@sum", "printed", log=size) == 1.0
    assert not holds("W18-A1", "#8@product", "printed", log=size)
    for part in ("#8@sum", "#8@product"):
        assert exact_value("W18-A1", part, "a tenth more", log=size) == pytest.approx(1.1)


@for_each(("version", "sign"), [("printed", 1), ("exponent -2 C_2", -1)])
def test_alg_1_curvature_of_7(version: str, sign: int) -> None:
    """At its worst point the check has v^2 times the second derivative of log([1 + 1/v]^(2 C_2)/v), by mpmath."""
    evidence = decide("W18-A1", "#7", version)
    v, c2 = evidence.found["v"], evidence.found["C2"]
    assert isinstance(v, float)
    assert isinstance(c2, float)
    with mpmath.workdps(40):
        second = mpmath.diff(lambda u: sign * 2 * c2 * mpmath.log1p(1 / u) - mpmath.log(u), mpmath.mpf(v), 2, h=v / 1e9)
    assert evidence.exact.high == pytest.approx(float(v**2 * second), rel=1e-6)
    assert holds("W18-A1", "#7", version) is (sign == 1)


# W18, Theorem 2(i): the printed releases at their own noise, events by scipy's normal law, the corrected shares.
@for_each(("part", "share"), [(".p1", 1 / 4), ("#all", 1.0)])
@for_each("bound", [1.0, 3.0])
def test_thm_2i_printed_eigenvalue(part: str, share: float, bound: float) -> None:
    """Sensitivity B^2, noise sqrt(log(6/delta))/(epsilon/4): a shift of B^2 epsilon/(4 sqrt(log(6/delta)))."""
    at = {"epsilon": 2.0, "delta": 1e-4, "bound": bound}
    mu = bound**2 * 0.5 / math.sqrt(math.log(6e4))
    evidence = decide("W18-TH2i", part, "printed", at)
    assert evidence.claim.published == pytest.approx(2 * share)
    assert evidence.claim.high == pytest.approx(1e-4 / (3 if part == ".p1" else 1))
    assert math.log(evidence.exact.value) == pytest.approx(gaussian_log_delta(2 * share, mu), rel=1e-9)


@for_each("delta", [0.4, 1e-3, 1e-10])
def test_thm_2i_events(delta: float) -> None:
    """|Z - sqrt(L)| <= sqrt(L) is 0 <= Z <= 2 sqrt(L); the second event is -sqrt(L) <= Z <= 0, L = log(6/delta)."""
    root = math.sqrt(math.log(6 / delta))
    tail = norm.sf(2 * root) + 0.5
    assert exact_value("W18-TH2i", ".p2", "printed", {"delta": delta}) == pytest.approx(tail, rel=1e-11)
    both = norm.sf(root) + 0.5
    assert exact_value("W18-TH2i", ".p3", "printed", {"delta": delta}) == pytest.approx(both, rel=1e-11)
    assert decide("W18-TH2i", ".p3", "printed", {"delta": delta}).claim.high == pytest.approx(2 * delta / 3)
    for part in (".p2", ".p3"):
        assert exact_value("W18-TH2i", part, "corrected", {"delta": delta}) == pytest.approx(delta / 5, rel=1e-9)
        cut = norm.sf(0.9 * norm.isf(delta / 5))
        assert exact_value("W18-TH2i", part, "quantile cut by 10 %", {"delta": delta}) == pytest.approx(cut, rel=1e-9)


def test_thm_2i_printed_sample() -> None:
    """No record, bounds 1, released eigenvalue 0 and Delta 0: lambda from (7), gamma from (8) as printed."""
    epsilon, delta = 1.0, 1e-6
    log, tail = math.log(6 / delta), math.log(20)
    bar = (-1 + math.sqrt(1 + 2 * epsilon / 4 / log)) * log  # bar^2/(2 log) + bar = epsilon/4
    c1, c2 = (1 / 2 + math.sqrt(tail) + tail) * log / bar**2, log / (epsilon / 4)
    floor = (1 + log) / (2 * epsilon)
    best = minimize_scalar(
        lambda t: math.log(c1 * (1 + math.exp(-t)) ** (2 * c2) / math.exp(t) + math.exp(t)),
        bounds=(math.log(floor), 20), method="bounded", options={"xatol": 1e-12},
    )  # fmt: skip
    lam = max(math.exp(best.x), floor)
    square = (1 + log) / log**2
    tilde = (-1 + math.sqrt(1 + square * epsilon)) / square  # square/2 tilde^2 + tilde = epsilon/2
    gamma = lam * tilde**2 / log
    want = max(quadratic_delta(epsilon / 2, 1 / lam, math.sqrt(gamma), backward=b) for b in (False, True))
    evidence = decide("W18-TH2i", ".p4", "printed", {"epsilon": epsilon, "delta": delta})
    assert evidence.exact.value == pytest.approx(want, rel=1e-5)
    assert evidence.claim.published == 0.5
    assert evidence.claim.high == pytest.approx(delta / 3)


@for_each("at", [{"epsilon": 0.1, "delta": 0.2}, {"epsilon": 4.0, "delta": 1e-8}])
def test_thm_2i_corrected_releases(at: dict[str, float]) -> None:
    """Analytic noise spends exactly delta/5 at epsilon/4, the sample at most delta/5 at epsilon/2."""
    share = at["delta"] / 5
    assert exact_value("W18-TH2i", ".p1", "corrected", at) == pytest.approx(share, rel=1e-6)
    one = {**at, "sharper": 1.0, "mu": 1.0, "r": 1.0}
    sample = decide("W18-TH2i", ".p4", "corrected", one)
    assert sample.claim.published == at["epsilon"] / 2
    assert sample.exact.high <= share
    whole = decide("W18-TH2i", "#all", "corrected", at)
    assert whole.exact.high == pytest.approx(4 * share + sample.exact.high, rel=1e-6)


def test_thm_2i_noise_below_the_whole_budget() -> None:
    """Noise divided by 1.1 below what the whole budget needs exceeds delta; at bound 4 without its square, far more."""
    at = {"epsilon": 1.0, "delta": 1e-6}
    for wrong in (
        "eigenvalue noise divided by more than all budget allows",
        "eigenvalue noise without the square of the bound",
    ):
        assert exact_value("W18-TH2i", "#all", wrong, at) > 1.5e-6


# W18, Theorem 2(ii): units, the bias of the least ridge by hand, the corrected rate retyped.
AT = {"dim": 2, "copies": 50, "bound": 3.0, "epsilon": 0.5, "delta": 1e-3, "rho": 0.2, "spectrum": "one small"}


def test_thm_2ii_units() -> None:
    """d [d + log(1/rho)] |theta*|^2/(alpha n epsilon^2) is no loss without |X|^2."""
    second = {"printed": lambda s: s.theta**2, "corrected": lambda s: s.X**2 * s.theta**2}
    for version, term in second.items():
        assert_units("W18-TH2ii", "#units", version, lambda s, t=term: [t(s), s.X**2 * s.theta**2], lambda s: s.Y**2)


def test_thm_2ii_bias_by_hand() -> None:
    """log(6/delta) = 100: n = 100, ridge 50.5, error 50 (50.5/150.5)^2, rate (1 + log 10)(100 - log 6)/100."""
    evidence = decide("W18-TH2ii", "#rate", "printed", {"log": 100.0, "constant": 1.0})
    assert evidence.notes["error at least"] == pytest.approx(50 * (50.5 / 150.5) ** 2)
    assert evidence.notes["printed rate"] == pytest.approx((1 + math.log(10)) * (100 - math.log(6)) / 100)
    assert evidence.exact.low == pytest.approx(norm.cdf(3 * 10 / 4) / 2)
    assert exact_value("W18-TH2ii", "#rate", "printed", {"log": 100.0, "constant": 2.0}) < 1  # 5.6 < 2 * 3.2
    assert decide("W18-TH2ii", "#rate", "printed", {"log": 100.0, "constant": 2.0}).exact.low == 0.0


@for_each(("version", "square"), [("corrected", True), ("no square of the logarithm", False)])
def test_thm_2ii_corrected_rate(version: str, square: bool) -> None:
    """min{sqrt(k)/epsilon, d k/(alpha n epsilon^2)}, |X| |theta*| = 1, alpha n |X|^2/d = 50 0.1^2 |X|^2."""
    log = math.log(6000)
    k = (2 + math.log(5)) * log + (log**2 if square else 0)
    evidence = decide("W18-TH2ii", "#rate", version, AT, draws=500)
    assert evidence.notes["rate"] == pytest.approx(min(math.sqrt(k) / 0.5, k / (0.5 * 0.25)))
    assert evidence.claim.low == pytest.approx(1 - 0.2 - 1e-3)
    assert evidence.sampled is not None


def test_thm_2ii_deficient_design_has_the_first_term_alone() -> None:
    evidence = decide("W18-TH2ii", "#rate", "corrected", AT | {"spectrum": "deficient"}, draws=200)
    log = math.log(6000)
    assert evidence.notes["rate"] == pytest.approx(math.sqrt((2 + math.log(5)) * log + log**2) / 0.5)


# W18, Theorem 2(iii): the threshold, the event and the printed sequence from retyped constants; bounds by drawing.
@for_each("delta", [0.2, 1e-5])
def test_thm_2iii_event(delta: float) -> None:
    """The printed shift is 4 log(6/delta)/epsilon itself: E is Z >= 0; corrected the quantile of delta/3."""
    at = {"delta": delta}
    assert exact_value("W18-TH2iii", ".p", "printed", at) == pytest.approx(0.5 / (delta / 3))
    assert exact_value("W18-TH2iii", ".p", "corrected", at) == pytest.approx(1.0, rel=1e-8)
    cut = norm.sf(0.9 * norm.isf(delta / 3)) / (delta / 3)
    assert exact_value("W18-TH2iii", ".p", "quantile cut by 10 %", at) == pytest.approx(cut, rel=1e-8)


@for_each("delta", [0.1, 1e-6])
def test_thm_2iii_order_in_epsilon(delta: float) -> None:
    """(epsilon/tilde)^2 with tilde the root of (8) as printed, from 1e4 to 1e12."""
    log = math.log(6 / delta)
    square = (1 + log) / log**2

    def ratio(epsilon: float) -> float:
        tilde = max(np.roots([square / 2, 1, -epsilon / 2]).real)
        return float((epsilon / tilde) ** 2)

    want = math.log10(ratio(1e12) / ratio(1e4))
    found = exact_value("W18-TH2iii", "#covariance", "printed", {"delta": delta, "start": 1e4})
    assert found == pytest.approx(want, rel=1e-6)
    assert want > 7


def test_thm_2iii_bias_of_the_printed_algorithm_drawn() -> None:
    """One record x = 1, theta_0 = sigma = 1: the mean of theta is below the noted bound, 20,000 draws."""
    evidence = decide("W18-TH2iii", "#mean", "printed", {"epsilon": 1.0, "delta": 1e-3})
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    mechanism = AdaOPS2018(PublishedRule2018(1.0, 1e-3))
    y = np.clip(1.0 + rng.standard_normal(200), -1, 1)
    means = [
        mechanism.output(mechanism.draw(Dataset(np.ones((1, 1)), np.array([v]), 1.0, 1.0), 100, rng=rng), 1).mean()
        for v in y
    ]
    assert np.mean(means) < float(evidence.notes["mean at most"])
    assert evidence.exact.low == pytest.approx(1 - float(evidence.notes["mean at most"]), rel=1e-6)


@for_each(("epsilon", "delta"), [(1.0, 0.1), (0.1, 1e-6)])
def test_thm_2iii_threshold_of_the_spectrum(epsilon: float, delta: float) -> None:
    """The release, at its lowest on E, is at least half of lambda_min and at least the least total of (7)."""
    at = {"epsilon": epsilon, "delta": delta, "multiple": 1.0}
    constants = CorrectedRule2018(epsilon, delta).settings(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0))
    loss = constants.shift + constants.sigma * norm.isf(delta / 3)
    want = max(2 * loss, loss + constants.total)
    assert decide("W18-TH2iii", "#mean", "corrected", at).notes["lambda_min"] == pytest.approx(want)
    assert exact_value("W18-TH2iii", "#mean", "corrected", at) == 0.0
    assert decide("W18-TH2iii", "#covariance", "corrected", at).notes["lambda_min"] == pytest.approx(want)
    below = decide("W18-TH2iii", "#mean", "spectrum 10 % below the threshold", at)
    assert below.notes["lambda_min"] == pytest.approx(0.9 * want)


def test_thm_2iii_covariance_at_the_threshold() -> None:
    """gamma from the retyped rule at the lowest release on E; exp(2 Delta) by its lognormal moment; 64 e^4 = 3,494."""
    delta = 0.1
    constants = CorrectedRule2018(1.0, delta).settings(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0))
    loss = constants.shift + constants.sigma * norm.isf(delta / 3)
    smallest = max(2 * loss, loss + constants.total)
    released = smallest - loss
    gamma = solve(lambda g: corrected_rule(released, g, delta / 5, 0), 0.5)
    step = math.log(1 + 1 / released)
    moment = 2 * math.exp(2 * step * constants.unit_shift + (2 * step * constants.unit_sigma) ** 2 / 2)
    evidence = decide("W18-TH2iii", "#covariance", "corrected", {"epsilon": 1.0, "delta": delta, "multiple": 1.0})
    assert evidence.exact.high == pytest.approx(moment / gamma * smallest / math.log(60), rel=1e-6)
    assert 0 < evidence.exact.low < evidence.exact.high < evidence.claim.high
    assert evidence.claim.published == pytest.approx(3494.26, abs=0.1)
    wrong = decide("W18-TH2iii", "#covariance", "constant 19")
    assert wrong.claim.published == 19.0
