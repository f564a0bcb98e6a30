"""RW21, supplement C: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.reports import algorithm_2
from oracles.report_draws import BETA, bound_4, draws, tau
from oracles.verify.w18_small import gaussian_delta
from rows import for_each
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.data.embedded import load

# RW21, Algorithm 4: coverage of the adaptive report and of its leverage, draw by draw with the literal twin.
TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}
WIDE = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 10.0, "sigma_3": 3.0, "sigma_4": 0.5, "lam": 3.0}
SMALL = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.01, "sigma_4": 0.1, "lam": 0.1}


@for_each("p", [LOWER, WIDE, WIDE | {"target": "inside"}])
@for_each("version", ["printed", "corrected"])
def test_alg_4_report(version: str, p: dict) -> None:
    covered = np.mean([d.loss <= bound_4(p, d, corrected=version == "corrected")[2] for d in draws(p, 1_500)])
    found = decide("RW21-A4", "#report", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert found.claim.low == pytest.approx(0.7)


@for_each("p", [WIDE, SMALL])
@for_each("version", ["printed", "corrected"])
def test_alg_4_leverage(version: str, p: dict) -> None:
    """As printed the logarithm of 1 - f'' mu_bar must exist beside."""
    hits = []
    for d in draws(p, 1_500):
        _, mu_bar, _ = bound_4(p | {"loss": "logistic"}, d.__class__(**d.__dict__ | {"second": 0.0}), corrected=True)
        hits.append(d.leverage <= mu_bar * (1 + 1e-12) and (version == "corrected" or d.second * mu_bar < 1))
    found = decide("RW21-A4", ".c", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.8)


@for_each(("version", "share"), [("lambda_hat as released", 0.0), ("0.45 of the margin on lambda", 0.45)])
def test_alg_4_margin_on_the_eigenvalue(version: str, share: float) -> None:
    """H = lambda: lambda_hat = H where W <= share z, and H_hat (H + tau sigma_3)/H^2 then is large enough if N <= z."""
    found = decide("RW21-A4", ".c", version, SMALL | {"sigma_3": 1e-6}, draws=20_000)
    assert found.sampled.value == pytest.approx(norm.cdf(share * norm.isf(0.05)) * 0.95, abs=0.015)


# RW21, Algorithm 5: the cost by hand, the variance of the released inner product by simulation.
def test_alg_5_cost_by_hand() -> None:
    """||grad l|| = 2, sigma_2 = 1, delta = 2 e^-8: 2 + 2 * 4 = 10."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": 2 * math.exp(-8.0)}
    for version, epsilon in {
        "printed": 10.0,
        "epsilon cut by 5 %": 9.5,
        "no quadratic term": 8.0,
        "no 2 under the root": 2 + 2 * math.sqrt(8.0),
    }.items():
        assert claimed("RW21-A5", "#cost", version, at) == pytest.approx(epsilon)


def test_alg_5_exact_delta_of_the_release() -> None:
    """mu = 2: delta(eps) = Phi(1 - eps/2) - e^eps Phi(-1 - eps/2)."""
    from scipy.stats import norm

    found = decide("RW21-A5", "#cost", "printed", {"norm": 2.0, "sigma": 1.0, "delta": 2 * math.exp(-2.0)})
    epsilon = 6.0  # 2 + 2 * 2
    assert found.claim.published == pytest.approx(epsilon)
    assert found.exact.value == pytest.approx(norm.cdf(-2.0) - math.exp(epsilon) * norm.cdf(-4.0), rel=1e-9)


def test_alg_5_law_of_the_inner_product() -> None:
    """The variance is sigma_2^2 ||grad l||^2: nine tenths of it deviate by 1/0.9 - 1."""
    at = {"dim": 3, "n": 20, "sigma": 2.0}
    assert exact_value("RW21-A5", "#noise", "printed", at) == pytest.approx(0.0, abs=1e-11)
    assert exact_value("RW21-A5", "#noise", "variance 10 % smaller", at) == pytest.approx(1 / 9, abs=1e-9)


