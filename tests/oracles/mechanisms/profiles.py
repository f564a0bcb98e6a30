"""Slow, literal twins of the exact profiles: the definition of the hockey-stick divergence, integrated by flint.

Nothing here is shared with the package: the densities are written out, the integrand ``p - e^epsilon q`` is integrated
over the set where it is positive, and flint bounds its own error.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
from flint import acb, arb, ctx

from mechanisms import Bracket, Direction

#: Standard deviations beyond which nothing is integrated (a normal tail of 1e-1960).
FAR = 95


def _normal(z: Any, mean: Any, variance: Any) -> Any:
    return (-((z - mean) ** 2) / (2 * variance)).exp() / (2 * arb.pi() * variance).sqrt()


def _integral(p: tuple[Any, Any], q: tuple[Any, Any], epsilon: Any, pieces: list[tuple[Any, Any]]) -> Any:
    factor = epsilon.exp()

    def integrand(z: Any, _analytic: bool) -> Any:
        return _normal(z, *p) - factor * _normal(z, *q)

    total = arb(0)
    for low, high in pieces:
        total += acb.integral(integrand, low, high, rel_tol=arb(10) ** -25, abs_tol=arb(10) ** -6000).real
    return total


def gaussian_log_delta(epsilon: float, mu: float, bits: int = 256) -> float:
    """Log delta between N(0, 1) and N(mu, 1), from its definition (p is N(mu, 1); p > e^epsilon q above one point)."""
    with ctx.workprec(bits):
        m, e = arb(mu), arb(epsilon)
        edge = e / m + m / 2
        pieces = [(edge, edge + 1), (edge + 1, edge + 10), (edge + 10, edge + FAR + m)]
        return float(_integral((m, arb(1)), (arb(0), arb(1)), e, pieces).log())


def gaussian_log_delta_balls(epsilon: float, mu: float, bits: int = 4000) -> float:
    """Log delta between N(0, 1) and N(mu, 1), from the two-term formula with enough bits for its cancellation."""
    with ctx.workprec(bits):
        m, e = arb(mu), arb(epsilon)
        root2 = arb(2).sqrt()
        delta = (-(m / 2 - e / m) / root2).erfc() / 2 - e.exp() * ((m / 2 + e / m) / root2).erfc() / 2
        return float(delta.log())


def quadratic_delta(epsilon: float, leverage: float, residual: float, *, backward: bool, bits: int = 256) -> float:
    """Delta of one-posterior sampling with d = 1, gamma = 1 and a target x = 1, from its definition.

    D has H = 1/leverage and ridge estimate 0; D' adds the record (x, y) = (1, residual). The two posteriors are
    N(0, 1/H) and N(residual/(H + 1), 1/(H + 1)); their log ratio is a parabola, cut at its two roots.
    """
    with ctx.workprec(bits):
        h, y, e = 1 / arb(leverage), arb(residual), arb(epsilon)
        before, after = (arb(0), 1 / h), (y / (h + 1), 1 / (h + 1))
        p, q = (after, before) if backward else (before, after)
        # log p - log q = A t^2 + B t + C
        A = 1 / (2 * q[1]) - 1 / (2 * p[1])
        B = p[0] / p[1] - q[0] / q[1]
        C = q[0] ** 2 / (2 * q[1]) - p[0] ** 2 / (2 * p[1]) + (q[1] / p[1]).log() / 2
        discriminant = B**2 - 4 * A * (C - e)
        far = FAR / h.sqrt() + abs(p[0]) + abs(q[0])
        if discriminant < 0:
            return float(_integral(p, q, e, [(-far, arb(0)), (arb(0), far)])) if A > 0 else 0.0
        root = discriminant.sqrt()
        left, right = (-B - root) / (2 * A), (-B + root) / (2 * A)
        if A > 0:
            unit = p[1].sqrt()
            pieces = [(right + j * unit, right + (j + 1) * unit) for j in range(20)]
            pieces += [(left - (j + 1) * unit, left - j * unit) for j in range(20)]
            pieces += [(right + 20 * unit, right + far), (left - far, left - 20 * unit)]
        else:
            left, right = right, left
            width = (right - left) / 40
            pieces = [(left + j * width, left + (j + 1) * width) for j in range(40)]
        return float(_integral(p, q, e, pieces))


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
