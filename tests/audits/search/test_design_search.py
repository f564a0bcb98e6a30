"""The search over designs: always the same, inside the public domain, climbing where there is something to climb."""

import math

import numpy as np
import pytest

from audits.search.design_search import MOST, PairSearch, search_designs
from audits.search.pair_designs import PATTERN, RESPONSES, ROOT, ROWS, TARGETS, PairDesign
from audits.search.pairs import PublicDomain, design_pair
from mechanisms.data.neighbours import Relation


def rng(seed=1):
    return np.random.default_rng(seed)


def moved(named):
    """How far the sum of x*y moves, in units of the bounds: at most 1 in a domain whose bounds are 1."""
    first, second = (each.X.T @ each.y for each in (named.pair.first, named.pair.second))
    return float(np.linalg.norm(first - second))


def found(domain, value=moved, relation=Relation.ADD, **more):
    return search_designs(value, PairSearch(domain, relation, **({"units": 200} | more)), rng())


DOMAINS = {
    "plain": (PublicDomain(2, 1.0, 1.0), {}),
    "one feature": (PublicDomain(1, 2.0, 0.5), {}),
    "labels alone": (PublicDomain(3, 1.0, 5.0), {"labels": True}),
    "no bounds": (PublicDomain(2, math.inf, math.inf), {}),
    "from 40 to 60 records": (PublicDomain(2, 1.0, 1.0, 40, 60), {}),
    "two sizes alone": (PublicDomain(2, 1.0, 1.0, 9, 10), {}),
    "wide": (PublicDomain(50, 1.0, 1.0), {}),
    "groups": (PublicDomain(2, 1.0, 1.0), {"group": 3}),
}


@pytest.mark.parametrize("relation", [Relation.ADD, Relation.REPLACE])
@pytest.mark.parametrize("name", DOMAINS)
def test_every_pair_that_is_looked_at_lies_in_the_domain(name, relation):
    domain, more = DOMAINS[name]
    group, seen = more.get("group", 1), []

    def value(named):
        seen.append(named.name)
        first, second = named.pair.first, named.pair.second
        assert domain.contains(first)
        assert domain.contains(second)
        assert abs(first.n_records - second.n_records) == (0 if relation is Relation.REPLACE else group)
        assert max(first.n_records, second.n_records) <= MOST + group + 1
        if more.get("labels"):
            assert set(np.concatenate([first.y, second.y])) <= {-1.0, 1.0}
        return float(np.random.default_rng(len(seen)).random())  # as hilly as can be

    pairs = found(domain, value, relation, **more)
    assert len(pairs) == 4
    assert len(seen) == len(set(seen)) > 30  # no pair is looked at twice


def test_the_same_search_finds_the_same_pairs_and_another_seed_others():
    domain = PublicDomain(2, 1.0, 1.0)
    search = PairSearch(domain, Relation.ADD, units=200)
    one, again, other = (search_designs(moved, search, rng(seed)) for seed in (1, 1, 2))
    assert [pair.named.name for pair in one] == [pair.named.name for pair in again]
    assert [pair.named.pair.first.digest for pair in one] == [pair.named.pair.first.digest for pair in again]
    assert [pair.design for pair in one] != [pair.design for pair in other]


def test_the_largest_move_of_an_honest_sum_is_found_and_none_beyond():
    pairs = found(PublicDomain(2, 1.0, 1.0))
    assert pairs[0].value == pytest.approx(1.0, abs=1e-9)
    assert max(pair.value for pair in pairs) <= 1.0 + 1e-9
    kinds = [PATTERN if pair.design.responses == PATTERN else (pair.design.rows, pair.design.target) for pair in pairs]
    assert len(set(kinds)) == len(kinds) == 4


def test_of_pairs_that_are_equally_bad_the_smaller_one_is_taken():
    assert found(PublicDomain(2, 1.0, 1.0), lambda named: 1.0)[0].design.n <= 3


