"""Formal (epsilon, delta) claims over an exact privacy profile: evaluate a version of a formula, or search its box."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from audits import Budget
from mechanisms import BOTH, ExactLaw, NeighbouringPair, PrivacyProfile, Relation

from .evidence import hockey_stick_evidence
from .search import Axis, Point, excess, worst_point
from .statement import Case, Evidence, Observer, Role, Standing
from .witness import sampled_delta

#: Objective of a point outside the domain: worse than any point inside can be.
OUTSIDE = -1e9


def everywhere(point: Point, epsilon: float) -> bool:
    """The domain of a formula that claims something at every parameter."""
    return True


@dataclass(frozen=True)
class Version:
    """One version of a formula: epsilon at a point (which includes ``delta``), and where it claims anything."""

    epsilon: Callable[[Point], float]
    domain: Callable[[Point, float], bool] = everywhere


def version_name(case: Case) -> str:
    """Return the key of the version a case speaks about: ``printed``, ``corrected`` or the mutant's name."""
    return case.mutant if case.standing is Standing.MUTANT else case.standing.name.lower()


@dataclass(frozen=True)
class FormalClaim:
    """A family of (epsilon, delta) claims whose exact profile is known at every point of a box.

    Parameters
    ----------
    profile : callable
        Exact law of the privacy loss at a point.
    box : mapping of Axis
        The searched range of every parameter, ``delta`` among them.
    versions : mapping of Version
        ``printed``, ``corrected`` and the mutants by name.
    """

    profile: Callable[[Point], PrivacyProfile]
    box: Mapping[str, Axis]
    versions: Mapping[str, Version]
    relation: Relation = Relation.ADD
    observer: Observer = Observer.OUTPUT
    conditioned_on: str = ""

    def check(self, case: Case, budget: Budget) -> Evidence:
        """Decide one case: at its own numbers, or at the worst point that a search of the box finds."""
        version = self.versions[version_name(case)]
        point = self.worst(version, budget) if case.role is Role.ADVERSARIAL else numbers(case)
        epsilon = version.epsilon(point)
        return hockey_stick_evidence(
            self.profile(point),
            epsilon,
            point["delta"],
            in_domain=version.domain(point, epsilon),
            relation=self.relation,
            observer=self.observer,
            conditioned_on=self.conditioned_on,
            found=dict(point) if case.role is Role.ADVERSARIAL else None,
        )

    def worst(self, version: Version, budget: Budget) -> Point:
        """Return the point of the box with the largest excess of exact delta over the claimed one."""

        def objective(point: Point) -> float:
            epsilon = version.epsilon(point)
            if not version.domain(point, epsilon):
                return OUTSIDE
            return excess(self.profile(point), epsilon, point["delta"])

        return worst_point(self.box, objective, budget)


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
