"""One audit inside a user's test: does ``(epsilon, delta)`` hold for a mechanism between two data sets?"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from audits import Budget, StreamKey
from audits.black_box.claims import PrivacyClaim
from audits.harness.guarded_subject import without_draw
from audits.stats.intervals import look_share
from audits.verdict import Decision, Ground
from mechanisms import Guarantee, NeighbouringPair, Relation

from ..certificates.audit_call import audit, broken
from ..certificates.config.own_code import Vouched
from ..engine.worker import one_blas_thread
from ..kernel.pair_evidence import QUANTITY, pair_evidence
from ..kernel.rows import Row, decided_row, encode, evidence_row
from ..kernel.ruling import rule_statement
from ..kernel.shares import case_budgets, whole
from ..kernel.statement import Claim, Evidence
from ..kernel.verdict import Outcome, Reason
from ..kernel.words import case_sentence
from ..messages.errors import UserError
from ..papers import ledger, registry
from ..papers.ledger import compare
from ..papers.registry import DISPLAY
from ..runs.case_run import decide_case
from ..runs.statement_run import defects

#: What a test may expect -> the outcomes with which it passes.
EXPECTATIONS = {
    "pass": (Outcome.HOLDS,),
    "fail": (Outcome.FAILS,),
    "no violation": (Outcome.HOLDS, Outcome.UNDECIDED),
}
#: What a test expected in the version before -> the same now.
RENAMED = {"holds": "pass", "fails": "fail", "not refuted": "no violation"}
#: What an undecided claim of a search rests on -> why it is undecided.
OPEN = {Ground.NO_VIOLATION: Reason.NO_FINITE_TEST, Ground.MISSTATED: Reason.MISSTATED}
OUTCOMES = {Decision.PASS: Outcome.HOLDS, Decision.FAIL: Outcome.FAILS, Decision.UNDECIDED: Outcome.UNDECIDED}
#: Why an audit is no answer at all, whatever was expected.
NO_ANSWER = (
    Reason.INCONSISTENT,
    Reason.UNCONFIRMED,
    Reason.MISSTATED,
    Reason.NOT_TESTED,
    Reason.DEPENDENT,
    Reason.INTERRUPTED,
)
#: Why a claim is undecided -> what decides it.
WAY_OUT = {
    Reason.DRAWS_ALONE: "; expect='no violation' is all that outputs alone can give",
    Reason.UNATTESTED: "; name whoever vouches for it: vouched_by={'who': ..., 'proof': ...}",
    Reason.NOT_TESTED: "; more draws may test it (--privacy-draws)",
    Reason.BUDGET: "; more draws may decide it (--privacy-draws)",
}


class AuditFailure(AssertionError):
    """A claim is not as the test expects; the message is what the user sees."""


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
    budget: Budget = field(init=False)

    def __post_init__(self) -> None:
        self.budget = whole(self.failure_prob, StreamKey(self.seed).child("pytest", self.test))

    def check_statement(self) -> None:
        """Refuse a marker that names no published statement."""
        if self.statement and self.statement not in registry.default().catalogue:
            try:
                registry.default().find(self.statement)
            except UserError as stop:
                raise AuditFailure(f"marker statement: {stop}") from None

    def __call__(
        self,
        mechanism: Any,
        pair: NeighbouringPair | None = None,
        claim: Guarantee | PrivacyClaim | tuple[float, float] | None = None,
        *,
        expect: str = "",
        vouched_by: Mapping[str, str] | None = None,
        views: tuple[Callable[[Any], Any], ...] = (),
        **searched: Any,
    ) -> Row:
        """Decide a claim, on a pair of data sets or on pairs that are searched, and return its row.

        Parameters
        ----------
        mechanism : Mechanism, or whatever ``audits.audit`` takes where pairs are searched
            A reference mechanism is decided by its own law, beside draws that must agree with it. Any other one is
            examined: its density, where it states one, is held against its draws, and so is the claim.
        pair : NeighbouringPair, optional
        claim : Guarantee, PrivacyClaim or (epsilon, delta), with a pair
            A ``PrivacyClaim`` (``audits.black_box.claims``) states a whole curve, or privacy for several records.
        expect : {"pass", "fail", "no violation"}
            By default "pass" of a pair that is given (a mechanism of yours then needs ``vouched_by``), "no violation"
            where pairs are searched. "holds", "fails" and "not refuted" of before give a warning.
        searched
            Without a pair: ``epsilon``, ``delta`` and the other options of ``audits.audit`` but for the seed;
            ``failure_prob`` is by default the test's share.
        vouched_by : {"who": ..., "proof": ...}, optional
            Whose word the law of a mechanism that is not a reference rests on; it cannot hold without. ``proof`` is a
            file (relative to the working directory), a DOI or a URL.
        views : tuple of callables
            Each maps one output to a number or symbol that is looked at as well.

        Raises
        ------
        AuditFailure
            If the claim is not as expected, is undecided, was not examined, or the audit itself stopped.
        """
        if (
            (pair is None) != (claim is None)
            or (pair is None) != ("epsilon" in searched)
            or (pair is not None and searched)
        ):
            raise AuditFailure("privacy_audit must be given a pair and a claim, or epsilon and options of audits.audit")
        expect = expect or ("no violation" if pair is None else "pass")
        if expect in RENAMED:
            words = f"expect={expect!r} is expect={RENAMED[expect]!r} now; the old word goes with the next version"
            warnings.warn(words, DeprecationWarning, stacklevel=2)
            expect = RENAMED[expect]
        if expect not in EXPECTATIONS:
            raise AuditFailure(f"expect must be one of {', '.join(EXPECTATIONS)}, got expect={expect!r}")
        if pair is None or claim is None:
            return self._searched(mechanism, expect, **searched)
        wrong = without_draw(mechanism)
        if wrong:
            raise AuditFailure(f"mechanism must {wrong}")
        epsilon, delta = (claim.epsilon, claim.delta) if isinstance(claim, PrivacyClaim) else _point(claim, pair)
        vouched = _vouched(vouched_by)
        number = len(self.rows) + 1
        own = self.budget.part(str(number), share=look_share(number))
        with one_blas_thread():
            decided = decided_row(
                partial(
                    pair_evidence,
                    mechanism,
                    pair,
                    epsilon,
                    delta,
                    claim=claim if isinstance(claim, PrivacyClaim) else None,
                    vouched=vouched is not None,
                    views=tuple(views),
                ),
                own,
                n_draws=self.n_draws,
            )
        row = {
            "kind": "audit",
            "test": self.test,
            "number": number,
            "statement": self.statement,
            "mechanism": str(getattr(mechanism, "name", type(mechanism).__name__)),
            "params": encode({"epsilon": epsilon, "delta": delta}),
            **({"stated": claim.sentence} if isinstance(claim, PrivacyClaim) else {}),
            "expect": expect,
            "vouched": None if vouched is None else vouched.row(names=True),
            "n_draws": self.n_draws,
            "failure_prob": own.failure_prob,
            **decided,
        }
        self.rows.append(row)
        self._judge(row)
        return row

    def _searched(
        self,
        release: Any,
        expect: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        failure_prob: float | None = None,
        **options: Any,
    ) -> Row:
        """Return the row of an audit on pairs that are searched; raises ``AuditFailure`` unless it is as expected."""
        number = len(self.rows) + 1
        own = self.budget.part(str(number), share=look_share(number))
        level, seed = own.failure_prob if failure_prob is None else failure_prob, int(own.key.rng().integers(2**53))
        try:
            found = audit(release, epsilon, delta, seed=seed, failure_prob=level, **options)
        except (UserError, TypeError) as stop:
            raise AuditFailure(str(stop)) from None
        finding, config = found.finding, found.loaded.config
        deciding = next((check.evidence for check in finding.checks if check.name == finding.verdict.check), None)
        if deciding is None or found.decision is Decision.UNDECIDED:
            deciding = Evidence(Claim(QUANTITY, 0.0, delta, epsilon), reason="no number decides it")
        deciding = replace(
            deciding, notes={**deciding.notes, "verdict": found.verdict, "epsilon at least": found.epsilon_lower}
        )
        reason = Reason.NONE
        if found.decision is Decision.UNDECIDED:
            reason = Reason.DEPENDENT if broken(finding) else OPEN.get(finding.verdict.ground, Reason.NOT_TESTED)
        row = {
            "kind": "audit",
            "test": self.test,
            "number": number,
            "statement": self.statement,
            "mechanism": found.certificate.deployment.mechanism.name,
            "params": encode({"epsilon": epsilon, "delta": delta}),
            "expect": expect,
            "vouched": None,
            "n_draws": 2 * (config.budget.draws or 0),
            "failure_prob": level,
            **evidence_row(deciding, OUTCOMES[found.decision], reason),
            "detail": " ".join(found.summary().split()),
            "confirmation": None,
            "error": None,
        }
        self.rows.append(row)
        if not as_expected(row):
            raise AuditFailure(f"expected {expect!r}, got\n{found.summary()}")
        return row

    def _judge(self, row: Row) -> None:
        if as_expected(row):
            return
        outcome, reason = Outcome[row["outcome"]], Reason[row["reason"]]
        epsilon, delta = row["params"]["epsilon"], row["params"]["delta"]
        raise AuditFailure(
            f"expected {row['expect']!r} of ({epsilon:g}, {delta:g}) for {row['mechanism']}, "
            f"got {outcome.name.lower().replace('_', ' ')}: {found_words(row)}{WAY_OUT.get(reason, '')}"
        )


def as_expected(row: Row) -> bool:
    """Return whether an audit answered, and as its test expects."""
    answered = not row["error"] and Reason[row["reason"]] not in NO_ANSWER
    return answered and Outcome[row["outcome"]] in EXPECTATIONS[row["expect"]]


def found_words(row: Row, *, typographic: bool = False) -> str:
    """Return what an audit found: the sentence of its verdict, or the number that decided or left it open."""
    if row["detail"]:
        return str(row["detail"])
    reason = Reason[row["reason"]].value
    return (f"{reason}: " if reason else "") + case_sentence(row, typographic=typographic)


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


def _vouched(given: Mapping[str, str] | None) -> Vouched | None:
    if given is None:
        return None
    if set(given) != {"who", "proof"}:
        raise AuditFailure(f"vouched_by must have the keys who and proof, got {', '.join(sorted(given)) or 'none'}")
    try:
        return Vouched.read(given["who"], given["proof"], Path.cwd(), key="vouched_by")
    except UserError as stop:
        raise AuditFailure(str(stop)) from None


def select(ids: Sequence[str]) -> list[str]:
    """Return the ids of the statements that decide ``ids`` (all when there are none), in catalogue order."""
    return [source.id for source in registry.default().select(ids)]


def decide(id_: str, *, seed: int, profile: str, share: float) -> tuple[list[Row], list[str]]:
    """Return the rows of a statement, cases then verdicts, and what is unexpected in them.

    ``share`` is the failure probability of the statement; with 1e-4/256 the rows are those of ``pdp-verify run``.
    """
    quick = profile == "quick"
    (source,) = registry.default().select([id_])
    statement = source.load()
    budgets = case_budgets(whole(share, StreamKey(seed).child(statement.id)), statement)
    chosen = [case for case in statement.cases if case.quick or not quick]
    with one_blas_thread():
        cases = [decide_case(statement, case, profile, budgets[case.name]) for case in chosen]
    rulings = rule_statement(statement, cases, quick=quick)
    expected = ledger.default()
    unexpected = defects(cases)
    for ruling in rulings:
        if DISPLAY not in ruling["id"]:
            unexpected += [
                f"{ruling['id']} {text}" for text in compare(ruling, expected.get(ruling["id"]), quick=quick)[0]
            ]
    return [*cases, *rulings], unexpected
