"""RW21, Algorithm 1: objective perturbation."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-A1",
    'hat(theta)^P = limits("argmin")_theta J(theta; D) + b^T theta, quad b ~ cal(N)(0, sigma^2 I_d)',
    "mechanisms.objective.objective_perturbation.ObjectivePerturbation",
    domain="Convex, twice differentiable loss and regulariser, Theta = R^d, sigma > 0, lambda > 0",
    summary=(
        "Every draw carries a certificate: the largest coordinate of grad J + b at the returned point, below a stated "
        "residual. Its law is decided under RW21-T6 and RW21-C7, its privacy under RW21-T5."
    ),
)
