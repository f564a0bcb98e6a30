"""What is proved about DP-SGD: between its two ends where it is attained, above every simulated pair elsewhere."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from mechanisms import BOTH, Direction, GaussianProfile, Relation
from mechanisms.capabilities import Bound, Domain, WorstPair, worst_case_of, worst_pair_of
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import FloatArray
from mechanisms.records.record_laws import dominating_laws
from mechanisms.training.batched_steps import LossName
from mechanisms.training.dp_sgd import DPSGD, FullBatchGD
from mechanisms.training.training_worst_case import (
    RECORDS_LOOSE,
    VALUES,
    StepLaws,
    few_values,
    forced_record,
    least_norms,
    longest_norm,
    norms_of,
    sure_norms,
)

DOMAIN = Domain(2, 1.0, 1.0)
#: Its gradient is always clipped: the residual of a record at the edge is at least 0.4 in the ball.
CLIPPED = DPSGD("squared", 8, 0.1, 0.5, 0.25, 0.5, normaliser=5.0, radius=0.6)
DELTA = 1e-5


def bound_of(mechanism: object, domain: Domain = DOMAIN) -> Bound:
    bound = worst_case_of(mechanism, domain)
    assert bound is not None
    return bound


def pair_of(mechanism: object, epsilon: float, delta: float = DELTA, domain: Domain = DOMAIN) -> WorstPair:
    pair = worst_pair_of(mechanism, domain, epsilon, delta)
    assert pair is not None
    return pair


@pytest.mark.parametrize("training", [CLIPPED, replace(CLIPPED, normaliser=None, count_sigma=6.0)])
def test_where_gradients_are_always_clipped_the_bound_is_attained(training: DPSGD) -> None:
    bound = bound_of(training)
    for epsilon in (0.1, 0.5, 1.5):
        pair = pair_of(training, epsilon)
        assert not pair.below
        assert pair.numbers["least norm"] == pair.numbers["largest norm"] == 0.25
        assert pair.delta.high == pytest.approx(bound.delta_at(epsilon, DELTA), rel=1e-12)
        assert not bound.within(epsilon, pair.delta.low * 0.999)
        assert bound.within(epsilon, pair.delta.high)
        assert pair.delta.low >= 0.98 * pair.delta.high > 0


def losses_with_one_record(training: DPSGD, pair: WorstPair, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Return log(p with/p without) at outputs drawn with the record, step by step from the two densities."""
    data, sigma = pair.pair.second, training.sigma
    outputs = training.draw(data, n_draws, rng=rng)
    total = np.zeros(n_draws)
    for theta, seen in training.iterates(outputs, data.dim):
        residual = theta @ data.X[0] - data.y[0]
        gradient = residual[:, None] * data.X[0]
        gradient *= np.minimum(1.0, training.clip / np.linalg.norm(gradient, axis=1))[:, None]
        ratio = np.einsum("ij,ij->i", gradient, seen - 0.5 * gradient) / sigma**2
        total += np.log1p(training.rate * np.expm1(ratio))
    return total


@pytest.mark.parametrize(
    "training",
    [
        CLIPPED,
        replace(CLIPPED, clip=0.9, sigma=0.6),  # clipped at some iterates
        replace(CLIPPED, radius=math.inf, step_size=0.2, sigma=0.4),  # no ball
    ],
)
def test_a_simulated_pair_lies_between_its_ends(training: DPSGD) -> None:
    # null: the ends are right; the mean of 40,000 draws, each in [0, 1], within 5 standard errors: level below 1e-6
    epsilon = 0.4
    pair = pair_of(training, epsilon, 1e-2)
    losses = losses_with_one_record(training, pair, 40_000, np.random.default_rng(12))
    excess = -np.expm1(np.minimum(epsilon - losses, 0.0))
    error = 5 * excess.std() / math.sqrt(losses.size) + 1e-5
    assert isinstance(pair.law.delta_at(epsilon, Direction.BACKWARD), float)
    assert excess.mean() + error >= pair.law.delta_at(epsilon, Direction.BACKWARD) > 0
    assert excess.mean() - error <= pair.delta.high
    assert excess.mean() - error <= bound_of(training).delta_at(epsilon, 1e-2)


