"""W18, appendices D.1 to D.4, up to (19): each typed formula on known answers and literal twins."""

import math
from math import exp, log, sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.profiles import quadratic_delta
from rows import for_each
from scipy.optimize import brentq
from scipy.stats import chi2, norm

from verify.papers.wang2018 import thm_2i

# W18, Lemma 8: the chi-square bound against scipy, the short bound by hand, the laws by known shares.
AT = {"X": "generic", "n": 6, "dim": 3, "seed": 8}


@for_each("dim", [1, 3, 200])
@for_each("rho", [0.97, 0.2, 1e-6])
def test_lem_8_tail(dim: int, rho: float) -> None:
    log = math.log(1 / rho)
    for version, cross, linear in (("printed", 2, 2), ("coefficient 1.9", 2, 1.9), ("no cross term", 0, 2)):
        want = chi2.sf(dim + cross * math.sqrt(dim * log) + linear * log, dim)
        assert exact_value("W18-L8", "#tail", version, {"dim": dim, "rho": rho}) == pytest.approx(want, rel=1e-9)


def test_lem_8_short_bound_by_hand() -> None:
    """d = 1, rho = 1/e: 1 + 2 + 2 = 5. d = 1, rho = 1/2: 4.0515 against 3.4657."""
    equal = exact_value("W18-L8", ".p", "printed", {"dim": 1, "rho": math.exp(-1)})
    assert equal == pytest.approx(1.0, rel=1e-12)
    half = exact_value("W18-L8", ".p", "printed", {"dim": 1, "rho": 0.5})
    assert half == pytest.approx((1 + 2 * math.sqrt(math.log(2)) + 2 * math.log(2)) / (5 * math.log(2)))
    assert half == pytest.approx(4.0515 / 3.4657, rel=1e-4)
    assert not decide("W18-L8", ".p", "corrected", {"dim": 1, "rho": 0.37}).claim.in_domain
    assert decide("W18-L8", ".p", "corrected", {"dim": 1, "rho": 0.36}).claim.in_domain


@for_each(("dim", "rho", "true"), [(1000, 0.9, False), (20, 0.9, False), (1, 0.5, True), (1000, 0.3678, True)])
def test_lem_8_short_bound_as_a_bound(dim: int, rho: float, true: bool) -> None:
    """P(chi^2_d > 5 d log(1/rho)) against rho: false in many dimensions at rho = 0.9, true for d = 1."""
    at = {"dim": dim, "rho": rho}
    assert exact_value("W18-L8", "#short", "printed", at) == pytest.approx(chi2.sf(5 * dim * math.log(1 / rho), dim))
    assert holds("W18-L8", "#short", "printed", at) is true
    assert decide("W18-L8", "#short", "corrected", at).claim.in_domain is (rho < 0.368)
    cut = exact_value("W18-L8", "#short", "constant 0.9 for 5", at)
    assert cut == pytest.approx(chi2.sf(0.9 * dim * math.log(1 / rho), dim))


@for_each(("version", "true"), [("printed", False), ("corrected", True)])
def test_lem_8_short_bound_on_the_box(version: str, true: bool) -> None:
    assert holds("W18-L8", ".p", version, {}) is true


@given(seed=st.integers(1, 10_000), dim=st.integers(1, 4))
def test_lem_8_laws_hold(seed: int, dim: int) -> None:
    at = AT | {"seed": seed, "dim": dim}
    assert holds("W18-L8", "#posterior", "printed", at)
    assert holds("W18-L8", "#model", "printed", at)


def test_lem_8_laws_changed_by_a_share() -> None:
    """The covariance is one matrix times a factor, so 1 % more of it is off by 0.01/1.01."""
    assert exact_value("W18-L8", "#model", "covariance 1 % larger", AT) == pytest.approx(0.01 / 1.01)
    assert exact_value("W18-L8", "#posterior", "precision 1 % larger", AT) == pytest.approx(0.01 / 1.01, rel=0.1)
    assert not holds("W18-L8", "#posterior", "centre of F + lambda |theta|^2", AT)
    assert not holds("W18-L8", "#model", "with a ridge", AT)


