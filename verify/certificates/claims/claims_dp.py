"""A claim over all data sets: what is proved about every pair, what the worst pair found gives, what draws say."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from audits import Budget, Estimate
from audits.black_box.claims import PrivacyClaim, implied_by
from audits.density_tests.stated_worst import NOT_TOLD, inside, stated_delta, stated_worst
from audits.examination.examined import VISIBLE, Demand
from audits.examination.examined_claim import Examination
from audits.examination.witnesses import StatedProfile, Violation, claimed_words
from audits.search.pairs import GroupPair
from audits.search.worst_case import NamedPair
from audits.verdict import CheckRole, Decision, Stated
from audits.white_box.exact import sampled_delta
from audits.white_box.tails import audit_tails
from mechanisms import ExactLaw, GaussianProfile, Mechanism, NeighbouringPair, Relation, WhiteBox
from mechanisms.capabilities import Bound, WorstPair, worst_case_of, worst_pair_of
from mechanisms.filters.privacy_filters import most_spent
from mechanisms.laws.gaussian_profile import gaussian_delta
from mechanisms.objective.perturbed_solver import SolverError
from reports.row import Figure, Mark, Series, Style

from ...kernel.evidence import vacuous
from ...kernel.statement import Claim, Evidence, Value
from ...kernel.verdict import Outcome
from ..config.mechanism_source import Imported, white_box_of
from .examination import (
    DEMANDED,
    OWN_PAIRS,
    advice,
    apart,
    examined,
    examined_row,
    pair_checks,
    sound_or_void,
    sparing_dp,
)
from .finding import EVERY_PAIR, Check, Deployment, Finding
from .pairs import PairTask, own_pairs, pair_search, public_pairs, run_tasks, structured_pairs, work_of
from .record_losses import curve, record_figures, roc_work
from .remedy import largest_exceeded, least_epsilon_proved, least_noise, left_over, remedies
from .types import DPClaim, said

#: Pairs that are kept ready for those that the mechanism refuses, for each that is wanted.
READY = 4
#: Draws of the figure of a claim's profile.
FIGURE_DRAWS = 20_000


def dp_finding(deployment: Deployment, claim: DPClaim) -> Finding:
    """Return what was found about a claim of differential privacy on everything that is released."""
    released = deployment.mechanism.name + (" with its private report" if deployment.mu_report else "")
    if deployment.n_outputs > 1:
        released = f"{deployment.n_outputs} outputs of {released}"
    sentence = f"{released} is {claim.words} over all data sets in the public domain, {apart(claim.neighbours)}"
    if not isinstance(deployment.mechanism, Imported):
        return _of_ours(deployment, claim, sentence)
    if deployment.config.budget.sequential:
        return sparing_dp(deployment, claim, sentence)
    return _imported(deployment, claim, sentence)


# --- a mechanism of ours: proved, and simulated beside the proof ------------------------------------------------------


def _of_ours(deployment: Deployment, claim: DPClaim, sentence: str) -> Finding:
    name, privacy = str(claim.name), claim.privacy
    bound = _bound(deployment, claim)
    with deployment.progress.phase(f"{name}: the worst pair"):
        worst = worst_pair_of(deployment.mechanism, deployment.domain, privacy.epsilon, privacy.delta)
    if claim.relation == "replace" or _named_alone(deployment):
        worst = None  # its pairs add a record; a replacement is covered from above alone
    checks = [_worst_case(deployment, claim, bound, worst), *_sampled(deployment, claim, worst)]
    figures: list[tuple[bool, Figure]] = []
    if bound is not None:
        with deployment.progress.phase(f"{name}: the profile's figure", 2 * FIGURE_DRAWS):
            figures.append((False, _profile_figure(deployment, claim, bound, worst)))
    with (
        contextlib.suppress(
            SolverError, np.linalg.LinAlgError, *((ValueError, ArithmeticError) if deployment.private else ())
        ),
        deployment.progress.phase(f"{name}: figures of the records", roc_work(deployment)),
    ):
        figures += [(deployment.private, figure) for figure in record_figures(deployment, name)]
    chosen, way_out = deployment.chosen_by_looking
    finding = deployment.finding(
        claim,
        sentence,
        EVERY_PAIR,
        checks,
        conditions=(*(bound.conditions if bound else ()), *deployment.conditions),
        advice=way_out or _way_out(deployment, bound),
        forced=chosen,
        figures=tuple(figures),
    )
    if finding.verdict.decision is Decision.PASS:
        return replace(finding, left_over=_left_over(deployment, claim, bound))
    if finding.verdict.decision is Decision.FAIL:
        finding = replace(finding, violation=_violation(deployment, claim, privacy, worst))
    if way_out:
        return finding
    found = remedies(deployment, claim, partial(_proved_for, deployment))
    words = [each.words for each in found]
    if deployment.mu_report and all(each.where != "mechanism" for each in found):
        words.append("No noise of the mechanism alone suffices: the report needs more of its own (sigma2, sigma3).")
    return replace(finding, remedy=found, advice=" ".join(words) or finding.advice)


def _violation(deployment: Deployment, claim: DPClaim, privacy: PrivacyClaim, worst: WorstPair | None) -> Violation:
    """Return a refuted claim in numbers: the largest epsilon, to three digits, that the worst pairs found exceed."""
    epsilon, delta = privacy.epsilon, privacy.delta

    def exceeded(at: float) -> bool:
        pair = worst_pair_of(deployment.mechanism, deployment.domain, at, delta)
        return pair is not None and pair.delta.low > delta

    least = math.nan
    if claim.relation != "replace" and worst is not None and worst.delta.low > delta:
        least = largest_exceeded(epsilon, exceeded)
    words = "" if worst is None else worst.words.rstrip(".")
    members: NeighbouringPair | GroupPair | None = None if worst is None else worst.pair
    if worst is None and deployment.pairs:
        words, members = deployment.pairs[0].name, deployment.pairs[0].pair
    return Violation(claimed_words(privacy), least, delta, 0.0, words, members=members)


def _named_alone(deployment: Deployment) -> bool:
    """Return whether the pairs of the configuration alone are looked at; an exact law decides them without draws."""
    return deployment.examination_size[0] == 0 and isinstance(deployment.mechanism, ExactLaw)


def _left_over(deployment: Deployment, claim: DPClaim, bound: Bound | None) -> str:
    if bound is None or claim.profile is not None:
        return ""
    epsilon, delta = claim.point

    def holds_at(at: float) -> bool:
        return _proved_for(deployment, deployment.mechanism, claim.model_copy(update={"epsilon": at}))

    spare = "" if deployment.mu_report else least_noise(deployment, claim, partial(_proved_for, deployment))
    return f"Proved: {left_over(least_epsilon_proved(epsilon, holds_at), delta)}{spare}"


def _proved_for(deployment: Deployment, mechanism: Mechanism, claim: DPClaim) -> bool:
    """Return whether the check that decides holds for another mechanism or claim on the same domain."""
    other = replace(deployment, mechanism=mechanism)
    bound = _bound(other, claim)
    if bound is not None and bound.within is not None and claim.profile is None:
        return not vacuous(*claim.point) and bound.within(*claim.point)
    return _worst_case(other, claim, bound, None).judged[0] is Outcome.HOLDS


def _bound(deployment: Deployment, claim: DPClaim) -> Bound | None:
    """Return the proved bound on everything released.

    Replacing a record is removing one and adding another; what is proved of normal laws further apart, or of one record
    replaced, counts where it says more.
    """
    one = worst_case_of(deployment.mechanism, deployment.domain, deployment.mu_report)
    if one is None:
        return None
    return composed(one, deployment.n_outputs, claim.steps, replaced=claim.relation == "replace")


def composed(one: Bound, outputs: int, steps: int = 1, *, replaced: bool = False) -> Bound:
    """Return the bound on several outputs together, of data sets some records apart.

    ``one`` is on one output, of data sets one record apart; ``steps`` records are added or removed. ``replaced``: two
    steps are one record.
    """
    if outputs == 1 and steps == 1:
        return one
    mu = None if one.mu is None else one.mu * steps * math.sqrt(outputs)
    renyi = None if one.renyi is None or steps > 1 else _times(one.renyi, outputs)
    direct = one.replaced if replaced and outputs == 1 and steps == 2 else None

    def delta_at(epsilon: float, delta: float) -> float:
        part = min(epsilon / (outputs * steps), 700.0 / steps)  # delta falls with epsilon; exp stays finite
        # basic composition adds over outputs; records one after the other: delta (1 + e^part + e^(2 part) + ...)
        factor = math.fsum(math.exp(i * part) for i in range(steps))
        share = one.delta_at(part, delta / (outputs * factor))
        bounds = [1.0, outputs * share * factor]
        if mu is not None:
            bounds.append(gaussian_delta(mu, epsilon))
        if direct is not None:
            bounds.append(direct(epsilon, delta))
        return min(bounds)

    words = f"{one.sentence} Composed."
    parts = tuple(composed(part, outputs, steps, replaced=replaced) for part in one.parts)
    return replace(one, sentence=words, delta_at=delta_at, mu=mu, renyi=renyi, within=None, parts=parts)


def _times(renyi: Callable[[float], float], outputs: int) -> Callable[[float], float]:
    return lambda order: outputs * renyi(order)


def _worst_case(deployment: Deployment, claim: DPClaim, bound: Bound | None, worst: WorstPair | None) -> Check:
    """Return the enclosure of the largest delta over all pairs: below from the worst pair, above from the proof."""
    privacy = claim.privacy
    if privacy.curve is not None:
        return _worst_curve(claim, privacy, bound, worst)
    epsilon, delta = claim.point
    bound = bound and bound.least(lambda part: part.delta_at(epsilon, delta))
    high = 1.0 if bound is None else bound.delta_at(epsilon, delta)
    low = 0.0 if worst is None else min(worst.delta.low, high)
    notes: dict[str, Value] = {"proved bound": high, "rests on": bound.statement if bound else "nothing"}
    if worst is not None:
        notes |= {"delta of the worst pair found": worst.delta.low}
    words = bound.sentence if bound else "Nothing is proved about this mechanism over all data sets."
    if bound is not None and bound.needs is not None:
        notes |= bound.needs(epsilon, delta)
        if deployment.n_outputs > 1:
            notes["inside its domain"] = "no"
    above = bound.statement if bound else "the trivial bound"
    exact = Estimate.proved(low, high, f"ball arithmetic; below: the worst pair found; above: {above}")
    shown = Claim(
        "largest delta at the claimed epsilon over all neighbouring data sets",
        0.0,
        delta,
        epsilon,
        in_domain=not vacuous(epsilon, delta),
        relation=claim.neighbours,
    )
    numbers = dict(worst.numbers) | {"pair": worst.words} if worst else {}
    evidence = Evidence(shown, exact, found=numbers, notes=notes)
    return Check("worst case over all data sets", CheckRole.DECIDES, evidence, False, words)


def _worst_curve(claim: DPClaim, privacy: PrivacyClaim, bound: Bound | None, worst: WorstPair | None) -> Check:
    """Return whether the proof lies below a whole claimed curve: at every point of a table, or by its Gaussian mu."""
    name, relation = "worst case over all data sets, whole curve", claim.neighbours
    shown = Claim("excess of the worst case over the claimed curve", 0.0, 0.0, 0.0, relation=relation)
    words = bound.sentence if bound else "Nothing is proved about this mechanism over all data sets."
    if worst is not None and worst.delta.low > privacy.delta:
        excess = Estimate.proved(worst.delta.low - privacy.delta, 1.0, "ball arithmetic; the worst pair found")
        numbers = dict(worst.numbers) | {"pair": worst.words}
        return Check(name, CheckRole.DECIDES, Evidence(shown, excess, found=numbers), False, worst.words)
    inside = False
    if bound is not None and claim.profile == "table":
        inside = all(bound.delta_at(epsilon, delta) <= delta for epsilon, delta in claim.points or [])
    elif bound is not None and claim.profile == "renyi":
        order, allowed = claim.alpha or math.inf, (claim.epsilon or 0.0) * (1 + 1e-12)
        bound = bound.least(lambda part: most_spent(part, order))
        inside = most_spent(bound, order) <= allowed
    elif bound is not None and bound.mu is not None:
        bound = bound.least(lambda part: math.inf if part.mu is None else part.mu)
        assert bound.mu is not None
        one = replace(privacy, group=1)  # mu is that of the claim's own distance
        inside = implied_by(GaussianProfile(bound.mu * (1 + 1e-12)), one) is True
    if inside:
        assert bound is not None
        exact = Estimate.proved(0.0, 0.0, f"closed form; {bound.statement}")
        return Check(name, CheckRole.DECIDES, Evidence(shown, exact), False, bound.sentence)
    reason = "no finite test: nothing proved lies below the whole claimed curve"
    return Check(name, CheckRole.DECIDES, Evidence(shown, reason=reason), False, words)


def _way_out(deployment: Deployment, bound: Bound | None) -> str:
    if bound is not None:
        return "More noise, or a larger epsilon, brings the proved bound below the claimed delta."
    why = "a public bound on the number of records (data.n_public)" if deployment.domain.n_public is None else ""
    return f"A PASS over all data sets needs a statement that covers this mechanism{'; try ' + why if why else ''}."


def _sampled(deployment: Deployment, claim: DPClaim, worst: WorstPair | None) -> list[Check]:
    mechanism = deployment.mechanism
    if not isinstance(mechanism, WhiteBox):
        return []
    privacy = claim.privacy
    none = claim.relation == "replace" or claim.group > 1 or _named_alone(deployment)
    pairs = [] if none else structured_pairs(deployment)
    pairs += [each for each in deployment.pairs if isinstance(each, NamedPair) and claim.group == 1]
    total = 2 * len(pairs) + 3
    checks = [] if worst is None else [_agreement(deployment, claim, worst, 1 / total)]
    tasks = []
    for named in pairs:
        label = f"simulated: {named.name}"
        budget = deployment.budget(str(claim.name), f"delta {label}", share=1 / total)
        tasks.append(PairTask(label, mechanism, named.pair, privacy.epsilon, privacy.delta, budget, False))
    with deployment.progress.phase(f"{claim.name}: simulated checks", work_of(tasks)) as step:
        return checks + run_tasks(tasks, deployment.jobs, step)


def _agreement(deployment: Deployment, claim: DPClaim, worst: WorstPair, share: float) -> Check:
    """Return the worst pair's exact delta beside a simulation of it, at an epsilon where the simulation sees it."""
    mechanism = deployment.mechanism
    assert isinstance(mechanism, WhiteBox)
    budget = deployment.budget(str(claim.name), "agreement", share=share)
    privacy = claim.privacy
    sampled, reason = None, ""
    if not worst.partial:
        try:
            sampled = sampled_delta(mechanism, worst.pair, privacy.epsilon, budget)
        except (SolverError, np.linalg.LinAlgError) as stop:
            reason = f"no finite test: {stop}"
    exact = Estimate.proved(worst.delta.low, worst.delta.high, "ball arithmetic")
    shown = Claim("delta of the worst pair found at the claimed epsilon", 0.0, privacy.delta, privacy.epsilon)
    evidence = Evidence(shown, exact=exact, sampled=sampled, reason=reason)
    return Check("the worst pair, simulated", CheckRole.AGREES, evidence, False, worst.words)


