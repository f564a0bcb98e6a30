"""Stated guarantees are data, and refuse nonsense."""

import math

import pytest

from mechanisms.data.neighbours import Relation
from mechanisms.guarantees import Guarantee


def test_a_guarantee_is_data() -> None:
    one = Guarantee(1.0, 1e-6, Relation.ADD, "pDP", "W19-T4.1 (4.3)")
    assert one == Guarantee(1.0, 1e-6, Relation.ADD, "pDP", "W19-T4.1 (4.3)")
    assert hash(one)
    assert Guarantee(math.inf, 0.0, Relation.REPLACE, "DP", "x").epsilon == math.inf


@pytest.mark.parametrize(
    ("epsilon", "delta", "scope", "source", "message"),
    [
        (-1.0, 0.0, "DP", "x", "epsilon must be at least 0"),
        (math.nan, 0.0, "DP", "x", "epsilon must be at least 0"),
        (1.0, 2.0, "DP", "x", r"delta must be in \[0, 1\]"),
        (1.0, 0.0, "pdp", "x", "scope must be one of DP, pDP, ex-post"),
        (1.0, 0.0, "DP", "", "source must name"),
    ],
)
def test_nonsense(epsilon: float, delta: float, scope: str, source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Guarantee(epsilon, delta, Relation.ADD, scope, source)
