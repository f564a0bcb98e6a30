"""A published statement as data: what is printed, what is true, the cases that decide it, and its mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from audits import Budget, Estimate
from mechanisms import Dataset, Relation

from .measure import Measure
from .plain_math import plain_math
from .provenance import Provenance, Worth
from .verdict import Reason

Value = float | int | str | bool | None
Params = Mapping[str, Value]


class Standing(Enum):
    """Which version of a statement a case speaks about."""

    PRINTED = "as printed"
    CORRECTED = "corrected"
    MUTANT = "mutant"  # a deliberately wrong version that the same check must refute


class Observer(Enum):
    """Whose view the claim is about."""

    TRANSCRIPT = "every released quantity, in order"
    OUTPUT = "the last output alone"


class Role(Enum):
    """Why a case is there."""

    REGIME = "regime"
    EDGE = "edge"
    COUNTEREXAMPLE = "counterexample"
    ADVERSARIAL = "adversarial search"


@dataclass(frozen=True)
class Formula:
    """One formula in Typst math; ``show``, Markdown and alternative text read it out as plain text."""

    typst: str
    text: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", plain_math(self.typst))


@dataclass(frozen=True)
class Claim:
    """A statement at given numbers: which values of the audited quantity it allows.

    Attributes
    ----------
    quantity : str
        What is compared, in words ("delta at the printed epsilon, worse direction").
    low, high : float
        The allowed interval; an equality is a printed tolerance band around the published value.
    published : float
        The number that the published formula gives (epsilon, a probability, a quantile, …).
    in_domain : bool
        False where the statement makes no claim, or a vacuous one; the numbers are still shown.
    strict_note : str
        Set when equality would break only a printed strict inequality: noted, never refuted.
    measure : Measure
        What kind of number is compared: by it the case is told, and ranked among others.
    """

    quantity: str
    low: float
    high: float
    published: float
    in_domain: bool = True
    relation: Relation | None = None
    observer: Observer = Observer.TRANSCRIPT
    conditioned_on: str = ""
    strict_note: str = ""
    measure: Measure = Measure.NUMBER

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"allowed interval must satisfy low <= high, got low={self.low}, high={self.high}")


@dataclass(frozen=True)
class Evidence:
    """What a check found for one case: the claim, and up to two witnesses beside the published number.

    ``exact`` is a proved enclosure, ``sampled`` a Monte Carlo interval of the *same* quantity. The decision rests on
    ``exact`` when there is one. ``reason`` explains an evidence that cannot decide; ``found`` holds the numbers an
    adversarial search arrived at; ``notes`` holds further numbers worth printing. ``undecided`` is the kind of
    ``reason`` where its sentence does not begin with it.
    """

    claim: Claim
    exact: Estimate | None = None
    sampled: Estimate | None = None
    reason: str = ""
    found: Params = field(default_factory=dict)
    notes: Params = field(default_factory=dict)
    undecided: Reason | None = None

    def __post_init__(self) -> None:
        if self.exact is None and self.sampled is None and not self.reason:
            raise ValueError("evidence must have an exact or a sampled witness, or a reason why it has none")


@dataclass(frozen=True)
class Case:
    """One thing to check: a part of a statement, in one version, at given numbers.

    ``name`` is unique within the statement; with ``params`` and the run's seed it is all that a replay needs.
    ``draws`` counts Monte Carlo draws per profile (``quick``, ``standard``, ``full``); 0 for an exact case.
    ``quick`` says whether the quick profile runs it. ``severity`` of a mutant is the relative distance from the point
    where the claim becomes false (0.1 = 10 %), or None where that is not continuous. ``given`` are the published data
    sets that a run was given for it, by name: none when it is declared, and no part of what names it.
    """

    part: str
    name: str
    standing: Standing
    params: Params
    role: Role = Role.REGIME
    regime: str = ""
    draws: tuple[int, int, int] = (0, 0, 0)
    quick: bool = True
    mutant: str = ""
    severity: float | None = None
    given: Mapping[str, Dataset] = field(default_factory=dict, compare=False, repr=False)

    def number(self, name: str) -> float:
        """Return a numeric parameter."""
        value = self.params[name]
        if not isinstance(value, (int, float)):
            raise TypeError(f"{name} must be a number in case {self.name}, got {name}={value!r}")
        return float(value)

    def whole(self, name: str) -> int:
        """Return a parameter that is a whole number."""
        return int(self.number(name))

    def text(self, name: str) -> str:
        """Return a parameter as text."""
        return str(self.params[name])


Check = Callable[[Case, Budget], Evidence]


@dataclass(frozen=True)
class Part:
    """One separately decided display of a statement (its own id when the catalogue gives it one).

    ``reading`` is the name of one reading of an ambiguous text; a display is refuted if all its readings are, and its
    text is unclear where the copy is damaged. A line of a ``proof`` has a verdict, and never decides its statement. A
    ``misprint`` decides, but its case is the statement's worst only where nothing else fails.
    """

    id: str
    title: str
    printed: Formula
    corrected: Formula | None = None
    what_went_wrong: str = ""
    derivation: str = ""  # file under docs/derivations that derives the corrected form, with its section
    reading: str = ""
    proof: bool = False
    provenance: Provenance | None = None
    misprint: bool = False

    @property
    def display(self) -> str:
        """Id without the name of a reading: what the readings of one text share."""
        return self.id.partition("@")[0]

    @property
    def damaged(self) -> bool:
        """Whether our copy is damaged where this is printed."""
        return self.provenance is not None and self.provenance.worth is Worth.DAMAGED


@dataclass(frozen=True)
class Statement:
    """Everything about one catalogue id; the registry collects the module constant ``STATEMENT`` of each file.

    Attributes
    ----------
    id : str
        Catalogue id of the parent (``W19-T4.1``).
    paper : str
        Folder of the paper (``wang2019``).
    kind, title, locator : str
        Kind ("theorem"), a working title, and where it stands in the paper ("Theorem 4.1, section 4").
    domain : str
        The domain as printed, and what the claim takes as public.
    parts : tuple of Part
        At least one; a statement without parts has one whose id is its own.
    cases : tuple of Case
        All cases of all standings, fixed before anything is drawn.
    check : callable
        Pure function of (case, budget); picklable.
    figures : callable or None
        ``figures(seed) -> tuple[Figure, ...]``: at most one is drawn under ``quick``.
    summary : str
        What it says, in a sentence or two of plain words.
    definition : str
        For a DEFINITION: the type or function that implements it.
    share : Fraction
        Share of a run's failure probability that its sampled cases may spend together.
    needs : tuple of str
        Names of the published data sets that decide it: undecided where a run is not given them.
    """

    id: str
    paper: str
    kind: str
    title: str
    locator: str
    domain: str
    parts: tuple[Part, ...]
    cases: tuple[Case, ...]
    check: Check
    summary: str = ""
    figures: Callable[..., tuple[object, ...]] | None = None
    definition: str = ""
    share: Fraction = Fraction(1, 256)
    needs: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Statement({self.id}, {self.title!r}, {len(self.parts)} parts, {len(self.cases)} cases)"

    def __post_init__(self) -> None:
        names = [case.name for case in self.cases]
        if len(set(names)) != len(names):
            twice = sorted({name for name in names if names.count(name) > 1})
            raise ValueError(f"case names must be unique in {self.id}, got twice: {', '.join(twice)}")
        ids = {part.id for part in self.parts}
        for case in self.cases:
            if case.part not in ids:
                raise ValueError(f"case {case.name} of {self.id} must name one of its parts, got part={case.part}")
