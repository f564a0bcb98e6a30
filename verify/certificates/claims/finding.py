"""What was found about one claim: its checks, its verdict, its figures, and who may see each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from audits import Budget, StreamKey
from audits.error_budget import Ledger
from audits.examination.examine_choose import Named
from audits.examination.examined import Enough
from audits.examination.witnesses import Violation
from audits.harness.calls import Deadline
from audits.verdict import CheckOutcome, CheckResult, CheckRole, Ruling, Stated, Terms, decide
from mechanisms import Dataset, Mechanism
from mechanisms.capabilities import Domain
from mechanisms.data.dataset import FloatArray
from mechanisms.releases.privacy_report import PrivacyReport
from reports.numbers import digits_that_differ, format_number
from reports.row import Figure

from ...engine.follow import SILENT, Phases
from ...kernel.rows import Row
from ...kernel.statement import Evidence
from ...kernel.verdict import Outcome, Reason, judge
from ...messages.verdict_words import said
from ..config.config import Configuration
from ..config.mechanism_source import DoorSource, Source
from ..config.own_code import View, Vouched
from ..release.releases import Released
from .types import BY_TYPE, ClaimSection, Odds

#: Draws of one sampled check of a reference mechanism, by profile.
DRAWS = {"quick": 2_000, "standard": 10_000, "full": 100_000}
#: What a claim over all data sets speaks about.
EVERY_PAIR = "every pair of neighbouring data sets in the public domain"
#: Significant digits of the number in a remedy, rounded to the private side.
DIGITS = 3
#: The outcome of a case -> that of a check; outside its domain a check decides nothing.
OUTCOMES = {
    Outcome.HOLDS: CheckOutcome.HOLDS,
    Outcome.FAILS: CheckOutcome.FAILS,
    Outcome.UNDECIDED: CheckOutcome.OPEN,
    Outcome.OUT_OF_DOMAIN: CheckOutcome.OPEN,
}


@dataclass(frozen=True)
class Check:
    """One piece of evidence.

    Attributes
    ----------
    private : bool
        Whether it depends on records that may not be published.
    tests, rests_on
        As in ``audits.verdict.CheckResult``: what the mechanism states about itself.
    """

    name: str
    role: CheckRole
    evidence: Evidence
    private: bool
    words: str = ""
    tests: Stated | None = None
    rests_on: tuple[Stated, ...] = ()

    @cached_property
    def judged(self) -> tuple[Outcome, Reason]:
        """The outcome, and why it is undecided."""
        return judge(self.evidence)

    @cached_property
    def result(self) -> CheckResult:
        """The check as the verdict sees it."""
        outcome, reason = self.judged
        known = CheckOutcome.INCONSISTENT if reason is Reason.INCONSISTENT else OUTCOMES[outcome]
        why = self.evidence.reason or _between(self, reason)
        return CheckResult(self.name, self.role, known, why, self.tests, self.rests_on)


@dataclass(frozen=True)
class Examined:
    """What was examined of an imported mechanism for one claim.

    Attributes
    ----------
    enough : Enough or None
        The draws that a PASS needs; None where too little was examined, or something was missing.
    missing : str
        What was not examined, and why; empty when nothing is missing.
    row : mapping
        The same for the page and the record: ``pairs``, ``draws``, ``refused``, ``visible``, ``contract``, ….
    cut : bool
        Whether it ended before all was drawn: the time was over, or the mechanism gave no answer.
    """

    enough: Enough | None
    missing: str
    row: Row
    cut: bool = False


@dataclass(frozen=True)
class Change:
    """One parameter: what it is now, and the value nearest to it at which the claim is proved."""

    name: str
    now: float
    value: float


@dataclass(frozen=True)
class Remedy:
    """Changes that bring a claim to a PASS, all together; ``where``: of the ``mechanism`` or of the ``claim``."""

    where: str
    changes: tuple[Change, ...]

    @property
    def row(self) -> Row:
        """The same for the record."""
        changes: list[Any] = [{"name": each.name, "now": each.now, "value": each.value} for each in self.changes]
        return {"where": self.where, "changes": changes}

    def _called(self, name: str) -> str:
        return f"{name} of the mechanism" if self.where == "mechanism" and name in ("epsilon", "delta") else name

    @property
    def words(self) -> str:
        """The same in a sentence."""
        names = " and ".join(self._called(each.name) for each in self.changes)
        values = " and ".join(format_number(each.value, DIGITS) for each in self.changes)
        now = " and ".join(format_number(each.now) for each in self.changes)
        if self.where == "claim":
            return f"At the present noise, the least {names} that this suite can prove is {values} (claimed: {now})."
        rises = {each.value > each.now for each in self.changes}
        kind, beyond = ("least", "below") if rises == {True} else ("largest", "above")
        if len(rises) > 1:
            kind, beyond = "nearest", "between"
        several = len(self.changes) > 1
        proved = "that this suite can prove" + (", moved together, are" if several else " is")
        true = f"the true {'ones' if several else 'one'} may lie {beyond}"
        return f"The {kind} {names} {proved} {values} (now {now}); {true}."


@dataclass(frozen=True)
class Finding:
    """One claim with everything found about it.

    Attributes
    ----------
    private : bool
        Whether the verdict itself depends on private records (then it is the curator's alone).
    scope, conditions, advice : str, tuple of str, str
        What a PASS speaks about and is conditional on; the way out of any other verdict.
    forced : str
        Set when no check may support this claim: the reason it stays undecided.
    figures : tuple of (private, Figure)
    examined : Examined or None
        None for a reference mechanism; an imported one cannot pass without.
    public : Finding or None
        The same claim found without the private records, where words and reasons would differ too.
    unreached : str
        Set where the claim was not begun: why; it is open, and nothing can allow it to be.
    members : NeighbouringPair or None
        The two data sets of a FAIL without a ``violation``: of records whose exact law refutes the claim.
    left_over : str
        What a PASS leaves over, in a sentence.
    """

    name: str
    type: str
    sentence: str
    scope: str
    private: bool
    checks: tuple[Check, ...]
    conditions: tuple[str, ...] = ()
    advice: str = ""
    forced: str = ""
    figures: tuple[tuple[bool, Figure], ...] = ()
    imported: bool = False
    examined: Examined | None = None
    public: Finding | None = None
    vouched: Vouched | None = None
    unreached: str = ""
    remedy: tuple[Remedy, ...] = ()
    odds: Odds | None = None
    violation: Violation | None = None
    members: Any = None
    left_over: str = ""

    def with_odds(self, odds: Odds | None) -> Finding:
        """Return the finding, and what the public sees of it, with what the claim means."""
        return replace(self, odds=odds, public=None if self.public is None else replace(self.public, odds=odds))

    def without_private(self) -> Finding:
        """Return the finding as the public may see it: no check and no figure that depends on private records."""
        if self.public is not None:
            return self.public
        return replace(
            self,
            checks=tuple(check for check in self.checks if not check.private),
            figures=tuple(each for each in self.figures if not each[0]),
        )

    @cached_property
    def verdict(self) -> Ruling:
        """The verdict, what it rests on, and why."""
        missing = self.unreached
        if self.imported and not missing:
            missing = "nothing was drawn" if self.examined is None else self.examined.missing
        terms = Terms(
            external=self.imported,
            simulated=BY_TYPE[self.type].simulated,
            missing=missing,
            obstacle=self.forced,
            enough=None if self.examined is None else self.examined.enough,
            attested=self.vouched is not None,
        )
        return decide([check.result for check in self.checks], terms)

    @cached_property
    def sentence_of_verdict(self) -> str:
        """What is said of the verdict everywhere: terminal, page 1, HTML, JUnit and SARIF."""
        return said(self.verdict, self.violation, self.left_over)


def _between(check: Check, why: Reason) -> str:
    """Return why a check is open; for exact evidence, which no draws would help, by the end that is too large."""
    exact, most = check.evidence.exact, check.evidence.claim.high
    if why is not Reason.BUDGET or exact is None or exact.high <= most:
        return why.value
    bound, limit = digits_that_differ(exact.high, most)
    return f"what is known is at most {bound}, and at most {limit} is claimed: neither proved nor refuted"


@dataclass(frozen=True, eq=False)
class Deployment:
    """Everything the claims are about.

    Attributes
    ----------
    released : array or None
        The deployed output, length ``k``.
    reports : tuple of PrivacyReport
        The publishable reports that exist: data-independent first.
    n_outputs, mu_report : int, float
        How many times the output was drawn (a second draw costs again), and the Gaussian privacy parameter of all
        data-dependent reports drawn, over the public domain.
    draws : int or None
        Draws of a sampled check instead of the profile's (a dry run).
    progress : Phases
        Who is told how far it is; no number depends on it.
    deadline : Deadline or None
        From ``budget.max_seconds``: no claim, and no pair of an imported mechanism, is begun after it.
    complete : bool
        Whether the examination of an imported mechanism goes on after the claim is refuted.
    releases : Released or None
        What was drawn, as it is kept, or is foreseen to be drawn.
    foresee, draw : callable or None
        What foresees a draw, and makes one that was foreseen; None where nothing is drawn.
    """

    config: Configuration
    dataset: Dataset
    mechanism: Mechanism
    source: Source | None = None
    released: FloatArray | None = None
    reports: tuple[PrivacyReport, ...] = ()
    n_outputs: int = 1
    mu_report: float = 0.0
    jobs: int = 1
    draws: int | None = None
    progress: Phases = SILENT
    deadline: Deadline | None = None
    complete: bool = False
    releases: Released | None = None
    foresee: Callable[[], Released] | None = None
    draw: Callable[[Released], Released] | None = None
    conditions: tuple[str, ...] = ()
    artefact: Mapping[str, str] | None = None
    vouched: Vouched | None = None
    pairs: tuple[Named, ...] = ()
    views: tuple[View, ...] = ()

    def changed(self, **values: Any) -> Deployment:
        """Return the same with other values; what was spent of the failure probability stays spent."""
        after = replace(self, **values)
        after.__dict__["_shared"] = self._shared
        return after

    @property
    def private(self) -> bool:
        """Whether the records may not be published."""
        return not self.config.data.is_public

    @property
    def outputs(self) -> str:
        """What was drawn of the mechanism, in words."""
        name = self.mechanism.name
        return name if self.n_outputs == 1 else f"{self.n_outputs} outputs of {name}"

    @property
    def one_output(self) -> str:
        """Why an imported mechanism that was drawn several times cannot pass; empty where it was not."""
        if self.n_outputs == 1:
            return ""
        return f"{self.n_outputs} outputs were drawn, and what was examined and stated is about one"

    @property
    def domain(self) -> Domain:
        """The public domain of the claims over all data sets."""
        data = self.dataset
        return Domain(data.dim, data.x_bound, data.y_bound, self.config.data.n_public)

    @property
    def is_door(self) -> bool:
        """Whether the mechanism is behind a command or a url."""
        return isinstance(self.source, DoorSource)

    @property
    def examination_size(self) -> tuple[int, int]:
        """How many structured pairs of an imported mechanism are examined, and the draws of each of their data sets."""
        pairs, draws = self.config.budget.examined
        return pairs, self.draws or draws

    @property
    def chosen_by_looking(self) -> tuple[str, str]:
        """What keeps a claim over all data sets from a PASS whatever the checks say, and the way out."""
        chosen = self.config.data.chosen_from_data
        if not chosen:
            return "", ""
        return (
            f"{', '.join(chosen)} chosen by looking at the data: the choice is part of the mechanism and is not "
            "covered",
            "Choose them from public knowledge, or release the choice privately and add its cost.",
        )

    @property
    def record_conditions(self) -> tuple[str, ...]:
        """What a claim about the records is conditional on."""
        chosen = self.config.data.chosen_from_data
        conditions = [*self.conditions, *(f"{note}, taken as public" for note in self.dataset.data_dependent)]
        return tuple([*conditions, f"{', '.join(chosen)} taken as public constants"] if chosen else conditions)

    def finding(
        self,
        claim: ClaimSection,
        sentence: str,
        scope: str,
        checks: Iterable[Check],
        *,
        conditions: Iterable[str] = (),
        examined: Examined | None = None,
        **more: Any,
    ) -> Finding:
        """Return what was found about a claim; with ``examined``, of an imported mechanism on somebody's word."""
        return Finding(
            str(claim.name),
            claim.type,
            sentence,
            scope,
            self.private and not claim.everywhere,
            tuple(checks),
            tuple(conditions),
            imported=examined is not None,
            examined=examined,
            vouched=None if examined is None else self.vouched,
            **more,
        )

    def budget(
        self, claim: str, purpose: str, *, share: float = 1.0, n_draws: int | None = None, private: bool = False
    ) -> Budget:
        """Return the budget of one check: its own stream, its share of what the claim owns.

        ``private``: whether what it decides depends on records that may not be published.
        """
        section = self.config.budget
        n_draws = n_draws or self.draws or DRAWS[section.profile]
        whole = self._shared[1][claim].part(purpose, share=share, n_draws=n_draws, private=private)
        return replace(whole, key=StreamKey(section.seed, ("certify", claim, purpose)))

    def figure_key(self, purpose: str) -> StreamKey:
        """Return the stream of a figure, which decides nothing and spends no failure probability."""
        return StreamKey(self.config.budget.seed, ("certify", "figure", purpose))

    @property
    def ledger(self) -> Ledger:
        """What the claims own of the failure probability, and what they have spent of it."""
        return self._shared[0]

    @cached_property
    def _shared(self) -> tuple[Ledger, dict[str, Budget]]:
        """Return the claims' shares of the failure probability, and who writes down what they are spent on.

        On private data a half is shared by the claims that everyone may know of, a half by the others: nothing that is
        published depends on how many others there are.
        """
        claims = self.config.claims
        public = [str(each.name) for each in claims if each.is_public or not self.private]
        others = [str(each.name) for each in claims if str(each.name) not in public]
        half = 0.5 if self.private else 1.0
        shares = dict.fromkeys(public, half / max(1, len(public))) | dict.fromkeys(others, half / max(1, len(others)))
        section = self.config.budget
        ledger = Ledger(section.failure_prob)
        whole = Budget(1, section.failure_prob, StreamKey(section.seed), ledger)
        return ledger, whole.split({str(each.name): shares[str(each.name)] for each in claims})
