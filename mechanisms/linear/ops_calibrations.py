r"""A proved bound on the loss of one posterior sample over all targets, and the calibrations of W18, appendix F.

With ``m`` the leverage of the target outside the data and ``r`` its residual there, outside an event of probability
``delta`` the loss is, in both directions, at most

    max(m z^2 - log(1 + m), log(1 + m)) / 2 + z r sqrt(gamma m) + gamma r^2 m / (2 (1 + m))

with ``z = Phi^{-1}(1 - delta/2)``, provided ``z >= 1``; it grows with ``m`` and with ``r``
(docs/derivations/wang2018_adaops.md, section 2). At one epsilon, delta itself is at most that of the exact law at the
largest leverage ``m`` and the residual ``r sqrt(1 + m)`` (docs/derivations/compare.md, section 3), which says more.

As printed the calibrations rest on remark 11, whose normal tail is taken at ``sqrt(log(2/delta))`` instead of a
quantile of its level, and on constants recomputed from each data set's own ``n``. Corrected, the same four choices are
made with the proved bound and a public upper bound on ``n``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ..base import BOTH, check_positive
from ..data.dataset import FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..laws.gaussian_profile import ROUNDING
from ..laws.quadratic_profile import QuadraticProfile, quadratic_log_delta
from ..numerics.transcripts import check_count

#: Largest delta for which the bound is proved: there the normal quantile z is still at least 1.
LARGEST_DELTA = 0.317


def two_sided_quantile(delta: float) -> float:
    """Return ``z`` with ``P(|Z| > z) = delta``; ``delta`` in (0, 0.317], where ``z >= 1``."""
    delta = check_open_delta(delta)
    if delta > LARGEST_DELTA:
        raise ValueError(f"delta must be at most {LARGEST_DELTA}, got delta={delta}")
    return -float(ndtri(delta / 2))


def leverage_part(leverage: ArrayLike, z: float) -> FloatArray:
    """Return the part of the bound that no temperature removes, ``max(m z^2 - log(1+m), log(1+m))/2``."""
    m = np.asarray(leverage, dtype=np.float64)
    return np.asarray(0.5 * np.maximum(m * z**2 - np.log1p(m), np.log1p(m)))


def loss_bound(leverage: ArrayLike, residual: ArrayLike, gamma: ArrayLike, delta: float) -> FloatArray:
    """Return the bound on the loss that holds in both directions outside probability ``delta``."""
    z = two_sided_quantile(delta)
    m, r, g = (np.asarray(part, dtype=np.float64) for part in (leverage, residual, gamma))
    return np.asarray(leverage_part(m, z) + z * r * np.sqrt(g * m) + 0.5 * g * r**2 * m / (1 + m))


def largest_leverage(epsilon: float, delta: float) -> float:
    """Return the leverage at which the temperature-free part of the bound alone is ``epsilon``."""
    z, epsilon = two_sided_quantile(delta), check_positive("epsilon", epsilon)
    high = 1.0
    while leverage_part(high, z) < epsilon:
        high *= 2
    root = scipy.optimize.brentq(lambda m: float(leverage_part(m, z)) - epsilon, 0.0, high, xtol=1e-300, rtol=1e-14)
    return float(root) * (1 - 1e-13)


def largest_gamma(leverage: ArrayLike, residual: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    """Return the largest ``gamma`` whose bound is at most ``epsilon``; 0 where the leverage alone uses it up.

    ``leverage`` and ``residual`` are positive upper bounds over all targets.
    """
    z = two_sided_quantile(delta)
    m, r = (np.asarray(part, dtype=np.float64) for part in (leverage, residual))
    room = np.maximum(check_positive("epsilon", epsilon) - leverage_part(m, z), 0.0)
    # 1/2 m/(1+m) w^2 + z sqrt(m) w - room = 0 in w = r sqrt(gamma), in the form that does not cancel
    w = 2 * room / (z * np.sqrt(m) + np.sqrt(z**2 * m + 2 * room * m / (1 + m)))
    return np.asarray((w / r) ** 2 * (1 - 1e-13))


def proved_delta(leverage: float, scaled_residual: float, epsilon: float) -> float:
    """Return a proved bound on delta over all targets of at most this leverage and residual times ``sqrt(gamma)``."""
    m = leverage * (1 + ROUNDING)
    worst = QuadraticProfile(m, scaled_residual * math.sqrt(1 + m) * (1 + ROUNDING))
    at = epsilon - ROUNDING * max(1.0, abs(epsilon))
    return max(worst.delta_bracket(at, direction).high for direction in BOTH)


def largest_proved_gamma(leverage: ArrayLike, residual: ArrayLike, epsilon: float, delta: float) -> FloatArray:
    """Return the largest ``gamma`` at which ``proved_delta`` is at most ``delta``, in float64; 0 where none is.

    ``leverage`` and ``residual`` are positive upper bounds over all targets, of any shapes that broadcast.
    """
    m, r = np.broadcast_arrays(np.asarray(leverage, dtype=np.float64), np.asarray(residual, dtype=np.float64))
    target = math.log(check_open_delta(delta))

    def kept(log_gamma: FloatArray) -> NDArray[np.bool_]:
        scaled = r * np.sqrt(1 + m) * np.exp(0.5 * log_gamma)
        return np.asarray(np.maximum(*(quadratic_log_delta(epsilon, m, scaled, d) for d in BOTH)) <= target)

    # no larger one: there the shift of normal laws alone is 40 and more
    low, high = np.full(m.shape, -60.0), np.log(1600 * (1 + m) ** 2 / (m * r**2))
    low = np.minimum(low, high - 60.0)
    some = kept(low)
    for _ in range(60):
        middle = 0.5 * (low + high)
        good = kept(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    return np.asarray(np.where(some, np.exp(low), 0.0))


def ridge_norm_bound(n_records: float, x_bound: float, y_bound: float, floor: ArrayLike) -> FloatArray:
    """Return a bound on ``|(X^T X + lam I)^{-1} X^T y|`` from a floor on the smallest eigenvalue of the matrix.

    ``min(sqrt(n) Y / sqrt(floor), n B Y / floor)``, since a singular value ``s`` of ``X`` contributes
    ``s/(s^2 + lam) <= 1/sqrt(s^2 + lam)``. (With ``lam`` itself as the floor, half of the first term suffices.)
    """
    floor = np.asarray(floor, dtype=np.float64)
    root = math.sqrt(n_records) * y_bound / np.sqrt(floor)
    return np.asarray(np.minimum(root, n_records * x_bound * y_bound / floor))


@dataclass(frozen=True)
class OPSParameters:
    """Ridge ``lam`` and inverse temperature ``gamma`` of one-posterior sampling, and the rule they come from."""

    lam: float
    gamma: float
    rule: str


@dataclass(frozen=True)
class Calibration(ABC):
    r"""The four rules of appendix F: a pair ``(lam, gamma)`` whose ``epsilon_bound`` is ``epsilon``.

    Parameters
    ----------
    epsilon, delta : float
        Budget; positive, and in (0, 1).
    n_records : int
        Number of records, at least 0 (as printed: of the data set at hand).
    dim : int
        Number of features (only the balanced and the conservative rule look at it).
    x_bound, y_bound : float
        Public bounds, finite and positive.
    """

    epsilon: float
    delta: float
    n_records: int
    dim: int
    x_bound: float
    y_bound: float
    #: What is added to the name of a rule.
    form: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for name in ("epsilon", "x_bound", "y_bound"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))
        object.__setattr__(self, "delta", check_open_delta(self.delta))
        object.__setattr__(self, "n_records", check_count("n_records", self.n_records, least=0))
        object.__setattr__(self, "dim", check_count("dim", self.dim))

    @abstractmethod
    def lipschitz(self, lam: ArrayLike) -> FloatArray:
        """Return the Lipschitz constant of a record's loss at this ridge."""

    @abstractmethod
    def epsilon_bound(self, lam: ArrayLike, gamma: ArrayLike) -> FloatArray:
        """Return what the loss is bounded by at failure probability ``delta``."""

    @property
    @abstractmethod
    def diffuse_lam(self) -> float:
        """The ridge at which the temperature-free part of the bound is ``epsilon/2``."""

    @abstractmethod
    def gamma_at(self, lam: float) -> float:
        """Return the largest ``gamma`` that the bound allows; ``ValueError`` where none is small enough."""

    def c1(self, epsilon: float, rho: float) -> float:
        """Return ``C_1(epsilon, delta, rho, d)`` of W18, eq. 18 (utility only)."""
        tail = math.log(1 / rho)
        return (self.dim / 2 + math.sqrt(self.dim * tail) + tail) * math.log(2 / self.delta) / epsilon**2

    def diffuse(self) -> OPSParameters:
        """Return OPS-Diffuse (W18-F1): the fixed ridge, gamma calibrated."""
        return self._at(self.diffuse_lam, "diffuse")

    def concentrated(self, gamma: float = 1.0) -> OPSParameters:
        """Return OPS-Concentrated (W18-F2): ``gamma = 1``, the ridge calibrated."""
        return OPSParameters(_solve_lam(self, gamma), check_positive("gamma", gamma), f"concentrated{self.form}")

    def balanced(self, *, norm: float = 1.0, rho: float = 0.05) -> OPSParameters:
        """Return OPS-Balanced (W18-F3): the ridge that minimises eq. 24 with ``B = norm``, then gamma calibrated."""
        return self._at(_balanced_lam(self, norm, rho), "balanced")

    def conservative(self, *, rho: float = 0.05) -> OPSParameters:
        """Return OPS-Conservative (W18-F4); the paper gives no formula, this reading: ``lam = B^2 sqrt(C_1)``.

        It minimises ``(Y/B + |theta*|)^2 (B^4 C_1/lam + lam)``, what eq. 24 becomes with ``|theta*_lam| <= |theta*|``,
        whose minimiser does not depend on ``|theta*|``; then gamma as in the diffuse rule.
        """
        c1 = self.c1(min(self.epsilon, math.sqrt(self.epsilon)), rho)
        return self._at(max(self.x_bound**2 * math.sqrt(c1), self.diffuse_lam), "conservative")

    def _at(self, lam: float, rule: str) -> OPSParameters:
        return OPSParameters(lam, self.gamma_at(lam), rule + self.form)


