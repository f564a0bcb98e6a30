"""How a ratio grows along a sequence, in decades: the finite side of the O(.) claims of W19."""

from __future__ import annotations

import math
from collections.abc import Callable

from flint import arb

from audits import Estimate
from mechanisms.balls import Ball, enclose

from ..statement import Claim, Evidence, Observer, Value

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
    """Decide whether a positive ratio grows by at most ``most`` decades (at least ``least``) from 10^first to 10^last."""

    def grown() -> Ball:
        ends = [ratio(arb(10) ** exponent) for exponent in (first, last)]
        return (ends[1] / ends[0]).log() / arb(10).log()

    found = enclose(lambda: grown() + 100)  # far from 0, where a relative width is hard to meet
    low, high = math.nextafter(found.low - 100.0, -math.inf), math.nextafter(found.high - 100.0, math.inf)
    claim = Claim(
        f"decades by which {quantity} grows, from 1e{first} to 1e{last}",
        least,
        most,
        0.0,
        observer=Observer.OUTPUT,
        conditioned_on=conditioned_on,
    )
    notes: dict[str, Value] = {"decades of the sequence": last - first}
    return Evidence(claim, exact=Estimate.proved(low, high, "derived sequence, ball arithmetic"), notes=notes)
