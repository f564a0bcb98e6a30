"""Slow, literal twins of the exact profiles: the definition of the hockey-stick divergence, integrated by flint.

Nothing here is shared with the package: the densities are written out, the integrand ``p - e^epsilon q`` is integrated
over the set where it is positive, and flint bounds its own error.
"""

from __future__ import annotations

from typing import Any

from flint import acb, arb, ctx

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
