"""A loss that bends within a hair's breadth under much noise: decided in a moment, in the right direction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from mechanisms import BOTH, Direction, LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss
from mechanisms.capabilities import Domain, worst_pair_of
from mechanisms.objective.losses import ExactLoss
from mechanisms.objective.objective_worst_case import OneRecord

NARROW = SmoothedHingeLoss(0.01)
LOSSES: tuple[ExactLoss, ...] = (LogisticLoss(), NARROW, PseudoHuberLoss(0.1), PoissonLoss())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@given(low=st.floats(-30, 30), width=st.floats(0, 60), share=st.floats(0, 1))
def test_slopes_over_a_range_are_those_of_its_ends_and_of_the_bend(
    loss: ExactLoss, low: float, width: float, share: float
) -> None:
    with ctx.workprec(128):
        slopes = loss.slopes(arb(1))
        ends = arb(low), arb(low) + arb(width)
        (first_low, first_high), (second_low, second_high) = slopes.over(*ends)
        inside = arb((ends[0] + (ends[1] - ends[0]) * share).mid())
        inside = inside.max(ends[0]).min(ends[1])
        assert not (slopes.first(inside) < first_low)
        assert not (slopes.first(inside) > first_high)
        assert not (slopes.second(inside) < second_low)
        assert not (slopes.second(inside) > second_high)
        at, y = np.asarray(float(inside)), np.asarray(1.0)
        assert float(slopes.first(arb(float(at)))) == pytest.approx(float(loss.first(at, y)), rel=1e-9, abs=1e-12)
        assert float(slopes.second(arb(float(at)))) == pytest.approx(float(loss.second(at, y)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("x_norm", [1.0, 1e3, 1e9])
def test_the_poisson_loss_of_long_records_is_enclosed_at_once(x_norm: float, direction: Direction) -> None:
    """On the way here a record of norm 1e9 took minutes: e^u spans more than a ball's radius can."""
    found = OneRecord(PoissonLoss(), 8.0, 4.0, x_norm, 3.0).delta(1.0, direction, scale=1e-6)
    assert found.high - found.low < 1e-9
    assert (found.low > 0.999) == (x_norm > 1)


def literal(record: OneRecord, epsilon: float, direction: Direction) -> float:
    """The integral of the positive part, in pieces around the bend."""
    s, lam, sigma, width = record.x_norm, record.lam, record.sigma, NARROW.width
    y = np.asarray(record.y)

    def gain(t: float) -> float:
        pull, bent = s * float(record.loss.first(s * t, y)), s * s * float(record.loss.second(s * t, y))
        without = math.exp(-0.5 * (lam * t / sigma) ** 2) * lam / sigma
        with_record = math.exp(-0.5 * ((lam * t + pull) / sigma) ** 2) * (lam + bent) / sigma
        drawn, other = (without, with_record) if direction is Direction.FORWARD else (with_record, without)
        return max(0.0, drawn - math.exp(epsilon) * other) / math.sqrt(2 * math.pi)

    far = 12 * sigma / lam
    ends = [-far, *(record.y + k * width for k in range(-40, 41)), far]
    return sum(quad(gain, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize("direction", BOTH)
def test_a_narrow_hinge_is_enclosed_and_guessed(direction: Direction) -> None:
    """On 39dc713 the enclosure took minutes, and the guess was 0 where the truth is .0497."""
    record = OneRecord(NARROW, 8.0, 0.001, 1.0, 1.0)
    found, truth = record.delta(1.0, direction, scale=1e-6), literal(record, 1.0, direction)
    assert found.low - 1e-9 <= truth <= found.high + 1e-9
    assert record.delta_at(1.0, direction) == pytest.approx(truth, rel=1e-3, abs=1e-9)


def test_the_worst_pair_of_a_narrow_hinge_is_the_worse_direction() -> None:
    from mechanisms import ObjectivePerturbation

    worst = worst_pair_of(ObjectivePerturbation(NARROW, 8.0, 0.001), Domain(3, 1.0, 1.0), 1.0, 1e-6)
    assert worst is not None
    assert worst.direction is Direction.BACKWARD
    assert worst.delta.low == pytest.approx(0.0497181, rel=1e-5)
