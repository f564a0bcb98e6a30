"""W19, Equation 3.1, assumptions A.1 and A.2: regularised empirical risk."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-E3.1",
    'hat(theta) = op("argmin")_theta sum_i ell(theta, z_i) + r(theta)',
    "mechanisms.objective.sensitivity.SmoothProblem",
    domain="A.1: loss and r differentiable; A.2: absolutely continuous partial derivatives (twice differentiable almost everywhere)",
    summary="Linear predictors with the squared, logistic, Poisson or Huber loss and a ridge; Huber meets A.2 and is not twice differentiable everywhere.",
)
