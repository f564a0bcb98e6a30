"""Growth along a sequence, on powers of n that are known."""

from __future__ import annotations

import pytest
from flint import arb

from verify.kernel.verdict import Outcome, judge
from verify.methods.growth import SETTLING, decades_evidence, growth_evidence


@pytest.mark.parametrize(("power", "outcome"), [(0.5, Outcome.FAILS), (0.0, Outcome.HOLDS), (-1.0, Outcome.HOLDS)])
def test_a_power_of_n_grows_by_its_exponent(power: float, outcome: Outcome) -> None:
    found = growth_evidence("3 n^p", lambda n: 3 * n ** arb(power), 2, 12)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(10 * power, abs=1e-9)
    assert judge(found)[0] is outcome


def test_what_must_grow_or_fall_at_least_so_far() -> None:
    falling = growth_evidence("1/n", lambda n: 1 / n, 1, 3, most=-SETTLING)
    assert judge(falling)[0] is Outcome.HOLDS
    assert judge(growth_evidence("1", lambda n: n / n, 1, 3, most=-SETTLING))[0] is Outcome.FAILS
    assert judge(growth_evidence("1/n", lambda n: 1 / n, 1, 3, least=-SETTLING))[0] is Outcome.FAILS


@pytest.mark.parametrize(("decades", "outcome"), [(0.0, Outcome.HOLDS), (-3.0, Outcome.HOLDS), (4.0, Outcome.FAILS)])
def test_known_decades(decades: float, outcome: Outcome) -> None:
    assert judge(decades_evidence("a ratio", decades))[0] is outcome
