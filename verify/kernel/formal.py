"""Formal (epsilon, delta) claims over an exact privacy profile: evaluate a version of a formula, or search its box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from audits import Budget
from mechanisms import BOTH, ExactLaw, NeighbouringPair, PrivacyProfile, Relation
from mechanisms.data.embedded import load

from .box_search import Axis, Point, excess, worst_point
from .declare import At, Draws, Numbers
from .evidence import hockey_stick_evidence, sampled_delta
from .statement import Case, Evidence, Observer, Role

#: Objective of a point outside the domain: worse than any point inside can be.
OUTSIDE = -1e9
#: Draws of the Monte Carlo witness on real data, a profile.
DATA_DRAWS = (20_000, 200_000, 2_000_000)


Epsilon = Callable[[Point], float]
Inside = Callable[[Point, float], bool]


def everywhere(point: Point, epsilon: float) -> bool:
    """The domain of a formula that claims something at every parameter."""
    return True


@dataclass(frozen=True)
class PairAtPoint:
    """A mechanism on a pair of data sets, and the point of the box that it is."""

    mechanism: ExactLaw
    pair: NeighbouringPair
    point: Point


@dataclass(frozen=True)
class FormalClaim:
    """A family of (epsilon, delta) claims whose exact profile is known at every point of a box.

    Parameters
    ----------
    profile : callable
        Exact law of the privacy loss at a point.
    box : mapping of Axis
        The searched range of every parameter, ``delta`` among them.
    instance : callable, optional
        The mechanism and the pair of a case ``on_data``.
    """

    profile: Callable[[Point], PrivacyProfile]
    box: Mapping[str, Axis]
    relation: Relation = Relation.ADD
    observer: Observer = Observer.OUTPUT
    conditioned_on: str = ""
    instance: Callable[[Case], PairAtPoint] | None = None

    def of(self, epsilon: Epsilon, domain: Inside = everywhere) -> Callable[[Case, Budget], Evidence]:
        """Return the check of one version: epsilon at a point, and where it claims anything."""
        return partial(self._decide, epsilon, domain)

    def _decide(self, formula: Epsilon, domain: Inside, case: Case, budget: Budget) -> Evidence:
        """Decide one case: on real data, at its own numbers, or at the worst point that a search of the box finds."""
        if self.instance and "data" in case.params:
            return self._on_data(formula, domain, self.instance(case), budget)
        searched = case.role is Role.ADVERSARIAL
        point = self._worst(formula, domain, budget) if searched else numbers(case)
        epsilon = formula(point)
        return hockey_stick_evidence(
            self.profile(point),
            epsilon,
            point["delta"],
            in_domain=domain(point, epsilon),
            relation=self.relation,
            observer=self.observer,
            conditioned_on=self.conditioned_on,
            found=dict(point) if searched else None,
        )

    def _on_data(self, formula: Epsilon, domain: Inside, at: PairAtPoint, budget: Budget) -> Evidence:
        epsilon = formula(at.point)
        inside = domain(at.point, epsilon)
        delta = at.point["delta"]
        return data_evidence(at.mechanism, at.pair, epsilon, delta, budget, in_domain=inside, observer=self.observer)

    def _worst(self, formula: Epsilon, domain: Inside, budget: Budget) -> Point:
        """Return the point of the box with the largest excess of exact delta over the claimed one."""

        def objective(point: Point) -> float:
            epsilon = formula(point)
            return excess(self.profile(point), epsilon, point["delta"]) if domain(point, epsilon) else OUTSIDE

        return worst_point(self.box, objective, budget)


def on_data(data: str, record: int, params: Numbers, *, draws: Draws = DATA_DRAWS, quick: bool = False) -> At:
    """Return the case of one record of an embedded data set, with a Monte Carlo witness beside the exact law."""
    return At("real data", {"data": data, "record": record, **params}, draws=draws, quick=quick)


def pair_of(case: Case) -> NeighbouringPair:
    """Return the pair that removes the record of a case ``on_data``."""
    return NeighbouringPair.remove(load(case.text("data")), case.whole("record"))


def numbers(case: Case) -> Point:
    """Return the numeric parameters of a case."""
    return {name: float(value) for name, value in case.params.items() if isinstance(value, (int, float))}


def data_evidence(
    mechanism: ExactLaw,
    pair: NeighbouringPair,
    epsilon: float,
    delta: float,
    budget: Budget,
    *,
    in_domain: bool = True,
    observer: Observer = Observer.OUTPUT,
) -> Evidence:
    """Decide a formal claim on one pair of data sets: exact profile, with a Monte Carlo witness of the same delta."""
    profile = mechanism.profile(pair)
    worse = max(BOTH, key=lambda direction: profile.log_delta_at(epsilon, direction))
    return hockey_stick_evidence(
        profile,
        epsilon,
        delta,
        in_domain=in_domain,
        relation=pair.relation,
        observer=observer,
        sampled=sampled_delta(mechanism, pair, epsilon, worse, budget),
    )
