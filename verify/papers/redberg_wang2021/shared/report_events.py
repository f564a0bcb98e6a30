"""Runs of RW21's whole report for one record: the setting that a case names, and the coverage of an event.

An event is an array of booleans, one row a draw of (parameter, gradient, Hessian); a column for each of several inequalities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audits import Budget, Estimate
from audits.stats.coverage import EventSampler, audit_coverage
from mechanisms import NeighbouringPair
from mechanisms.data.dataset import Dataset
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from mechanisms.objective.objective_loss_terms import LossTerms
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.releases.report_terms import OwnRecord, ReportForm, ReportScales, ReportTerms, draw_releases

from ....kernel.formal import pair_of
from ...kit import At, Case, Draws, Evidence, Numbers, coverage_evidence

BoolArray = NDArray[np.bool_]
#: One unit record (or none) and a unit target in one dimension; then sigma_2 = sigma/10, where the one-sided bound fails.
TINY = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.01}
LOWER = TINY | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "lam": 100.0}


@dataclass(frozen=True)
class ReportSetting:
    """A data set, a target and the public parameters of one case."""

    mechanism: ObjectivePerturbation
    pair: NeighbouringPair
    scales: ReportScales

    @classmethod
    def of(cls, case: Case, *, required: bool = True) -> "ReportSetting":
        """Return the setting that a case names; Algorithm 2 has a requirement on lambda, Algorithm 4 has none."""
        scales = ReportScales(
            SquaredLoss() if case.text("loss") == "squared" else LogisticLoss(),
            sigma=case.number("sigma"),
            lam=case.number("lam"),
            failure_prob=case.number("rho"),
            sigma2=case.number("sigma_2"),
            sigma3=case.number("sigma_3"),
        )
        if case.text("data") == "tiny":
            outside = unit_target()
            pair = outside if case.text("target") == "outside" else outside.swapped()
        else:
            inside = pair_of(case)
            pair = inside if case.text("target") == "inside" else inside.swapped()
        if required:
            scales.require(pair.dataset.dim)
        return cls(ObjectivePerturbation(scales.loss, scales.sigma, scales.lam), pair, scales)

    def draw(
        self, form: ReportForm, n_draws: int, rng: np.random.Generator
    ) -> tuple[OwnRecord, LossTerms, ReportTerms]:
        """Return the target's derivatives, the true loss term by term, and the report's bound, over draws of everything."""
        x, y = self.pair.x, self.pair.y
        releases = draw_releases(self.mechanism, self.pair.first, self.scales, n_draws, rng=rng)
        truth = self.mechanism.loss_terms(releases.theta, self.pair)
        bound = form(self.scales, releases, x, y)
        return OwnRecord.at(self.scales, releases, x, y), truth, bound

    def coverage(
        self,
        quantity: str,
        failures: float,
        events: EventSampler,
        budget: Budget,
        *,
        parts: Sequence[str] = (),
        exact: Estimate | None = None,
        notes: Numbers | None = None,
    ) -> Evidence:
        """Decide that an event has probability ``1 - failures rho``; ``parts`` names its columns in the notes."""
        audit = audit_coverage(events, budget)
        return coverage_evidence(
            quantity,
            1.0 - failures * self.scales.failure_prob,
            exact=exact,
            sampled=audit.joint,
            relation=self.pair.relation,
            conditioned_on="D and z fixed",
            notes={name: part.value for name, part in zip(parts, audit.parts, strict=False)} | dict(notes or {}),
        )


def unit_target() -> NeighbouringPair:
    """Return empty data in one dimension and the record (1, 1) outside."""
    return NeighbouringPair.add(Dataset(np.empty((0, 1)), np.empty(0), 1.0, 1.0), [1.0], 1.0)


def points(regime: str, several: Iterable[Numbers], *, draws: Draws, every: int = 1, first: int = 0) -> list[At]:
    """Return a case at each of several points; the quick profile runs every ``every``-th from ``first`` on."""
    return [At(regime, p, draws=draws, quick=i % every == first) for i, p in enumerate(several)]
