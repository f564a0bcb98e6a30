"""Outputs of many columns: true claims stand, one record's own column is found, and so is what lies in all of them."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.audits.black_box_bank import PAIR
from scipy import stats

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import black_box_audit
from audits.black_box.black_box_results import BlackBoxOutcome
from audits.black_box.black_box_scores import (
    REPEATING,
    TELLING,
    WIDE,
    NamedScore,
    fit_lean,
    fit_sum,
    of_columns,
    telling_columns,
)
from audits.black_box.claims import point_claim

CLAIM = point_claim(1.0, 0.0, (PAIR.relation,)).black_box()
KEEP = float(1 / (1 + np.exp(-1.0)))


class Labels:
    """Randomised response of ``width`` labels: those of the first data set are all 1, those of the second as given."""

    name = "labels"

    def __init__(self, width, other, keep=KEEP):
        self.width, self.other, self.keep = width, other, keep

    def draw(self, dataset, n_draws, *, rng):
        labels = np.ones(self.width)
        if dataset is PAIR.second:
            labels[self.other] = -1.0
        kept = rng.random((n_draws, self.width)) < self.keep
        return np.where(kept, labels, -labels)


class Numbers:
    """Normal noise of scale 1 in every column, about 0 for the first data set and about ``shift`` for the second."""

    name = "numbers"

    def __init__(self, shift):
        self.shift = np.asarray(shift)

    def draw(self, dataset, n_draws, *, rng):
        return rng.standard_normal((n_draws, len(self.shift))) + (self.shift if dataset is PAIR.second else 0.0)


def audit(mechanism, seed, n_draws=8_000, failure_prob=1e-4, claim=CLAIM):
    return black_box_audit(mechanism, PAIR, claim, Budget(n_draws, failure_prob, StreamKey(seed)))


@pytest.mark.parametrize("place", [0, 150, 299])
def test_one_column_with_too_little_noise_is_found_among_three_hundred(place):
    found = audit(Labels(300, place, keep=0.85), 1)  # epsilon is log(0.85 / 0.15) = 1.73
    assert found.outcome is BlackBoxOutcome.REFUTED
    assert found.epsilon.estimate.low < np.log(0.85 / 0.15)


def test_columns_that_each_say_little_are_found_together():
    found = audit(Numbers(np.full(400, 0.1)), 2)  # distance 2: delta(1) = 0.51
    assert found.outcome is BlackBoxOutcome.REFUTED


def test_a_parity_of_all_columns_is_found_where_nothing_else_differs():
    class Parity(Numbers):
        def draw(self, dataset, n_draws, *, rng):
            rows = rng.choice((-1.0, 1.0), (n_draws, 200))
            sign = np.where(rng.random(n_draws) < 0.9, 1.0, -1.0) * (-1.0 if dataset is PAIR.second else 1.0)
            rows[:, 199] = sign * rows[:, :199].prod(axis=1)
            return rows

    assert audit(Parity(np.zeros(200)), 3).outcome is BlackBoxOutcome.REFUTED


@pytest.mark.slow
def test_a_true_claim_stands_at_its_level():
    """Null: (1, 0) with equality at one of 65 columns; level 0.1, 16 audits of 500 draws of each data set."""
    alarms = sum(audit(Labels(65, 32), seed, 1_000, 0.1).outcome is BlackBoxOutcome.REFUTED for seed in range(16))
    assert alarms <= int(stats.binom.isf(1e-7, 16, 0.1))


def test_the_columns_that_tell_are_chosen_and_all_are_of_narrow_outputs():
    rng = np.random.default_rng(4)
    first, second = rng.standard_normal((2, 500, 200))
    second[:, 70] += 1.0
    second[:, 80] *= 2.0
    second[::10, 90] = np.nan
    second[:, 100] = np.round(second[:, 100])  # repeats, on both sides
    first[:, 100] = np.round(first[:, 100])
    columns = telling_columns(first, second)
    assert columns is not None
    assert len(columns) == len(set(columns.tolist())) == TELLING + REPEATING
    assert {70, 80, 90, 100} <= set(columns.tolist())
    assert telling_columns(first[:, :WIDE], second[:, :WIDE]) is None


@pytest.mark.quick
def test_a_score_of_chosen_columns_names_those_of_the_output():
    score = of_columns(NamedScore("the output itself", lambda rows: rows[:, 1], (1,)), np.array([7, 5]))
    assert score.name == "the output itself, column 6"
    rows = np.arange(20.0).reshape(2, 10)
    assert score(rows).tolist() == [5.0, 15.0]


def test_sums_of_all_columns_are_made_part_by_part():
    rng = np.random.default_rng(5)
    first, second = rng.standard_normal((2, 300, 90))
    rows = rng.standard_normal((20_000, 90))
    for fit in (fit_sum, fit_lean):
        score = fit(first, second + 0.2)
        together = score(rows)
        assert np.array_equal(together, np.concatenate([score(rows[:777]), score(rows[777:])]))
        assert fit(first[:, :WIDE], second[:, :WIDE]) is None
