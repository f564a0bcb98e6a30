"""A true statement whose many cases take a while: something to interrupt."""

from __future__ import annotations

import time

from audits import Budget, Estimate
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement

ID = "W18-L5"


def check(case: Case, budget: Budget) -> Evidence:
    time.sleep(0.05)
    return Evidence(Claim("nothing", 0.0, 1.0, 1.0), exact=Estimate.proved(0.5, 0.5, "by definition"))


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="Slow but true",
    locator="Toy 4",
    domain="everywhere",
    parts=(Part(ID, "slow", Formula("0 <= 1")),),
    cases=tuple(Case(ID, f"case {i}", Standing.PRINTED, {"i": i}) for i in range(600)),
    check=check,
)
