"""RW21, Lemma 31: two people counted once more, output by output."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from oracles.formula_cases import decide

from verify.methods.rational import generator
from verify.papers.redberg_wang2021.lem_31 import STATEMENT

BOTH = [(a, b) for a in (0, 1) for b in (0, 1)]


def excess(p: Counter, q: Counter, factor: Fraction) -> Fraction:
    """Return the mass by which p exceeds factor q."""
    return sum((max(mass - factor * q[o], Fraction(0)) for o, mass in p.items()), Fraction(0))


@pytest.mark.parametrize("version", ["printed", "own output included", "half the delta"])
@pytest.mark.parametrize("factor", [Fraction(5, 4), Fraction(4)])
@pytest.mark.parametrize("seed", [1, 2])
def test_two_people(version: str, factor: Fraction, seed: int) -> None:
    """A count plus an offset of 0 to 3; a person sees whether it exceeds twice her bit, and its parity with her bit."""
    weights = [int(w) for w in generator(2, seed, 31).integers(1, 9, 4)]

    def count(total: int) -> Counter:
        return Counter({total + k: Fraction(w, sum(weights)) for k, w in enumerate(weights)})

    def view(bits: tuple[int, int], eyes: list[int]) -> Counter:
        law: Counter = Counter()
        for number, mass in count(sum(bits)).items():
            law[tuple((number > 2 * bits[k], (number + bits[k]) % 2) for k in eyes)] += mass
        return law

    released = max(
        excess(p, q, factor) for t in (0, 1) for p, q in ((count(t), count(t + 1)), (count(t + 1), count(t)))
    )
    joint = Fraction(0)
    for bits in BOTH:
        for person in (0, 1):
            other = tuple(1 - b if k == person else b for k, b in enumerate(bits))
            eyes = [0, 1] if version == "own output included" else [1 - person]
            joint = max(joint, excess(view(bits, eyes), view(other, eyes), factor))
    found = decide(STATEMENT, "", version, {"n": 2, "seed": seed, "exp(epsilon)": float(factor)})
    bound = released / 2 if version == "half the delta" else released
    assert found.notes["value"] == pytest.approx(float(joint))
    assert found.notes["bound"] == pytest.approx(float(bound))
