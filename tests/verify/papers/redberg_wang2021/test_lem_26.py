"""RW21, Lemma 26: tails over their bounds by scipy's normal law; the bounds as printed in epsilon and delta."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from scipy.stats import norm

from verify.papers.redberg_wang2021.lem_26 import STATEMENT


@pytest.mark.parametrize("t", [1e-3, 0.5, 1.0, 3.0, 8.0])
def test_tail_over_bound(t: float) -> None:
    """L26.1 at epsilon = t; L26.2 at the delta with sqrt(2 log(1/delta)) = t, L26.3 with sqrt(2 log(2/delta)) = t."""
    one, two = math.exp(-t * t / 2), 2.0 * math.exp(-t * t / 2)
    assert exact_value(STATEMENT, ".1", "printed", t=t) == pytest.approx(norm.sf(t) * t / one, rel=1e-12)
    assert exact_value(STATEMENT, ".2", "printed", t=t) == pytest.approx(norm.sf(t) / one, rel=1e-12)
    assert exact_value(STATEMENT, ".3", "printed", t=t) == pytest.approx(2.0 * norm.sf(t) / two, rel=1e-12)


@pytest.mark.parametrize(("part", "least"), [(".1", 1.0 / math.sqrt(2.0 * math.pi)), (".2", 0.5), (".3", 1.0)])
def test_mutants_lie_below_the_least_coefficient(part: str, least: float) -> None:
    """What exp(t^2/2) times the tail comes to at most: at large t for L26.1 (Mills), at 0 for the others."""
    (mutant,) = {c.mutant for c in STATEMENT.cases if c.part == STATEMENT.id + part and c.mutant}
    found = decide(STATEMENT, part, mutant)
    assert found.exact is not None
    assert found.exact.high < 0.0
    assert float(mutant.removeprefix("coefficient ")) < least < float(mutant.removeprefix("coefficient ")) * 1.07
