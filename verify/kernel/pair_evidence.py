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
from audits.examination.examined_claim import Examination, ExaminationOutcome, examine
from audits.examination.witnesses import Weight, Witness
from audits.search.worst_case import NamedPair
from mechanisms import BOTH, ExactLaw, PrivacyProfile
from mechanisms.laws.proved_profile import proved_profile
from mechanisms.reference import is_reference

from .evidence import vacuous
from .measure import Measure
from .statement import Claim, Evidence, Observer, Value

#: Draws of each data set below which a pair counts as examined only where the leak that can be seen is small.
DRAWS = 10_000
QUANTITY = "delta at the claimed epsilon, worse direction"
BLACK_BOX = "no finite test: outputs alone can refute a claim and never support it"
NOBODY = "no finite test: nobody vouches for the stated law (vouched_by)"
NOT_EXAMINED = "not examined: "


def examine_one(
    mechanism: Any,
    pair: Any,
    claim: PrivacyClaim,
    budget: Budget,
    *,
    views: tuple[Callable[[Any], Any], ...] = (),
) -> Examination:
    """Return the examination of a claim on one pair; ``budget.n_draws`` of 1 draws nothing of a reference."""
    n_each = max(1, budget.n_draws // 2)
    demand = Demand(1, min(DRAWS, n_each), VISIBLE if n_each < DRAWS else 1.0)
    return examine(mechanism, [NamedPair("the pair", pair)], claim, budget, demand=demand, views=views)


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
    """
    empty = vacuous(epsilon, delta)
    inside = in_domain and not empty
    shown = Claim(QUANTITY, 0.0, delta, epsilon, inside, pair.relation, Observer.TRANSCRIPT, measure=Measure.DELTA)
    if empty:
        return Evidence(shown, reason="the claim is empty")
    claim = claim or point_claim(epsilon, delta, (pair.relation,))
    found = examine_one(mechanism, pair, claim, budget, views=views)
    if not is_reference(mechanism):
        return _imported(found, shown, vouched=vouched)
    witness = found.pairs[0].witnesses[0]
    if claim.curve is not None:
        return _evidence_of(witness, shown, "")
    notes = law_notes(proved_profile(mechanism, pair), epsilon, delta) if isinstance(mechanism, ExactLaw) else {}
    return Evidence(shown, witness.exact, witness.sampled, notes=notes)


def law_notes(profile: PrivacyProfile, epsilon: float, delta: float) -> dict[str, Value]:
    """Return the numbers that stand beside an exact delta."""
    return {
        "epsilon_published": float(epsilon),
        "delta": float(delta),
        "epsilon_exact": max(profile.epsilon_at(delta, d) for d in BOTH),
        "tail_at_published": max(profile.tail_at(epsilon, d) for d in BOTH),
    }


def _imported(found: Examination, claim: Claim, *, vouched: bool) -> Evidence:
    if found.refutations:
        pair, witness = found.refutations[0]
        return _evidence_of(witness, claim, "refused by the mechanism" if any(pair.refused) else "")
    if found.missing:
        return Evidence(claim, reason=NOT_EXAMINED + found.missing)
    if found.violations:
        worst = found.violations[0]
        return Evidence(claim, reason=f"no finite test: {worst.name}: {worst.words}")
    (pair,) = found.pairs
    deciding = [witness for witness in pair.witnesses if witness.weight is Weight.DECIDES]
    if not deciding:
        return Evidence(claim, reason=BLACK_BOX)
    if found.outcome is ExaminationOutcome.SUPPORTED and not vouched:
        return Evidence(claim, reason=NOBODY)
    decided = _evidence_of(next((w for w in deciding if not w.holds), deciding[0]), claim, "")
    return replace(decided, notes={**decided.notes, "smallest leak seen": found.visible})


def _evidence_of(witness: Witness, claim: Claim, reason: str) -> Evidence:
    """Return a witness of an examination as evidence for or against the claim that was examined."""
    sampled = witness.sampled
    if witness.quantity.startswith("delta at") and "against the claim" in witness.quantity:
        return Evidence(claim, witness.exact, sampled, notes=dict(witness.notes), reason=reason)
    words = f"{witness.quantity} ({witness.about}: {witness.words})" if witness.words else witness.quantity
    shown = Claim(words, witness.low, witness.high, witness.high, claim.in_domain, claim.relation, claim.observer)
    return Evidence(shown, witness.exact, sampled, notes={"event": witness.words, **witness.notes}, reason=reason)
