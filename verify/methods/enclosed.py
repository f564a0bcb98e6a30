"""A quantity enclosed in ball arithmetic against the interval that a statement allows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from audits import Estimate
from mechanisms import Relation
from mechanisms.numerics.balls import Ball, enclose

from ..kernel.measure import Measure
from ..kernel.statement import Claim, Evidence, Observer, Value


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
