"""Slow literal twins of the GOE laws: de Bruijn's Pfaffian by definition, and closed forms at d = 1 and 2."""

import math

from flint import acb, arb
from scipy.integrate import quad
from scipy.special import ndtr


def _skew_entry(j, k, low, high):
    """The double integral over (low, high)^2 of sign(y - x) x^j y^k exp(-(x^2 + y^2)/2): rigorous quadrature in x,
    the incomplete gamma function in y."""

    def antiderivative(y):  # of y^k exp(-y^2/2), entire in y: y^(k+1)/(k+1) 1F1((k+1)/2; (k+3)/2; -y^2/2)
        a = acb(k + 1) / 2
        return y ** (k + 1) / (k + 1) * (-(y * y) / 2).hypgeom_1f1(a, a + 1)

    top, bottom = antiderivative(acb(high)), antiderivative(acb(low))

    def integrand(x, analytic):
        return x**j * (-(x * x) / 2).exp() * (top + bottom - 2 * antiderivative(x))

    return acb.integral(integrand, acb(low), acb(high)).real


def _border_entry(j, low, high):
    return acb.integral(lambda x, analytic: x**j * (-(x * x) / 2).exp(), acb(low), acb(high)).real


def pfaffian(matrix):
    """The Pfaffian by its expansion along the first row."""
    if not matrix:
        return arb(1)
    total = arb(0)
    for column in range(1, len(matrix)):
        keep = [i for i in range(1, len(matrix)) if i != column]
        minor = [[matrix[i][k] for k in keep] for i in keep]
        total += (-1) ** (column - 1) * matrix[0][column] * pfaffian(minor)
    return total


def region_pfaffian(dim, low, high):
    """de Bruijn's Pfaffian of the region where every eigenvalue of (Z + Z^T)/2 lies in (low, high)."""
    size = dim + dim % 2
    matrix = [[arb(0)] * size for _ in range(size)]
    for j in range(dim):
        for k in range(j + 1, dim):
            matrix[j][k] = _skew_entry(j, k, low, high)
            matrix[k][j] = -matrix[j][k]
        if dim % 2:
            matrix[j][dim] = _border_entry(j, low, high)
            matrix[dim][j] = -matrix[j][dim]
    return pfaffian(matrix)


def cdf_half_off_diagonal(dim, t, two_sided):
    """P(extreme of (Z + Z^T)/2 <= t); the line is cut at +-16, which changes less than 1e-50 of it (dim <= 6)."""
    far = arb(16)
    low = -arb(t) if two_sided else -far
    return float((region_pfaffian(dim, low, arb(t)) / region_pfaffian(dim, -far, far)).mid())


def sf_one(x):
    """d = 1: the matrix (Z + Z^T)/sqrt(2) is N(0, 2); one-sided and two-sided upper tails."""
    tail = 0.5 * math.erfc(x / 2)
    return tail, 2 * tail


def sf_two(x):
    """d = 2: the eigenvalues of (Z + Z^T)/sqrt(2) are G +- R with independent G ~ N(0, 1), R ~ Rayleigh(1).

    One-sided: 1 - F = Phi(-x) + exp(-x^2/4) Phi(x/sqrt 2)/sqrt 2 (integrate by parts); two-sided: P(|G| + R > x).
    """
    one = ndtr(-x) + math.exp(-x * x / 4) * ndtr(x / math.sqrt(2)) / math.sqrt(2)
    inner, _ = quad(lambda r: r * math.exp(-r * r / 2) * 2 * ndtr(r - x), 0, x, epsabs=1e-15, epsrel=1e-13)
    return one, inner + math.exp(-x * x / 2)
