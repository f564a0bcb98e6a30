"""The publishable report's coverage, and what the deployed coefficients are good for."""

from __future__ import annotations

import contextlib
import math

import numpy as np

from audits import Estimate
from audits.stats.coverage import audit_coverage, proportion
from audits.verdict import CheckRole
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation, PrivacyReport
from mechanisms.capabilities import Reportable, coefficients_of
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.reference import is_reference
from mechanisms.releases import ReportScales
from mechanisms.releases.report_terms import corrected_terms, draw_releases
from reports.numbers import format_number
from reports.row import Figure

from ...kernel.statement import Claim, Evidence, Observer
from ...kernel.statement_plots import coverage_figure
from .finding import Check, Deployment, Finding
from .types import CoverageClaim, UtilityClaim

#: Failure probabilities at which the figure shows the coverage.
FIGURE_RHOS = (0.02, 0.05, 0.1, 0.2)
#: Draws of one batch (a batch holds a Hessian each).
BATCH = 2_000


def _scales_of(deployment: Deployment) -> ReportScales:
    """Return the public parameters of the report that the configuration describes."""
    section, mechanism = deployment.config.report, deployment.mechanism
    assert section is not None
    assert isinstance(mechanism, Reportable)
    assert is_reference(mechanism)
    return mechanism.report_scales(section.rho, section.sigma2, section.sigma3)


def coverage_finding(deployment: Deployment, claim: CoverageClaim) -> Finding:
    """Return what was found about the coverage of the published bound on one's own loss."""
    scales = _scales_of(deployment)
    scales.require(deployment.dataset.dim)
    promised = (1.0 if scales.sigma2 is None else 3.0) * scales.failure_prob
    shown = Claim(
        "probability that one given person's bound fails", 0.0, claim.level, promised, observer=Observer.TRANSCRIPT
    )
    method = "union bound over the events behind the report (RW21-T10.3, lower inequality, corrected)"
    proof = Evidence(shown, Estimate.proved(0.0, promised, method), notes={"rho": scales.failure_prob})
    checks = [Check("proved failure probability of the bound", CheckRole.DECIDES, proof, False)]
    public = _public_data(deployment)
    checks.append(_simulated(deployment, claim, public, False, "simulated: public structured data"))
    if deployment.dataset.n_records:
        with contextlib.suppress(*((ValueError, ArithmeticError) if deployment.private else ())):
            checks.append(
                _simulated(deployment, claim, deployment.dataset, deployment.private, "simulated: the longest record")
            )
    most = format_number(claim.level * scales.failure_prob / promised, 3, rounding="down")
    return deployment.finding(
        claim,
        f"the published bound on one's own ex-post loss holds for any one given person with probability at least "
        f"{1 - claim.level:g}",
        "every data set and every person in the public domain, over the noise of the releases",
        checks,
        conditions=("the bound is evaluated in its corrected form",),
        advice=f"A smaller rho in the report: at most {most}.",
        figures=((False, _figure(deployment, public, scales, f"coverage-{claim.name}")),),
    )


def _public_data(deployment: Deployment, n_records: int = 60) -> Dataset:
    """Return a data set made without chance, in the dimension and domain of the deployment."""
    dim, bound = deployment.dataset.dim, deployment.dataset.x_bound
    index = np.arange(n_records)
    X = np.cos(np.outer(index + 1, np.arange(1, dim + 1)) * 2.399963)
    X *= (bound if math.isfinite(bound) else 1.0) / row_norms(X)[:, None] * ((index % 3 + 1) / 3)[:, None]
    signs = np.where(index % 2 == 0, 1.0, -1.0)
    y = signs * min(1.0, deployment.dataset.y_bound)
    if _scales_of(deployment).loss.name == "poisson":
        y = np.abs(y)
    return Dataset(X, y, deployment.dataset.x_bound, deployment.dataset.y_bound, name="structured", public=True)


def _failures(
    deployment: Deployment, dataset: Dataset, scales: ReportScales, n: int, rng: np.random.Generator
) -> FloatArray:
    """Return for each of ``n`` runs whether the longest record's bound failed."""
    mechanism = deployment.mechanism
    assert isinstance(mechanism, ObjectivePerturbation)
    pair = NeighbouringPair.remove(dataset, int(row_norms(dataset.X).argmax()))
    failed = np.empty(n, dtype=bool)
    for start in range(0, n, BATCH):
        size = min(BATCH, n - start)
        releases = draw_releases(mechanism, dataset, scales, size, rng=rng)
        truth = np.abs(mechanism.privacy_loss(releases.theta, pair))
        failed[start : start + size] = truth > corrected_terms(scales, releases, pair.x, pair.y).epsilon1_bar
    return failed