# W18, Lemma 9: half of Lemma 8's bounds; the excess of a quadratic.
@for_each("rho", [0.9, 1e-3])
def test_lem_9_tail_of_half_a_chi_square(rho: float) -> None:
    """gamma (F - F*) is half a chi-square: P(chi^2/2 > (d + 2 sqrt(d L) + 2 L)/2) at d = 4."""
    log = math.log(1 / rho)
    half = (4 + 2 * math.sqrt(4 * log) + 2 * log) / 2
    assert exact_value("W18-L9", "#tail", "printed", {"dim": 4, "rho": rho}) == pytest.approx(chi2.sf(2 * half, 4))


def test_lem_9_short_bound_by_hand() -> None:
    """d = 4, log(1/rho) = 1: (4 + 4 + 2)/2 = 5 against 2.5 * 4 = 10; log(1/rho) = 1/4: 3.25 against 2.5."""
    assert exact_value("W18-L9", ".p", "printed", {"dim": 4, "rho": math.exp(-1)}) == pytest.approx(5 / 10)
    assert exact_value("W18-L9", ".p", "printed", {"dim": 4, "rho": math.exp(-0.25)}) == pytest.approx(3.25 / 2.5)
    assert not holds("W18-L9", ".p", "printed", {})
    assert holds("W18-L9", ".p", "corrected", {})


@given(seed=st.integers(1, 10_000), dim=st.integers(1, 4))
def test_lem_9_excess_of_a_quadratic(seed: int, dim: int) -> None:
    assert holds("W18-L9", "#excess", "printed", {"dim": dim, "seed": seed})
    assert not holds("W18-L9", "#excess", "inverse Hessian for the metric", {"dim": dim, "seed": seed})


# W18, Theorem 10: (16) and (17) retyped in their own letters, and their exact profile by definition.
def sixteen(mu: float, g: float, r: float, delta: float) -> float:
    """(16): |-log(1 + mu) + gamma mu/(1 + mu) r^2|/2 + mu/2 log(2/delta) + sqrt(gamma mu log(2/delta)) |r|."""
    log = math.log(2 / delta)
    return abs(-math.log(1 + mu) + g * mu / (1 + mu) * r**2) / 2 + mu / 2 * log + math.sqrt(g * mu * log) * r


def seventeen(mu: float, g: float, r: float, delta: float) -> float:
    """(17) as printed, in the in-sample leverage and residual."""
    log = math.log(2 / delta)
    return abs(-math.log(1 - mu) - g * mu / (1 - mu) * r**2) / 2 + mu / 2 * log + math.sqrt(g * mu * log) * r


@settings(max_examples=10)
@given(mu=st.floats(1e-3, 50), g=st.floats(0.01, 100), r=st.floats(0.01, 5), delta=st.floats(1e-9, 0.9))
def test_thm_10_printed_forms(mu: float, g: float, r: float, delta: float) -> None:
    """In sample: mu' = mu/(1 + mu), y - x^T theta' = (y - x^T theta)/(1 + mu) (Sherman and Morrison)."""
    at = {"leverage": mu, "residual": math.sqrt(g) * r, "delta": delta}
    assert claimed("W18-TH10", "#4.3", "printed", at) == pytest.approx(sixteen(mu, g, r, delta), rel=1e-11)
    inside = seventeen(mu / (1 + mu), g, r / (1 + mu), delta)
    assert claimed("W18-TH10", "#4.4", "printed", at) == pytest.approx(inside, rel=1e-9)
    # corrected, the quantile's square is 2 log(2/delta), which is log(2/delta') at delta' = delta^2/2
    twice = sixteen(mu, g, r, delta**2 / 2)
    assert claimed("W18-TH10", "#4.3", "corrected", at) == pytest.approx(twice, rel=1e-11)
    assert claimed("W18-TH10", "#4.4", "corrected", at) == pytest.approx(twice, rel=1e-9)


def test_thm_10_exact_profile() -> None:
    at = {"leverage": 2.0, "residual": 0.5, "delta": 1e-2}
    epsilon = sixteen(2.0, 1.0, 0.5, 1e-2)
    want = max(quadratic_delta(epsilon, 2.0, 0.5, backward=b) for b in (False, True))
    assert exact_value("W18-TH10", "#4.3", "printed", at) == pytest.approx(want, rel=1e-9)


