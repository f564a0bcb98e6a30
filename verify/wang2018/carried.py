"""A statement that one paper quotes from another: the same parts, cases and check under the quoting paper's id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from audits import Budget

from ..statement import Case, Evidence, Statement


def carry(source: Statement, id_: str, *, kind: str, title: str, locator: str, domain: str, summary: str) -> Statement:
    """Return ``source`` as the statement ``id_`` of W18; its draws are its own, its formulas are the source's."""
    return Statement(
        id=id_,
        paper="wang2018",
        kind=kind,
        title=title,
        locator=locator,
        domain=domain,
        parts=tuple(replace(part, id=_moved(part.id, source.id, id_)) for part in source.parts),
        cases=tuple(
            replace(c, part=_moved(c.part, source.id, id_), name=_moved(c.name, source.id, id_)) for c in source.cases
        ),
        check=partial(_check, source.check, id_, source.id),
        summary=summary,
    )


def _moved(text: str, old: str, new: str) -> str:
    return new + text.removeprefix(old)


def _check(check: Callable[[Case, Budget], Evidence], id_: str, source: str, case: Case, budget: Budget) -> Evidence:
    return check(replace(case, part=_moved(case.part, id_, source), name=_moved(case.name, id_, source)), budget)
