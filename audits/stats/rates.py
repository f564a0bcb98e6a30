"""Rates: "O(.)" and "there is a universal C" along one derived sequence, with a proved enclosure of each ratio.

No finite number of ratios refutes such a claim; what may be said is written into the types. A sequence supports it only
as "ratio at most c up to n". It speaks against it when the ratio is proved to grow in every one of at least four
decades *and* a derivation, which the caller names, says why it goes on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mechanisms.base import Bracket

from ..estimate import Estimate, Result

#: Decades over which a ratio must grow before a divergence is reported.
LEAST_DECADES = 4


@dataclass(frozen=True, repr=False)
class RateAudit(Result):
    """Ratios of a quantity to its stated order along a sequence.

    Attributes
    ----------
    sizes : tuple of float, positive, rising
    ratios : tuple of Bracket, proved enclosures, natural scale, positive
    derivation : str
        Why the sequence goes on as it does beyond the last size; empty if that is not known.
    """

    sizes: tuple[float, ...]
    ratios: tuple[Bracket, ...]
    derivation: str

    @property
    def decades(self) -> float:
        """Decades between the first and the last size."""
        return math.log10(self.sizes[-1] / self.sizes[0])

    @property
    def constant(self) -> Estimate:
        """Largest ratio seen: the observed constant, up to the last size and along this sequence only."""
        low, high = max(r.low for r in self.ratios), max(r.high for r in self.ratios)
        return Estimate.proved(low, high, f"largest ratio up to {self.sizes[-1]:g}")

    @property
    def growth(self) -> Estimate:
        """Decades by which the ratio grows (or, negative, shrinks) from the first size to the last."""
        change = _ratio(self.ratios[-1], self.ratios[0])
        low, high = math.log10(change.low), math.log10(change.high)
        return Estimate.proved(low - _room(low), high + _room(high), "ratio of proved ratios")

    @property
    def steps(self) -> tuple[Bracket, ...]:
        """Factor by which the ratio changes over each decade of sizes (the last size at or before its end)."""
        marks = [0]
        for i, size in enumerate(self.sizes):
            if size >= 10 * self.sizes[marks[-1]] * (1 - 1e-12):
                marks.append(i)
        return tuple(_ratio(self.ratios[b], self.ratios[a]) for a, b in itertools.pairwise(marks))

    def diverges(self, factor: float = 1.05) -> bool:
        """Return whether the ratio is proved to grow by ``factor`` in each of at least four decades, with a reason why.

        ``factor`` must be above 1: growth that dies out (a constant approached from below) has factors that tend to 1.
        """
        if not factor > 1:
            raise ValueError(f"factor must be above 1, got factor={factor}")
        steps = self.steps
        return bool(self.derivation) and len(steps) >= LEAST_DECADES and all(step.low >= factor for step in steps)

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "sizes": f"{len(self.sizes)} from {self.sizes[0]:g} to {self.sizes[-1]:g}",
            "largest ratio": self.constant,
            "growth in decades": self.growth,
            "derivation": self.derivation or "none named",
        }


def audit_rate(
    quantity: Callable[[float], Bracket],
    order: Callable[[float], Bracket],
    sizes: Sequence[float],
    *,
    derivation: str = "",
) -> RateAudit:
    """Return the ratios of a quantity to its stated order, each with a proved enclosure.

    Parameters
    ----------
    quantity, order : callable, proved enclosures at a size; both positive
    sizes : sequence of float
        Positive, rising, at least two; four decades or more if divergence is to be reported.
    derivation : str
        Why the ratio continues as it does (a note of ``docs/derivations``).

    Returns
    -------
    RateAudit
        Ratios, their growth over each decade, and whether divergence may be reported.

    Raises
    ------
    ValueError
        If the sizes do not rise, or an enclosure is not finite and positive.

    Examples
    --------
    >>> from audits.stats import audit_rate
    >>> from mechanisms import Bracket
    >>> sizes = [10.0**k for k in range(1, 7)]
    >>> seen = audit_rate(lambda n: Bracket(n, n), lambda n: Bracket(n**0.5, n**0.5), sizes, derivation="n / sqrt(n)")
    >>> round(seen.growth.value, 6), seen.diverges()
    (2.5, True)
    """
    points = tuple(float(size) for size in sizes)
    rising = all(a < b for a, b in itertools.pairwise(points))
    if len(points) < 2 or not rising or not points[0] > 0 or not math.isfinite(points[-1]):
        raise ValueError(f"sizes must be at least two positive numbers that rise, got sizes={list(points)}")
    return RateAudit(points, tuple(_ratio(quantity(size), order(size)) for size in points), derivation)


def _ratio(top: Bracket, bottom: Bracket) -> Bracket:
    if not (top.low > 0 and bottom.low > 0 and math.isfinite(top.high) and math.isfinite(bottom.high)):
        raise ValueError(f"quantity and order must be finite and positive, got {top} and {bottom}")
    return Bracket(math.nextafter(top.low / bottom.high, 0.0), math.nextafter(top.high / bottom.low, math.inf))


def _room(logarithm: float) -> float:
    """Return more than the rounding error of a logarithm in float64."""
    return 1e-15 * max(1.0, abs(logarithm))
