"""W19, Algorithm 1 and Proposition 4.4 with its proof: each typed formula on known answers and literal twins."""

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta
from oracles.verify.w18_small import gaussian_epsilon
from rows import for_each
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.data.dataset import Dataset
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.linear.adaops_wang2019 import CorrectedRule2019
from verify.figures.figure_page import stream
from verify.papers.wang2019.fig_2 import ID

# W19, Algorithm 1: the probability of a proper posterior, by hand.
NUMBERS = {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.5}


def test_alg_1_printed_constants() -> None:
    """min(lambda_min, h + b - sigma Z) > 0: never at lambda_min = 0, else Phi((40 + 2 log 8)/(2 sqrt(log 8)))."""
    assert exact_value("W19-ALG1", "", "printed", NUMBERS | {"lambda_min": 0.0}) == 0.0
    log = math.log(8.0)
    tail = norm.sf((40 + 2 * log) / (2 * math.sqrt(log)))
    found = exact_value("W19-ALG1", "", "printed", NUMBERS | {"n": 10, "kappa": 5.0, "lambda_min": 1.0})
    assert found == pytest.approx(norm.cdf((2 + 2 * log) / (2 * math.sqrt(log))), rel=1e-12)
    assert exact_value("W19-ALG1", "", "printed", NUMBERS | {"lambda_min": 1.0}) == pytest.approx(1 - tail, abs=1e-15)


def test_alg_1_corrected_constants() -> None:
    """sigma from the normal laws at (epsilon/2, delta/4), b = sigma z + 1, h = n/kappa."""
    epsilon, delta, n, kappa = 8.0, 0.1, 100, 40.0
    sigma = 1 / brentq(lambda m: gaussian_log_delta(epsilon / 2, m) - math.log(delta / 4), 0.5, 20.0, xtol=1e-14)
    shift = n / kappa + sigma * norm.isf(delta / 4) + 1
    params = {"n": n, "kappa": kappa, "epsilon": epsilon, "delta": delta, "lambda_min": 0.0}
    assert exact_value("W19-ALG1", "", "corrected", params) == pytest.approx(norm.cdf(shift / sigma), rel=1e-12)
    assert exact_value("W19-ALG1", "", "corrected", params | {"lambda_min": 0.5}) == 1.0
    assert claimed("W19-ALG1", "", "corrected", params) == 0.95
    cut = exact_value("W19-ALG1", "", "shift of 0.9 times the quantile at delta/2", params)
    assert cut == pytest.approx(norm.cdf(0.9 * norm.isf(delta / 2)), rel=1e-9)


# W19, Proposition 4.4(1): the refuting probabilities retyped, and the corrected shares from their own formulas.
def test_prop_4_4_1_minimum_word_for_word_has_no_posterior_on_one_side() -> None:
    """41 records, one x = 1: min(1, 41 + b - sigma Z) is positive with probability Phi((41 + b)/sigma)."""
    log = math.log(4 / 0.01)
    name = "min word for word, 40 records x = 0, x = 1 added"
    found = decide("W19-P4.4.1", "", name, {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.01})
    assert found.exact.low == pytest.approx(norm.cdf((41 + 2 * log) / (2 * math.sqrt(log))), rel=1e-12)
    assert found.claim.high == 0.01


def test_prop_4_4_1_noise_below_what_the_budget_needs() -> None:
    """The distance whose delta at epsilon is delta, over 0.9."""
    mu = brentq(lambda m: gaussian_log_delta(1.0, m) - math.log(1e-6), 0.1, 1.0, xtol=1e-14)
    name = "noise 10 % below what the whole budget needs"
    found = decide("W19-P4.4.1", "", name, {"epsilon": 1.0, "delta": 1e-6})
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(1.0, mu / 0.9), rel=1e-9)


