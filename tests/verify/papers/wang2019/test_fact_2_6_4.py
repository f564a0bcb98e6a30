"""W19, Fact 2.6 (4): the chain with steps (0, 1/8) and (log 4, 0), by hand."""

from __future__ import annotations

import pytest
from oracles.formula_cases import claimed, decide, exact_value

from verify.papers.wang2019.fact_2_6_4 import STATEMENT

BACK, OUT = {"chain": "tell, then scale", "k": 2}, {"chain": "scale, then tell", "k": 2}


def test_steps_by_hand() -> None:
    """1/8 alone where the factor 4 comes later, 1/8 times 4 where it comes before; the end tells the data with 1/2."""
    assert claimed(STATEMENT, "#out", "printed", BACK) == 0.125
    assert claimed(STATEMENT, "#back", "printed", BACK) == 0.125
    assert claimed(STATEMENT, "#back", "corrected", BACK) == 0.5
    assert exact_value(STATEMENT, "#back", "printed", BACK) == 4.0
    assert exact_value(STATEMENT, "#back", "corrected", BACK) == 1.0
    assert claimed(STATEMENT, "#out", "printed", OUT) == 0.5
    assert exact_value(STATEMENT, "#out", "printed", OUT) == 1.0
    assert exact_value(STATEMENT, "#out", "deltas added without factors", OUT) == 4.0
    assert exact_value(STATEMENT, "#back", "delta cut by 5 %", BACK) == pytest.approx(1 / 0.95)


@pytest.mark.parametrize(("part", "version"), [("#out", "printed"), ("#back", "printed"), ("#back", "corrected")])
def test_random_chain_in_floats(part: str, version: str) -> None:
    """The sum retyped: over j < i on the way out (and as printed), over j > i on the way back."""
    from verify.methods.finite_mechanisms import random_law

    k, seed = 3, 3
    laws = [[float(v) for v in random_law(4, seed, 20 + i)] for i in range(k + 1)]
    factors = [1 + (i * seed % 5) / 4 for i in (1, 2, 3)]

    def over(p: list[float], q: list[float], f: float) -> float:
        return sum(max(0.0, a - f * b) for a, b in zip(p, q, strict=True))

    deltas = [max(over(laws[i], laws[i + 1], factors[i]), over(laws[i + 1], laws[i], factors[i])) for i in range(k)]
    if version == "printed":
        total = deltas[0] + deltas[1] * factors[0] + deltas[2] * factors[0] * factors[1]
    else:
        total = deltas[0] * factors[1] * factors[2] + deltas[1] * factors[2] + deltas[2]
    ends = (laws[0], laws[-1]) if part == "#out" else (laws[-1], laws[0])
    notes = decide(STATEMENT, part, version, {"chain": "random", "k": k, "seed": seed}).notes
    assert notes["bound"] == pytest.approx(total)
    assert notes["value"] == pytest.approx(over(*ends, factors[0] * factors[1] * factors[2]), abs=1e-15)
