"""The verdict on a claim: one function from checks, demands and attestation to a decision and its ground.

``certify``, the pytest fixture, sweeps and notebooks call ``decide`` and hold no rule of their own. Three findings have
three words. The claim is refuted: FAIL. A statement of the mechanism about itself (its density, loss, profile or worst
case) is refuted and the claim is not: UNDECIDED (its own statement is refuted). Nothing is refuted: PASS or UNDECIDED.
A number that rests on a refuted statement is void: it neither refutes nor supports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from .examination.examined import Enough


class CheckRole(Enum):
    """What the outcome of a check can do to the claim."""

    DECIDES = "decides: it can support the claim, and refute it"
    REFUTES = "searches: it can refute the claim, and never support it"
    STATES = "tests what the mechanism states about itself, never the claim"
    AGREES = "cross-checks: two estimates of one number must agree"
    REPORTS = "reports: it decides nothing"


class CheckOutcome(Enum):
    """How the estimate of a check lies to what is allowed."""

    HOLDS = "every value of the interval is allowed"
    FAILS = "no value of the interval is allowed"
    OPEN = "neither"
    INCONSISTENT = "two estimates of one number contradict each other"


class Stated(Enum):
    """What a mechanism may state about itself."""

    DENSITY = "log_density"
    APART = "log_density, each data set in a process of its own"
    LOSS = "privacy_loss"
    PROFILE = "profile"
    WORST_CASE = "worst_profile"


class Decision(Enum):
    """The verdict on a claim."""

    PASS = "pass: the claim is supported"
    FAIL = "fail: a counterexample was found and confirmed"
    UNDECIDED = "undecided: neither supported nor refuted"


class Ground(Enum):
    """What a verdict rests on."""

    PROVED = "proved"
    ATTESTED = "attested"
    SIMULATED = "simulated"
    NO_VIOLATION = "no violation found"
    NOT_TESTED = "not tested"
    MISSTATED = "its own statement is refuted"
    NONE = ""


#: Grounds from the weakest on.
WEAKEST_FIRST = (
    Ground.MISSTATED,
    Ground.NOT_TESTED,
    Ground.NONE,
    Ground.NO_VIOLATION,
    Ground.ATTESTED,
    Ground.SIMULATED,
    Ground.PROVED,
)


@dataclass(frozen=True)
class CheckResult:
    """One check as the verdict sees it."""

    name: str  #: what was looked at, and where
    role: CheckRole
    outcome: CheckOutcome
    why: str = ""  #: why it is open; empty otherwise
    tests: Stated | None = None  #: the statement that a check of role ``STATES`` is about; None for every other role
    rests_on: tuple[Stated, ...] = ()  #: the statements that its number was computed with

    def __post_init__(self) -> None:
        if (self.role is CheckRole.STATES) != (self.tests is not None):
            raise ValueError(f"tests must be given with role STATES and only then, got check={self.name!r}")


@dataclass(frozen=True)
class Terms:
    """What is demanded of a PASS, and what is known beside the checks."""

    #: whether the mechanism is not a reference mechanism of this package: its claim never passes without draws
    external: bool = False
    simulated: bool = False  #: whether the claim is about utility, which draws alone support
    missing: str = ""  #: what was not tested, and why; empty where the demand on the draws is met
    obstacle: str = ""  #: why the claim stays open whatever the checks say; empty where nothing keeps it
    enough: Enough | None = None  #: the draws that met the demand
    attested: bool = False  #: whether somebody is named who vouches for the stated law of an external mechanism


@dataclass(frozen=True)
class Ruling:
    """The verdict on a claim, computed once.

    Raises ``ValueError`` if decision, ground and draws do not belong together.
    """

    decision: Decision
    ground: Ground
    why: str  #: what decided, in words: names of checks, or what is missing
    check: str = ""  #: the check that decided or left the claim open; empty where none did
    #: the statements of the mechanism that were refuted: no number that rests on them may be shown
    misstated: tuple[Stated, ...] = ()
    enough: Enough | None = None  #: the draws that a PASS of an external mechanism rests on; it cannot be built without

    def __post_init__(self) -> None:
        passed, attested = self.decision is Decision.PASS, self.ground is Ground.ATTESTED
        if passed != (self.ground in (Ground.PROVED, Ground.ATTESTED, Ground.SIMULATED)):
            raise ValueError(f"a PASS, and nothing else, is proved, attested or simulated, got ground={self.ground}")
        if attested != (self.enough is not None):
            raise ValueError("a PASS (attested), and nothing else, must carry the draws that it rests on")

    @property
    def words(self) -> str:
        """The verdict as it is printed: ``PASS (proved)``, ``UNDECIDED (not tested)``, ``FAIL``."""
        return self.decision.name + (f" ({self.ground.value})" if self.ground is not Ground.NONE else "")


NOBODY = "nobody vouches for the law of the imported mechanism (mechanism.vouched_by)"
NO_SUPPORT = "no check can support this claim"


def misstatements(checks: Sequence[CheckResult]) -> tuple[Stated, ...]:
    """Return the statements that checks refute, those that rest on a refuted one not counted, in a fixed order.

    A density is tested by draws alone; a profile or a worst case is tested through the density.
    """
    refuted: tuple[Stated, ...] = ()
    for statement in Stated:  # what a test may rest on comes before what it tests
        if any(c.tests is statement and c.outcome is CheckOutcome.FAILS and sound(c, refuted) for c in checks):
            refuted += (statement,)
    return refuted


def sound(check: CheckResult, misstated: Sequence[Stated]) -> bool:
    """Return whether no number of a check rests on a refuted statement."""
    return not set(check.rests_on) & set(misstated)


def decide(checks: Sequence[CheckResult], terms: Terms) -> Ruling:
    """Return the verdict on a claim.

    ``checks``: in the order in which they are told. ``terms``: what is demanded beside them. Returned: FAIL where a
    sound check of the claim fails or two estimates contradict each other; otherwise UNDECIDED where a statement is
    refuted, where draws are missing or an obstacle stands; PASS where every deciding check holds.
    """
    misstated = misstatements(checks)
    told = [check for check in checks if check.role is not CheckRole.REPORTS and sound(check, misstated)]
    for check in told:
        if check.outcome is CheckOutcome.INCONSISTENT:
            return Ruling(Decision.FAIL, Ground.NONE, f"{check.name}: {check.why}", check.name, misstated)
    for check in told:
        if check.outcome is CheckOutcome.FAILS and check.role in (CheckRole.DECIDES, CheckRole.REFUTES):
            return Ruling(Decision.FAIL, Ground.NONE, check.name, check.name, misstated)
    if misstated:
        return _misstated(checks, misstated)
    if terms.missing:
        return Ruling(Decision.UNDECIDED, Ground.NOT_TESTED, terms.missing)
    still_open = Ground.NO_VIOLATION if terms.external else Ground.NONE
    if terms.obstacle:
        return Ruling(Decision.UNDECIDED, still_open, terms.obstacle)
    deciding = [check for check in told if check.role is CheckRole.DECIDES]
    unmet = next((check for check in deciding if check.outcome is not CheckOutcome.HOLDS), None)
    if unmet is not None:
        return Ruling(Decision.UNDECIDED, still_open, f"{unmet.name}: {unmet.why}", unmet.name)
    if not deciding:
        return Ruling(Decision.UNDECIDED, still_open, NO_SUPPORT)
    return _passed(deciding, terms)


def _misstated(checks: Sequence[CheckResult], misstated: tuple[Stated, ...]) -> Ruling:
    name = next(c.name for c in checks if c.tests is misstated[0] and c.outcome is CheckOutcome.FAILS)
    why = (
        f"{misstated[0].value} is not the law of the draws"
        if misstated[0] is Stated.DENSITY
        else (f"{misstated[0].value} does not agree with the draws")
    )
    return Ruling(Decision.UNDECIDED, Ground.MISSTATED, why, name, misstated)


def _passed(deciding: Sequence[CheckResult], terms: Terms) -> Ruling:
    why, check = "; ".join(check.name for check in deciding), deciding[0].name
    if terms.simulated:
        return Ruling(Decision.PASS, Ground.SIMULATED, why, check)
    if not terms.external:
        return Ruling(Decision.PASS, Ground.PROVED, why, check)
    if terms.enough is None:
        return Ruling(Decision.UNDECIDED, Ground.NOT_TESTED, "nothing was drawn")
    if not terms.attested:
        return Ruling(Decision.UNDECIDED, Ground.NO_VIOLATION, NOBODY)
    return Ruling(Decision.PASS, Ground.ATTESTED, why, check, enough=terms.enough)
