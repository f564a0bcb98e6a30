"""The events of RW21's Theorem 10.3 and its proof lines, over draws of the whole report.

Each version of the statement is a form of the report and an upper side; an event is a column of booleans, one row a
draw of (parameter, gradient, Hessian). Derivation of the corrected version: docs/derivations/privacy_report.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audits import Budget, Estimate, StreamKey
from audits.coverage import EventSampler, audit_coverage
from mechanisms import NeighbouringPair
from mechanisms.data import Dataset, FloatArray
from mechanisms.embedded import load
from mechanisms.losses import LogisticLoss, SquaredLoss
from mechanisms.objective_loss_terms import LossTerms
from mechanisms.objective_perturbation import ObjectivePerturbation
from mechanisms.report_terms import (
    OwnRecord,
    ReportForm,
    ReportScales,
    ReportTerms,
    corrected_terms,
    draw_releases,
    printed_terms,
)

from ..cases import case, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Observer, Role, Standing, Value

BoolArray = NDArray[np.bool_]
Upper = Callable[[ReportScales, OwnRecord, LossTerms], FloatArray]
FACTOR = 12.0


def additive(scales: ReportScales, own: OwnRecord) -> FloatArray:
    """Return T10.3's additive term ``|f'| ||x|| sqrt(2 log(2/rho)) / sigma_2``."""
    assert scales.sigma2 is not None
    return own.gradient_norm * math.sqrt(2.0 * math.log(2.0 / scales.failure_prob)) / scales.sigma2


def upper_printed(scales: ReportScales, own: OwnRecord, truth: LossTerms) -> FloatArray:
    """Return the printed upper side: 12 times the absolute value of the signed sum, and the additive term."""
    return np.asarray(FACTOR * np.abs(truth.total) + additive(scales, own))


def upper_corrected(scales: ReportScales, own: OwnRecord, truth: LossTerms, *, factor: float = FACTOR) -> FloatArray:
    """Return the corrected upper side: 12 times the sum of absolute terms, and ``2 min{sigma, sigma_2} ||f'x|| z / sigma^2``."""
    assert scales.sigma2 is not None
    terms = np.abs(truth.log_det_term) + truth.quadratic_term + np.abs(truth.gradient_term)
    slack = 2.0 * min(scales.sigma, scales.sigma2) * own.gradient_norm * scales.quantile / scales.sigma**2
    return np.asarray(factor * terms + slack)


def upper_signed(scales: ReportScales, own: OwnRecord, truth: LossTerms) -> FloatArray:
    """Return the corrected additive term with the absolute value of the signed sum: only the cancellation is left."""
    return upper_corrected(scales, own, truth, factor=0.0) + FACTOR * np.abs(truth.total)


def upper_of_proof(scales: ReportScales, own: OwnRecord, truth: LossTerms) -> FloatArray:
    """Return the printed additive term with the sum of absolute terms: only the cancellation is mended."""
    return upper_corrected(scales, own, truth) - upper_corrected(scales, own, truth, factor=0.0) + additive(scales, own)


@dataclass(frozen=True)
class ReportClaim:
    """One version of T10.3: how the report bounds, and what it is promised to stay below."""

    form: ReportForm
    upper: Upper


VERSIONS = {
    "printed": ReportClaim(printed_terms, upper_printed),
    "corrected": ReportClaim(corrected_terms, upper_corrected),
    "absolute value of a one-sided bound": ReportClaim(printed_terms, upper_corrected),
    "cancelling terms": ReportClaim(corrected_terms, upper_signed),
    "additive term over sigma_2": ReportClaim(corrected_terms, upper_of_proof),
    "factor 1": ReportClaim(corrected_terms, lambda s, o, t: upper_corrected(s, o, t, factor=1.0)),
}


@dataclass(frozen=True)
class Setting:
    """A data set, a target and the public parameters of one case."""

    mechanism: ObjectivePerturbation
    pair: NeighbouringPair
    scales: ReportScales


def setting(case: Case, *, required: bool = True) -> Setting:
    """Return the setting that a case names; ``tiny`` is one unit record (or none) and a unit target in one dimension."""
    scales = ReportScales(
        SquaredLoss() if case.text("loss") == "squared" else LogisticLoss(),
        sigma=case.number("sigma"),
        lam=case.number("lam"),
        failure_prob=case.number("rho"),
        sigma2=case.number("sigma_2"),
        sigma3=case.number("sigma_3"),
    )
    if case.text("data") == "tiny":
        outside = Dataset(np.empty((0, 1)), np.empty(0), 1.0, 1.0)
        pair = NeighbouringPair.add(outside, [1.0], 1.0)
    else:
        pair = NeighbouringPair.remove(load(case.text("data")), case.whole("record"))
    if case.text("target") == "inside" and case.text("data") == "tiny":
        pair = pair.swapped()
    if case.text("target") == "outside" and case.text("data") != "tiny":
        pair = pair.swapped()
    if required:
        scales.require(pair.dataset.dim)
    return Setting(ObjectivePerturbation(scales.loss, scales.sigma, scales.lam), pair, scales)


