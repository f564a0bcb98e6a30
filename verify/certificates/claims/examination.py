"""How an imported mechanism is examined for a claim, and what of that its verdict sees; it is never believed.

A PASS rests on three things together: every examination made and nothing found, the mechanism's own ``worst_profile``
inside the claim, and somebody's word for it. The type of the verdict makes the first two impossible to leave out.

``[budget] sequential = true`` is for mechanisms whose draws are dear: one pair is bet on until the claim is refuted.
There is a FAIL, or nothing was examined as a PASS asks for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from audits.black_box.claims import PrivacyClaim
from audits.examination.examine_choose import LEARNED, Named, places
from audits.examination.examine_pair import PairExamination, PairWork
from audits.examination.examined import Demand, DrawnPair
from audits.examination.examined_claim import MISCOUNTED, Examination, examine
from audits.examination.witnesses import (
    BROKEN,
    StatedProfile,
    Violation,
    Witness,
    claimed_words,
    of_test,
    outputs_said,
    spaced,
)
from audits.harness.call_note import end_as_calling
from audits.search.design_search import PairSearch
from audits.sequential import SparingAudit, audit_sparingly
from audits.verdict import CheckRole, sound
from mechanisms import Relation
from reports.numbers import format_number
from reports.row import Figure, Mark, Series

from ...engine.work import in_order
from ...kernel.rows import Row
from ...kernel.statement import Claim, Evidence, Value
from ...messages.verdict_words import least_change, misstated
from ..certificate_words import CANNOT_CATCH
from ..config.mechanism_source import Imported, MechanismSource
from ..config.own_code import Factory
from .finding import EVERY_PAIR, Check, Deployment, Examined, Finding
from .pairs import DIED, ignore, own_pairs, public_pairs
from .types import DPClaim

#: What a profile must have examined before anything may rest on it.
DEMANDED = {"quick": Demand(6, 2_000), "standard": Demand(12, 10_000), "full": Demand(12, 10_000)}
#: Pairs around the user's own data.
OWN_PAIRS = 3
#: What to do where every call was refused.
FIX_CODE = "No further draw can help: correct the code. If it needs more records than were tried, say so (data.n_min)."
#: What the check of a sequential audit is called.
SPARING = "sparing audit"


def examined(
    deployment: Deployment,
    name: str,
    claim: PrivacyClaim | None,
    pairs: Sequence[Named],
    own: Sequence[Named],
    demand: Demand,
    *,
    compared: int | None = None,
    own_slots: int | None = None,
    search: PairSearch | None = None,
) -> Examination:
    """Return the examination of the deployment's own mechanism for the claim of a name.

    Parameters
    ----------
    claim : PrivacyClaim or None
        None asks about the stated law alone.
    pairs, own
        Of the public domain, of which ``compared`` are; and around the records.
    """
    config, mechanism = deployment.config.budget, deployment.mechanism
    assert isinstance(mechanism, Imported)
    draws = deployment.examination_size[1]
    work = ((compared or 0) + len(own) + places(search) + 1) * (2 * draws + LEARNED)
    work += 0 if search is None else 2 * search.n_draws * search.units
    work = work if config.max_draws is None else min(work, config.max_draws)
    with deployment.progress.phase(f"{name}: examination", work) as step:
        return examine(
            mechanism.inner,
            pairs,
            claim,
            deployment.budget(name, "examination", n_draws=2 * draws),
            wanted=compared,
            own=own,
            own_slots=own_slots,
            private=deployment.private,
            demand=demand,
            believe=False,
            make=_maker(deployment),
            views=deployment.views,
            search=search,
            max_draws=config.max_draws,
            deadline=deployment.deadline,
            complete=deployment.complete,
            run=runner(1 if deployment.is_door else deployment.jobs, step),
        )


def _maker(deployment: Deployment) -> Callable[[], Any] | None:
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
    """Return what is known of a pair whose process ended every time: nothing, which is told and supports nothing.

    It may have been a call of the mechanism that it ended in: then all is done again with calls apart, where it may.
    """
    end_as_calling()
    return PairExamination(work.name, work.private, (), DrawnPair(work.name, 0, 0), law=f"{work.name}: {DIED}")


def pair_checks(examination: Examination, *, over_all: bool) -> list[Check]:
    """Return the checks of every pair; over all data sets a single pair can refute and never support."""
    both = ((pair, witness) for pair in examination.pairs for witness in pair.witnesses)
    return [sound_or_void(_witness_check(pair, witness, over_all=over_all), examination) for pair, witness in both]


def sound_or_void(check: Check, examination: Examination) -> Check:
    """Return a check, without its numbers where they rest on a statement that the draws refute."""
    if sound(check.result, examination.misstated):
        return check
    reason = "no finite test: it rests on a statement that the draws refute"
    return replace(check, evidence=Evidence(check.evidence.claim, reason=reason), words="")


def _witness_check(pair: PairExamination, witness: Witness, *, over_all: bool) -> Check:
    """Return a witness as a check of the certificate."""
    role = CheckRole.REFUTES if over_all and witness.role is CheckRole.DECIDES else witness.role
    shown = Claim(witness.quantity, witness.low, witness.high, witness.high)
    evidence = Evidence(shown, witness.exact, witness.sampled, notes=dict(witness.notes))
    words = f"{pair.name}. {witness.words}" if witness.words else pair.name
    words += f"; {pair.types}, where equal values are one output" if pair.types else ""
    name = f"{witness.about}: {pair.name}"
    return Check(name, role, evidence, pair.private, words, witness.tests, witness.rests_on)


def _epsilon_seen(examination: Examination) -> float:
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
    """Return the way out; ``door``: behind a command or a url, and so nothing is stated.

    ``vouched``: whether somebody is named already; ``covered``: whether what the mechanism states covers everybody whom
    the claim is about.
    """
    if examination.refutations:
        pair = examination.refutations[0][0]
        if any(pair.refused):
            return _refusing(pair, small=examination.small_refused)
        assert examination.violation is not None
        return least_change(examination.violation, examination.broken)
    if examination.misstated:
        return misstated(examination.misstated)
    low = _epsilon_seen(examination)
    certified = _certified(examination, low)
    seen = f"No violation found{certified}. " if examination.drawn else ""
    if examination.types:
        seen += f"On one pair {examination.types}. Equal values are one output; return one type. "
    if examination.missing:
        return seen + _more(examination)
    if examination.violations:
        return f"{seen}Mend what the contract found: {examination.broken}."
    if examination.law and not door:
        return seen + "Add log_density, which the draws are held against, and worst_profile for all data sets."
    if door:
        return seen + "A command or a service states no law, and draws alone never support a claim."
    if worst is None and not covered:
        return seen + "Add worst_profile, which states the worst case over all data sets."
    if not covered:
        return seen + "More noise, or a larger epsilon, brings what it states of itself inside the claim."
    if vouched:
        return seen + "Look at the checks that are open: everything else is there."
    return seen + "Name whoever vouches for the law of the mechanism (mechanism.vouched_by)."


def _certified(examination: Examination, low: float) -> str:
    """Return how large epsilon is at least, and where it is 0 why nothing more was learnt, if the outputs tell."""
    claim = examination.claim
    if claim is None or any(finding.name in BROKEN for finding in examination.violations):
        return ""  # draws that depend on each other, or on their call, bound nothing
    if low <= 0:
        return f"; epsilon is at least 0: {examination.silent}" if examination.silent else "; epsilon is at least 0"
    at = f" at delta {claim.delta:.3g}" if claim.curve is not None else " at the claimed delta" if claim.delta else ""
    return f"; epsilon is at least {format_number(low, 3, rounding='down')}{at}, certified"


def _refusing(pair: PairExamination, *, small: bool) -> str:
    """Return what to do about refusals that tell two data sets apart; ``small``: of small data sets alone."""
    if all(pair.refused):
        return (
            "The mechanism refuses both of two neighbouring data sets, each with another error: make it the same one."
        )
    found = "The mechanism refuses one of two neighbouring data sets, which tells them apart."
    if small:
        return f"{found} If the least number of records is public, say so (data.n_min)."
    return f"{found} Make it answer, or refuse, whatever a single record is."


def _more(examination: Examination) -> str:
    """Return what would let an examination be made that was not."""
    if examination.stopped:
        return "Let the mechanism answer every request (mechanism.timeout, mechanism.batch)."
    if examination.refused_everywhere:
        return FIX_CODE
    if examination.unreached:
        return "Let it take longer (budget.max_seconds), or ask for fewer draws ([budget] pairs and draws)."
    if examination.missing == MISCOUNTED:
        return "A line for each draw, and no other: what else is written belongs on standard error."
    if examination.spared:
        return "Let it draw more (budget.max_draws)."
    small = ", data.n_min for data sets that are too small" if examination.small_refused else ""
    return f"Let it draw more: [budget] pairs and draws{small}."


def apart(relation: Relation, group: int = 1) -> str:
    """Return in words how far apart two neighbours are."""
    many = "one record" if group == 1 else f"{group} records"
    return f"{many} {'replaced' if relation is Relation.REPLACE else 'added or removed'}"


def examined_row(examination: Examination, deployment: Deployment, relation: Relation) -> Examined:
    """Return what was examined, for the verdict, the record and the page."""
    compared = [pair for pair in examination.pairs if not pair.skipped]
    missing, budget = examination.missing, deployment.config.budget
    # where nobody answered, or nobody knows what, no budget would help
    spent = missing and not (examination.left_out[0] or examination.stopped or examination.refused_everywhere)
    spent = spent and missing != MISCOUNTED
    if spent and examination.unreached and budget.max_seconds is not None:
        missing += f" (budget.max_seconds = {budget.max_seconds:g})"
    elif spent and budget.max_draws is not None:
        missing += f" (budget.max_draws = {budget.max_draws})"
    row: Row = {
        "relation": apart(relation, 1 if examination.claim is None else examination.claim.group),
        "pairs": [{"name": pair.name, "draws": pair.drawn.draws, "law": pair.law or "compared"} for pair in compared],
        "draws": min((pair.drawn.draws for pair in compared), default=0),
        "refused": [
            {"name": pair.name, "reason": "; ".join(sorted(set(pair.refused)))} for pair in examination.skipped
        ],
        "visible": examination.visible if examination.whole else None,  # of what is not read, no leak is seen
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
    return Examined(examination.enough, missing, row, cut=bool(examination.unreached))


# --- sequential: bets on one pair -------------------------------------------------------------------------------------


def sparing_dp(deployment: Deployment, claim: DPClaim, sentence: str) -> Finding:
    """Return the finding of a claim over all data sets, one pair bet on.

    On private records only pairs are tried that anybody may know of: which one is chosen would depend on the records.
    """
    name, budget = str(claim.name), deployment.config.budget
    privacy, relation, mechanism = claim.privacy, claim.neighbours, deployment.mechanism
    assert isinstance(mechanism, Imported)
    assert budget.max_draws is not None
    wanted = deployment.examination_size[0]
    structured, named = public_pairs(deployment, privacy, relation, wanted)
    own = [] if deployment.private else own_pairs(deployment, privacy, relation, min(OWN_PAIRS, wanted))
    with deployment.progress.phase(f"{name}: {SPARING}", budget.max_draws):
        audit = audit_sparingly(
            mechanism.inner,
            [*named, *structured, *own],
            privacy,
            deployment.budget(name, SPARING, n_draws=budget.max_draws),
            views=deployment.views,
            make=_maker(deployment),
            deadline=deployment.deadline,
        )
    forced, way_out = deployment.chosen_by_looking
    chosen = (each.pair for each in [*named, *structured, *own] if each.name == audit.pair)
    violation = _sparing_violation(audit, privacy, next(chosen, None))
    return deployment.finding(
        claim,
        sentence,
        EVERY_PAIR,
        [_sparing_check(audit)],
        conditions=deployment.conditions,
        examined=_sparing_row(audit, claim),
        advice=way_out or _sparing_advice(audit, violation),
        forced=forced,
        violation=violation,
        figures=((False, _wealth_figure(name, audit)),) if len(audit.wealth) > 1 else (),
    )


def _sparing_check(audit: SparingAudit) -> Check:
    """Return the audit as a check: it can refute, and never support."""
    seen = of_test(SPARING, audit.p_value, audit.failure_prob, audit.n_draws, refuted=audit.refuted, words=audit.event)
    shown = Claim(seen.quantity, seen.low, seen.high, seen.high)
    if not audit.wealth:
        return Check(SPARING, CheckRole.REFUTES, Evidence(shown, reason=f"no finite test: {audit.unreached}"), False)
    notes: dict[str, Value] = {"draws": audit.n_draws, "pair": audit.pair}
    if audit.point is not None:
        notes |= {"epsilon": audit.point.epsilon}
    hits = f" ({audit.hits})" if audit.hits else ""
    words = f"{audit.pair}. After {audit.n_draws:,} draws in all, bets on {audit.event or 'nothing'}{hits}"
    return Check(SPARING, CheckRole.REFUTES, Evidence(shown, None, seen.sampled, notes=notes), False, words)


def _sparing_violation(audit: SparingAudit, claim: PrivacyClaim, members: Any) -> Violation | None:
    """Return the refuted claim in numbers."""
    if not audit.refuted:
        return None
    claimed, event, hits = claimed_words(claim), outputs_said(audit.event), spaced(audit.hits)
    return Violation(claimed, audit.epsilon, claim.delta, audit.failure_prob, audit.pair, "", event, hits, members)


def _sparing_advice(audit: SparingAudit, violation: Violation | None) -> str:
    if violation is not None:
        return least_change(violation)
    if audit.refused:
        return FIX_CODE
    return "More draws (budget.max_draws) may refute it. A PASS needs the whole examination (budget.sequential)."


def _sparing_row(audit: SparingAudit, claim: DPClaim) -> Examined:
    missing = audit.unreached or f"{audit.n_draws:,} draws on one pair of data sets do not refute it"
    if audit.spared:
        missing += f"; {audit.spared}"
    at = [draws for draws, _ in audit.wealth]
    each = (max(at, default=0) - min(at, default=0)) // 2
    pair = {"name": audit.pair, "draws": each, "law": "not compared: budget.sequential"}
    row: Row = {
        "relation": apart(claim.neighbours, claim.group),
        "pairs": [pair] if audit.pair else [],
        "draws": each,
        "refused": [],
        "visible": None,
        "demand": {"pairs": 1, "draws": audit.n_draws},
        "contract": [],
        "reproducible": None,
        "cannot_catch": list(CANNOT_CATCH),
    }
    return Examined(None, f"{missing} (budget.sequential)", row, cut=audit.cut)


def _wealth_figure(name: str, audit: SparingAudit) -> Figure:
    draws, logs = zip(*audit.wealth, strict=True)
    enough = -math.log10(audit.failure_prob)
    return Figure(
        f"wealth-{name.replace(' ', '-')}",
        "Sparing audit: the wealth of bets against the claim",
        "Bets begin after the pilot. If the claim is true, the wealth reaches the line with the failure probability at "
        "most, however long one bets.",
        f"the logarithm of the wealth against the draws, up to {max(logs) / math.log(10):.3g} in {draws[-1]} draws; "
        f"the claim is refuted at {enough:.3g}",
        "draws, the pilot included",
        "log10 of the wealth",
        (Series("wealth", tuple(float(n) for n in draws), tuple(log / math.log(10) for log in logs)),),
        (Mark("y", enough, "refuted"),),
    )
