"""W19, Equation 3.1, assumptions A.1 and A.2: regularised empirical risk."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-E3.1",
    paper="wang2019",
    kind="equation",
    title="Regularised empirical risk",
    locator="Equation 3.1, assumptions A.1 and A.2",
    formula=Formula(
        'hat(theta) = op("argmin")_theta sum_i ell(theta, z_i) + r(theta)',
        "theta_hat = argmin over theta of sum_i loss(theta, z_i) + r(theta)",
    ),
    definition="mechanisms.sensitivity.SmoothProblem",
    domain="A.1: loss and r differentiable; A.2: absolutely continuous partial derivatives (twice differentiable almost everywhere)",
    summary="Linear predictors with the squared, logistic, Poisson or Huber loss and a ridge; Huber meets A.2 and is not twice differentiable everywhere.",
)
