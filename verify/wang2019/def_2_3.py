"""W19, Definition 2.3: per-instance sensitivity."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-D2.3",
    paper="wang2019",
    kind="definition",
    title="Per-instance sensitivity",
    locator="Definition 2.3",
    formula=Formula(
        "Delta(Z, z) = norm(f(Z) - f([Z, z]))_*",
        "Delta(Z, z) = ||f(Z) - f([Z, z])|| in an l_p norm or in ||v||_A = sqrt(v'Av)",
    ),
    definition="mechanisms.gaussian_output.GaussianOutput.sensitivity",
    domain="Any map of data sets to R^d, A positive definite; the maximum over z is the local, over Z and z the global sensitivity",
    summary="In the A-norm for any estimator by `GaussianOutput.sensitivity`, for regularised problems by `mechanisms.sensitivity.SmoothProblem.sensitivity`, for all records of ridge regression at once by `squared_sensitivities`.",
)
