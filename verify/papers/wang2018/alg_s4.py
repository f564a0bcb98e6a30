"""W18, section 3.2, item 4: one posterior sample."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-S4",
    "hat(theta) tilde.op P(theta) prop e^(-gamma (F(theta) + 0.5 lambda norm(theta)^2))",
    "mechanisms.linear.posterior_sampling.PosteriorSampling",
    domain="Any data with X^T X + lambda I positive definite; gamma, lambda public (their constants are W18-F0 to F4)",
    summary=(
        "With F half the squared residuals this is the density of Algorithm 1's last line and of Theorem 10: normal, centred at "
        "the ridge solution, covariance (X^T X + lambda I)^-1/gamma. The half in front of lambda is missing in section 2 (W18-D2)."
    ),
)
