"""What an examination says about one pair of data sets: numbers with intervals, each with what it may decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from mechanisms.base import Bracket, Direction

from ..estimate import Estimate
from ..verdict import CheckOutcome, CheckResult, CheckRole, Stated

Note = str | float | int


class StatedProfile(Protocol):
    """What a mechanism states about every pair of data sets: delta is at most this."""

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the stated bound on delta(epsilon)."""
        ...

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of it."""
        ...


@dataclass(frozen=True)
class Witness:
    """One number about one pair, the interval that the claim (or the stated law) allows for it, and what was found.

    Attributes
    ----------
    about : str
        Who says so: "black box", "stated law, first data set", "exact law", ….
    quantity : str
        What the number is, with its unit where it has one.
    low, high : float
        The allowed interval.
    exact, sampled : Estimate or None
        At least one; they must agree where both are there.
    words : str
        The event, or how the number was made, in words.
    notes : mapping
        Numbers beside it (hits on each side, p-value, direction).
    tests : Stated or None
        The statement of the mechanism about itself that a witness of role ``STATES`` is about.
    rests_on : tuple of Stated
        The statements that the number was computed with.
    """

    about: str
    role: CheckRole
    quantity: str
    low: float
    high: float
    exact: Estimate | None = None
    sampled: Estimate | None = None
    words: str = ""
    notes: Mapping[str, Note] = field(default_factory=dict)
    tests: Stated | None = None
    rests_on: tuple[Stated, ...] = ()

    def __post_init__(self) -> None:
        if self.exact is None and self.sampled is None:
            raise ValueError("a witness must have an estimate, got neither exact nor sampled")

    @property
    def estimate(self) -> Estimate:
        """What decides: the exact estimate where there is one."""
        number = self.exact if self.exact is not None else self.sampled
        assert number is not None
        return number

    @property
    def consistent(self) -> bool:
        """Whether the exact and the sampled estimate overlap (true when one is missing)."""
        exact, sampled = self.exact, self.sampled
        return exact is None or sampled is None or (exact.low <= sampled.high and sampled.low <= exact.high)

    @property
    def holds(self) -> bool:
        """Whether every value of the interval is allowed."""
        return self.consistent and self.low <= self.estimate.low and self.estimate.high <= self.high

    @property
    def refutes(self) -> bool:
        """Whether no value of the interval is allowed, and this witness may say so of the claim or of a statement."""
        return self.role is not CheckRole.REPORTS and self.outcome in (CheckOutcome.FAILS, CheckOutcome.INCONSISTENT)

    @property
    def outcome(self) -> CheckOutcome:
        """How the interval lies to what is allowed."""
        if not self.consistent:
            return CheckOutcome.INCONSISTENT
        if self.estimate.high < self.low or self.estimate.low > self.high:
            return CheckOutcome.FAILS
        return CheckOutcome.HOLDS if self.holds else CheckOutcome.OPEN

    def result(self, pair: str) -> CheckResult:
        """Return the witness as the verdict sees it, named after what it is about and the pair."""
        return CheckResult(f"{self.about}: {pair}", self.role, self.outcome, "", self.tests, self.rests_on)


def of_test(
    about: str,
    p_value: float,
    level: float,
    n_draws: int,
    *,
    refuted: bool,
    words: str,
    notes: Mapping[str, Note] | None = None,
    role: CheckRole = CheckRole.REFUTES,
    tests: Stated | None = None,
    rests_on: tuple[Stated, ...] = (),
) -> Witness:
    """Return the witness of a test at ``level``: its p-value is allowed to be anything above the level."""
    value = min(p_value, level * (1 - 1e-12)) if refuted else max(p_value, level)
    exact = Estimate(value, value, value, level, n_draws, "exact test")
    return Witness(
        about,
        role,
        "p-value of the null hypothesis",
        level,
        1.0,
        sampled=exact,
        words=words,
        notes=notes or {},
        tests=tests,
        rests_on=rests_on,
    )
