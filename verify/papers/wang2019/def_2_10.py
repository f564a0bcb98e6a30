"""W19, Definition 2.10: cross-domain generalisation."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.10",
    "\"Gen\"(cal(A), cal(D), cal(D)', n) <= abs(EE_(Z tilde.op cal(D)^n, z tilde.op cal(D)') EE_(theta tilde.op cal(A)(Z)) [1/n sum_(i=1)^n rho_i ell(theta, z_i) - ell(theta, z)]), quad rho_i = (cal(D)'(z_i))/(cal(D)(z_i))",
    "mechanisms.laws.finite_laws.cross_domain_gap",
    domain="Losses in [0, 1]; the weights need D' absolutely continuous with respect to D, which the text does not say",
    summary="A definition: the <= sign printed between the defined and the defining side stands for an equals sign.",
)
