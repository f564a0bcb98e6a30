"""Formulas typed for W19, propositions 4.3 and 4.4 and their proofs, against numbers worked out by hand."""

from __future__ import annotations

import math

import pytest
from flint import arb

from audits import Budget, StreamKey
from verify.registry import default
from verify.statement import Case, Role, Standing, Statement
from verify.verdict import Outcome, judge
from verify.wang2019 import eq_a_5, prop_4_3_1a, prop_4_3_1c, prop_4_3_2, prop_4_4_2, rem_u1, rem_u2, set_4_c

IDS = [
    f"W19-{name}"
    for name in ("S4.C", "P4.3.1a", "P4.3.1c", "P4.3.2", "ALG1", "P4.4.1", "P4.4.2", "U1", "U2", "EA.4", "EA.5")
]
STATEMENTS = {id_: default().find(id_).load() for id_ in IDS}
SMALL = [
    (statement, case)
    for statement in STATEMENTS.values()
    for case in statement.cases
    if case.role is Role.COUNTEREXAMPLE or (case.standing is Standing.MUTANT and case.role is not Role.ADVERSARIAL)
]
#: log(2/delta) = 2
DELTA = 2.0 * math.exp(-2.0)


def found(statement: Statement, case: Case) -> Outcome:
    """Return the outcome of one case without draws."""
    return judge(statement.check(case, Budget(1, 1e-8, StreamKey(1).child(case.name))))[0]


@pytest.mark.parametrize(("statement", "case"), SMALL, ids=lambda each: getattr(each, "name", ""))
def test_counterexamples_and_mutants_fail_and_the_corrected_form_holds(statement: Statement, case: Case) -> None:
    expected = Outcome.HOLDS if case.standing is Standing.CORRECTED else Outcome.FAILS
    assert found(statement, case) is expected


def test_every_part_has_a_failing_printed_case_or_is_true_as_printed() -> None:
    """The one part that is true as printed is the sum of shares after (A.5)."""
    true = {
        part.id
        for statement in STATEMENTS.values()
        for part in statement.parts
        if not any(
            case.part == part.id and case.standing is Standing.PRINTED and case.role is Role.COUNTEREXAMPLE
            for case in statement.cases
        )
    }
    assert true == {eq_a_5.SHARES}


def test_bound_4_5() -> None:
    """h = 4, gamma = 2, r = 3: 3 sqrt(2) + 18/8 + (1 + 4)/8 corrected, 3 + 9/4 + 2 (1 + 2)/8 printed."""
    p = {"ridge": 4.0, "gamma": 2.0, "residual": 3.0, "delta": DELTA}
    assert prop_4_3_1a.bound(p) == pytest.approx(3.0 * math.sqrt(2.0) + 2.25 + 0.625, rel=1e-14)
    assert prop_4_3_1a.bound(p, tail=1.0, misprint=True) == pytest.approx(3.0 + 2.25 + 0.75, rel=1e-14)


def test_bound_4_6() -> None:
    """n = 16, lambda = 4, gamma = 1: sqrt(2 20 2)/4 + 40/16 + 3/8 printed; R = 2, 2 + 4/8 + 5/8 corrected."""
    p = {"n": 16.0, "lambda": 4.0, "gamma": 1.0, "delta": DELTA}
    assert prop_4_3_1c.published(p) == pytest.approx(math.sqrt(80.0) / 4 + 2.5 + 0.375, rel=1e-14)
    assert prop_4_3_1c.largest_residual(16.0, 4.0) == 2.0
    assert prop_4_3_1c.corrected(p) == pytest.approx(2.0 + 0.5 + 0.625, rel=1e-14)
    assert prop_4_3_1c.largest_residual(1.0, 3.0) == 1.25


def test_line_after_a_5() -> None:
    """mu = 1/2, K = 8, gamma = log = 2: 3/4 + 8 + sqrt(16) printed; 5/4 + R^2/2 + 2 R, R = 1 + sqrt(8), corrected."""
    p = {"mu": 0.5, "K": 8.0, "gamma": 2.0, "delta": DELTA}
    r = 1.0 + math.sqrt(8.0)
    assert eq_a_5.step_printed(p) == pytest.approx(0.75 + 8.0 + 4.0, rel=1e-14)
    assert eq_a_5.step_bound(p) == pytest.approx(1.25 + r * r / 2.0 + 2.0 * r, rel=1e-14)
    assert eq_a_5.largest_residual(0.5) == 1.5


def test_bound_of_4_3_2() -> None:
    """nu = 1/2, gamma = 2, R = 3, log = 2: sqrt(4) 3 + (18 + 5)/4."""
    assert prop_4_3_2.bound({"nu": 0.5, "gamma": 2.0, "R": 3.0, "delta": DELTA}) == pytest.approx(11.75, rel=1e-14)


def test_singular_rows_of_signs() -> None:
    """At n = 21 rows of two signs fail (d) with probability 2 sum_{k <= 5} C(21, k)/2^21 = 55792/2^21."""
    case = next(c for c in STATEMENTS["W19-S4.C"].cases if c.params.get("law") == "two signs" and not c.mutant)
    assert set_4_c.smallest_n(case) == 21
    exact = set_4_c.check(case, Budget(1, 1e-8, StreamKey(1))).exact
    assert exact is not None
    assert exact.value == pytest.approx(55792 / 2**21 * 21.0**10, rel=1e-12)


def test_error_of_ada_ops_at_ridge_0() -> None:
    """gamma = 1000/(64 log 400), and the printed error is (1 + gamma)/(1 + 1/gamma) = gamma times the true one."""
    case = next(c for c in STATEMENTS["W19-P4.4.2"].cases if c.part == prop_4_4_2.RISK)
    exact = prop_4_4_2.check(case, Budget(1, 1e-8, StreamKey(1))).exact
    assert exact is not None
    assert exact.value == pytest.approx(1000.0 / (64.0 * math.log(400.0)), rel=1e-12)


def test_sequences_of_the_discussions() -> None:
    """n = 16, alpha = 1/2: lambda = gamma = 2, 64/81 - 1 + 4/9 + 16/81 = 35/81; 1/gamma = 16 4 6/n at epsilon = 1."""
    assert float(rem_u1.relative_excess(arb(16), 0.5).mid()) == pytest.approx(35.0 / 81.0, rel=1e-14)
    assert float(rem_u2.inverse_gamma(arb(1000), arb(1), arb(1)).mid()) == pytest.approx(0.384, rel=1e-14)
