"""Formulas typed for W19, sections 2 to 4.1 and its lemmas, against numbers worked out by hand."""

from __future__ import annotations

import importlib
import math
from fractions import Fraction as F

import pytest
from flint import arb

from audits import Budget, StreamKey
from mechanisms.composition import optimal_composition
from mechanisms.finite_laws import check_law, worst_gap
from verify.registry import default
from verify.statement import Case, Role, Standing, Statement
from verify.verdict import Outcome, judge
from verify.wang2019 import cor_2_12, eq_3_3, fact_2_6_2, fact_2_6_4, lem_b_7, prop_2_9, prop_2_11, rem_4_2, set_4_a
from verify.wang2019.finite import mechanism
from verify.wang2019.rational import eigenvalue_bounds, matrix

MINE = [
    "W19-D2.1 W19-D2.2 W19-D2.3 W19-F2.5 W19-F2.6.1 W19-F2.6.2 W19-F2.6.3 W19-F2.6.4 W19-D2.7 W19-D2.8 W19-P2.9",
    "W19-D2.10 W19-P2.11 W19-C2.12 W19-E3.1 W19-L3.1 W19-E3.2 W19-E3.3 W19-E3.4 W19-S4.A W19-E4.1 W19-E4.2 W19-T4.1p",
    "W19-R4.2 W19-LA.1 W19-LB.1 W19-LB.2 W19-LB.3 W19-LB.4 W19-LB.5 W19-LB.6 W19-LB.7",
]
STATEMENTS = {id_: default().find(id_).load() for line in MINE for id_ in line.split()}
COUNTEREXAMPLES = [
    (statement, case)
    for statement in STATEMENTS.values()
    for case in statement.cases
    if case.role is Role.COUNTEREXAMPLE
]


def outcome(statement: Statement, case: Case) -> Outcome:
    return judge(statement.check(case, Budget(1, 1e-9, StreamKey(7).child(statement.id, case.name))))[0]


@pytest.mark.parametrize(("statement", "case"), COUNTEREXAMPLES, ids=[case.name for _, case in COUNTEREXAMPLES])
def test_counterexamples_refute_the_printed_form_and_not_the_corrected_one(statement: Statement, case: Case) -> None:
    wanted = Outcome.FAILS if case.standing is Standing.PRINTED else Outcome.HOLDS
    assert outcome(statement, case) is wanted


@pytest.mark.parametrize("id_", [id_ for id_, s in STATEMENTS.items() if s.definition])
def test_definitions_name_what_exists(id_: str) -> None:
    room, module, *names = STATEMENTS[id_].definition.split(".")
    owner: object = importlib.import_module(f"{room}.{module}")
    for name in names:
        owner = getattr(owner, name)
    assert callable(owner)


def test_every_corrected_part_says_why_and_where() -> None:
    for statement in STATEMENTS.values():
        for part in statement.parts:
            if part.corrected:
                assert part.what_went_wrong
                assert part.derivation.partition(",")[0].startswith("docs/derivations/")


def test_group_privacy_by_hand() -> None:
    """Steps (0, 1/8), (log 4, 0): 1/8 on the way out, 1/8 times 4 on the way back."""
    factors, deltas = [F(1), F(4)], [F(1, 8), F(0)]
    assert fact_2_6_4.summed_delta(factors, deltas, before=True) == F(1, 8)
    assert fact_2_6_4.summed_delta(factors, deltas, before=False) == F(1, 2)


def test_generalisation_bounds_by_hand() -> None:
    """A fair coin told as it is; pairs of n = 1 records give delta 1/2 on half of the targets, epsilon = 0."""
    made, law = mechanism("tells a record", 2, 2), check_law([F(1, 2), F(1, 2)])
    assert worst_gap(made, law, 1) == F(1, 2)
    assert prop_2_9.bound(made, law, 1, "1", "printed") == F(1, 4) + F(1, 4)
    # from the empty set delta is 1/2 for both symbols
    assert prop_2_9.bound(made, law, 0, "1", "printed") == 1
    assert prop_2_11.bound(made, law, law, 0, "1", "printed") == F(1, 2)
    assert prop_2_11.bound(made, law, law, 0, "1", "corrected") == 1


def test_worst_case_of_composition_against_an_independent_formula() -> None:
    for epsilon, delta, k, total in ((0.3, 1e-4, 7, 0.9), (1.0, 0.0, 20, 5.0), (2.0, 0.01, 1, 1.0)):
        ball = fact_2_6_2.worst_delta(epsilon, delta, k, total)
        assert float(ball.mid()) == pytest.approx(optimal_composition(epsilon, delta, k, total), rel=1e-9)


def test_advanced_composition_by_hand() -> None:
    """k = 8, slack = exp(-1): sqrt(16) epsilon + 8 epsilon (exp(epsilon) - 1)."""
    point = {"epsilon": 0.5, "delta": 0.0, "k": 8.0, "slack": math.exp(-1)}
    assert fact_2_6_2.epsilon_corrected(point) == pytest.approx(2.0 + 4.0 * math.expm1(0.5))


def test_expansion_of_the_corollary_by_hand() -> None:
    """sum 2^i/i! x^i is exp(2 x) - 1, and x/(1 - x) without the weights."""
    x = arb(0.5)
    assert abs(cor_2_12._power_sum(x, weighted=True) - (2 * x).exp() + 1) < 1e-12
    assert abs(cor_2_12._power_sum(x, weighted=False) - 1) < 1e-12


def test_output_perturbation_by_hand() -> None:
    """Delta = 2, delta = 1.25/e: the root is 1, so the printed epsilon is 2 for every gamma."""
    assert eq_3_3.epsilon_published({"gamma": 9.0, "sensitivity": 2.0, "delta": 1.25 / math.e}) == pytest.approx(2.0)
    assert eq_3_3.epsilon_corrected({"gamma": 9.0, "sensitivity": 2.0, "delta": 1.25 / math.e}) == pytest.approx(
        6.0 * math.sqrt(2.0)
    )


def test_remark_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: 1/2 (1 + 2) + 1/2 4 + 2 sqrt 2; with the residual inside, a is 1."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    assert rem_4_2.simplified(point) == pytest.approx(1.5 + 2.0 + 2.0 * math.sqrt(2.0))
    assert rem_4_2.simplified(point, tail=1.0, inside=True) == pytest.approx(1.0 + 0.5 + 1.0)
    # the box's quantity is twice the difference to (4.3) over mu: centre |4/2 - log 2|/2
    balls = {"leverage": arb(1), "residual": arb(2)}
    difference = 0.5 + 2.0 - 0.5 * (2.0 - math.log(2.0))
    assert float(rem_4_2.excess_of_simplified(balls, 0.0).mid()) == pytest.approx(2.0 * difference)


def test_binomial_tails_by_hand() -> None:
    """Three fair signs: the sum is 3 with probability 1/8, at least 1 with 1/2, at least -3 always."""
    assert lem_b_7._binomial_tail(3, F(3)) == F(1, 8)
    assert lem_b_7._binomial_tail(3, F(1, 2)) == F(1, 2)
    assert lem_b_7._binomial_tail(3, F(-3)) == 1
    assert lem_b_7._binomial_tail(3, F(4)) == 0


def test_isotropic_choice_on_a_diagonal_design() -> None:
    low, high = eigenvalue_bounds(matrix(2, 2, [4, 0, 0, 9]))[0]
    assert low <= 4 <= high
    evidence = set_4_a._isotropic(matrix(2, 2, [4, 0, 0, 9]), F(1))
    assert evidence.exact is not None
    assert evidence.exact.low <= 1 <= evidence.exact.high
