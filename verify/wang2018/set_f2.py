"""W18, appendix F: OPS-Concentrated; privacy in two readings (:mod:`.ops_rules`)."""

from __future__ import annotations

from audits import Budget

from ..statement import Case, Evidence, Formula, Statement
from . import ops_rules

ID = "W18-F2"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the promise of the rule."""
    return ops_rules.check(case, "concentrated")


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="calibration",
    title="OPS-Concentrated: temperature 1, calibrated ridge",
    locator="Appendix F, item 2",
    domain=ops_rules.DOMAIN,
    summary=ops_rules.SUMMARY,
    parts=ops_rules.parts(
        ID,
        "OPS-Concentrated",
        Formula(
            'gamma = 1, quad lambda "calibrated"',
            "gamma = 1, lambda calibrated by the rule F0",
        ),
        Formula(
            'gamma = 1, quad lambda "the smallest with" quad ' + ops_rules.CORRECTED,
            "gamma = 1, lambda the smallest with " + ops_rules.CORRECTED_TEXT,
        ),
    ),
    cases=ops_rules.cases(ID),
    check=check,
)