@for_each("version", ["printed", "each data set's own n"])
def test_prop_4_4_1_the_data_sets_own_n(version: str) -> None:
    """At a release of 0 both posteriors are normal with precisions in the ratio (n + 1)^2/n^2: inside the enclosure."""
    n, kappa, epsilon = 1, 1e-4, 1.0
    found = decide("W19-P4.4.1", "", version, {"n": n, "kappa": kappa, "epsilon": epsilon, "delta": 0.01})
    ratio = (n + 1) ** 2 / n**2
    edge = math.sqrt((2 * epsilon + math.log(ratio)) / (1 - 1 / ratio))
    divergence = 2 * norm.sf(edge / math.sqrt(ratio)) - math.exp(epsilon) * 2 * norm.sf(edge)
    assert found.exact.low <= divergence <= found.exact.high
    assert found.exact.high - found.exact.low < 0.1 * divergence


def test_prop_4_4_1_share_of_the_release() -> None:
    """The corrected release spends its quarter of delta exactly."""
    params = {"n": 1000, "dim": 3, "kappa share": 0.5, "epsilon": 1.0, "delta": 1e-6}
    found = decide("W19-P4.4.1", "", "corrected", params | {"leverage share": 1.0, "residual share": 1.0})
    assert found.notes["release, share used"] == pytest.approx(1.0, rel=1e-6)
    assert found.exact.high <= 1e-6


# W19, Proposition 4.4(2): every display by hand or in plain floats.
PLAIN = {"n": 1000, "dim": 1, "kappa": 2.0, "epsilon": 1.0, "delta": 0.01}


def test_prop_4_4_2_printed_error() -> None:
    """gamma = 1000/(64 log 400), and the printed error is (1 + gamma)/(1 + 1/gamma) = gamma times the true one."""
    value = exact_value("W19-P4.4.2", "#risk", "printed", PLAIN | {"sigma^2": 1.0})
    assert value == pytest.approx(1000.0 / (64.0 * math.log(400.0)), rel=1e-12)


def test_prop_4_4_2_corrected_error_by_quadrature() -> None:
    """n^10 times the excess over ridge 0, one feature, integrated over the release by scipy."""
    n, epsilon, delta, share = 100, 4.0, 1e-2, 0.9
    kappa = share * CorrectedRule2019(epsilon, delta, 1.0, n).largest_kappa(1)
    gamma = CorrectedRule2019(epsilon, delta, kappa, n).settings(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0)).gamma
    floor = n / kappa
    sigma = 1 / brentq(lambda m: gaussian_log_delta(epsilon / 2, m) - math.log(delta / 4), 0.05, 5.0, xtol=1e-14)
    slack = sigma * norm.isf(delta / 4) + 1
    edge = math.sqrt(20 * math.log(n))
    smallest = floor + slack + sigma * edge

    def bias(z: float) -> float:
        ridge = sigma * (z - edge)
        return norm.pdf(z) * (ridge / (smallest + ridge)) ** 2 * 100.0

    def change(z: float) -> float:
        ridge = sigma * (z - edge)
        noise = (1 / (smallest + ridge) - 1 / smallest) / gamma
        return norm.pdf(z) * (smallest / (smallest + ridge) ** 2 - 1 / smallest + noise)

    value = n**10 * quad(lambda z: bias(z) + change(z), edge, edge + 12, epsabs=0.0)[0]
    params = {"n": n, "dim": 1, "kappa share": share, "epsilon": epsilon, "delta": delta, "sigma^2": 1.0}
    found = decide("W19-P4.4.2", "#risk", "corrected", params | {"theta^2": 100.0}).exact
    assert found is not None
    assert found.low <= value <= found.high
    assert found.high - found.low < abs(value)


@for_each("n", [10, 1000])
def test_prop_4_4_2_event(n: int) -> None:
    for version, factor in (("printed", 10.0), ("corrected", 20.0), ("deviation cut by 10 %", 16.2)):
        expected = n**10 * norm.sf(math.sqrt(factor * math.log(n)))
        assert exact_value("W19-P4.4.2", ".p1", version, {"n": n}) == pytest.approx(expected, rel=1e-9)


