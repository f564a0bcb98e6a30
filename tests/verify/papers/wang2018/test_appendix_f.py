"""W18, appendix F: each typed formula on known answers and literal twins."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.profiles import quadratic_delta
from oracles.ops_calibration import RHO, corrected_rule, parameters, printed_rule, solve, target_delta
from rows import for_each
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.stats import chi2

from mechanisms.base import BOTH
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.posterior_sampling import PosteriorSampling
from verify.kernel.statement import Statement
from verify.papers.wang2018 import set_f1, set_f2, set_f3, set_f4

# The rules of W18, appendix F: all four against a retyped rule and its exact law; two scales by integration.
RULES = [
    (set_f1.STATEMENT, "diffuse"),
    (set_f2.STATEMENT, "concentrated"),
    (set_f3.STATEMENT, "balanced"),
    (set_f4.STATEMENT, "conservative"),
]
ZERO = {"data": "records x = 0", "epsilon": 0.8, "delta": 1e-4, "n": 3, "dim": 2}


@pytest.mark.parametrize(("statement", "rule"), RULES)
@pytest.mark.parametrize("n", [0, pytest.param(5, marks=pytest.mark.slow)])
def test_ops_rules_worst_target_on_records_x_0(statement: Statement, rule: str, n: int) -> None:
    """Leverage 1/lambda and residual 1 are attained by the target (1, 1): the exact divergence at the retyped rule."""
    for version in ("printed", "corrected"):
        lam, gamma = parameters(rule, printed=version == "printed", epsilon=0.8, delta=1e-4, n=n, dim=2)
        evidence = decide(statement, "@a", version, ZERO | {"n": n})
        assert evidence.claim.published == 0.8
        rel = 1e-4 if rule == "balanced" else 1e-8  # its ridge is the end of a minimisation
        assert evidence.exact.value == pytest.approx(target_delta(lam, gamma, 0.8), rel=rel)


@for_each(("statement", "rule"), RULES)
def test_ops_rules_mutants_are_the_stated_ones(statement: Statement, rule: str) -> None:
    assert decide(statement, "@a", "epsilon cut by 5 %", ZERO).claim.published == pytest.approx(0.76)
    lam, gamma = parameters(rule, printed=True, epsilon=0.8, delta=1e-4, n=3, dim=2)
    rel = 1e-4 if rule == "balanced" else 1e-8
    exact = exact_value(statement, "@a", "no factor 2 under the root", ZERO)
    assert exact == pytest.approx(target_delta(lam, gamma, 0.8), rel=rel)


@for_each(("statement", "rule"), RULES)
def test_ops_rules_two_scales_by_integration(statement: Statement, rule: str) -> None:
    """One record x = 0 more changes n from 1 to 2 and so the precision gamma lambda: two centred normal laws."""
    at = {"data": "a record x = 0 joins", "epsilon": 0.05, "delta": 0.1, "n": 1, "dim": 1}
    first, second = (
        math.prod(parameters(rule, printed=True, epsilon=0.05, delta=0.1, n=n, dim=1)) ** -0.5 for n in (1, 2)
    )
    x = np.linspace(-40 * first, 40 * first, 400_001)
    p, q = stats.norm.pdf(x, scale=first), stats.norm.pdf(x, scale=second)
    direct = max(np.trapezoid(np.maximum(a - math.exp(0.05) * b, 0), x) for a, b in ((p, q), (q, p)))
    rel = 1e-3 if rule == "balanced" else 1e-5
    assert exact_value(statement, "@b", "printed", at) == pytest.approx(float(direct), rel=rel, abs=1e-9)
    assert exact_value(statement, "@b", "corrected", at) == 0.0


def test_ops_rules_worst_record_attains_leverage_and_residual() -> None:
    """Records x = 0 and a target (1, 1): leverage 1/lambda and residual sqrt(gamma), in the mechanism's own words."""
    pair = NeighbouringPair.add(Dataset(np.zeros((3, 1)), np.zeros(3), 1.0, 1.0), [1.0], 1.0)
    mechanism = PosteriorSampling(gamma=4.0, lam=0.5)
    assert mechanism.target(pair) == pytest.approx((2.0, 2.0))
    assert max(mechanism.profile(pair).delta_at(1.0, d) for d in BOTH) > 0


# W18, (23): ridge estimates by hand on equal records, singular values by numpy on random ones.
ROOT = "root cut by 30 % (sharp: 1/sqrt(2))"


