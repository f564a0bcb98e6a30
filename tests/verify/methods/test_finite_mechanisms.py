"""Finite mechanisms by hand, and a search that finds what is known."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits import Budget, StreamKey
from mechanisms.laws.finite_laws import check_law, hockey_stick
from verify.kernel.box_search import Axis, Point
from verify.kernel.verdict import Outcome, judge
from verify.methods import finite_mechanisms
from verify.methods.finite_mechanisms import (
    expectations,
    largest_delta,
    mechanism,
    pair_factor,
    population,
    random_law,
    rational,
    shifted,
    two_outputs,
    worst_ratio,
)


def test_laws_by_hand() -> None:
    assert population("rare last", 3) == (F(63, 128), F(63, 128), F(1, 64))
    assert shifted(population("uniform", 2)) == (F(1, 64), F(63, 64))
    assert mechanism("tells a record", 2, 2).law((0, 1)) == (F(1, 2), F(1, 2))
    assert mechanism("tells a record half of the time", 2, 1).law((1,)) == (F(1, 4), F(3, 4))
    assert mechanism("tells a record, else the first symbol", 2, 1).law(()) == (1, 0)


@given(st.integers(1, 9), st.integers(0, 1000))
def test_random_laws_are_laws(n_outputs: int, seed: int) -> None:
    law = random_law(n_outputs, seed)
    assert sum(law) == 1
    assert len(law) == n_outputs
    assert all(p >= 0 for p in law)
    assert all(random_law(n_outputs, seed, zeros=False))


def test_factors_and_means_by_hand() -> None:
    """A coin told half of the time: (1/2, 1/2) without a record, (1/4, 3/4) with one."""
    made = mechanism("tells a record half of the time", 2, 1)
    assert pair_factor(made, (), 0, "pure") == 2
    assert pair_factor(made, (), 0, "5/4") == F(5, 4)
    law = check_law([F(1, 2), F(1, 2)])
    assert list(expectations(made, law, law, 0, "1")) == [(1, 1, 1, F(1, 4))]
    assert largest_delta(made, law, 0, "1") == F(1, 4)


@pytest.mark.parametrize(("slope", "outcome"), [(F(1, 2), Outcome.HOLDS), (F(3), Outcome.FAILS)])
def test_search_of_a_box(slope: F, outcome: Outcome) -> None:
    """value slope p against the bound p: the ratio is the slope everywhere, the point is on the grid of 1/4096."""

    def sides(point: Point) -> tuple[F, F]:
        p = rational(point["p"])
        return slope * p / 4, p / 4

    budget = Budget(1, 1e-9, StreamKey(1))
    found = worst_ratio("a share", {"p": Axis(0.25, 1.0, log=False)}, sides, budget)
    assert judge(found)[0] is outcome
    assert 0.25 <= found.found["p"] <= 1.0


def test_searched_mechanisms_are_those_of_the_point() -> None:
    point = dict.fromkeys(finite_mechanisms.SEARCH_BOX, 0.25)
    made, law, rule = finite_mechanisms.searched_mechanism(point)
    assert made.law((0, 1)) == (F(3, 4), F(1, 4))
    assert law == (F(3, 4), F(1, 4))
    assert F(rule) == F(5, 4)
    assert hockey_stick(two_outputs(F(1, 2)), two_outputs(F(1, 4)), F(1)) == F(1, 4)
