"""RW21, Lemma 18: the second display put into the first, by logarithms."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.redberg_wang2021.lem_18 import STATEMENT


@pytest.mark.parametrize(("version", "power"), [("printed", 2 / 3), ("power 3/2", 1.5), ("power 0.66", 0.66)])
@pytest.mark.parametrize(("dim", "delta"), [(1, 0.5), (10, 1e-3)])
def test_ratio_of_the_two_displays(version: str, power: float, dim: int, delta: float) -> None:
    """log of C exp(-c d t^{3/2})/delta with t = (log(C/delta)/(c d))^power: C = 2, c = 1/2."""
    deep = math.log(2.0 / delta)
    t = (deep / (0.5 * dim)) ** power
    value = exact_value(STATEMENT, "#inversion", version, C=2.0, c=0.5, dim=dim, delta=delta)
    assert math.log(value) == pytest.approx(deep - 0.5 * dim * t**1.5, abs=1e-9)


def test_all_powers_agree_where_t_is_one() -> None:
    """C/delta = e^(c d): log(C/delta)/(c d) = 1, so t = 1 whatever its power."""
    for version in ("printed", "power 3/2"):
        found = decide(STATEMENT, "#inversion", version, C=math.exp(5.0) * 0.25, c=0.5, dim=10, delta=0.25)
        assert found.exact is not None
        assert found.exact.value == pytest.approx(1.0, abs=1e-12)
