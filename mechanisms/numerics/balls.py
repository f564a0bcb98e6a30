"""Ball arithmetic (python-flint): enclosures of real numbers that are proved, not estimated."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from flint import arb, ctx

from ..base import Bracket

#: A flint ball; python-flint ships no types.
Ball = Any

START_BITS: Final = 128
MAX_BITS: Final = 1 << 15
#: Enclosures are tightened until they are this narrow, relatively ...
RELATIVE_WIDTH: Final = 1e-13
#: ... or this narrow absolutely (far below the smallest normal float).
ABSOLUTE_WIDTH: Final = 1e-310


def ndtr_ball(x: Ball) -> Ball:
    """Return the standard normal distribution function of a ball, relatively accurate in the left tail."""
    return (-x / arb(2).sqrt()).erfc() / 2


def at_infinity(epsilon: Ball) -> tuple[Ball, Ball]:
    """Return ``(delta(epsilon), P(L > epsilon))`` of any finite loss at an infinite ``epsilon``."""
    limit = arb(0) if epsilon > 0 else arb(1) if epsilon < 0 else arb("nan")
    return limit, limit


def outward(ball: Ball) -> Bracket:
    """Return floats that provably enclose a finite ball (rounded outwards; at most a few units in the last place)."""
    if not ball.is_finite():
        raise ArithmeticError(f"ball must be finite, got ball={ball}")
    low, high = float(ball.lower()), float(ball.upper())
    while not arb(low) <= ball.lower():
        low = math.nextafter(low, -math.inf)
    while not arb(high) >= ball.upper():
        high = math.nextafter(high, math.inf)
    return Bracket(low, high)


def square_root(square: Ball) -> Ball:
    """Return the root of a number that is at least 0; from 0 on where the ball does not tell it from 0."""
    if square > 0 or square == 0:
        return square.sqrt()
    return arb(0).union(square.upper().sqrt()) if square.is_finite() and square.upper() > 0 else arb("nan")


def below(ball: Ball) -> float:
    """Return a float below a ball; minus infinity where the ball says nothing."""
    return math.nextafter(float(ball.lower()), -math.inf) if ball.is_finite() else -math.inf


def above(ball: Ball) -> float:
    """Return a float above a ball; infinity where the ball says nothing."""
    return math.nextafter(float(ball.upper()), math.inf) if ball.is_finite() else math.inf


def floats_around(value: Fraction) -> tuple[float, float]:
    """Return the two floats around a rational number (the same one twice where it is representable)."""
    near = float(value)
    exact = Fraction(near) == value
    return (near, near) if exact else (math.nextafter(near, -math.inf), math.nextafter(near, math.inf))


def enclose(evaluate: Callable[[], Ball], *, low: float = -math.inf, high: float = math.inf) -> Bracket:
    """Return a proved enclosure of the number that ``evaluate`` computes at the current precision.

    ``evaluate`` builds it from exact inputs; it is called at 128 bits, then at doubled precision until the ball is
    narrower than 1e-13 relatively or 1e-310 absolutely (``ArithmeticError`` if 32768 bits do not suffice for a finite
    one). ``low`` and ``high`` are bounds that are known to hold (0 and 1 for a probability); the enclosure is cut to
    them.
    """
    bits = START_BITS
    while True:
        with ctx.workprec(bits):
            ball = evaluate()
            if ball.is_finite():
                width = ball.upper() - ball.lower()
                if width <= abs(ball) * RELATIVE_WIDTH or width <= ABSOLUTE_WIDTH or bits >= MAX_BITS:
                    bracket = outward(ball)
                    return Bracket(min(max(bracket.low, low), high), max(min(bracket.high, high), low))
        if bits >= MAX_BITS:
            raise ArithmeticError(f"{MAX_BITS} bits must suffice for a finite ball, got ball={ball}")
        bits *= 2
