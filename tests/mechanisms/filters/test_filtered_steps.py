"""Steps asked one after the other: who takes part, who pays, and that nobody overspends."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms import (
    FilteredInteraction,
    GaussianFilter,
    GradientRelease,
    GradientStep,
    LogisticLoss,
    RecordStep,
    RenyiFilter,
    StatisticsStep,
    SufficientStatistics,
)
from mechanisms.catalogue import example_data

LINEAR, LABELS = example_data(12), example_data(12, kind="labels")
STEP = StatisticsStep(SufficientStatistics(3.0, 2.0))


def gradient_step(theta: list[float]) -> GradientStep:
    return GradientStep(GradientRelease(np.array(theta), LogisticLoss(), 1.0, sigma2=1.5))


def test_distances_are_those_of_one_record_more():
    assert isinstance(STEP, RecordStep)
    mus = STEP.record_mus(LINEAR)
    for i in range(3):
        x, y = LINEAR.X[i], float(LINEAR.y[i])
        gram = np.outer(x, x)[np.triu_indices(2)]
        assert mus[i] == pytest.approx(np.hypot(np.linalg.norm(gram) / 3, np.linalg.norm(x * y) / 2))
    step = gradient_step([0.3, -0.8])
    slope = -LABELS.y / (1 + np.exp(LABELS.y * (LABELS.X @ [0.3, -0.8])))
    np.testing.assert_allclose(step.record_mus(LABELS), np.abs(slope) * np.linalg.norm(LABELS.X, axis=1) / 1.5)


@pytest.mark.parametrize("privacy_filter", [RenyiFilter(3, 0.2), GaussianFilter(0.4)])
def test_nobody_overspends_whatever_is_asked(privacy_filter):
    interaction, rng = FilteredInteraction(LABELS, privacy_filter), np.random.default_rng(4)
    unit = 1.5 if isinstance(privacy_filter, RenyiFilter) else 1.0
    mine = np.zeros(12)
    left_out = 0
    theta = [0.0, 0.0]
    for _ in range(15):
        step = gradient_step(theta)
        costs = unit * step.record_mus(LABELS) ** 2
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
    interaction = FilteredInteraction(LINEAR, GaussianFilter(0.4), spent)
    active, _ = interaction.admitted(STEP)
    assert not active[:6].any()
    answer, after = interaction.ask(STEP, rng=np.random.default_rng(8))
    kept = LINEAR.X[active]
    noise = STEP.mechanism.sigmas(2) * np.random.default_rng(8).standard_normal(5)
    mean = np.concatenate([(kept.T @ kept)[np.triu_indices(2)], kept.T @ LINEAR.y[active]])
    np.testing.assert_allclose(answer, mean + noise, atol=1e-12)
    np.testing.assert_array_equal(after.spent[:6], 0.16)


def test_what_is_private_is_not_shown():
    shown = repr(FilteredInteraction(LINEAR, GaussianFilter(0.4)))
    assert shown == "FilteredInteraction(GaussianFilter(mu=0.4), private)"
    with pytest.raises(ValueError, match="spent must have one number a record, got shape=\\(3,\\)"):
        FilteredInteraction(LINEAR, GaussianFilter(0.4), np.zeros(3))