def _profile_figure(deployment: Deployment, claim: DPClaim, bound: Bound, worst: WorstPair | None) -> Figure:
    privacy = claim.privacy
    top = max(2.0 * privacy.epsilon, 0.5)
    grid = np.linspace(0.0, top, 81)
    floor = max(min(privacy.delta, 1e-6) * 1e-6, 1e-30) if privacy.delta > 0 else 1e-12
    upper = [bound.delta_at(float(e), privacy.delta) for e in grid]
    series = [curve("proved bound", grid, upper, floor)]
    if worst is not None:
        kind = "at least" if worst.below else "exact"
        series.append(curve(f"{kind}, worst pair", grid, worst.curve(grid), floor))
        series += _estimated(deployment, worst, grid[1::8], floor)
    if privacy.delta > 0:
        series.append(Series("claimed", (privacy.epsilon,), (privacy.delta,), style=Style.POINTS))
    return Figure(
        f"profile-{str(claim.name).replace(' ', '-')}",
        "Privacy profile: claimed, proved and exact",
        "The claim holds where the proved bound passes below the claimed point; it fails where the exact curve of one "
        "pair passes above it. Values too small to matter are left out.",
        "delta against epsilon on a logarithmic scale: the proved bound, the exact curve of the worst pair found, and "
        f"the claimed point at epsilon {said(privacy.epsilon)}, delta {said(privacy.delta)}",
        "epsilon",
        "delta(epsilon)",
        tuple(series),
        (Mark("x", privacy.epsilon, f"claimed epsilon {said(privacy.epsilon)}"),),
        y_scale="log",
    )


