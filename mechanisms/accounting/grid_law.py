"""Laws of privacy losses on a grid in whole numbers: sums of independent losses, trimmed and rounded to one side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpz_poly
from scipy.signal import lfilter

from ..base import check_delta
from ..data.dataset import FloatArray


@dataclass(frozen=True, eq=False)
class GridLaw:
    """One end of a law: ``masses[i] 2^-bits`` at the loss ``(start/2 + i) step``, ``beyond 2^-bits`` at infinity.

    Parameters
    ----------
    step : float
        Width of the grid, a power of two.
    start : int
        Twice the position of the first mass: the grid lies on whole or on half multiples of the step.
    masses : fmpz_poly
        Whole numbers, at least 0.
    beyond : int
        Probability of an infinite loss.
    bits : int
        Probabilities are whole multiples of ``2^-bits``.
    upper : bool
        Whether the law is the pessimistic end: what is rounded or cut off is moved to larger losses and counts more.
        At the optimistic end it moves to smaller losses or is dropped.
    """

    step: float
    start: int
    masses: Any
    beyond: int
    bits: int
    upper: bool

    def times(self, other: GridLaw, cut: int) -> GridLaw:
        """Return the law of the sum of two independent losses, each of whose ends is trimmed by less than ``cut``."""
        product = self.masses * other.masses
        one = 1 << self.bits
        # flint's // is a floor where nothing is negative, and only there
        masses = (product + fmpz_poly([one - 1] * product.length()) if self.upper else product) // one
        # 1 - (1 - b)(1 - c): either loss is infinite
        product = (one - self.beyond) * (one - other.beyond)
        beyond = one - (product // one if self.upper else -(-product // one))
        return GridLaw(self.step, self.start + other.start, masses, beyond, self.bits, self.upper).trimmed(cut)

    def power(self, count: int, cut: int) -> GridLaw:
        """Return the law of the sum of ``count`` independent losses, by squaring."""
        if count == 1:
            return self
        half = self.power(count // 2, cut)
        whole = half.times(half, cut)
        return whole.times(self, cut) if count % 2 else whole

    def trimmed(self, cut: int) -> GridLaw:
        """Return the law without its ends, each of less than ``cut``.

        Pessimistic: the lower end moves up to the lowest point kept, the upper one to infinity. Optimistic: the upper
        end moves down to the highest point kept, the lower one is dropped.
        """
        masses, n_masses = self.masses, self.masses.length()
        first, below = 0, 0
        while first < n_masses - 1 and below + masses[first] < cut:
            below += int(masses[first])
            first += 1
        last, above = n_masses - 1, 0
        while last > first and above + masses[last] < cut:
            above += int(masses[last])
            last -= 1
        kept = fmpz_poly(masses.coeffs()[first : last + 1])
        beyond = self.beyond
        if self.upper:
            kept[0] += below
            beyond = min(beyond + above, 1 << self.bits)
        elif above:
            kept[last - first] += above
        return GridLaw(self.step, self.start + 2 * first, kept, beyond, self.bits, self.upper)

    def losses(self) -> GridLosses:
        """Return the law with float64 masses, each rounded to the side of its end."""
        one = 1 << self.bits
        toward = math.inf if self.upper else 0.0
        masses = np.array([int(mass) / one for mass in self.masses.coeffs()] or [0.0])
        masses = np.where(masses > 0, np.nextafter(masses, toward), 0.0)
        beyond = math.nextafter(self.beyond / one, toward) if self.beyond else 0.0
        return GridLosses(self.step, self.start, masses, beyond, self.upper)


@dataclass(frozen=True, eq=False)
class GridLosses:
    """One end of a law in float64, from which divergences are read off, every rounding to its side.

    Parameters
    ----------
    step, start, beyond, upper
        As in ``GridLaw``; ``beyond`` is a probability.
    masses : (m,) array
        Probabilities.
    """

    step: float
    start: int
    masses: FloatArray
    beyond: float
    upper: bool

    @property
    def margin(self) -> float:
        """Relative error granted to a sum of all masses, each times a factor off by a few units in the last place."""
        return (self.masses.size + 16) * 2.0**-52

    def delta_at(self, epsilon: float) -> float:
        """Return ``E[(1 - e^(epsilon - L))_+]``, rounded to the side of the end; at most 1."""
        first = int(min(max(epsilon / self.step - 0.5 * self.start, 0.0), self.masses.size))
        # positions and the step are exact in float64, so that only the difference and the exponential round
        losses = (0.5 * self.start + np.arange(first, self.masses.size)) * self.step
        value = float(self.masses[first:] @ -np.expm1(np.minimum(epsilon - losses, 0.0))) + self.beyond
        return min(value * (1 + self.margin if self.upper else 1 - self.margin), 1.0)

    def epsilon_at(self, delta: float) -> float:
        """Return the smallest ``epsilon >= 0`` with ``delta(epsilon) <= delta``, rounded to the side of the end."""
        delta = check_delta(delta)
        if self.delta_at(0.0) <= delta:
            return 0.0
        if self.delta_at(math.inf) > delta:
            return math.inf
        found = max(self._root(delta), 0.0)
        room = 1e-13 * max(found, self.step)
        if self.upper:
            while self.delta_at(found) > delta:
                found, room = found + room, 2 * room
            return found
        while found > 0.0 and self.delta_at(found) <= delta:
            found, room = max(found - room, 0.0), 2 * room
        return found

    def _root(self, delta: float) -> float:
        """Return about where ``delta(epsilon) = delta``: between two points of the grid it is linear in e^epsilon."""
        above = np.cumsum(self.masses[::-1])[::-1] + self.beyond
        # sum over j >= i of masses[j] e^(loss_i - loss_j)
        decayed = lfilter([1.0], [1.0, -math.exp(-self.step)], self.masses[::-1])[::-1]
        at_most = np.flatnonzero(above - decayed <= delta)
        i = int(at_most[0]) if at_most.size else self.masses.size - 1
        loss = (0.5 * self.start + i) * self.step
        return loss + math.log(max(above[i] - delta, math.ulp(0.0)) / decayed[i]) if decayed[i] > 0 else loss
