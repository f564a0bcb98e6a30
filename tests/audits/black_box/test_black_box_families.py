"""Outputs of many columns: true claims stand, one record's own column is found, and so is what lies in all of them."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.audits.black_box_bank import PAIR
from scipy import stats

from audits import Budget, StreamKey, point_claim
from audits.black_box import black_box_families
from audits.black_box.black_box_audit import black_box_audit
from audits.black_box.black_box_families import MANY_DIGITS, fit_digits, n_digits, significant_bits
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
from audits.search import NamedPair
from audits.sequential import audit_sparingly
from mechanisms import Dataset, NeighbouringPair

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


ONE = Dataset(np.ones((1, 1)), np.ones(1), 1.0, 128.0, name="one", public=True)
ADDED = NeighbouringPair.add(ONE, [1.0], 99.0)
#: Noise for sums of 1 and of 100, and claims that it keeps: Laplace of scale 99; Gaussian, (2, delta) of mu = 1.
NOISES = {
    "laplace": (lambda rng, n: rng.laplace(size=n).astype(np.float32), point_claim(1.0, 0.0)),
    "normal": (lambda rng, n: rng.standard_normal(n, dtype=np.float32), point_claim(2.0, 0.021)),
}


class SinglePrecision:
    """A sum with noise, all in single precision; ``after`` is given the sum and the outputs."""

    name = "single precision"

    def __init__(self, noise, after=lambda total, outputs: outputs):
        self.noise, self.after = noise, after

    def draw(self, dataset, n_draws, *, rng):
        total = np.float32(dataset.y.sum())
        outputs = self.after(total, total + np.float32(99) * self.noise(rng, n_draws))
        assert outputs.dtype == np.float32
        return outputs.astype(np.float64)[:, None]


def own_grid(total, outputs):
    """Multiples of 1/8 where the sum is large, of 1/16 where it is small."""
    per_one = np.float32(8 if total > 50 else 16)
    return np.rint(outputs * per_one) / per_one


def sparing(mechanism, claim, seed, n_draws=400):
    return audit_sparingly(mechanism, [NamedPair("99 more", ADDED)], claim, Budget(n_draws, 1e-4, StreamKey(seed)))


def batch(mechanism, claim, seed, n_draws=4_000):
    return black_box_audit(mechanism, ADDED, claim.black_box(), Budget(n_draws, 1e-3, StreamKey(seed)))


@pytest.mark.parametrize("audit", [sparing, batch])
@pytest.mark.parametrize("name", NOISES)
def test_right_noise_in_single_precision_is_not_refuted(name, audit):
    """Null on the real line; 3 audits at levels of 1e-4 and 1e-3."""
    noise, claim = NOISES[name]
    assert not any(audit(SinglePrecision(noise), claim, seed).outcome.name == "REFUTED" for seed in range(3))


@pytest.mark.parametrize("name", NOISES)
def test_as_if_in_double_precision_its_last_bits_would_refute(name, monkeypatch):
    """Mutant: the shorter formats are not known."""
    monkeypatch.setattr(black_box_families, "SHORTER", ())
    noise, claim = NOISES[name]
    found = batch(SinglePrecision(noise), claim, 0)
    assert found.outcome.name == "REFUTED"
    assert "number of binary digits" in found.claim_test.event


@pytest.mark.parametrize("audit", [sparing, batch])
@pytest.mark.parametrize("name", NOISES)
def test_a_coarse_grid_of_the_data_is_found_in_single_precision(name, audit):
    noise, claim = NOISES[name]
    assert audit(SinglePrecision(noise, own_grid), claim, 0, 4_000).outcome.name == "REFUTED"


def rounded(values, bits):
    mantissas, exponents = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissas, bits)), exponents - bits)


@pytest.mark.parametrize("seed", range(5))
def test_formats_are_told_from_grids_of_fixed_width(seed):
    values = 100 + 99 * np.random.default_rng(seed).laplace(size=2_000)
    single = values.astype(np.float32).astype(np.float64)
    assert significant_bits(values) == significant_bits(np.r_[single, 0.1]) == 53
    assert significant_bits(np.r_[single, np.nan, np.inf, 0.0]) == 24
    assert significant_bits(values.astype(np.float16).astype(np.float64)) == 11
    assert significant_bits(rounded(values, 8)) == 8
    for digits in range(-4, 24):
        grid = 2.0**-digits
        assert significant_bits(np.rint(values / grid) * grid) == 53
        assert significant_bits(np.r_[np.rint(values / grid), 2 * np.rint(0.5 * values / grid)] * grid) == 53


def test_what_values_of_one_binade_or_none_are():
    assert [significant_bits(np.array(v)) for v in ([], [np.nan], [0.0], [7.0, 5.0, 0.5])] == [53] * 4
    inside = np.random.default_rng(1).uniform(512, 1023, 500).astype(np.float32)
    assert significant_bits(inside.astype(np.float64)) == 53


def test_digits_that_rounding_reaches_are_not_read():
    values = np.array([0.0, 0.5, 3.0, float(np.float32(0.1)), 100.25, np.nan])
    assert n_digits(values, 2, 24).tolist() == [0, 1, 0, MANY_DIGITS, MANY_DIGITS, -1]
    assert n_digits(values, 10, 24).tolist() == [0, 1, 0, 1, MANY_DIGITS, -1]


def test_each_column_has_a_format_of_its_own():
    rng = np.random.default_rng(2)
    noise = (100 + 99 * rng.laplace(size=(2, 500, 1)).astype(np.float32)).astype(np.float64)
    grids = [np.rint(rng.laplace(size=(500, 1)) * by) / by for by in (8, 16)]
    score = fit_digits(2, *(np.hstack(pair) for pair in zip(noise, grids, strict=True)))
    assert score.name == "number of binary digits, column 2"
