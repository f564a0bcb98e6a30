"""W19, Lemma B.2, on A = U = C = 1, V = 2: the inverse is 1/3."""

from __future__ import annotations

import pytest
from oracles.formula_cases import exact_value

from verify.papers.wang2019.lem_b_2 import STATEMENT

ONE = {"dim": 1, "rank": 1, "seed": 0}


def test_by_hand() -> None:
    """Without V: 1 - 1/3 = 2/3. With it 1/3. Correction times 1.01: 1 - 2.02/3, a deviation of 0.02/3."""
    assert exact_value(STATEMENT, "", "printed", ONE) == 0.5
    assert exact_value(STATEMENT, "", "corrected", ONE) == 0.0
    assert exact_value(STATEMENT, "", "correction scaled by 1.01", ONE) == pytest.approx(0.02)


def test_thin_factors() -> None:
    assert exact_value(STATEMENT, "", "corrected", {"dim": 5, "rank": 2, "seed": 11}) == 0.0
    assert exact_value(STATEMENT, "", "C in place of its inverse", {"dim": 5, "rank": 2, "seed": 11}) > 0.0
