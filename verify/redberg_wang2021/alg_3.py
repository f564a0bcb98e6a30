"""RW21, Algorithm 3: releasing the smallest eigenvalue of the Hessian."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-A3",
    paper="redberg_wang2021",
    kind="algorithm",
    title="Release of the smallest eigenvalue",
    locator="Supplement C.1, Algorithm 3",
    domain="H symmetric, sigma_4 > 0; the parameter at which H is taken is already released",
    formula=Formula(
        'hat(lambda)^P_"min" = lambda_"min" + cal(N)(0, sigma_4^2)', "lambda_hat = lambda_min(H) + N(0, sigma_4^2)"
    ),
    definition="mechanisms.eigenvalue_release.EigenvalueRelease",
    summary="Its privacy is decided under RW21-T11.",
)
