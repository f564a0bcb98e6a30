"""What would bring a claim to a PASS, in numbers: the least change that this suite can prove, by bisection.

The bound that decides is asked, not the domain of the statement behind it, which can be much smaller. It may fall as
slowly as it likes but must fall: where it does not along the way, or not at the rounded number, there is no number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from pydantic import ValidationError

from mechanisms import Mechanism
from mechanisms.parameters import Parameters
from reports.numbers import format_number

from ...messages.errors import UserError
from ..config.mechanism_source import check_fits
from .finding import DIGITS, Change, Deployment, Remedy
from .types import DPClaim

#: Doublings of a parameter before a way is given up, and halvings of the last one.
DOUBLINGS, HALVINGS = 40, 24
#: Places before the number at which the bound must not hold either.
PLACES = 6
#: The parameter of each form of a claim that may grow.
GROWS = {None: "epsilon", "gaussian-dp": "mu", "zcdp": "rho", "renyi": "epsilon"}
#: Where a claim of 0 begins to grow.
SMALLEST = 1e-6

#: Whether the deciding check of a claim holds for a mechanism.
Holds = Callable[[Mechanism, DPClaim], bool]


def remedies(deployment: Deployment, claim: DPClaim, holds: Holds) -> tuple[Remedy, ...]:
    """Return the changes that bring a claim about a reference mechanism to a PASS, one of the mechanism first.

    At most one of the mechanism and one of the claim; each was decided again at its rounded numbers. Empty where the
    claim holds already (by ``holds``, on the deployment's public domain), or nothing can be proved.
    """
    if holds(deployment.mechanism, claim):
        return ()
    found = (_of_mechanism(deployment, claim, holds), _of_claim(deployment, claim, holds))
    return tuple(each for each in found if each is not None)


def _of_mechanism(deployment: Deployment, claim: DPClaim, holds: Holds) -> Remedy | None:
    for now, way, proved in _ways(deployment, claim, holds):
        found = nearest(now, way, proved)
        if found is not None and proved(found, everything=True):
            return Remedy("mechanism", tuple(Change(name, now[name], value) for name, value in found.items()))
    return None


class _Proved(Protocol):
    def __call__(self, values: Mapping[str, float], *, everything: bool = False) -> bool: ...


def _ways(
    deployment: Deployment, claim: DPClaim, holds: Holds
) -> Iterator[tuple[dict[str, float], Mapping[str, int], _Proved]]:
    """Yield the ways to protect more: the parameters now, how they move, and whether values prove the claim."""
    section = deployment.config.mechanism
    if not isinstance(section, Parameters):
        return

    def proved(values: Mapping[str, float], *, everything: bool = False) -> bool:
        try:
            moved = type(section).model_validate(section.model_dump() | dict(values))
            mechanism = moved.build(deployment.dataset.dim)
            if everything:
                config = deployment.config.model_copy(update={"mechanism": moved})
                check_fits(config, mechanism, deployment.dataset)
            return holds(mechanism, claim)
        except (ValidationError, UserError, ValueError, ArithmeticError):
            return False

    for way in section.protection:
        if all(getattr(section, name) is not None for name in way):  # else this mechanism is set up without it
            yield {name: float(getattr(section, name)) for name in way}, way, proved


def _of_claim(deployment: Deployment, claim: DPClaim, holds: Holds) -> Remedy | None:
    name = GROWS.get(claim.profile)
    if name is None:
        return None
    now = float(getattr(claim, name))

    def proved(values: Mapping[str, float]) -> bool:
        return holds(deployment.mechanism, claim.model_copy(update=dict(values)))

    found = nearest({name: max(now, SMALLEST)}, {name: 1}, proved)
    return None if found is None else Remedy("claim", (Change(name, now, found[name]),))


def least_epsilon_proved(claimed: float, holds: Callable[[float], bool]) -> float:
    """Return the least epsilon at which a bound that holds at the claimed one still does, rounded up.

    ``holds`` must not be true below a place where it is false; the claimed epsilon is returned where nothing less is.
    """
    if holds(0.0):
        return 0.0
    low, high = 0.0, claimed
    for _ in range(HALVINGS):
        if _outward(low, 1) == _outward(high, 1):
            break
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    rounded = _outward(high, 1)
    return rounded if rounded < claimed and holds(rounded) else claimed


def largest_exceeded(claimed: float, exceeded: Callable[[float], bool]) -> float:
    """Return an epsilon, to three digits downwards, at which a claimed delta is still exceeded as at ``claimed``."""
    low = high = max(claimed, SMALLEST)
    for _ in _doublings():
        high *= 2
        if not exceeded(high):
            break
        low = high
    else:
        return math.inf
    while high > low * (1 + 0.5 * 10.0**-DIGITS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if exceeded(middle) else (low, middle)
    rounded = float(format_number(low, DIGITS, rounding="down"))
    return max(rounded, claimed)


def least_noise(deployment: Deployment, claim: DPClaim, holds: Holds) -> str:
    """Return the least protection, in the mechanism's own parameters, that the deciding bound still proves."""
    for now, way, proved in _ways(deployment, claim, holds):
        found = _least_along(now, way, proved)
        if found is not None and found != now:
            each = (f"{name} {format_number(value)} (now {format_number(now[name])})" for name, value in found.items())
            return f" The least noise that would do: {', '.join(each)}."
    return ""


def _least_along(
    now: Mapping[str, float], way: Mapping[str, int], proved: Callable[[Mapping[str, float]], bool]
) -> dict[str, float] | None:
    """Return the values farthest back along a way at which what is proved now still is, rounded to the safe side."""
    bad = next((-float(step) for step in _doublings() if not proved(_moved(now, way, -step))), None)
    if bad is None:
        return None
    good, _ = _edge(now, way, bad + 1, bad, proved)
    rounded = {name: _outward(value, way[name]) for name, value in _moved(now, way, good).items()}
    return rounded if proved(rounded) else None


def left_over(epsilon: float, delta: float) -> str:
    """Return what a bound proves beyond the claim, in a sentence."""
    at = f" at delta {format_number(delta)}" if delta else ""
    return f"the same bound gives epsilon {format_number(epsilon, DIGITS, rounding='up')}{at}."


def nearest(
    now: Mapping[str, float], way: Mapping[str, int], proved: Callable[[Mapping[str, float]], bool]
) -> dict[str, float] | None:
    """Return the values nearest to ``now`` along a way at which something is proved, rounded to the far side.

    Parameters
    ----------
    now : mapping of str to float
        Positive values at which nothing is proved.
    way : mapping of str to int
        Whether each is multiplied (1) or divided (-1) by the common factor.
    proved : callable
        Of values; once proved along the way it must stay so.

    Returns
    -------
    dict of str to float or None
        None where nothing is proved along the way, or it is not monotone where it was looked at.

    Examples
    --------
    >>> nearest({"sigma": 1.0}, {"sigma": 1}, lambda values: values["sigma"] >= 5.3472)
    {'sigma': 5.35}
    >>> nearest({"gamma": 1.0}, {"gamma": -1}, lambda values: values["gamma"] <= 0.12345)
    {'gamma': 0.123}
    """
    good = next((float(step) for step in _doublings() if proved(_moved(now, way, step))), None)
    if good is None:
        return None
    good, bad = _edge(now, way, good, 0.0 if good <= 1 else good - 1, proved)
    rounded = {name: _outward(value, way[name]) for name, value in _moved(now, way, good).items()}
    before = (_moved(now, way, bad * place / PLACES) for place in range(1, PLACES))
    return rounded if proved(rounded) and not any(proved(values) for values in before) else None


def _moved(now: Mapping[str, float], way: Mapping[str, int], log_factor: float) -> dict[str, float]:
    return {name: value * 2.0 ** (way[name] * log_factor) for name, value in now.items()}


def _edge(
    now: Mapping[str, float],
    way: Mapping[str, int],
    good: float,
    bad: float,
    proved: Callable[[Mapping[str, float]], bool],
) -> tuple[float, float]:
    """Return two steps along a way, proved at the first alone, between which all rounds to one number."""
    for _ in range(HALVINGS):
        ends = _moved(now, way, good), _moved(now, way, bad)
        if all(_outward(ends[0][name], turn) == _outward(ends[1][name], turn) for name, turn in way.items()):
            break
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if proved(_moved(now, way, middle)) else (good, middle)
    return good, bad


def _doublings() -> Iterator[int]:
    return iter(range(1, DOUBLINGS + 1))


def _outward(value: float, direction: int) -> float:
    text = format_number(value, DIGITS, rounding="up" if direction > 0 else "down")
    return float(text) if math.isfinite(value) else value
