"""What a mechanism states about every pair of data sets: its ``worst_profile``, for the distance of a claim."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any

from mechanisms.base import BOTH, Bracket, Direction
from mechanisms.data.neighbours import Relation
from mechanisms.laws.gaussian_profile import GaussianProfile

from ..black_box.claims import PrivacyClaim, implied_by
from ..examination.witnesses import StatedProfile


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
    mechanism: Any, x_bound: float, y_bound: float, relation: Relation, group: int = 1
) -> tuple[StatedProfile | None, str]:
    """Return what a mechanism states about every pair of a relation, and why there is nothing where there is not.

    ``worst_profile(x_bound, y_bound)`` speaks about one record added or removed, and is composed for a replacement (two
    of them) and for groups. One that takes ``relation`` ("add-remove" or "replace") answers for that itself.
    """
    function = getattr(mechanism, "worst_profile", None)
    if not callable(function):
        return None, "the mechanism states no worst_profile"
    replaced = relation is Relation.REPLACE
    try:
        if "relation" in inspect.signature(function).parameters:
            steps = group
            profile = function(x_bound, y_bound, relation="replace" if replaced else "add-remove")
        else:
            steps = group * (2 if replaced else 1)
            profile = function(x_bound, y_bound)
        for direction in BOTH:
            profile.delta_bracket(0.5, direction)
            profile.delta_at(0.5, direction)
    except Exception as stop:
        return None, f"worst_profile raised {type(stop).__name__}"
    if steps == 1:
        return profile, ""
    if type(profile) is GaussianProfile:
        return GaussianProfile(profile.mu * steps), ""  # Dong, Roth and Su 2022, theorem 2.14: group privacy
    return Composed(profile, steps), ""


def inside(worst: StatedProfile | None, claim: PrivacyClaim) -> bool | None:
    """Return whether a stated worst case, for the distance of the claim, lies inside it; None where nobody can tell."""
    if worst is None:
        return None
    known: Any = worst
    if claim.curve is not None and claim.form != "table" and isinstance(worst, Composed):
        return None  # the law of a composition is not known, only bounds at single points
    return implied_by(known, PrivacyClaim(claim.epsilon, claim.delta, claim.relations, claim.curve))
