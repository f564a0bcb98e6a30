"""The final model alone: its ideal law is exact, audits of it stay below it, and below the accountant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audits.training_scores import final_model_delta
from rows import for_each
from scipy import stats

from audits import Budget, StreamKey
from audits.training import final_model_epsilon
from audits.training.final_model import FinalModelProfile, FinalModelScore, audit_final_model, final_model_canary
from mechanisms import BOTH, DPSGD, Direction, GaussianProfile, NeighbouringPair, Relation, UnsupportedRelation
from mechanisms.accounting.subsampled_gaussian import SubsampledGaussianProfile
from verify.calibration.series.training_series import CANARY, DELTA, STEPS, stated_epsilon

KEY = StreamKey(20261122, ("final model",))
FINAL = replace(STEPS, observer="final")


@given(st.floats(0.01, 1.0), st.floats(0.05, 3.0), st.integers(1, 6), st.floats(-2.0, 4.0), st.sampled_from(BOTH))
def test_delta_is_that_of_a_sum_over_the_line(
    rate: float, mu: float, n_steps: int, epsilon: float, direction: Direction
) -> None:
    bracket = FinalModelProfile(rate, mu, n_steps).delta_bracket(epsilon, direction)
    assert bracket.high - bracket.low <= 1e-12
    slow = final_model_delta(rate, mu, n_steps, epsilon, direction)
    assert bracket.low - 1e-6 <= slow <= bracket.high + 1e-6


@for_each("direction", BOTH)
def test_one_step_and_full_batch_are_laws_that_are_known(direction: Direction) -> None:
    one, full = FinalModelProfile(0.2, 1.5, 1), FinalModelProfile(1.0, 0.25, 9)
    known = SubsampledGaussianProfile(0.2, 1.5, Relation.ADD), GaussianProfile(0.75)
    for ours, theirs in zip((one, full), known, strict=True):
        for epsilon in (-0.5, 0.0, 0.1, 1.0, 3.0):
            for name in ("delta_bracket", "tail_bracket"):
                a, b = (getattr(law, name)(epsilon, direction) for law in (ours, theirs))
                assert a.low <= b.high
                assert b.low <= a.high
        a, b = (law.epsilon_bracket(1e-4, direction) for law in (ours, theirs))
        assert a.low <= b.high
        assert b.low <= a.high


def test_ends_of_the_loss() -> None:
    """Without the canary the loss is at most that of no step at all; with it, at least minus that."""
    law, largest = FinalModelProfile(0.5, 1.0, 2), 2 * np.log(2)
    assert law.epsilon_at(0.0, Direction.FORWARD) == pytest.approx(largest)
    assert law.epsilon_at(0.0, Direction.BACKWARD) == np.inf
    assert law.delta_at(largest + 1e-9, Direction.FORWARD) == 0.0
    assert law.tail_at(largest + 1e-9, Direction.FORWARD) == 0.0
    assert law.tail_at(-largest - 1e-9, Direction.BACKWARD) == 1.0
    assert law.delta_at(np.inf, Direction.BACKWARD) == 0.0
    assert law.log_delta_at(np.inf, Direction.BACKWARD) == -np.inf
    assert law.epsilon_at(1.0, Direction.FORWARD) == 0.0


def test_the_ceiling_of_the_findings() -> None:
    """The published figure 2.44 (and 5.05 at sigma .6) of the issue's prototype, here between two proved ends."""
    found = final_model_epsilon(0.05, 1.0, 100, 1e-5)
    assert found.exact
    assert found.high - found.low < 1e-9
    assert found.low < 2.4394256928048 < found.high
    assert final_model_epsilon(0.05, 1 / 0.6, 100, 1e-5).value == pytest.approx(5.0493, abs=1e-4)


def test_the_final_model_tells_less_than_the_transcript() -> None:
    assert final_model_epsilon(0.5, 1.0, 4, DELTA).high < stated_epsilon(STEPS, DELTA)


@for_each("training", [STEPS, FINAL])
def test_the_law_is_that_of_a_training(training: DPSGD) -> None:
    """Null: the model along the canary, in its own units, has the law of the profile; 3,000 draws, level 1e-6."""
    scored = final_model_canary(training, CANARY)
    unit = STEPS.step_size / STEPS.normaliser * STEPS.sigma * np.sqrt(STEPS.n_steps) * STEPS.clip
    law = FinalModelProfile(STEPS.rate, STEPS.clip / STEPS.sigma, STEPS.n_steps)
    steps = np.arange(law.n_steps + 1)
    shifts, weights = steps * law.mu / np.sqrt(law.n_steps), stats.binom.pmf(steps, law.n_steps, law.rate)
    for dataset, cdf in (
        (CANARY.first, stats.norm.cdf),
        (CANARY.second, lambda x: stats.norm.cdf(np.asarray(x)[:, None] - shifts) @ weights),
    ):
        draws = -scored.draw(dataset, 3000, rng=KEY.child(str(dataset.n_records)).rng())[:, 0] / unit
        assert stats.kstest(draws, cdf).pvalue > 1e-6


def test_larger_scores_are_more_like_the_first_data_set() -> None:
    for pair in (CANARY, CANARY.swapped(), NeighbouringPair.replace(CANARY.second, 0, [1.0], -100.0)):
        score = FinalModelScore(FINAL, pair)
        first, second = (score(FINAL.draw(d, 2000, rng=KEY.rng())).mean() for d in (pair.first, pair.second))
        assert first > second


def test_bounds_reach_far_and_not_above_the_ideal() -> None:
    ideal = final_model_epsilon(STEPS.rate, 1.0, STEPS.n_steps, DELTA).high
    for pair in (CANARY, CANARY.swapped()):
        found = audit_final_model(FINAL, pair, Budget(20_000, 0.01, KEY), delta=DELTA)
        assert 0.7 * ideal < found.estimate.low <= ideal


def test_bad_input_is_refused_in_one_line() -> None:
    for arguments, words in (
        ((0.0, 1.0, 3, 0.1), "rate must be finite and positive, got rate=0.0"),
        ((1.5, 1.0, 3, 0.1), r"rate must be in \(0, 1\], got rate=1.5"),
        ((0.5, -1.0, 3, 0.1), "mu must be finite and positive, got mu=-1.0"),
        ((0.5, 1.0, 0, 0.1), "n_steps must be a whole number of at least 1, got n_steps=0"),
        ((0.5, 1.0, 3, 0.0), r"delta must be in \(0, 1\], got delta=0.0"),
    ):
        with pytest.raises(ValueError, match=f"^{words}$"):
            final_model_epsilon(*arguments)
    replaced = NeighbouringPair.replace(CANARY.second, 0, [1.0], -100.0)
    with pytest.raises(UnsupportedRelation, match=r"^relation must be ADD or REMOVE"):
        audit_final_model(FINAL, replaced, Budget(1000, 0.05, KEY), delta=0.1)
