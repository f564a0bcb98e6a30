"""RW21, Theorem 13: both chains at rational points, and the report draw by draw with the literal twin."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value
from oracles.report_draws import BETA, bound_4, draws, tau
from scipy.stats import norm

from verify.papers.redberg_wang2021.thm_13 import STATEMENT

TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.1}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}
UPPER = TINY | {"sigma": 10.0, "sigma_2": 100.0, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 1e4}
NEAR = TINY | {"loss": "squared", "sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 4.5}


def test_chains_by_hand() -> None:
    """tau sigma_3 = beta = 1, lambda_min = 2: p1's left side is (1 + 2)(1 + 1/2) = 4.5, p2's (1 + 2)/(1/2) = 6."""
    corner = {"t": "1/2", "v": "1/2"}
    for part, left, ends in ((".p1", 4.5, (4.0, 4.5)), (".p2", 6.0, (4.0, 6.0))):
        assert exact_value(STATEMENT, part, "printed", corner) == ends[0] - left
        assert exact_value(STATEMENT, part, "corrected", corner) == ends[1] - left
    assert exact_value(STATEMENT, ".p1", "2.7 beta", corner) == pytest.approx(4.35 - 4.5)
    assert exact_value(STATEMENT, ".p2", "5.5 beta", corner) == pytest.approx(5.75 - 6.0)
    # (1 + 1)/(3/4) = 8/3 against 1 + 1 + (1/4)/(3/4) = 7/3 as printed
    inside = {"t": "1/4", "v": "1/4", "step": "equality"}
    assert exact_value(STATEMENT, ".p2", "printed", inside) == pytest.approx(1 / 3)
    assert exact_value(STATEMENT, ".p2", "corrected", inside) == 0.0


HALVES = st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000)


@settings(max_examples=30)
@given(t=HALVES, v=HALVES)
def test_corrected_chains_everywhere(t: Fraction, v: Fraction) -> None:
    at = {"t": str(t), "v": str(v)}
    for part, left, constant in ((".p1", (1 + 4 * t) * (1 + v), 3), (".p2", (1 + 4 * t) / (1 - v), 6)):
        slack = 1 + 4 * t + constant * v - left
        assert slack >= 0
        assert exact_value(STATEMENT, part, "corrected", at) == float(slack)
        assert exact_value(STATEMENT, part, "printed", at) == float(1 + 4 * t + 2 * v - left)


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
def test_accuracy_of_the_report(version: str, p: dict) -> None:
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
    found = decide(STATEMENT, "#report", version, p, draws=20_000)
    assert found.sampled is not None
    assert found.sampled.value == pytest.approx(np.mean(hits), abs=0.035)
    assert found.notes["smallest eigenvalue required"] == pytest.approx(required)
    assert found.claim.low == pytest.approx(0.7)


@pytest.mark.parametrize("part", [".p1", ".p2"])
def test_ends_of_the_chains_on_a_grid(part: str) -> None:
    """Slack over v, 3 - (1 + 4 t) or 6 - (1 + 4 t)/(1 - v), is smallest at t = 0.499, v = 1/2."""
    least = 3 - (1 + 4 * 0.499) if part == ".p1" else 6 - (1 + 4 * 0.499) / 0.5
    found = decide(STATEMENT, part, "corrected", {"box": "end"})
    assert found.exact is not None
    assert 0 <= found.exact.low <= least + 1e-12
    assert found.exact.high >= least - 1e-12


@pytest.mark.parametrize(
    ("part", "step", "limit"),
    [
        (".p1", "a <= (1 + a) log(1 + a)", 0.5),
        (".p2", "-log(1 - a) <= a/(1 - a)", 0.5),
        (".p2", "a <= -log(1 - a)", 0.5),
    ],
)
def test_steps_of_the_chains(part: str, step: str, limit: float) -> None:
    """Each slack is a^2/2 to second order; the smallest over a in [0.001, 1/2] is met at an end."""
    a = np.geomspace(1e-3, 0.5, 2001)
    slack = {
        "a <= (1 + a) log(1 + a)": (1 + a) * np.log1p(a) - a,
        "-log(1 - a) <= a/(1 - a)": a / (1 - a) + np.log1p(-a),
        "a <= -log(1 - a)": -np.log1p(-a) - a,
    }[step] / a**2
    assert slack[0] == pytest.approx(limit, abs=2e-3)
    found = decide(STATEMENT, part, "corrected", {"box": step})
    assert found.exact is not None
    assert 0 <= found.exact.low <= slack.min() + 1e-9