@for_each(("n", "lam"), [(1, 1.0), (2, 9.0), (9, 2.0**-20), (9, 2.0**20)])
def test_eq_23_equal_records_at_both_bounds(n: int, lam: float) -> None:
    """n records (e_1, 1): theta = n/(n + lambda); bounds sqrt(n/(2 lambda)) and n/lambda, all squared."""
    case = {"n": n, "dim": 3, "seed": 0, "lam": lam}
    theta = n / (n + lam)
    for part, version, value, bound in (
        ("#root", "printed", theta**2, n / (2 * lam)),
        ("#root", ROOT, theta**2, 0.49 * n / (2 * lam)),
        ("#linear", "printed", theta**2, (n / lam) ** 2),
        ("#linear", "linear bound cut by 5 %", theta**2, (0.95 * n / lam) ** 2),
        # (theta + 1)^2 against (sqrt(n/(2 lambda)) + 1)^2: decided through theta^2 alone
        ("#Lipschitz", "printed", theta**2, n / (2 * lam)),
        ("#Lipschitz", "Lipschitz constant without its 1", theta**2 + 1, n / (2 * lam)),
    ):
        notes = decide("W18-E23", part, version, case).notes
        assert (notes["value"], notes["bound"]) == pytest.approx((value, bound), rel=1e-12)
        if version == "printed":
            assert holds("W18-E23", part, version, case)


def test_eq_23_what_is_refuted() -> None:
    """lambda = n: theta = 1/2 = sqrt(n)/(2 sqrt(lambda)), so 0.7 of the root bound 0.707 is too little; and so on."""
    even = {"n": 1, "dim": 1, "seed": 0}
    assert not holds("W18-E23", "#root", ROOT, {**even, "lam": 1.0})
    assert not holds("W18-E23", "#linear", "linear bound cut by 5 %", {**even, "lam": 1024.0})
    assert not holds("W18-E23", "#Lipschitz", "Lipschitz constant without its 1", {**even, "lam": 16.0})


@for_each(
    ("part", "version", "gap"),
    [
        ("#root", "printed", lambda v: 2**-0.5 - v / (1 + v**2)),
        ("#root", ROOT, lambda v: 0.7 * 2**-0.5 - v / (1 + v**2)),
        ("#linear", "printed", lambda v: 1 - 1 / (1 + v**2)),
    ],
)
def test_eq_23_one_singular_value(part: str, version: str, gap: object) -> None:
    """The norm of (X^T X + lambda I)^-1 X^T is s/(s^2 + lambda), s = v sqrt(lambda), against 1/sqrt(2 lambda)."""
    assert callable(gap)
    evidence = decide("W18-E23", part, version, {})
    assert evidence.exact.high == pytest.approx(gap(float(str(evidence.found["v"]))), abs=1e-12)


def test_eq_23_norm_of_the_smoother() -> None:
    """(23)'s first step, on random rows of length at most 1 and responses at most 1."""
    rng = np.random.Generator(np.random.PCG64DXSM(2))
    for lam in (0.01, 1.0, 100.0):
        X, y = rng.standard_normal((7, 3)), rng.uniform(-1, 1, 7)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        smoother = np.linalg.solve(X.T @ X + lam * np.eye(3), X.T)
        size = np.linalg.norm(smoother, 2)
        assert np.linalg.norm(smoother @ y) <= size * np.sqrt(7)
        assert size * np.sqrt(7) <= min(np.sqrt(7 / (2 * lam)), 7 / lam) + 1e-12


def test_eq_23_random_data() -> None:
    for part in ("#root", "#linear", "#Lipschitz"):
        for seed in (3, 4):
            assert holds("W18-E23", part, "printed", {"n": 5, "dim": 2, "seed": seed, "lam": 0.5})


# W18, calibration rule: its right side and the least ridge retyped in the paper's letters.
def right_side(*, tail: float, B: float, Y: float, n: int, lam: float, gamma: float, delta: float) -> float:
    """The rule with ``tail log(2/delta)`` for the squared quantile, L(lambda) = B Y (sqrt(n) B/sqrt(2 lambda) + 1)."""
    L, log = B * Y * (math.sqrt(n) * B / math.sqrt(2 * lam) + 1), math.log(2 / delta)
    return (
        math.sqrt(tail * gamma * L**2 * log / lam)
        + gamma * L**2 / (2 * (lam + B**2))
        + (1 + tail * log) * B**2 / (2 * lam)
    )


