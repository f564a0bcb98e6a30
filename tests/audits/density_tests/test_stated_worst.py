"""What worst_profile returns: our laws, an object of the user's own with ``delta_at`` alone, and what is neither."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from rows import for_each

from audits.black_box.claims import PrivacyClaim, gaussian_dp_claim, point_claim, renyi_claim, table_claim, zcdp_claim
from audits.density_tests.stated_worst import Composed, StatedCurve, inside, stated_delta, stated_worst
from mechanisms import BOTH, Bracket, Direction, GaussianProfile, LaplaceProfile, Relation


class States:
    """A mechanism that states what it is given."""

    def __init__(self, law: Any) -> None:
        self.law = law

    def worst_profile(self, x_bound: float, y_bound: float) -> Any:
        return self.law


class Plain:
    """Randomised response of ``epsilon = 1``, in one direction's words."""

    def delta_at(self, epsilon: float) -> float:
        return max(0.0, (math.e - math.exp(epsilon)) / (1 + math.e))


class Directed:
    """Another number in each direction."""

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        return 0.01 if direction is Direction.FORWARD else 0.02


class Gives:
    def __init__(self, value: Any) -> None:
        self.value = value

    def delta_at(self, epsilon: float) -> Any:
        if isinstance(self.value, Exception):
            raise self.value
        return self.value


def stated(law: Any, relation: Relation = Relation.ADD, group: int = 1, claim: PrivacyClaim | None = None) -> Any:
    return stated_worst(States(law), 1.0, 1.0, relation, group, claim=claim)


def test_delta_at_alone_is_a_statement_with_a_stated_rounding() -> None:
    worst, trouble = stated(Plain())
    assert trouble == ""
    assert isinstance(worst, StatedCurve)
    exact = (math.e - math.exp(0.3)) / (1 + math.e)
    for direction in BOTH:
        bracket = worst.delta_bracket(0.3, direction)
        assert bracket.low < exact < bracket.high
        assert bracket.high == pytest.approx(exact, rel=2e-12)
        assert worst.delta_bracket(1.5, direction) == Bracket(0.0, 0.0)
        assert worst.delta_at(0.3, direction) == exact


def test_each_direction_is_asked_for_where_it_may_be() -> None:
    worst, _ = stated(Directed())
    assert [worst.delta_at(1.0, d) for d in BOTH] == [0.01, 0.02]
    assert stated_delta(worst, 1.0, 0.5) == pytest.approx(0.02)
    assert inside(worst, point_claim(1.0, 0.015)) is False


@for_each("law", [Plain(), GaussianProfile(0.7), LaplaceProfile(0.9), Directed()])
def test_a_tight_claim_is_inside_and_one_a_millionth_below_is_not(law: Any) -> None:
    worst, _ = stated(law)
    for epsilon in (0.0, 0.1, 0.5, 0.8):
        delta = max(worst.delta_at(epsilon, d) for d in BOTH)
        assert inside(worst, point_claim(epsilon, delta)) is True
        assert stated_delta(worst, epsilon, delta) <= delta
        assert inside(worst, point_claim(epsilon, delta * (1 + 1e-6))) is True
        assert inside(worst, point_claim(epsilon, delta * (1 - 1e-6))) is False
        assert stated_delta(worst, epsilon, delta * (1 - 1e-6)) > delta * (1 - 1e-6)


def test_a_delta_of_0_is_claimed_where_it_is_stated() -> None:
    worst, _ = stated(Plain())
    assert inside(worst, point_claim(1.0, 0.0)) is True
    assert inside(worst, point_claim(0.999, 0.0)) is False


def test_claims_of_other_forms() -> None:
    """A table is decided at its points; a curve where its largest pure epsilon is stated, or where it is exceeded."""
    worst, _ = stated(Plain())
    deltas = [(e, Plain().delta_at(e)) for e in (0.0, 0.5, 1.0)]
    assert inside(worst, table_claim(deltas)) is True
    assert inside(worst, table_claim([*deltas, (0.25, 0.01)])) is False
    assert inside(worst, zcdp_claim(0.5)) is True
    assert inside(worst, renyi_claim(50, 1.0)) is True
    assert inside(worst, gaussian_dp_claim(1.2330)) is True
    assert inside(worst, gaussian_dp_claim(0.5)) is False
    assert inside(worst, zcdp_claim(0.45)) is None

    class Normal:  # the numbers of a law whose form nobody can see
        def delta_at(self, epsilon: float) -> float:
            return GaussianProfile(0.5).delta_at(epsilon)

    normal, _ = stated(Normal())
    assert inside(normal, gaussian_dp_claim(0.6)) is None
    assert inside(normal, gaussian_dp_claim(0.4)) is False


