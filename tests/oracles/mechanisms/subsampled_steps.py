"""Slow, literal twins of the laws of one Poisson-sampled step: densities written out and integrated.

Nothing here is shared with the package: no closed form of a loss, no error function, no binomial sum.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from flint import acb, arb, ctx

#: Standard deviations beyond which nothing is integrated.
FAR = 40
#: Points of the square on which ``plane_delta`` sums, a side.
SIDE = 361


def _normal(x: Any, mean: Any) -> Any:
    return (-((x - mean) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()


def _mixture(x: Any, parts: list[tuple[Any, Any]]) -> Any:
    return sum((weight * _normal(x, mean) for weight, mean in parts), acb(0))


def worst_pair(rate: float, mu: float, relation: str) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Return the laws of D and D' as lists of (weight, mean): add, remove or replace one record."""
    q, m = arb(rate), arb(mu)
    absent, present, opposite = [(arb(1), arb(0))], [(1 - q, arb(0)), (q, m)], [(1 - q, arb(0)), (q, -m)]
    return {"ADD": (absent, present), "REMOVE": (present, absent), "REPLACE": (present, opposite)}[relation]


def line_delta_and_tail(p: Any, q: Any, epsilon: float, bits: int = 160) -> tuple[float, float]:
    """Integrate ``(p - e^epsilon q)_+`` and ``p`` where ``p > e^epsilon q``, for a ratio p/q that is monotone."""
    with ctx.workprec(bits):
        factor = arb(epsilon).exp()

        def gap(x: Any, _analytic: bool = False) -> Any:
            return _mixture(x, p) - factor * _mixture(x, q)

        low, high = arb(-FAR), arb(FAR)
        rising = bool(gap(high).real > 0)
        if bool(gap(low).real > 0) == rising:  # of one sign everywhere (as far as one looks)
            if not rising:
                return 0.0, 0.0
            edge = low
        else:
            for _ in range(bits):
                middle = ((low + high) / 2).mid()
                low, high = (low, middle) if bool(gap(middle).real > 0) == rising else (middle, high)
            edge = low
        ends = [edge + step if rising else edge - step for step in (0, 1, 4, 12, FAR, 2 * FAR)]
        pieces = [(a, b) if rising else (b, a) for a, b in pairwise(ends)]
        delta = sum((acb.integral(gap, a, b).real for a, b in pieces), arb(0))
        tail = sum((acb.integral(lambda x, _: _mixture(x, p), a, b).real for a, b in pieces), arb(0))
        return float(delta), float(tail)


def plane_delta(rate: float, u: Any, v: Any, epsilon: float) -> float:
    """Sum ``(p - e^epsilon q)_+`` over a fine square: ``p`` moved to ``u`` with probability rate, ``q`` to ``v``.

    Vectors of two numbers, at most 4 long. The kink of the integrand costs about the square of the grid's width.
    """
    side = np.linspace(-9.0, 9.0, SIDE)
    x, y = side[:, None], side[None, :]

    def density(mean: Any) -> Any:
        return np.exp(-0.5 * ((x - mean[0]) ** 2 + (y - mean[1]) ** 2)) / (2 * np.pi)

    p = (1 - rate) * density((0.0, 0.0)) + rate * density(u)
    q = (1 - rate) * density((0.0, 0.0)) + rate * density(v)
    return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum() * (side[1] - side[0]) ** 2)


def renyi_by_quadrature(rate: float, mu: float, order: float, *, backward: bool = False) -> float:
    """Integrate ``p^order q^(1 - order)``, p the mixture and q the normal law at 0 (backward: the other way round)."""
    with mpmath.workdps(25):
        weight, shift = mpmath.mpf(rate), mpmath.mpf(mu)

        def integrand(x: Any) -> Any:
            normal = mpmath.npdf(x)
            mixture = (1 - weight) * normal + weight * mpmath.npdf(x, shift)
            top, bottom = (normal, mixture) if backward else (mixture, normal)
            return top**order * bottom ** (1 - order)

        reach = order * shift
        pieces = [-reach - 15, -4, 0, shift, reach / 2 + 2, reach + 4, reach + 15]
        return float(mpmath.log(mpmath.quad(integrand, sorted(pieces))) / (order - 1))
