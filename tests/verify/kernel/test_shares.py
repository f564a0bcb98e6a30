"""The run's failure probability is never spent twice, and a share never depends on what else runs."""

from __future__ import annotations

from fractions import Fraction

import pytest
from toys import load_toy

from audits import StreamKey
from verify.kernel.shares import SLOTS, case_budgets, id_share, statement_budget, whole
from verify.papers.paper import papers


def test_papers_have_no_more_than_all_slots() -> None:
    """What all ids of all papers may spend is at most the total; each committed id keeps one slot of 256."""
    assert sum(paper.slots for paper in papers()) <= SLOTS
    assert sum(paper.share for paper in papers() for entry in paper.entries.values() if not entry.parent) <= 1
    assert {paper.share for paper in papers() if paper.prefix in ("W19", "W18", "RW21")} == {Fraction(1, 256)}


@pytest.mark.parametrize("total", [1e-4, 1e-9, 0.5])
@pytest.mark.parametrize("toy", ["thm_1", "thm_2", "thm_3"])
def test_cases_of_an_id_spend_its_share_and_no_more(toy: str, total: float) -> None:
    statement = load_toy(toy)
    own = statement_budget(whole(total, StreamKey(1)), statement)
    budgets = case_budgets(own, statement)
    sampled = [case.name for case in statement.cases if any(case.draws)]
    assert own.failure_prob == id_share(total) == total / SLOTS
    assert own.ledger is not None
    assert own.ledger[own.place].parts == tuple(sampled)
    for case in statement.cases:
        budget = budgets[case.name]
        assert budget.key == StreamKey(1).child(statement.id, case.name)
        assert (budget.ledger is own.ledger) == any(case.draws)
        if any(case.draws):
            assert budget.failure_prob == float(Fraction(total) / SLOTS / len(sampled))
