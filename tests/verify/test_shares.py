"""The run's failure probability is never spent twice, and a share never depends on what else runs."""

from __future__ import annotations

import math

import pytest
from toys import load_toy

from verify import registry
from verify.shares import SLOTS, case_share, id_share


def test_every_catalogue_id_has_a_slot() -> None:
    assert len(registry.default().catalogue) <= SLOTS


@pytest.mark.parametrize("total", [1e-4, 1e-9, 0.5])
@pytest.mark.parametrize("toy", ["thm_1", "thm_2", "thm_3"])
def test_cases_of_an_id_spend_its_share_and_no_more(toy: str, total: float) -> None:
    statement = load_toy(toy)
    share = case_share(statement, total)
    sampled = sum(any(case.draws) for case in statement.cases)
    assert share.look == share.confirmation
    assert math.isclose(max(sampled, 1) * (share.look + share.confirmation), id_share(total), rel_tol=1e-12)
    assert SLOTS * id_share(total) == total
