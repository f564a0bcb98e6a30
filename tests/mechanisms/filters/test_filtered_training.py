"""Filtered DP-SGD: literal twin, no record ever overspends, what is proved, and filters that are wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.literal_training import cost, filtered_draws, gradient, limit
from rows import for_each

from mechanisms import BOTH, DPSGD, Dataset, FilteredDPSGD, GradientRelease, LogisticLoss, SufficientStatistics
from mechanisms.accounting.subsampled_gaussian import renyi_divergence
from mechanisms.broken.misstated import Misstated
from mechanisms.capabilities import Domain, worst_case_of
from mechanisms.catalogue import example_data, example_pair
from mechanisms.filters import (
    FilteredInteraction,
    GaussianFilter,
    GradientStep,
    RecordStep,
    RenyiFilter,
    StatisticsStep,
)
from mechanisms.filters.filtered_training import FilteredDPSGDParameters, least_mu, least_renyi
from mechanisms.filters.privacy_filters import most_spent
from mechanisms.laws.gaussian_profile import gaussian_delta
from mechanisms.reference import is_reference

LABELS, LINEAR = example_pair("labels", n_records=8).first, example_pair(n_records=8).first
SAMPLED = DPSGD("logistic", 12, 0.3, 1.0, 0.4, 0.5, normaliser=2.0)
FULL = DPSGD("squared", 10, 1.0, 2.0, 0.5, 0.2, normaliser=8.0, radius=1.5)
FILTERED = [
    (FilteredDPSGD(SAMPLED, RenyiFilter(5, 0.08)), LABELS),
    (FilteredDPSGD(replace(SAMPLED, rate=0.05), RenyiFilter(3, 0.0012)), LABELS),
    (FilteredDPSGD(FULL, RenyiFilter(4, 0.15)), LINEAR),
    (FilteredDPSGD(FULL, GaussianFilter(0.4)), LINEAR),
]


def realised(mechanism: FilteredDPSGD, output: np.ndarray, data: Dataset) -> np.ndarray:
    """Return each record's exact cost in each step of one transcript, whether or not it took part."""
    norms = []
    for theta, _ in mechanism.training.iterates(output[None], data.dim):
        rows = zip(data.X, data.y, strict=True)
        part = (gradient(mechanism.training.loss, theta[0], x, float(y), mechanism.training.clip) for x, y in rows)
        norms.append([cost(mechanism, float(np.linalg.norm(g))) for g in part])
    return np.array(norms)


@for_each(("mechanism", "data"), FILTERED)
def test_the_twin_draws_the_same(mechanism, data):
    outputs = mechanism.draw(data, 3, rng=np.random.default_rng(5))
    twin, spent = filtered_draws(mechanism, data, 3, np.random.default_rng(5))
    np.testing.assert_allclose(outputs, twin, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mechanism.spent(outputs, data), spent, rtol=1e-4)
    plain = mechanism.training.draw(data, 3, rng=np.random.default_rng(5))
    assert np.abs(outputs - plain).max() > 0.01  # somebody did not take part


def test_a_filter_that_never_stops_anybody_draws_what_the_training_draws():
    mechanism = FilteredDPSGD(SAMPLED, RenyiFilter(5, 50.0))
    rng = np.random.default_rng
    np.testing.assert_array_equal(mechanism.draw(LABELS, 9, rng=rng(2)), SAMPLED.draw(LABELS, 9, rng=rng(2)))


