"""Laws with finitely many outcomes in rational numbers: their composition by going through all outcomes, and masses."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction

import mpmath
from flint import arb

from mechanisms import Bracket, Direction


def ball(number: Fraction):
    return arb(number.numerator) / number.denominator


@dataclass(frozen=True)
class FiniteLaw:
    """Two laws on the same few outcomes, as a profile that the accountant takes."""

    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]

    def pairs(self, direction: Direction):
        pairs = list(zip(self.first, self.second, strict=True))
        return pairs if direction is Direction.FORWARD else [(q, p) for p, q in pairs]

    def tails(self, epsilon, direction: Direction):
        above = [(p, q) for p, q in self.pairs(direction) if ball(p) - epsilon.exp() * ball(q) > 0]
        return ball(sum((p for p, _ in above), Fraction(0))), ball(sum((q for _, q in above), Fraction(0)))


class FloatBrackets:
    """A profile that shows its brackets alone, as one from outside would."""

    def __init__(self, inner) -> None:
        self.inner = inner

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.inner.delta_bracket(epsilon, direction)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        return self.inner.tail_bracket(epsilon, direction)


def exact_delta(laws: list[FiniteLaw], epsilon: float, direction: Direction):
    """Sum over all outcomes of all steps of ``(P - e^epsilon Q)_+``, at fifty digits."""
    with mpmath.workdps(50):
        factor = mpmath.exp(mpmath.mpf(epsilon))
        total = mpmath.mpf(0)
        for outcome in itertools.product(*(law.pairs(direction) for law in laws)):
            p, q = math.prod(a for a, _ in outcome), math.prod(b for _, b in outcome)
            gap = mpmath.mpf(p.numerator) / p.denominator - factor * (mpmath.mpf(q.numerator) / q.denominator)
            total += max(gap, 0)
        return total


def convolved(masses: list[Fraction], count: int) -> list[Fraction]:
    """Masses of the sum of ``count`` independent positions, one after the other."""
    total = [Fraction(1)]
    for _ in range(count):
        longer = [Fraction(0)] * (len(total) + len(masses) - 1)
        for (i, a), (j, b) in itertools.product(enumerate(total), enumerate(masses)):
            longer[i + j] += a * b
        total = longer
    return total
