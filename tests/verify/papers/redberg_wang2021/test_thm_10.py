"""RW21, Theorem 10: costs by hand, the report draw by draw with the literal twin, tau in one dimension."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from oracles.report_draws import Draw, bound_2, draws, z
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_10 import STATEMENT

TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "lam": 100.0}
UPPER = TINY | {"sigma": 10.0, "sigma_2": 100.0, "sigma_3": 0.1, "lam": 1e4}
CANCEL = TINY | {"loss": "squared", "sigma": 3.0, "sigma_2": 0.1, "sigma_3": 0.01, "lam": 3.0}
INSIDE = TINY | {"loss": "squared", "target": "inside", "sigma": 1.0, "sigma_2": 30.0, "sigma_3": 0.1, "lam": 3.0}


def test_costs_by_hand() -> None:
    """g = 3, h = 4 sqrt 2, sigmas 1, delta = e^-2: 4.5 + 8 + 5 * 2; at sigma_3 = 2 the cube halves h^2/8."""
    at = {"gradient": 3.0, "hessian": 4 * math.sqrt(2.0), "sigma_2": 1.0, "sigma_3": 1.0, "delta": math.exp(-2.0)}
    assert claimed(STATEMENT, ".1", "printed", at) == pytest.approx(22.5)
    wide = at | {"sigma_3": 2.0}  # 4.5 + 2 + 2 sqrt(9 + 2) printed, 2 sqrt(9 + 4) corrected
    assert claimed(STATEMENT, ".1", "printed", wide) == pytest.approx(6.5 + 2 * math.sqrt(11.0))
    for part, version in ((".1", "corrected"), (".2", "printed")):
        assert claimed(STATEMENT, part, version, wide) == pytest.approx(6.5 + 2 * math.sqrt(13.0))
    for part in (".1", ".2"):
        assert claimed(STATEMENT, part, "epsilon cut by 5 %", wide) == pytest.approx(0.95 * (6.5 + 2 * math.sqrt(13.0)))
        assert claimed(STATEMENT, part, "no Hessian term under the root", wide) == pytest.approx(6.5 + 6.0)


def test_exact_delta_of_both_releases() -> None:
    """g = 3/5, h = 4 sqrt(2)/5, sigmas 1: mu = 1."""
    at = {"gradient": 0.6, "hessian": 0.8 * math.sqrt(2.0), "sigma_2": 1.0, "sigma_3": 1.0, "delta": 0.3}
    found = decide(STATEMENT, ".2", "printed", at)
    epsilon = found.claim.published
    assert epsilon == pytest.approx(0.5 + math.sqrt(2 * math.log(1 / 0.3)))
    assert found.exact is not None
    truth = norm.cdf(0.5 - epsilon) - math.exp(epsilon) * norm.cdf(-0.5 - epsilon)
    assert found.exact.value == pytest.approx(truth, rel=1e-9)
    smaller = decide(STATEMENT, ".1", "corrected", at | {"target gradient": 0.0, "target hessian": 0.0, "delta": 0.1})
    assert smaller.exact is not None
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
def test_accuracy_of_the_report(version: str, p: dict) -> None:
    corrected = version not in ("printed", "absolute value of a one-sided bound")
    hits = [d.loss <= bound_2(p, d, corrected=corrected)[2] <= upper(version, p, d) for d in draws(p, 1_500)]
    found = decide(STATEMENT, ".3", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.7)


@pytest.mark.parametrize(("version", "width"), [("printed", None), ("corrected", 2.0), ("once the quantile", 1.0)])
def test_additive_error(version: str, width: float | None) -> None:
    p, factor = LOWER, math.sqrt(2 * math.log(20.0)) if width is None else width * z(0.1)
    hits = [
        abs(bound_2(p, d, corrected=width is not None)[0]) <= abs(d.inner) + 0.4 * abs(d.first) * factor
        for d in draws(p, 1_500)
    ]
    found = decide(STATEMENT, ".p2", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.claim.low == pytest.approx(0.9)


def test_cap_by_hand() -> None:
    """With the minimum f'' mu_bar <= beta/lambda: 1/4 over 1/2, and 1 over 2."""
    edge = TINY | {"rho": 0.2, "sigma": 1.0, "sigma_2": 1.0, "sigma_3": 0.1}
    found = decide(STATEMENT, ".p1", "printed", edge | {"lam": 0.5 + 1e-9}, draws=2_000)
    assert found.exact is not None
    assert found.exact.high == pytest.approx(0.5, rel=1e-8)
    assert found.exact.low > 0.45  # theta near 0 is drawn, where f'' = 1/4


@pytest.mark.parametrize("rho", [0.5, 1e-6])
def test_order_of_tau_in_one_dimension(rho: float) -> None:
    tau, log = math.sqrt(2.0) * norm.isf(rho / 2), math.log(1 / rho) ** 1.5
    for version, order in {"printed": 1 + log, "no logarithm": 1.0, "no dimension": 1 + log}.items():
        assert exact_value(STATEMENT, ".f", version, dim=1, rho=rho) == pytest.approx(tau / order, rel=1e-9)
        assert claimed(STATEMENT, ".f", version, dim=4, rho=rho) == pytest.approx(
            order * (2.0 if version != "no dimension" else 1.0)
        )


def test_required_lambda() -> None:
    """2 sigma tau over sqrt(d) sigma^p grows by 8 (1 - p) decades from sigma = 1 to 1e8."""
    for part, version, power in (
        (".t@root", "printed", 0.5), (".t@root", "corrected", 1.0), (".t@root", "power 0.9", 0.9),
        (".t@linear", "printed", 1.0), (".t@linear", "power 0.9", 0.9),
    ):  # fmt: skip
        found = decide(STATEMENT, part, version, dim=1, rho=1e-6)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(8 * (1 - power), abs=1e-9)
        assert found.notes["required lambda at sigma = 1"] == pytest.approx(2 * math.sqrt(2.0) * norm.isf(5e-7))
