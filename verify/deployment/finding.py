"""What was found about one claim: its checks, its verdict, its figures, and who may see each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from audits import Budget, StreamKey
from mechanisms import Dataset, Mechanism
from mechanisms.data import FloatArray
from mechanisms.privacy_report import PrivacyReport
from reports.row import Figure

from ..statement import Evidence
from ..verdict import Outcome, Reason, judge
from .config import Configuration
from .mechanism_source import MechanismSource
from .universal import Domain

#: Draws of one sampled check, by profile.
DRAWS = {"quick": 2_000, "standard": 10_000, "full": 100_000}


class Decision(Enum):
    """The verdict on a claim."""

    PASS = "pass: the claim is supported"
    FAIL = "fail: a counterexample was found and confirmed"
    UNDECIDED = "undecided: neither supported nor refuted"


class Power(Enum):
    """What the outcome of a check can do to its claim."""

    DECIDES = "decides: it can support the claim, and refute it"
    REFUTES = "searches: it can refute the claim, and never support it"
    AGREES = "cross-checks: two witnesses of one number must agree"


@dataclass(frozen=True)
class Check:
    """One piece of evidence. ``private``: it depends on records that may not be published."""

    name: str
    power: Power
    evidence: Evidence
    private: bool
    words: str = ""


@dataclass(frozen=True)
class Finding:
    """One claim with everything found about it.

    Attributes
    ----------
    private : bool
        Whether the verdict itself depends on private records (then it is the curator's alone).
    scope : str
        What a PASS speaks about, in words.
    conditions : tuple of str
        What a PASS is conditional on.
    advice : str
        The way out of a FAIL or UNDECIDED.
    forced : str
        Set when no check may support this claim: the reason it stays undecided.
    figures : tuple of (private, Figure)
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

    def without_private(self) -> Finding:
        """Return the finding as the public may see it: no check and no figure that depends on private records."""
        checks = tuple(check for check in self.checks if not check.private)
        return replace(self, checks=checks, figures=tuple(each for each in self.figures if not each[0]))

    @property
    def decided(self) -> tuple[Decision, str]:
        """Return the verdict and its reason in words."""
        judged = [(check, *judge(check.evidence)) for check in self.checks]
        for check, _, reason in judged:
            if reason is Reason.INCONSISTENT:
                return Decision.FAIL, f"{check.name}: {reason.value}"
        for check, outcome, _ in judged:
            if outcome is Outcome.FAILS and check.power is not Power.AGREES:
                return Decision.FAIL, check.name
        deciding = [(check, outcome, reason) for check, outcome, reason in judged if check.power is Power.DECIDES]
        if self.forced:
            return Decision.UNDECIDED, self.forced
        if deciding and all(outcome is Outcome.HOLDS for _, outcome, _ in deciding):
            return Decision.PASS, "; ".join(check.name for check, _, _ in deciding)
        still = next(((c, r) for c, o, r in deciding if o is not Outcome.HOLDS), None)
        if still is None:
            return Decision.UNDECIDED, "no check can support this claim"
        open_check, why = still
        return Decision.UNDECIDED, f"{open_check.name}: {open_check.evidence.reason or why.value}"


@dataclass(frozen=True, eq=False)
class Deployment:
    """Everything the claims are about.

    Attributes
    ----------
    released : array or None
        The deployed output, length ``k``.
    reports : tuple of PrivacyReport
        The publishable reports that exist: data-independent first.
    n_outputs : int
        How many times the output was drawn (a second draw costs again).
    mu_report : float
        Gaussian privacy parameter of all data-dependent reports drawn, over the public domain.
    jobs : int
        Worker processes for sampled checks.
    draws : int or None
        Draws of a sampled check instead of the profile's (a dry run).
    """

    config: Configuration
    dataset: Dataset
    mechanism: Mechanism
    source: MechanismSource | None = None
    released: FloatArray | None = None
    reports: tuple[PrivacyReport, ...] = ()
    n_outputs: int = 1
    mu_report: float = 0.0
    jobs: int = 1
    draws: int | None = None
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def private(self) -> bool:
        """Whether the records may not be published."""
        return not self.config.data.is_public

    @property
    def domain(self) -> Domain:
        """The public domain of the claims over all data sets."""
        data = self.dataset
        return Domain(data.dim, data.x_bound, data.y_bound, self.config.data.n_public)

    def budget(self, claim: str, purpose: str, *, share: float = 1.0, n_draws: int | None = None) -> Budget:
        """Return the budget of one check: its own stream, its share of what the claim owns."""
        section = self.config.budget
        key = StreamKey(section.seed, ("certify", claim, purpose))
        owned = section.failure_prob / len(self.config.claims)
        return Budget(n_draws or self.draws or DRAWS[section.profile], owned * share, key)


def worst_of(outcomes: Sequence[Decision]) -> Decision:
    """Return the overall verdict: FAIL before UNDECIDED before PASS."""
    for decision in (Decision.FAIL, Decision.UNDECIDED):
        if decision in outcomes:
            return decision
    return Decision.PASS