def _simulated(deployment: Deployment, claim: CoverageClaim, dataset: Dataset, private: bool, name: str) -> Check:
    scales = _scales_of(deployment)
    n_draws = _coverage_draws(deployment)
    budget = deployment.budget(str(claim.name), name, share=1 / 3, n_draws=n_draws, private=private)
    with deployment.progress.phase(f"{claim.name}: {name}", budget.n_draws):
        audit = audit_coverage(lambda n, rng: _failures(deployment, dataset, scales, n, rng), budget)
    shown = Claim("probability that one given person's bound fails", 0.0, claim.level, claim.level)
    return Check(name, CheckRole.REFUTES, Evidence(shown, sampled=audit.joint), private)


def _coverage_draws(deployment: Deployment) -> int:
    if deployment.draws is not None:
        return deployment.draws
    return {"quick": 500, "standard": 2_000, "full": 20_000}[deployment.config.budget.profile]


def _figure(deployment: Deployment, dataset: Dataset, scales: ReportScales, name: str) -> Figure:
    key = deployment.figure_key("coverage")
    points = []
    for rho in FIGURE_RHOS:
        at_rho = ReportScales(scales.loss, scales.sigma, scales.lam, rho, scales.sigma2, scales.sigma3)
        failed = _failures(deployment, dataset, at_rho, 1000, key.child(f"{rho:g}").rng())
        share = proportion(int(failed.sum()), failed.size, 0.05)
        points.append((max(share.value, 1e-4), max(share.low, 1e-4), share.high))
    multiple = 1.0 if scales.sigma2 is None else 3.0
    return coverage_figure(
        name,
        "How often the published bound fails",
        [multiple * rho for rho in FIGURE_RHOS],
        {"public structured data, longest record": points},
        "Simulated at larger rho than the report's own, where failures can be seen; 1,000 runs a point, 95 % bars",
    )


def utility_finding(deployment: Deployment, claim: UtilityClaim) -> Finding:
    """Return what was found about the quality of the coefficients on the data."""
    floor = claim.at_least if claim.metric == "accuracy" else claim.at_most
    assert floor is not None
    words = "at least" if claim.metric == "accuracy" else "at most"
    sentence = (
        f"with probability {claim.probability:g} the released coefficients have {claim.metric} {words} {floor:g} "
        "on the data"
    )
    budget = deployment.budget(str(claim.name), "utility", n_draws=_coverage_draws(deployment))

    def good(n: int, rng: np.random.Generator) -> FloatArray:
        outputs = deployment.mechanism.draw(deployment.dataset, n, rng=rng)
        values = quality(deployment, claim, coefficients(deployment, outputs))
        return np.asarray(values >= floor if claim.metric == "accuracy" else values <= floor)

    shown = Claim(
        f"probability that {claim.metric} is {words} {floor:g}", claim.probability, math.inf, claim.probability
    )
    with deployment.progress.phase(f"{claim.name}: simulated releases", budget.n_draws):
        evidence = Evidence(shown, sampled=audit_coverage(good, budget).joint)
    checks = [Check("simulated releases", CheckRole.DECIDES, evidence, deployment.private)]
    if deployment.released is not None:
        value = float(quality(deployment, claim, coefficients(deployment, deployment.released[None]))[0])
        low, high = (floor, math.inf) if claim.metric == "accuracy" else (0.0, floor)
        released = Claim(f"{claim.metric} of the released coefficients", low, high, value)
        exact = Estimate(value, value, value, 0.0, 0, "float64, all records")
        checks.append(Check("the released output", CheckRole.REFUTES, Evidence(released, exact), deployment.private))
    scope = "this data set, over the noise of the release"
    return deployment.finding(claim, sentence, scope, checks, advice="Less noise, or a lower floor.")


def coefficients(deployment: Deployment, outputs: FloatArray) -> FloatArray:
    """Return the coefficients that follow from each transcript, shape ``(n, dim)``."""
    return coefficients_of(deployment.mechanism, outputs, deployment.dataset)


def quality(deployment: Deployment, claim: UtilityClaim, theta: FloatArray) -> FloatArray:
    """Return the metric of each row of coefficients on the data."""
    data, values = deployment.dataset, np.empty(len(theta))
    loss = getattr(deployment.mechanism, "loss", None)
    logistic = isinstance(loss, LogisticLoss) or loss == "logistic"
    for start in range(0, len(theta), 64):
        scores = data.X @ theta[start : start + 64].T
        if claim.metric == "accuracy":
            right = np.where(scores > 0, 1.0, -1.0) == np.where(data.y > 0, 1.0, -1.0)[:, None]
            values[start : start + 64] = right.mean(axis=0)
        else:
            fitted = np.tanh(0.5 * scores) if logistic else scores
            values[start : start + 64] = np.square(fitted - data.y[:, None]).mean(axis=0)
    return values


def independent_report(deployment: Deployment) -> PrivacyReport:
    """Return the data-independent report: the released parameter and public constants, at no further cost."""
    scales = _scales_of(deployment)
    assert deployment.released is not None
    plain = ReportScales(scales.loss, scales.sigma, scales.lam, scales.failure_prob)
    return PrivacyReport(plain, tuple(float(v) for v in deployment.released))
