"""Claims about an imported mechanism: examined by ``audits.examination.examined_claim``, and never believed.

A PASS rests on three things together: every examination made and nothing found, the mechanism's own ``worst_profile``
inside the claim, and somebody's word for it. The type of the verdict makes the first two impossible to leave out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from audits import Estimate
from audits.black_box.claims import PrivacyClaim
from audits.examination.examine_choose import LEARNED, Named, places
from audits.examination.examine_pair import PairExamination, PairWork
from audits.examination.examined import VISIBLE, Demand, DrawnPair
from audits.examination.examined_claim import MISCOUNTED, Examination, examine
from audits.examination.witnesses import StatedProfile, Witness
from audits.search.data_pairs import own_data_pairs
from audits.search.design_search import PairSearch
from audits.search.pairs import PublicDomain, examination_pairs
from audits.stated_law.stated_worst import NOT_TOLD, inside, stated_delta, stated_worst
from audits.verdict import CheckRole, Stated, sound
from mechanisms import Relation

from ....engine.rows import Row
from ....engine.work import in_order
from ....kernel.evidence import vacuous
from ....kernel.statement import Claim, Evidence
from ....kernel.verdict import Outcome
from ....messages.errors import UserError
from ....messages.verdict_words import least_change, misstated
from ...config.door_source import DoorSource
from ...config.mechanism_source import Imported, MechanismSource
from ...config.named_pairs import pairs_for
from ...config.own_code import Factory
from ...pages.certificate_words import CANNOT_CATCH
from ..claim_forms import privacy_claim, relation_of
from ..finding import Check, Deployment, Examined, Finding
from ..pair_audits import DIED, ignore
from ..remedy import least_epsilon_proved, left_over
from ..types import DPClaim

#: What a check of the stated worst case rests on, and how far its delta may round beyond the claim.
WORST = (Stated.WORST_CASE,)
#: What a profile must have examined before anything may rest on it.
DEMANDED = {"quick": Demand(6, 2_000), "standard": Demand(12, 10_000), "full": Demand(12, 10_000)}
#: Pairs around the user's own data.
OWN_PAIRS = 3
#: Pairs that are kept ready for those that the mechanism refuses, for each that is wanted.
READY = 4
#: Units of the search for the worst pair, pairs that it may find, and draws of each data set in an evaluation.
SEARCHES = {"quick": (400, 3, 24), "standard": (1_500, 4, 48), "full": (4_000, 6, 96)}
#: Draws of a search, at most, as a share of what the pairs asked for are given, and the fewest units worth it.
SEARCH_SHARE, LEAST_UNITS = 0.3, 100


def examined_dp(deployment: Deployment, claim: DPClaim, sentence: str, chosen: tuple[str, str]) -> Finding:
    """Return the finding of a claim over all data sets; ``chosen`` is what keeps it from a PASS whatever is found."""
    privacy, relation = privacy_claim(claim), relation_of(claim)
    mechanism = deployment.mechanism
    assert isinstance(mechanism, Imported)
    domain = deployment.domain
    worst, trouble = stated_worst(mechanism.inner, domain.x_bound, domain.y_bound, relation, claim.group, claim=privacy)
    examination = _examination(deployment, str(claim.name), privacy, relation)
    stated = _worst_case(privacy, worst, relation, trouble)
    covered, vouched = stated.judged[0] is Outcome.HOLDS, deployment.notes.get("vouched")

    def finding(part: Examination) -> Finding:
        return Finding(
            str(claim.name),
            claim.type,
            sentence,
            "every pair of neighbouring data sets in the public domain",
            False,
            (sound_or_void(stated, part), *pair_checks(part, over_all=True)),
            (*_conditions(worst), *deployment.notes.get("conditions", ())),
            chosen[1] or advice(part, worst, vouched=vouched is not None, covered=covered, door=is_door(deployment)),
            chosen[0] or part.obstacle or (trouble if worst is None else "") or deployment.one_output,
            imported=True,
            examined=examined_row(part, deployment, claim.relation),
            vouched=vouched,
            violation=part.violation,
            left_over=least_stated(worst, privacy),
        )

    # reasons and advice are formed again for the public: they name pairs, and bounds seen on them
    return replace(finding(examination), public=finding(examination.public()))


def _worst_case(claim: PrivacyClaim, worst: StatedProfile | None, relation: Relation, trouble: str) -> Check:
    """Return whether the stated worst case lies inside the claim."""
    rests = "rests on worst_profile, which is the author's word"
    name = "stated worst case over all data sets"
    if claim.curve is None:
        shown = Claim(
            "largest delta at the claimed epsilon over all neighbouring data sets, as stated",
            0.0,
            claim.delta,
            claim.epsilon,
            in_domain=not vacuous(claim.epsilon, claim.delta),
            relation=relation,
        )
        if worst is None:
            return Check(name, CheckRole.DECIDES, Evidence(shown, reason=f"no finite test: {trouble}"), False, trouble)
        high = stated_delta(worst, claim.epsilon, claim.delta)
        return Check(
            name, CheckRole.DECIDES, Evidence(shown, Estimate.proved(0.0, high, rests)), False, rests, None, WORST
        )
    shown = Claim("share of the claimed curve that worst_profile exceeds", 0.0, 0.0, 0.0, relation=relation)
    covered = inside(worst, claim)
    if covered is None:
        why = trouble or NOT_TOLD
        return Check(name, CheckRole.DECIDES, Evidence(shown, reason=f"no finite test: {why}"), False, why)
    if not covered:
        why = "worst_profile exceeds the claim"
        return Check(name, CheckRole.DECIDES, Evidence(shown, reason=f"no finite test: {why}"), False, why)
    return Check(name, CheckRole.DECIDES, Evidence(shown, Estimate.proved(0.0, 0.0, rests)), False, rests, None, WORST)


def _conditions(worst: StatedProfile | None) -> tuple[str, ...]:
    return (
        ()
        if worst is None
        else ("worst_profile of the imported mechanism is true over all data sets: a word, not a proof",)
    )


def least_stated(worst: StatedProfile | None, claim: PrivacyClaim) -> str:
    """Return what a PASS leaves over: the least epsilon at the claimed delta that ``worst_profile`` states."""
    if worst is None or claim.curve is not None:
        return ""
    stated = worst

    def inside_at(epsilon: float) -> bool:
        return stated_delta(stated, epsilon, claim.delta) <= claim.delta

    least = least_epsilon_proved(claim.epsilon, inside_at)
    return f"No violation was found, and the stated worst case lies inside the claim: {left_over(least, claim.delta)}"


def epsilon_seen(examination: Examination) -> float:
    """Return the largest epsilon that the black box certifies on any of the pairs (0 when it certifies none)."""
    lows = [
        witness.estimate.low
        for pair in examination.pairs
        for witness in pair.witnesses
        if witness.about == "black box: epsilon" and math.isfinite(witness.estimate.low)
    ]
    return max(lows, default=0.0)


def advice(
    examination: Examination, worst: StatedProfile | None, *, vouched: bool, covered: bool, door: bool = False
) -> str:
    """Return the way out.

    Parameters
    ----------
    vouched : bool
        Whether somebody is named already.
    covered : bool
        Whether what the mechanism states covers everybody whom the claim is about.
    door : bool
        Whether it is behind a command or a url, and so can state nothing.
    """
    if examination.refutations:
        pair = examination.refutations[0][0]
        if any(pair.refused):
            return (
                "The mechanism refuses one of two neighbouring data sets, which tells them apart. If the least number "
                "of records is public, say so (data.n_min)."
            )
        assert examination.violation is not None
        return least_change(examination.violation, examination.broken)
    if examination.misstated:
        return misstated(examination.misstated)
    low = epsilon_seen(examination)
    certified = f"; epsilon is at least {low:.3g} at the claimed delta, certified" if low > 0 else ""
    seen = f"No violation found{certified}. " if examination.drawn else ""
    if examination.missing:
        return seen + _more(examination)
    if examination.law and not door:
        return seen + "Add log_density, which the draws are held against, and worst_profile for all data sets."
    if examination.violations:
        return f"{seen}Mend what the contract found: {examination.broken}."
    if door:
        return seen + "A command or a service states no law, and draws alone never support a claim."
    if worst is None and not covered:
        return seen + "Add worst_profile, which states the worst case over all data sets."
    if not covered:
        return seen + "More noise, or a larger epsilon, brings what it states of itself inside the claim."
    if vouched:
        return seen + "Look at the checks that are open: everything else is there."
    return seen + "Name whoever vouches for the law of the mechanism (mechanism.vouched_by)."


def _more(examination: Examination) -> str:
    """Return what would let an examination be made that was not."""
    if examination.stopped:
        return "Let the mechanism answer every request (mechanism.timeout, mechanism.batch)."
    if examination.unreached:
        return "Let it take longer (budget.max_seconds), or ask for fewer draws ([budget] pairs and draws)."
    if examination.missing == MISCOUNTED:
        return "A line for each draw, and no other: what else is written belongs on standard error."
    if examination.spared:
        return "Let it draw more (budget.max_draws)."
    return "Let it draw more: [budget] pairs and draws, data.n_min for data sets that are too small."


def _examination(deployment: Deployment, name: str, claim: PrivacyClaim, relation: Relation) -> Examination:
    """Return the examination of a claim over all data sets."""
    section = deployment.config.budget
    wanted, draws = examination_size(deployment)
    structured, named = public_pairs(deployment, claim, relation, READY * wanted)
    own_wanted = min(OWN_PAIRS, wanted)
    own = own_pairs(deployment, claim, relation, own_wanted)
    least = DEMANDED[section.profile]
    pairs_needed = min(least.pairs, section.pairs or least.pairs, len(structured))
    draws_needed = min(least.draws, section.draws or least.draws)
    smaller = (pairs_needed, draws_needed) != (least.pairs, least.draws)
    demand = Demand(max(1, pairs_needed), draws_needed, VISIBLE if smaller else 1.0)
    pairs = [*named, *structured]
    assert isinstance(deployment.mechanism, Imported)
    compared = wanted + len(pairs) - len(structured)
    search = pair_search(deployment, claim, relation)
    work = examination_work(deployment, compared + len(own), search)
    with deployment.progress.phase(f"{name}: examination", work) as step:
        return examine(
            deployment.mechanism.inner,
            pairs,
            claim,
            deployment.budget(name, "examination", n_draws=2 * draws),
            wanted=compared,
            own=own,
            own_slots=own_wanted if claim.group == 1 else 0,
            demand=demand,
            search=search,
            **conduct(deployment, step),
        )


def public_pairs(
    deployment: Deployment, claim: PrivacyClaim, relation: Relation, count: int
) -> tuple[list[Named], list[Named]]:
    """Return at most ``count`` structured pairs of the public domain, and the pairs of the configuration.

    Raises
    ------
    UserError
        If there is none.
    """
    labels = labels_only(deployment)
    public = public_domain(deployment)
    structured: list[Named] = list(examination_pairs(public, relation, group=claim.group, count=count, labels=labels))
    words = "replace" if relation is Relation.REPLACE else "add-remove"
    named: list[Named] = list(pairs_for(deployment.notes.get("pairs", ()), words)) if claim.group == 1 else []
    if not (structured or named):
        raise UserError(
            "data must allow two neighbouring data sets in its public domain, got none (data.n_min, n_public)"
        )
    return structured, named


def public_domain(deployment: Deployment) -> PublicDomain:
    """Return what is public about the data of a deployment."""
    domain, data = deployment.domain, deployment.config.data
    return PublicDomain(domain.dim, domain.x_bound, domain.y_bound, data.n_min, domain.n_public)


def pair_search(deployment: Deployment, claim: PrivacyClaim, relation: Relation) -> PairSearch | None:
    """Return where, and how long, the worst pair of the public domain is searched; None where draws are dear or few."""
    if deployment.config.budget.max_draws is not None or is_door(deployment):
        return None
    units, winners, n_draws = SEARCHES[deployment.config.budget.profile]
    pairs, draws = examination_size(deployment)
    units = min(units, int(SEARCH_SHARE * pairs * draws / n_draws))
    if units < LEAST_UNITS:
        return None
    labels = labels_only(deployment)
    return PairSearch(public_domain(deployment), relation, claim.group, labels, units, winners, n_draws)


def own_pairs(deployment: Deployment, claim: PrivacyClaim, relation: Relation, wanted: int) -> list[Named]:
    """Return pairs around the records of the deployment, at most ``wanted``; none for a group."""
    if claim.group > 1:
        return []
    n_min, n_max = deployment.config.data.n_min, deployment.domain.n_public
    labels = labels_only(deployment)
    return list(own_data_pairs(deployment.dataset, relation, wanted, n_min=n_min, n_max=n_max, labels=labels))


def conduct(deployment: Deployment, step: Callable[[float], None]) -> dict[str, Any]:
    """Return how every examination of the deployment's own mechanism is made, whatever the claim."""
    return {
        "private": deployment.private,
        "believe": False,
        "make": maker(deployment),
        "views": deployment.notes.get("views", ()),
        "max_draws": deployment.config.budget.max_draws,
        "deadline": deployment.deadline,
        "complete": deployment.complete,
        "run": runner(1 if is_door(deployment) else deployment.jobs, step),
    }


