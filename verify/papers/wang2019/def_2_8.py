"""W19, Definition 2.8: on-average generalisation."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.8",
    '"Gen"(cal(A), cal(D), n) = abs(EE_(Z tilde.op cal(D)^n, z tilde.op cal(D)) EE_(theta tilde.op cal(A)(Z)) [1/n sum_(i=1)^n ell(theta, z_i) - ell(theta, z)])',
    "mechanisms.laws.finite_laws.generalisation_gap",
    domain="Independent, identically distributed records, any loss for which the expectations exist",
    summary="Exact on finite domains; `worst_gap` is its largest value over all losses in [0, 1].",
)
