"""W18, section 3.2, item 2: objective perturbation."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-S2",
    'hat(theta) = op("argmin")_theta F(theta) + 0.5 lambda norm(theta)^2 + Z^T theta, quad Z "i.i.d. normal"',
    "mechanisms.objective.objective_perturbation.ObjectivePerturbation",
    domain="Any data; lambda and the variance of Z are left to the cited paper (no constants are printed)",
    summary="Exact density and per-instance loss are those of W19-P4.2 and RW21-T6 with the squared loss; ridge lambda as printed.",
)
