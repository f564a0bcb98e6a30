"""W19, Equation 3.2: output perturbation."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-E3.2",
    "tilde(theta) tilde.op cal(N)(hat(theta)(X), A^(-1)\\/gamma)",
    "mechanisms.linear.gaussian_output.GaussianOutput",
    domain="A positive definite and gamma > 0, neither depending on the data; theta_hat a deterministic map of the whole data set",
    summary="A mechanism; its privacy is the subject of W19-L2.4 and W19-E3.3.",
)