# RW21, Theorem 11: the cost by hand and on one record, the shift of an eigenvalue in one dimension.
@for_each(("id_", "part"), [("RW21-T11", "#pdp"), ("RW21-T11", "#dp"), ("RW21-T11", "#general"), ("RW21-T14", ".1")])
def test_thm_11_and_14_cost_by_hand(id_: str, part: str) -> None:
    """f'' ||x||^2 = 2, sigma_4 = 1 (||grad l|| = 2, sigma_2 = 1), delta = e^-2: 2 + 2 * 2 = 6."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    for version, epsilon in {
        "printed": 6.0,
        "epsilon cut by 5 %": 5.7,
        "no quadratic term": 4.0,
        "no 2 under the root": 2 + 2 * math.sqrt(2.0),
    }.items():
        assert claimed(id_, part, version, at) == pytest.approx(epsilon)


def test_thm_11_one_record_of_real_data() -> None:
    """At theta = 0 the Hessian of the logistic loss is x x^T/4."""
    x = load("fair").X[3]
    size = sum(v * v for v in x) / 4
    found = decide(
        "RW21-T11", "#pdp", "printed", {"data": "fair", "record": 3, "sigma": 0.5, "delta": 0.01}, draws=1000
    )
    assert found.claim.published == pytest.approx(2 * size**2 + 2 * size * math.sqrt(2 * math.log(100.0)))
    # Weyl: the eigenvalue moves by at most ||x||^2/4, so delta is at most that of a shift by it
    mu, epsilon = size / 0.5, found.claim.published
    assert found.exact.high <= gaussian_delta(mu, epsilon) + 1e-12


def test_thm_11_shift_in_one_dimension() -> None:
    """A 1 x 1 matrix moves by the whole of what is added."""
    at = {"dim": 1, "rank": 1, "spread": 1.0, "direction": "random"}
    for version, bound in (("printed", 1.0), ("90 % of the norm", 0.9)):
        found = decide("RW21-T11", "#shift", version, at)
        assert found.exact.value == pytest.approx(1.0, abs=2e-9)
        assert found.claim.high == pytest.approx(bound, abs=1e-7)


# RW21, Proposition 12: in one dimension every event is one of one or two normal variables.
#: One dimension, lambda_min = 1: lambda_hat = 1 + margin N/z before it is lowered, H_hat = 1 + noise N'/z.
ONE = {"dim": 1, "rho": 0.1, "H": "identity", "tau sigma_3": 0.3, "sigma_4 z": 0.2, "lambda": 0.1}
Z = norm.isf(0.05)


def covered(part: str, version: str, **numbers: float) -> tuple[float, float]:
    """Return the simulated coverage's interval."""
    found = decide("RW21-P12", part, version, ONE | numbers, draws=20_000)
    assert found.claim.low == pytest.approx(0.8)
    return found.sampled.low, found.sampled.high


def near(interval: tuple[float, float], truth: float) -> None:
    low, high = interval
    assert low <= truth <= high
    assert high - low < 0.06


def test_prop_12_range_of_the_eigenvalue() -> None:
    """Lowered by the margin, it is within the margin of 1 only for 0 <= N <= 2 z; up to two below 1 for |N| <= z."""
    near(covered(".1", "printed"), norm.cdf(2 * Z) - 0.5)
    near(covered(".1", "corrected"), 0.9)
    near(covered(".1", "1.7 margins"), norm.cdf(Z) - norm.cdf(-0.7 * Z))
    near(covered(".1", "lambda_hat as released"), norm.cdf(2 * Z) - 0.5)  # from two margins below to lambda_min


def test_prop_12_regularised_estimator() -> None:
    """0 <= 1 + N'/z <= k/lambda_hat; with no noise on lambda_hat = 1 the factor k = 2 is |N'| <= z."""
    quiet = {"sigma_4 z": 1e-9}
    near(covered(".2", "printed", **quiet), 0.9)
    near(covered(".2", "1.7 tau sigma_3", **quiet), norm.cdf(0.7 * Z) - norm.cdf(-Z))

    def given(n: float) -> float:  # the released eigenvalue as it is, which may exceed 1
        released = 1.0 + 2.0 * n / Z
        top = 2.0 / released - 1.0 if released > 0 else -1.0
        return norm.pdf(n) * max(norm.cdf(top * Z) - norm.cdf(-Z), 0.0)

    near(
        covered(".2", "lambda_hat as released", **{"sigma_4 z": 2.0}), quad(given, -8, 8, points=[-Z / 2], limit=200)[0]
    )