def examination_work(deployment: Deployment, n_pairs: int, search: PairSearch | None = None) -> int:
    """Return about how many draws the examination of so many pairs takes: their own, and what finds out how to draw."""
    cap = deployment.config.budget.max_draws
    total = (n_pairs + places(search) + 1) * (2 * examination_size(deployment)[1] + LEARNED)
    total += 0 if search is None else 2 * search.n_draws * search.units
    return total if cap is None else min(total, cap)


def labels_only(deployment: Deployment) -> bool:
    """Return whether the configuration (not the data, which nobody reads) makes every response a label, -1 or +1."""
    data = deployment.config.data
    coded = bool(data.labels) and set(data.labels.values()) <= {-1.0, 1.0}
    return (data.threshold is not None or coded) and data.response_scale == 1.0 and deployment.domain.y_bound >= 1


def examination_size(deployment: Deployment) -> tuple[int, int]:
    """Return how many structured pairs are examined, and how often each of their data sets is drawn from."""
    pairs, draws = deployment.config.budget.examined
    return pairs, deployment.draws or draws


def is_door(deployment: Deployment) -> bool:
    """Return whether the mechanism is behind a command or a url."""
    return isinstance(deployment.source, DoorSource)


def maker(deployment: Deployment) -> Callable[[], Any] | None:
    """Return a picklable factory of pristine mechanisms; None where there is only the object."""
    return Factory(deployment.source) if isinstance(deployment.source, MechanismSource) else None


