"""Several canaries: the bound is valid whatever they are, and reaches further than one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.training.canary import GradientCanary, audit_canary
from audits.training.many_canaries import _scores, audit_canaries
from mechanisms import DPSGD, Dataset, Direction, GaussianProfile, NeighbouringPair
from mechanisms.broken.broken_training import HalfNoise
from verify.calibration.series.training_series import CANARY, DELTA, MANY, NOBODY_WIDE, STEPS, Diverging, stated_epsilon

KEY = StreamKey(20261122, ("many canaries",))
ROWS, FAR = np.eye(MANY), np.full(MANY, 100.0)


def low(training: DPSGD, n_runs: int, delta: float, rows: np.ndarray = ROWS, **more: object) -> float:
    found = audit_canaries(
        training, NOBODY_WIDE, rows, FAR[: len(rows)], Budget(n_runs, 1e-3, KEY), delta=delta, **more
    )
    assert found.direction is Direction.BACKWARD
    assert found.estimate.n_draws == n_runs
    return found.estimate.low


def test_the_score_of_a_run_is_the_largest_or_minus_infinity() -> None:
    """Run by run: with a canary its own score where it is the largest, without one the largest."""
    pairs = [NeighbouringPair.add(NOBODY_WIDE, row, 100.0) for row in ROWS]
    for canary in (None, 2):
        found = _scores(STEPS, STEPS, pairs, canary, 40, np.random.default_rng(1))
        dataset = NOBODY_WIDE if canary is None else pairs[canary].second
        outputs = STEPS.draw(dataset, 40, rng=np.random.default_rng(1))
        for i in range(40):
            each = [-float(GradientCanary(STEPS, pair)(outputs[i : i + 1])[0]) for pair in pairs]
            best = max(each)
            expected = best if canary is None or each.index(best) == canary else -np.inf
            assert found[i] == pytest.approx(expected)


def test_at_rate_1_the_bound_is_below_the_truth_and_above_that_of_one_canary() -> None:
    training, truth = replace(STEPS, rate=1.0), GaussianProfile(2.0).epsilon_at(1e-3)
    one = audit_canary(training, CANARY, Budget(10_000, 1e-3, KEY), delta=1e-3).estimate.low
    assert one < low(training, 10_000, 1e-3) <= truth


def test_one_canary_alone_and_canaries_that_are_alike_give_valid_bounds() -> None:
    stated = stated_epsilon(STEPS, DELTA)
    assert 0.7 * stated < low(STEPS, 10_000, DELTA, ROWS[:1]) <= stated
    assert low(STEPS, 10_000, DELTA, np.tile(ROWS[0], (MANY, 1))) <= stated


def test_half_the_noise_is_refuted_and_more_noise_is_not() -> None:
    stated = stated_epsilon(STEPS, DELTA)
    assert low(STEPS, 10_000, DELTA, drawn=HalfNoise(**vars(STEPS))) > stated
    noisy = replace(STEPS, sigma=2 * STEPS.sigma)
    assert low(STEPS, 10_000, DELTA, drawn=noisy) <= stated_epsilon(noisy, DELTA)


def test_other_records_cost_power_and_not_validity() -> None:
    data = Dataset(np.tile(ROWS[0], (20, 1)), np.tile([100.0, -100.0], 10), 1.0, 100.0, name="along", public=True)
    found = audit_canaries(STEPS, data, ROWS, FAR, Budget(4_000, 1e-3, KEY), delta=DELTA)
    assert found.estimate.low <= stated_epsilon(STEPS, DELTA)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("share", [0.1, 0.9])
def test_a_pipeline_that_does_not_read_the_data_gives_no_bound(share: float, value: float) -> None:
    """Runs that diverge, all of whose scores are missing or infinite, are no sign of a canary."""
    wide = Dataset(np.empty((0, 50)), np.empty(0), 1.0, 100.0, name="nobody", public=True)
    stated = DPSGD("squared", 5, 0.2, 0.25, 1.0, 0.01, normaliser=1.0)
    for seed in (1, 2):
        budget = Budget(1000, 1e-3, KEY.child(str(seed)))
        drawn = Diverging(stated, share, value)
        found = audit_canaries(stated, wide, np.eye(50), np.full(50, 100.0), budget, delta=1e-3, drawn=drawn)
        assert found.estimate.low == 0


def test_bad_input_is_refused_in_one_line() -> None:
    for rows, labels in ((np.empty((0, MANY)), np.empty(0)), (ROWS[0], FAR[:1]), (ROWS, FAR[:1])):
        with pytest.raises(
            ValueError, match=r"^X and y must have shapes \(K, dim\) and \(K,\) with K at least 1, got X"
        ):
            audit_canaries(STEPS, NOBODY_WIDE, rows, labels, Budget(1000, 0.05, KEY), delta=DELTA)
    with pytest.raises(ValueError, match=r"^n_draws must be at least 100"):
        audit_canaries(STEPS, NOBODY_WIDE, ROWS, FAR, Budget(99, 0.05, KEY), delta=DELTA)
