"""W18, Table 1: every entry evaluated before and after a change of unit."""

from __future__ import annotations

import pytest
from oracles.unit_change import Sizes, Terms, assert_units

from verify.papers.wang2018.tab_1 import STATEMENT


def loss(s: Sizes) -> float:
    return s.Y**2


ENTRIES: dict[tuple[str, str], Terms] = {
    ("#NoisySGD", "printed"): lambda s: [s.X**2 * s.Theta**2],
    ("#NoisySGD convex", "printed"): lambda s: [s.Theta**2],
    ("#NoisySGD convex", "corrected"): lambda s: [s.X**2 * s.Theta**2],
    ("#ObjPert", "printed"): lambda s: [s.X**2 * s.Theta * s.theta],
    ("#ObjPert convex", "printed"): lambda s: [s.Theta**2],
    ("#ObjPert convex", "corrected"): lambda s: [s.X**2 * s.Theta**2],
    ("#OPS", "printed"): lambda s: [s.X**2 * s.Theta**2],
    ("#SSP", "printed"): lambda s: [s.X**2 * s.theta**2],
    ("#adaptive", "printed"): lambda s: [s.X**2 * s.theta**2, s.theta**2],
    ("#adaptive", "corrected"): lambda s: [s.X**2 * s.theta**2, s.X**2 * s.theta**2],
}


@pytest.mark.parametrize(("part", "version"), list(ENTRIES))
def test_entries(part: str, version: str) -> None:
    assert_units(STATEMENT, part, version, ENTRIES[part, version], loss)


def test_requirement_of_ssp_is_a_number() -> None:
    assert_units(STATEMENT, "#SSP n", "printed", lambda s: [1.0], lambda s: 1.0)


@pytest.mark.parametrize("part", sorted({part for part, _ in ENTRIES}))
def test_mutants_are_off_by_eight_tenths_of_a_decade(part: str) -> None:
    """A tenth of a power of X too much, eight decades."""
    good = next(v for v in ("corrected", "printed") if (part, v) in ENTRIES)

    def slipped(s: Sizes) -> list[float]:
        first, *rest = ENTRIES[part, good](s)
        return [first * s.X**0.1, *rest]

    assert_units(STATEMENT, part, "a tenth of a power of the features' bound too much", slipped, loss)
