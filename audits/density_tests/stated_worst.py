"""What a mechanism states about every pair of data sets: its ``worst_profile``, for the distance of a claim.

``worst_profile(x_bound, y_bound)`` returns an object with ``delta_at(epsilon)`` or ``delta_at(epsilon, direction)``, a
number in [0, 1] that no pair of data sets one record apart exceeds. A law of this project (``GaussianProfile``, ...) is
such an object; one with ``delta_bracket(epsilon, direction)`` beside it encloses its own number. It is its author's
word and bounds from above: it may support a claim, and never refute one.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from mechanisms.base import BOTH, Bracket, Direction
from mechanisms.data.neighbours import Relation
from mechanisms.laws.gaussian_profile import GaussianProfile

from ..black_box.claims import PrivacyClaim, TableCurve, implied_by
from ..examination.witnesses import StatedProfile

#: What a stated delta may exceed the claimed one by, relatively: a formula in float64 is not more exact.
STATED_ROUNDING: Final = 1e-9
#: Relative error granted to one evaluation of a ``delta_at`` that encloses nothing.
EVALUATION: Final = 1e-12
#: Where a stated worst case is tried, beside the epsilons of the claim.
TRIED: Final = (0.0, 0.5, 2.0)
#: Why a claimed curve stays open beside a stated worst case.
NOT_TOLD: Final = (
    "delta at single epsilons does not tell whether worst_profile lies below the whole claimed curve: return a "
    "GaussianProfile or a LaplaceProfile, or claim a table"
)


class StatementError(ValueError):
    """What a mechanism states of itself is not what it must be; the message says which part, and what it must be."""


@dataclass(frozen=True)
class StatedCurve:
    """A ``delta_at`` of the user's own, whose numbers are taken as they are stated, to a relative 1e-12.

    Where it gives none it states nothing: delta is at most 1.
    """

    law: Any
    directed: bool

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the stated bound on delta."""
        try:
            return self.checked(epsilon, direction)
        except StatementError:
            return 1.0

    def checked(self, epsilon: float, direction: Direction) -> float:
        """Return the stated number.

        Raises ``StatementError`` if it is not a number in [0, 1], or there is none.
        """
        what = f"delta_at({epsilon:g}) of what worst_profile returns"
        arguments = (epsilon, direction) if self.directed else (epsilon,)
        return _number(what, lambda: self.law.delta_at(*arguments))

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return the stated number with its rounding; everything where it states none."""
        try:
            delta = self.checked(epsilon, direction)
        except StatementError:
            return Bracket(0.0, 1.0)
        return Bracket(delta * (1 - EVALUATION), min(1.0, delta * (1 + EVALUATION)))


def _number(what: str, evaluate: Callable[[], Any]) -> float:
    """Return a number in [0, 1], or say in one sentence what came instead."""
    try:
        value = evaluate()
        number = math.nan if isinstance(value, (bool, np.bool_, str, bytes)) or np.ndim(value) else float(value)
    except Exception as stop:
        raise StatementError(f"{what} must be a number in [0, 1], it raised {type(stop).__name__}") from stop
    if 0 <= number <= 1:
        return number
    if 1 < number <= 1 + EVALUATION:
        return 1.0
    got = f"{value:g}" if isinstance(value, (float, int)) and not isinstance(value, bool) else type(value).__name__
    raise StatementError(f"{what} must be a number in [0, 1], got {got}")


@dataclass(frozen=True)
class Composed:
    """The profile of data sets ``steps`` records apart, from that of one record (group privacy by basic composition).

    ``delta_k(e) <= (1 + e^{e/k} + ... + e^{(k-1) e/k}) delta(e/k)``; docs/derivations/deployment.md, section 1.
    """

    one: StatedProfile
    steps: int

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the bound on delta."""
        return min(1.0, self._factor(epsilon) * self.one.delta_at(epsilon / self.steps, direction))

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of the bound."""
        factor, inner = self._factor(epsilon), self.one.delta_bracket(epsilon / self.steps, direction)
        return Bracket(min(1.0, factor * inner.low * (1 - 1e-12)), min(1.0, factor * inner.high * (1 + 1e-12)))

    def _factor(self, epsilon: float) -> float:
        return math.fsum(math.exp(i * epsilon / self.steps) for i in range(self.steps))


def stated_worst(
    mechanism: Any,
    x_bound: float,
    y_bound: float,
    relation: Relation,
    group: int = 1,
    *,
    claim: PrivacyClaim | None = None,
) -> tuple[StatedProfile | None, str]:
    """Return what a mechanism states about every pair of a relation, and why there is nothing where there is not.

    ``worst_profile(x_bound, y_bound)`` speaks about one record added or removed, and is composed for a replacement (two
    of them) and for groups. One that takes ``relation`` ("add-remove" or "replace") answers for that itself.

    ``mechanism``: perhaps with ``worst_profile``. ``x_bound``, ``y_bound``: of the public domain. ``relation``: what
    the claim is about. ``group``: records apart. ``claim``: the statement is tried at its epsilons too.
    """
    function = getattr(mechanism, "worst_profile", None)
    if not callable(function):
        return None, "the mechanism states no worst_profile"
    replaced = relation is Relation.REPLACE
    try:
        if "relation" in inspect.signature(function).parameters:
            steps = group
            law = function(x_bound, y_bound, relation="replace" if replaced else "add-remove")
        else:
            steps = group * (2 if replaced else 1)
            law = function(x_bound, y_bound)
    except Exception as stop:
        return None, f"worst_profile raised {type(stop).__name__}"
    try:
        profile = _profile_of(law, [epsilon / steps for epsilon in (*TRIED, *_epsilons(claim))])
    except StatementError as stop:
        return None, str(stop)
    if steps == 1:
        return profile, ""
    if type(profile) is GaussianProfile:
        return GaussianProfile(profile.largest * steps), ""  # Dong, Roth and Su 2022, theorem 2.14: group privacy
    return Composed(profile, steps), ""


def _profile_of(law: Any, epsilons: Sequence[float]) -> StatedProfile:
    """Return what ``worst_profile`` returned with brackets, once it gave numbers at these epsilons."""
    if not callable(getattr(law, "delta_at", None)):
        raise StatementError(
            "worst_profile must return an object with delta_at(epsilon) or delta_at(epsilon, direction), "
            f"got {type(law).__name__} without one"
        )
    curve = StatedCurve(law, _takes_direction(law.delta_at))
    enclosing = callable(getattr(law, "delta_bracket", None))
    for epsilon in dict.fromkeys(epsilons):
        for direction in BOTH:
            curve.checked(epsilon, direction)
            if enclosing:
                _check_bracket(law, epsilon, direction)
    if not (enclosing and curve.directed):
        return curve
    known: StatedProfile = law
    return known


def _takes_direction(function: Callable[..., Any]) -> bool:
    try:
        inspect.signature(function).bind(0.0, Direction.FORWARD)
    except TypeError:
        return False
    except ValueError:  # compiled: it does not say what it takes
        return True
    return True


def _check_bracket(law: Any, epsilon: float, direction: Direction) -> None:
    what = f"delta_bracket({epsilon:g}, direction) of what worst_profile returns"
    rule = "must be a mechanisms.Bracket with 0 <= low <= high <= 1"
    try:
        found = law.delta_bracket(epsilon, direction)
        right = 0 <= found.low <= found.high <= 1
    except Exception as stop:
        raise StatementError(f"{what} {rule}, it raised {type(stop).__name__}") from stop
    if not right:
        raise StatementError(f"{what} {rule}, got {type(found).__name__}")


def _epsilons(claim: PrivacyClaim | None) -> tuple[float, ...]:
    if claim is None:
        return ()
    points = claim.curve.points if isinstance(claim.curve, TableCurve) else ((claim.epsilon, claim.delta),)
    return tuple(epsilon for epsilon, _ in points)


def stated_delta(worst: StatedProfile, epsilon: float, claimed: float) -> float:
    """Return the stated delta at ``epsilon``, in the worse direction; ``claimed`` where rounding alone exceeds it."""
    high = max(worst.delta_bracket(epsilon, direction).high for direction in BOTH)
    return claimed if claimed < high <= claimed * (1 + STATED_ROUNDING) else high


def inside(worst: StatedProfile | None, claim: PrivacyClaim) -> bool | None:
    """Return whether a stated worst case, for the distance of the claim, lies inside it; None where nobody can tell.

    A stated delta may exceed the claimed one by a relative ``STATED_ROUNDING``. Of a composition only bounds at single
    points are known: that one exceeds a claimed curve says nothing.
    """
    if worst is None:
        return None
    one = PrivacyClaim(claim.epsilon, claim.delta, claim.relations, claim.curve)
    found = implied_by(worst, one, spare=STATED_ROUNDING)
    if claim.curve is not None and claim.form != "table" and isinstance(worst, Composed):
        return found or None
    return found
