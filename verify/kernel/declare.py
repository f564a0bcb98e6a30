"""A statement as one declaration: each version once, with its words, its check and its cases.

Ids of parts, standings, names of cases and the dispatch of the check are derived; kind, title, locator and reference
come from the ``paper.toml`` of the paper.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from audits import Budget

from ..messages.errors import Defect
from .paper import PROOF, Consequence, Paper, paper_of
from .provenance import Worth
from .statement import Case, Evidence, Formula, Part, Role, Standing, Statement

if TYPE_CHECKING:
    from reports.row import Figure

#: How a case of one version is decided: a function of the case, or of the case and the ``budget`` of its draws.
Decide = Callable[..., Evidence]
Draws = tuple[int, int, int]
EXACT: Draws = (0, 0, 0)
#: Numbers of a case as they are written down (a dictionary of mixed values, which mypy takes for one of objects).
Numbers = Mapping[str, Any]
#: A part of a statement, a standing, and the name of a mutant ("" otherwise): what one ``Decide`` belongs to.
Version = tuple[str, Standing, str]


@dataclass(frozen=True)
class At:
    """One case of a version: why it is there, its numbers, its draws a profile, whether the quick profile runs it."""

    regime: str
    params: Numbers = field(default_factory=dict)
    role: Role = Role.REGIME
    draws: Draws = EXACT
    quick: bool = True
    severity: float | None = None  # of a mutant


def smallest(regime: str, params: Numbers, *, draws: Draws = EXACT, quick: bool = True) -> At:
    """Return the small, round case that shows what is wrong."""
    return At(regime, params, Role.COUNTEREXAMPLE, draws, quick)


def refuting(params: Numbers) -> At:
    """Return the smallest case of the printed form as a case of the corrected one."""
    return smallest("the case that refutes the printed form", params)


def over(regime: str, axes: Mapping[str, Sequence[Any]], *, draws: Draws = EXACT, quick_every: int = 1) -> list[At]:
    """Return a case at every point of the product of ``axes``; the quick profile runs every ``quick_every``-th."""
    points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [At(regime, point, draws=draws, quick=i % quick_every == 0) for i, point in enumerate(points)]


def search(params: Numbers | None = None, *, regime: str = "search", quick: bool = True) -> At:
    """Return the case in which the check itself looks for the worst numbers."""
    return At(regime, params or {}, Role.ADVERSARIAL, EXACT, quick)


@dataclass(frozen=True)
class Form:
    """A version that the report shows: its formula in Typst math, how a case of it is decided, and its cases."""

    typst: str
    check: Decide | None = None
    cases: Iterable[At] = ()


class Mutant:
    """A wrong version that must be refuted at ``params``, at each of several, or (None) where a search finds it false.

    ``severity`` is the relative distance from the point where the claim becomes false (0.1 = 10 %), None where that is
    not continuous; a sequence of them where ``params`` is one. What is wrong are ``changes``: keywords of the check.
    """

    def __init__(
        self,
        check: Decide,
        params: Numbers | Sequence[Numbers | None] | None = None,
        severity: float | Sequence[float] | None = None,
        draws: Draws = EXACT,
        quick: bool = True,
        **changes: Any,
    ) -> None:
        inspect.signature(check).bind_partial(**changes)  # an unknown keyword is an error here
        self.check, self.params, self.severity = partial(check, **changes) if changes else check, params, severity
        self.draws, self.quick = draws, quick

    def cases(self) -> Iterator[At]:
        """Yield its cases; numbers that are None are searched for."""
        several = [self.params] if self.params is None or isinstance(self.params, Mapping) else self.params
        severities = self.severity if isinstance(self.severity, Sequence) else [self.severity] * len(several)
        for params, severity in zip(several, severities, strict=True):
            role = Role.ADVERSARIAL if params is None else Role.REGIME
            yield At("mutant", params or {}, role, self.draws, self.quick, severity)


@dataclass(frozen=True)
class Display:
    """One separately decided display: its title, its versions, what went wrong, where that is derived, its mutants.

    An empty title is that of its id in the ``paper.toml``; an empty derivation that of the statement, where there is a
    corrected form. ``proof`` marks a line of a proof (as the kind "proof step" of its table does).
    """

    title: str = ""
    printed: Form = Form("")
    corrected: Form | None = None
    wrong: str = ""
    mutants: Mapping[str, Mutant] = field(default_factory=dict)
    derivation: str = ""
    proof: bool = False


def statement(
    id_: str,
    *,
    domain: str,
    displays: Mapping[str, Display] | None = None,
    summary: str = "",
    derivation: str = "",
    title: str = "",
    printed: Form | None = None,
    corrected: Form | None = None,
    wrong: str = "",
    mutants: Mapping[str, Mutant] | None = None,
    figures: Callable[[int], tuple[Figure, ...]] | None = None,
    definition: str = "",
    needs: tuple[str, ...] = (),
    paper: Paper | None = None,
) -> Statement:
    """Return the statement of these displays.

    Parameters
    ----------
    id_ : str
        Its id, which has a table in the ``paper.toml`` of its paper.
    domain, summary : str
        The domain as printed and what is public; the finding in a sentence or two.
    displays : mapping of Display, optional
        By what is appended to ``id_``: ``""`` the statement itself, ``"#10"`` a display, ``".1"`` (or whatever follows)
        a child that has a table of its own; each may end in ``"@a"``, reading a of that text.
    derivation : str
        File and section that derive the corrected forms.
    title, printed, corrected, wrong, mutants
        Those of its one display, in place of ``displays``.
    figures : callable, optional
        From a seed to the figures of its page.
    definition : str
        For a definition: the type or function that implements it.
    needs : tuple of str
        Names of the published data sets that decide it.
    paper : Paper, optional
        The paper, when it is not one of the committed ones.
    """
    paper = paper or paper_of(id_)
    about = paper.entries[id_]
    if printed is not None:
        displays = {"": Display(title, printed, corrected, wrong, mutants or {})}
    displays = displays or {}
    parts: list[Part] = []
    cases: list[Case] = []
    checks: dict[Version, Decide] = {}
    for key, display in displays.items():
        if "@" in key and key.partition("@")[0] in displays:
            raise ValueError(f"a display must be one or have readings, got {id_}{key} and {id_}{key.partition('@')[0]}")
        part = _part(paper, id_, key, display, derivation)
        parts.append(part)
        for standing, mutant, form in _versions(display):
            form_cases = list(form.cases)
            if form.check is not None:
                checks[part.id, standing, mutant] = form.check
            elif form_cases:
                raise ValueError(
                    f"a version with cases must have a check, got none for {part.id} ({standing.name.lower()})"
                )
            cases += [_case((part.id, standing, mutant), at) for at in form_cases]
    _check_readings(parts)
    return Statement(
        id=id_,
        paper=paper.name,
        kind=about.kind,
        title=about.title,
        locator=about.locator,
        domain=domain,
        parts=tuple(parts),
        cases=tuple(cases),
        check=partial(_check, checks),
        summary=summary,
        figures=figures,
        definition=definition,
        share=paper.share,
        needs=needs,
    )


def _part(paper: Paper, id_: str, key: str, display: Display, derivation: str) -> Part:
    part = id_ + key
    own, _, reading = part.partition("@")
    entry = paper.entries.get(own)
    if not display.title and (entry is None or reading):
        raise Defect(f"{paper.name}/paper.toml must have a table for {part}, or its display a title")
    corrected, provenance = display.corrected, paper.provenance(part)
    child = entry if entry is not None and entry.parent else None
    if provenance and provenance.worth is Worth.DAMAGED and not reading:
        raise Defect(f"{part} must be decided in readings ({part}@a), since our copy is damaged there")
    return Part(
        part,
        display.title or (entry.title if entry else ""),
        Formula(display.printed.typst),
        Formula(corrected.typst) if corrected else None,
        display.wrong,
        display.derivation or (derivation if corrected else ""),
        reading,
        display.proof or (child is not None and child.kind == PROOF),
        provenance,
        child is not None and child.expected.consequence == Consequence.MISPRINT.name,
    )


def _check_readings(parts: Sequence[Part]) -> None:
    """Hold the readings of one display together: a damaged text has several, and all or none are lines of a proof."""
    of_display: dict[str, list[Part]] = {}
    for part in parts:
        of_display.setdefault(part.display, []).append(part)
    for display, readings in of_display.items():
        if len(readings) == 1 and readings[0].damaged:
            raise Defect(f"{display} must have two readings at least, since our copy is damaged there, got one")
        if len({part.proof for part in readings}) > 1:
            raise Defect(f"{display} must be a line of a proof in all of its readings, or in none")


def _versions(display: Display) -> Iterator[tuple[Standing, str, Form]]:
    """Yield the versions of a display: standing, name of the mutant, form."""
    yield Standing.PRINTED, "", display.printed
    if display.corrected:
        yield Standing.CORRECTED, "", display.corrected
    for name, wrong in display.mutants.items():
        yield Standing.MUTANT, name, Form("", wrong.check, tuple(wrong.cases()))


def _case(version: Version, at: At) -> Case:
    """Return a case; its name says its part, version and numbers."""
    part, standing, mutant = version
    words = f"mutant: {mutant}" if mutant else standing.name.lower()
    if at.role is Role.ADVERSARIAL and not mutant:
        words += " search"
    params = ((key, f"{value:g}" if isinstance(value, float) else value) for key, value in at.params.items())
    numbers = " ".join(f"{key}={value}" for key, value in params)
    name = f"{part} | {words} | {numbers}" if numbers else f"{part} | {words}"
    return Case(part, name, standing, dict(at.params), at.role, at.regime, at.draws, at.quick, mutant, at.severity)


def _check(checks: Mapping[Version, Decide], case: Case, budget: Budget) -> Evidence:
    check = checks[case.part, case.standing, case.mutant]
    return check(case, budget) if "budget" in inspect.signature(check).parameters else check(case)


def definition(id_: str, paper: Paper | None = None) -> Statement:
    """Return the statement of one display, no cases and the verdict DEFINITION that is told in the ``paper.toml``."""
    about = (paper or paper_of(id_)).entries[id_]
    return statement(
        id_,
        domain=about.domain,
        printed=Form(about.formula),
        summary=about.summary,
        definition=about.implemented,
        paper=paper,
    )
