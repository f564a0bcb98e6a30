"""RW21, Algorithm 1: objective perturbation."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-A1",
    paper="redberg_wang2021",
    kind="algorithm",
    title="Objective perturbation",
    locator="Algorithm 1, section 2.4",
    domain="Convex, twice differentiable loss and regulariser, Theta = R^d, sigma > 0, lambda > 0",
    formula=Formula(
        'hat(theta)^P = limits("argmin")_theta J(theta; D) + b^T theta, quad b ~ cal(N)(0, sigma^2 I_d)',
        "theta_hat = argmin J(theta; D) + b' theta, b ~ N(0, sigma^2 I)",
    ),
    definition="mechanisms.objective_perturbation.ObjectivePerturbation",
    summary=(
        "Every draw carries a certificate: the largest coordinate of grad J + b at the returned point, below a stated "
        "residual. Its law is decided under RW21-T6 and RW21-C7, its privacy under RW21-T5."
    ),
)
