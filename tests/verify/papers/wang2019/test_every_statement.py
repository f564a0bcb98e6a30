"""What holds for every statement of W19: small cases refute what is wrong, and nothing else."""

import importlib

import pytest
from rows import for_each

from audits import Budget, StreamKey
from verify.kernel.statement import Case, Role, Standing, Statement
from verify.kernel.verdict import Outcome, judge
from verify.papers.registry import default

STATEMENTS = [source.load() for id_, source in default().sources.items() if id_.startswith("W19-")]


def small(statement: Statement) -> list[Case]:
    """Return the counterexamples and the mutants of a statement that take no draws."""
    cases = (case for case in statement.cases if not any(case.draws))
    return [case for case in cases if case.role is Role.COUNTEREXAMPLE or (case.mutant and case.role is Role.REGIME)]


@pytest.mark.parametrize("statement", [s for s in STATEMENTS if small(s)], ids=lambda statement: statement.id)
def test_counterexamples_and_mutants_fail_and_the_corrected_form_holds(statement: Statement) -> None:
    @for_each("case", small(statement))
    def decided(case: Case) -> None:
        found = judge(statement.check(case, Budget(1, 1e-9, StreamKey(7).child(statement.id, case.name))))[0]
        assert found is (Outcome.HOLDS if case.standing is Standing.CORRECTED else Outcome.FAILS)

    decided()


@for_each("statement", [s for s in STATEMENTS if s.definition])
def test_definitions_name_what_exists(statement: Statement) -> None:
    names = statement.definition.split(".")
    owner: object = None
    for i, name in enumerate(names):
        try:
            owner = importlib.import_module(".".join(names[: i + 1]))
        except ModuleNotFoundError:
            owner = getattr(owner, name)
    assert callable(owner)


@for_each("statement", STATEMENTS)
def test_every_corrected_part_says_why_and_where_and_is_refuted_as_printed(statement: Statement) -> None:
    for part in statement.parts:
        refuted = any(
            c.part == part.id and c.standing is Standing.PRINTED and c.role is Role.COUNTEREXAMPLE
            for c in statement.cases
        )
        assert refuted is bool(part.corrected)
        if part.corrected:
            assert part.what_went_wrong
            assert part.derivation.partition(",")[0].startswith("docs/derivations/")