def test_without_a_ball_the_pair_loses_little_and_says_that_it_is_a_bound_from_below() -> None:
    free = replace(CLIPPED, radius=math.inf, step_size=0.1, normaliser=50.0)
    epsilon, domain = 0.5, replace(DOMAIN, x_bound=1.0)
    pair = pair_of(free, epsilon, domain=domain)
    assert pair.below
    assert 0.98 * pair.delta.high <= pair.delta.low < pair.delta.high


def test_mutants_with_half_the_noise_or_twice_the_rate_are_above_the_bound() -> None:
    epsilon = 0.5
    assert pair_of(replace(CLIPPED, sigma=0.25), epsilon).delta.low > 2 * bound_of(CLIPPED).delta_at(epsilon, DELTA)
    assert pair_of(replace(CLIPPED, rate=0.2), epsilon).delta.low > 2 * bound_of(CLIPPED).delta_at(epsilon, DELTA)


def test_full_batches_have_the_closed_form_and_a_replaced_record_twice_its_distance() -> None:
    full = FullBatchGD(replace(CLIPPED, rate=1.0, normaliser=None, count_sigma=4.0))
    mu = math.hypot(math.sqrt(8) * 0.25 / 0.5, 1 / 4.0)
    for mechanism in (full, full.training):
        bound = bound_of(mechanism)
        assert bound.mu == pytest.approx(mu, rel=1e-15)
        assert bound.delta_at(1.0, DELTA) == pytest.approx(GaussianProfile(mu).delta_at(1.0), rel=1e-11)
        replaced = GaussianProfile(2 * math.sqrt(8) * 0.5).delta_at(1.0)
        assert bound.replaced(1.0, DELTA) == pytest.approx(replaced, rel=1e-11)
        pair = pair_of(mechanism, 1.0)
        assert pair.delta.low == pytest.approx(pair.delta.high, rel=1e-11)


def test_a_replaced_record_is_above_one_removed_and_below_two_after_one_another() -> None:
    bound = bound_of(CLIPPED)
    one, half = bound.delta_at(1.0, DELTA), bound.delta_at(0.5, DELTA)
    assert one < bound.replaced(1.0, DELTA) <= half * (1 + math.exp(0.5))


def test_the_last_iterate_has_the_bound_of_the_transcript_and_no_worst_pair() -> None:
    final = replace(CLIPPED, observer="final")
    assert bound_of(final).delta_at(0.5, DELTA) == bound_of(CLIPPED).delta_at(0.5, DELTA)
    assert worst_pair_of(final, DOMAIN, 0.5, DELTA) is None


def test_the_domain_and_the_ball_count_where_they_say_more_than_the_clip() -> None:
    logistic = DPSGD("logistic", 8, 0.1, 2.0, 5.0, 0.5, normaliser=5.0)
    at_one = bound_of(logistic).delta_at(0.5, DELTA)
    assert at_one == bound_of(replace(logistic, clip=1.0 * (1 + 1e-11))).delta_at(0.5, DELTA)
    assert bound_of(replace(logistic, radius=0.3)).delta_at(0.5, DELTA) < at_one
    assert bound_of(logistic, replace(DOMAIN, x_bound=0.5)).delta_at(0.5, DELTA) < at_one


def test_every_record_has_a_law_of_its_own_and_the_largest_is_the_bound_of_the_data() -> None:
    training = DPSGD("logistic", 8, 0.1, 2.0, 1.0, 0.5, normaliser=5.0, radius=2.0)
    data = example_data(6, kind="labels")
    laws = dominating_laws(training, data)
    norms, steps = norms_of(training, data), StepLaws.of(training)
    for direction in BOTH:
        laws_of = [steps.upper(float(norm), Relation.REMOVE, loose=RECORDS_LOOSE) for norm in norms]
        literal = [law.delta_at(0.3, direction) for law in laws_of]
        assert laws.delta_at(0.3, direction).tolist() == literal
    worst = max(laws.delta_at(0.3, direction).max() for direction in BOTH)
    assert worst * 0.95 <= training.records_bound(data).delta_at(0.3, DELTA) <= worst
    epsilons = laws.worse_epsilon_at(DELTA)
    assert (np.argsort(epsilons) == np.argsort(norms)).all() or len(set(norms)) < len(norms)
    assert bound_of(training).delta_at(float(epsilons.max()), DELTA) > DELTA


