"""Bounds over all data sets where a record's slope changes its sign: one record alone, in closed form, against them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st
from oracles.mechanisms.objective_perturbation import hockey_stick_1d
from rows import for_each
from scipy.integrate import quad
from scipy.special import ndtr

from mechanisms import BOTH, Direction, LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss
from mechanisms.capabilities import Domain, worst_pair_of
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.objective.ball_perturbation import BallObjectivePerturbation
from mechanisms.objective.losses import ExactLoss, GlmLoss, SquaredLoss
from mechanisms.objective.objective_calibration import calibrate_t5, variance_t5
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.objective.objective_worst_case import OneRecord, keeps_sign, objective_domination, objective_tail

LINE = Domain(1, 1.0, 1e-3)


def one_record(slope: Callable[[FloatArray], FloatArray], sigma: float, lam: float, points: FloatArray) -> FloatArray:
    """Return the masses between points of the line, without the record ``(1, 0)`` and with it, shape ``(2, cells)``."""
    noise = np.array([lam * points, lam * points + slope(points)]) / sigma
    below = np.pad(ndtr(noise), ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1)))
    above = np.pad(ndtr(-noise), ((0, 0), (1, 1)), constant_values=((0, 0), (1, 0)))
    middle = np.pad(noise, ((0, 0), (1, 0)), constant_values=-1.0)
    return np.where(middle > 0, -np.diff(above), np.diff(below))


def divergence(masses: FloatArray, epsilon: float) -> float:
    """Return the larger of both directions, at least as large in truth."""
    first, second = masses
    return max(float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) for p, q in ((first, second), (second, first)))


def test_a_slope_of_either_sign_loses_at_both_ends_over_a_ball() -> None:
    sigma, lam, epsilon = 0.162, 0.0349, 19.04
    mechanism = BallObjectivePerturbation(sigma, lam)
    truth = divergence(one_record(lambda t: t, sigma, lam, np.linspace(-1, 1, 4001)), epsilon)
    assert truth <= mechanism.worst_case(LINE).delta_at(epsilon, 1e-6)
    # mutant: as if the noise counted at one end
    mu, shift = mechanism.gradient_bound(LINE) / sigma, math.log1p(1 / lam)
    assert truth > 1.2 * objective_domination(mu, shift, epsilon)


@for_each(
    ("width", "sigma", "lam", "epsilon"),
    [(0.2928, 0.07864, 0.0172, 14.41), (2.498, 0.3892, 0.00797, 21.75), (0.0634, 0.00794, 0.00266, 34.94)],
)
def test_a_slope_of_either_sign_loses_at_both_ends(width: float, sigma: float, lam: float, epsilon: float) -> None:
    mechanism, domain = ObjectivePerturbation(PseudoHuberLoss(width), sigma, lam), Domain(1, 1.0, 1.0)
    points = np.sinh(np.linspace(-12, 12, 4001)) / math.sinh(12) * (40 * sigma / lam + 2 * width)
    truth = divergence(one_record(lambda t: mechanism.loss.first(t, np.zeros(1)), sigma, lam, points), epsilon)
    bound = mechanism.worst_case(domain)
    assert truth <= bound.delta_at(epsilon, 1e-6)
    assert truth <= float(objective_tail(mechanism, domain, epsilon))


def test_who_keeps_the_sign() -> None:
    losses = (LogisticLoss(), SmoothedHingeLoss(), PseudoHuberLoss(), SquaredLoss(), PoissonLoss())
    assert [keeps_sign(loss) for loss in losses] == [True, True, False, False, False]
    u = np.linspace(-30, 30, 61)
    for loss in losses[:2]:
        for label in (-1.0, 1.0):
            assert (label * loss.first(u, np.full(61, label)) < 0).all()


def test_no_tail_is_rounded_to_nothing() -> None:
    mechanism = ObjectivePerturbation(LogisticLoss(), 0.3, 0.1)
    assert float(objective_tail(mechanism, Domain(1, 1.0, 1.0), 1e3)) > 0


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


@for_each("direction", BOTH)
@for_each("x_norm", [1.0, 1e3, 1e9])
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


@for_each("direction", BOTH)
def test_a_narrow_hinge_is_enclosed_and_guessed(direction: Direction) -> None:
    """On 39dc713 the enclosure took minutes, and the guess was 0 where the truth is .0497."""
    record = OneRecord(NARROW, 8.0, 0.001, 1.0, 1.0)
    found, truth = record.delta(1.0, direction, scale=1e-6), literal(record, 1.0, direction)
    assert found.low - 1e-9 <= truth <= found.high + 1e-9
    assert record.delta_at(1.0, direction) == pytest.approx(truth, rel=1e-3, abs=1e-9)


def test_the_worst_pair_of_a_narrow_hinge_is_the_worse_direction() -> None:
    from mechanisms import ObjectivePerturbation

    worst = worst_pair_of(ObjectivePerturbation(NARROW, 8.0, 0.001), Domain(3, 1.0, 1.0), 1.0, 1e-6)
    assert worst.direction is Direction.BACKWARD
    assert worst.delta.low == pytest.approx(0.0497181, rel=1e-5)


def worst_delta(loss: GlmLoss, x_bound: float, epsilon: float, sigma: float, lam: float) -> float:
    """Largest exact delta(epsilon) over both directions of a few one-dimensional pairs (0 to 3 records)."""
    worst = 0.0
    for signs in ((), (1.0,), (1.0, -1.0, 1.0)):
        dataset = Dataset(np.full((len(signs), 1), x_bound), np.array(signs), x_bound, 1.0)
        mechanism = ObjectivePerturbation(loss, sigma, lam)
        pair = NeighbouringPair.add(dataset, [x_bound], 1.0)
        reach = (12.0 * sigma + (len(signs) + 1) * loss.xi(1.0, x_bound)) / lam
        grid = np.linspace(-reach, reach, 20_001)
        log_p, log_q = (mechanism.log_density(grid[:, None], d) for d in (pair.first, pair.second))
        for one, other in ((log_p, log_q), (log_q, log_p)):
            assert np.trapezoid(np.exp(one), grid) == pytest.approx(1.0, abs=1e-9)
            worst = max(worst, hockey_stick_1d(one, other, grid, epsilon))
    return worst


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
@pytest.mark.parametrize("x_bound", [1.0, 0.004])
@pytest.mark.parametrize("loss", [LogisticLoss(), SmoothedHingeLoss(0.5), PseudoHuberLoss(1.0)], ids=lambda v: v.name)
def test_corrected_scale_meets_its_target(loss: GlmLoss, x_bound: float, epsilon: float) -> None:
    calibration = calibrate_t5(loss, epsilon, 1e-3, x_bound=x_bound, y_bound=1.0)
    assert worst_delta(loss, x_bound, epsilon, calibration.sigma_corrected, calibration.lam) <= 1e-3


def test_published_scale_fails_where_the_gradient_is_small() -> None:
    """xi = 0.004, epsilon = 1, delta = 1e-3: printed 0.00104 = xi/3.8 (delta far above 1e-3), corrected 0.0322."""
    calibration = calibrate_t5(LogisticLoss(), 1.0, 1e-3, x_bound=0.004, y_bound=1.0)
    assert calibration.sigma_published == pytest.approx(0.004**2 * (8 * math.log(2000) + 4), rel=1e-15)
    assert calibration.sigma_corrected == pytest.approx(math.sqrt(calibration.sigma_published), rel=1e-15)
    assert worst_delta(LogisticLoss(), 0.004, 1.0, calibration.sigma_published, calibration.lam) > 0.1


def test_published_scale_does_not_scale_with_the_units_of_the_gradient() -> None:
    """Features in other units multiply xi and must multiply sigma alike; as printed it grows with the square."""
    one, ten = (calibrate_t5(LogisticLoss(), 1.0, 1e-6, x_bound=b, y_bound=1.0) for b in (1.0, 10.0))
    assert ten.sigma_corrected / one.sigma_corrected == pytest.approx(10.0)
    assert ten.sigma_published / one.sigma_published == pytest.approx(100.0)
    assert ten.lam / one.lam == pytest.approx(100.0)  # beta x_bound^2


def test_regularisation_is_the_printed_one() -> None:
    """RW21, section 4.1: logistic regression needs lam >= 1/(2 epsilon)."""
    for epsilon in (0.1, 1.0, 3.0):
        calibration = calibrate_t5(LogisticLoss(), epsilon, 1e-6, x_bound=1.0, y_bound=1.0)
        assert calibration.lam == pytest.approx(1 / (2 * epsilon))


@for_each("value", [0.0, -1.0, math.nan, math.inf, True])
def test_bad_parameters_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be finite and positive"):
        calibrate_t5(LogisticLoss(), value, 1e-6, x_bound=1.0, y_bound=1.0)
    with pytest.raises(ValueError, match="xi must be finite and positive"):
        variance_t5(value, 1.0, 1e-6)
    with pytest.raises(ValueError, match="delta must be"):
        variance_t5(1.0, 1.0, 2.0 if value == math.inf else value)
    with pytest.raises(ValueError, match="loss must have bounded gradient and Hessian, got xi=inf"):
        calibrate_t5(SquaredLoss(), 1.0, 1e-6, x_bound=1.0, y_bound=1.0)


def test_an_epsilon_whose_square_overflows_has_its_limit() -> None:
    """Beyond 1e150 the other formula; at its edge both agree."""
    assert variance_t5(2.0, 1e300, 1e-6) == pytest.approx(16.0 / 1e300, rel=1e-12)
    edge = (variance_t5(2.0, epsilon, 1e-6) * epsilon for epsilon in (9.9e149, 1.1e150))
    assert list(edge) == pytest.approx([16.0, 16.0], rel=1e-12)