@for_each(("relation", "group"), [(Relation.REPLACE, 1), (Relation.ADD, 2)])
def test_two_records_are_composed_by_the_same_rules(relation: Relation, group: int) -> None:
    worst, trouble = stated(Plain(), relation, group)
    assert trouble == ""
    assert isinstance(worst, Composed)
    delta = (1 + math.exp(0.4)) * Plain().delta_at(0.4)
    assert stated_delta(worst, 0.8, 1.0) == pytest.approx(delta, rel=1e-9)
    assert inside(worst, point_claim(0.8, delta, (relation,))) is True
    assert inside(worst, point_claim(0.8, delta * 0.999, (relation,))) is False
    assert inside(worst, point_claim(2.0, 0.0, (relation,))) is True
    assert inside(worst, table_claim([(2.0, 0.0), (0.8, delta)], (relation,))) is True
    assert inside(worst, zcdp_claim(2.0, (relation,))) is True  # twice the epsilon, four times the rho
    assert inside(worst, zcdp_claim(1e-6, (relation,))) is None  # a loose bound above a curve says nothing
    two, _ = stated(GaussianProfile(0.4), relation, group)
    assert two == GaussianProfile(0.8)


@for_each(
    ("value", "got"),
    [
        (math.nan, "got nan"),
        (-0.1, "got -0.1"),
        (1.5, "got 1.5"),
        ("0.1", "got str"),
        (True, "got bool"),
        (None, "it raised TypeError"),
        (np.array([0.1]), "got ndarray"),
        (ZeroDivisionError(), "it raised ZeroDivisionError"),
    ],
)
def test_what_is_no_number_in_0_to_1_is_one_sentence(value: Any, got: str) -> None:
    worst, trouble = stated(Gives(value))
    assert worst is None
    assert trouble == f"delta_at(0) of what worst_profile returns must be a number in [0, 1], {got}"


@for_each("value", [0, 1, 0.25, np.float32(0.25), np.float64(1.0), np.array(0.5), 1 + 1e-13])
def test_numbers_are_numbers(value: Any) -> None:
    worst, trouble = stated(Gives(value))
    assert trouble == ""
    assert worst.delta_at(0.5, Direction.FORWARD) == pytest.approx(float(value), rel=1e-12)


def test_what_is_returned_has_a_delta_at() -> None:
    for law, kind in ((None, "NoneType"), (0.1, "float"), (object(), "object")):
        assert stated(law) == (
            None,
            "worst_profile must return an object with delta_at(epsilon) or delta_at(epsilon, direction), "
            f"got {kind} without one",
        )
    assert stated_worst(object(), 1.0, 1.0, Relation.ADD) == (None, "the mechanism states no worst_profile")


def test_an_enclosure_of_its_own_is_checked() -> None:
    class Wide(Directed):
        def __init__(self, found: Any) -> None:
            self.found = found

        def delta_bracket(self, epsilon: float, direction: Direction) -> Any:
            return self.found

    rule = "delta_bracket(0, direction) of what worst_profile returns must be a mechanisms.Bracket with 0 <= low"
    assert stated(Wide((0.0, 0.1)))[1] == f"{rule} <= high <= 1, it raised AttributeError"
    assert stated(Wide(Bracket(0.0, 1.5)))[1] == f"{rule} <= high <= 1, got Bracket"
    law = Wide(Bracket(0.0, 0.1))
    assert stated(law) == (law, "")
    assert inside(law, point_claim(1.0, 0.05)) is None


def test_it_is_tried_at_the_epsilons_of_the_claim_and_states_nothing_where_it_fails() -> None:
    class Until:
        def delta_at(self, epsilon: float) -> float:
            return 0.1 if epsilon < 3 else math.nan

    for claim in (point_claim(4.0, 0.5), table_claim([(1.0, 0.5), (4.0, 0.5)])):
        assert stated(Until(), claim=claim) == (
            None,
            "delta_at(4) of what worst_profile returns must be a number in [0, 1], got nan",
        )
    worst, _ = stated(Until())
    assert worst.delta_at(4.0, Direction.FORWARD) == 1.0
    assert inside(worst, point_claim(4.0, 0.5)) is None
