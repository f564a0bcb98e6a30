"""W19, Fact 2.6 (1): randomised response by hand, random laws by brute force over events."""

from __future__ import annotations

from itertools import product

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.wang2019.fact_2_6_1 import STATEMENT


def sharpest(version: str, delta: float, one: float, two: float) -> float:
    params = {"laws": "randomised response", "delta": delta, "exp(epsilon_1)": one, "exp(epsilon_2)": two}
    return exact_value(STATEMENT, "", version, params)


def test_randomised_response_by_hand() -> None:
    """The data are told unless both keep silent: delta_1 + delta_2 - delta_1 delta_2 over the sum."""
    assert sharpest("printed", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.25)
    assert sharpest("larger delta only", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.125)
    assert sharpest("delta cut by 5 %", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.2375)
    # both tell the truth with odds 1.5 and 2, so with probability 3/7.5 against 1/7.5; at exp(epsilon) = 2: 1/7.5
    assert sharpest("one epsilon", 0.0, 1.5, 2.0) == pytest.approx((3 - 2) / 7.5)
    assert sharpest("exp(epsilon) cut by 5 %", 0.0, 1.5, 2.0) == pytest.approx(3 * 0.05 / 7.5)


def test_random_laws_by_brute_force() -> None:
    """The smallest deltas over all events, in both directions."""
    from verify.methods.finite_mechanisms import random_law

    one, two = 1.5, 2.0
    first, second = (
        (tuple(map(float, random_law(2, 3, k))) for k in (1, 2)),
        (tuple(map(float, random_law(2, 3, k))) for k in (3, 4)),
    )

    def smallest(p: list[float], q: list[float], factor: float) -> float:
        events = list(product((0, 1), repeat=len(p)))
        mass = [tuple(sum(v for v, c in zip(law, e, strict=True) if c) for law in (p, q)) for e in events]
        return max(max(a - factor * b, b - factor * a) for a, b in mass)

    (p1, q1), (p2, q2) = first, second
    total = smallest(p1, q1, one) + smallest(p2, q2, two)
    joint = smallest([a * b for a in p1 for b in p2], [a * b for a in q1 for b in q2], one * two)
    params = {"laws": "random", "outputs": 2, "seed": 3, "exp(epsilon_1)": one, "exp(epsilon_2)": two}
    notes = decide(STATEMENT, "", "printed", params).notes
    assert notes["bound"] == pytest.approx(total)
    assert notes["value"] == pytest.approx(joint)
