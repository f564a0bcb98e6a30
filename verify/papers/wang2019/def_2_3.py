"""W19, Definition 2.3: per-instance sensitivity."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.3",
    'Delta(Z, z) = norm(f(Z) - f([Z, z]))_*, quad norm(v)_* "an" ell_p "norm or" sqrt(v^T A v)',
    "mechanisms.linear.gaussian_output.GaussianOutput.sensitivity",
    domain="Any map of data sets to R^d, A positive definite; the maximum over z is the local, over Z and z the global sensitivity",
    summary="In the A-norm for any estimator by `GaussianOutput.sensitivity`, for regularised problems by `mechanisms.objective.sensitivity.SmoothProblem.sensitivity`, for all records of ridge regression at once by `squared_sensitivities`.",
)
