"""W19, Corollary 2.12: its three displays by hand."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.wang2019.cor_2_12 import STATEMENT


def test_bound_by_hand() -> None:
    """One record, half the time told, epsilon = 0, delta = 1/4 from no record: 2 delta = 1/2, cut 0.95 times that."""
    params = {
        "mechanism": "tells a record half of the time", "symbols": 2, "n": 1, "base": 0, "population": "rare last",
        "rule": "1",
    }  # fmt: skip
    assert decide(STATEMENT, "#bound", "printed", params).notes["bound"] == 0.5
    assert decide(STATEMENT, "#bound", "2 delta cut by 5 %", params).notes["bound"] == pytest.approx(0.475)
    # exp(epsilon) = 5/4 for every pair: both second moments are 25/16, delta = max(3/4 - 5/4 1/2, 1/2 - 5/4 1/4)
    wide = decide(STATEMENT, "#bound", "printed", params | {"rule": "5/4"})
    assert wide.notes["bound"] == pytest.approx(25 / 16 - 1 + 2 * 3 / 16)
    assert not wide.claim.in_domain


@pytest.mark.parametrize(("here", "there", "p"), [(0.0, 0.5, 1.0), (0.25, 0.25, 1.0), (0.25, 0.75, 0.25)])
def test_expansion_by_hand(here: float, there: float, p: float) -> None:
    """sum 2^i/i! x^i is exp(2 x) - 1; without the weights the sum is x/(1 - x); from i = 0 both gain a 1."""
    params = {"epsilon under D": here, "epsilon under D'": there, "probability": p}
    right = p * (math.exp(2 * here) - 1 + there / (1 - there)) / 2
    left = p * (math.exp(2 * here) + math.exp(2 * there) - 2) / 2
    assert exact_value(STATEMENT, ".p", "printed", params) == pytest.approx(right - left, abs=1e-12)
    assert exact_value(STATEMENT, ".p", "corrected", params) == pytest.approx(0.0, abs=1e-12)
    assert exact_value(STATEMENT, ".p", "sum from i = 0", params) == pytest.approx(p, abs=1e-12)
    half = -p * (math.exp(2 * there) - 1) / 4
    assert exact_value(STATEMENT, ".p", "half of the target's part", params) == pytest.approx(half, abs=1e-12)


def test_proof_by_hand() -> None:
    """exp(epsilon) is 1 or f under D, g or h under D': sqrt of the product of means less the mean of products."""
    f, g, h, delta = 2.0, 1.5, 8.0, 0.25
    params = {"exp(epsilon) under D": f, "first under D'": g, "second under D'": h, "delta": delta}
    right = math.sqrt((1 + f**2) / 2 * (g**2 + h**2) / 2) - 1 + 2 * delta
    left = (g + f * h) / 2 - 1 + delta * (1 + (1 + f) / 2)
    assert exact_value(STATEMENT, "#proof", "printed", params) == pytest.approx(right - left)
    assert exact_value(STATEMENT, "#proof", "1.9 delta", params) == pytest.approx(right - 0.1 * delta - left)
    assert not decide(STATEMENT, "#proof", "printed", params).claim.in_domain
    assert decide(STATEMENT, "#proof", "hypothesis dropped", params).claim.in_domain
