"""The exact law of the largest eigenvalue and of the spectral norm of a GOE(d) matrix at finite ``d``.

With ``t`` the eigenvalue of the matrix ``(Z + Z^T)/2`` and ``phi_j`` the orthonormal Hermite functions, de Bruijn's
Pfaffian gives ``F(t)^2 = det(I - M)``. The inverse of de Bruijn's matrix over the whole line is half the (tridiagonal)
derivative matrix, so ``M`` is a Gram matrix of Hermite functions over ``(t, infinity)`` plus a correction of rank 2
(even ``d``) or 3 (odd), and ``1 - F`` keeps its relative accuracy in the upper tail. Derivation:
``docs/derivations/goe_law.md``.
Proved enclosures of the same laws, by ball arithmetic, are in ``mechanisms.numerics.goe_brackets``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
import scipy
from scipy.linalg import eigh
from scipy.special import gammainccinv, log_ndtr, roots_legendre

from ..data.dataset import FloatArray

#: Largest dimension covered (beyond it, the starting values of the recurrences leave the range of float64).
MAX_DIM = 500
#: Quantiles are given for upper-tail probabilities in this range; a lower tail below 1e-4 loses relative accuracy.
UPPER_TAIL_RANGE = (1e-100, 1 - 1e-4)

_PI_QUARTER = math.pi**-0.25
_TOTAL_0 = _PI_QUARTER * math.sqrt(2 * math.pi)  # the integral of phi_0 over the line
_LOG_FLOOR = 650.0  # exp(-650) is a normal float64 with room for the products formed below


class Normalisation(Enum):
    """The scale of a GOE matrix; the member's value is the factor on ``Z + Z^T`` with ``Z_ij`` i.i.d. N(0, 1)."""

    #: ``(Z + Z^T)/sqrt(2)``: off-diagonal variance 1, diagonal variance 2 (RW21, Lemma 20 and Algorithm 6).
    UNIT_OFF_DIAGONAL = math.sqrt(0.5)
    #: ``(Z + Z^T)/2``: off-diagonal variance 1/2, diagonal variance 1 (Chiani 2014).
    HALF_OFF_DIAGONAL = 0.5

    @property
    def scale(self) -> float:
        """Eigenvalue in this normalisation divided by ``t``, the one of ``(Z + Z^T)/2``."""
        return 2.0 * self.value


class Extreme(Enum):
    """Which extreme of the spectrum a law describes."""

    LARGEST_EIGENVALUE = "largest eigenvalue"
    SPECTRAL_NORM = "spectral norm"


def check_dim(dim: int) -> int:
    """Return ``dim`` as an int if it is a whole number in [1, MAX_DIM]."""
    if isinstance(dim, bool) or not 1 <= dim <= MAX_DIM or int(dim) != dim:
        raise ValueError(f"dim must be a whole number in [1, {MAX_DIM}], got dim={dim}")
    return int(dim)