def test_thm_10_printed_sides_are_not_equal() -> None:
    """mu = 1, gamma r^2 = 4: (16) has 2 - log 2, (17) has |log 2 - 1|, at delta = 2/e."""
    at = {"leverage": 1.0, "residual": 2.0, "delta": 2 / math.e}
    left, right = sixteen(1.0, 1.0, 2.0, 2 / math.e), seventeen(0.5, 1.0, 1.0, 2 / math.e)
    assert exact_value("W18-TH10", "#=", "printed", at) == pytest.approx((right - left) / left)
    assert exact_value("W18-TH10", "#=", "corrected", at) == pytest.approx(0.0, abs=1e-12)


# W18, Remark 11: epsilon retyped in the paper's letters, the profile of one target against its definition.
FACTORS = {"printed": 1.0, "corrected": 2.0, "tail factor 1.7": 1.7}


def remark(*, tail: float, B: float, L: float, gamma: float, total: float, delta: float) -> float:
    """The three terms in the order of the paper; ``total`` is lambda + lambda_min."""
    log = math.log(2 / delta)
    return (
        math.sqrt(tail * gamma * L**2 * log / total)
        + gamma * L**2 / (2 * (total + B**2))
        + (1 + tail * log) * B**2 / (2 * total)
    )


@settings(max_examples=10)
@given(
    B=st.floats(0.1, 10), L=st.floats(0.1, 10), gamma=st.floats(0.01, 100), total=st.floats(0.01, 100),
    delta=st.floats(1e-9, 0.9), version=st.sampled_from(list(FACTORS)),
)  # fmt: skip
def test_rem_11_epsilon(B: float, L: float, gamma: float, total: float, delta: float, version: str) -> None:
    at = {"leverage": B**2 / total, "residual": math.sqrt(gamma) * L / B, "delta": delta}
    want = remark(tail=FACTORS[version], B=B, L=L, gamma=gamma, total=total, delta=delta)
    assert claimed("W18-R11", "", version, at) == pytest.approx(want, rel=1e-12)


def test_rem_11_by_hand() -> None:
    """m = 1, a = 2, delta = 2/e: 2 + 1 + 1 as printed, 2 sqrt 2 + 1 + 3/2 corrected, 3/2 without the residual."""
    at = {"leverage": 1.0, "residual": 2.0, "delta": 2 / math.e}
    assert claimed("W18-R11", "", "printed", at) == pytest.approx(4.0)
    assert claimed("W18-R11", "", "corrected", at) == pytest.approx(2 * math.sqrt(2) + 2.5)
    assert claimed("W18-R11", "", "epsilon cut by 10 %", at) == pytest.approx(0.9 * (2 * math.sqrt(2) + 2.5))
    assert claimed("W18-R11", "", "no residual", at) == pytest.approx(1.5)


def test_rem_11_exact_profile_of_one_target() -> None:
    at = {"leverage": 0.5, "residual": 1.5, "delta": 1e-3}
    epsilon = remark(tail=1, B=1, L=1.5, gamma=1, total=2, delta=1e-3)
    want = max(quadratic_delta(epsilon, 0.5, 1.5, backward=b) for b in (False, True))
    assert exact_value("W18-R11", "", "printed", at) == pytest.approx(want, rel=1e-9)


def test_rem_11_the_only_record_leaves() -> None:
    """D = {(1, 1)}: lambda_min = 1 and |theta*| = 1/(1 + lambda) as printed; without the record 0 and 0."""
    at = {"gamma": 2.0, "lam": 0.25, "delta": 1e-3}
    printed = remark(tail=1, B=1, L=1 + 1 / 1.25, gamma=2, total=1.25, delta=1e-3)
    corrected = remark(tail=2, B=1, L=1, gamma=2, total=0.25, delta=1e-3)
    assert claimed(thm_2i.STATEMENT, ".p5", "printed", at) == pytest.approx(printed)
    assert claimed(thm_2i.STATEMENT, ".p5", "corrected", at) == pytest.approx(corrected)


# W18, Lemma 12: one record and a target of opposite sign by hand, random records by numpy.
RANDOM = {"data": "random", "n": 5, "dim": 2, "seed": 4, "lam": 0.25}


