"""W19, the discussion after Proposition 4.4: powers of d and n by hand."""

from __future__ import annotations

import pytest
from oracles.formula_cases import exact_value

from verify.papers.wang2019.rem_u2 import STATEMENT


@pytest.mark.parametrize(("version", "power"), [("printed", 3.0), ("corrected", 4.0), ("power 3.7", 3.7)])
def test_order_of_the_excess(version: str, power: float) -> None:
    """16 kappa^2 d^2 6/n times d^2/n over d^power/n^2 grows by 4 - power decades a decade of d, over six."""
    found = exact_value(STATEMENT, "#excess", version, {})
    assert found == pytest.approx(6 * (4 - power), abs=1e-9)


@pytest.mark.parametrize(
    ("version", "epsilon_power"),
    [("printed", -0.75), ("corrected", -0.25), ("n epsilon^2 constant", -0.5), ("n epsilon^2 = n^-0.04", -0.52)],
)
def test_condition(version: str, epsilon_power: float) -> None:
    """1/(n epsilon^2) along twelve decades of n."""
    found = exact_value(STATEMENT, "#condition", version, {})
    assert found == pytest.approx(-12 * (1 + 2 * epsilon_power), abs=1e-9)