def draw(
    here: Setting, form: ReportForm, n_draws: int, rng: np.random.Generator
) -> tuple[OwnRecord, LossTerms, ReportTerms]:
    """Return the target's derivatives, the true loss term by term, and the report's bound, over draws of everything."""
    releases = draw_releases(here.mechanism, here.pair.first, here.scales, n_draws, rng=rng)
    truth = here.mechanism.loss_terms(releases.theta, here.pair)
    bound = form(here.scales, releases, here.pair.x, here.pair.y)
    return OwnRecord.at(here.scales, releases, here.pair.x, here.pair.y), truth, bound


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of T10.3, T10.p1 or T10.p2."""
    here = setting(case)
    if case.part.endswith("p1"):
        return _cap(case, here, budget)
    if case.part.endswith("p2"):
        return _additive_error(case, here, budget)
    audit = audit_coverage(_events(here, VERSIONS[version_name(case)]), budget)
    return coverage_evidence(
        "probability that both inequalities hold",
        1.0 - 3.0 * here.scales.failure_prob,
        sampled=audit.joint,
        relation=here.pair.relation,
        conditioned_on="D and z fixed",
        notes={"lower inequality": audit.parts[0].value, "upper inequality": audit.parts[1].value},
    )


def _events(here: Setting, claim: ReportClaim) -> EventSampler:
    """Return a sampler of the two inequalities of T10.3."""

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        own, truth, bound = draw(here, claim.form, n_draws, rng)
        upper = claim.upper(here.scales, own, truth)
        return np.column_stack([np.abs(truth.total) <= bound.epsilon1_bar, bound.epsilon1_bar <= upper])

    return events


def _cap(case: Case, here: Setting, budget: Budget) -> Evidence:
    """Bracket the supremum of ``f'' mu_bar`` between its largest draw and what the pointwise minimum proves of it.

    With the minimum, ``f'' mu_bar <= f'' ||x||^2 / lambda <= beta ||x||^2 / lambda`` whatever is released; without it
    nothing bounds it from above.
    """
    minimum = version_name(case) != "no pointwise minimum"
    form = corrected_terms if minimum else printed_terms
    own, _, bound = draw(here, form, budget.n_draws, budget.key.child("cap").rng())
    largest = float((own.second * bound.mu_bar).max())
    proved = here.scales.loss.beta * float(here.pair.x @ here.pair.x) / here.scales.lam if minimum else math.inf
    claim = Claim("supremum of f'' mu_bar", -math.inf, 0.5, 0.5, observer=Observer.OUTPUT)
    exact = Estimate(largest, largest, proved, 0.0, budget.n_draws, "largest draw, and a proved bound")
    return Evidence(claim, exact=exact)


def _additive_error(case: Case, here: Setting, budget: Budget) -> Evidence:
    """Decide that ``|g_bar| - |g|`` stays below the stated error, except with probability rho."""
    scales = here.scales
    assert scales.sigma2 is not None
    root = math.sqrt(2.0 * math.log(2.0 / scales.failure_prob))
    form, width = {
        "printed": (printed_terms, root),
        "corrected": (corrected_terms, 2.0 * scales.quantile),
        "once the quantile": (corrected_terms, scales.quantile),
    }[version_name(case)]
    error = min(scales.sigma, scales.sigma2) * width

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        own, truth, bound = draw(here, form, n_draws, rng)
        g = np.abs(truth.gradient_term) * scales.sigma**2
        return np.asarray(np.abs(bound.g_bar) <= g + error * own.gradient_norm)[:, None]

    return coverage_evidence(
        "probability that the additive error is at most the stated one",
        1.0 - scales.failure_prob,
        sampled=audit_coverage(events, budget).joint,
        relation=here.pair.relation,
        conditioned_on="D and z fixed",
    )


def failure_curve(version: str, rhos: Sequence[float], seed: int) -> list[tuple[float, float, float]]:
    """Return (value, low, high) of the probability that T10.3 fails, at each rho, in the lower-side setting."""
    claim, points = VERSIONS[version], []
    for rho in rhos:
        scales = ReportScales(LogisticLoss(), 4.0, 100.0, rho, 0.4, 0.1)
        mechanism = ObjectivePerturbation(scales.loss, scales.sigma, scales.lam)
        here = Setting(
            mechanism, NeighbouringPair.add(Dataset(np.empty((0, 1)), np.empty(0), 1.0, 1.0), [1.0], 1.0), scales
        )
        budget = Budget(4_000, 0.05, StreamKey(seed).child("figure", "RW21-T10", version, str(rho)))
        joint = audit_coverage(_events(here, claim), budget).joint
        points.append((1.0 - joint.value, 1.0 - joint.high, 1.0 - joint.low))
    return points


def cases(report: str, cap: str, additive_part: str) -> tuple[Case, ...]:
    """Return the cases of T10.3, T10.p1 and T10.p2, whose ids are given."""
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    draws = (4_000, 10_000, 100_000)
    tiny: dict[str, Value] = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.01}
    # lambda is far above 2 beta = 1/2 and above 2 sigma_3 tau; sigma_2 small against sigma, then large against it.
    lower = tiny | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "lam": 100.0}
    uppers = [
        tiny | {"sigma": 10.0, "sigma_2": 10.0 ** (k + 1), "sigma_3": 0.1, "lam": 10.0 ** (2 * k + 2)}
        for k in (1, 2, 3)
    ]
    cancel = tiny | {"loss": "squared", "sigma": 3.0, "sigma_2": 0.1, "sigma_3": 0.01, "lam": 3.0}
    grid_of = [
        tiny | {"loss": loss, "target": target, "rho": rho, "sigma": s, "sigma_2": s2, "sigma_3": s3, "lam": lam}
        for loss, lam in (("logistic", 1.0), ("squared", 3.0))
        for target in ("outside", "inside")
        for rho, s3 in ((0.1, 0.1), (0.02, 0.05))
        for s, s2 in ((4.0, 0.4), (4.0, 4.0), (1.0, 30.0))
    ]
    real: dict[str, Value] = {
        "data": "fair",
        "record": 3,
        "loss": "logistic",
        "rho": 0.05,
        "sigma": 4.0,
        "sigma_2": 4.0,
        "sigma_3": 0.5,
        "lam": 7.0,
    }
    out = [case(report, printed, lower, role=Role.COUNTEREXAMPLE, regime="lower side: sigma_2 = sigma/10", draws=draws)]
    out += [
        case(report, printed, u, role=Role.COUNTEREXAMPLE, regime="upper side: any lambda", draws=draws, quick=i == 0)
        for i, u in enumerate(uppers)
    ]
    for i, params in enumerate((lower, *uppers, cancel)):
        out.append(case(report, corrected, params, regime="what refutes the printed form", draws=draws, quick=i < 2))
    for i, params in enumerate(grid_of):
        out.append(case(report, corrected, params, regime="one dimension", draws=draws, quick=i % 8 == 0))
    for target in ("inside", "outside"):
        params = real | {"target": target}
        out.append(case(report, corrected, params, regime="real data", draws=(500, 4_000, 40_000), quick=False))
    out += [
        mutant(report, "absolute value of a one-sided bound", lower, draws=draws),
        mutant(report, "cancelling terms", cancel, draws=draws),
        mutant(report, "additive term over sigma_2", uppers[1], draws=draws),
        mutant(report, "factor 1", cancel, draws=draws),
    ]
    edge = tiny | {"rho": 0.2, "sigma": 1.0, "sigma_2": 1.0, "sigma_3": 0.1}
    out += [case(cap, printed, edge | {"lam": 0.5 + 1e-9}, regime="lambda = 2 beta", draws=draws)]
    out += [
        case(
            cap,
            printed,
            edge | {"loss": "squared", "lam": 2.0 + 1e-9, "target": t},
            regime="lambda = 2 beta",
            draws=draws,
        )
        for t in ("outside", "inside")
    ]
    out.append(mutant(cap, "no pointwise minimum", edge | {"loss": "squared", "lam": 2.0}, draws=draws))
    many = (10_000, 30_000, 300_000)
    small = lower | {"rho": 0.02}
    out.append(case(additive_part, printed, small, role=Role.COUNTEREXAMPLE, regime="sigma_2 = sigma/10", draws=many))
    for i, params in enumerate((small, uppers[0], cancel, *grid_of[::5])):
        params = params | {"rho": 0.05}
        out.append(case(additive_part, corrected, params, regime="one dimension", draws=many, quick=i < 1))
    out.append(mutant(additive_part, "once the quantile", small, draws=many))
    return tuple(out)