@settings(max_examples=25)
@given(
    which=st.sampled_from(FILTERED),
    share=st.floats(0.02, 3.0),
    n_draws=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_record_ever_overspends(which, share, n_draws, seed):
    mechanism, data = which
    if isinstance(mechanism.filter, RenyiFilter):
        chosen = RenyiFilter(mechanism.filter.order, mechanism.filter.budget * share)
    else:
        chosen = GaussianFilter(mechanism.filter.mu * share)
    mechanism = replace(mechanism, filter=chosen)
    outputs = mechanism.draw(data, n_draws, rng=np.random.default_rng(seed))
    spent = mechanism.spent(outputs, data)
    assert (spent <= limit(mechanism)).all()
    for run, output in enumerate(outputs):
        exact = realised(mechanism, output, data)
        for i in range(data.n_records):
            total = 0.0
            for one in exact[:, i]:  # greedy, with the exact costs, is what it spends but for the table's rounding up
                total += one if total + one <= limit(mechanism) * (1 - 1e-4) else 0.0
            assert spent[run, i] == pytest.approx(total, rel=1e-3) or overtaken(exact[:, i], limit(mechanism))


def overtaken(costs: np.ndarray, budget: float) -> bool:
    """Return whether some sum of the first costs is so near the budget that rounding decides."""
    total = 0.0
    for one in costs:
        if abs(total + one - budget) < 3e-3 * budget:
            return True
        total += one if total + one <= budget else 0.0
    return False


@dataclass(frozen=True)
class LateFilter(RenyiFilter):
    """Wrong: looks at the budget after the step is paid for."""

    def admits(self, spent):
        return spent <= self.budget + 0.02


@dataclass(frozen=True)
class AverageFilter(RenyiFilter):
    """Wrong: the average over the records counts."""

    def admits(self, spent):
        if np.ndim(spent) == 0:
            return spent <= self.budget
        return np.broadcast_to(np.mean(spent, axis=-1, keepdims=True) <= self.budget, spent.shape)


@for_each("wrong", [LateFilter, AverageFilter])
def test_wrong_filters_overspend(wrong):
    mechanism = FilteredDPSGD(SAMPLED, wrong(5, 0.08))
    outputs = mechanism.draw(LABELS, 5, rng=np.random.default_rng(3))
    assert (mechanism.spent(outputs, LABELS) > 0.08).any()
    assert not is_reference(mechanism)
    assert worst_case_of(mechanism, Domain(2, 1.0, 1.0)) is None


def test_costs_are_above_the_divergence_and_near_it():
    mechanism = FILTERED[0][0]
    norms = np.linspace(0.0, 0.4, 101)
    exact = renyi_divergence(0.3, norms, 5)  # sigma is 1
    costs = mechanism.costs(norms)
    assert (costs >= exact).all()
    np.testing.assert_allclose(costs[10:], exact[10:], rtol=1e-4)
    assert costs[0] <= 1e-9


def test_the_released_number_of_records_is_paid_for_first():
    counted = replace(SAMPLED, normaliser=None, count_sigma=20.0)
    mechanism = FilteredDPSGD(counted, RenyiFilter(5, 0.08))
    assert mechanism.first_cost == pytest.approx(2.5 / 400, rel=1e-12)
    outputs = mechanism.draw(LABELS, 4, rng=np.random.default_rng(1))
    assert outputs.shape == (4, 25)
    spent = mechanism.spent(outputs, LABELS)
    assert (spent >= 2.5 / 400).all()
    assert (spent <= 0.08).all()
    with pytest.raises(ValueError, match="count_sigma must be large enough for the filter's budget"):
        FilteredDPSGD(replace(counted, count_sigma=2.0), RenyiFilter(5, 0.08))


def test_the_worst_case_is_that_of_the_filter_or_of_the_training():
    domain = Domain(2, 1.0, 1.0)
    tight, loose = FilteredDPSGD(SAMPLED, RenyiFilter(5, 0.01)), FilteredDPSGD(SAMPLED, RenyiFilter(5, 9.0))
    assert tight.worst_case(domain).delta_at(1.0, 1e-5) == tight.filter.delta_at(1.0)
    assert most_spent(tight.worst_case(domain), 5) == 0.01
    assert most_spent(tight.worst_case(domain), 4) <= 0.01
    plain = SAMPLED.worst_case(domain)
    assert loose.worst_case(domain).delta_at(1.0, 1e-5) == plain.delta_at(1.0, 1e-5)
    assert most_spent(loose.worst_case(domain), 5) == plain.renyi(5)
    full = FilteredDPSGD(FULL, GaussianFilter(0.4)).worst_case(domain)
    assert full.mu == 0.4
    assert FilteredDPSGD(FULL, GaussianFilter(400.0)).worst_case(domain).mu == FULL.worst_case(domain).mu


def test_records_are_covered_by_the_filter_and_by_the_training_without_it():
    """A short record by its own gradients, a long one by the filter; nobody by more than without a filter."""
    mechanism = FilteredDPSGD(FULL, GaussianFilter(0.4))
    domain = Domain(2, 1.0, 1.0)
    assert mechanism.record_bound(domain, 0.01).mu == FULL.record_bound(domain, 0.01).mu < 0.4
    assert mechanism.record_bound(domain, 1.0).mu == 0.4 < FULL.record_bound(domain, 1.0).mu
    assert mechanism.records_bound(LINEAR).mu == 0.4
    laws = mechanism.dominating_laws(LINEAR)
    np.testing.assert_array_equal(laws.mu, FULL.dominating_laws(LINEAR).mu)


@for_each("mu", [0.51, 0.8])  # exactly 0.5 would leave the fourth step to rounding, which refuses
def test_the_gaussian_filter_is_attained_by_a_record_that_is_always_clipped(mu):
    """One record of a long gradient: as many steps as the budget pays for, whose loss is exactly normal.

    20,000 draws with the record, seed 11: the mean of (1 - exp(1 - loss))_+ within five standard errors.
    """
    training = DPSGD("squared", 20, 1.0, 2.0, 0.5, 0.001, normaliser=1.0, radius=0.1)
    mechanism = FilteredDPSGD(training, GaussianFilter(mu))
    data = Dataset(np.array([[1.0, 0.0]]), np.array([1.0]), 1.0, 1.0, name="one", public=True)
    outputs = mechanism.draw(data, 20_000, rng=np.random.default_rng(11))
    _, sums = training.split(outputs, 2)
    taken = math.floor(mu**2 / 0.25**2)  # each step costs (0.5/2)^2; the slope is at least 0.9 in the ball
    assert mechanism.spent(outputs[:1], data)[0, 0] == pytest.approx(taken * 0.0625, rel=1e-9)
    # with the record the first sums have mean -0.5 on the first axis
    loss = (np.square(sums[:, :taken, 0]) - np.square(sums[:, :taken, 0] + 0.5)).sum(axis=1) / 8
    values = np.maximum(0.0, -np.expm1(1.0 - loss))
    exact = gaussian_delta(0.25 * math.sqrt(taken), 1.0)
    assert abs(values.mean() - exact) < 5 * values.std() / math.sqrt(20_000)
    later = sums[:, taken:, 0]
    assert abs(later.mean()) < 5 * 2 / math.sqrt(later.size)  # nothing of it is in the steps after
    assert exact <= mechanism.worst_case(Domain(2, 1.0, 1.0)).delta_at(1.0, 0.0)


def test_parameters_of_the_configuration():
    given = {
        "name": "filtered-dp-sgd", "loss": "logistic", "n_steps": 12, "rate": 0.3, "sigma": 1.0, "clip": 0.4,
        "step_size": 0.5, "normaliser": 2.0,
    }  # fmt: skip
    renyi = FilteredDPSGDParameters.model_validate(given | {"filter": "renyi", "order": 5, "budget": 0.08})
    assert renyi.build(2) == FilteredDPSGD(SAMPLED, RenyiFilter(5, 0.08))
    full = FilteredDPSGDParameters.model_validate(given | {"rate": 1.0, "filter": "gaussian", "mu": 0.5})
    assert full.build(2) == FilteredDPSGD(replace(SAMPLED, rate=1.0), GaussianFilter(0.5))
    with pytest.raises(ValueError, match=r"rate must be 1 for a Gaussian filter, got rate=0\.3"):
        FilteredDPSGDParameters.model_validate(given | {"filter": "gaussian", "mu": 0.5}).build(2)
    for wrong in ({"filter": "renyi", "order": 5}, {"filter": "gaussian", "mu": 0.5, "order": 5}):
        with pytest.raises(ValueError, match=r"mechanism\.(budget|order)"):
            FilteredDPSGDParameters.model_validate(given | wrong)


def test_both_directions_of_the_bound_are_the_same_number():
    bound = FILTERED[3][0].worst_case(Domain(2, 1.0, 1.0))
    profile = FILTERED[3][0].filter.profile
    assert bound.delta_at(0.5, 0.0) == max(profile.delta_at(0.5, direction) for direction in BOTH)


TWELVE, TWELVE_LABELS = example_data(12), example_data(12, kind="labels")
STEP = StatisticsStep(SufficientStatistics(3.0, 2.0))


def gradient_step(theta: list[float]) -> GradientStep:
    return GradientStep(GradientRelease(np.array(theta), LogisticLoss(), 1.0, sigma2=1.5))


def test_distances_are_those_of_one_record_more():
    assert isinstance(STEP, RecordStep)
    mus = STEP.record_mus(TWELVE)
    for i in range(3):
        x, y = TWELVE.X[i], float(TWELVE.y[i])
        gram = np.outer(x, x)[np.triu_indices(2)]
        assert mus[i] == pytest.approx(np.hypot(np.linalg.norm(gram) / 3, np.linalg.norm(x * y) / 2))
    step = gradient_step([0.3, -0.8])
    slope = -TWELVE_LABELS.y / (1 + np.exp(TWELVE_LABELS.y * (TWELVE_LABELS.X @ [0.3, -0.8])))
    np.testing.assert_allclose(
        step.record_mus(TWELVE_LABELS), np.abs(slope) * np.linalg.norm(TWELVE_LABELS.X, axis=1) / 1.5
    )


@for_each("privacy_filter", [RenyiFilter(3, 0.2), GaussianFilter(0.4)])
def test_nobody_overspends_whatever_is_asked(privacy_filter):
    interaction, rng = FilteredInteraction(TWELVE_LABELS, privacy_filter), np.random.default_rng(4)
    unit = 1.5 if isinstance(privacy_filter, RenyiFilter) else 1.0
    mine = np.zeros(12)
    left_out = 0
    theta = [0.0, 0.0]
    for _ in range(15):
        step = gradient_step(theta)
        costs = unit * step.record_mus(TWELVE_LABELS) ** 2
        active, _ = interaction.admitted(step)
        np.testing.assert_array_equal(active, mine + costs <= privacy_filter.limit)
        mine = np.where(active, mine + costs, mine)
        left_out += int((~active).sum())
        answer, interaction = interaction.ask(step, rng=rng)
        theta = list(-answer / 3)  # chosen after what was seen
    assert left_out > 0
    np.testing.assert_allclose(interaction.spent, mine, rtol=1e-12)
    assert (interaction.spent <= privacy_filter.limit).all()


def test_a_step_is_drawn_on_those_who_take_part():
    spent = np.where(np.arange(12) < 6, 0.16, 0.0)  # six have nothing left
    interaction = FilteredInteraction(TWELVE, GaussianFilter(0.4), spent)
    active, _ = interaction.admitted(STEP)
    assert not active[:6].any()
    answer, after = interaction.ask(STEP, rng=np.random.default_rng(8))
    kept = TWELVE.X[active]
    noise = STEP.mechanism.sigmas(2) * np.random.default_rng(8).standard_normal(5)
    mean = np.concatenate([(kept.T @ kept)[np.triu_indices(2)], kept.T @ TWELVE.y[active]])
    np.testing.assert_allclose(answer, mean + noise, atol=1e-12)
    np.testing.assert_array_equal(after.spent[:6], 0.16)


def test_what_is_private_is_not_shown():
    shown = repr(FilteredInteraction(TWELVE, GaussianFilter(0.4)))
    assert shown == "FilteredInteraction(GaussianFilter(mu=0.4), private)"
    with pytest.raises(ValueError, match="spent must have one number a record, got shape=\\(3,\\)"):
        FilteredInteraction(TWELVE, GaussianFilter(0.4), np.zeros(3))


DOMAIN = Domain(2, 1.0, 1.0)
TRAINING = DPSGD("squared", 10, 0.2, 1.0, 0.5, 0.1, normaliser=2.0, radius=0.1)


def test_a_record_that_is_always_clipped_spends_all_that_is_proved():
    """Its slope is at least 0.9 in the ball, and so longer than the clip."""
    spender = least_renyi(TRAINING, DOMAIN, 6)
    assert spender.norm == 0.5
    assert spender.spent == pytest.approx(10 * renyi_divergence(0.2, 0.5, 6), rel=1e-9)
    assert spender.spent <= most_spent(worst_case_of(TRAINING, DOMAIN), 6)
    assert spender.spent == pytest.approx(most_spent(worst_case_of(TRAINING, DOMAIN), 6), rel=1e-9)
    assert "one of features" in spender.words


def test_without_a_ball_the_first_step_is_known():
    spender = least_renyi(replace(TRAINING, radius=np.inf), DOMAIN, 6)
    assert (spender.steps, spender.norm) == (1, 0.5)
    assert spender.spent == pytest.approx(renyi_divergence(0.2, 0.5, 6), rel=1e-9)


def test_a_filter_stops_the_record():
    one = renyi_divergence(0.2, 0.5, 6)
    filtered = FilteredDPSGD(TRAINING, RenyiFilter(6, 3.5 * one))
    spender = least_renyi(filtered, DOMAIN, 6)
    assert spender.steps == 3
    assert 2.9 * one < spender.spent <= filtered.filter.budget
    none = FilteredDPSGD(TRAINING, RenyiFilter(6, 0.5 * one))
    assert least_renyi(none, DOMAIN, 6).spent == 0


def test_gaussian_parameters_of_full_batches():
    full = replace(TRAINING, rate=1.0)
    assert least_mu(full, DOMAIN).spent == pytest.approx(np.sqrt(10) * 0.5, rel=1e-9)
    assert least_mu(FilteredDPSGD(full, GaussianFilter(1.01)), DOMAIN).spent == pytest.approx(1.0, rel=1e-9)
    counted = replace(full, normaliser=None, count_sigma=2.0)
    assert least_mu(counted, DOMAIN).spent == pytest.approx(np.hypot(np.sqrt(10) * 0.5, 0.5), rel=1e-9)
    assert least_mu(TRAINING, DOMAIN) is None


def test_where_nothing_is_known():
    assert least_renyi(replace(TRAINING, observer="final"), DOMAIN, 6) is None
    assert least_renyi(TRAINING, Domain(2, np.inf, 1.0), 6) is None
    assert least_renyi(Misstated(TRAINING, TRAINING), DOMAIN, 6) is None
