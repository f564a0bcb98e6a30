"""Proved enclosures of the laws of ``mechanisms.numerics.goe``, by ball arithmetic.

Chiani (2014) and de Bruijn: ``F^2`` is a ratio of two determinants of skew-symmetric matrices with entries
``A_jk = double integral over J x J of sign(y - x) x^j y^k exp(-(x^2 + y^2)/2)``, ``J`` the part of the line that all
eigenvalues must lie in. Integration by parts turns each entry into moments of one variable; all of it is evaluated in
python-flint balls at a precision that is doubled until the answer is narrow. Nothing here shares a formula with
``mechanisms.numerics.goe`` beyond de Bruijn's.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, arb_mat

from ..base import Bracket
from .balls import Ball, enclose
from .goe import Extreme, GoeLaw, Normalisation


def sf_bracket(law: GoeLaw, x: float) -> Bracket:
    """Return a proved enclosure of ``P(extreme > x)``, narrower than 1e-13 relatively.

    About 0.1 s at ``dim = 50`` and some seconds at ``dim = 200``. ``x`` is finite, taken as the exact binary number
    that it is, in the law's normalisation.
    """
    if not math.isfinite(x):
        raise ValueError(f"x must be finite, got x={x}")
    if law.extreme is Extreme.SPECTRAL_NORM and x <= 0:
        return Bracket(1.0, 1.0)
    return enclose(lambda: _upper_tail(law, x), low=0.0, high=1.0)


def isf_bracket(law: GoeLaw, upper_tail: Fraction) -> Bracket:
    """Return a proved enclosure of the quantile: two points whose tails are proved to lie on either side.

    ``upper_tail`` is the exact level in (0, 1), so that a printed decimal such as ``8.465e-6 / 2`` is not rounded.
    ``ArithmeticError`` if no relative half-width up to 1e-3 can be proved.
    """
    if not 0 < upper_tail < 1:
        raise ValueError(f"upper_tail must be in (0, 1), got upper_tail={upper_tail}")
    centre, width = law.isf(float(upper_tail)), 1e-12
    while width < 1e-3:
        low, high = centre - width * abs(centre), centre + width * abs(centre)
        if Fraction(sf_bracket(law, low).low) > upper_tail > Fraction(sf_bracket(law, high).high):
            return Bracket(low, high)
        width *= 10
    raise ArithmeticError(f"quantile must be enclosed within 1e-3, got dim={law.dim}, upper_tail={upper_tail}")


def _upper_tail(law: GoeLaw, x: float) -> Ball:
    t = arb(x)
    if law.normalisation is Normalisation.UNIT_OFF_DIAGONAL:
        t = t / arb(2).sqrt()
    low = -t if law.extreme is Extreme.SPECTRAL_NORM else None
    squared = _de_bruijn_matrix(law.dim, low, t).det() / _de_bruijn_matrix(law.dim, None, None).det()
    return (1 - squared) / (1 + squared.sqrt())  # 1 - F from F^2, without cancellation


def _de_bruijn_matrix(dim: int, low: Ball | None, high: Ball | None) -> Ball:
    """Return the skew-symmetric matrix of ``J = (low, high)`` (None is infinite), with a border row for odd ``dim``."""
    half_line = _moments(dim, low, high, variance=arb(1))
    product = _moments(max(2 * dim, 2), low, high, variance=arb(1) / 2)

    def boundary(k: int) -> Ball:
        """Sum of ``x^k exp(-x^2/2)`` over the finite ends of J."""
        return sum((end**k * (-(end * end) / 2).exp() for end in (low, high) if end is not None), arb(0))

    ends = [boundary(k) for k in range(max(dim - 1, 1))]
    size = dim + dim % 2
    rows = [[arb(0)] * size for _ in range(size)]
    for j in range(dim):
        for k in range(j + 1, dim):
            # by parts in y: int y^k w = -y^(k-1) w + (k-1) int y^(k-2) w
            value = 2 * product[j + k - 1] - ends[k - 1] * half_line[j]
            if k >= 2:
                value += (k - 1) * rows[j][k - 2]
            rows[j][k], rows[k][j] = value, -value
        if dim % 2:
            rows[j][dim], rows[dim][j] = half_line[j], -half_line[j]
    return arb_mat(rows)


def _moments(count: int, low: Ball | None, high: Ball | None, *, variance: Ball) -> list[Ball]:
    """Return the integrals over (low, high) of ``x^k exp(-x^2/(2 variance))`` for ``k < count`` (at least two)."""
    root = (2 * variance).sqrt()

    def erf(end: Ball, at_infinity: int) -> Ball:
        return arb(at_infinity) if end is None else (end / root).erf()

    def edge(k: int) -> Ball:
        ends = ((low, 1), (high, -1))
        return sum(
            (sign * end**k * (-(end * end) / (2 * variance)).exp() for end, sign in ends if end is not None), arb(0)
        )

    moments = [root * arb.pi().sqrt() / 2 * (erf(high, 1) - erf(low, -1)), variance * edge(0)]
    for k in range(2, count):
        moments.append(variance * (edge(k - 1) + (k - 1) * moments[k - 2]))
    return moments
