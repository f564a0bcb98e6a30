"""A statement one case of which ends the process that decides it."""

from __future__ import annotations

import os

from audits import Budget, Estimate
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement

ID = "W18-L4"


def check(case: Case, budget: Budget) -> Evidence:
    if case.name == "deadly":
        os._exit(5)
    return Evidence(Claim("a number", 0.0, 1.0, 1.0), Estimate.proved(0.5, 0.5, "by hand"))


def figures(seed: int) -> tuple[object, ...]:
    os._exit(6)


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="A check that ends its process",
    locator="Toy 5",
    domain="nowhere",
    parts=(Part(ID, "deadly", Formula("0 = 1")),),
    cases=tuple(Case(ID, name, Standing.PRINTED, {}) for name in ("first", "deadly", "last")),
    check=check,
    figures=figures,
)
