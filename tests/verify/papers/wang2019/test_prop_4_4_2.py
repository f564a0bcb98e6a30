"""W19, Proposition 4.4(2): every display by hand or in plain floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.profiles import gaussian_log_delta
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from mechanisms.data.dataset import Dataset
from mechanisms.linear.adaops_wang2019 import CorrectedRule2019
from verify.papers.wang2019.prop_4_4_2 import STATEMENT

PLAIN = {"n": 1000, "dim": 1, "kappa": 2.0, "epsilon": 1.0, "delta": 0.01}


def test_printed_error() -> None:
    """gamma = 1000/(64 log 400), and the printed error is (1 + gamma)/(1 + 1/gamma) = gamma times the true one."""
    value = exact_value(STATEMENT, "#risk", "printed", PLAIN | {"sigma^2": 1.0})
    assert value == pytest.approx(1000.0 / (64.0 * math.log(400.0)), rel=1e-12)


def test_corrected_error_by_quadrature() -> None:
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
    found = decide(STATEMENT, "#risk", "corrected", params | {"theta^2": 100.0}).exact
    assert found is not None
    assert found.low <= value <= found.high
    assert found.high - found.low < abs(value)


@pytest.mark.parametrize("n", [10, 1000])
def test_event(n: int) -> None:
    for version, factor in (("printed", 10.0), ("corrected", 20.0), ("deviation cut by 10 %", 16.2)):
        expected = n**10 * norm.sf(math.sqrt(factor * math.log(n)))
        assert exact_value(STATEMENT, ".p1", version, {"n": n}) == pytest.approx(expected, rel=1e-9)


def test_no_ridge() -> None:
    """Printed: lambda_n = 0 iff the gap h + b - released is at least 0; lambda_min = h + root + beyond."""
    log = math.log(400.0)
    root, slack, sigma = 2 * math.sqrt(math.log(10_000.0) * log), 2 * log, 2 * math.sqrt(log)
    above = norm.sf((slack - root - 3.0) / sigma)  # the gap is negative: the minimum is not 0
    params = PLAIN | {"beyond": 3.0}
    assert exact_value(STATEMENT, ".p2", "printed", params) == pytest.approx(1000.0**10 * above, rel=1e-9)
    maximum = exact_value(STATEMENT, ".p2", "maximum with the printed condition", params)
    assert maximum == pytest.approx(1000.0**10 * (1 - above), rel=1e-9)
    edge = {"n": 1000, "dim": 1, "kappa share": 0.5, "epsilon": 1.0, "delta": 0.01, "beyond": 0.0}
    corrected = 1000.0**10 * norm.sf(math.sqrt(20 * math.log(1000.0)))
    assert exact_value(STATEMENT, ".p2", "corrected", edge) == pytest.approx(corrected, rel=1e-9)


def test_size_of_gamma() -> None:
    """n = 1000, kappa = 2: gamma = 1000/(64 log 400), bound 4/1000; the inverse is max(64 log 400, 32)/1000."""
    gamma = 1000 / (64 * math.log(400.0))
    assert exact_value(STATEMENT, "#gamma", "printed", PLAIN) == pytest.approx(gamma / (4 / 1000), rel=1e-12)
    assert exact_value(STATEMENT, "#gamma", "corrected", PLAIN) == pytest.approx(1.0, rel=1e-12)
    assert exact_value(STATEMENT, "#gamma", "constants cut by 10 %", PLAIN) == pytest.approx(0.9, rel=1e-12)
    # at epsilon = 30 the second term of the minimum is the smaller one: gamma = n epsilon/(8 kappa^2)
    large, bound = PLAIN | {"epsilon": 30.0}, 4 * math.log(400.0) / 900_000
    assert exact_value(STATEMENT, "#gamma", "printed", large) == pytest.approx(30_000 / 32 / bound)


@pytest.mark.parametrize(
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
def test_when_it_is_efficient(version: str, sequence: str, power: float) -> None:
    found = exact_value(STATEMENT, "#efficient", version, {"sequence": sequence})
    assert found == pytest.approx(16 * power, abs=1e-9)
