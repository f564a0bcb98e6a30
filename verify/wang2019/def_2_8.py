"""W19, Definition 2.8: on-average generalisation."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-D2.8",
    paper="wang2019",
    kind="definition",
    title="On-average generalisation",
    locator="Definition 2.8",
    formula=Formula(
        '"Gen"(cal(A), cal(D), n) = abs(EE_(Z tilde.op cal(D)^n, z tilde.op cal(D)) EE_(theta tilde.op cal(A)(Z)) [1/n sum_(i=1)^n ell(theta, z_i) - ell(theta, z)])',
        "Gen = |E over Z ~ D^n, z ~ D and theta ~ A(Z) of (1/n) sum of loss(theta, z_i) - loss(theta, z)|",
    ),
    definition="mechanisms.finite_laws.generalisation_gap",
    domain="Independent, identically distributed records, any loss for which the expectations exist",
    summary="Exact on finite domains; `worst_gap` is its largest value over all losses in [0, 1].",
)
