"""A statement whose check stops with an exception."""

from __future__ import annotations

from audits import Budget
from verify.kernel.statement import Case, Evidence, Formula, Part, Standing, Statement

ID = "W18-L4"


def check(case: Case, budget: Budget) -> Evidence:
    raise ArithmeticError("one\nbroken check")


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="A broken check",
    locator="Toy 3",
    domain="nowhere",
    parts=(Part(ID, "broken", Formula("0 = 1")),),
    cases=(Case(ID, "broken", Standing.PRINTED, {}),),
    check=check,
)
