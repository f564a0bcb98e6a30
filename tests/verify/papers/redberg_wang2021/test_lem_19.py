"""RW21, Lemma 19: the bound at C = 2, c = 1 and the exact tail, in one and two dimensions."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide
from oracles.mechanisms.goe import sf_one, sf_two

from verify.papers.redberg_wang2021.lem_19 import STATEMENT


@pytest.mark.parametrize(("version", "leading"), [("printed", math.sqrt(2.0)), ("no root 2", 1.0)])
@pytest.mark.parametrize("delta", ["1/2", "1/1000"])
@pytest.mark.parametrize("dim", [1, 2])
def test_tail_over_delta(version: str, leading: float, delta: str, dim: int) -> None:
    """A is N(0, 2) for d = 1, and G +- R (normal, Rayleigh) for d = 2."""
    share = 0.5 if delta == "1/2" else 1e-3
    bound = leading * (2.0 + (math.log(2.0 / share) / dim) ** (2 / 3)) * math.sqrt(dim)
    found = decide(STATEMENT, "", version, dim=dim, delta=delta)
    assert found.notes["bound over sigma"] == pytest.approx(bound, rel=1e-12)
    assert found.exact is not None
    assert found.exact.value == pytest.approx((sf_one, sf_two)[dim - 1](bound)[1] / share, rel=1e-6)
    assert (found.claim.low, found.claim.high) == (0.0, 1.0)
