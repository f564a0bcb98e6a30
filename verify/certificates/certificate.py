"""All claims of a deployment decided, and the record of it: rows for the curator, of which a part is for release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from audits.doors.wire import AnswerCache
from audits.error_budget import Part
from audits.examination.deadline import Deadline
from audits.subject.no_answer import NoAnswer
from audits.verdict import Decision
from mechanisms import GaussianProfile, Mechanism
from mechanisms.capabilities import worst_case_of
from mechanisms.objective.perturbed_solver import SolverError
from reports.codec import to_plain
from reports.row import Audience, Figure

from ..engine.follow import SILENT, Phases
from ..engine.record import SCHEMA_VERSIONS
from ..engine.rows import Row, dumps, encode, evidence_row
from ..engine.versions import header
from ..messages.errors import UserError
from .asked import EXIT_CODES, Standing, overall
from .claims.claims_report import independent_report
from .claims.finding import Check, Deployment, Examined, Finding, worst_of
from .claims.imported.vouched import vouched_by
from .claims.types import Claim, DPClaim
from .config.config import Loaded
from .config.config_doors import DoorSection
from .config.door_source import DoorSource
from .config.fits import check_fits
from .config.mechanism_source import Imported, build_mechanism
from .config.named_pairs import named_pairs
from .config.views import views_of
from .folder.artefact import artefact_of
from .pages.certificate_plots import budget_curves
from .reading.data_files import read_dataset, size
from .release.releases import Released, prepare

#: What an imported mechanism may state about its own law.
STATED = ("log_density", "privacy_loss", "profile", "worst_profile")


@dataclass(frozen=True, eq=False)
class Certificate:
    """A deployment and what was found about each of its claims, in the order of the configuration."""

    deployment: Deployment
    findings: tuple[Finding, ...]
    mechanism_digest: str = ""

    @property
    def n_figures(self) -> int:
        """How many figures the claims have."""
        return sum(len(finding.figures) for finding in self.findings)

    @property
    def cut(self) -> bool:
        """Whether a claim was not decided for want of time, or of answers: more would be drawn another time."""
        return any(f.unreached or (f.examined is not None and f.examined.cut) for f in self.findings)

    def visible(self, audience: Audience) -> tuple[Finding, ...]:
        """Return what an audience may see: for release, verdicts are formed again without the private checks."""
        if audience is Audience.CURATOR or not self.deployment.private:
            return self.findings
        return tuple(finding.without_private() for finding in self.findings if not finding.private)

    def spending(self, audience: Audience) -> tuple[Part, ...]:
        """Return what the failure probability was split into and spent on, as far as an audience may know."""
        parts = self.deployment.ledger.tree()
        if audience is Audience.CURATOR or not self.deployment.private:
            return parts
        shown = {finding.name for finding in self.visible(audience)}
        return tuple(part for part in parts if not part.private and (not part.place or part.place[0] in shown))

    def decision(self, audience: Audience) -> Decision:
        """Return the overall verdict, from what the audience may see alone."""
        return worst_of([decision for decision, _ in self.standings(audience)])

    def standings(self, audience: Audience) -> list[Standing]:
        """Return the decision on every claim that an audience may see, and what each rests on."""
        rulings = [finding.verdict for finding in self.visible(audience)]
        return [(ruling.decision, ruling.ground) for ruling in rulings]


def read_deployment(
    loaded: Loaded,
    *,
    jobs: int,
    draw_again: bool = False,
    dry: bool = False,
    progress: Phases = SILENT,
    answers: AnswerCache | None = None,
    complete: bool = False,
) -> tuple[Deployment, str]:
    """Return the deployment of a configuration (data read, releases drawn or read) and its mechanism's digest.

    ``dry``: nothing is drawn for a release, and nothing written. ``answers`` are those that a command or a service gave
    before. ``complete``: what is refuted is examined to the end. The seconds of ``budget.max_seconds`` begin here.
    """
    config, deadline = loaded.config, Deadline.after(loaded.config.budget.max_seconds)
    with progress.phase("the artefact"):
        artefact = artefact_of(loaded)
    with progress.phase("reading the data", size(config.data, loaded.folder)) as step:
        dataset = read_dataset(config.data, loaded.folder, tell=step)
    mechanism, source = build_mechanism(loaded, dataset.dim, answers)
    if config.data.n_public is not None and dataset.n_records > config.data.n_public:
        raise UserError("data.n_public must be at least the number of records, got a smaller one")
    if dataset.n_records < config.data.n_min:
        raise UserError("data.n_min must be at most the number of records, got a larger one")
    check_fits(config, mechanism, dataset)
    given = {"vouched": vouched_by(loaded), "pairs": named_pairs(config, dataset), "views": views_of(loaded)}
    with progress.phase("the release"):
        released = prepare(loaded, mechanism, dataset, draw_again=draw_again, dry=dry)
    conditions: list[str] = []
    if config.data.n_min:
        conditions.append(f"every data set has at least {config.data.n_min} records (data.n_min)")
    if source is not None:
        conditions += law_words(mechanism)
    deployment = Deployment(
        config,
        dataset,
        mechanism,
        source,
        released=released.output,
        n_outputs=released.n_outputs,
        mu_report=released.mu_report,
        jobs=jobs,
        progress=progress,
        deadline=deadline,
        complete=complete,
        notes={"conditions": tuple(conditions), "artefact": artefact, "released": released, **given},
    )
    return with_reports(deployment, released), (source.digest() if source is not None else "")


def law_words(mechanism: Mechanism) -> list[str]:
    """Return the condition that what an imported mechanism states of its own law is true; none if it states nothing."""
    inner = getattr(mechanism, "inner", mechanism)
    stated = [name for name in STATED if callable(getattr(inner, name, None))]
    if not stated:
        return []
    return [
        f"what the imported mechanism states about its own law ({', '.join(stated)}) is its author's word; what was "
        "drawn of it is listed with each claim"
    ]


def with_reports(deployment: Deployment, released: Released) -> Deployment:
    """Return the deployment with its publishable reports."""
    if deployment.config.report is None or released.output is None:
        return deployment
    try:
        plain = independent_report(deployment)
    except ValueError as stop:
        raise UserError(f"release: {stop}") from None
    both = (plain,) if released.dependent is None else (plain, released.dependent)
    return replace(deployment, reports=both)


def decide(
    deployment: Deployment, mechanism_digest: str = "", *, tell: Callable[[Finding], None] = lambda _: None
) -> Certificate:
    """Return the certificate: every claim decided, ``tell`` called after each."""
    findings, deployment = [], replace(deployment)  # nothing of its failure probability is spent yet
    for claim in deployment.config.claims:
        if deployment.deadline is not None and deployment.deadline.reached():
            findings.append(not_reached(deployment, claim).with_odds(claim.odds))
            tell(findings[-1])
            continue
        findings.append(_decided(deployment, claim).with_odds(claim.odds))
        tell(findings[-1])
    return Certificate(deployment, tuple(findings), mechanism_digest)


def _decided(deployment: Deployment, claim: Claim) -> Finding:
    """Return the finding of a claim; of a door that does not answer, outside an examination too, it is left open."""
    try:
        return claim.finding(deployment) if claim.everywhere else _about_the_data(deployment, claim)
    except NoAnswer as stop:
        return not_reached(deployment, claim, f"{stop}")
    finally:  # what keeps one claim from an answer may be about private records, and is no news to the next one
        if isinstance(deployment.source, DoorSource) and isinstance(deployment.mechanism, Imported):
            deployment.mechanism.inner.close()


def not_reached(deployment: Deployment, claim: Claim, why: str = "") -> Finding:
    """Return the finding of a claim that was not begun when the time was over, or that nobody answered for: why."""
    seconds = deployment.config.budget.max_seconds
    more = "More seconds (budget.max_seconds), or fewer draws (budget.profile, pairs, draws)."
    return Finding(
        str(claim.name),
        claim.type,
        f"a claim of type {claim.type}",
        "every data set in the public domain" if claim.everywhere else "this data",
        deployment.private and not claim.everywhere,
        (),
        advice="A command or a service that answers every request." if why else more,
        imported=isinstance(deployment.mechanism, Imported),
        unreached=why or f"not reached (budget.max_seconds = {seconds:g})",
    )


def _about_the_data(deployment: Deployment, claim: Claim) -> Finding:
    """Return the finding of a claim on these records; what stops it stays inside it, as it may depend on them."""
    try:
        return claim.finding(deployment)
    except (UserError, SolverError, ValueError, ArithmeticError) as stop:
        if not deployment.private and isinstance(stop, UserError):
            raise
        why = f"the check stopped: {' '.join(str(stop).split())}"
        return Finding(
            str(claim.name),
            claim.type,
            f"a claim of type {claim.type}",
            "this data",
            deployment.private,
            (),
            forced=why,
            imported=isinstance(deployment.mechanism, Imported),
            examined=Examined(None, why, {"pairs": []}) if isinstance(deployment.mechanism, Imported) else None,
        )


def record_rows(certificate: Certificate, audience: Audience, loaded: Loaded) -> list[Row]:
    """Return the record for an audience: header, releases, then each claim with its checks and figures."""
    shown = certificate.visible(audience)
    rows = [_header(certificate, audience, loaded)]
    rows += _release_rows(certificate)
    for finding in shown:
        draws = audience is Audience.CURATOR or not certificate.deployment.private
        rows.append(_claim_row(finding, names=draws))
        rows += [_check_row(finding, check, draws=draws) for check in finding.checks]
        rows += [{"kind": "figure", "claim": finding.name, "figure": to_plain(fig)} for _, fig in finding.figures]
    budget = budget_figure(certificate)
    if budget is not None:
        rows.append({"kind": "figure", "claim": "", "figure": to_plain(budget)})
    return [*rows, _budget_row(certificate, audience)]


def _budget_row(certificate: Certificate, audience: Audience) -> Row:
    """Return what each part of the failure probability was spent on."""
    leaves = [part for part in certificate.spending(audience) if part.place and not part.parts]
    return {
        "kind": "budget",
        "failure_prob": certificate.deployment.config.budget.failure_prob,
        "leaves": [
            {"place": list(leaf.place), "alpha": leaf.alpha, "decided": leaf.decided, "spent": bool(leaf.decided)}
            for leaf in leaves
        ],
    }


def record_text(rows: Iterable[Row]) -> str:
    """Return the record as strict JSON lines."""
    return "".join(dumps(row) + "\n" for row in rows)


def _header(certificate: Certificate, audience: Audience, loaded: Loaded) -> Row:
    deployment, config = certificate.deployment, loaded.config
    decision = certificate.decision(audience)
    data = deployment.dataset
    public = not deployment.private
    own: Row = {
        "audience": audience.value,
        "contains_private": audience is Audience.CURATOR and deployment.private,
        "verdict": decision.name,
        "words": overall(certificate.standings(audience)),
        "exit_code": EXIT_CODES[decision],
        "mechanism": deployment.mechanism.name,
        "mechanism_digest": certificate.mechanism_digest,
        "imported": isinstance(deployment.mechanism, Imported),
        "configuration": public_configuration(loaded, audience),
        "data": {
            "name": data.name,
            "public": public,
            "dim": data.dim,
            "n_min": config.data.n_min,
            "x_bound": encode(data.x_bound),
            "y_bound": encode(data.y_bound),
            "steps": list(data.steps),
            "data_dependent": list(data.data_dependent),
        },
        "failure_prob": config.budget.failure_prob,
        "profile": config.budget.profile,
        "seed": config.budget.seed,
        "not_shown": _declared(certificate, audience),
        "paper": config.paper,
    }
    row = header(own, schema_version=SCHEMA_VERSIONS["certificate"], record="certificate")
    if audience is Audience.CURATOR or public:
        row["configuration_digest"] = loaded.digest
        row["data"] |= {"n_records": data.n_records, "digest": data.digest}
    if deployment.notes.get("artefact"):
        row["artefact"] = deployment.notes["artefact"]
    return row


def _declared(certificate: Certificate, audience: Audience) -> list[str]:
    """Return the claims whose verdicts are left out and that may be named: those that are declared public."""
    public = {str(claim.name) for claim in certificate.deployment.config.claims if claim.is_public}
    left_out = {finding.name for finding in certificate.findings if finding.private and audience is Audience.RELEASE}
    return sorted(left_out & public)


def public_configuration(loaded: Loaded, audience: Audience) -> Row:
    """Return the configuration without paths, targets and free text: what an audience may read of it.

    For release on private data it holds no claim about the records, unless that is declared public: a curator may have
    tuned its numbers, or whether to make it, on what she saw.
    """
    raw = loaded.config.model_dump(mode="json", by_alias=True, exclude_none=True)
    if audience is Audience.RELEASE and not loaded.config.data.is_public:
        both = zip(raw["claims"], loaded.config.claims, strict=True)
        raw["claims"] = [plain for plain, claim in both if claim.is_public]
    raw["data"].pop("file", None)
    raw.pop("paper", None)
    raw["budget"].pop("jobs", None)
    raw.pop("artefact", None)  # the header has its name and digest
    if "release" in raw:
        raw["release"] = {"drawn_by_us": bool(loaded.config.release and loaded.config.release.draw)}
    for private in (*raw["claims"], *raw["pairs"]):
        for key in ("x", "y", "X", "target_x", "target_y"):
            private.pop(key, None)
    raw["mechanism"].pop("vouched_by", None)  # a claim's row says it, to whom it may be said
    raw["mechanism"].pop("views", None)
    if "import" in raw["mechanism"]:
        raw["mechanism"]["import"] = Path(raw["mechanism"]["import"].partition(":")[0]).name
    if isinstance(loaded.config.mechanism, DoorSection):
        raw["mechanism"] |= loaded.config.mechanism.public
    encoded: Row = encode(raw)
    return encoded


def _release_rows(certificate: Certificate) -> list[Row]:
    """Return what was released privately and is accounted for: it may be shown to everyone."""
    deployment = certificate.deployment
    rows: list[Row] = []
    if deployment.released is not None:
        rows.append(
            {
                "kind": "release",
                "name": "output",
                "cost": f"the claimed budget, {deployment.n_outputs} draw{'s' if deployment.n_outputs > 1 else ''}",
                "numbers": encode(deployment.released),
            }
        )
    for report in deployment.reports:
        mode = report.mode.value
        cost = (
            "none" if report.gradient is None else f"Gaussian, mu = {deployment.mu_report:.6g} over the public domain"
        )
        rows.append({"kind": "release", "name": f"report {mode}", "cost": cost, "report": json.loads(report.to_json())})
    return rows


def _claim_row(finding: Finding, *, names: bool) -> Row:
    """Return a claim's row; ``names``: whether it may say who vouches for the mechanism."""
    ruling = finding.verdict
    return {
        "kind": "claim",
        "claim": finding.name,
        "type": finding.type,
        "sentence": finding.sentence,
        "verdict": ruling.decision.name,
        "ground": ruling.ground.value,
        "words": ruling.words,
        "reason": ruling.why,
        "check": ruling.check,
        "says": finding.sentence_of_verdict,
        "violation": None if finding.violation is None else encode(vars(finding.violation)),
        "vouched": None if finding.vouched is None else finding.vouched.row(names=names),
        "examination": encode(finding.examination),
        "scope": finding.scope,
        "conditions": list(finding.conditions),
        "advice": "" if ruling.decision is Decision.PASS else finding.advice,
        "remedy": [encode(each.row) for each in finding.remedy],
        "odds": None if finding.odds is None else finding.odds.row,
        "private": finding.private,
    }