def test_prop_12_standard_estimator_and_all_at_once() -> None:
    quiet = {"sigma_4 z": 1e-9}
    near(covered(".3", "printed", **quiet), 0.9)
    near(covered(".3", "0.8 tau sigma_3", **quiet), 2 * norm.cdf(0.8 * Z) - 1)
    # nothing is claimed by P12.3 where lambda_hat < 2 tau sigma_3
    near(covered(".3", "0.8 tau sigma_3", **quiet, **{"tau sigma_3": 0.6}), 1.0)
    found = decide("RW21-P12", "#joint", "corrected", ONE)
    assert found.exact.low == pytest.approx(0.9**2, abs=1e-6)  # two independent events


# RW21, Theorem 13: both chains at rational points, and the report draw by draw with the literal twin.
UPPER = TINY | {"sigma": 10.0, "sigma_2": 100.0, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 1e4}
NEAR = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 4.5}


def test_thm_13_chains_by_hand() -> None:
    """tau sigma_3 = beta = 1, lambda_min = 2: p1's left side is (1 + 2)(1 + 1/2) = 4.5, p2's (1 + 2)/(1/2) = 6."""
    corner = {"t": "1/2", "v": "1/2"}
    for part, left, ends in ((".p1", 4.5, (4.0, 4.5)), (".p2", 6.0, (4.0, 6.0))):
        assert exact_value("RW21-T13", part, "printed", corner) == ends[0] - left
        assert exact_value("RW21-T13", part, "corrected", corner) == ends[1] - left
    assert exact_value("RW21-T13", ".p1", "2.7 beta", corner) == pytest.approx(4.35 - 4.5)
    assert exact_value("RW21-T13", ".p2", "5.5 beta", corner) == pytest.approx(5.75 - 6.0)
    # (1 + 1)/(3/4) = 8/3 against 1 + 1 + (1/4)/(3/4) = 7/3 as printed
    inside = {"t": "1/4", "v": "1/4", "step": "equality"}
    assert exact_value("RW21-T13", ".p2", "printed", inside) == pytest.approx(1 / 3)
    assert exact_value("RW21-T13", ".p2", "corrected", inside) == 0.0


HALVES = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)


@settings(max_examples=30)
@given(t=HALVES, v=HALVES)
def test_thm_13_corrected_chains_everywhere(t: Fraction, v: Fraction) -> None:
    at = {"t": str(t), "v": str(v)}
    for part, left, constant in ((".p1", (1 + 4 * t) * (1 + v), 3), (".p2", (1 + 4 * t) / (1 - v), 6)):
        slack = 1 + 4 * t + constant * v - left
        assert slack >= 0
        assert exact_value("RW21-T13", part, "corrected", at) == float(slack)
        assert exact_value("RW21-T13", part, "printed", at) == float(1 + 4 * t + 2 * v - left)


