"""RW21, Algorithm 3: releasing the smallest eigenvalue of the Hessian."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-A3",
    'hat(lambda)^P_"min" = lambda_"min" + cal(N)(0, sigma_4^2)',
    "mechanisms.releases.eigenvalue_release.EigenvalueRelease",
    domain="H symmetric, sigma_4 > 0; the parameter at which H is taken is already released",
    summary="Its privacy is decided under RW21-T11.",
)
