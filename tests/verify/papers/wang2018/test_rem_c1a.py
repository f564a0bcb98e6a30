"""W18, appendix C.1: constants in one dimension by scipy, the order and (9) at equality by hand."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy.optimize import minimize
from scipy.stats import norm

from verify.papers.wang2018.rem_c1a import STATEMENT

EQUAL = {"E1": "equality", "dim": 3, "seed": 0}


@pytest.mark.parametrize(
    ("version", "power"), [("printed", 0.0), ("corrected", 1.0), ("power 0.8 of the logarithm", 0.8)]
)
def test_rate_in_delta(version: str, power: float) -> None:
    """d = 1, n = c sqrt(log(4/delta)): the noise over the Gram matrix is fixed, the rate falls as log^(p - 1)."""
    rate = [log**power / math.sqrt(log) ** 2 for log in (10.0, 1e5)]
    assert exact_value(STATEMENT, "#rate", version, {"dim": 1}) == pytest.approx(
        math.log10(rate[0] / rate[1]), abs=1e-9
    )


def test_size_and_norm_in_one_dimension() -> None:
    """lambda_min/2 = alpha n/2 = c sqrt(log(4/delta))/(2 epsilon), the noise 2 sqrt(log(4/delta))/epsilon."""
    for part, version, deviate in (
        ("#n", "printed", 10 / 2 / 2),
        ("#n", "constant 5 % below the critical one", 6.2496 / 4),
        ("#norm", "corrected", 5 / 2),
        ("#norm", "constant 5 % below the critical one", 3.1248 / 2),
    ):
        assert exact_value(STATEMENT, part, version, {"dim": 1}) == pytest.approx(2 * norm.sf(deviate), rel=1e-9)
    assert 2 * norm.sf(6.2496 / 0.95 / 4) == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize(
    ("part", "version", "power"), [("#n", "printed", 0.5), ("#n", "power 1 of d", 0.0), ("#norm", "corrected", 0.5)]
)
def test_norm_of_the_noise_in_three_dimensions(part: str, version: str, power: float) -> None:
    """2.5 d^power deviates against the operator norm of drawn matrices; 0.03 is 4.5 standard errors."""
    rng = np.random.Generator(np.random.PCG64DXSM(4))
    half = np.triu(rng.standard_normal((20_000, 3, 3)))
    norms = np.linalg.norm(half + np.swapaxes(np.triu(half, 1), 1, 2), ord=2, axis=(1, 2))
    sampled = decide(STATEMENT, part, version, {"dim": 3}, draws=8_000).sampled
    assert sampled is not None
    assert sampled.value == pytest.approx(np.mean(norms > 2.5 * 3**power), abs=0.03)


def test_printed_norm_near_delta_1_over_12() -> None:
    """sqrt(log(4/delta)/log(12 delta)) at delta = (1 + h)/12, from h = 1e-2 to 1e-12, with 40 digits."""
    with mpmath.workdps(40):
        ratios = []
        for h in (mpmath.mpf("1e-2"), mpmath.mpf("1e-12")):
            delta = (1 + h) / 12
            ratios.append(mpmath.sqrt(mpmath.log(4 / delta) / mpmath.log(12 * delta)))
        decades = float(mpmath.log10(ratios[1] / ratios[0]))
    exact = decide(STATEMENT, "#norm", "printed").exact
    assert exact is not None
    assert exact.low <= decades <= exact.high
    assert exact.low > 0.5


def test_order_at_equality() -> None:
    """X^T X = I, E_1 = -I/2: the lower difference is 0, at 0.55 it is -0.05; the upper 1.45 - 1/2."""
    assert exact_value(STATEMENT, "#order", "printed", EQUAL) == 0.0
    assert exact_value(STATEMENT, "#order", "lower edge 0.55", EQUAL) == pytest.approx(-0.05)
    for seed in (5, 6):
        assert holds(STATEMENT, "#order", "printed", {"E1": "any", "dim": 3, "seed": seed})


def test_9_at_equality() -> None:
    """E_2 = -E_1 theta*: |2 (E_2 - E_1 theta*)|^2 = 4 |E_2 - E_1 theta*|^2/1 = 8 (|E_2|^2 + |E_1 theta*|^2)."""
    assert exact_value(STATEMENT, "#9", "printed", EQUAL) == 1.0
    assert exact_value(STATEMENT, "#9", "constant cut by 5 %", EQUAL) == pytest.approx(8 / 7.6)
    for seed in (5, 6):
        assert holds(STATEMENT, "#9", "printed", {"E1": "any", "dim": 3, "seed": seed})


def test_9_on_the_box() -> None:
    """d = 1: (cos - sin)^2/(1 + g)^2 is at most 8, least room at g near -1/2, phi = 3 pi/4."""
    evidence = decide(STATEMENT, "#9", "printed", {})
    found = minimize(lambda v: 8 - (math.cos(v[1]) - math.sin(v[1])) ** 2 / (1 + v[0]) ** 2, (-0.4, 2.0),
                     bounds=[(-0.499, 0.5), (0, math.pi)])  # fmt: skip
    assert evidence.exact is not None
    assert 0 <= evidence.exact.low <= found.fun <= evidence.exact.high + 1e-9