@dataclass(frozen=True)
class GoeLaw:
    """The law of one extreme of the spectrum of GOE(dim).

    Parameters
    ----------
    dim : int
        In [1, 500].
    extreme : Extreme
        Largest eigenvalue or spectral norm.
    normalisation : Normalisation
        Scale of the matrix; it has no default, because a factor of sqrt(2) is easily lost here.

    Examples
    --------
    >>> law = GoeLaw(50, Extreme.LARGEST_EIGENVALUE, Normalisation.UNIT_OFF_DIAGONAL)
    >>> round(law.isf(8.465e-6 / 2), 3)  # RW21-N1 prints 12, which belongs to the other normalisation
    16.971
    """

    dim: int
    extreme: Extreme
    normalisation: Normalisation

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", check_dim(self.dim))
        if not isinstance(self.extreme, Extreme):
            raise ValueError(f"extreme must be a member of Extreme, got extreme={self.extreme!r}")
        if not isinstance(self.normalisation, Normalisation):
            raise ValueError(f"normalisation must be a member of Normalisation, got {self.normalisation!r}")

    def log_cdf(self, x: float) -> float:
        """Return ``log P(extreme <= x)`` (natural log)."""
        if math.isnan(x):
            raise ValueError(f"x must be a number, got x={x}")
        return _log_cdf(self.dim, self.extreme, x / self.normalisation.scale)

    def cdf(self, x: float) -> float:
        """Return ``P(extreme <= x)``; accurate absolutely, and relatively above about 1e-4."""
        return math.exp(self.log_cdf(x))

    def sf(self, x: float) -> float:
        """Return ``P(extreme > x)`` with relative accuracy in the upper tail (0.0 below about 1e-220)."""
        return -math.expm1(self.log_cdf(x))

    def log_sf(self, x: float) -> float:
        """Return ``log P(extreme > x)`` (natural log; minus infinity where ``sf`` is 0.0)."""
        tail = self.sf(x)
        return math.log(tail) if tail > 0 else -math.inf

    def isf(self, upper_tail: float) -> float:
        """Return the ``x`` with ``P(extreme > x) = upper_tail``; cached.

        Parameters
        ----------
        upper_tail : float
            In [1e-100, 1 - 1e-4].
        """
        low, high = UPPER_TAIL_RANGE
        if not low <= upper_tail <= high:
            raise ValueError(f"upper_tail must be in [{low:g}, {high:g}], got upper_tail={upper_tail}")
        return self.normalisation.scale * _isf(self.dim, self.extreme, float(upper_tail))

    def ppf(self, prob: float) -> float:
        """Return the quantile at ``prob`` (for a level near 1, ``isf`` takes its complement without rounding)."""
        return self.isf(1.0 - prob)


def goe_tau(dim: int, failure_prob: float) -> float:
    """Return RW21's ``tau = F^{-1}_{lambda_1(GOE(d))}(1 - rho/2)`` (RW21 Lemma 20; off-diagonal variance 1).

    By the union bound over ``lambda_1(A)`` and ``lambda_1(-A)``, ``P(||A||_2 > tau) <= failure_prob``. ``dim`` in [1,
    500], ``failure_prob`` (the paper's ``rho``) in (0, 1).
    """
    if not 0 < failure_prob < 1:
        raise ValueError(f"failure_prob must be in (0, 1), got failure_prob={failure_prob}")
    law = GoeLaw(dim, Extreme.LARGEST_EIGENVALUE, Normalisation.UNIT_OFF_DIAGONAL)
    return law.isf(failure_prob / 2)


def draw_goe(dim: int, n_draws: int, normalisation: Normalisation, *, rng: np.random.Generator) -> FloatArray:
    """Return GOE matrices, shape ``(n_draws, dim, dim)``: ``value * (Z + Z^T)``, ``Z_ij`` i.i.d. N(0, 1)."""
    Z = rng.standard_normal((n_draws, dim, dim))
    return normalisation.value * (Z + Z.transpose(0, 2, 1))


# --- quantiles -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _isf(dim: int, extreme: Extreme, upper_tail: float) -> float:
    """Return the ``t`` whose upper tail is ``upper_tail``: a bracketed root of the log tail."""
    two_sided = extreme is Extreme.SPECTRAL_NORM

    def gap(t: float) -> float:
        log_cdf = _log_cdf(dim, extreme, t)
        if upper_tail > 0.5:
            return math.log1p(-upper_tail) - log_cdf
        tail = -math.expm1(log_cdf)
        return math.log(tail / upper_tail) if tail > 0 else -1e6

    # A first guess only: the Tracy-Widom limit by Chiani's shifted gamma law (k, theta, alpha of Chiani 2014, Table I).
    one_sided = max(upper_tail / 2 if two_sided else upper_tail, 1e-30)
    tracy_widom = 0.186054 * float(gammainccinv(46.446, one_sided)) - 9.84801
    guess = math.sqrt(2 * dim) + dim ** (-1 / 6) * tracy_widom / math.sqrt(2)
    step = 0.05
    low, high = guess - step, guess + step
    if two_sided and low <= 0:
        low = 0.5 * high if high > 0 else step
        high = max(high, 2 * low)
    while gap(high) > 0:
        low, high, step = high, high + 2 * step, 2 * step
    while gap(low) < 0:
        further = low - 2 * step
        low, high, step = (0.5 * low if two_sided and further <= 0 else further), low, 2 * step
    return float(scipy.optimize.toms748(gap, low, high, xtol=1e-14, rtol=4 * np.finfo(float).eps))


