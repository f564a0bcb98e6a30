"""RW21, Algorithm 6: releasing the Hessian with noise from the Gaussian orthogonal ensemble."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-A6",
    paper="redberg_wang2021",
    kind="algorithm",
    title="Release of a symmetric matrix",
    locator="Supplement D, Algorithm 6",
    domain="H symmetric d x d, sigma_3 > 0",
    formula=Formula(
        "hat(H)^P = H + 1/sqrt(2) (Z + Z^T), quad Z_(i,j) ~ cal(N)(0, sigma_3^2)",
        "H_hat = H + (Z + Z')/sqrt(2), Z_ij i.i.d. N(0, sigma_3^2)",
    ),
    definition="mechanisms.hessian_release.HessianRelease",
    summary="Its privacy is decided under RW21-T17, the size of its noise under RW21-L19, L20 and N1.",
)
