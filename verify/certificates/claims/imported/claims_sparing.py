"""Claims about an imported mechanism whose draws are dear: one pair is bet on until the claim is refuted.

``[budget] sequential = true``. There is a FAIL, or nothing was examined as a PASS asks for it. On private records only
pairs are tried that anybody may know of: which one is chosen would depend on the records otherwise.
"""

from __future__ import annotations

import math

from audits import SparingAudit, audit_sparingly
from audits.examination.witnesses import of_test
from audits.verdict import CheckRole
from reports.row import Figure, Mark, Series

from ....engine.rows import Row
from ....kernel.statement import Claim, Evidence, Value
from ...config.mechanism_source import Imported
from ...pages.certificate_words import CANNOT_CATCH
from ..claim_forms import privacy_claim, relation_of
from ..finding import Check, Deployment, Examined, Finding
from ..types import DPClaim
from .claims_imported import OWN_PAIRS, examination_size, maker, own_pairs, public_pairs

#: What the check is called.
NAME = "sparing audit"


def sparing_dp(deployment: Deployment, claim: DPClaim, sentence: str, chosen: tuple[str, str]) -> Finding:
    """Return the finding of a claim over all data sets; ``chosen`` is what keeps it from a PASS whatever is found."""
    name, budget = str(claim.name), deployment.config.budget
    privacy, relation, mechanism = privacy_claim(claim), relation_of(claim), deployment.mechanism
    assert isinstance(mechanism, Imported)
    assert budget.max_draws is not None
    wanted = examination_size(deployment)[0]
    structured, named = public_pairs(deployment, privacy, relation, wanted)
    own = [] if deployment.private else own_pairs(deployment, privacy, relation, min(OWN_PAIRS, wanted))
    with deployment.progress.phase(f"{name}: {NAME}", budget.max_draws):
        audit = audit_sparingly(
            mechanism.inner,
            [*named, *structured, *own],
            privacy,
            deployment.budget(name, NAME, n_draws=budget.max_draws),
            views=deployment.notes.get("views", ()),
            make=maker(deployment),
            deadline=deployment.deadline,
        )
    return Finding(
        name,
        claim.type,
        sentence,
        "every pair of neighbouring data sets in the public domain",
        False,
        (_check(audit),),
        tuple(deployment.notes.get("conditions", ())),
        chosen[1] or _advice(audit),
        chosen[0],
        ((False, _figure(name, audit)),) if len(audit.wealth) > 1 else (),
        imported=True,
        examined=_examined(audit, claim),
        vouched=deployment.notes.get("vouched"),
    )


def _check(audit: SparingAudit) -> Check:
    """Return the audit as a check: it can refute, and never support."""
    seen = of_test(NAME, audit.p_value, audit.failure_prob, audit.n_draws, refuted=audit.refuted, words=audit.event)
    shown = Claim(seen.quantity, seen.low, seen.high, seen.high)
    if not audit.wealth:
        return Check(NAME, CheckRole.REFUTES, Evidence(shown, reason=f"no finite test: {audit.unreached}"), False)
    notes: dict[str, Value] = {"draws": audit.n_draws, "pair": audit.pair}
    if audit.point is not None:
        notes |= {"epsilon": audit.point.epsilon}
    words = f"{audit.pair}. After {audit.n_draws:,} draws in all, bets on {audit.event or 'nothing'}"
    return Check(NAME, CheckRole.REFUTES, Evidence(shown, None, seen.sampled, notes=notes), False, words)


def _advice(audit: SparingAudit) -> str:
    if audit.refuted:
        return (
            f"Refuted with {audit.n_draws:,} draws on: {audit.pair}. More noise, a larger epsilon, or a mechanism that "
            "does what it states."
        )
    return "More draws (budget.max_draws) may refute it. A PASS needs the whole examination (budget.sequential)."


def _examined(audit: SparingAudit, claim: DPClaim) -> Examined:
    """Return what was examined: never enough for a PASS."""
    missing = audit.unreached or f"{audit.n_draws:,} draws on one pair of data sets do not refute it"
    if audit.spared:
        missing += f"; {audit.spared}"
    replaced = "replaced" if claim.relation == "replace" else "added or removed"
    of_pair = max((draws for draws, _ in audit.wealth), default=0) - min(
        (draws for draws, _ in audit.wealth), default=0
    )
    pairs = (
        [{"name": audit.pair, "draws": of_pair // 2, "law": "not compared: budget.sequential"}] if audit.pair else []
    )
    row: Row = {
        "relation": f"{'one record' if claim.group == 1 else f'{claim.group} records'} {replaced}",
        "pairs": pairs,
        "draws": of_pair // 2,
        "refused": [],
        "visible": None,
        "demand": {"pairs": 1, "draws": audit.n_draws},
        "contract": [],
        "reproducible": None,
        "cannot_catch": list(CANNOT_CATCH),
    }
    return Examined(None, f"{missing} (budget.sequential)", row, cut=audit.cut)


def _figure(name: str, audit: SparingAudit) -> Figure:
    """Return the wealth over the draws."""
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