@dataclass(frozen=True)
class PublishedOPSCalibration(Calibration):
    """Appendix F of W18 as printed."""

    def lipschitz(self, lam: ArrayLike) -> FloatArray:
        """Return ``L(lam) = B Y (sqrt(n) B/sqrt(2 lam) + 1)`` (W18, after eq. 23)."""
        lam = np.asarray(lam, dtype=np.float64)
        return np.asarray(
            self.x_bound * self.y_bound * (math.sqrt(self.n_records) * self.x_bound / np.sqrt(2 * lam) + 1)
        )

    def epsilon_bound(self, lam: ArrayLike, gamma: ArrayLike) -> FloatArray:
        """Return the right-hand side of the calibration rule (W18, remark 11 with the smallest eigenvalue 0)."""
        lam, gamma = np.asarray(lam, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
        log_term, square, lipschitz = math.log(2 / self.delta), self.x_bound**2, self.lipschitz(lam)
        return np.asarray(
            np.sqrt(gamma * log_term / lam) * lipschitz
            + gamma * lipschitz**2 / (2 * (lam + square))
            + (1 + log_term) * square / (2 * lam)
        )

    @property
    def diffuse_lam(self) -> float:
        """``(1 + log(2/delta)) B^2/epsilon``, where the last term of the bound is ``epsilon/2`` (W18-F1)."""
        return (1 + math.log(2 / self.delta)) * self.x_bound**2 / self.epsilon

    def gamma_at(self, lam: float) -> float:
        """Return the ``gamma`` with ``epsilon_bound(lam, gamma) = epsilon``, for ``lam`` above half of the diffuse."""
        lam, log_term = check_positive("lam", lam), math.log(2 / self.delta)
        room = self.epsilon - (1 + log_term) * self.x_bound**2 / (2 * lam)
        if room <= 0:
            raise ValueError(f"lam must be above {self.diffuse_lam / 2:.6g} at this budget, got lam={lam}")
        # quadratic in w = L sqrt(gamma): w^2/(2 (lam + B^2)) + w sqrt(log(2/delta)/lam) = room
        slope, curve = math.sqrt(log_term / lam), 1 / (2 * (lam + self.x_bound**2))
        w = 2 * room / (slope + math.sqrt(slope**2 + 4 * curve * room))
        return (w / float(self.lipschitz(lam))) ** 2


@dataclass(frozen=True)
class CorrectedOPSCalibration(Calibration):
    r"""The four rules with a proved bound: OPS with the result is (epsilon, delta)-DP for one record added or removed.

    The leverage of any target is at most ``B^2/lam`` and its residual at most ``Y + B min(sqrt(n) Y/(2 sqrt(lam)),
    n B Y/lam)``; gamma is the largest (or ``lam`` the smallest) for which the bound of ``loss_bound`` is at most
    ``epsilon``. ``delta`` is in (0, 0.317], ``n_records`` a public upper bound for every data set.
    """

    form: ClassVar[str] = ", corrected"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.diffuse_lam

    def residual(self, lam: ArrayLike) -> FloatArray:
        """Return the bound on ``|y - x^T theta_hat|`` over all data sets and targets."""
        lam, n = np.asarray(lam, dtype=np.float64), self.n_records
        norm = np.minimum(math.sqrt(n) / (2 * np.sqrt(lam)), n * self.x_bound / lam) * self.y_bound
        return np.asarray(self.y_bound + self.x_bound * norm)

    def lipschitz(self, lam: ArrayLike) -> FloatArray:
        return self.x_bound * self.residual(lam)

    def epsilon_bound(self, lam: ArrayLike, gamma: ArrayLike) -> FloatArray:
        return loss_bound(self.x_bound**2 / np.asarray(lam, dtype=np.float64), self.residual(lam), gamma, self.delta)

    @property
    def diffuse_lam(self) -> float:
        return self.x_bound**2 / largest_leverage(self.epsilon / 2, self.delta)

    def gamma_at(self, lam: float) -> float:
        lam = check_positive("lam", lam)
        gamma = float(largest_gamma(self.x_bound**2 / lam, self.residual(lam), self.epsilon, self.delta))
        if gamma <= 0:
            least = self.x_bound**2 / largest_leverage(self.epsilon, self.delta)
            raise ValueError(f"lam must be above {least:.6g} at this budget, got lam={lam}")
        return gamma


def proposition_18(calibration: PublishedOPSCalibration, *, norm: float = 1.0, rho: float = 0.05) -> OPSParameters:
    """Return the closed form of W18, proposition 18, as printed; it is not tied to the calibration rule."""
    ratio = calibration.c1(calibration.epsilon, rho) * calibration.x_bound**4 * calibration.y_bound**2
    lam = (ratio * calibration.n_records / check_positive("norm", norm) ** 2) ** (1 / 3)
    log_term = math.log(2 / calibration.delta)
    gamma = calibration.epsilon**2 * lam / (4 * log_term * float(calibration.lipschitz(lam)) ** 2)
    return OPSParameters(lam, gamma, "proposition 18")


def _solve_lam(calibration: Calibration, gamma: float) -> float:
    """Return the smallest ridge whose bound at this ``gamma`` is at most epsilon (the bound falls as it grows)."""
    gamma = check_positive("gamma", gamma)

    def excess(log_lam: float) -> float:
        return math.log(float(calibration.epsilon_bound(math.exp(log_lam), gamma)) / calibration.epsilon)

    low = high = math.log(calibration.diffuse_lam)
    while excess(low) < 0:
        low -= 1.0
    while excess(high) > 0:
        high += 1.0
    root = float(scipy.optimize.brentq(excess, low, high, xtol=1e-14, rtol=1e-14))
    return math.exp(root) * (1 + 1e-12)


def _balanced_lam(calibration: Calibration, norm: float, rho: float) -> float:
    """Return the minimiser of eq. 24 over ``lam >= diffuse_lam``.

    ``C_1 L(lam)^2/lam + lam norm^2``: with ``s = 1/sqrt(lam)`` the first term is a convex increasing function of ``s``
    and the second convex too, so that there is one local minimum, found on a logarithmic scale.
    """
    norm = check_positive("norm", norm)
    c1 = calibration.c1(min(calibration.epsilon, math.sqrt(calibration.epsilon)), rho)

    def objective(log_lam: float) -> float:
        lam = math.exp(log_lam)
        return math.log(c1 * float(calibration.lipschitz(lam)) ** 2 / lam + lam * norm**2)

    return _smallest_on(objective, math.log(calibration.diffuse_lam))


def _smallest_on(objective: Callable[[float], float], low: float) -> float:
    """Return ``exp`` of the minimiser on ``[low, infinity)`` of a function with one local minimum there."""
    step, high = 1.0, low + 1.0
    while objective(high) < objective(high - step):
        step *= 2
        high += step
    minimum = scipy.optimize.minimize_scalar(objective, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    best = min((low, float(minimum.x)), key=objective)
    return math.exp(best)
