"""RW21, Lemma 27: two-point laws by hand, random laws by enumeration of all events."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from oracles.formula_cases import exact_value

from verify.methods.finite_mechanisms import random_law
from verify.papers.redberg_wang2021.lem_27 import STATEMENT


def test_two_point_laws_by_hand() -> None:
    """p = (1, 0), p' = (1/2, 1/2)."""
    # P(S) - 2 P'(S) is at most 0 for p, at most 1/2 for p': no event of L27.2 as printed, one of mass 1/2 corrected
    assert exact_value(STATEMENT, ".2", "printed", {"exp(epsilon)": 2.0}) == 0.5
    assert exact_value(STATEMENT, ".2", "corrected", {"exp(epsilon)": 2.0}) == 1.0
    # p' spread against p sure: delta = 1/2 = the tail, so the lemma is an equality; 5 % less is too little
    assert exact_value(STATEMENT, ".0", "printed", {"exp(epsilon)": 2.0, "p": "spread"}) == 1.0
    cut = exact_value(STATEMENT, ".0", "delta cut by 5 %", {"exp(epsilon)": 2.0, "p": "spread"})
    assert cut == pytest.approx(20 / 19)
    # both outputs are bad at exp(t) = 5/4: the worst sub-event gives 1 - 5/8, the complement is empty
    assert exact_value(STATEMENT, ".p", "printed", {"exp(epsilon)": 1.25}) == 0.375
    assert exact_value(STATEMENT, ".p", "corrected", {"exp(epsilon)": 1.25}) == 0.0


@pytest.mark.parametrize("seed", [1, 4])
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(2)])
def test_random_laws_over_all_events(seed: int, factor: Fraction) -> None:
    p, q = random_law(6, seed, 3), random_law(6, seed, 4)
    numbers = {"outputs": 6, "seed": seed, "exp(epsilon)": float(factor)}
    events = [[k for k in range(6) if flags[k]] for flags in product((0, 1), repeat=6)]

    def excess(a: tuple[Fraction, ...], b: tuple[Fraction, ...], event: list[int]) -> Fraction:
        return sum((a[k] - factor * b[k] for k in event), Fraction(0))

    forward = sum((a for a, b in zip(p, q, strict=True) if a > factor * b), Fraction(0))
    backward = sum((b for a, b in zip(p, q, strict=True) if b > factor * a), Fraction(0))
    delta = max(excess(p, q, e) for e in events)
    both = max(delta, *(excess(q, p, e) for e in events))
    for part, version, value, promised in (
        (".0", "printed", delta, forward),
        (".1", "printed", both, max(forward, backward)),
        (".2", "corrected", both, max(forward, backward)),
        (".1", "tail of one law only", both, forward),
    ):
        expected = value / promised if promised else value - promised
        assert exact_value(STATEMENT, part, version, numbers) == pytest.approx(float(expected), rel=1e-12)
    good = [k for k in range(6) if not (p[k] > factor * q[k] or q[k] > factor * p[k])]
    worst = max(excess(p, q, e) for e in events if set(e) <= set(good))
    assert exact_value(STATEMENT, ".p", "corrected", numbers) == pytest.approx(float(worst))