# --- the distribution function ---------------------------------------------------------------------------------------


def _log_cdf(dim: int, extreme: Extreme, t: float) -> float:
    """Return ``log F`` at ``t``, an eigenvalue of ``(Z + Z^T)/2``; the tail integrals by one Gauss-Legendre rule."""
    if extreme is Extreme.SPECTRAL_NORM and t <= 0:
        return -math.inf
    edge = math.sqrt(2 * dim + 1)
    if t < -edge - 12:  # below this point F < exp(-144 d)
        return -math.inf
    if 0.5 * t * t > 2 * _LOG_FLOOR:  # 1 - F is below 1e-220 for every dimension covered
        return 0.0
    end = _end_of_integrals(edge, t)
    nodes, weights = _rule(_n_nodes(edge, t))
    points = np.concatenate([[t], t + 0.5 * (end - t) * (nodes + 1.0)])
    phi, tail = _hermite_functions(dim + 1, points)
    total = _totals(dim + 1)
    weights = 0.5 * (end - t) * weights
    if extreme is Extreme.LARGEST_EIGENVALUE:
        return 0.5 * _log_det_one_minus(*_one_sided(dim, phi, tail, total, weights))
    return _log_det_one_minus(*_two_sided(dim, phi, tail, total, weights))


def _one_sided(
    dim: int, phi: FloatArray, tail: FloatArray, total: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``Psi, U, V`` with ``F(t)^2 = det(I - Psi Psi^T - U V^T)`` (goe_law.md, equations 4 and 5)."""
    d, c = dim, math.sqrt(dim / 2)
    phi_t, a, s, inner = phi[:d, 0], tail[:d, 0], total[:d], phi[:d, 1:]

    def border(k: int) -> FloatArray:
        """Row ``k`` of the difference of de Bruijn's matrices over the line and over ``(-infinity, t)``."""
        return np.asarray(total[k] * a - tail[k, 0] * s + tail[k, 0] * a - 2.0 * inner @ (weights * tail[k, 1:]))

    psi = inner * np.sqrt(weights)
    top = np.zeros(d)
    top[-1] = 1.0
    if d % 2 == 0:
        U = np.column_stack([0.5 * phi_t, 0.5 * c * top])
        return psi, U, np.column_stack([s - a, border(d)])
    zero = np.zeros((1, len(weights)))
    s_top = total[d - 1]
    U = np.column_stack([np.append(0.5 * phi_t, 0.0), np.append(top, 0.0), np.append(0.0 * top, 1.0)])
    V = np.column_stack(
        [
            np.append(s - a, -1.0),
            np.append(0.5 * c * border(d) + a / s_top, 0.5 * c * tail[d, 0]),
            np.append(border(d - 1), tail[d - 1, 0]) / s_top,
        ]
    )
    return np.vstack([psi, zero]), U, V


def _two_sided(
    dim: int, phi: FloatArray, tail: FloatArray, total: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``Psi, U, V`` with ``F(t) = det(I - Psi Psi^T - U V^T)``: the odd functions alone (equations 6 and 7)."""
    odd = slice(1, dim, 2)
    k = dim if dim % 2 == 0 else dim - 1  # the even function next to the top of the odd block
    psi = phi[odd, 1:] * np.sqrt(2.0 * weights)
    a, phi_t = tail[odd, 0], phi[odd, 0]
    row = tail[odd, 1:] @ (weights * phi[k, 1:]) + a * (0.5 * total[k] - tail[k, 0])
    if dim % 2 == 0:
        top = np.zeros(len(a))
        top[-1] = 1.0
        return psi, (2.0 * math.sqrt(dim / 2) * top)[:, None], row[:, None]
    zero = np.zeros((1, len(weights)))
    border = np.append(np.zeros(len(a)), 1.0)
    U = np.column_stack([np.append(-phi_t, 0.0), border])
    V = np.column_stack([border, np.append(4.0 * row, 2.0 * tail[k, 0]) / total[k]])
    return np.vstack([psi, zero]), U, V


def _log_det_one_minus(psi: FloatArray, U: FloatArray, V: FloatArray) -> float:
    """Return ``log det(I - psi psi^T - U V^T)`` for at most 3 columns in ``U``, accurate when both parts are tiny.

    The symmetric part by the eigenvalues of its dual ``psi^T psi``; the rest is one small determinant
    ``det(I - K)``, expanded in the principal minors of ``K`` so that nothing is subtracted from 1.
    """
    values, vectors = eigh(psi.T @ psi, check_finite=False)
    values = np.clip(values, 0.0, 1.0 - 1e-16)
    left, right = (V.T @ psi) @ vectors, vectors.T @ (psi.T @ U)
    K = V.T @ U + (left / (1.0 - values)) @ right
    size = K.shape[0]
    minors = [K[i, i] * K[j, j] - K[i, j] * K[j, i] for i in range(size) for j in range(i)]
    change = -float(np.trace(K)) + sum(minors) - (float(np.linalg.det(K)) if size == 3 else 0.0)
    rest = math.log1p(change) if change > -1 else -math.inf
    return min(float(np.sum(np.log1p(-values))) + rest, 0.0)


def _end_of_integrals(edge: float, t: float) -> float:
    """Return where ``phi^2`` has fallen by ``exp(-45)`` from its size at ``max(t, edge)`` (WKB exponent)."""
    start = max(t, edge)

    def exponent(y: float) -> float:
        return y * math.sqrt(y * y - edge * edge) - edge * edge * math.acosh(y / edge)

    goal, y = exponent(start) + 45.0, start + 1.0
    for _ in range(60):  # Newton from any point converges from the right: the exponent is convex
        move = (exponent(y) - goal) / (2.0 * math.sqrt(y * y - edge * edge))
        y = max(y - move, start + 1e-3)
        if abs(move) < 1e-3:
            break
    return y


def _n_nodes(edge: float, t: float) -> int:
    """Return the number of Gauss-Legendre nodes: a fixed part, and the phase of ``phi^2`` below the edge."""
    u = min(max(t / edge, -1.0), 1.0)
    phase = 0.5 * edge * edge * (math.acos(u) - u * math.sqrt(1.0 - u * u))
    return 8 * math.ceil((40 + 1.5 * phase) / 8)


@lru_cache(maxsize=256)
def _rule(n_nodes: int) -> tuple[FloatArray, FloatArray]:
    nodes, weights = roots_legendre(n_nodes)
    return np.asarray(nodes, dtype=np.float64), np.asarray(weights, dtype=np.float64)


def _hermite_functions(count: int, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``phi_j(y)`` and its integral over ``(y, infinity)``, ``j < count``, both of shape ``(count, len(y))``.

    Three-term recurrences upwards; past the turning point every term is positive. A common factor keeps the starting
    values ``exp(-y^2/2)`` inside the range of float64.
    """
    shift = max(0.0, 0.5 * float(np.max(y * y)) - _LOG_FLOOR)
    phi, tail = np.empty((count, len(y))), np.empty((count, len(y)))
    phi[0] = _PI_QUARTER * np.exp(shift - 0.5 * y * y)
    tail[0] = _TOTAL_0 * np.exp(shift + log_ndtr(-y))
    if count > 1:
        root2y = math.sqrt(2) * y
        phi[1], tail[1] = root2y * phi[0], math.sqrt(2) * phi[0]
        for j in range(1, count - 1):
            up, back = 1 / math.sqrt(j + 1), math.sqrt(j / (j + 1))
            phi[j + 1] = (up * root2y) * phi[j] - back * phi[j - 1]
            tail[j + 1] = (math.sqrt(2) * up) * phi[j] + back * tail[j - 1]
    if shift > 0:
        phi *= math.exp(-shift)
        tail *= math.exp(-shift)
    return phi, tail


@lru_cache(maxsize=256)
def _totals(count: int) -> FloatArray:
    """Return the integrals of ``phi_j`` over the line, ``j < count`` (zero for odd ``j``)."""
    total = np.zeros(count)
    total[0] = _TOTAL_0
    for j in range(2, count, 2):
        total[j] = math.sqrt((j - 1) / j) * total[j - 2]
    return total
