"""W18, Definition 1: differential privacy, one row added or removed."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W18-D1",
    paper="wang2018",
    kind="definition",
    title="Differential privacy",
    locator="Definition 1, section 2",
    formula=Formula(
        "PP(cal(A)((X, y)) in cal(S)) <= e^epsilon PP(cal(A)((X', y')) in cal(S)) + delta",
        "P(A(X, y) in S) <= exp(epsilon) P(A(X', y') in S) + delta for every measurable S",
    ),
    definition="mechanisms.base.PrivacyProfile",
    domain="All data sets, (X', y') with one row added or removed (so n and n + 1 rows: n is not public), every measurable S",
    summary=(
        "The smallest delta at a given epsilon is the hockey-stick divergence, the worse of both directions "
        "(`delta_at`); what a mechanism states is a `mechanisms.guarantees.Guarantee`."
    ),
)
