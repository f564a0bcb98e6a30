"""What is known about (epsilon, delta) on one pair of data sets, as evidence: for the pytest fixture and for sweeps.

Both ask ``audits.examination.examined_claim``, as certificates and notebooks do, and get the same intervals from the
same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from audits import Budget
from audits.black_box.claims import PrivacyClaim, point_claim
from audits.examination.examined import VISIBLE, Demand
from audits.examination.examined_claim import Examination, examine
from audits.examination.witnesses import BROKEN, Witness
from audits.search.worst_case import NamedPair
from audits.verdict import NO_SUPPORT, NOBODY, CheckRole, Decision, Ground
from mechanisms import BOTH, ExactLaw, PrivacyProfile, Relation
from mechanisms.laws.profile_tools import proved_profile
from mechanisms.reference import is_reference

from ..messages.verdict_words import least_change, misstated, said
from .evidence import vacuous
from .measure import Measure
from .statement import Claim, Evidence, Observer, Value
from .verdict import Reason

#: Draws of each data set below which a pair counts as examined only where the leak that can be seen is small.
DRAWS = 10_000
QUANTITY = "delta at the claimed epsilon, worse direction"


def _examine_one(
    mechanism: Any,
    pair: Any,
    claim: PrivacyClaim,
    budget: Budget,
    *,
    make: Callable[[], Any] | None = None,
    views: tuple[Callable[[Any], Any], ...] = (),
) -> Examination:
    """Return the examination of a claim on one pair; ``budget.n_draws`` of 1 draws nothing of a reference."""
    n_each = max(1, budget.n_draws // 2)
    demand = Demand(1, min(DRAWS, n_each), VISIBLE if n_each < DRAWS else 1.0)
    return examine(mechanism, [NamedPair("the pair", pair)], claim, budget, demand=demand, make=make, views=views)


def pair_evidence(
    mechanism: Any,
    pair: Any,
    epsilon: float,
    delta: float,
    budget: Budget,
    *,
    claim: PrivacyClaim | None = None,
    in_domain: bool = True,
    vouched: bool = False,
    make: Callable[[], Any] | None = None,
    views: tuple[Callable[[Any], Any], ...] = (),
) -> Evidence:
    """Return the evidence for "the mechanism is (epsilon, delta)-private between these two data sets".

    Parameters
    ----------
    claim : PrivacyClaim, optional
        A claim of another form, or about data sets several records apart; ``epsilon`` and ``delta`` are a point of it.
    budget : Budget
        ``n_draws`` of both data sets together; 1 draws nothing, which a reference mechanism with an exact law allows.
    in_domain : bool
        Whether the claim is made at all.
    vouched : bool
        Whether somebody vouches for the law of a mechanism that is not a reference; without it nothing supports.
    make : callable, optional
        Gives pristine mechanisms, also in other processes; by default copies are made of ``mechanism``.
    """
    empty = vacuous(epsilon, delta)
    inside = in_domain and not empty
    shown = Claim(QUANTITY, 0.0, delta, epsilon, inside, pair.relation, Observer.TRANSCRIPT, measure=Measure.DELTA)
    if empty:
        return Evidence(shown, reason="the claim is empty")
    claim = claim or point_claim(epsilon, delta, (pair.relation,))
    found = _examine_one(mechanism, pair, claim, budget, make=make, views=views)
    if not is_reference(mechanism):
        return _external(found, shown, _pair_words(pair), vouched=vouched)
    witness = found.pairs[0].witnesses[0]
    if claim.curve is not None:
        return _evidence_of(witness, shown, "")
    notes = _law_notes(proved_profile(mechanism, pair), epsilon, delta) if isinstance(mechanism, ExactLaw) else {}
    return Evidence(shown, witness.exact, witness.sampled, notes=notes)


def _law_notes(profile: PrivacyProfile, epsilon: float, delta: float) -> dict[str, Value]:
    """Return the numbers that stand beside an exact delta."""
    return {
        "epsilon_published": float(epsilon),
        "delta": float(delta),
        "epsilon_exact": max(profile.epsilon_at(delta, d) for d in BOTH),
        "tail_at_published": max(profile.tail_at(epsilon, d) for d in BOTH),
    }


def _pair_words(pair: Any) -> str:
    """Return what a pair is that somebody gave: how many records, and by what the second data set differs."""
    size, apart = len(pair.first.y), getattr(pair, "distance", 1)
    changed = {Relation.ADD: "added", Relation.REMOVE: "removed", Relation.REPLACE: "replaced"}[pair.relation]
    many = "one" if apart == 1 else str(apart)
    return f"the pair that was given: {size} record{'' if size == 1 else 's'}, {many} {changed}"


def _external(found: Examination, claim: Claim, words: str, *, vouched: bool) -> Evidence:
    """Return the verdict of an examination as evidence: its one sentence, and the number that decided."""
    ruling = found.ruling(attested=vouched)
    violation = None if found.violation is None else replace(found.violation, pair=words)
    sentence = said(ruling, violation)
    if ruling.decision is Decision.FAIL:
        _, witness = found.refutations[0]
        change = "" if violation is None else f" {least_change(violation, found.broken)}"
        return _evidence_of(witness, claim, sentence + change)
    if ruling.misstated:
        words = f"{ruling.ground.value}: {sentence} {misstated(ruling.misstated)}"
        return Evidence(claim, reason=words, undecided=Reason.MISSTATED)
    (pair,) = found.pairs or (None,)
    if ruling.decision is Decision.PASS and pair is not None:
        witness = next(w for w in pair.witnesses if w.role is CheckRole.DECIDES)
        decided = _evidence_of(witness, claim, "")
        return replace(
            decided, notes={**decided.notes, "smallest leak seen": found.visible, "ground": ruling.ground.value}
        )
    if ruling.ground is Ground.NO_VIOLATION and ruling.check and pair is not None:  # more draws may decide it
        witness = next(w for w in pair.witnesses if w.result(pair.name).name == ruling.check and not w.holds)
        return _evidence_of(witness, claim, "")
    if ruling.ground is Ground.NOT_TESTED:
        kind = Reason.INTERRUPTED if found.unreached else Reason.NOT_TESTED
        return Evidence(claim, reason=f"{ruling.ground.value}: {sentence}", undecided=kind)
    if any(finding.name in BROKEN for finding in found.violations):  # such draws test nothing
        return Evidence(claim, reason=f"{Ground.NOT_TESTED.value}: {sentence}", undecided=Reason.DEPENDENT)
    alone = ruling.why == NO_SUPPORT or (bool(found.law) and not found.violations)
    kind = Reason.UNATTESTED if ruling.why == NOBODY else Reason.DRAWS_ALONE if alone else Reason.NO_FINITE_TEST
    return Evidence(claim, reason=f"{Reason.NO_FINITE_TEST.value}: {sentence}", undecided=kind)


def _evidence_of(witness: Witness, claim: Claim, reason: str) -> Evidence:
    """Return a witness of an examination as evidence for or against the claim that was examined."""
    sampled = witness.sampled
    if witness.quantity.startswith("delta at") and "against the claim" in witness.quantity:
        return Evidence(claim, witness.exact, sampled, notes=dict(witness.notes), reason=reason)
    words = f"{witness.quantity} ({witness.about}: {witness.words})" if witness.words else witness.quantity
    shown = Claim(words, witness.low, witness.high, witness.high, claim.in_domain, claim.relation, claim.observer)
    return Evidence(shown, witness.exact, sampled, notes={"event": witness.words, **witness.notes}, reason=reason)
