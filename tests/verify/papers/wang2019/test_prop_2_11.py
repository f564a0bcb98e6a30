"""W19, Proposition 2.11: a told coin by hand, and the bound in plain loops."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide

from verify.papers.wang2019.prop_2_11 import STATEMENT

COIN = {
    "mechanism": "tells a record", "symbols": 2, "n": 1, "population": "uniform", "target": "the population",
    "rule": "1",
}  # fmt: skip


def test_by_hand() -> None:
    """From no record delta is 1/2 on both symbols, epsilon = 0: printed 1/2 + 0, corrected 1/2 + 1/2; error 1/2."""
    assert decide(STATEMENT, "", "printed", COIN).notes["bound"] == 0.5
    assert decide(STATEMENT, "", "corrected", COIN).notes["bound"] == 1.0
    assert decide(STATEMENT, "", "corrected", COIN).notes["value"] == 0.5
    assert decide(STATEMENT, "", "delta of the target left out", COIN).notes["bound"] == 0.5


@pytest.mark.parametrize("version", ["printed", "corrected"])
def test_in_plain_loops(version: str) -> None:
    """n = 2: Z is one record; exp(epsilon) = 5/4; the second symbol has 1/64 under D and 63/64 under D'."""
    law, target, factor = [63 / 64, 1 / 64], [1 / 64, 63 / 64], 1.25
    epsilon = math.log(factor)

    def told(records: tuple[int, ...]) -> list[float]:
        return [(records.count(z) / len(records) + 0.5) / 2 for z in (0, 1)]

    def delta(z: int, other: int) -> float:
        p, q = told((z,)), told((z, other))
        return max(sum(max(0.0, a - factor * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))

    total = 0.0
    for z in (0, 1):
        for first in (0, 1):
            for second in (0, 1):
                last = (epsilon if version == "printed" else factor) * delta(z, second)
                inner = factor + epsilon - 1 + delta(z, first) + last
                total += law[z] * law[first] * target[second] * inner
    params = {
        "mechanism": "tells a record half of the time", "symbols": 2, "n": 2, "population": "rare last",
        "target": "mostly the last symbol", "rule": "5/4",
    }  # fmt: skip
    assert decide(STATEMENT, "", version, params).notes["bound"] == pytest.approx(total)
