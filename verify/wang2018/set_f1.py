"""W18, appendix F: OPS-Diffuse; privacy in two readings (:mod:`.ops_rules`)."""

from __future__ import annotations

from audits import Budget

from ..statement import Case, Evidence, Formula, Statement
from . import ops_rules

ID = "W18-F1"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the promise of the rule."""
    return ops_rules.check(case, "diffuse")


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="calibration",
    title="OPS-Diffuse: fixed ridge, calibrated temperature",
    locator="Appendix F, item 1",
    domain=ops_rules.DOMAIN,
    summary=ops_rules.SUMMARY,
    parts=ops_rules.parts(
        ID,
        "OPS-Diffuse",
        Formula(
            'lambda = ((1 + log(2\\/delta)) norm(cal(X))^2)/epsilon, quad gamma "calibrated"',
            "lambda = (1 + log(2/delta)) B^2/epsilon, gamma calibrated by the rule F0",
        ),
        Formula(
            'lambda "such that the part without" gamma "is" epsilon\\/2, quad gamma "the largest with" quad '
            + ops_rules.CORRECTED,
            "lambda such that the part without gamma is epsilon/2, gamma the largest with " + ops_rules.CORRECTED_TEXT,
        ),
    ),
    cases=ops_rules.cases(ID),
    check=check,
)