@settings(max_examples=10)
@given(
    B=st.floats(0.1, 5), Y=st.floats(0.1, 5), lam=st.floats(0.01, 100),
    gamma=st.floats(0.01, 100), delta=st.floats(1e-9, 0.9),
)  # fmt: skip
def test_set_f0_rule_without_data(B: float, Y: float, lam: float, gamma: float, delta: float) -> None:
    """The misprinted sign allows a hundredth of the right side; as it is meant epsilon is at least that."""
    at = {"leverage": B**2 / lam, "residual": math.sqrt(gamma) * Y, "delta": delta}
    given_ = {"B": B, "Y": Y, "n": 0, "lam": lam, "gamma": gamma, "delta": delta}
    one, two = right_side(tail=1, **given_), right_side(tail=2, **given_)
    for part, version, want in (
        (".sign", "printed", one / 100), (".sign", "corrected", two), (".sign", "a hundredth of epsilon", two / 100),
        ("#rule", "printed", one), ("#rule", "no factor 2", one), ("#rule", "corrected", two),
        ("#rule", "epsilon cut by 10 %", 0.9 * two),
    ):  # fmt: skip
        assert claimed("W18-F0", part, version, at) == pytest.approx(want, rel=1e-12)


def test_set_f0_the_sign_is_no_finding_about_privacy() -> None:
    """Read as it is meant the rule fails by its missing 2; the misprint has an id of its own."""
    at = {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}
    assert not holds("W18-F0", "#rule", "printed", at)
    for part in ("#rule", ".sign"):
        assert holds("W18-F0", part, "corrected", at)


def test_set_f0_rule_on_data() -> None:
    """Ten records: L(lambda) has the square root of n."""
    at = {"n": 10, "dim": 2, "B": 2.0, "Y": 0.5, "gamma": 0.3, "lam": 7.0, "delta": 1e-4}
    want = right_side(tail=2, B=2.0, Y=0.5, n=10, lam=7.0, gamma=0.3, delta=1e-4)
    assert claimed("W18-F0", "#rule", "corrected", at) == pytest.approx(want, rel=1e-12)
    one = right_side(tail=1, B=1.0, Y=1.0, n=10, lam=7.0, gamma=0.3, delta=1e-4)
    assert printed_rule(7.0, 0.3, 1e-4, 10) == pytest.approx(one)


@for_each(("version", "tail"), [("printed", 1.0), ("corrected", 2.0), ("factor 1.7 of the logarithm", 1.7)])
def test_set_f0_least_ridge(version: str, tail: float) -> None:
    """lambda = (1 + tail log(2/delta)) B^2/(2 epsilon), delta = 2/e^3, B^2/lambda = 1/2: epsilon = (1 + 3 tail)/4."""
    at = {"leverage": 0.5, "delta": 2 / math.e**3}
    epsilon = (1 + 3 * tail) / 4
    assert claimed("W18-F0", "#reach", version, at) == pytest.approx(epsilon)
    want = max(quadratic_delta(epsilon, 0.5, 0.0, backward=b) for b in (False, True))
    assert exact_value("W18-F0", "#reach", version, at) == pytest.approx(want, rel=1e-9)


# W18-F1, OPS-Diffuse: half of epsilon is spent by the ridge at gamma = 0 (all four rules: test_ops_rules).
AT = {"data": "records x = 0", "epsilon": 2.0, "delta": 2 / math.e**2, "n": 1, "dim": 1}


def test_set_f1_ridge_by_hand() -> None:
    """log(2/delta) = 2, epsilon = 2: lambda = 3/2 as printed, where the last term of the rule is 1."""
    lam, gamma = parameters("diffuse", printed=True, epsilon=2.0, delta=AT["delta"], n=1)
    assert lam == pytest.approx(1.5)
    assert printed_rule(lam, 0.0, AT["delta"], 1) == pytest.approx(1.0)
    assert printed_rule(lam, gamma, AT["delta"], 1) == pytest.approx(2.0)
    assert exact_value("W18-F1", "@a", "printed", AT) == pytest.approx(target_delta(lam, gamma, 2.0), rel=1e-8)


def test_set_f1_corrected_ridge_spends_half() -> None:
    lam, gamma = parameters("diffuse", printed=False, epsilon=2.0, delta=AT["delta"], n=1)
    assert corrected_rule(lam, 0.0, AT["delta"], 1) == pytest.approx(1.0)
    assert exact_value("W18-F1", "@a", "corrected", AT) == pytest.approx(target_delta(lam, gamma, 2.0), rel=1e-8)


