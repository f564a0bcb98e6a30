"""Data sets: their rules, what the error messages may say, and the record-wise steps."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rows import for_each

from mechanisms import LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.data.dataset import (
    ColumnScale,
    ColumnShiftScale,
    DataError,
    Dataset,
    RowClip,
    UnitRows,
    as_row,
    build_dataset,
    row_norms,
    z_score,
)
from mechanisms.data.neighbours import NeighbouringPair, Relation, UnsupportedRelation, same_pair
from mechanisms.linear.ridge import ridge_fit
from mechanisms.numerics.spectra import GramSpectrum
from mechanisms.records.leverage import record_quantities
from mechanisms.records.record_laws import record_laws

X = np.array([[0.6, 0.8], [0.0, 0.5], [0.1, -0.1]])
Y = np.array([1.0, -0.5, 0.0])


def test_shapes_bounds_and_immutability() -> None:
    dataset = Dataset(X, Y, 1.0, 1.0)
    assert (dataset.n_records, dataset.dim) == (3, 2)
    with pytest.raises(ValueError, match="read-only"):
        dataset.X[0, 0] = 2.0
    source = X.copy()
    copied = Dataset(source, Y, 1.0, 1.0)
    source[0, 0] = 99.0
    assert copied.X[0, 0] == 0.6


@for_each(
    ("features", "response", "x_bound", "y_bound", "message"),
    [
        (X[0], Y, 1, 1, "X must have 2 axes"),
        (np.zeros((3, 0)), Y, 1, 1, "at least one feature"),
        (X, Y[:2], 1, 1, "y must have shape"),
        (X, Y[:, None], 1, 1, "y must have shape"),
        (np.where(X == 0.5, np.nan, X), Y, 1, 1, "non-finite value in column 1"),
        (np.where(X == 0.6, np.inf, X), Y, 1, 1, "non-finite value in column 0"),
        (X, np.array([1, np.nan, 0]), 1, 1, "non-finite value in the response"),
        (X, Y, 0.9, 1, "rows of X must have Euclidean norm at most"),
        (X, Y, 1, 0.9, "y. must be at most y_bound"),
        (X, Y, 0, 1, "x_bound must be positive"),
        (X, Y, 1, -1, "y_bound must be positive"),
        (X, Y, math.nan, 1, "x_bound must be positive"),
        ([["a", 1.0]], [0.0], 1, 1, "X must be an array of numbers"),
        ([[1.0], [1.0, 2.0]], [0.0, 0.0], 1, 1, "X must be an array of numbers"),
        (X, ["secret", "b", "c"], 1, 1, "y must be an array of numbers"),
    ],
)
def test_rules(features: object, response: object, x_bound: float, y_bound: float, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Dataset(features, response, x_bound, y_bound)


def test_messages_never_quote_a_cell() -> None:
    cases = [
        lambda: Dataset(np.array([[4242.0]]), np.zeros(1), 1.0, 1.0),
        lambda: Dataset(np.zeros((1, 1)), np.array([4242.0]), 1.0, 1.0),
        lambda: Dataset(np.array([["4242x"]]), np.zeros(1), 1.0, 1.0),
        lambda: build_dataset([["4242x"]], [0.0], x_bound=1, y_bound=1),
        lambda: as_row(["4242x"], 1),
    ]
    for case in cases:
        with pytest.raises(DataError) as caught:
            case()
        assert "4242" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert "\n" not in str(caught.value)


def test_rounding_alone_is_forgiven_and_more_is_not() -> None:
    assert Dataset(X * (1 + 1e-14), Y, 1.0, 1.0).n_records == 3
    with pytest.raises(DataError, match="norm at most"):
        Dataset(X * (1 + 1e-10), Y, 1.0, 1.0)


def test_empty_data() -> None:
    dataset = Dataset(np.zeros((0, 3)), np.zeros(0), 1.0, 1.0)
    assert dataset.n_records == 0
    assert dataset.with_record([0.0, 1.0, 0.0], 1.0).n_records == 1


def test_infinite_bounds() -> None:
    assert Dataset(1e9 * X, 1e9 * Y, math.inf, math.inf).n_records == 3


def test_with_and_without_record_are_inverse_and_keep_the_domain() -> None:
    dataset = Dataset(X, Y, 1.0, 1.0, name="n", public=True, steps=("s",))
    larger = dataset.with_record([0.1, 0.2], -1.0)
    assert (larger.name, larger.public, larger.steps, larger.x_bound) == ("n", True, ("s",), 1.0)
    assert larger.without_record(3).digest == dataset.digest
    assert larger.digest != dataset.digest
    with pytest.raises(DataError, match="norm at most"):
        dataset.with_record([1.0, 1.0], 0.0)
    with pytest.raises(DataError, match=r"x must have shape \(2,\)"):
        dataset.with_record([1.0], 0.0)
    with pytest.raises(DataError, match="x must be finite"):
        dataset.with_record([math.nan, 0.0], 0.0)
    for index in (-1, 3):
        with pytest.raises(DataError, match=r"index must be in \[0, 3\)"):
            dataset.without_record(index)


def test_digest_names_contents_and_domain_only() -> None:
    one = Dataset(X, Y, 1.0, 1.0, name="one")
    assert one.digest == Dataset(np.asfortranarray(X), list(Y), 1.0, 1.0, name="two").digest
    assert one.digest != Dataset(X, Y, 2.0, 1.0).digest
    assert one.digest != Dataset(X[::-1], Y, 1.0, 1.0).digest
    assert one != Dataset(X, Y, 1.0, 1.0, name="one")
    assert len({one, one}) == 1


def test_pickle() -> None:
    dataset = Dataset(X, Y, 1.0, 1.0)
    assert pickle.loads(pickle.dumps(dataset)).digest == dataset.digest


@for_each("scale", [1e-300, 1e-160, 1e-20, 1.0, 1e20, 1e160, 1e300])
def test_row_norms_do_not_overflow(scale: float) -> None:
    assert row_norms(scale * np.array([[3.0, 4.0]]))[0] == pytest.approx(5 * scale, rel=1e-14)
    assert row_norms(np.zeros((2, 3))).tolist() == [0.0, 0.0]
    assert row_norms(np.zeros((0, 3))).shape == (0,)


@settings(max_examples=60, deadline=None)
@given(rows=arrays(np.float64, (4, 3), elements=st.floats(-1e6, 1e6)), bound=st.floats(1e-3, 1e3))
def test_row_clip_brings_inside_and_is_record_wise(rows: np.ndarray, bound: float) -> None:
    clip = RowClip(bound)
    clipped = clip(rows)
    assert (row_norms(clipped) <= bound * (1 + 1e-14)).all()
    inside = row_norms(rows) <= bound
    np.testing.assert_array_equal(clipped[inside], rows[inside])
    for i in range(4):
        np.testing.assert_array_equal(clip(rows[i : i + 1])[0], clipped[i])


def test_row_clip_at_the_ends_of_its_domain() -> None:
    """An infinite bound changes nothing, a bound of 4 divides no row of zeros."""
    rows = np.array([[0.0, 0.0], [3e200, 4e200]])
    np.testing.assert_array_equal(RowClip(np.inf)(rows), rows)
    np.testing.assert_allclose(RowClip(4.0)(rows), [[0.0, 0.0], [2.4, 3.2]], rtol=1e-15)


def test_unit_rows() -> None:
    rows = UnitRows(2.0)(np.array([[3.0, 4.0], [0.0, 0.0], [1e-200, 0.0]]))
    np.testing.assert_allclose(row_norms(rows), [2.0, 0.0, 2.0], rtol=1e-14)
    with pytest.raises(DataError, match="norm must be positive"):
        UnitRows(-1.0)(X)


def test_column_steps() -> None:
    np.testing.assert_array_equal(ColumnScale((2.0, 4.0))(X), X / [2.0, 4.0])
    np.testing.assert_array_equal(ColumnShiftScale((1.0, 0.0), (2.0, 4.0))(X), (X - [1.0, 0.0]) / [2.0, 4.0])
    with pytest.raises(DataError, match="divisor must be positive"):
        ColumnScale((0.0, 1.0))(X)
    with pytest.raises(DataError, match="scale must be positive"):
        ColumnShiftScale((0.0, 0.0), (0.0, 1.0))(X)


def test_build_dataset_records_every_step_with_its_constants() -> None:
    dataset = build_dataset(
        10 * X,
        10 * Y,
        x_bound=1.0,
        y_bound=1.0,
        intercept=1.0,
        steps=[ColumnScale((10.0, 5.0, 2.0)), ColumnShiftScale((0.5, 0.0, 0.0), (1.0, 1.0, 1.0)), RowClip(1.0)],
        response_scale=5.0,
        clip_response=True,
    )
    assert dataset.steps == (
        "intercept column 1 appended",
        "features divided by the public constants 10, 5, 2",
        "features centred and scaled by the public constants (0.5, 1), (0, 1), (0, 1)",
        "rows scaled down to Euclidean norm at most 1",
        "response divided by the public constant 5",
        "response clipped to [-1, 1]",
    )
    assert dataset.dim == 3
    assert dataset.data_dependent == ()
    np.testing.assert_array_equal(dataset.y, [1.0, -1.0, 0.0])


def test_build_dataset_refuses_what_clipping_would_hide() -> None:
    with pytest.raises(DataError, match="non-finite value in the response"):
        build_dataset(X, [math.inf, 0.0, 0.0], x_bound=1, y_bound=1, clip_response=True)
    with pytest.raises(DataError, match="non-finite value in column 0"):
        build_dataset([[math.inf, 1.0]], [0.0], x_bound=1, y_bound=1, steps=[RowClip(1.0)])
    with pytest.raises(DataError, match="X must have 2 axes"):
        build_dataset([1.0], [0.0], x_bound=1, y_bound=1)
    with pytest.raises(DataError, match="response_scale must be positive"):
        build_dataset(X, Y, x_bound=1, y_bound=1, response_scale=0.0)


def test_z_score_is_recorded_as_data_dependent() -> None:
    rows = np.column_stack([X, np.full(3, 1 / 3)])
    scored = z_score(Dataset(rows, Y, 2.0, 1.0))
    np.testing.assert_allclose(scored.X.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(scored.X[:, :2].std(axis=0), 1.0)
    np.testing.assert_allclose(scored.X[:, 2], 0.0, atol=1e-15)
    assert scored.data_dependent == scored.steps
    assert len(scored.steps) == 1
    assert scored.x_bound == math.inf
    empty = z_score(Dataset(np.zeros((0, 2)), np.zeros(0), 1.0, 1.0))
    assert (empty.n_records, empty.x_bound, empty.data_dependent) == (0, np.inf, scored.data_dependent)


def test_a_norm_beyond_floating_point_is_infinite() -> None:
    """Without a warning, which is an error here."""
    norms = row_norms(np.array([[0.0, 1.3e308, 1.3e308], [0.0, 1.3e308, 0.0], [3e-200, 4e-200, 0.0]]))
    assert norms.tolist() == [np.inf, 1.3e308, pytest.approx(5e-200, rel=1e-15)]


@pytest.fixture
def dataset() -> Dataset:
    return Dataset(X, Y, 1.0, 1.0)


def pairs(dataset: Dataset) -> list[NeighbouringPair]:
    return [
        NeighbouringPair.add(dataset, [0.3, 0.3], 0.2),
        NeighbouringPair.remove(dataset, 1),
        NeighbouringPair.replace(dataset, 0, [0.3, 0.3], 0.2),
    ]


def test_members(dataset: Dataset) -> None:
    add, remove, replace = pairs(dataset)
    assert add.first is dataset
    np.testing.assert_array_equal(add.second.X[-1], [0.3, 0.3])
    np.testing.assert_array_equal(add.second.X[:-1], X)
    np.testing.assert_array_equal(remove.second.X, X[[0, 2]])
    np.testing.assert_array_equal(remove.x, X[1])
    assert remove.y == Y[1]
    np.testing.assert_array_equal(replace.second.X, [[0.3, 0.3], X[1], X[2]])
    np.testing.assert_array_equal(replace.second.y, [0.2, Y[1], Y[2]])
    assert add.second is add.second


def test_signs(dataset: Dataset) -> None:
    add, remove, replace = pairs(dataset)
    assert (add.sign, remove.sign) == (1.0, -1.0)
    with pytest.raises(UnsupportedRelation, match="REPLACE"):
        _ = replace.sign


def test_swapping_exchanges_the_members_and_twice_is_the_same_pair(dataset: Dataset) -> None:
    for pair in pairs(dataset):
        swapped = pair.swapped()
        for ours, theirs in ((pair.first, swapped.second), (pair.second, swapped.first)):
            rows = [np.sort(np.column_stack([d.X, d.y]).view("f8,f8,f8"), axis=0) for d in (ours, theirs)]
            np.testing.assert_array_equal(*rows)
        assert same_pair(swapped.swapped(), pair)
        assert not same_pair(swapped, pair)


def test_same_pair_looks_at_responses_too(dataset: Dataset) -> None:
    one, two = (NeighbouringPair.add(dataset, [0.3, 0.3], y) for y in (0.2, 0.3))
    assert not same_pair(one, two)
    other = Dataset(X, -Y, 1.0, 1.0)
    assert not same_pair(NeighbouringPair.remove(dataset, 2), NeighbouringPair.remove(other, 2))


def test_the_public_domain_binds_the_target(dataset: Dataset) -> None:
    with pytest.raises(DataError, match="norm at most"):
        NeighbouringPair.add(dataset, [1.0, 1.0], 0.0)
    with pytest.raises(DataError, match="y_bound"):
        NeighbouringPair.add(dataset, [0.1, 0.1], 2.0)
    with pytest.raises(DataError, match="y_bound"):
        NeighbouringPair.replace(dataset, 0, [0.1, 0.1], 2.0)
    with pytest.raises(DataError, match="x must have shape"):
        NeighbouringPair.add(dataset, [0.1], 0.0)


@pytest.mark.parametrize("index", [-1, 3])
def test_indices(dataset: Dataset, index: int) -> None:
    with pytest.raises(DataError, match=r"index must be in \[0, 3\)"):
        NeighbouringPair.remove(dataset, index)
    with pytest.raises(DataError, match=r"index must be in \[0, 3\)"):
        NeighbouringPair.replace(dataset, index, [0.1, 0.1], 0.0)


def test_a_pair_that_is_not_neighbouring_cannot_be_built(dataset: Dataset) -> None:
    with pytest.raises(DataError, match="must be the record at index"):
        NeighbouringPair(dataset, Relation.REMOVE, np.array([0.3, 0.3]), 0.2, 0)
    with pytest.raises(DataError, match="must be the record at index"):
        NeighbouringPair(dataset, Relation.REMOVE, X[0], 0.2, 0)
    with pytest.raises(DataError, match="index must be None for ADD"):
        NeighbouringPair(dataset, Relation.ADD, X[0], 0.2, 0)
    for relation in (Relation.REMOVE, Relation.REPLACE):
        with pytest.raises(DataError, match="index must be in"):
            NeighbouringPair(dataset, relation, X[0], 1.0)


def test_require_names_the_refused_relation(dataset: Dataset) -> None:
    replace = pairs(dataset)[2]
    replace.require(Relation.REPLACE)
    with pytest.raises(UnsupportedRelation, match="must be ADD or REMOVE, got relation=REPLACE"):
        replace.require(Relation.ADD, Relation.REMOVE)


def test_duplicates_and_the_last_record(dataset: Dataset) -> None:
    twice = NeighbouringPair.add(dataset, X[0], Y[0])
    assert twice.second.n_records == 4
    alone = Dataset(X[:1], Y[:1], 1.0, 1.0)
    assert NeighbouringPair.remove(alone, 0).second.n_records == 0
    assert NeighbouringPair.remove(alone, 0).swapped().second.digest == alone.digest


CELLS = (0.123456, -0.654321, 0.777777)
SECRET = Dataset(np.array([[CELLS[0], CELLS[1]], [0.5, 0.25]]), np.array([CELLS[2], 0.5]), 1.0, 1.0, name="clinic")
PAIRS = {
    "add": NeighbouringPair.add(SECRET, [0.314159, 0.271828], 0.161803),
    "remove": NeighbouringPair.remove(SECRET, 0),
    "replace": NeighbouringPair.replace(SECRET, 1, [0.314159, 0.271828], 0.161803),
}


def objective_terms():
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 1.0)
    labels = Dataset(SECRET.X, np.array([1.0, -1.0]), 1.0, 1.0)
    return mechanism.loss_terms(np.zeros((1, 2)), NeighbouringPair.remove(labels, 0)), mechanism.objective(labels)


HOLDERS = {
    "data set": lambda: SECRET,
    **{f"pair, {name}": lambda pair=pair: pair for name, pair in PAIRS.items()},
    "ridge fit": lambda: ridge_fit(SECRET, 1.0),
    "spectrum": lambda: GramSpectrum.of(SECRET),
    "record quantities": lambda: record_quantities(SECRET, 1.0),
    "record laws": lambda: record_laws(PosteriorSampling(1.0, 1.0), SECRET),
    "objective": objective_terms,
}


@for_each("name", HOLDERS)
@for_each("shown", [repr, str, lambda v: f"{v!r}", lambda v: repr([{"frame": v}]), lambda v: repr(pd.Series([v, v]))])
def test_no_representation_shows_a_cell(name, shown):
    text = shown(HOLDERS[name]())
    digits = [f"{abs(cell):.6f}"[2:6] for cell in (*CELLS, 0.314159, 0.271828, 0.161803)]
    assert not [digit for digit in digits if digit in text]
    assert "array(" not in text
    assert len(text) < 400


def test_a_number_of_records_is_shown_only_where_it_is_public():
    assert repr(SECRET) == "Dataset('clinic', dim=2, private)"
    public = Dataset(SECRET.X, SECRET.y, 1.0, 1.0, name="open", public=True)
    assert repr(public) == "Dataset('open', n_records=2, dim=2, public)"
    assert repr(PAIRS["remove"]) == "NeighbouringPair(REMOVE, Dataset('clinic', dim=2, private))"


def test_the_digits_that_are_looked_for_would_be_found():
    assert "1234" in repr(SECRET.X)