def test_prop_4_4_2_no_ridge() -> None:
    """Printed: lambda_n = 0 iff the gap h + b - released is at least 0; lambda_min = h + root + beyond."""
    log = math.log(400.0)
    root, slack, sigma = 2 * math.sqrt(math.log(10_000.0) * log), 2 * log, 2 * math.sqrt(log)
    above = norm.sf((slack - root - 3.0) / sigma)  # the gap is negative: the minimum is not 0
    params = PLAIN | {"beyond": 3.0}
    assert exact_value("W19-P4.4.2", ".p2", "printed", params) == pytest.approx(1000.0**10 * above, rel=1e-9)
    maximum = exact_value("W19-P4.4.2", ".p2", "maximum with the printed condition", params)
    assert maximum == pytest.approx(1000.0**10 * (1 - above), rel=1e-9)
    edge = {"n": 1000, "dim": 1, "kappa share": 0.5, "epsilon": 1.0, "delta": 0.01, "beyond": 0.0}
    corrected = 1000.0**10 * norm.sf(math.sqrt(20 * math.log(1000.0)))
    assert exact_value("W19-P4.4.2", ".p2", "corrected", edge) == pytest.approx(corrected, rel=1e-9)


def test_prop_4_4_2_size_of_gamma() -> None:
    """n = 1000, kappa = 2: gamma = 1000/(64 log 400), bound 4/1000; the inverse is max(64 log 400, 32)/1000."""
    gamma = 1000 / (64 * math.log(400.0))
    assert exact_value("W19-P4.4.2", "#gamma", "printed", PLAIN) == pytest.approx(gamma / (4 / 1000), rel=1e-12)
    assert exact_value("W19-P4.4.2", "#gamma", "corrected", PLAIN) == pytest.approx(1.0, rel=1e-12)
    assert exact_value("W19-P4.4.2", "#gamma", "constants cut by 10 %", PLAIN) == pytest.approx(0.9, rel=1e-12)
    # at epsilon = 30 the second term of the minimum is the smaller one: gamma = n epsilon/(8 kappa^2)
    large, bound = PLAIN | {"epsilon": 30.0}, 4 * math.log(400.0) / 900_000
    assert exact_value("W19-P4.4.2", "#gamma", "printed", large) == pytest.approx(30_000 / 32 / bound)


@for_each(
    ("version", "sequence", "power"),
    [
        ("printed", "printed", 2.5),  # epsilon = n^2, kappa = 2 n^2.75: kappa^2/(n epsilon)
        ("corrected", "fixed", -1.0),
        ("corrected", "epsilon = n^-0.25", -0.5),
        ("corrected", "kappa = n^0.25", -0.5),
        ("condition met with a constant", "kappa = n^0.5", 0.0),
        ("condition missed by n^0.04", "kappa = n^0.52", 0.04),
    ],
)
def test_prop_4_4_2_when_it_is_efficient(version: str, sequence: str, power: float) -> None:
    found = exact_value("W19-P4.4.2", "#efficient", version, {"sequence": sequence})
    assert found == pytest.approx(16 * power, abs=1e-9)


# W19, the discussion after Proposition 4.4: powers of d and n by hand.
@for_each(("version", "power"), [("printed", 3.0), ("corrected", 4.0), ("power 3.7", 3.7)])
def test_rem_u2_order_of_the_excess(version: str, power: float) -> None:
    """16 kappa^2 d^2 6/n times d^2/n over d^power/n^2 grows by 4 - power decades a decade of d, over six."""
    found = exact_value("W19-U2", "#excess", version, {})
    assert found == pytest.approx(6 * (4 - power), abs=1e-9)


@for_each(
    ("version", "epsilon_power"),
    [("printed", -0.75), ("corrected", -0.25), ("n epsilon^2 constant", -0.5), ("n epsilon^2 = n^-0.04", -0.52)],
)
def test_rem_u2_condition(version: str, epsilon_power: float) -> None:
    """1/(n epsilon^2) along twelve decades of n."""
    found = exact_value("W19-U2", "#condition", version, {})
    assert found == pytest.approx(-12 * (1 + 2 * epsilon_power), abs=1e-9)