# W18-F2, OPS-Concentrated: gamma is 1 and the ridge spends all of epsilon (all four rules: test_ops_rules).
EMPTY = {"data": "records x = 0", "epsilon": 3.0, "delta": 1e-5, "n": 0, "dim": 1}


@for_each("version", ["printed", "corrected"])
def test_set_f2_ridge_spends_epsilon_at_gamma_1(version: str) -> None:
    printed = version == "printed"
    lam, gamma = parameters("concentrated", printed=printed, epsilon=3.0, delta=1e-5, n=0)
    rule = printed_rule if printed else corrected_rule
    assert gamma == 1.0
    assert rule(lam, 1.0, 1e-5, 0) == pytest.approx(3.0)
    assert exact_value("W18-F2", "@a", version, EMPTY) == pytest.approx(target_delta(lam, 1.0, 3.0), rel=1e-8)


# W18-F3, OPS-Balanced: the bound (24) and its corrected form against scipy's chi-square (privacy: test_ops_rules).
EPSILON, DELTA, N, D, Y = 0.5, 1e-4, 2_000, 3, 0.7


def constants() -> tuple[float, float, float]:
    """Return lambda of (24) with bounds 1 and Y, gamma of the rule, and (24) itself there."""
    log, tail = math.log(2 / DELTA), math.log(1 / RHO)
    c1 = (D / 2 + math.sqrt(D * tail) + tail) * log / min(EPSILON, math.sqrt(EPSILON)) ** 2

    def lipschitz(lam: float) -> float:
        return Y * (math.sqrt(N) / math.sqrt(2 * lam) + 1)

    def bound(lam: float) -> float:
        return c1 * lipschitz(lam) ** 2 / lam + lam

    floor = (1 + log) / EPSILON
    found = minimize_scalar(lambda t: bound(math.exp(t)), bounds=(math.log(floor), 30.0), method="bounded")
    lam = math.exp(found.x)

    def rule(gamma: float) -> float:
        L = lipschitz(lam)
        return math.sqrt(gamma * L**2 * log / lam) + gamma * L**2 / (2 * (lam + 1)) + (1 + log) / (2 * lam)

    return lam, solve(rule, EPSILON), bound(lam)


def test_set_f3_failure_of_24_and_of_its_correction() -> None:
    """y = 0, X^T X = (n/d) I: the error is e/(e + lambda) chi^2_d/(2 gamma) with e = n/d."""
    lam, gamma, printed = constants()
    tail, share = math.log(1 / RHO), (N / D) / (N / D + lam)
    chance = (D / 2 + math.sqrt(D * tail) + tail) / gamma
    corrected = chance + lam / 2
    bounds = {
        "printed": printed,
        "corrected": corrected,
        "a tenth of the bound": corrected / 10,
        "no cross term, no ridge term": (D / 2 + tail) / gamma,
    }
    at = {"epsilon": EPSILON, "delta": DELTA, "n": float(N), "dim": D, "Y": Y}
    for version, bound in bounds.items():
        want = chi2.sf(2 * gamma * bound / share, D)
        assert exact_value("W18-F3", ".24", version, at) == pytest.approx(want, rel=1e-4), version
    assert decide("W18-F3", ".24", "printed", at).claim.published == RHO


# W18-F4, OPS-Conservative: the minimiser by hand (privacy: test_ops_rules).
@for_each("theta", [0.0, 3.0, 1e3])
def test_set_f4_minimiser_does_not_move(theta: float) -> None:
    """C_1/t + t at t = c multiple, sqrt(C_1) = c: 2 c against c/m + c m, whatever (1 + |theta*|)^2 is."""
    at = {"sqrt(C_1)": 5.0, "theta": theta, "multiple": 1.5}
    evidence = decide("W18-F4", "#minimiser", "printed", at)
    assert evidence.notes["bound"] == pytest.approx((1 + theta) ** 2 * 5 * (1 / 1.5 + 1.5))
    assert exact_value("W18-F4", "#minimiser", "printed", at) == pytest.approx(2 / (1 / 1.5 + 1.5))


def test_set_f4_wrong_minimisers() -> None:
    """5 % larger: 1/1.05 + 1.05 against the same at 1.05/1.05 = 1; with |theta*|^2 in the ridge term alone it moves."""
    at = {"sqrt(C_1)": 5.0, "theta": 1.0, "multiple": 1 / 1.05}
    assert exact_value("W18-F4", "#minimiser", "minimiser 5 % larger", at) == pytest.approx((1 / 1.05 + 1.05) / 2)
    at["multiple"] = 2.0
    want = (4 + 1) / (4 / 2 + 2)
    assert exact_value("W18-F4", "#minimiser", "ridge term with |theta*| alone", at) == pytest.approx(want)


