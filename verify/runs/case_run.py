"""One case, decided, or the figures of a statement; and a recorded case again: the same row to the byte, or to 1e-9."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from audits import Budget, StreamKey
from mechanisms import Dataset
from reports.codec import to_plain

from ..engine.record import Record
from ..engine.worker import PROFILES, RunSettings, one_blas_thread
from ..kernel.rows import Row, case_row, decided_row, died_row, dumps, error_row
from ..kernel.ruling import worst
from ..kernel.shares import case_budgets, statement_budget, whole
from ..kernel.statement import Case, Statement
from ..messages.errors import Defect, UserError
from ..papers.registry import load_statement


@dataclass(frozen=True)
class CaseWork:
    """A case by its name, or the figures of a statement when ``case`` is None; small enough to travel.

    ``given`` are the published data sets that decide it, by name: they travel too, where their files do not.
    """

    module: str
    case: str | None
    settings: RunSettings
    given: Mapping[str, Dataset] = field(default_factory=dict, compare=False, repr=False)

    def named(self) -> str:
        """Return what a reader calls it."""
        return f"{self.module.rpartition('.')[2]}, {self.case or 'figures'}"


def perform(work: CaseWork) -> list[Row]:
    """Return the rows of one piece of a run: a case has one, a statement may have several figures."""
    statement = load_statement(work.module)
    with one_blas_thread():
        if work.case is None:
            return figure_rows(statement, work.settings)
        case = replace(_case(statement, work.case), given=work.given)
        return [decide_case(statement, case, work.settings.profile, _budget(statement, case, work.settings))]


def died(work: CaseWork) -> list[Row]:
    """Return the row of what killed its worker process every time."""
    statement = load_statement(work.module)
    if work.case is None:
        row: Row = {"kind": "figure", "id": statement.id, "number": 0, "figure": None}
        return [row | {"error": died_row(f"the figures of {statement.id}")["error"]}]
    case = _case(statement, work.case)
    known = _known(statement, case, work.settings.profile, _budget(statement, case, work.settings))
    return [known | died_row(case.name)]


def decide_case(statement: Statement, case: Case, profile: str, budget: Budget) -> Row:
    """Return the row of one case: first look, and on a sampled failure a confirmation on fresh draws.

    An exception of the check becomes an outcome (its type and message only), so that a run goes on.
    """
    row = _known(statement, case, profile, budget)
    return row | decided_row(partial(statement.check, case), budget, n_draws=row["n_draws"])


def figure_rows(statement: Statement, settings: RunSettings) -> list[Row]:
    """Return the data of a statement's figures (at most one under ``quick``); an exception becomes a row."""
    try:
        figures = tuple(statement.figures(settings.seed)) if statement.figures else ()
    except Exception as stop:
        return [{"kind": "figure", "id": statement.id, "number": 0, "figure": None, "error": error_row(stop)}]
    if settings.profile == "quick":
        figures = figures[:1]
    return [
        {"kind": "figure", "id": statement.id, "number": number, "figure": to_plain(figure), "error": None}
        for number, figure in enumerate(figures, start=1)
    ]


def _budget(statement: Statement, case: Case, settings: RunSettings) -> Budget:
    own = statement_budget(whole(settings.failure_prob, StreamKey(settings.seed)), statement)
    return case_budgets(own, statement)[case.name]


def _known(statement: Statement, case: Case, profile: str, budget: Budget) -> Row:
    """Return what of a case's row is known before anything is drawn."""
    sampled = any(case.draws)
    n_draws = case.draws[PROFILES.index(profile)] if sampled else 0
    return case_row(statement.id, case, n_draws, budget.failure_prob if sampled else 0.0)


def _case(statement: Statement, name: str) -> Case:
    for case in statement.cases:
        if case.name == name:
            return case
    raise Defect(f"{statement.id} must keep its cases during a run, {name!r} has gone")  # its source was edited


#: Relative tolerance of numbers on another platform (other versions, BLAS or processor).
ELSEWHERE = 1e-9


def decisive(record: Record, id_: str, case: str | None = None) -> Row:
    """Return the row that decided an id, a display or a reading: its counterexample, else its smallest margin.

    The printed form counts before the corrected one. Raises ``UserError`` if the record has no such id or case.
    """
    rows = record.cases_of(id_)
    if not rows:
        record.verdict(id_)  # an id without a case, or none at all
    if case is not None:
        for row in rows:
            if row["case"].split() == case.split():  # a command copied from a page may be broken in two lines
                return row
        raise UserError(f"case must be one of {id_} in the record, got case={case}")
    for standing in ("PRINTED", "CORRECTED", "MUTANT"):
        closest = worst([row for row in rows if row["standing"] == standing])
        if closest:
            return closest
    if not rows:
        raise UserError(f"id must have a case in the record, got id={id_} (a definition, or interrupted before it)")
    return rows[0]


def differences(recorded: Any, again: Any, *, tolerance: float, place: str = "") -> Iterator[str]:
    """Yield every place where two rows differ: a number by more than ``tolerance`` (relative), anything else at all."""
    if isinstance(recorded, dict) and isinstance(again, dict):
        for name in [*recorded, *(name for name in again if name not in recorded)]:
            yield from differences(
                recorded.get(name), again.get(name), tolerance=tolerance, place=f"{place}.{name}".lstrip(".")
            )
    elif isinstance(recorded, list) and isinstance(again, list) and len(recorded) == len(again):
        for i, (old, new) in enumerate(zip(recorded, again, strict=True)):
            yield from differences(old, new, tolerance=tolerance, place=f"{place}[{i}]")
    elif not _same(recorded, again, tolerance):
        yield f"{place}: recorded {recorded!r}, now {again!r}"


def _same(recorded: Any, again: Any, tolerance: float) -> bool:
    if type(recorded) is type(again) and recorded == again:
        return True
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (recorded, again))
    return numeric and tolerance > 0 and math.isclose(recorded, again, rel_tol=tolerance, abs_tol=tolerance * 1e-3)


def compare_rows(recorded: Row, again: Row, *, same_platform: bool) -> list[str]:
    """Return how a replayed row differs from the recorded one (nothing: it was reproduced)."""
    if same_platform:
        if dumps(recorded) == dumps(again):
            return []
        return list(differences(recorded, again, tolerance=0.0)) or ["the order of the fields"]
    return list(differences(recorded, again, tolerance=ELSEWHERE))
