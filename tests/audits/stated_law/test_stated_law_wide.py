"""Stated laws of outputs of many columns: true ones stand, lies are found, groups of columns move back and forth."""

from __future__ import annotations

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.stated_law.stated_law import audit_law, audit_loss, n_learning
from audits.stated_law.stated_law_columns import MOST_READ, columns_read
from audits.stated_law.stated_law_moves import Permutation, Together, Whole
from mechanisms import Dataset, NeighbouringPair

N = 150
RNG = np.random.default_rng(7)
DATA = Dataset(np.full((N, 1), 0.5), RNG.choice((-1.0, 1.0), N), 1.0, 1.0)
PAIR = NeighbouringPair.replace(DATA, 60, [0.5], -float(DATA.y[60]))


class Labels:
    """Randomised response of every label; the density states ``flipped`` for all, the draws know ``really``."""

    name = "labels"

    def __init__(self, flipped=0.27, really=0.27, at=slice(None)):
        self.flipped, self.really = flipped, np.full(N, flipped)
        self.really[at] = really

    def draw(self, dataset, n_draws, *, rng):
        return np.where(rng.random((n_draws, N)) < self.really, -dataset.y, dataset.y)

    def log_density(self, outputs, dataset):
        kept = (outputs == dataset.y).sum(axis=1)
        return kept * np.log1p(-self.flipped) + (N - kept) * np.log(self.flipped)


class Noisy:
    """Laplace noise of scale ``really`` on every response; the density states ``scale``."""

    name = "noisy"

    def __init__(self, scale=2.0, really=2.0, at=slice(None)):
        self.scale, self.really = scale, np.full(N, scale)
        self.really[at] = really

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y + self.really * rng.laplace(size=(n_draws, N))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs - dataset.y).sum(axis=1) / self.scale - N * np.log(2 * self.scale)


def budget(seed, n_draws=2_000, failure_prob=1e-4):
    return Budget(n_draws, failure_prob, StreamKey(seed))


@pytest.mark.parametrize("kind", [Labels, Noisy])
def test_true_laws_of_many_columns_stand(kind):
    """Null: the draws follow the density; level 1e-4 each."""
    for seed in range(3):
        assert not audit_law(kind(), DATA, budget(seed)).refuted
        assert not audit_loss(kind(), PAIR, budget(seed, 4_000)).refuted


@pytest.mark.parametrize("lie", [Labels(0.27, 0.2), Noisy(2.0, 1.8)])
def test_noise_below_the_stated_in_every_column_is_found(lie):
    assert audit_law(lie, DATA, budget(1)).refuted


@pytest.mark.parametrize("lie", [Labels(0.27, 0.1, 60), Noisy(2.0, 0.5, 60)])
def test_noise_below_the_stated_in_the_one_column_that_differs_is_found(lie):
    assert audit_loss(lie, PAIR, budget(1, 8_000)).refuted


def test_groups_of_columns_move_there_and_back():
    rng = np.random.default_rng(2)
    values = np.array([-2.0, 0.0, 1.5])
    points = np.column_stack([rng.choice([*values, 9.0], 200), rng.integers(0, 6, 200), rng.standard_normal(200)])
    points[:, 1] += 0.5 * (rng.random(200) < 0.3)
    move = Together("both", (Permutation("", 0, tuple(values), 1), Whole("", 1, 0.0, 5.0, 2.0)))
    ahead = move(points)
    back = move(ahead.points, back=True)
    assert np.array_equal(back.points, points)
    assert np.array_equal(back.movable, ahead.movable)
    assert np.array_equal(ahead.movable, np.isin(points[:, 0], values) | (points[:, 1] == np.rint(points[:, 1])))
    assert np.array_equal(ahead.points[:, 2], points[:, 2])
    assert not (ahead.points[ahead.movable] == points[ahead.movable]).all(axis=1).any()


def test_fewer_draws_are_learned_from_where_outputs_are_wide():
    assert n_learning(20_000) == n_learning(20_000, 10) == 5_000
    assert n_learning(20_000, 60) == 1_000
    assert n_learning(20_000, 10_000) == 500
    assert n_learning(400, 10_000) == 100


def test_some_columns_are_read_of_very_many():
    assert columns_read(7) == list(range(7))
    assert columns_read(MOST_READ) == list(range(MOST_READ))
    read = columns_read(10_000)
    assert len(read) == MOST_READ
    assert (read[0], read[-1]) == (0, 9_999)