# W19, the events before (A.4), by hand and by scipy.
ZERO = {"floor": "20", "t": "4", "lambda_min": "1/100", "noise": "0", "moved": "0"}


def test_eq_a_4_release() -> None:
    """Noise 2 sqrt(log(4/delta))/epsilon on sensitivity 1, at epsilon/2; corrected it spends delta/4 exactly."""
    point = {"epsilon": 1.0, "delta": 1e-6}
    mu = 1 / (2 * math.sqrt(math.log(4e6)))
    value = exact_value("W19-EA.4", "#release", "printed", point)
    assert math.log(value) == pytest.approx(gaussian_log_delta(0.5, mu), rel=1e-9)
    assert claimed("W19-EA.4", "#release", "printed", point) == 0.5
    corrected = decide("W19-EA.4", "#release", "corrected", point)
    assert corrected.exact.value == pytest.approx(2.5e-7, rel=1e-6)
    assert corrected.claim.high == pytest.approx(2.5e-7)


@for_each("delta", [0.1, 1e-6])
def test_eq_a_4_event(delta: float) -> None:
    """log(4/delta)/epsilon is sqrt(log(4/delta))/2 standard deviations."""
    params = {"delta": delta}
    printed = 2 * norm.sf(math.sqrt(math.log(4 / delta)) / 2)
    assert exact_value("W19-EA.4", "#event", "printed", params) == pytest.approx(printed, rel=1e-9)
    assert exact_value("W19-EA.4", "#event", "corrected", params) == pytest.approx(delta / 2, rel=1e-9)
    cut = 2 * norm.sf(0.9 * norm.isf(delta / 4))
    assert exact_value("W19-EA.4", "#event", "quantile cut by 10 %", params) == pytest.approx(cut, rel=1e-9)


def test_eq_a_4_spectrum_and_leverage() -> None:
    """Floor 20, lambda_min 1/100, no noise: as printed nothing is added; corrected 20 + 5 - 1/100 are."""
    assert exact_value("W19-EA.4", "#spectrum", "printed", ZERO) == pytest.approx(19.99 / 20)
    assert exact_value("W19-EA.4", "#A.4", "printed", ZERO) == pytest.approx(1 - 0.01 / 20)
    # corrected: smallest eigenvalue 25, between 20 and 29
    assert exact_value("W19-EA.4", "#spectrum", "corrected", ZERO) == pytest.approx(-4 / 20)
    assert exact_value("W19-EA.4", "#A.4", "corrected", ZERO) == pytest.approx(1 - 25 / 20)
    # noise at its upper end and the neighbour's release: 1/100 + (20 + 5 - 1/100 - 1 - 4) = 20, with equality
    edge = ZERO | {"noise": "1", "moved": "1"}
    assert exact_value("W19-EA.4", "#A.4", "corrected", edge) == 0.0
    assert exact_value("W19-EA.4", "#A.4", "shift cut by 10 %", edge) == pytest.approx(0.5 / 20)


# W19, (A.5) and the arithmetic after it, by hand.
def test_eq_a_5_residual() -> None:
    """K = 4, rows with X'X = n/4 = the floor: theta = (n/2)/(n/4) = 2, so 3 against sqrt(8); K = 1/8: 1 + 1/8."""
    full = {"K": 4.0, "fill": 1.0}
    assert exact_value("W19-EA.5", "#residual", "printed", full) == pytest.approx(3 / math.sqrt(8))
    assert exact_value("W19-EA.5", "#residual", "corrected", full) == pytest.approx(1.0)
    none = {"K": 0.125, "fill": 0.0}
    assert exact_value("W19-EA.5", "#residual", "printed", none) == pytest.approx(1 / math.sqrt(0.25))
    assert exact_value("W19-EA.5", "#residual", "corrected", none) == pytest.approx(1 / 1.125)
    # K = 1/4, rows of length 1: X'X = n, ridge 3 n: theta = 1/4
    short = {"K": 0.25, "fill": 1.0}
    assert exact_value("W19-EA.5", "#residual", "corrected", short) == pytest.approx(1.25 / 1.25)
    assert exact_value("W19-EA.5", "#residual", "bound cut by 10 %", short) == pytest.approx(1 / 0.9)


