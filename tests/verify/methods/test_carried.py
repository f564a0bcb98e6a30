"""A quoted statement is its source under another id."""

from __future__ import annotations

from audits import Budget, StreamKey
from verify.kernel.statement import Role
from verify.methods.carried import carry
from verify.papers.wang2018.lem_13 import STATEMENT as QUOTED
from verify.papers.wang2018.thm_10 import STATEMENT as RENUMBERED
from verify.papers.wang2019.lem_b_5 import STATEMENT as SOURCE


def test_cases_and_words_of_the_source_under_the_own_id() -> None:
    assert [case.params for case in QUOTED.cases] == [case.params for case in SOURCE.cases]
    assert [case.name.replace("W18-L13", "W19-LB.5") for case in QUOTED.cases] == [case.name for case in SOURCE.cases]
    assert [part.printed for part in QUOTED.parts] == [part.printed for part in SOURCE.parts]
    assert (QUOTED.paper, QUOTED.title) == ("wang2018", "Two-sided normal tail")


def test_its_check_is_the_sources() -> None:
    budget = Budget(1, 1e-9, StreamKey(3))
    for own, other in zip(QUOTED.cases, SOURCE.cases, strict=True):
        assert QUOTED.check(own, budget) == SOURCE.check(other, budget)


def test_numbers_of_equations_are_the_own_papers_and_searches_are_left_to_the_source() -> None:
    assert RENUMBERED.parts[0].title.endswith("(16)")
    assert "(4.3)" not in "".join(part.printed.typst + part.title for part in RENUMBERED.parts)
    assert not any(case.quick for case in RENUMBERED.cases if case.role is Role.ADVERSARIAL)
    assert carry(SOURCE, "W18-L13", domain="d", summary="s").domain == "d"