def _estimated(deployment: Deployment, worst: WorstPair, epsilons: np.ndarray, floor: float) -> list[Series]:
    """Return simulated values for the worst pair with 95 % intervals, where the simulation sees anything."""
    mechanism = white_box_of(deployment.mechanism)
    if mechanism is None or worst.partial:
        return []
    budget = Budget(FIGURE_DRAWS, 0.05, deployment.figure_key("profile"))
    levels = [float(e) for e in epsilons]
    try:
        audit = audit_tails(mechanism, worst.pair, levels, budget)
    except (SolverError, np.linalg.LinAlgError):  # float64 cannot draw there: the proved curves remain
        return []
    estimates = [(e, audit.delta(e)) for e in levels]
    seen = [(e, estimate) for e, estimate in estimates if estimate.low > floor]
    if not seen:
        return []
    columns = [(e, estimate.value, estimate.low, estimate.high) for e, estimate in seen]
    xs, ys, lows, highs = zip(*columns, strict=True)
    return [Series("simulated, 95 %", xs, ys, lows, highs, Style.POINTS)]


# --- a mechanism that is not ours: examined, and its stated worst case held against the claim -------------------------


def _imported(deployment: Deployment, claim: DPClaim, sentence: str) -> Finding:
    privacy, relation, domain = claim.privacy, claim.neighbours, deployment.domain
    assert isinstance(deployment.mechanism, Imported)
    inner = deployment.mechanism.inner
    worst, trouble = stated_worst(inner, domain.x_bound, domain.y_bound, relation, claim.group, claim=privacy)
    section, wanted = deployment.config.budget, deployment.examination_size[0]
    structured, named = public_pairs(deployment, privacy, relation, READY * wanted)
    own_wanted, least = min(OWN_PAIRS, wanted), DEMANDED[section.profile]
    pairs_needed = min(least.pairs, section.pairs or least.pairs, len(structured))
    if not wanted:  # those of [[pairs]] alone support nothing, however many they are
        pairs_needed = max(least.pairs, len(named) + 1)
    draws_needed = min(least.draws, section.draws or least.draws)
    smaller = (pairs_needed, draws_needed) != (least.pairs, least.draws)
    examination = examined(
        deployment,
        str(claim.name),
        privacy,
        [*named, *structured],
        own_pairs(deployment, privacy, relation, own_wanted),
        Demand(max(1, pairs_needed), draws_needed, VISIBLE if smaller else 1.0),
        compared=wanted + len(named),
        own_slots=own_wanted if claim.group == 1 else 0,
        search=pair_search(deployment, privacy, relation),
    )
    stated = _stated_case(privacy, worst, relation, trouble)
    covered, vouched = stated.judged[0] is Outcome.HOLDS, deployment.vouched is not None
    chosen, way_out = deployment.chosen_by_looking
    word = "worst_profile of the imported mechanism is true over all data sets: a word, not a proof"

    def finding(part: Examination) -> Finding:
        return deployment.finding(
            claim,
            sentence,
            EVERY_PAIR,
            (sound_or_void(stated, part), *pair_checks(part, over_all=True)),
            conditions=(*(() if worst is None else (word,)), *deployment.conditions),
            examined=examined_row(part, deployment, relation),
            advice=way_out or advice(part, worst, vouched=vouched, covered=covered, door=deployment.is_door),
            forced=chosen or part.obstacle or (trouble if worst is None else "") or deployment.one_output,
            violation=part.violation,
            left_over=_least_stated(worst, privacy),
        )

    # reasons and advice are formed again for the public: they name pairs, and bounds seen on them
    return replace(finding(examination), public=finding(examination.public()))


