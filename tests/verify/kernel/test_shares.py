"""The run's failure probability is never spent twice, and a share never depends on what else runs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from toys import load_toy

from verify.kernel.shares import SLOTS, case_share, id_share
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
    share = case_share(statement, total)
    sampled = sum(any(case.draws) for case in statement.cases)
    assert share.look == share.confirmation
    assert math.isclose(max(sampled, 1) * (share.look + share.confirmation), id_share(total), rel_tol=1e-12)
    assert SLOTS * id_share(total) == total
