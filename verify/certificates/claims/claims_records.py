"""Claims about this data set: per-instance bounds for its records, for a target, for everyone; ex-post losses."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from audits import Budget, Estimate
from audits.black_box.claims import PrivacyClaim, point_claim
from audits.density_tests.stated_worst import stated_delta, stated_worst
from audits.examination.examined import VISIBLE, Demand
from audits.examination.examined_claim import Examination
from audits.search.worst_case import NamedPair
from audits.verdict import CheckRole, Decision, Stated, sound
from audits.white_box.exact import exact_delta
from audits.white_box.tails import LARGE, thinned
from mechanisms import (
    BOTH,
    DataError,
    Dataset,
    ExactLaw,
    GaussianProfile,
    Mechanism,
    NeighbouringPair,
    PrivacyProfile,
    Relation,
)
from mechanisms.capabilities import (
    Bound,
    CoversRecords,
    DominatingRecords,
    RecordBound,
    RecordsBound,
    WorstTarget,
    worst_case_of,
)
from mechanisms.data.dataset import row_norms
from mechanisms.laws.profile_tools import proved_profile
from mechanisms.records.record_laws import BLOCK
from mechanisms.reference import is_reference
from reports.row import Figure, Mark

from ...kernel.statement import Claim, Evidence, Observer
from ...kernel.verdict import Outcome, judge
from ...messages.verdict_words import misstated
from ..config.mechanism_source import Imported, law_of, white_box_of
from .claims_dp import composed
from .examination import DEMANDED, advice, examined, examined_row, pair_checks, sound_or_void
from .finding import Check, Deployment, Finding
from .pairs import (
    PairTask,
    covered_pairs,
    most_exposed,
    record_pairs,
    run_tasks,
    target_pair,
    targets_at_the_edge,
    work_of,
)
from .record_losses import ONE_BY_ONE, dominating_epsilons, ex_post_losses, histogram, record_epsilons, roc, roc_work
from .types import ClaimSection, ExPostClaim, PDPClaim, said

#: Largest rounding error of a loss in float64, relative to its size or 1.
ROUNDING = 1e-8
#: What a claim about the records speaks about.
THIS_DATA = "pDP on this data: it says nothing about another data set"
#: What a figure of very many records says.
INTERPOLATED = " The largest was solved for; most of those below are interpolated between exact values."


def pdp_finding(deployment: Deployment, claim: PDPClaim) -> Finding:
    """Return what was found about a per-instance claim on this data set."""
    if claim.scope == "records" and deployment.dataset.n_records == 0:
        raise DataError("n_records must be at least 1 for a claim about records, got n_records=0")
    whom = {
        "records": "every record in the data",
        "target": "the given target",
        "everyone": "everyone in the public domain, in the data or not",
    }[claim.scope]
    point = said(claim.epsilon, claim.delta)
    sentence = f"{deployment.outputs} is per-instance {point}-private for {whom} on this data set"
    if isinstance(deployment.mechanism, Imported):
        return _with_figures(_imported(deployment, claim, sentence), deployment, claim)
    checks, advice = _pdp_checks(deployment, claim), "A larger epsilon, or more noise."
    conditions = deployment.record_conditions
    finding = deployment.finding(claim, sentence, THIS_DATA, checks, conditions=conditions, advice=advice)
    if finding.verdict.decision is Decision.FAIL and claim.scope != "everyone" and law_of(deployment.mechanism):
        finding = replace(finding, members=_worst_of(deployment, claim))
    return _with_figures(finding, deployment, claim)


def _worst_of(deployment: Deployment, claim: PDPClaim) -> NeighbouringPair:
    """Return the pair that a claim about the target, or about every record, is decided on by its exact law."""
    if claim.scope == "target":
        return target_pair(deployment, claim)
    # several outputs are composed at a share of delta each
    most = most_exposed(deployment.mechanism, deployment.dataset, claim.delta / deployment.n_outputs)
    return NeighbouringPair.remove(deployment.dataset, most)


def _with_figures(finding: Finding, deployment: Deployment, claim: PDPClaim) -> Finding:
    if claim.scope != "records" or not claim.delta > 0 or finding.verdict.misstated:
        return finding  # no figure shows numbers of a law that its own draws refute
    if isinstance(deployment.mechanism, DominatingRecords) and is_reference(deployment.mechanism):
        with deployment.progress.phase(f"{claim.name}: what no record exceeds", deployment.dataset.n_records):
            dominating_epsilons(deployment.mechanism, deployment.dataset, claim.delta)  # kept for the figure
    # what an imported mechanism raises here was looked at in its examination
    with (
        contextlib.suppress(*((Exception,) if isinstance(deployment.mechanism, Imported) else ())),
        deployment.progress.phase(f"{claim.name}: figures of the records", roc_work(deployment)),
    ):
        return replace(finding, figures=tuple(_records_figures(deployment, claim)))
    return finding


def _pdp_checks(deployment: Deployment, claim: PDPClaim) -> Iterator[Check]:
    dataset = deployment.dataset
    if claim.scope == "target":
        pair = target_pair(deployment, claim)
        target = replace(dataset, X=pair.x[None], y=np.array([pair.y]))
        yield from _pair_checks(deployment, claim, pair, "the target", target)
        return
    if claim.scope == "everyone":
        yield from _everyone(deployment, claim)
        return
    with deployment.progress.phase(f"{claim.name}: the laws of all records", dataset.n_records):
        worst = _worst_of(deployment, claim)
    yield from _pair_checks(deployment, claim, worst, "the record with the largest epsilon", dataset)


def _pair_checks(
    deployment: Deployment, claim: PDPClaim, pair: NeighbouringPair, name: str, whose: Dataset
) -> Iterator[Check]:
    """Return the exact or proved check of the worst pair, and simulated ones beside it; ``whose``: who it is about."""
    law, white_box = law_of(deployment.mechanism), white_box_of(deployment.mechanism)
    proved = False
    if law is None:
        check = _proved_check(deployment, claim, whose)
        proved = judge(check.evidence)[0] is Outcome.HOLDS
        yield check
    several = deployment.n_outputs > 1
    if law is not None and several:
        yield _several_check(deployment, claim, law, pair, name)
    if white_box is None:
        return
    label = f"simulated: {name}" if law is None else f"exact law of {name}" + (", one output" if several else "")
    budget, words = deployment.budget(str(claim.name), f"delta {label}", share=1 / 4), ""
    if proved:
        budget, words = _beside_a_proof(budget, pair.dataset.n_records)
    role = CheckRole.REFUTES if law is None or several else CheckRole.DECIDES
    task = PairTask(label, white_box, pair, claim.epsilon, claim.delta, budget, deployment.private, role, words)
    with deployment.progress.phase(f"{claim.name}: the pair and its draws", work_of([task])):
        yield from run_tasks([task], 1)


def _several_check(
    deployment: Deployment,
    claim: PDPClaim,
    law: Callable[[NeighbouringPair], PrivacyProfile],
    pair: NeighbouringPair,
    name: str,
) -> Check:
    """Return an enclosure of delta of all outputs together: one alone from below, their composition from above."""
    n, profile = deployment.n_outputs, _profile(deployment.mechanism, law, pair)
    one = exact_delta(profile, claim.epsilon)
    high = min(1.0, n * exact_delta(profile, claim.epsilon / n).high * (1 + 1e-15))
    if isinstance(profile, GaussianProfile):
        high = min(high, exact_delta(GaussianProfile(profile.largest * math.sqrt(n) * (1 + 1e-12)), claim.epsilon).high)
    exact = Estimate.proved(min(one.low, high), high, "ball arithmetic; below: one output; above: composition")
    evidence = Evidence(_delta_claim(claim, pair.relation), exact, notes={"outputs": n})
    words = f"{n} outputs were drawn, and all of them count: their exact laws are composed."
    return Check(f"exact law of {name}, {n} outputs", CheckRole.DECIDES, evidence, deployment.private, words)


def _beside_a_proof(budget: Budget, n_records: int) -> tuple[Budget, str]:
    """Return the budget of draws that accompany a bound that holds, fewer for large data, and what a reader is told.

    Where nothing is proved all draws are made, whatever they cost: there they may refute.
    """
    n_draws = thinned(budget.n_draws, n_records)
    if n_draws == budget.n_draws:
        return budget, ""
    words = f"{n_draws:,} instead of {budget.n_draws:,} draws, as there are more than {LARGE:,} records"
    return replace(budget, n_draws=n_draws), f"{words}: they accompany the proved bound, which decides."


def _profile(
    mechanism: Mechanism, law: Callable[[NeighbouringPair], PrivacyProfile], pair: NeighbouringPair
) -> PrivacyProfile:
    """Return the law of the loss between a pair, proved from the data on where the mechanism is one of ours."""
    if isinstance(mechanism, ExactLaw) and not isinstance(mechanism, Imported):
        return proved_profile(mechanism, pair)
    return law(pair)


def _proved_check(deployment: Deployment, claim: PDPClaim, whose: Dataset) -> Check:
    """Return the bound for these records, or over all data sets for records as long as they are: it covers them too."""
    mechanism, domain = deployment.mechanism, deployment.domain
    longest = float(row_norms(whose.X).max(initial=0.0))
    if isinstance(mechanism, RecordsBound) and is_reference(mechanism):
        bound: Bound | None = mechanism.records_bound(whose)
    elif isinstance(mechanism, RecordBound) and is_reference(mechanism):
        bound = mechanism.record_bound(domain, max(longest, 1e-300))
    else:
        bound = worst_case_of(mechanism, domain)
    shown = _delta_claim(claim, Relation.REMOVE)
    if bound is None:
        return Check("proved bound", CheckRole.DECIDES, Evidence(shown, reason="no finite test"), deployment.private)
    bound = composed(bound, deployment.n_outputs).least(lambda part: part.delta_at(claim.epsilon, claim.delta))
    exact = Estimate.proved(0.0, bound.delta_at(claim.epsilon, claim.delta), f"ball arithmetic; {bound.statement}")
    evidence = Evidence(shown, exact, notes={"x_norm": longest})
    name = "proved bound for records of this length"
    return Check(name, CheckRole.DECIDES, evidence, deployment.private, bound.sentence)


def _delta_claim(claim: PDPClaim, relation: Relation) -> Claim:
    quantity, observer = "delta at the claimed epsilon, worse direction", Observer.TRANSCRIPT
    return Claim(quantity, 0.0, claim.delta, claim.epsilon, relation=relation, observer=observer)


def _everyone(deployment: Deployment, claim: PDPClaim) -> Iterator[Check]:
    """Return an enclosure of the largest delta over all targets that may be added, and the records of the data."""
    mechanism, dataset = deployment.mechanism, deployment.dataset
    high, words = _everyone_bound(deployment, claim)
    low, where = 0.0, ""
    law = law_of(mechanism)
    if law is not None:
        for pair in targets_at_the_edge(deployment):
            value = exact_delta(_profile(mechanism, law, pair), claim.epsilon).low
            if value > low:
                low, where = value, "a target at the edge of the public domain"
    low = min(low, high)
    exact = Estimate.proved(low, high, "ball arithmetic; below: searched targets; above: " + words)
    evidence = Evidence(_delta_claim(claim, Relation.ADD), exact, found={"pair": where} if where else {})
    yield Check("everyone who may be added", CheckRole.DECIDES, evidence, deployment.private, words)
    if dataset.n_records and not (isinstance(mechanism, CoversRecords) and is_reference(mechanism)):
        yield from _pdp_checks(deployment, claim.model_copy(update={"scope": "records"}))


def _everyone_bound(deployment: Deployment, claim: PDPClaim) -> tuple[float, str]:
    """Return a proved bound on delta for every target added to this data set, and what it rests on."""
    mechanism, domain = deployment.mechanism, deployment.domain
    bound = worst_case_of(mechanism, domain)
    best, words = 1.0, "the trivial bound"
    if bound is not None:
        bound = composed(bound, deployment.n_outputs)
        best, words = bound.delta_at(claim.epsilon, claim.delta), bound.statement
    if not (domain.bounded and isinstance(mechanism, WorstTarget) and is_reference(mechanism)):
        return best, words
    own = mechanism.worst_target(deployment.dataset, domain)
    if own is None:
        return best, words
    value = composed(own, deployment.n_outputs).delta_at(claim.epsilon, claim.delta)
    return (value, own.statement) if value < 1 and value <= best else (best, words)


def _records_figures(deployment: Deployment, claim: PDPClaim) -> list[tuple[bool, Figure]]:
    figures, one = [], " Of one output." if deployment.n_outputs > 1 else ""
    label, claimed = str(claim.name).replace(" ", "-"), (Mark("x", claim.epsilon, "claimed"),)
    name, axis = f"records-{label}", "per-instance epsilon"
    values = record_epsilons(deployment.mechanism, deployment.dataset, claim.delta)
    if values is not None:
        title = "Per-instance epsilon over the records"
        caption = f"Exact epsilon of every record at delta = {said(claim.delta)}, the worse of the two directions.{one}"
        caption += INTERPOLATED if deployment.dataset.n_records > BLOCK else ""
        figures.append(histogram(name, title, caption, axis, values, claimed))
    else:
        values = dominating_epsilons(deployment.mechanism, deployment.dataset, claim.delta)
        title = "What is proved of per-instance epsilon over the records"
        caption = f"An upper bound on the epsilon of every record at delta = {said(claim.delta)}, in both directions."
        if values is not None:
            figures.append(histogram(name, title, caption + one, f"bound on {axis}", values, claimed))
    mechanism = white_box_of(deployment.mechanism)
    if mechanism is not None:
        pair = NeighbouringPair.remove(deployment.dataset, most_exposed(mechanism, deployment.dataset, claim.delta))
        figures.append(roc(f"roc-{label}", mechanism, pair, deployment.config.budget.seed, deployment.draws))
    return [(deployment.private, figure) for figure in figures]


def ex_post_finding(deployment: Deployment, claim: ExPostClaim) -> Finding:
    """Return what was found about the ex-post losses of the records at the released output."""
    assert deployment.released is not None
    losses = ex_post_losses(deployment.mechanism, deployment.released, deployment.dataset)
    shown = Claim(
        "largest absolute ex-post loss over the records", 0.0, claim.epsilon, claim.epsilon, relation=Relation.REMOVE
    )
    figures: tuple[tuple[bool, Figure], ...] = ()
    if losses is None:
        evidence = Evidence(shown, reason="no finite test: the mechanism gives no density")
    elif losses.size == 0:
        raise DataError("n_records must be at least 1 for a claim about records, got n_records=0")
    else:
        largest = float(np.abs(losses).max())
        slack = ROUNDING * max(1.0, largest)
        exact = Estimate(largest, max(0.0, largest - slack), largest + slack, 0.0, 0, "float64, all records")
        levels = np.quantile(np.abs(losses), [0.5, 0.9, 0.99])
        notes = dict(zip(("median", "quantile_90", "quantile_99"), map(float, levels), strict=True))
        evidence = Evidence(shown, exact, notes=notes | {"n_records": losses.size})
        figure = histogram(
            f"ex-post-{str(claim.name).replace(' ', '-')}",
            "Ex-post loss over the records",
            "Loss of every record at the released output: the log of its density with the record over that without.",
            "ex-post loss (natural log)",
            losses,
            (Mark("x", claim.epsilon, "claimed"), Mark("x", -claim.epsilon, "claimed")),
        )
        figures = ((deployment.private, figure),)
    check = Check("all records at the released output", CheckRole.DECIDES, evidence, deployment.private)
    finding = deployment.finding(
        claim,
        f"at the released output no record's ex-post loss exceeds {said(claim.epsilon)}",
        "this output and these records alone",
        [check],
        conditions=(f"{note}, taken as public" for note in deployment.dataset.data_dependent),
        advice="The loss is a fact of this output; another output needs another privacy budget.",
        figures=figures,
    )
    if not isinstance(deployment.mechanism, Imported):
        return finding
    # the losses are those that the mechanism states: its law is held against its draws
    examination = _examination(deployment, claim, record_pairs(deployment), None)
    check = sound_or_void(replace(check, rests_on=(Stated.DENSITY, Stated.LOSS)), examination)
    return replace(
        finding,
        checks=(check, *pair_checks(examination, over_all=True)),
        conditions=deployment.record_conditions,
        advice=misstated(examination.misstated) if examination.misstated else finding.advice,
        figures=finding.figures if sound(check.result, examination.misstated) else (),
        forced=examination.obstacle,
        imported=True,
        examined=examined_row(examination, deployment, Relation.ADD),
        vouched=deployment.vouched,
    )


# --- a mechanism that is not ours: examined on these records, and covered by what it states ---------------------------


def _imported(deployment: Deployment, claim: PDPClaim, sentence: str) -> Finding:
    privacy = point_claim(claim.epsilon, claim.delta)
    examination = _examination(deployment, claim, covered_pairs(deployment, claim), privacy)
    checks = pair_checks(examination, over_all=claim.scope != "target")
    forced, way_out, covered = examination.obstacle, "", True
    if claim.scope != "target":
        cover, why = _cover(deployment, claim)
        covered = not why
        checks.insert(0, sound_or_void(cover, examination))
        forced = forced or why
        holds = cover.judged[0] is Outcome.HOLDS
        if not holds and covered and not (examination.refutations or examination.misstated):
            way_out = "A larger epsilon, or more noise."
    vouched, door = deployment.vouched is not None, deployment.is_door
    return deployment.finding(
        claim,
        sentence,
        THIS_DATA,
        checks,
        conditions=deployment.record_conditions,
        examined=examined_row(examination, deployment, Relation.ADD),
        advice=way_out or advice(examination, None, vouched=vouched, covered=covered, door=door),
        forced=forced or deployment.one_output,
        violation=examination.violation,
    )


def _examination(
    deployment: Deployment, claim: ClaimSection, pairs: list[NamedPair], privacy: PrivacyClaim | None
) -> Examination:
    section = deployment.config.budget
    least = DEMANDED[section.profile]
    draws = min(least.draws, section.draws or least.draws)
    visible = VISIBLE if draws < least.draws and privacy is not None else 1.0
    demand = Demand(min(least.pairs, len(pairs)), draws, visible)
    return examined(deployment, str(claim.name), privacy, [], pairs, demand)


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
