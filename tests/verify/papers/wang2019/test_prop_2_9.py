"""W19, Proposition 2.9: a told coin by hand, and the bound in plain loops over ordered samples."""

from __future__ import annotations

from itertools import product

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.wang2019.prop_2_9 import STATEMENT

COIN = {"mechanism": "tells a record", "symbols": 2, "n": 1, "population": "uniform", "rule": "1"}


def told(records: tuple[int, ...]) -> list[float]:
    """Half of the time a record drawn from the data is told, else a fair coin (always, without data)."""
    shares = [records.count(z) / len(records) if records else 0.5 for z in (0, 1)]
    return [(share + 0.5) / 2 for share in shares]


def smallest_delta(p: list[float], q: list[float], factor: float) -> float:
    over = [sum(max(0.0, a - factor * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p))]
    return max(over)


def test_by_hand() -> None:
    """epsilon = 0; from one record delta is 1/2 on half of the targets: 1/4 + 1/4. From none it is 1/2 on all."""
    text, proof = (decide(STATEMENT, reading, "printed", COIN).notes for reading in ("@a", "@b"))
    assert (text["value"], text["bound"]) == (0.5, 0.5)
    assert proof["bound"] == 1.0
    assert decide(STATEMENT, "@a", "no cross term", COIN).notes["bound"] == 0.25
    assert decide(STATEMENT, "@a", "one factor exp(epsilon)", COIN).notes["bound"] == 0.25
    assert exact_value(STATEMENT, "@a", "bound cut by 5 %", COIN) == pytest.approx(1 / 0.95)


@pytest.mark.parametrize(("reading", "base"), [("@a", 2), ("@b", 1)])
def test_in_plain_loops(reading: str, base: int) -> None:
    """exp(epsilon) = 5/4 for every pair, symbol 1 with probability 1/64, n = 2."""
    law, factor, n = [63 / 64, 1 / 64], 1.25, 2
    squares = deltas = cross = 0.0
    for records in product((0, 1), repeat=base):
        weight = 1.0
        for z in records:
            weight *= law[z]
        mean = sum(law[z] * smallest_delta(told(records), told((*records, z)), factor) for z in (0, 1))
        squares, deltas, cross = squares + weight * factor**2, deltas + weight * mean, cross + weight * factor * mean
    # the error of the worst loss: positive parts of E[1/n sum 1{z_i = z} - law(z)] times each output
    gap = [[0.0, 0.0], [0.0, 0.0]]
    for records in product((0, 1), repeat=n):
        weight = law[records[0]] * law[records[1]]
        for z in (0, 1):
            for output in (0, 1):
                gap[z][output] += weight * (records.count(z) / n - law[z]) * told(records)[output]
    worst = max(sum(max(0.0, sign * g) for row in gap for g in row) for sign in (1, -1))
    params = {"mechanism": "tells a record half of the time", "symbols": 2, "n": n, "population": "rare last"}
    notes = decide(STATEMENT, reading, "printed", params | {"rule": "5/4"}).notes
    assert notes["bound"] == pytest.approx(squares - 1 + deltas + cross)
    assert notes["value"] == pytest.approx(worst)