# W18, Proposition 18: both closed forms retyped, privacy against the exact law of a posterior sample.
BOUNDED = {
    "data": "records x = 0",
    "target y": 1.0,
    "epsilon": 0.7,
    "delta": 1e-3,
    "n": 40,
    "dim": 2,
    "Y": 1.0,
    "norm": 3.0,
}


def closed_form(*, floor: float) -> tuple[float, float]:
    """lambda = (C_1 Y^2 n/B^2)^(1/3) (or the floor), gamma = epsilon^2 lambda/(4 log(2/delta) L(lambda)^2)."""
    tail, log = math.log(20), math.log(2000)
    c1 = (2 / 2 + math.sqrt(2 * tail) + tail) * log / 0.7**2
    lam = max((c1 * 40 / 3.0**2) ** (1 / 3), floor * (1 + 2 * log) / 0.7)
    L = math.sqrt(40) / math.sqrt(2 * lam) + 1
    return lam, 0.7**2 * lam / (4 * log * L**2)


@pytest.mark.parametrize(
    ("version", "floor"),
    [("printed", 0.0), ("corrected", 3.0), ("floor 10 times smaller", 0.3), ("epsilon halved", 3.0)],
)
@pytest.mark.parametrize("y", [0.0, 1.0])
def test_prop_18_privacy_of_the_closed_form(version: str, floor: float, y: float) -> None:
    epsilon = 0.35 if version == "epsilon halved" else 0.7
    evidence = decide("W18-P18", "#privacy", version, BOUNDED | {"target y": y})
    assert evidence.claim.published == epsilon
    want = target_delta(*closed_form(floor=floor), epsilon, y)
    assert evidence.exact.value == pytest.approx(want, rel=1e-8, abs=1e-300)


def test_prop_18_records_whose_solution_has_length_b() -> None:
    """One record (1/100, 1), |theta*| = 100 = B: precision gamma (lambda + 1e-4), estimate 0.01/(lambda + 1e-4)."""
    at = {"data": "records (1/B, 1)", "target y": 0.0, "epsilon": 1.0, "delta": 1e-6, "n": 1, "dim": 1, "Y": 1.0}
    tail, log = math.log(20), math.log(2e6)
    lam = ((1 / 2 + math.sqrt(tail) + tail) * log / 100.0**2) ** (1 / 3)
    gamma = lam / (4 * log * (1 / math.sqrt(2 * lam) + 1) ** 2)
    leverage, residual = 1 / (lam + 1e-4), math.sqrt(gamma) * 0.01 / (lam + 1e-4)
    want = max(quadratic_delta(1.0, leverage, residual, backward=b) for b in (False, True))
    assert want == pytest.approx(0.297805, abs=1e-6)
    assert exact_value("W18-P18", "#privacy", "printed", at | {"norm": 100.0}) == pytest.approx(want, rel=1e-8)


def test_prop_18_corrected_domain_is_epsilon_up_to_log_2_over_delta() -> None:
    """log(2/delta) = 7.6: epsilon = 7 is inside, 8 outside."""
    for epsilon, inside in ((7.0, True), (8.0, False)):
        assert decide("W18-P18", "#privacy", "corrected", BOUNDED | {"epsilon": epsilon}).claim.in_domain is inside


def test_prop_18_error_of_a_single_feature() -> None:
    """The noted ridge is the closed form; far below 25 times the order no draw fails, without dimension many do."""
    at = {"epsilon": 1.0, "delta": 1e-3, "n": 1e6, "dim": 1, "Y": 1.0, "norm": 1.0}
    evidence = decide("W18-P18", "#error", "printed", at)
    tail = math.log(20)
    c1 = (1 / 2 + math.sqrt(tail) + tail) * math.log(2000)
    assert evidence.notes["lambda"] == pytest.approx((c1 * 1e6) ** (1 / 3))
    assert evidence.sampled.value == 0.0
    short = decide("W18-P18", "#error", "power 1/5 of n", at | {"n": 1e13}).sampled
    assert short is not None
    assert short.value > 0.05


def test_prop_18_printed_ridge_vanishes_with_a_long_parameter() -> None:
    """As B grows lambda falls to 0 and with it all privacy of the design."""
    assert exact_value("W18-P18", "#privacy", "printed", BOUNDED | {"norm": 1e9, "target y": 0.0}) > 0.9
