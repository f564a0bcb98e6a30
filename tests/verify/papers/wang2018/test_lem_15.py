"""W18, Lemma 15: finite laws by hand, and every event of all small laws by plain loops."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from oracles.formula_cases import decide, exact_value

from verify.papers.wang2018.lem_15 import STATEMENT

Law = tuple[Fraction, ...]


def worst_event(p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the largest P(S) - factor Q(S) over every subset S of the points."""
    subsets = product((0, 1), repeat=len(p))
    return max(sum((s * (a - factor * b) for s, a, b in zip(S, p, q, strict=True)), Fraction(0)) for S in subsets)


def tail(law: Law, p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the mass of |log p/q| > log(factor) under ``law``."""
    return sum((m for m, a, b in zip(law, p, q, strict=True) if not (b <= factor * a and a <= factor * b)), Fraction(0))


def test_two_coins() -> None:
    """p = (1/64, 63/64), q = (1/2, 1/2), factor 2: tails 1/64 and 1/2; divergences 0 and 1/2 - 2/64 = 15/32."""
    at = {"laws": "small", "exp(t)": 2.0}
    assert exact_value(STATEMENT, "@a", "printed", at) == pytest.approx(15 / 32 * 64)
    assert exact_value(STATEMENT, "@a", "corrected", at) <= 1
    assert exact_value(STATEMENT, "@b", "smaller of the two tails", at) == pytest.approx(15 / 32 * 64)


def test_equality_where_the_other_law_vanishes() -> None:
    """p = (1/4, 3/4) against (0, 1): divergence 1/4, the tail under p."""
    at = {"laws": "impossible", "exp(t)": 2.0}
    assert exact_value(STATEMENT, "@b", "printed", at) == 1.0
    assert exact_value(STATEMENT, "@b", "delta cut by 5 %", at) == pytest.approx(1 / 0.95)


@pytest.mark.parametrize(("part", "version"), [("@a", "printed"), ("@a", "corrected"), ("@b", "printed")])
def test_all_laws_with_denominator_4(part: str, version: str) -> None:
    """The worst pair and both its events, from the definition: supremum over events, tails by their law."""
    factor = Fraction(5, 4)
    laws = [tuple(Fraction(v, 4) for v in w) for w in product(range(5), repeat=3) if sum(w) == 4]
    pairs = []
    for p, q in product(laws, repeat=2):
        first, second = tail(p, p, q, factor), tail(q, p, q, factor)
        if (part, version) == ("@a", "printed"):
            second = first
        pairs += [(worst_event(p, q, factor), first), (worst_event(q, p, factor), second)]
    value, bound = max(pairs, key=lambda pair: (pair[0] - pair[1], pair[0]))
    evidence = decide(STATEMENT, part, version, {"denominator": 4, "exp(t)": 1.25})
    assert evidence.notes["value"] == float(value)
    assert evidence.notes["bound"] == float(bound)
