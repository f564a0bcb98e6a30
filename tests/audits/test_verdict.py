"""The one function that decides: every rule of it, told by a table; every mutant of it is killed here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audits.examination.examined import Demand, DrawnPair, Enough
from audits.verdict import (
    NO_SUPPORT,
    NOBODY,
    CheckOutcome,
    CheckResult,
    CheckRole,
    Decision,
    Ground,
    Ruling,
    Stated,
    Terms,
    decide,
    misstatements,
    sound,
)

HOLDS, FAILS, OPEN, TORN = CheckOutcome.HOLDS, CheckOutcome.FAILS, CheckOutcome.OPEN, CheckOutcome.INCONSISTENT
ENOUGH = Enough(Demand(1, 10), (DrawnPair("pair", 10, 10),), 0.5)
REFERENCE = Terms()
EXTERNAL = Terms(external=True, enough=ENOUGH, attested=True)


def check(role: CheckRole, outcome: CheckOutcome, name: str = "", **more: object) -> CheckResult:
    return CheckResult(name or f"{role.name} {outcome.name}", role, outcome, **more)  # type: ignore[arg-type]


def decides(outcome: CheckOutcome, *rests_on: Stated, why: str = "") -> CheckResult:
    return check(CheckRole.DECIDES, outcome, why=why, rests_on=rests_on)


def searches(outcome: CheckOutcome, *rests_on: Stated) -> CheckResult:
    return check(CheckRole.REFUTES, outcome, rests_on=rests_on)


def states(tests: Stated, outcome: CheckOutcome, *rests_on: Stated) -> CheckResult:
    return check(CheckRole.STATES, outcome, f"about {tests.value}", tests=tests, rests_on=rests_on)


DENSITY, LOSS, PROFILE, WORST = Stated.DENSITY, Stated.LOSS, Stated.PROFILE, Stated.WORST_CASE
#: Checks, terms -> the printed words, why, and the check that decided.
TABLE = [
    # the claim is refuted
    ([decides(HOLDS), searches(FAILS)], EXTERNAL, "FAIL", "REFUTES FAILS", "REFUTES FAILS"),
    ([searches(HOLDS), decides(FAILS)], REFERENCE, "FAIL", "DECIDES FAILS", "DECIDES FAILS"),
    ([decides(FAILS, DENSITY), states(DENSITY, HOLDS)], EXTERNAL, "FAIL", "DECIDES FAILS", "DECIDES FAILS"),
    ([decides(FAILS)], replace(EXTERNAL, missing="too few"), "FAIL", "DECIDES FAILS", "DECIDES FAILS"),
    ([decides(FAILS)], replace(EXTERNAL, obstacle="no"), "FAIL", "DECIDES FAILS", "DECIDES FAILS"),
    ([decides(FAILS, DENSITY), states(WORST, FAILS, DENSITY)], EXTERNAL, "FAIL", "DECIDES FAILS", "DECIDES FAILS"),
    ([decides(HOLDS), searches(FAILS), states(DENSITY, FAILS)], EXTERNAL, "FAIL", "REFUTES FAILS", "REFUTES FAILS"),
    # two estimates of one number contradict each other, whatever else is there
    (
        [decides(FAILS), check(CheckRole.AGREES, TORN, why="apart")],
        REFERENCE,
        "FAIL",
        "AGREES INCONSISTENT: apart",
        "AGREES INCONSISTENT",
    ),
    ([check(CheckRole.AGREES, FAILS), decides(HOLDS)], REFERENCE, "PASS (proved)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([check(CheckRole.REPORTS, FAILS), decides(HOLDS)], REFERENCE, "PASS (proved)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([check(CheckRole.REPORTS, TORN), decides(HOLDS)], REFERENCE, "PASS (proved)", "DECIDES HOLDS", "DECIDES HOLDS"),
    # a statement is refuted and the claim is not
    (
        [decides(HOLDS), states(DENSITY, FAILS)],
        EXTERNAL,
        "UNDECIDED (its own statement is refuted)",
        "log_density is not the law of the draws",
        "about log_density",
    ),
    (
        [decides(FAILS, DENSITY), searches(TORN, DENSITY), states(DENSITY, FAILS)],
        EXTERNAL,
        "UNDECIDED (its own statement is refuted)",
        "log_density is not the law of the draws",
        "about log_density",
    ),
    (
        [decides(HOLDS), states(DENSITY, HOLDS), states(WORST, FAILS, DENSITY)],
        replace(EXTERNAL, missing="too few"),
        "UNDECIDED (its own statement is refuted)",
        "worst_profile does not agree with the draws",
        "about worst_profile",
    ),
    (
        [decides(HOLDS), states(DENSITY, FAILS), states(LOSS, FAILS)],
        EXTERNAL,
        "UNDECIDED (its own statement is refuted)",
        "log_density is not the law of the draws",
        "about log_density",
    ),
    (
        [decides(HOLDS), states(WORST, FAILS), states(PROFILE, FAILS)],
        EXTERNAL,
        "UNDECIDED (its own statement is refuted)",
        "profile does not agree with the draws",
        "about profile",
    ),
    # nothing is refuted
    ([decides(HOLDS)], Terms(external=True, enough=ENOUGH), "UNDECIDED (no violation found)", NOBODY, ""),
    ([decides(HOLDS)], replace(EXTERNAL, missing="too few"), "UNDECIDED (not tested)", "too few", ""),
    ([decides(HOLDS)], replace(EXTERNAL, missing="a", obstacle="b"), "UNDECIDED (not tested)", "a", ""),
    ([decides(HOLDS)], replace(EXTERNAL, obstacle="no"), "UNDECIDED (no violation found)", "no", ""),
    ([decides(HOLDS)], replace(REFERENCE, obstacle="no"), "UNDECIDED", "no", ""),
    ([searches(HOLDS)], REFERENCE, "UNDECIDED", NO_SUPPORT, ""),
    ([searches(HOLDS)], EXTERNAL, "UNDECIDED (no violation found)", NO_SUPPORT, ""),
    ([], EXTERNAL, "UNDECIDED (no violation found)", NO_SUPPORT, ""),
    ([decides(HOLDS), decides(OPEN, why="w")], REFERENCE, "UNDECIDED", "DECIDES OPEN: w", "DECIDES OPEN"),
    ([decides(OPEN, why="w")], EXTERNAL, "UNDECIDED (no violation found)", "DECIDES OPEN: w", "DECIDES OPEN"),
    ([decides(HOLDS), searches(OPEN)], REFERENCE, "PASS (proved)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([decides(HOLDS)], Terms(simulated=True), "PASS (simulated)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([decides(HOLDS)], Terms(external=True, simulated=True), "PASS (simulated)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([decides(HOLDS)], EXTERNAL, "PASS (attested)", "DECIDES HOLDS", "DECIDES HOLDS"),
    ([decides(HOLDS)], replace(EXTERNAL, attested=False), "UNDECIDED (no violation found)", NOBODY, ""),
    ([decides(HOLDS)], replace(EXTERNAL, enough=None), "UNDECIDED (not tested)", "nothing was drawn", ""),
]


@pytest.mark.parametrize(("checks", "terms", "words", "why", "decisive"), TABLE)
def test_the_verdict(checks: list[CheckResult], terms: Terms, words: str, why: str, decisive: str) -> None:
    ruling = decide(checks, terms)
    assert (ruling.words, ruling.why, ruling.check) == (words, why, decisive)
    assert (ruling.enough is ENOUGH) is (words == "PASS (attested)")
    assert ruling.misstated == misstatements(checks)


def test_several_deciding_checks_are_all_named() -> None:
    first, second = (check(CheckRole.DECIDES, HOLDS, name) for name in ("one", "two"))
    ruling = decide([first, second], REFERENCE)
    assert (ruling.why, ruling.check) == ("one; two", "one")


@pytest.mark.parametrize(
    ("checks", "refuted"),
    [
        ([states(DENSITY, HOLDS), states(WORST, OPEN)], ()),
        ([states(LOSS, FAILS)], (LOSS,)),
        ([states(WORST, FAILS), states(DENSITY, FAILS)], (DENSITY, WORST)),
        ([states(WORST, FAILS, DENSITY), states(DENSITY, FAILS)], (DENSITY,)),
        ([states(PROFILE, FAILS, DENSITY), states(WORST, FAILS, PROFILE)], (PROFILE,)),
        ([states(DENSITY, TORN)], ()),
        ([states(DENSITY, HOLDS), states(DENSITY, FAILS)], (DENSITY,)),
    ],
)
def test_a_statement_is_refuted_only_by_what_stands(checks: list[CheckResult], refuted: tuple[Stated, ...]) -> None:
    assert misstatements(checks) == refuted


def test_soundness_is_of_every_statement_that_a_number_rests_on() -> None:
    both = decides(HOLDS, DENSITY, PROFILE)
    assert sound(both, ())
    assert sound(both, (WORST,))
    assert not sound(both, (PROFILE,))
    assert not sound(both, (DENSITY, WORST))


def test_a_check_says_what_it_tests_exactly_where_it_tests_a_statement() -> None:
    for role in CheckRole:
        with pytest.raises(ValueError, match="tests must be given with role STATES and only then, got check='x'"):
            CheckResult("x", role, HOLDS, tests=None if role is CheckRole.STATES else DENSITY)


def test_a_ruling_cannot_be_built_whose_parts_contradict_each_other() -> None:
    passed = {Ground.PROVED, Ground.ATTESTED, Ground.SIMULATED}
    for decision in Decision:
        for ground in Ground:
            for enough in (None, ENOUGH):
                fits = (decision is Decision.PASS) == (ground in passed)
                fits = fits and (ground is Ground.ATTESTED) == (enough is not None)
                if fits:
                    assert Ruling(decision, ground, "why", enough=enough).decision is decision
                    continue
                with pytest.raises(ValueError, match="PASS"):
                    Ruling(decision, ground, "why", enough=enough)
    assert Ruling(Decision.FAIL, Ground.NONE, "x").words == "FAIL"
    assert Ruling(Decision.PASS, Ground.PROVED, "x").words == "PASS (proved)"
