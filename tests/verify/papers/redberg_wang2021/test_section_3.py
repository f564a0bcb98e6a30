"""RW21, section 3: each typed formula on known answers and literal twins."""

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from oracles.report_draws import Draw, bound_2, draws, z
from rows import for_each
from scipy.stats import norm

# RW21, Algorithm 2: coverage of both reports, draw by draw with the literal twin.
TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "lam": 100.0}
UNDEFINED = TINY | {"rho": 0.01, "loss": "squared", "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.275, "lam": 2.01}


@for_each("p", [LOWER, UNDEFINED, LOWER | {"target": "inside", "sigma_2": 40.0}])
@for_each("version", ["printed", "corrected"])
def test_alg_2_released_quantities(version: str, p: dict) -> None:
    corrected = version == "corrected"
    covered = np.mean([d.loss <= bound_2(p, d, corrected=corrected)[2] for d in draws(p, 1_500)])
    found = decide("RW21-A2", "#dependent", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert found.claim.low == pytest.approx(1 - 3 * p["rho"])


@for_each(("target", "loss"), [("outside", "logistic"), ("inside", "squared")])
def test_alg_2_no_release(target: str, loss: str) -> None:
    p = TINY | {"target": target, "loss": loss, "rho": 0.3, "sigma": 10.0, "sigma_2": 1.0, "sigma_3": 1e-3, "lam": 2.0}
    covered = np.mean([d.loss <= bound_2(p, d, corrected=True, released=False)[2] for d in draws(p, 1_500)])
    found = decide("RW21-A2", "#independent", "printed", p, draws=20_000)
    assert found.sampled.value == pytest.approx(covered, abs=0.035)
    assert (found.exact.low, found.claim.low) == pytest.approx((0.7, 0.7))


@for_each("share", [0.95, 0.4])
def test_alg_2_a_share_of_the_margin(share: float) -> None:
    """Large lambda, slope -1/2, no release: -s z sigma <= b <= s z sigma + 1/2, nearly."""
    from scipy.stats import norm

    p = TINY | {"sigma": 10.0, "sigma_2": 1.0, "sigma_3": 1e-3, "lam": 1e6}
    found = decide("RW21-A2", "#independent", f"{share} of the margin", p, draws=20_000)
    s = share * norm.isf(0.05)
    assert found.sampled.value == pytest.approx(norm.cdf(s + 0.05) - norm.cdf(-s), abs=0.015)


# RW21, Theorem 8: one record by hand, the product in float64, the linear bound on a grid.
#: No further record, lambda = 1, f'' ||x||^2 = 1/4.
ALONE = {"dim": 1, "n": 0, "lambda": "1", "largest": "1/4"}


@for_each("sign", [1, -1])
def test_thm_8_one_record_by_hand(sign: int) -> None:
    """mu = -1/4 outside, -(1/4)/(5/4) inside: |log(1 -+ mu)| = log(5/4) both times, and the bound is log(4/3)."""
    at = ALONE | {"sign": sign}
    assert exact_value("RW21-T8", "#bound", "printed", at) == pytest.approx(math.log(16 / 15), rel=1e-12)
    cut = 0.9 * math.log(4 / 3) - math.log(5 / 4)
    assert exact_value("RW21-T8", "#bound", "bound cut by 10 %", at) == pytest.approx(cut, rel=1e-12)
    mu = -0.25 if sign > 0 else -0.2
    assert exact_value("RW21-T8", ".p", "printed", at) == pytest.approx(-0.25 - mu)
    assert exact_value("RW21-T8", ".p", "corrected", at) == pytest.approx(min(mu + 0.25, -mu))
    assert exact_value("RW21-T8", ".p", "lower end cut by 10 %", at) == pytest.approx(min(mu + 0.225, -mu))


@for_each("sign", [1, -1])
def test_thm_8_three_dimensions_in_float64(sign: int) -> None:
    """log prod_j (1 -+ mu_j) is the log determinant's change (the matrix determinant lemma, three times)."""
    rng = np.random.Generator(np.random.PCG64DXSM([3, 4]))
    scales = rng.integers(0, 9, 3) / 8
    scales[0] = 1.0
    rows, own = rng.integers(-8, 9, (4, 3)) / 8, 0.25 * scales  # largest = lambda = 1/2
    H = rows.T @ rows + 0.5 * np.eye(3)
    change = np.linalg.slogdet(H + np.diag(own))[1] - np.linalg.slogdet(H)[1]
    bound = -np.log1p(-own / 0.5).sum()
    at = {"dim": 3, "n": 4, "sign": sign, "lambda": "1/2", "largest": "1/2"}
    assert exact_value("RW21-T8", "#bound", "printed", at) == pytest.approx(bound - change, rel=1e-10)


@for_each("sign", [1, -1])
def test_thm_8_linear_bound_on_a_grid(sign: int) -> None:
    """w = f'' ||x||^2/lambda, leverage a share s of the largest: the smallest slack over w is at most the proof's."""
    w, s = np.meshgrid(np.geomspace(1e-3, 0.999, 200), np.linspace(0, 1, 50))
    term = np.log1p(s * w) if sign > 0 else -np.log1p(-s * w / (1 + w))
    slack = (-np.log1p(-w) - term) / w
    found = decide("RW21-T8", "#glm", "printed", {"sign": sign})
    assert 0.0 <= found.exact.low <= slack.min()
    assert found.exact.high >= slack.min() - 1e-3
    worse = decide("RW21-T8", "#glm", "bound cut by 10 %", {"sign": sign})
    assert ((-0.9 * np.log1p(-w) - term) / w).min() < 0
    assert worse.exact.high < 0


# RW21, Theorem 9: coverages by the error function; one signed slope by hand.
def failure(dim: int, t: float) -> float:
    """P(max of dim normals, in absolute value, > t)."""
    return -math.expm1(dim * math.log1p(-math.erfc(t / math.sqrt(2))))


@for_each("rho", [0.5, 0.1, 1e-6])
@for_each("dim", [1, 10, 10_000])
def test_thm_9_all_records_at_once(dim: int, rho: float) -> None:
    t = math.sqrt(2 * math.log(2 * dim / rho))
    undimensioned = math.sqrt(2 * math.log(2 / rho))
    for version, at in (("printed", t), ("root cut by 10 %", 0.9 * t), ("no dimension", undimensioned)):
        found = decide("RW21-T9", ".1", version, {"dim": dim, "rho": rho}, draws=10)
        assert 1.0 - found.exact.value == pytest.approx(failure(dim, at), rel=1e-6, abs=1e-15)
        assert found.claim.low == 1.0 - rho


@for_each("rho", [2 * math.exp(-0.5), 1e-3])
def test_thm_9_one_record(rho: float) -> None:
    """rho = 2 e^(-1/2): the root is 1, and the coverage erf(1/sqrt 2) = 0.6827."""
    t = math.sqrt(2 * math.log(2 / rho))
    found = decide("RW21-T9", ".2", "corrected", {"rho": rho}, draws=10)
    assert found.exact.value == pytest.approx(1 - failure(1, t), rel=1e-12)


def test_thm_9_signed_slope_as_printed() -> None:
    """No data, x = y = lambda = 1, sigma = 2: f' of the logistic loss is negative, of the squared one it is -b - 1."""
    at = {"loss": "logistic", "data": "none", "sigma": 2.0, "lam": 1.0, "y": 1.0, "rho": 0.1}
    logistic = decide("RW21-T9", ".2", "printed", at, draws=2_000).sampled
    assert logistic is not None
    assert logistic.value == 0.0
    squared = decide("RW21-T9", ".2", "printed", at | {"loss": "squared"}, draws=20_000).sampled
    t = math.sqrt(2 * math.log(20.0))
    assert squared is not None
    assert squared.low <= norm.cdf(-0.5) - norm.cdf(-t) <= squared.high  # -2 t <= b <= -1
    whole = decide("RW21-T9", ".2", "corrected", at, draws=20_000).sampled
    assert whole is not None
    assert whole.low <= 1 - failure(1, t) <= whole.high


# RW21, Theorem 10: costs by hand, the report draw by draw with the literal twin, tau in one dimension.
UPPER = TINY | {"sigma": 10.0, "sigma_2": 100.0, "sigma_3": 0.1, "lam": 1e4}
CANCEL = TINY | {"loss": "squared", "sigma": 3.0, "sigma_2": 0.1, "sigma_3": 0.01, "lam": 3.0}
INSIDE = TINY | {"loss": "squared", "target": "inside", "sigma": 1.0, "sigma_2": 30.0, "sigma_3": 0.1, "lam": 3.0}


def test_thm_10_costs_by_hand() -> None:
    """g = 3, h = 4 sqrt 2, sigmas 1, delta = e^-2: 4.5 + 8 + 5 * 2; at sigma_3 = 2 the cube halves h^2/8."""
    at = {"gradient": 3.0, "hessian": 4 * math.sqrt(2.0), "sigma_2": 1.0, "sigma_3": 1.0, "delta": math.exp(-2.0)}
    assert claimed("RW21-T10", ".1", "printed", at) == pytest.approx(22.5)
    wide = at | {"sigma_3": 2.0}  # 4.5 + 2 + 2 sqrt(9 + 2) printed, 2 sqrt(9 + 4) corrected
    assert claimed("RW21-T10", ".1", "printed", wide) == pytest.approx(6.5 + 2 * math.sqrt(11.0))
    for part, version in ((".1", "corrected"), (".2", "printed")):
        assert claimed("RW21-T10", part, version, wide) == pytest.approx(6.5 + 2 * math.sqrt(13.0))
    for part in (".1", ".2"):
        assert claimed("RW21-T10", part, "epsilon cut by 5 %", wide) == pytest.approx(
            0.95 * (6.5 + 2 * math.sqrt(13.0))
        )
        assert claimed("RW21-T10", part, "no Hessian term under the root", wide) == pytest.approx(6.5 + 6.0)


def test_thm_10_exact_delta_of_both_releases() -> None:
    """g = 3/5, h = 4 sqrt(2)/5, sigmas 1: mu = 1."""
    at = {"gradient": 0.6, "hessian": 0.8 * math.sqrt(2.0), "sigma_2": 1.0, "sigma_3": 1.0, "delta": 0.3}
    found = decide("RW21-T10", ".2", "printed", at)
    epsilon = found.claim.published
    assert epsilon == pytest.approx(0.5 + math.sqrt(2 * math.log(1 / 0.3)))
    truth = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
    assert found.exact.value == pytest.approx(truth, rel=1e-9)
    smaller = decide("RW21-T10", ".1", "corrected", at | {"target gradient": 0.0, "target hessian": 0.0, "delta": 0.1})
    assert smaller.exact.value == pytest.approx(0.0, abs=1e-12)


def upper(version: str, p: dict, d: Draw) -> float:
    """The right side of T10.3 in the words of each version."""
    norm_of = abs(d.first)
    extra = norm_of * math.sqrt(2 * math.log(2 / p["rho"])) / p["sigma_2"]
    slack = 2 * min(p["sigma"], p["sigma_2"]) * norm_of * z(p["rho"]) / p["sigma"] ** 2
    return {
        "printed": 12 * d.loss + extra,
        "corrected": 12 * d.size + slack,
        "absolute value of a one-sided bound": 12 * d.size + slack,
        "cancelling terms": 12 * d.loss + slack,
        "additive term over sigma_2": 12 * d.size + extra,
        "factor 1": d.size + slack,
    }[version]


@pytest.mark.parametrize(
    ("version", "p"),
    [
        ("printed", LOWER),
        ("printed", UPPER),
        ("corrected", LOWER),
        ("corrected", INSIDE),
        ("absolute value of a one-sided bound", LOWER),
        ("cancelling terms", CANCEL),
        ("additive term over sigma_2", UPPER),
        ("factor 1", CANCEL),
    ],
)
def test_thm_10_accuracy_of_the_report(version: str, p: dict) -> None:
    corrected = version not in ("printed", "absolute value of a one-sided bound")
    hits = [d.loss <= bound_2(p, d, corrected=corrected)[2] <= upper(version, p, d) for d in draws(p, 1_500)]
    found = decide("RW21-T10", ".3", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.7)


@for_each(("version", "width"), [("printed", None), ("corrected", 2.0), ("once the quantile", 1.0)])
def test_thm_10_additive_error(version: str, width: float | None) -> None:
    p, factor = LOWER, math.sqrt(2 * math.log(20.0)) if width is None else width * z(0.1)
    hits = [
        abs(bound_2(p, d, corrected=width is not None)[0]) <= abs(d.inner) + 0.4 * abs(d.first) * factor
        for d in draws(p, 1_500)
    ]
    found = decide("RW21-T10", ".p2", version, p, draws=20_000)
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.9)


def test_thm_10_cap_by_hand() -> None:
    """With the minimum f'' mu_bar <= beta/lambda: 1/4 over 1/2, and 1 over 2."""
    edge = TINY | {"rho": 0.2, "sigma": 1.0, "sigma_2": 1.0, "sigma_3": 0.1}
    found = decide("RW21-T10", ".p1", "printed", edge | {"lam": 0.5 + 1e-9}, draws=2_000)
    assert found.exact.high == pytest.approx(0.5, rel=1e-8)
    assert found.exact.low > 0.45  # theta near 0 is drawn, where f'' = 1/4


@for_each("rho", [0.5, 1e-6])
def test_thm_10_order_of_tau_in_one_dimension(rho: float) -> None:
    tau, log = math.sqrt(2.0) * norm.isf(rho / 2), math.log(1 / rho) ** 1.5
    for version, order in {"printed": 1 + log, "no logarithm": 1.0, "no dimension": 1 + log}.items():
        assert exact_value("RW21-T10", ".f", version, dim=1, rho=rho) == pytest.approx(tau / order, rel=1e-9)
        assert claimed("RW21-T10", ".f", version, dim=4, rho=rho) == pytest.approx(
            order * (2.0 if version != "no dimension" else 1.0)
        )


def test_thm_10_required_lambda() -> None:
    """2 sigma tau over sqrt(d) sigma^p grows by 8 (1 - p) decades from sigma = 1 to 1e8."""
    for part, version, power in (
        (".t@root", "printed", 0.5), (".t@root", "corrected", 1.0), (".t@root", "power 0.9", 0.9),
        (".t@linear", "printed", 1.0), (".t@linear", "power 0.9", 0.9),
    ):  # fmt: skip
        found = decide("RW21-T10", part, version, dim=1, rho=1e-6)
        assert found.exact.value == pytest.approx(8 * (1 - power), abs=1e-9)
        assert found.notes["required lambda at sigma = 1"] == pytest.approx(2 * math.sqrt(2.0) * norm.isf(5e-7))
