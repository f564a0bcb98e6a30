"""A quantity enclosed in ball arithmetic against what a statement allows it; and by how many decades a ratio grows."""

import math
from collections.abc import Callable, Mapping

from flint import arb

from audits import Estimate
from mechanisms import Relation
from mechanisms.numerics.balls import Ball, enclose

from ..kernel.measure import Measure
from ..kernel.statement import Claim, Evidence, Observer, Value

#: Decades of growth that a bounded ratio is granted (its constants settle along the sequence).
SETTLING = 0.5


def enclosed(
    quantity: str,
    evaluate: Callable[[], Ball],
    low: float,
    high: float,
    published: float,
    *,
    method: str = "ball arithmetic",
    probability: bool = False,
    in_domain: bool = True,
    relation: Relation | None = None,
    observer: Observer = Observer.OUTPUT,
    conditioned_on: str = "",
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide whether what ``evaluate`` encloses lies in ``[low, high]``.

    Parameters
    ----------
    quantity : str
        What is enclosed, in words.
    evaluate : callable
        Returns a ball around it at the working precision.
    low, high : float
        The allowed interval.
    published : float
        The number that the statement gives.
    method : str
        How it is known, in words.
    probability : bool
        The quantity is in [0, 1], so that its ends are cut there.
    in_domain, relation, observer, conditioned_on
        As in ``Claim``.
    notes : mapping
        Further numbers worth printing.
    """
    bracket = enclose(evaluate, low=0.0, high=1.0) if probability else enclose(evaluate)
    measure = Measure.NUMBER
    if probability:
        measure = Measure.COVERAGE if low > 0.0 else Measure.FAILURE
    claim = Claim(quantity, low, high, published, in_domain, relation, observer, conditioned_on, measure=measure)
    return Evidence(claim, exact=Estimate.proved(bracket.low, bracket.high, method), notes=notes or {})


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