def test_renyi_is_the_sum_of_the_steps_and_rises_to_the_next_whole_order() -> None:
    bound = bound_of(CLIPPED)
    one = math.log((1 - 0.1) ** 2 + 2 * 0.9 * 0.1 + 0.01 * math.exp(0.25)) / 1
    assert bound.renyi(2.0) == pytest.approx(8 * one, rel=1e-10)
    assert bound.renyi(2.0) < bound.renyi(2.5) == bound.renyi(3.0)
    assert bound.renyi(1e9) == math.inf


LOSSES: tuple[LossName, ...] = ("squared", "logistic")


def gradient_norm(loss: str, x: np.ndarray, y: float, theta: np.ndarray) -> float:
    """Return the norm of the gradient from its definition, not clipped."""
    slope = float(x @ theta) - y if loss == "squared" else -y / (1 + math.exp(y * float(x @ theta)))
    return math.hypot(*(slope * x))  # a root of summed squares would be 0 below 1e-162


@given(
    loss=st.sampled_from(LOSSES),
    length=st.just(0.0) | st.floats(1e-100, 3.0),
    y=st.floats(-2.0, 2.0),
    radius=st.floats(0.01, 4.0),
    clip=st.floats(0.05, 5.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_gradient_in_the_ball_lies_between_the_bounds(
    loss: LossName, length: float, y: float, radius: float, clip: float, seed: int
) -> None:
    y = math.copysign(1.0, y) if loss == "logistic" else y
    rng = np.random.default_rng(seed)  # directions alone; the property holds at each
    x, theta = rng.standard_normal((2, 3))
    x, theta = x / np.linalg.norm(x) * length, theta / np.linalg.norm(theta) * radius * rng.uniform()
    sure = float(sure_norms(loss, np.array([length]), np.array([y]), radius, clip)[0])
    least = float(least_norms(loss, np.array([length]), np.array([y]), radius)[0])
    norm = gradient_norm(loss, x, y, theta)
    assert least * (1 - 1e-9) <= norm
    assert min(norm, clip) <= sure * (1 + 1e-15)


@for_each("loss", LOSSES)
def test_both_bounds_are_reached_in_the_ball(loss: LossName) -> None:
    lengths, y = np.array([0.7]), np.array([1.0])
    ends = [gradient_norm(loss, np.array([0.7]), 1.0, np.array([theta])) for theta in (-0.9, 0.9)]
    assert sure_norms(loss, lengths, y, 0.9, math.inf)[0] == pytest.approx(max(ends), rel=1e-10)
    assert least_norms(loss, lengths, y, 0.9)[0] == pytest.approx(min(ends), rel=1e-10)
    assert least_norms(loss, lengths, y, math.inf)[0] == 0.0


def test_no_record_of_a_domain_exceeds_its_longest_norm_and_without_bounds_it_is_the_clip() -> None:
    domain = Domain(2, 0.5, 1.0)
    assert longest_norm("logistic", domain, math.inf, 1.0) == pytest.approx(0.5)
    assert longest_norm("squared", domain, math.inf, 1.0) == 1.0
    assert longest_norm("squared", domain, 0.2, 1.0) == pytest.approx(0.5 * (1 + 0.1))
    assert longest_norm("logistic", Domain(2, math.inf, 1.0), 1.0, 0.3) == 0.3


def test_the_forced_record_is_the_best_length() -> None:
    length, norm = forced_record("squared", Domain(1, 2.0, 1.0), 1.0)  # l (1 - l) is largest at 1/2
    assert length == pytest.approx(0.5, rel=0.03)
    assert norm == pytest.approx(0.25, rel=1e-3)
    assert norm <= 0.25
    assert forced_record("logistic", Domain(1, 0.5, 1.0), 0.1)[0] == 0.5


def test_few_values_are_at_least_each_records_own() -> None:
    norms = np.geomspace(0.01, 0.9, 5_000)[np.random.default_rng(0).permutation(5_000)]
    values, places = few_values(norms)
    assert len(values) == VALUES
    assert (values[places] >= norms).all()
    assert (values[places] <= norms * (90 ** (1 / (VALUES - 1)) + 1e-9)).all()
    assert values[-1] == norms.max()
    few, places = few_values(np.array([0.5, 0.0, 0.5]))
    assert few[places].tolist() == [0.5, 0.0, 0.5]