def test_eq_a_5_step() -> None:
    """mu = 1/2, K = 8, gamma = log = 2: 3/4 + 8 + sqrt(16) printed; 5/4 + R^2/2 + 2 R, R = 1 + sqrt(8), corrected."""
    p = {"mu": 0.5, "K": 8.0, "gamma": 2.0, "leverage": 1.0, "r": 1.0, "delta": 2.0 * math.exp(-2.0)}
    r = 1.0 + math.sqrt(8.0)
    assert claimed("W19-EA.5", "#step", "printed", p) == pytest.approx(0.75 + 8.0 + 4.0, rel=1e-14)
    assert claimed("W19-EA.5", "#step", "corrected", p) == pytest.approx(1.25 + r * r / 2.0 + 2.0 * r, rel=1e-14)
    # K = 1/4: the residual is 1 + K
    small = claimed("W19-EA.5", "#step", "corrected", p | {"K": 0.25})
    assert small == pytest.approx(1.25 + 1.25**2 / 2.0 + 2.0 * 1.25, rel=1e-14)


@for_each(("epsilon", "kappa", "gamma"), [(1.0, 1.0, 1.0), (30.0, 0.3, 1.0), (3.0, 0.7, 0.2)])
def test_eq_a_5_shares(epsilon: float, kappa: float, gamma: float) -> None:
    """The line itself with n = 100, d = 1: kappa and gamma_n at shares of Algorithm 1's largest values."""
    n, delta = 100, 1e-3
    log = math.log(4 / delta)
    k = kappa * n * epsilon / (4 * (1 + log))
    g = gamma * min(n * epsilon**2 / (16 * k**2 * log), n * epsilon / (8 * k**2))
    line = k * (1 + log) / (2 * n) + g * k / (2 * n) * 2 * k + math.sqrt(g * k / (2 * n) * 2 * k * log)
    params = {"epsilon": epsilon, "delta": delta, "kappa share": kappa, "gamma share": gamma}
    assert exact_value("W19-EA.5", "#shares", "printed", params) == pytest.approx(line / (epsilon / 2), rel=1e-12)


# W19, Figure 2: the average pDP again from refits, the posterior's from its two normal laws.
def test_fig_2_average_of_the_records() -> None:
    n, d, sigma = 60, 3, 1.0
    data = linear_unit_rows(n, d, noise_sd=0.3, rng=stream(1, ID, f"{n} {d}")).dataset
    X, y = data.X, data.y

    def ridge(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.linalg.solve(X.T @ X + np.eye(d), X.T @ y)

    moves = [np.linalg.norm(ridge(X, y) - ridge(np.delete(X, i, 0), np.delete(y, i))) for i in range(n)]
    s = np.sqrt(np.geomspace(1e-4, n, 20_001) / n)
    bad = max((1 + n * s / (n * s**2 + 1)) / (n * s**2 + 2))
    expected = gaussian_epsilon(bad / sigma) / np.mean([gaussian_epsilon(move / sigma) for move in moves])
    found = exact_value("W19-FIG2", "#left", "printed", {"n": n, "d": d, "sigma": sigma, "data": 1})
    assert found == pytest.approx(expected, rel=1e-6)


def test_fig_2_right_pane_is_shown_and_not_decided() -> None:
    """The gain over 2 gamma grows with gamma, from below 1 to above 100."""
    found = decide("W19-FIG2", "#right", "printed")
    assert found.exact is None
    gains = [found.notes[f"gain at gamma={gamma}"] for gamma in ("0.01", "1", "100", "1000")]
    assert gains == sorted(gains)
    assert gains[0] < 1 < 100 < gains[-1]
