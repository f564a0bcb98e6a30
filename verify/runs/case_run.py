"""One case, decided, or the figures of a statement: pure functions of the statement and the settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from audits import Budget, StreamKey
from mechanisms import Dataset
from reports.codec import to_plain

from ..engine.looks import decided_row, died_row, error_row
from ..engine.rows import Row, case_row
from ..engine.worker import PROFILES, RunSettings, one_blas_thread
from ..kernel.shares import case_budgets, statement_budget, whole
from ..kernel.statement import Case, Statement
from ..messages.errors import Defect
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
