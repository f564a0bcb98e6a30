"""RW21, Algorithm 6: releasing the Hessian with noise from the Gaussian orthogonal ensemble."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-A6",
    "hat(H)^P = H + 1/sqrt(2) (Z + Z^T), quad Z_(i,j) ~ cal(N)(0, sigma_3^2)",
    "mechanisms.releases.hessian_release.HessianRelease",
    domain="H symmetric d x d, sigma_3 > 0",
    summary="Its privacy is decided under RW21-T17, the size of its noise under RW21-L19, L20 and N1.",
)