def runner(
    jobs: int,
    step: Callable[[float], None] = ignore,
) -> Callable[[Callable[[PairWork], PairExamination], Sequence[PairWork]], Iterable[PairExamination]]:
    """Return a map over pairs that keeps their order and uses several processes, and tells of what these have drawn."""

    def run(function: Callable[[PairWork], PairExamination], works: Sequence[PairWork]) -> Iterable[PairExamination]:
        apart = jobs > 1 and len(works) > 1  # in this process every call tells
        told = step if apart else ignore
        return in_order(function, works, jobs, told=lambda work, _: told(work.budget.n_draws + LEARNED), died=_died)

    return run


def _died(work: PairWork) -> PairExamination:
    """Return what is known of a pair whose process ended every time: nothing, which is told and supports nothing."""
    return PairExamination(work.name, work.private, (), DrawnPair(work.name, 0, 0), law=f"{work.name}: {DIED}")


def pair_checks(examination: Examination, *, over_all: bool) -> list[Check]:
    """Return the checks of every pair; over all data sets a single pair can refute and never support."""
    both = ((pair, witness) for pair in examination.pairs for witness in pair.witnesses)
    return [sound_or_void(witness_check(pair, witness, over_all=over_all), examination) for pair, witness in both]


def sound_or_void(check: Check, examination: Examination) -> Check:
    """Return a check, without its numbers where they rest on a statement that the draws refute."""
    if sound(check.result, examination.misstated):
        return check
    reason = "no finite test: it rests on a statement that the draws refute"
    return replace(check, evidence=Evidence(check.evidence.claim, reason=reason), words="")


