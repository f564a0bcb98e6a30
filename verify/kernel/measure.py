"""What a check measures, and by how much a case exceeds what is allowed, in a unit of its own kind."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

#: Decades beyond which a factor of growth is no number that float64 holds.
MOST_DECADES = 300.0


class Measure(Enum):
    """What the number of a claim is, the gravest first: a case is told by it, and two margins of one kind compare.

    The member's value says what ``low``, ``high`` and ``published`` of the claim are.
    """

    DELTA = "delta (at most high) at the published epsilon"
    COVERAGE = "the probability that something holds (at least low)"
    FAILURE = "the probability that something fails (at most high)"
    BOUND = "a number over its bound (at most high), or minus it where the bound is 0"
    GROWTH = "decades by which something over its order grows (at most high)"
    IDENTITY = "how far two sides differ (between low and high)"
    NUMBER = "any other number (between low and high)"


ORDER = {measure.name: place for place, measure in enumerate(Measure)}


def _number_of(value: Any) -> float:
    """Return the float that a row's number stands for (``inf``, ``-inf`` and ``nan`` are texts there)."""
    return float(value)


#: Relative width up to which an enclosure is told by its middle.
NARROW = 1e-4


def is_narrow(exact: Mapping[str, Any]) -> bool:
    """Return whether a proved enclosure is as good as a number; a wide one is told by its ends."""
    low, high, value = (_number_of(exact[name]) for name in ("low", "high", "value"))
    return low == high or high - low <= max(NARROW * abs(value), 1e-12)


def found_value(row: Mapping[str, Any]) -> float:
    """Return the number that decides a case: the exact one where there is one; ``nan`` without a witness.

    Of a wide enclosure it is the end that is nearer to what is allowed: the truth is no nearer.
    """
    witness, claim = row["exact"] or row["sampled"], row["claim"]
    if not witness:
        return math.nan
    if not row["exact"] or is_narrow(witness) or claim is None:
        return _number_of(witness["value"])
    low, high = _number_of(witness["low"]), _number_of(witness["high"])
    return high if high < _number_of(claim["low"]) else low


def excess(row: Mapping[str, Any]) -> float:
    """Return how many times a case exceeds what is allowed, in the unit of its measure: above 1 where it fails.

    The probability of failing for a coverage, the value for a bound, a factor for a growth; for an identity or another
    number, 1 plus the distance from what is allowed. Infinite where nothing is allowed; ``nan`` without a witness.
    """
    claim, value = row["claim"], found_value(row)
    if claim is None or math.isnan(value):
        return math.nan
    low, high = _number_of(claim["low"]), _number_of(claim["high"])
    match claim["measure"]:
        case "DELTA" | "FAILURE":
            return _over(value, high)
        case "COVERAGE":
            return _over(1.0 - value, 1.0 - low)
        case "BOUND":
            sides = [_number_of(row["notes"][name]) for name in ("value", "bound") if name in row["notes"]]
            return _over(sides[0], sides[1]) if len(sides) == 2 else _over(value, high)
        case "GROWTH":
            beyond = max(value - high, low - value)
            return math.inf if beyond > MOST_DECADES else 10.0**beyond
    return 1.0 + max(value - high, low - value)


def gravity(row: Mapping[str, Any]) -> tuple[int, int, float]:
    """Return the key that sorts decided cases, the worst first: those that fail, by kind, within a kind by factor.

    Of cases that do not fail, the one of the gravest kind with the least room (relative to what is allowed) is first.
    """
    fails = row["outcome"] == "FAILS"
    size = -excess(row) if fails else _number_of(row["margin"])
    return (0 if fails else 1, ORDER[row["claim"]["measure"]], math.inf if math.isnan(size) else size)


def _over(value: float, allowed: float) -> float:
    if allowed > 0:
        return value / allowed
    return math.inf if value > 0 else 0.0
