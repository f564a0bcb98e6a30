"""How a ratio grows along a sequence, in decades: the finite side of an O(.) claim."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from audits import Estimate
from mechanisms.numerics.balls import Ball, enclose

from ..kernel.measure import Measure
from ..kernel.statement import Claim, Evidence, Observer, Value

#: Decades of growth that a bounded ratio is granted (its constants settle along the sequence).
SETTLING = 0.5


def growth_evidence(
    quantity: str,
    ratio: Callable[[Ball], Ball],
    first: int,
    last: int,
    *,
    most: float = SETTLING,
    least: float = -math.inf,
    conditioned_on: str = "",
) -> Evidence:
    """Decide whether a positive ratio grows by ``least`` to ``most`` decades from 10^first to 10^last."""

    def grown() -> Ball:
        ends = [ratio(arb(10) ** exponent) for exponent in (first, last)]
        return (ends[1] / ends[0]).log() / arb(10).log()

    bracket = enclose(lambda: grown() + 100)  # far from 0, where a relative width is hard to meet
    low, high = math.nextafter(bracket.low - 100.0, -math.inf), math.nextafter(bracket.high - 100.0, math.inf)
    claim = Claim(
        f"decades by which {quantity} grows, from 1e{first} to 1e{last}",
        least,
        most,
        0.0,
        observer=Observer.OUTPUT,
        conditioned_on=conditioned_on,
        measure=Measure.GROWTH,
    )
    notes: dict[str, Value] = {"decades of the sequence": last - first}
    return Evidence(claim, exact=Estimate.proved(low, high, "derived sequence, ball arithmetic"), notes=notes)


def decades_evidence(quantity: str, decades: float) -> Evidence:
    """Decide an O(.) claim on a sequence whose growth is known in decades: none is allowed."""
    words = f"decades by which this grows: {quantity}"
    claim = Claim(words, -math.inf, SETTLING, 0.0, observer=Observer.OUTPUT, measure=Measure.GROWTH)
    room = 1e-12 * abs(decades)
    return Evidence(claim, exact=Estimate.proved(decades - room, decades + room, "derived sequence"))
