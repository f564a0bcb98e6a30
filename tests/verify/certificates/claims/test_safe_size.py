"""Large data: nothing is copied or asked twice, and temporary arrays do not grow with the records.

What grows with the data is counted here, in calls and in bytes; seconds are measured by ``benchmarks/certify_size.py``.
"""

from __future__ import annotations

import hashlib
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from mechanisms import BOTH, DataError, Dataset, Direction, GaussianOutput, NeighbouringPair, PosteriorSampling
from mechanisms.data.dataset import FloatArray
from mechanisms.linear import sufficient_statistics
from mechanisms.linear.ridge import RidgeMap
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.records import leverage, record_laws
from mechanisms.records.record_laws import gaussian_epsilon, gaussian_epsilons, ops_epsilon, ops_epsilons
from verify.certificates.claims import record_losses

MECHANISMS = [
    GaussianOutput.isotropic(1.0, 3, RidgeMap(4.0)),
    PosteriorSampling(0.05, 4.0),
    SufficientStatistics(8.0, 8.0, 1.0),
]


def rows(n: int, seed: int = 1) -> Dataset:
    """Return linear records in the unit ball."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 3))
    y = np.clip(X @ [1.0, 0.5, -1.0] + 0.1 * rng.normal(size=n), -1, 1)
    return Dataset(X, y, 1.0, 1.0)


# --- data sets and their neighbours -----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, 7, 19])
def test_a_record_less_is_what_it_was(index: int) -> None:
    data = rows(20)
    _ = data.digest
    smaller = data.without_record(index)
    np.testing.assert_array_equal(smaller.X, np.delete(data.X, index, axis=0))
    np.testing.assert_array_equal(smaller.y, np.delete(data.y, index))
    assert (smaller.x_bound, smaller.y_bound, smaller.name, smaller.steps) == (1.0, 1.0, "data", ())
    assert not smaller.X.flags.writeable
    assert smaller.X.flags.c_contiguous
    assert smaller.digest == replace(data, X=smaller.X, y=smaller.y).digest != data.digest
    with pytest.raises(DataError, match="index must be in"):
        data.without_record(20)


def test_a_digest_is_made_of_the_records_and_bounds_when_it_is_asked_for() -> None:
    data = rows(20)
    assert "digest" not in vars(data)
    hashed = hashlib.sha256(repr((data.X.shape, 1.0, 1.0)).encode())
    hashed.update(data.X.tobytes())
    hashed.update(data.y.tobytes())
    assert data.digest == hashed.hexdigest()


def test_only_an_array_that_nobody_can_write_to_is_taken_as_it_is() -> None:
    X, y = np.ones((4, 2)) / 2, np.zeros(4)
    assert Dataset(X, y, 1.0, 1.0).X is not X
    view = X[:]
    view.setflags(write=False)
    assert Dataset(view, y, 1.0, 1.0).X is not view  # whoever holds X writes to it
    X.setflags(write=False)
    assert Dataset(X, y, 1.0, 1.0).X is X
    turned = np.asfortranarray(np.ones((4, 2)) / 2)
    turned.setflags(write=False)
    assert Dataset(turned, y, 1.0, 1.0).X.flags.c_contiguous


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_pair_makes_its_second_data_set_once(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    without = Dataset.without_record
    monkeypatch.setattr(Dataset, "without_record", lambda data, i: made.append(i) or without(data, i))
    pair = NeighbouringPair.remove(rows(50), 7)
    outputs = mechanism.draw(pair.first, 5, rng=np.random.default_rng(1))
    mechanism.privacy_loss(outputs, pair)
    mechanism.profile(pair).epsilon_at(1e-6, Direction.FORWARD)
    mechanism.draw(pair.second, 5, rng=np.random.default_rng(1))
    assert len(made) <= 1


# --- laws of all records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_blocks_give_what_one_pass_gives(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(1_500)
    whole = record_laws.batched_laws(mechanism, data)
    assert whole is not None
    literal = np.maximum(*(whole.epsilon_at(1e-6, direction) for direction in BOTH))
    monkeypatch.setattr(record_laws, "BLOCK", 256)
    monkeypatch.setattr(leverage, "_SHIFTS", 256)
    parts = record_laws.batched_laws(mechanism, data)
    assert parts is not None
    found = parts.worse_epsilon_at(1e-6)
    assert np.argmax(found) == np.argmax(literal)
    assert found.max() == literal.max()
    np.testing.assert_allclose(found, literal, rtol=0, atol=1e-3 * literal.max())


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
@pytest.mark.parametrize("close", [record_laws.INTERPOLATED, 0.0])
def test_the_largest_of_very_many_is_the_largest(delta: float, close: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leverages over twelve decades, records without one, such as are told apart; and a spline never close enough."""
    monkeypatch.setattr(record_laws, "INTERPOLATED", close)
    rng = np.random.default_rng(2)
    leverage, residual = 10 ** rng.uniform(-9, 3, 4_000), 3 * rng.normal(size=4_000)
    leverage[:3], residual[3] = [0.0, math.inf, 1e-300], 0.0
    literal = np.maximum(*(ops_epsilon(leverage, residual, delta, direction) for direction in BOTH))
    found = ops_epsilons(leverage, residual, delta, 512)
    assert np.isinf(found[1])
    ends = np.isfinite(literal)
    assert np.argmax(found[ends]) == np.argmax(literal[ends])
    assert found[ends].max() == literal[ends].max()
    np.testing.assert_allclose(found[ends], literal[ends], rtol=0, atol=1e-3 * literal[ends].max())


