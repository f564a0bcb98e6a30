"""Embedded and synthetic data: facts against the sources, public domains, and the laws the generators promise."""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from rows import for_each
from statsmodels import datasets

from mechanisms.data import synthetic
from mechanisms.data.dataset import DataError, row_norms
from mechanisms.data.embedded import SOURCES, load
from mechanisms.data.synthetic import Planted


@for_each("name", sorted(SOURCES))
def test_embedded_data_agree_with_their_source(name: str) -> None:
    dataset, frame, source = load(name), getattr(datasets, name).load_pandas().data, SOURCES[name]
    assert dataset.n_records == len(frame)
    assert dataset.dim == len(source.ranges) + 1
    assert dataset.public
    assert (dataset.x_bound, dataset.y_bound) == (1.0, 1.0)
    assert dataset.data_dependent == ()
    assert row_norms(dataset.X).max() <= 1 + 1e-12
    root = math.sqrt(dataset.dim)
    # undo the affine maps wherever no row was scaled down: the raw values come back
    raw = frame[list(source.ranges)].to_numpy(dtype=float)
    low, high = np.array(list(source.ranges.values()), dtype=float).T
    inside = ((raw >= low) & (raw <= high)).all(axis=1)
    assert inside.mean() > 0.99
    restored = dataset.X[inside, :-1] * root * (high - low) / 2 + (high + low) / 2
    np.testing.assert_allclose(restored, raw[inside], atol=1e-10)
    np.testing.assert_allclose(dataset.X[inside, -1], 1 / root)
    raw_response = frame[source.response].to_numpy(dtype=float)
    if source.threshold is not None:
        np.testing.assert_array_equal(dataset.y == 1.0, raw_response > source.threshold)
        assert set(np.unique(dataset.y)) == {-1.0, 1.0}
    else:
        np.testing.assert_allclose(dataset.y, np.minimum(raw_response / source.response_scale, 1.0))


@for_each("name", sorted(SOURCES))
def test_ranges_are_round_numbers_and_not_the_extremes_of_the_records(name: str) -> None:
    """A range read off the data would fit it exactly; at least one feature of each set leaves room on a side."""
    frame = getattr(datasets, name).load_pandas().data
    room = [
        low < frame[column].min() or high > frame[column].max() for column, (low, high) in SOURCES[name].ranges.items()
    ]
    assert any(room)
    assert f"response {SOURCES[name].response}" in load(name).steps[0]


def test_every_step_is_record_wise() -> None:
    """Taking half of the raw records gives half of the processed ones: nothing was read off the data."""
    dataset = load("anes96")
    frame = datasets.anes96.load_pandas().data
    source = SOURCES["anes96"]
    low, high = np.array(list(source.ranges.values()), dtype=float).T
    raw = frame[list(source.ranges)].to_numpy(dtype=float)[::2]
    by_hand = np.column_stack([(2 * raw - low - high) / (high - low), np.ones(len(raw))]) / math.sqrt(dataset.dim)
    np.testing.assert_allclose(dataset.X[::2], by_hand, atol=1e-12)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(DataError, match="name must be one of fair, randhie, anes96, got name=iris"):
        load("iris")


def test_loading_twice_gives_the_same_object() -> None:
    assert load("fair") is load("fair")


GENERATORS: list[Callable[[np.random.Generator], Planted]] = [
    lambda rng: synthetic.linear_unit_rows(200, 5, noise_sd=0.5, rng=rng),
    lambda rng: synthetic.linear_gaussian(200, rng=rng),
    lambda rng: synthetic.margin_classes(200, rng=rng),
    lambda rng: synthetic.sphere_scores(200, 5, rng=rng),
    lambda rng: synthetic.sphere_labels(200, 5, rng=rng),
]


@for_each("generator", GENERATORS)
def test_generators_are_reproducible_public_and_shaped(generator: Callable[[np.random.Generator], Planted]) -> None:
    one, two, other = (generator(np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.dataset.digest == two.dataset.digest != other.dataset.digest
    assert one.dataset.public
    assert one.theta.shape == (one.dataset.dim,)
    assert one.dataset.n_records == 200


def test_linear_unit_rows() -> None:
    planted = synthetic.linear_unit_rows(500, 7, noise_sd=0.0, rng=np.random.default_rng(3))
    np.testing.assert_allclose(row_norms(planted.dataset.X), 1.0)
    np.testing.assert_allclose(planted.dataset.y, planted.dataset.X @ planted.theta)
    noisy = synthetic.linear_unit_rows(500, 7, noise_sd=5.0, rng=np.random.default_rng(3))
    assert np.abs(noisy.dataset.y).max() == 1.0


def test_linear_gaussian_is_unbounded() -> None:
    planted = synthetic.linear_gaussian(50, rng=np.random.default_rng(3))
    assert planted.dataset.dim == 10
    assert planted.dataset.x_bound == math.inf == planted.dataset.y_bound
    assert ((planted.theta >= 0) & (planted.theta <= 1)).all()


@for_each("dim", [1, 2, 5])
def test_margin_classes(dim: int) -> None:
    """Null: the height above the margin has the stated law (DKW, 20,000 draws, level 1e-7)."""
    n_records, margin = 20_000, 0.4
    dataset = synthetic.margin_classes(n_records, dim, margin=margin, rng=np.random.default_rng(5)).dataset
    height = dataset.y * dataset.X[:, 0]
    assert height.min() >= margin
    assert row_norms(dataset.X).max() <= 1 + 1e-12
    # density of one coordinate of a uniform point of the ball: proportional to (1 - t^2)^((dim - 1)/2)
    grid = np.linspace(margin, 1, 20_001)
    density = (1 - grid**2) ** ((dim - 1) / 2)
    cdf = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2)])
    exact = np.interp(np.sort(height), grid, cdf / cdf[-1])
    empirical = np.arange(1, n_records + 1) / n_records
    assert np.abs(exact - empirical).max() <= math.sqrt(math.log(2 / 1e-7) / (2 * n_records)) + 1e-4


def test_sphere_scores_record_what_they_read_off_the_data() -> None:
    planted = synthetic.sphere_scores(300, rng=np.random.default_rng(3))
    assert (planted.dataset.y.min(), planted.dataset.y.max()) == (0.0, 1.0)
    assert len(planted.dataset.data_dependent) == 1
    order = np.argsort(planted.dataset.X @ planted.theta)
    assert all(a <= b for a, b in pairwise(planted.dataset.y[order]))


def test_sphere_labels() -> None:
    separable = synthetic.sphere_labels(300, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(separable.dataset.y, np.sign(separable.dataset.X @ separable.theta))
    noisy = synthetic.sphere_labels(300, temperature=50.0, rng=np.random.default_rng(3))
    assert (noisy.dataset.y != np.sign(noisy.dataset.X @ noisy.theta)).any()


@for_each(
    ("call", "message"),
    [
        (lambda rng: synthetic.linear_unit_rows(-1, 2, noise_sd=1, rng=rng), "n_records must be a whole number"),
        (lambda rng: synthetic.linear_unit_rows(5, 0, noise_sd=1, rng=rng), "dim must be a whole number"),
        (lambda rng: synthetic.linear_unit_rows(5, 2, noise_sd=-1, rng=rng), "noise_sd must be finite"),
        (lambda rng: synthetic.margin_classes(5, margin=1.0, rng=rng), r"margin must be in \[0, 1\)"),
        (lambda rng: synthetic.sphere_scores(1, rng=rng), "n_records must be a whole number of at least 2"),
    ],
)
def test_bad_settings(call: Callable[[np.random.Generator], Planted], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