def test_two_changes_are_found_where_one_of_them_shows_nothing():
    """Ridge at 1: rows of 1/sqrt(n) and many of them; with rows of any usual length it moves by at most 1/2."""

    def ridge(named):
        ends = [
            np.linalg.solve(each.X.T @ each.X + np.eye(each.dim), each.X.T @ each.y)
            for each in (named.pair.first, named.pair.second)
        ]
        return float(np.linalg.norm(ends[0] - ends[1]))

    pairs = found(PublicDomain(2, 1.0, 1.0), ridge, units=1_500)
    assert pairs[0].value > 2  # (sqrt(n) - 1)/3 and more, without end
    assert pairs[0].design.n >= 100


@pytest.mark.parametrize("size", [23, 137, 2_000, 3_333])
def test_a_size_from_which_pairs_are_told_apart_otherwise_is_found_by_halves(size):
    """The one pair whose data sets lie on either side of it is worth more than any other; its size is on no list."""

    def value(named):
        sizes = sorted(each.n_records for each in (named.pair.first, named.pair.second))
        return 3.0 if sizes == [size - 1, size] else 1.0 if sizes[0] >= size else 0.5

    assert found(PublicDomain(2, 1.0, 1.0), value, units=1_500)[0].value == 3.0


def test_a_few_records_may_differ_from_the_others():
    design = PairDesign(100, "rows alike", "responses alike", "the zero record", few=0.05)
    named = design_pair(PublicDomain(2, 1.0, 1.0), design, Relation.ADD)
    assert np.array_equal(named.pair.first.y, np.repeat([1.0, -1.0], [95, 5]))
    assert "100 of them, the last 5 with the opposite response" in named.name


def test_nan_is_the_least_and_infinity_the_most():
    values = iter(range(10_000))
    pairs = found(PublicDomain(2, 1.0, 1.0), lambda named: math.inf if next(values) == 50 else math.nan)
    assert [pair.value for pair in pairs] == [math.inf]


def test_an_evaluation_with_many_records_costs_more():
    looked = []
    found(PublicDomain(2, 1.0, 1.0, 5_000), lambda named: looked.append(named) or 1.0)
    assert 20 <= len(looked) <= 200 / 6
    assert found(PublicDomain(2, 1.0, 1.0, 10**7)) == ()  # a pair is dearer than the whole search
    assert found(PublicDomain(2, 1.0, 1.0, 9, 9)) == ()  # there is no pair


def test_every_word_of_the_tables_is_a_design_in_the_domain():
    domain = PublicDomain(2, 1.0, 1.0)
    for n in (0, 1, 2, 7):
        for rows in ROWS:
            for responses in (*RESPONSES, PATTERN):
                for target in TARGETS:
                    design = PairDesign(n, rows, responses, target, length=ROOT, target_length=0.5, pattern=5)
                    named = design_pair(domain, design, Relation.ADD)
                    assert named is not None
                    assert domain.contains(named.pair.second)
                    assert named.pair.first.n_records == n


def test_lengths_levels_and_answers_are_what_they_are_called():
    design = PairDesign(4, "rows alike", "responses alike", "one more copy of the first record", length=ROOT, level=0.5)
    pair = design_pair(PublicDomain(2, 3.0, 8.0), design, Relation.ADD).pair
    assert np.allclose(np.linalg.norm(pair.second.X, axis=1), 3.0 / 2)
    assert np.array_equal(pair.second.y, np.full(5, 4.0))
    design = PairDesign(
        2, "rows alike", "responses alike", "the zero record", target_length=0.1, target_response=-0.5, old_response=1.0
    )
    named = design_pair(PublicDomain(1, 1.0, 1.0), design, Relation.REPLACE)
    assert float(named.pair.y) == -0.5
    assert abs(float(named.pair.x[0])) == pytest.approx(0.1)
    assert "its length made 0.1, its response made -0.5" in named.name
