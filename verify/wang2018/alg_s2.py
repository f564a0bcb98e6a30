"""W18, section 3.2, item 2: objective perturbation."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W18-S2",
    paper="wang2018",
    kind="algorithm",
    title="ObjPert: objective perturbation",
    locator="Section 3.2, item 2",
    formula=Formula(
        'hat(theta) = op("argmin")_theta F(theta) + 0.5 lambda norm(theta)^2 + Z^T theta',
        "theta_hat = argmin over theta of F(theta) + 0.5 lambda ||theta||^2 + Z' theta, Z i.i.d. normal",
    ),
    definition="mechanisms.objective_perturbation.ObjectivePerturbation",
    domain="Any data; lambda and the variance of Z are left to the cited paper (no constants are printed)",
    summary="Exact density and per-instance loss are those of W19-P4.2 and RW21-T6 with the squared loss; ridge lambda as printed.",
)