def test_a_wrong_surface_cannot_hide_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpolated values that are far off at records that were not tried: the largest is found all the same."""
    rng = np.random.default_rng(4)
    leverage, residual = rng.uniform(0.01, 0.02, 4_000), rng.uniform(0.1, 1.0, 4_000)
    literal = np.maximum(*(ops_epsilon(leverage, residual, 1e-6, direction) for direction in BOTH))
    lone = np.flatnonzero(literal >= 0.2 * literal.max())[:1]
    monkeypatch.setattr(
        record_laws, "_surface", lambda mu, a, delta: lambda m, r: np.where(r == residual[lone], 1.0, 1e-3)
    )
    found = ops_epsilons(leverage, residual, 1e-6, 512)
    assert found.max() == literal.max()
    assert np.argmax(found) == np.argmax(literal)


@pytest.mark.parametrize("mu", [np.full(20, 0.3), np.zeros(20), np.linspace(0, 1e-9, 20), np.geomspace(1e-9, 50, 900)])
def test_distances_of_normal_laws(mu: FloatArray) -> None:
    literal = gaussian_epsilon(mu, 1e-6)
    found = gaussian_epsilons(mu, 1e-6, 64)
    assert found.max() == literal.max()
    np.testing.assert_allclose(found, literal, rtol=0, atol=1e-3 * literal.max())


@pytest.mark.parametrize("leverage", [np.zeros(20), np.full(20, 0.3), np.full(20, math.inf)])
def test_nothing_to_tabulate_is_no_obstacle(leverage: FloatArray) -> None:
    literal = np.maximum(*(ops_epsilon(leverage, np.ones(20), 1e-6, direction) for direction in BOTH))
    np.testing.assert_allclose(ops_epsilons(leverage, np.ones(20), 1e-6, 8), literal, rtol=1e-10)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_question_about_the_same_records_is_answered_once(
    mechanism: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    batched = record_laws.batched_laws
    monkeypatch.setattr(record_losses, "batched_laws", lambda m, d: asked.append(1) or batched(m, d))
    data = rows(40)
    first = record_losses.record_epsilons(mechanism, data, 1e-6)
    again = record_losses.record_epsilons(mechanism, data, 1e-6)
    assert first is again
    assert first is not None
    assert not first.flags.writeable
    other = record_losses.record_epsilons(mechanism, data, 1e-5)
    assert other is not None
    assert not np.array_equal(first, other)
    record_losses.record_epsilons(mechanism, rows(40), 1e-6)  # equal records, another data set
    assert len(asked) == 3


def peak(work: Callable[[], object]) -> int:
    """Return the bytes that a computation held at its height, beyond what was there before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_temporary_arrays_do_not_grow_with_the_data(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many records take a few numbers a record more, however many a block's temporaries are."""
    monkeypatch.setattr(record_laws, "BLOCK", 1_024)
    monkeypatch.setattr(leverage, "_SHIFTS", 1_024)
    small, large = rows(10_000), rows(20_000)
    record_losses.record_epsilons(mechanism, rows(3_000), 1e-6)  # what is made once for all
    used = [peak(partial(record_losses.record_epsilons, mechanism, data, 1e-6)) for data in (small, large)]
    numbers = (used[1] - used[0]) / 8 / 10_000
    assert numbers <= 3 * (small.dim + 1)


def test_a_pass_over_records_of_many_features_makes_no_matrix_for_each_of_many() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (20_000, 60)) / 60
    data = Dataset(X, rng.uniform(-1, 1, 20_000), 1.0, 1.0)
    mechanism = SufficientStatistics(8.0, 8.0, 1.0)
    output = mechanism.mean(data)
    used = peak(lambda: record_losses.ex_post_losses(mechanism, output, data))
    assert used <= 16 * sufficient_statistics.FLOATS * 8 / 4 + 8 * X.size