def witness_check(pair: PairExamination, witness: Witness, *, over_all: bool) -> Check:
    """Return a witness as a check of the certificate."""
    role = CheckRole.REFUTES if over_all and witness.role is CheckRole.DECIDES else witness.role
    shown = Claim(witness.quantity, witness.low, witness.high, witness.high)
    evidence = Evidence(shown, witness.exact, witness.sampled, notes=dict(witness.notes))
    words = f"{pair.name}. {witness.words}" if witness.words else pair.name
    name = f"{witness.about}: {pair.name}"
    return Check(name, role, evidence, pair.private, words, witness.tests, witness.rests_on)


def examined_row(examination: Examination, deployment: Deployment, relation: str) -> Examined:
    """Return what was examined, for the verdict, the record and the page."""
    compared = [pair for pair in examination.pairs if not pair.skipped]
    missing, budget = examination.missing, deployment.config.budget
    # where nobody answered, or nobody knows what, no budget would help
    spent = missing and not (examination.left_out[0] or examination.stopped) and missing != MISCOUNTED
    if spent and examination.unreached and budget.max_seconds is not None:
        missing += f" (budget.max_seconds = {budget.max_seconds:g})"
    elif spent and budget.max_draws is not None:
        missing += f" (budget.max_draws = {budget.max_draws})"
    row: Row = {
        "relation": "one record replaced" if relation == "replace" else "one record added or removed",
        "pairs": [{"name": pair.name, "draws": pair.drawn.draws, "law": pair.law or "compared"} for pair in compared],
        "draws": min((pair.drawn.draws for pair in compared), default=0),
        "refused": [
            {"name": pair.name, "reason": "; ".join(sorted(set(pair.refused)))} for pair in examination.skipped
        ],
        "visible": examination.visible,
        "demand": {"pairs": examination.demand.pairs, "draws": examination.demand.draws},
        "contract": [
            {"name": each.name, "outcome": each.outcome.name, "words": each.words} for each in examination.contract
        ],
        "reproducible": examination.conduct.reproducible,
        "cannot_catch": list(CANNOT_CATCH),
    }
    wide = [pair.drawn.most for pair in compared if pair.drawn.most is not None]
    if wide:
        row["wide"] = (
            f"{len(wide)} of {len(compared)} pairs of data sets; as few as {min(wide):,} draws of each data set"
        )
    if examination.left_out[0]:
        row["not_reached"] = examination.left_out[0]
    if examination.claim is not None and examination.claim.group > 1:
        row["relation"] = (
            f"{examination.claim.group} records {'replaced' if relation == 'replace' else 'added or removed'}"
        )
    return Examined(examination.enough, missing, row, cut=bool(examination.unreached))
