"""Statement files that hold a definition or an algorithm: implemented as a type or function, nothing to check."""

from __future__ import annotations

from typing import NoReturn

from audits import Budget

from .statement import Case, Formula, Part, Statement


def never(case: Case, budget: Budget) -> NoReturn:
    """Stand where a definition has no check; no case leads here."""
    raise ValueError(f"case must belong to a statement with a check, got case={case.name}")


def definition_statement(
    id_: str,
    *,
    paper: str,
    kind: str,
    title: str,
    locator: str,
    domain: str,
    formula: Formula,
    definition: str,
    summary: str = "",
) -> Statement:
    """Return a statement of one part and no cases, whose verdict is DEFINITION."""
    return Statement(
        id=id_,
        paper=paper,
        kind=kind,
        title=title,
        locator=locator,
        domain=domain,
        parts=(Part(id_, title, formula),),
        cases=(),
        check=never,
        summary=summary,
        definition=definition,
    )
