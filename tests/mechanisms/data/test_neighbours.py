"""Neighbouring pairs: derived members, relations, and pairs that cannot be built."""

import numpy as np
import pytest

from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation, UnsupportedRelation, same_pair, target_in_data

X = np.array([[0.6, 0.8], [0.0, 0.5], [0.1, -0.1]])
Y = np.array([1.0, -0.5, 0.0])


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
    assert [target_in_data(pair) for pair in (add, remove, replace)] == [False, True, False]


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
