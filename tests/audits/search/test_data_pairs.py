"""Pairs around data at hand: its extreme records, and the edge of what a mechanism refuses."""

import math

import numpy as np
import pytest

from audits.search.data_pairs import own_data_pairs, refusal_boundary
from audits.search.pairs import PublicDomain
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import Relation

BOTH_KINDS = pytest.mark.parametrize("relation", [Relation.ADD, Relation.REPLACE])


def distance(first, second):
    """Records of the first that the second lacks, and the other way round, the smaller number first."""
    rows = [sorted(np.column_stack([d.X, d.y]).tolist()) for d in (first, second)]
    only = []
    for these, those in (rows, rows[::-1]):
        left = list(those)
        only.append(sum(1 for row in these if not (row in left and (left.remove(row) or True))))
    return tuple(sorted(only))


def data_at_hand(n=40, dim=3, x_bound=2.0, y_bound=3.0):
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n, dim))
    X *= 1.9 / np.linalg.norm(X, axis=1).max()
    y = np.clip(rng.normal(size=n), -2, 2)
    X[7], y[19] = [0.0, 0.0, 1.95], -2.9
    return Dataset(X, y, x_bound, y_bound)


def test_own_data_lose_each_of_their_extreme_records():
    data = data_at_hand()
    named = own_data_pairs(data, Relation.ADD)
    both = {each.name: each.pair for each in named}
    assert len(both) == len(named) >= 8
    target = {name: (pair.x.tolist(), pair.y) for name, pair in both.items()}
    assert any(y == -2.9 and "largest response" in name for name, (_, y) in target.items())
    assert any(x == [0.0, 0.0, 1.95] and "largest row" in name for name, (x, _) in target.items())
    assert any(x == data.X[0].tolist() and "first place" in name for name, (x, _) in target.items())
    for each in named:
        larger = each.pair.second if each.pair.relation is Relation.ADD else each.pair.first
        assert data.digest in (each.pair.first.digest, each.pair.second.digest) or larger.n_records == data.n_records
        assert distance(each.pair.first, each.pair.second) == (0, 1)
        assert "2.9" not in each.name
    assert {each.pair.relation for each in named} == {Relation.ADD, Relation.REMOVE}


def test_own_data_replace_each_extreme_record_by_the_opposite_one():
    data = data_at_hand()
    named = own_data_pairs(data, Relation.REPLACE)
    found = next(each.pair for each in named if "largest response" in each.name)
    assert (found.first.y[found.index], found.y) == (-2.9, 3.0)
    assert np.linalg.norm(found.x) == pytest.approx(2.0)
    assert all(distance(e.pair.first, e.pair.second) == (1, 1) for e in named)
    domain = PublicDomain(3, 2.0, 3.0)
    assert all(domain.contains(e.pair.second) for e in named)


def test_own_data_stay_within_the_number_of_records_and_the_labels():
    data = data_at_hand()
    assert {e.pair.relation for e in own_data_pairs(data, Relation.ADD, n_min=40)} == {Relation.ADD}
    assert all(e.pair.second.n_records < 41 for e in own_data_pairs(data, Relation.ADD, n_max=40))
    signs = Dataset(data.X, np.sign(data.y), 2.0, 3.0)
    for relation in (Relation.ADD, Relation.REPLACE):
        named = own_data_pairs(signs, relation, labels=True)
        assert all(set(np.concatenate([e.pair.first.y, e.pair.second.y])) <= {-1.0, 1.0} for e in named)


@BOTH_KINDS
@pytest.mark.parametrize("n", [0, 1, 2])
def test_own_data_without_bounds_or_hardly_any_records(n, relation):
    data = Dataset(np.zeros((n, 2)), np.zeros(n), math.inf, math.inf)
    named = own_data_pairs(data, relation)
    assert bool(named) == (n > 0 or relation is Relation.ADD)
    assert all(np.isfinite(e.pair.x).all() for e in named)


@pytest.mark.parametrize(
    ("rule", "refused", "accepted"),
    [
        (lambda d: d.n_records >= 8, 2, 40),
        (lambda d: d.n_records <= 5, 40, 3),
        (lambda d: bool((d.y < -2.5).any()), 12, 40),
        (lambda d: d.n_records % 2 == 0 and d.n_records > 3, 3, 40),
    ],
)
def test_the_edge_of_what_is_refused_is_found_in_a_few_calls(rule, refused, accepted):
    data = data_at_hand()
    calls = []

    def accepts(dataset):
        calls.append(dataset.n_records)
        return rule(dataset)

    found = refusal_boundary(accepts, prefix(data, refused), prefix(data, accepted))
    assert len(calls) <= 2 + math.ceil(math.log2(refused + accepted))
    assert not rule(found.pair.first)
    assert rule(found.pair.second)
    assert distance(found.pair.first, found.pair.second) == (0, 1)
    assert min(refused, accepted) <= min(calls)
    assert max(calls) <= max(refused, accepted)


def test_no_edge_where_the_answers_are_not_as_said():
    data = data_at_hand()
    assert refusal_boundary(lambda _: True, prefix(data, 2), data) is None
    assert refusal_boundary(lambda _: False, prefix(data, 2), data) is None
    same_size = refusal_boundary(lambda d: d.y[0] != data.y[0], data, Dataset(data.X, -data.y, 2.0, 3.0))
    assert same_size.pair.first.y[0] == data.y[0] != same_size.pair.second.y[0]
    with pytest.raises(ValueError, match="refused must be of the public domain of accepted"):
        refusal_boundary(lambda _: True, Dataset(data.X, data.y, 2.5, 3.0), data)


def prefix(data, n):
    return Dataset(data.X[:n], data.y[:n], data.x_bound, data.y_bound)
