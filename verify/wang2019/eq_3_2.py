"""W19, Equation 3.2: output perturbation."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-E3.2",
    paper="wang2019",
    kind="equation",
    title="Output perturbation",
    locator="Equation 3.2",
    formula=Formula(
        "tilde(theta) tilde.op cal(N)(hat(theta)(X), A^(-1)\\/gamma)", "theta_tilde ~ N(theta_hat(X), A^-1/gamma)"
    ),
    definition="mechanisms.gaussian_output.GaussianOutput",
    domain="A positive definite and gamma > 0, neither depending on the data; theta_hat a deterministic map of the whole data set",
    summary="A mechanism; its privacy is the subject of W19-L2.4 and W19-E3.3.",
)
