"""RW21, Definition 3: the ex-post per-instance loss at an outcome."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-D3",
    paper="redberg_wang2021",
    kind="definition",
    title="Ex-post per-instance privacy",
    locator="Definition 3, section 2.2",
    domain="One data set D, one record z, one outcome o; densities for continuous outputs",
    formula=Formula(
        "abs(log (Pr[cal(A)(D) = o])/(Pr[cal(A)(D_(plus.minus z)) = o])) <= epsilon(o, D, D_(plus.minus z))",
        "|log P(A(D) = o) - log P(A(D_{+-z}) = o)| <= epsilon(o, D, D_{+-z})",
    ),
    definition="mechanisms.base.WhiteBox.privacy_loss",
    summary=(
        "privacy_loss is the signed logarithm, its absolute value the smallest epsilon; on finite worlds it is "
        "mechanisms.divergences.FiniteMechanism.ex_post."
    ),
)
