"""W18, Definition 1: differential privacy, one row added or removed."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-D1",
    "PP(cal(A)((X, y)) in cal(S)) <= e^epsilon PP(cal(A)((X', y')) in cal(S)) + delta quad \"for every measurable\" cal(S)",
    "mechanisms.base.PrivacyProfile",
    domain="All data sets, (X', y') with one row added or removed (so n and n + 1 rows: n is not public), every measurable S",
    summary=(
        "The smallest delta at a given epsilon is the hockey-stick divergence, the worse of both directions "
        "(`delta_at`); what a mechanism states is a `mechanisms.guarantees.Guarantee`."
    ),
)
