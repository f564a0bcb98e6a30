"""Mills ratios, gaps and intervals of the normal law against ball arithmetic."""

import math

import numpy as np
import pytest
from flint import arb, ctx

from mechanisms.numerics.mills import gap_integral, log_gap, log_interval, log_mills


def phi(x: arb) -> arb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def ndtr(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2


@pytest.mark.parametrize("t", [-1e100, -1e8, -300.0, -37.0, -5.0, -1e-9, 0.0, 1e-9, 0.5, 5.0, 37.0, 40.0, 300.0])
def test_log_mills(t: float) -> None:
    with ctx.workprec(4000):
        exact = -arb(-t).log() if t < -1e7 else (ndtr(arb(t)) / phi(arb(t))).log()
        assert float(log_mills(t)) == pytest.approx(float(exact), rel=1e-14, abs=1e-14)


GAPS = [
    (-5.0, 1e-9, 0.0),
    (-5.0, 1e-9, 1e-7),
    (-0.1, 1e-3, 1e-3),
    (2.0, 1e-4, 0.0),
    (-30.0, 0.5, 3.0),
    (1.0, 3.0, 0.5),
    (-1000.0, 2.0, 1e4),
    (8.0, 9.0, 0.0),
]


@pytest.mark.parametrize(("u", "slope", "curve"), GAPS)
def test_log_gap(u: float, slope: float, curve: float) -> None:
    with ctx.workprec(8000):
        v, k, scale = arb(u), arb(slope), 1 / (1 + arb(curve)).sqrt()
        other = scale * (v - k)
        exact = (ndtr(v) - phi(v) * scale * ndtr(other) / phi(other)).log()
        assert float(log_gap(u, slope, curve)) == pytest.approx(float(exact), rel=1e-15, abs=1e-13)


def test_gap_of_nothing_is_minus_infinity() -> None:
    assert log_gap(0.3, 0.0) == -math.inf


def test_gap_integral_in_chunks_agrees_with_one_at_a_time() -> None:
    rng = np.random.default_rng(0)
    u, slope, curve = rng.uniform(-8, 1, 700), rng.uniform(0, 1e-2, 700), rng.uniform(0, 1e-2, 700)
    whole = gap_integral(u, slope, curve, 2.0)
    for i in (0, 255, 256, 699):
        alone = gap_integral(u[i : i + 1], slope[i : i + 1], curve[i : i + 1], 2.0)
        assert whole[i] == pytest.approx(alone[0], rel=1e-13)


@pytest.mark.parametrize(("v", "span"), [(-5.0, 1e-9), (0.0, 1e-4), (1.5, 0.01), (-40.0, 3.0), (3.0, 6.0), (2.0, 1e3)])
def test_log_interval(v: float, span: float) -> None:
    with ctx.workprec(4000):
        exact = float((ndtr(arb(v)) - ndtr(arb(v) - arb(span))).log())
        assert float(log_interval(v, span)) == pytest.approx(exact, rel=1e-15, abs=1e-13)


def test_interval_limits() -> None:
    assert log_interval(0.0, math.inf) == pytest.approx(math.log(0.5))
    assert log_interval(0.0, 0.0) == -math.inf
