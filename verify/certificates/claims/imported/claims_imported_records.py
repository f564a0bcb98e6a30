"""Claims about this data set and an imported mechanism: its records, one target, everyone; ex-post losses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audits import Estimate
from audits.black_box.claims import PrivacyClaim, point_claim
from audits.examination.examined import VISIBLE, Demand
from audits.examination.examined_claim import Examination, examine
from audits.search.worst_case import NamedPair
from audits.stated_law.stated_worst import stated_delta, stated_worst
from audits.verdict import CheckRole, Stated, sound
from mechanisms import BOTH, DataError, NeighbouringPair, Relation
from mechanisms.data.dataset import row_norms

from ....kernel.statement import Claim, Evidence
from ....kernel.verdict import Outcome
from ....messages.verdict_words import misstated
from ...config.mechanism_source import Imported
from ..exposed import most_exposed, target_pair, targets_at_the_edge
from ..finding import Check, Deployment, Finding
from ..record_losses import ONE_BY_ONE
from ..types import ExPostClaim, PDPClaim, said
from .claims_imported import (
    DEMANDED,
    advice,
    conduct,
    examination_size,
    examination_work,
    examined_row,
    is_door,
    pair_checks,
    sound_or_void,
)

SCOPES = {
    "records": "every record in the data",
    "target": "the given target",
    "everyone": "everyone in the public domain, in the data or not",
}


def examined_pdp(deployment: Deployment, claim: PDPClaim) -> Finding:
    """Return the finding of a per-instance claim about an imported mechanism."""
    privacy = point_claim(claim.epsilon, claim.delta)
    examination = _examination(deployment, str(claim.name), _pairs(deployment, claim), privacy)
    checks = pair_checks(examination, over_all=claim.scope != "target")
    forced = examination.obstacle
    vouched, way_out, covered = deployment.notes.get("vouched"), "", True
    if claim.scope != "target":
        cover, why = _cover(deployment, claim)
        outcome, covered = cover.judged[0], not why
        checks.insert(0, sound_or_void(cover, examination))
        forced = forced or why
        if outcome is not Outcome.HOLDS and covered and not (examination.refutations or examination.misstated):
            way_out = "A larger epsilon, or more noise."
    return Finding(
        str(claim.name),
        claim.type,
        f"{deployment.outputs} is per-instance {said(claim.epsilon, claim.delta)}-private for "
        f"{SCOPES[claim.scope]} on this data set",
        "pDP on this data: it says nothing about another data set",
        deployment.private,
        tuple(checks),
        _conditions(deployment),
        way_out or advice(examination, None, vouched=vouched is not None, covered=covered, door=is_door(deployment)),
        forced or deployment.one_output,
        imported=True,
        examined=examined_row(examination, deployment, "add-remove"),
        vouched=vouched,
        violation=examination.violation,
    )


def examined_ex_post(deployment: Deployment, claim: ExPostClaim, check: Check, finding: Finding) -> Finding:
    """Return the finding of ex-post losses that the mechanism states, its law held against its draws."""
    pairs = _records(deployment, examination_size(deployment)[0])
    examination = _examination(deployment, str(claim.name), pairs, None)
    check = sound_or_void(replace(check, rests_on=(Stated.DENSITY, Stated.LOSS)), examination)
    return replace(
        finding,
        checks=(check, *pair_checks(examination, over_all=True)),
        conditions=_conditions(deployment),
        advice=misstated(examination.misstated) if examination.misstated else finding.advice,
        figures=finding.figures if sound(check.result, examination.misstated) else (),
        forced=examination.obstacle,
        imported=True,
        examined=examined_row(examination, deployment, "add-remove"),
        vouched=deployment.notes.get("vouched"),
    )


def _conditions(deployment: Deployment) -> tuple[str, ...]:
    data = deployment.config.data
    conditions = list(deployment.notes.get("conditions", ()))
    conditions += [f"{note}, taken as public" for note in deployment.dataset.data_dependent]
    if data.chosen_from_data:
        conditions.append(f"{', '.join(data.chosen_from_data)} taken as public constants")
    return tuple(conditions)


def _pairs(deployment: Deployment, claim: PDPClaim) -> list[NamedPair]:
    """Return the pairs that a claim speaks about, the most exposed first, no more than an examination takes."""
    wanted = examination_size(deployment)[0]
    if claim.scope == "target":
        return [NamedPair("the target", target_pair(deployment, claim))]
    records = _records(deployment, wanted)
    if claim.scope == "records":
        return records
    edges = [
        NamedPair(f"a target at the edge of the public domain, {number}", pair)
        for number, pair in enumerate(targets_at_the_edge(deployment), start=1)
    ]
    return [*edges, *records][: max(wanted, len(edges))]


def _records(deployment: Deployment, wanted: int) -> list[NamedPair]:
    """Return the removal of the most exposed record, of extreme ones and of some spread over the file."""
    dataset = deployment.dataset
    if dataset.n_records == 0:
        raise DataError("n_records must be at least 1 for a claim about records, got n_records=0")
    first = most_exposed(deployment.mechanism, dataset, 1e-6)
    extremes = [first, int(np.argmax(np.abs(dataset.y))), int(np.argmax(row_norms(dataset.X)))]
    spread = np.linspace(0, dataset.n_records - 1, min(wanted, dataset.n_records)).astype(int).tolist()
    places = list(dict.fromkeys([*extremes, *spread]))[:wanted]
    return [
        NamedPair(f"record {number} of those examined, removed", NeighbouringPair.remove(dataset, place))
        for number, place in enumerate(places, start=1)
    ]


def _examination(deployment: Deployment, name: str, pairs: list[NamedPair], claim: PrivacyClaim | None) -> Examination:
    section = deployment.config.budget
    least = DEMANDED[section.profile]
    draws = examination_size(deployment)[1]
    pairs_needed, draws_needed = min(least.pairs, len(pairs)), min(least.draws, section.draws or least.draws)
    visible = VISIBLE if draws_needed < least.draws and claim is not None else 1.0
    assert isinstance(deployment.mechanism, Imported)
    with deployment.progress.phase(f"{name}: examination", examination_work(deployment, len(pairs))) as step:
        return examine(
            deployment.mechanism.inner,
            [],
            claim,
            deployment.budget(name, "examination", n_draws=2 * draws),
            own=pairs,
            demand=Demand(pairs_needed, draws_needed, visible),
            **conduct(deployment, step),
        )


def _cover(deployment: Deployment, claim: PDPClaim) -> tuple[Check, str]:
    """Return the check that covers whoever was not examined, and why the claim stays open where there is none.

    ``worst_profile`` covers everyone; a stated ``profile`` of every record covers the records.
    """
    mechanism, dataset = deployment.mechanism, deployment.dataset
    assert isinstance(mechanism, Imported)
    shown = Claim("largest delta at the claimed epsilon, as stated", 0.0, claim.delta, claim.epsilon)
    domain = deployment.domain
    worst, trouble = stated_worst(
        mechanism.inner, domain.x_bound, domain.y_bound, Relation.REMOVE, claim=point_claim(claim.epsilon, claim.delta)
    )
    profiles, rests_on = ([] if worst is None else [worst]), (Stated.WORST_CASE,)
    words = "worst_profile covers every record"
    if claim.scope == "records" and mechanism.has_profile and dataset.n_records <= ONE_BY_ONE:
        pairs = (NeighbouringPair.remove(dataset, place) for place in range(dataset.n_records))
        profiles, words = [mechanism.profile(pair) for pair in pairs], "profile of every record, as stated"
        rests_on = (Stated.PROFILE,)
    if not profiles:
        why = f"no finite test: {trouble}: whoever was not examined is not covered"
        return Check("everyone else", CheckRole.DECIDES, Evidence(shown, reason=why), deployment.private, why), why
    brackets = [profile.delta_bracket(claim.epsilon, direction) for profile in profiles for direction in BOTH]
    low = max(bracket.low for bracket in brackets) if claim.scope == "records" and len(profiles) > 1 else 0.0
    high = max(stated_delta(profile, claim.epsilon, claim.delta) for profile in profiles)
    exact = Estimate.proved(min(low, high), high, words)
    evidence = Evidence(shown, exact)
    return Check("everyone else", CheckRole.DECIDES, evidence, deployment.private, words, None, rests_on), ""