@given(lam=st.floats(1e-3, 50.0))
def test_lem_12_one_record_and_its_opposite(lam: float) -> None:
    """theta* = 1/(1 + lambda) without the target (1, -1), 0 with it; the smallest eigenvalues are 1 and 2."""
    change = math.log(1 + 1 / (1 + lam))
    at = {"data": "(1, 1)", "lam": lam}
    assert exact_value("W18-L12", "#add", "printed", at) == pytest.approx(1.0)
    assert exact_value("W18-L12", "#remove", "printed", at) == pytest.approx(change / math.log(1 + 1 / (2 + lam)))
    assert exact_value("W18-L12", "#remove", "corrected", at) == pytest.approx(1.0)
    cut = change / math.log(1 + 0.95 / (1 + lam))
    assert exact_value("W18-L12", "#add", "bound cut by 5 %", at) == pytest.approx(cut)
    # |theta - theta'| = 1/(1 + lambda), the bound 1/(1 + lambda) (1 + min{1/(1 + lambda), 0})
    assert exact_value("W18-L12", "#proof", "printed", at) == pytest.approx(1.0)


@given(seed=st.integers(1, 10_000), n=st.integers(0, 6), lam=st.sampled_from([0.01, 1.0, 30.0]))
def test_lem_12_random_records_stay_below_the_corrected_bounds(seed: int, n: int, lam: float) -> None:
    at = RANDOM | {"seed": seed, "n": n, "lam": lam}
    for part in ("#add", "#proof", "#proof, equality"):
        assert holds("W18-L12", part, "printed", at)
    assert holds("W18-L12", "#remove", "corrected", at)


def test_lem_12_the_equality_needs_the_matrix_with_the_target() -> None:
    assert not holds("W18-L12", "#proof, equality", "matrix without the target", RANDOM)


# W18, (19): where step 6's released constant leaves its two bounds, solved for the normal variable.
#: Shift of Delta and exponent of the upper bound, over C_2.
VERSIONS = {
    "printed": (1.0, 1.0),
    "corrected": (sqrt(2), 2 * sqrt(2)),
    "lower threshold cut by 10 %": (0.9 * sqrt(2), 1.9 * sqrt(2)),
    "exponent C_2 only": (sqrt(2), sqrt(2)),
    "no factor 2 under the root": (1.0, 2.0),
}


def _outside(delta: float, shift: float, exponent: float) -> float:
    """P(not L <= B exp(Delta) <= L (1 + B^2/total)^(exponent C_2)), at L = 3, B = 2, total = 5, epsilon 0.3."""
    B, L, total, epsilon = 2.0, 3.0, 5.0, 0.3
    step, c2 = log(1 + B**2 / total), log(2 / delta) / epsilon

    def excess(z: float, bound: float) -> float:
        released = log(L / B) + step / (epsilon / sqrt(log(2 / delta))) * z + shift * step * c2
        return released + log(B) - bound

    ends = [brentq(excess, -100.0, 100.0, args=(b,)) for b in (log(L), log(L) + exponent * c2 * step)]
    return float(norm.cdf(ends[0]) + norm.sf(ends[1]))


@for_each("version", VERSIONS)
@for_each("delta", [0.9, 0.1, 1e-3, 1e-9])
def test_eq_19_failure_probability(version: str, delta: float) -> None:
    evidence = decide("W18-E19", "", version, delta=delta)
    assert evidence.exact.value == pytest.approx(_outside(delta, *VERSIONS[version]), rel=1e-9)
    assert evidence.claim.high == delta


def test_eq_19_printed_claim_fails_half_of_the_time() -> None:
    """delta = 0.1: Phi(-sqrt(log 20)) + 1/2 = 0.5417."""
    assert exact_value("W18-E19", "", "printed", delta=0.1) == pytest.approx(0.5417, abs=1e-4)
    sampled = decide("W18-E19", "", "printed", draws=20_000, delta=0.1).sampled
    assert sampled.low < 0.5417 < sampled.high


def test_eq_19_corrected_claim_on_the_whole_box() -> None:
    """Twice Phi(-sqrt(2 log(2/delta))) is at most exp(-log(2/delta)) = delta/2, up to the Gaussian tail bound."""
    assert holds("W18-E19", "", "corrected", {})
    for delta in (0.9, 1e-100):
        assert exact_value("W18-E19", "", "corrected", delta=delta) <= exp(log(delta / 2))