def _check_row(finding: Finding, check: Check, *, draws: bool) -> Row:
    outcome, reason = check.judged
    look = evidence_row(check.evidence, outcome, reason)
    if not draws:
        for witness in (look["exact"], look["sampled"]):
            if witness is not None:
                del witness["n_draws"]
    return {
        "kind": "check",
        "claim": finding.name,
        "check": check.name,
        "power": check.role.name,
        "words": check.words,
        "private": check.private,
    } | {("about" if key == "claim" else key): value for key, value in look.items()}


def budget_figure(certificate: Certificate) -> Figure | None:
    """Return what is proved about each release and about all of them together, beside the first dp claim."""
    deployment = certificate.deployment
    points = [c.point for c in deployment.config.claims if isinstance(c, DPClaim) and c.profile is None]
    point = next((candidate for candidate in points if candidate[1] > 0), None)
    alone = worst_case_of(deployment.mechanism, deployment.domain)
    whole = worst_case_of(deployment.mechanism, deployment.domain, deployment.mu_report)
    if point is None or alone is None or whole is None or not deployment.mu_report:
        return None
    epsilon, delta = point
    grid = np.linspace(0.0, max(2 * epsilon, 0.5), 41)[1:]
    report = GaussianProfile(deployment.mu_report)
    curves: dict[str, list[float]] = {
        "output": [alone.delta_at(float(e), delta) for e in grid],
        "data-dependent report": [report.delta_at(float(e)) for e in grid],
        "everything together": [whole.delta_at(float(e), delta) for e in grid],
    }
    return budget_curves(grid, curves, epsilon, delta)


def release_numbers(certificate: Certificate, loaded: Loaded) -> list[float]:
    """Return every number of the release record, in order: what a black-box audit of the whole pipeline watches."""
    numbers: list[float] = []

    def collect(value: Any) -> None:
        if isinstance(value, int | float):
            numbers.append(float(value))
        elif isinstance(value, dict):
            for each in value.values():
                collect(each)
        elif isinstance(value, list):
            for each in value:
                collect(each)

    for row in record_rows(certificate, Audience.RELEASE, loaded):
        collect({key: each for key, each in row.items() if key != "versions"})
    return numbers
