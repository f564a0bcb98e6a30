"""One audit inside a user's test: does ``(epsilon, delta)`` hold for a mechanism between two data sets?"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

from audits import Budget, StreamKey
from audits.black_box import BlackBoxClaim, audit_claim
from audits.multiplicity import look_share
from audits.tails import audit_tails
from mechanisms import ExactLaw, Guarantee, Mechanism, NeighbouringPair, Relation, WhiteBox

from . import registry
from .errors import UserError
from .formal import data_evidence
from .rows import Row, encode
from .shares import CaseShare
from .statement import Claim, Evidence, Observer
from .verdict import Outcome, Reason
from .words import case_sentence
from .worker import look_twice, one_blas_thread

#: What a test may expect -> the outcomes with which it passes.
EXPECTATIONS = {
    "holds": (Outcome.HOLDS,),
    "fails": (Outcome.FAILS,),
    "not refuted": (Outcome.HOLDS, Outcome.UNDECIDED),
}
BLACK_BOX = "no finite test: outputs alone can refute a claim and never support it"


class AuditFailure(AssertionError):
    """A claim is not as the test expects; the message is the one line that the user sees."""


@dataclass
class Auditor:
    """Audits of one test: each call spends a share of the test's own failure probability, on its own stream.

    The first call may spend a half of it, the next a sixth, a twelfth, …: never more than the whole.
    """

    test: str
    statement: str
    seed: int
    n_draws: int
    failure_prob: float
    rows: list[Row] = field(default_factory=list)

    def check_statement(self) -> None:
        """Refuse a marker that names no published statement."""
        if self.statement and self.statement not in registry.default().catalogue:
            try:
                registry.default().find(self.statement)
            except UserError as stop:
                raise AuditFailure(f"marker statement: {stop}") from None

    def __call__(
        self,
        mechanism: Mechanism,
        pair: NeighbouringPair,
        claim: Guarantee | tuple[float, float],
        *,
        expect: str = "holds",
    ) -> Row:
        """Decide a claim and return its row.

        Parameters
        ----------
        mechanism : Mechanism
            With an exact ``profile``: decided on it, beside draws that must agree with it; with ``privacy_loss``: on
            draws; otherwise on outputs alone, which can refute only.
        pair : NeighbouringPair
        claim : Guarantee or (epsilon, delta)
        expect : {"holds", "fails", "not refuted"}

        Raises
        ------
        AuditFailure
            If the claim is not as expected, is undecided, or the audit itself stopped.
        """
        if expect not in EXPECTATIONS:
            raise AuditFailure(f"expect must be one of {', '.join(EXPECTATIONS)}, got expect={expect!r}")
        epsilon, delta = _point(claim, pair)
        number = len(self.rows) + 1
        half = 0.5 * look_share(self.failure_prob, number)
        key = StreamKey(self.seed).child("pytest", self.test, str(number))
        with one_blas_thread():
            found = look_twice(
                partial(_evidence, mechanism, pair, epsilon, delta),
                n_draws=self.n_draws,
                share=CaseShare(half, half),
                key=key,
            )
        row = {
            "kind": "audit",
            "test": self.test,
            "number": number,
            "statement": self.statement,
            "mechanism": mechanism.name,
            "params": encode({"epsilon": epsilon, "delta": delta}),
            "expect": expect,
            "n_draws": self.n_draws,
            "failure_prob": 2 * half,
            **found,
        }
        self.rows.append(row)
        self._judge(row)
        return row

    def _judge(self, row: Row) -> None:
        outcome = Outcome[row["outcome"]]
        sound = not row["error"] and row["reason"] not in (Reason.INCONSISTENT.name, Reason.UNCONFIRMED.name)
        if sound and outcome in EXPECTATIONS[row["expect"]]:
            return
        epsilon, delta = row["params"]["epsilon"], row["params"]["delta"]
        reason = row["detail"] or Reason[row["reason"]].value
        words = f"{outcome.name.lower().replace('_', ' ')}" + (f" ({reason})" if reason else "")
        raise AuditFailure(
            f"({epsilon:g}, {delta:g}) was expected to be {row['expect']!r} for {row['mechanism']}, "
            f"got {words}: {case_sentence(row)}{_way_out(row)}"
        )


def _way_out(row: Row) -> str:
    if row["detail"] == BLACK_BOX:
        return "; expect='not refuted' is all that outputs alone can give"
    return "; more draws may decide it (--privacy-draws)" if row["reason"] == Reason.BUDGET.name else ""


def _point(claim: Guarantee | tuple[float, float], pair: NeighbouringPair) -> tuple[float, float]:
    if isinstance(claim, Guarantee):
        replaces = (claim.relation is Relation.REPLACE, pair.relation is Relation.REPLACE)
        if replaces[0] != replaces[1]:
            raise AuditFailure(f"relation must be {claim.relation.name} as in the claim, got {pair.relation.name}")
        return claim.epsilon, claim.delta
    try:
        epsilon, delta = (float(value) for value in claim)
    except (TypeError, ValueError):
        raise AuditFailure(f"claim must be (epsilon, delta) or a Guarantee, got claim={claim!r}") from None
    if not (epsilon >= 0 and 0 <= delta <= 1):
        raise AuditFailure(f"claim must have epsilon at least 0 and delta in [0, 1], got claim={claim!r}")
    return epsilon, delta


def _evidence(mechanism: Mechanism, pair: NeighbouringPair, epsilon: float, delta: float, budget: Budget) -> Evidence:
    if not math.isfinite(epsilon) or delta == 1:
        empty = Claim("nothing", 0.0, 1.0, epsilon, in_domain=False, relation=pair.relation)
        return Evidence(empty, reason="the claim is empty")
    if isinstance(mechanism, ExactLaw):
        return data_evidence(mechanism, pair, epsilon, delta, budget, observer=Observer.TRANSCRIPT)
    quantity = "delta at the claimed epsilon, worse direction"
    claim = Claim(quantity, 0.0, delta, epsilon, relation=pair.relation, observer=Observer.TRANSCRIPT)
    if isinstance(mechanism, WhiteBox):
        return Evidence(claim, sampled=audit_tails(mechanism, pair, [epsilon], budget).delta(epsilon))
    test = audit_claim(mechanism, pair, BlackBoxClaim(epsilon, delta, (pair.relation,)), budget)
    return Evidence(claim, sampled=test.delta, reason="" if test.delta.low > delta else BLACK_BOX)