@pytest.mark.parametrize(
    ("version", "p"),
    [
        ("printed", LOWER),
        ("printed", UPPER),
        ("corrected", LOWER),
        ("corrected", NEAR),
        ("one-sided bound", LOWER),
        ("absolute value of the sum", UPPER),
        ("constant 0", NEAR | {"sigma_2": 0.01, "sigma_3": 0.01, "sigma_4": 0.01, "lam": 4.0}),
    ],
)
def test_thm_13_accuracy_of_the_report(version: str, p: dict) -> None:
    corrected, z, beta = version not in ("printed", "one-sided bound"), norm.isf(0.05), BETA[p["loss"]]
    noise = tau(p) * p["sigma_3"]
    required = max(4 * beta, 2 * noise, 4 * p["sigma_4"] * z) if version != "printed" else max(2 * beta, 2 * noise)
    hits = []
    for d in draws(p, 1_500):
        if version in ("printed", "absolute value of the sum"):
            extra = abs(d.first) * math.sqrt(2 * math.log(2 / p["rho"])) / p["sigma_2"]
            upper = (1 + (4 * noise + 2 * beta) / d.H) * d.loss + extra
        else:
            constant = 0.0 if version == "constant 0" else 8 * noise + 18 * beta
            upper = (1 + constant / d.H) * d.size + 2 * p["sigma_2"] * abs(d.first) * z / p["sigma"] ** 2
        bar = bound_4(p, d, corrected=corrected)[2]
        hits.append(d.loss <= bar <= upper * (1 + 1e-12) or required * (1 - 1e-12) > d.H)
    found = decide("RW21-T13", "#report", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.notes["smallest eigenvalue required"] == pytest.approx(required)
    assert found.claim.low == pytest.approx(0.7)


@for_each("part", [".p1", ".p2"])
def test_thm_13_ends_of_the_chains_on_a_grid(part: str) -> None:
    """Slack over v, 3 - (1 + 4 t) or 6 - (1 + 4 t)/(1 - v), is smallest at t = 0.499, v = 1/2."""
    least = 3 - (1 + 4 * 0.499) if part == ".p1" else 6 - (1 + 4 * 0.499) / 0.5
    found = decide("RW21-T13", part, "corrected", {"box": "end"})
    assert 0 <= found.exact.low <= least + 1e-12
    assert found.exact.high >= least - 1e-12


@for_each(
    ("part", "step", "limit"),
    [
        (".p1", "a <= (1 + a) log(1 + a)", 0.5),
        (".p2", "-log(1 - a) <= a/(1 - a)", 0.5),
        (".p2", "a <= -log(1 - a)", 0.5),
    ],
)
def test_thm_13_steps_of_the_chains(part: str, step: str, limit: float) -> None:
    """Each slack is a^2/2 to second order; the smallest over a in [0.001, 1/2] is met at an end."""
    a = np.geomspace(1e-3, 0.5, 2001)
    slack = {
        "a <= (1 + a) log(1 + a)": (1 + a) * np.log1p(a) - a,
        "-log(1 - a) <= a/(1 - a)": a / (1 - a) + np.log1p(-a),
        "a <= -log(1 - a)": -np.log1p(-a) - a,
    }[step] / a**2
    assert slack[0] == pytest.approx(limit, abs=2e-3)
    found = decide("RW21-T13", part, "corrected", {"box": step})
    assert 0 <= found.exact.low <= slack.min() + 1e-9


# RW21, Theorem 14: coverage by scipy's normal law (its cost stands beside Theorem 11's).
@for_each("rho", [0.5, 0.999, 1e-3])
@for_each("mu", [0.05, 2.0])
def test_thm_14_ex_post_coverage(mu: float, rho: float) -> None:
    """P(|L| <= mu^2/2 + mu sqrt(2 log(2/rho))), L ~ N(mu^2/2, mu^2)."""
    full = mu**2 / 2 + mu * math.sqrt(2 * math.log(2 / rho))
    for version, epsilon, level in (
        ("printed", full, 1 - rho),
        ("failure at most 0.22 rho", full, 1 - 0.22 * rho),
        ("epsilon cut by 10 %", 0.9 * full, 1 - rho),
    ):
        found = decide("RW21-T14", ".2", version, {"norm": mu, "sigma": 1.0, "delta": rho})
        truth = norm.cdf(epsilon / mu - mu / 2) - norm.cdf(-epsilon / mu - mu / 2)
        assert found.exact.value == pytest.approx(truth, abs=1e-12)
        assert found.claim.low == pytest.approx(level, abs=1e-15)


# RW21, Proposition 15: the report for one user and for all x of a grid, draw by draw with the literal twin.
N = 1_500


def one_user(version: str, p: dict[str, float]) -> float:
    """Return how often both inequalities hold: D = {(1, 1)}, squared loss, the record removed."""
    rng, hits, z = np.random.default_rng(15), 0, norm.isf(p["rho"] / 2)
    sigma, s2, s3, lam = p["sigma"], p["sigma_2"], p["sigma_3"], p["lam"]
    for _ in range(N):
        b = sigma * rng.standard_normal()
        theta = (1.0 - b) / (1.0 + lam)  # theta - 1 + lam theta + b = 0
        slope, gradient = theta - 1.0, -b
        terms = (-math.log(1.0 - 1.0 / (1.0 + lam)), slope**2 / (2 * sigma**2), -gradient * slope / sigma**2)
        released = np.array([[1.0 + lam + math.sqrt(2.0) * s3 * rng.standard_normal()]])
        _, _, bar = algorithm_2(
            np.ones(1), slope, 1.0, sigma=sigma, lam=lam, rho=p["rho"], sigma2=s2, sigma3=s3,
            g_hat=np.array([gradient + s2 * rng.standard_normal()]), H_hat=released, corrected=version != "printed",
        )  # fmt: skip
        loss = abs(sum(terms))
        if version == "corrected":
            upper = 12 * sum(map(abs, terms)) + 2 * min(sigma, s2) * abs(slope) * z / sigma**2
        else:
            extra = abs(slope) / s2 * math.sqrt(2 * math.log(1 / p["rho"]))
            upper = 12 * loss + (extra if version == "printed" else 0.0)
        hits += loss <= bar <= upper
    return hits / N


@for_each(
    ("version", "level", "scales"),
    [
        ("printed", 0.8, {"sigma": 4.0, "sigma_2": 0.4, "lam": 1e4}),
        ("printed", 0.8, {"sigma": 10.0, "sigma_2": 100.0, "lam": 1e4}),
        ("corrected", 0.7, {"sigma": 4.0, "sigma_2": 0.4, "lam": 1e4}),
        ("corrected", 0.7, {"sigma": 1.0, "sigma_2": 1.0, "lam": 2.2}),
    ],
)
def test_prop_15_one_user(version: str, level: float, scales: dict[str, float]) -> None:
    p = {"n": 1, "rho": 0.1, "sigma_3": 0.02} | scales
    found = decide("RW21-P15", ".1", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(one_user(version, p), abs=0.035)
    assert found.claim.low == pytest.approx(level)


def test_prop_15_quantile_of_n_users() -> None:
    """Large lambda and sigma_2: the bound is Gaussian, so each user's fails with rho/n, or with rho."""
    p = {"n": 5, "rho": 0.2, "sigma": 10.0, "sigma_2": 1e3, "sigma_3": 0.1, "lam": 1e6}
    for version, each in (("corrected", 0.2 / 5), ("margin of a single user", 0.2)):
        found = decide("RW21-P15", ".1", version, p, draws=20_000)
        # the slope is -1, so the loss is 1/(2 sigma^2) - b/sigma^2: inside for -z sigma <= b <= 1 + z sigma
        z = norm.isf(each / 2)
        inside = norm.cdf(z + 0.1) - norm.cdf(-z)
        assert found.notes["lower inequality"] == pytest.approx(inside**5, abs=0.015)


@for_each("version", ["printed", "corrected", "factor 1"])
def test_prop_15_all_x_in_one_dimension(version: str) -> None:
    """No data, squared loss, every record (x, +-1) added: 40 sizes of x on both sides of 0."""
    p = {"rho": 0.1, "sigma": 1.0, "sigma_3": 0.1, "lam": 3.0}
    rng, hits, n = np.random.default_rng(4), 0, 300
    sizes = np.geomspace(1e-3, 1.0, 40)
    extra = math.sqrt(2.0 * math.log(20.0))
    for _ in range(n):
        b = rng.standard_normal()
        theta, H_hat = -b / 3.0, 3.0 + math.sqrt(2.0) * 0.1 * rng.standard_normal()
        good = True
        for x in (*sizes, *-sizes):
            for y in (-1.0, 1.0):
                g = (theta * x - y) * x
                first, second, third = math.log(1 + x * x / 3.0), g * g / 2, g * b
                loss = abs(-first + second - third)
                mu = min(1.5 * x * x / H_hat, x * x / 3.0)
                bar = -math.log(1 - mu) + second + abs(g) * extra
                size = loss if version == "printed" else first + second
                good &= loss <= bar <= (1.0 if version == "factor 1" else 12.0) * size + abs(g) * extra
        hits += good
    found = decide("RW21-P15", ".2", version, p, draws=4_000)
    assert found.sampled.value == pytest.approx(hits / n, abs=0.1)
    if version == "corrected":
        assert found.exact.low == pytest.approx(0.9 * math.erf(extra / math.sqrt(2.0)), rel=1e-6)


# RW21, Corollary 16: cost and profiles by hand, the condition on a grid, the comparison from T14 and T17.
def test_cor_16_cost_by_hand() -> None:
    """epsilon = 1/2, f'' ||x||^2 = 2 = rho_max/2, log(1.25/delta) = 8: (1/16)/8 times 8 or 1/8, and 1/(4 sqrt 2)."""
    at = {"gradient": 1.0, "hessian": 2.0, "rho_max": 4.0, "epsilon": 0.5, "delta": 1.25 * math.exp(-8.0)}
    linear = 0.25 / math.sqrt(2.0)
    assert claimed("RW21-C16", "@a", "printed", at) == pytest.approx(1 / 1024 + linear)
    assert claimed("RW21-C16", "@b", "printed", at) == pytest.approx(1 / 16 + linear)
    for part in ("@a", "@b"):
        assert claimed("RW21-C16", part, "corrected", at) == pytest.approx(1 / 1024 + linear)
        assert claimed("RW21-C16", part, "no square root of 2", at) == pytest.approx(1 / 1024 + linear - 0.1)
    # noise rho_max sqrt(16)/epsilon = 32: mu = sqrt(1 + 2)/32 with the gradient, sqrt(2)/32 without
    printed, corrected = (decide("RW21-C16", "@a", version, at) for version in ("printed", "corrected"))
    assert printed.exact is not None
    assert corrected.exact is not None
    for found, mu in ((printed, math.sqrt(3.0) / 32), (corrected, math.sqrt(2.0) / 32)):
        assert found.exact.value == pytest.approx(gaussian_delta(mu, 1 / 1024 + linear), rel=1e-6)


def test_cor_16_critical_factor() -> None:
    """At epsilon = 1, delta = 1e-12 and f'' ||x||^2 = rho_max: mu = 1/(2 sqrt(log(1.25e12)))."""
    log = math.log(1.25e12)
    mu = 0.5 / math.sqrt(log)
    least = brentq(lambda e: gaussian_delta(mu, e) - 1e-12, 0.1, 2.0, xtol=1e-14)
    at = {"hessian": 1.0, "rho_max": 1.0, "epsilon": 1.0, "delta": 1e-12}
    found = claimed("RW21-C16", "@a", "constant 2 % below the critical one", at)
    assert found == pytest.approx(0.98 * least, rel=1e-5)
    assert least / (1 / (8 * log) + math.sqrt(0.5)) == pytest.approx(0.86, abs=1e-3)


def test_cor_16_condition_on_a_grid() -> None:
    """Logistic loss: f'' ||x||^2/a <= |f'| ||x||/b is (1 - p) r (1/b - p r/a) >= 0."""
    p, r = np.meshgrid(np.linspace(1e-6, 0.999999, 400), np.geomspace(1e-3, 1, 60))
    for part, version, a, b in (
        ("@beta", "printed", 0.25, 0.25), ("@beta", "left denominator 5 % smaller", 0.95 * 0.25, 0.25),
        ("@sigma", "printed", 0.25, 1.0), ("@sigma", "corrected", 0.25, 0.25),
    ):  # fmt: skip
        least = ((1 - p) * r * (1 / b - p * r / a)).min()
        found = decide("RW21-C16", f"#condition{part}", version)
        assert bool(least >= 0) is (found.exact.low >= 0) is (a == b)
        assert found.exact.low <= least + 1e-12


def test_cor_16_comparison_in_advance() -> None:
    """T17.1 with rho_max against T14.1 with xi over sqrt 2, log(1.25/delta) = 8, log(1/delta) = 8 - log 1.25."""
    at = {"epsilon": 0.5, "delta": 1.25 * math.exp(-8.0), "hessian": 0.1, "gradient": 0.9, "rho_max": 0.25, "xi": 1.0}
    t = math.sqrt(2 * (8 - math.log(1.25)))
    mu, nu = 0.9 * 0.5 / 4.0, 0.1 * 0.5 / (0.25 * 4.0 * math.sqrt(2.0))
    gradient, hessian = mu**2 / 2 + mu * t, nu**2 / 2 + nu * t
    for version, share in (("corrected", math.sqrt(0.5)), ("0.68 of it", 0.68)):
        found = exact_value("RW21-C16", "#comparison", version, at)
        assert found == pytest.approx(share * gradient - hessian, rel=1e-9)


def test_cor_16_comparison_at_an_outcome() -> None:
    """Three records with label -1, lambda = 1/2, sigma = 1, theta = -1.2: Corollary 7 for the record (1, 1) added."""
    u = -1.2
    s = 1 / (1 + math.exp(-u))
    H = 0.5 + 3 * s * (1 - s)
    gradient = 0.5 * u + 3 * s
    loss = abs(-math.log(1 + s * (1 - s) / H) + (1 - s) ** 2 / 2 - gradient * (1 - s))
    at = {"epsilon": 0.5, "delta": 1e-6, "hessian": s * (1 - s), "gradient": 1 - s, "rho_max": 0.25, "xi": 1.0}
    cost = (2 * at["hessian"]) ** 2 / 8 / math.log(1.25e6) + 2 * at["hessian"] / math.sqrt(2.0)
    found = exact_value("RW21-C16", "#comparison", "printed", at | {"theta": u, "lam": 0.5, "opposite": 3})
    assert found == pytest.approx(loss - cost, rel=1e-9)
    assert not holds("RW21-C16", "#comparison", "printed", at | {"theta": u, "lam": 0.5, "opposite": 3})
