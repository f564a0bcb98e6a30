"""All claims of a deployment decided, and the record of it: rows for the curator, of which a part is for release."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from audits.error_budget import Part
from audits.examination.witnesses import Violation
from audits.external.wire import AnswerCache
from audits.harness.calls import Deadline, NoAnswer
from audits.verdict import Decision
from mechanisms import GaussianProfile
from mechanisms.capabilities import worst_case_of
from mechanisms.objective.perturbed_solver import SolverError
from reports.codec import to_plain
from reports.row import Audience, Figure, Mark

from ..engine.follow import SILENT, Phases
from ..engine.record import SCHEMA_VERSIONS
from ..engine.versions import header
from ..kernel.rows import Row, dumps, encode, evidence_row
from ..messages.errors import UserError
from .asked import EXIT_CODES, NOTHING_ASKED, Asked, Standing, exit_code, overall, worst_of
from .claims.claims_dp import dp_finding
from .claims.claims_filter import filter_finding
from .claims.claims_records import ex_post_finding, pdp_finding
from .claims.claims_report import coverage_finding, independent_report, utility_finding
from .claims.finding import Check, Deployment, Examined, Finding
from .claims.pairs import named_pairs
from .claims.record_losses import curve
from .claims.types import (
    Claim,
    ClaimSection,
    CoverageClaim,
    DPClaim,
    ExPostClaim,
    FilterClaim,
    PDPClaim,
    UtilityClaim,
    said,
)
from .config.config import Loaded
from .config.config_mechanisms import DoorSection
from .config.mechanism_source import Imported, build_mechanism, check_fits, views_of, vouched_by
from .counterexample import pair_row
from .folder.attestation import artefact_of
from .reading.data_files import read_dataset, size
from .release.releases import OvertakenError, Released, prepare

#: What decides a claim of each type.
FINDINGS: dict[type[ClaimSection], Callable[[Deployment, Any], Finding]] = {
    DPClaim: dp_finding,
    PDPClaim: pdp_finding,
    FilterClaim: filter_finding,
    ExPostClaim: ex_post_finding,
    CoverageClaim: coverage_finding,
    UtilityClaim: utility_finding,
}
#: Why a claim about the output is left open where there is none.
NOT_DRAWN = "no output was drawn: the claims over all data sets come first"
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
        return worst_of(self.standings(audience))

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
    note: Callable[[str], object] = lambda _: None,
) -> tuple[Deployment, str]:
    """Return the deployment of a configuration (data read, releases read) and its mechanism's digest.

    A release that is not there yet is foreseen: ``decide`` draws it. ``dry``: it draws nothing, and nothing is
    written. ``answers`` are those that a command or a service gave before. ``complete``: what is refuted is examined
    to the end. ``note`` is told what the curator alone may know of the file. The seconds of ``budget.max_seconds``
    begin here.
    """
    config, deadline = loaded.config, Deadline.after(loaded.config.budget.max_seconds)
    with progress.phase("the artefact"):
        artefact = artefact_of(loaded)
    with progress.phase("reading the data", size(config.data, loaded.folder)) as step:
        dataset = loaded.dataset
        if dataset is None:
            dataset = read_dataset(config.data, loaded.folder, tell=step, note=note)
    mechanism, source = build_mechanism(loaded, dataset.dim, answers)
    if config.data.n_public is not None and dataset.n_records > config.data.n_public:
        raise UserError("data.n_public must be at least the number of records, got a smaller one")
    if dataset.n_records < config.data.n_min and config.data.dim is None:
        raise UserError("data.n_min must be at most the number of records, got a larger one")
    check_fits(config, mechanism, dataset)
    vouched, pairs, views = vouched_by(loaded), named_pairs(config, dataset), views_of(loaded)
    foresee = partial(prepare, loaded, mechanism, dataset, draw_again=draw_again, dry=True)
    with progress.phase("the release"):
        released = foresee()
        if not dry and not released.pending:
            released = prepare(loaded, mechanism, dataset)
    if released.pending and not dry and not config.data.is_public and config.budget.max_seconds is not None:
        raise UserError(
            "budget.max_seconds must be absent where a release is drawn from private data, got budget.max_seconds="
            f"{config.budget.max_seconds:g}; whether it is drawn would depend on how long the records take "
            "(budget.max_draws caps what is drawn)"
        )
    conditions = []
    if config.data.n_min:
        conditions.append(f"every data set has at least {config.data.n_min} records (data.n_min)")
    inner = mechanism.inner if isinstance(mechanism, Imported) else None
    stated = [name for name in STATED if callable(getattr(inner, name, None))]
    if stated:
        about = f"what the imported mechanism states about its own law ({', '.join(stated)})"
        conditions.append(f"{about} is its author's word; what was drawn of it is listed with each claim")
    deployment = Deployment(
        config,
        dataset,
        mechanism,
        source,
        jobs=jobs,
        progress=progress,
        deadline=deadline,
        complete=complete,
        foresee=foresee,
        draw=None
        if dry
        else lambda foreseen: prepare(loaded, mechanism, dataset, draw_again=draw_again, foreseen=foreseen),
        conditions=tuple(conditions),
        artefact=artefact,
        vouched=vouched,
        pairs=pairs,
        views=views,
    )
    return _with(deployment, released), (source.digest() if source is not None else "")


def _with(deployment: Deployment, released: Released) -> Deployment:
    """Return the deployment with what was released, or is foreseen to be, and the reports that exist."""
    after = deployment.changed(
        released=released.output,
        n_outputs=released.n_outputs,
        mu_report=released.mu_report,
        releases=released,
        reports=(),
    )
    if deployment.config.report is None or released.output is None:
        return after
    try:
        plain = independent_report(after)
    except ValueError as stop:
        raise UserError(f"release: {stop}") from None
    return after.changed(reports=(plain,) if released.dependent is None else (plain, released.dependent))


def decide(
    deployment: Deployment,
    mechanism_digest: str = "",
    *,
    asked: Asked = NOTHING_ASKED,
    tell: Callable[[Finding], None] = lambda _: None,
) -> Certificate:
    """Return the certificate: every claim decided, ``tell`` called after each.

    A release that is to be drawn is drawn once the claims over all data sets are decided, if these alone give the exit
    code 0 for what was ``asked``.
    """
    deployment = replace(deployment)  # nothing of its failure probability is spent yet
    first: dict[str, Finding] = {}
    if deployment.releases is not None and deployment.releases.pending:
        deployment, first = _drawn_if_they_pass(deployment, asked)
        for finding in first.values():
            tell(finding)
    findings = []
    for claim in deployment.config.claims:
        name = str(claim.name)
        findings.append(first.get(name) or _in_time(deployment, claim))
        if name not in first:
            tell(findings[-1])
    return Certificate(deployment, tuple(findings), mechanism_digest)


def _drawn_if_they_pass(deployment: Deployment, asked: Asked) -> tuple[Deployment, dict[str, Finding]]:
    """Return the claims over all data sets, decided, and the deployment with its release, drawn if they pass.

    That they pass is read off what everyone may see, and an output is there only afterwards: whether one is drawn
    depends neither on the records nor on the output.
    """
    while True:
        first = {str(claim.name): _in_time(deployment, claim) for claim in deployment.config.claims if claim.everywhere}
        if deployment.draw is None or exit_code(_public_standings(deployment, first.values()), asked):
            return deployment, first
        assert deployment.releases is not None
        assert deployment.foresee is not None
        try:
            with deployment.progress.phase("the release"):
                return _with(deployment, deployment.draw(deployment.releases)), first
        except OvertakenError:  # what counts is another number of draws now
            deployment = _with(replace(deployment), deployment.foresee())


def _public_standings(deployment: Deployment, findings: Iterable[Finding]) -> list[Standing]:
    seen = [finding.without_private() if deployment.private else finding for finding in findings]
    return [(each.verdict.decision, each.verdict.ground) for each in seen]


def _in_time(deployment: Deployment, claim: Claim) -> Finding:
    """Return the finding of a claim, or that it was not reached in time."""
    late = deployment.deadline is not None and deployment.deadline.reached()
    finding = not_reached(deployment, claim) if late else _decided(deployment, claim)
    return finding.with_odds(claim.odds)


def _decided(deployment: Deployment, claim: Claim) -> Finding:
    """Return the finding of a claim; of a door that does not answer, outside an examination too, it is left open.

    What stops a claim on these records stays inside it, as it may depend on them.
    """
    release = deployment.config.release
    if isinstance(claim, ExPostClaim) and deployment.released is None:
        examined = Examined(None, NOT_DRAWN, {"pairs": []}) if isinstance(deployment.mechanism, Imported) else None
        return _left_open(deployment, claim, forced=NOT_DRAWN, examined=examined)
    try:
        if claim.everywhere and release is not None and release.draw:  # the same before the draw and after it
            return FINDINGS[type(claim)](deployment.changed(released=None), claim)
        return FINDINGS[type(claim)](deployment, claim)
    except NoAnswer as stop:
        return not_reached(deployment, claim, f"{stop}")
    except (UserError, SolverError, ValueError, ArithmeticError) as stop:
        if claim.everywhere or (not deployment.private and isinstance(stop, UserError)):
            raise
        why = f"the check stopped: {' '.join(str(stop).split())}"
        examined = Examined(None, why, {"pairs": []}) if isinstance(deployment.mechanism, Imported) else None
        return _left_open(deployment, claim, forced=why, examined=examined)
    finally:  # what keeps one claim from an answer may be about private records, and is no news to the next one
        if deployment.is_door and isinstance(deployment.mechanism, Imported):
            deployment.mechanism.inner.close()


def not_reached(deployment: Deployment, claim: Claim, why: str = "") -> Finding:
    """Return the finding of a claim that was not begun when the time was over, or that nobody answered for: why."""
    if why:
        advice = "A command or a service that answers every request."
    else:
        advice = "More seconds (budget.max_seconds), or fewer draws (budget.profile, pairs, draws)."
        why = f"not reached (budget.max_seconds = {deployment.config.budget.max_seconds:g})"
    return _left_open(deployment, claim, advice=advice, unreached=why)


def _left_open(deployment: Deployment, claim: Claim, **why: Any) -> Finding:
    return Finding(
        str(claim.name),
        claim.type,
        f"a claim of type {claim.type}",
        "every data set in the public domain" if claim.everywhere else "this data",
        deployment.private and not claim.everywhere,
        (),
        imported=isinstance(deployment.mechanism, Imported),
        **why,
    )


def record_rows(certificate: Certificate, audience: Audience, loaded: Loaded) -> list[Row]:
    """Return the record for an audience: header, releases, then each claim with its checks and figures."""
    rows = [_header(certificate, audience, loaded), *_release_rows(certificate.deployment)]
    inside = audience is Audience.CURATOR or not certificate.deployment.private
    for finding in certificate.visible(audience):
        rows.append(claim_row(finding, inside=inside, public=not certificate.deployment.private))
        rows += [_check_row(finding, check, draws=inside) for check in finding.checks]
        rows += [{"kind": "figure", "claim": finding.name, "figure": to_plain(fig)} for _, fig in finding.figures]
    budget = budget_figure(certificate)
    if budget is not None:
        rows.append({"kind": "figure", "claim": "", "figure": to_plain(budget)})
    leaves = [part for part in certificate.spending(audience) if part.place and not part.parts]
    spent: Row = {
        "kind": "budget",
        "failure_prob": certificate.deployment.config.budget.failure_prob,
        "leaves": [
            {"place": list(leaf.place), "alpha": leaf.alpha, "decided": leaf.decided, "spent": bool(leaf.decided)}
            for leaf in leaves
        ],
    }
    return [*rows, spent]


def record_text(rows: Iterable[Row]) -> str:
    """Return the record as strict JSON lines."""
    return "".join(dumps(row) + "\n" for row in rows)


def _header(certificate: Certificate, audience: Audience, loaded: Loaded) -> Row:
    deployment, config = certificate.deployment, loaded.config
    decision = certificate.decision(audience)
    data = deployment.dataset
    public = not deployment.private
    # claims whose verdicts are left out, and that may be named
    left_out = {finding.name for finding in certificate.findings if finding.private and audience is Audience.RELEASE}
    declared = {str(claim.name) for claim in config.claims if claim.is_public}
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
        "not_shown": sorted(left_out & declared),
        "paper": config.paper,
    }
    row = header(own, schema_version=SCHEMA_VERSIONS["certificate"], record="certificate")
    if audience is Audience.CURATOR or public:
        row["configuration_digest"] = loaded.digest
        row["data"] |= {"n_records": data.n_records, "digest": data.digest}
    if deployment.artefact:
        row["artefact"] = deployment.artefact
    return row


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
    raw.pop("folder", None)
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


def _release_rows(deployment: Deployment) -> list[Row]:
    """Return what was released privately and is accounted for: it may be shown to everyone."""
    rows: list[Row] = []
    if deployment.released is not None:
        cost = f"the claimed budget, {deployment.n_outputs} draw{'s' if deployment.n_outputs > 1 else ''}"
        rows.append({"kind": "release", "name": "output", "cost": cost, "numbers": encode(deployment.released)})
    for report in deployment.reports:
        priced = f"Gaussian, mu = {deployment.mu_report:.6g} over the public domain"
        cost = "none" if report.gradient is None else priced
        plain = json.loads(report.to_json())
        rows.append({"kind": "release", "name": f"report {report.mode.value}", "cost": cost, "report": plain})
    return rows


def claim_row(finding: Finding, *, inside: bool, public: bool) -> Row:
    """Return a claim's row; ``inside``: who reads it may see private records; ``public``: the records are none."""
    ruling = finding.verdict
    row: Row = {
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
        "violation": None if finding.violation is None else _violation_row(finding.violation),
        "vouched": None if finding.vouched is None else finding.vouched.row(names=inside),
        "examination": encode(None if finding.examined is None else finding.examined.row),
        "scope": finding.scope,
        "conditions": list(finding.conditions),
        "advice": "" if ruling.decision is Decision.PASS else finding.advice,
        "remedy": [encode(each.row) for each in finding.remedy],
        "odds": None if finding.odds is None else finding.odds.row,
        "private": finding.private,
    }
    members = finding.members if finding.violation is None else finding.violation.members
    if members is not None and ruling.decision is Decision.FAIL:
        private = not (public or (members.first.public and members.second.public))
        pair = pair_row(members, private=private) if inside or not private else None
        row |= {} if pair is None else {"counterexample": pair}
    return row


def _violation_row(violation: Violation) -> Row:
    row: Row = encode({name: value for name, value in vars(violation).items() if name != "members"})
    return row


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
    return Figure(
        "budget",
        "What the budget is spent on",
        "Proved delta of each release and of all of them together, over all data sets in the public domain; together "
        "they cost less than their sum.",
        f"Proved profiles of {', '.join(curves)} on a logarithmic scale, with the claimed epsilon {said(epsilon)} and "
        f"delta {said(delta)} as lines",
        "epsilon",
        "delta(epsilon)",
        tuple(curve(label, grid, values, delta * 1e-6) for label, values in curves.items()),
        (Mark("x", epsilon, f"claimed epsilon {said(epsilon)}"), Mark("y", delta, f"claimed delta {said(delta)}")),
        y_scale="log",
    )
