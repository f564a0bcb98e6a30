"""What every exact privacy profile shares: both signs of epsilon, safe roots, proved brackets, swapped pairs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from ..base import Bracket, Direction, PrivacyProfile
from ..data.dataset import FloatArray


def from_nonnegative(epsilon: FloatArray, log_delta_opposite: FloatArray) -> FloatArray:
    """Return log delta at ``epsilon`` of either sign from log delta at ``|epsilon|``.

    For negative ``epsilon`` the second argument belongs to the opposite direction:
    ``delta(e) = 1 - e^e + e^e delta_opposite(-e)``, a sum of positive terms.
    """
    below = np.minimum(epsilon, 0.0)
    with np.errstate(divide="ignore"):
        dual = np.logaddexp(np.log(-np.expm1(below)), below + log_delta_opposite)
    return np.asarray(np.where(epsilon < 0, dual, log_delta_opposite))


def smallest_epsilon(log_delta: Callable[[float], float], delta: float, upper: float) -> float:
    """Return the smallest ``epsilon`` in ``[0, upper]`` with ``log_delta(epsilon) <= log(delta)``, rounded upwards.

    Parameters
    ----------
    log_delta : callable
        Non-increasing.
    delta : float
        In (0, 1].
    upper : float
        A point where ``log_delta`` is at most ``log(delta)`` (up to rounding); finite.
    """
    target = math.log(delta)
    if log_delta(0.0) <= target:
        return 0.0
    while log_delta(upper) > target:
        upper = 2 * upper + math.ulp(1.0)
    # -inf is clipped: brentq needs finite values, and only their signs far from the root
    root = float(
        scipy.optimize.brentq(
            lambda e: max(log_delta(e), -1e300) - target, 0.0, upper, xtol=1e-300, rtol=1e-15, maxiter=500
        )
    )
    step = math.ulp(root)
    while log_delta(root) > target:  # to the safe side
        root, step = min(root + step, upper), 2 * step
    return root


def epsilon_bracket(
    delta_bracket: Callable[[float], Bracket], delta: float, epsilon: float, *, widest: float = 1e-3
) -> Bracket:
    """Return a proved enclosure of the smallest ``epsilon >= 0`` with divergence at most ``delta``.

    Parameters
    ----------
    delta_bracket : callable
        Proved enclosure of the divergence, which is non-increasing in its argument.
    delta : float
        In [0, 1].
    epsilon : float
        A numerical solution, around which signs are proved; infinity is returned as it is.
    widest : float
        Largest relative half-width tried.

    Raises
    ------
    ArithmeticError
        If ``epsilon`` is not a solution to a relative accuracy of ``widest``.
    """
    if math.isinf(epsilon):
        return Bracket(epsilon, epsilon)
    room = 1e-14
    while room <= widest:
        slack = room * (epsilon or 1.0)
        low, high = max(epsilon - slack, 0.0), epsilon + slack
        low_proved = low == 0.0 or delta_bracket(low).low > delta  # strictly: delta may be flat where it is 0
        if low_proved and delta_bracket(high).high <= delta:
            return Bracket(low, high)
        room *= 10
    raise ArithmeticError(f"epsilon must solve delta(epsilon) = {delta}, got epsilon={epsilon}")


@dataclass(frozen=True)
class SwappedProfile:
    """The profile of a pair whose members changed places: the two directions are exchanged.

    Parameters
    ----------
    inner : PrivacyProfile
    """

    inner: PrivacyProfile

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence at ``epsilon``."""
        return self.inner.delta_at(epsilon, direction.opposite)

    def log_delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return its logarithm."""
        return self.inner.log_delta_at(epsilon, direction.opposite)

    def epsilon_at(self, delta: float, direction: Direction) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return self.inner.epsilon_at(delta, direction.opposite)

    def tail_at(self, epsilon: float, direction: Direction) -> float:
        """Return ``P(L > epsilon)``."""
        return self.inner.tail_at(epsilon, direction.opposite)

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of ``delta_at``."""
        return self.inner.delta_bracket(epsilon, direction.opposite)

    def tail_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of ``tail_at``."""
        return self.inner.tail_bracket(epsilon, direction.opposite)

    def epsilon_bracket(self, delta: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``."""
        return epsilon_bracket(lambda e: self.delta_bracket(e, direction), delta, self.epsilon_at(delta, direction))