def _stated_case(claim: PrivacyClaim, worst: StatedProfile | None, relation: Relation, trouble: str) -> Check:
    name, high, why = "stated worst case over all data sets", 0.0, None
    if claim.curve is None:
        quantity = "largest delta at the claimed epsilon over all neighbouring data sets, as stated"
        inside_domain = not vacuous(claim.epsilon, claim.delta)
        shown = Claim(quantity, 0.0, claim.delta, claim.epsilon, in_domain=inside_domain, relation=relation)
        if worst is None:
            why = trouble
        else:
            high = stated_delta(worst, claim.epsilon, claim.delta)
    else:
        shown = Claim("share of the claimed curve that worst_profile exceeds", 0.0, 0.0, 0.0, relation=relation)
        covered = inside(worst, claim)
        if not covered:
            why = trouble or NOT_TOLD if covered is None else "worst_profile exceeds the claim"
    if why is not None:
        return Check(name, CheckRole.DECIDES, Evidence(shown, reason=f"no finite test: {why}"), False, why)
    rests = "rests on worst_profile, which is the author's word"
    evidence = Evidence(shown, Estimate.proved(0.0, high, rests))
    return Check(name, CheckRole.DECIDES, evidence, False, rests, None, (Stated.WORST_CASE,))


def _least_stated(worst: StatedProfile | None, claim: PrivacyClaim) -> str:
    """Return what a PASS leaves over: the least epsilon at the claimed delta that ``worst_profile`` states."""
    if worst is None or claim.curve is not None:
        return ""
    stated = worst
    least = least_epsilon_proved(claim.epsilon, lambda at: stated_delta(stated, at, claim.delta) <= claim.delta)
    return f"No violation was found, and the stated worst case lies inside the claim: {left_over(least, claim.delta)}"
