"""RW21, Definition 2: per-instance differential privacy, of one data set and one record, in both directions."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-D2",
    paper="redberg_wang2021",
    kind="definition",
    title="Per-instance differential privacy",
    locator="Definition 2, section 2.2",
    domain="One data set D and one record z, all measurable sets S, both directions",
    formula=Formula(
        "Pr[cal(A)(D) in S] <= e^epsilon Pr[cal(A)(D_(plus.minus z)) in S] + delta, quad"
        " Pr[cal(A)(D_(plus.minus z)) in S] <= e^epsilon Pr[cal(A)(D) in S] + delta",
        "P(A(D) in S) <= e^epsilon P(A(D_{+-z}) in S) + delta, and with D and D_{+-z} exchanged",
    ),
    definition="mechanisms.base.PrivacyProfile",
    summary=(
        "The profile of a pair gives the smallest delta at an epsilon in either direction; on finite worlds "
        "mechanisms.divergences.FiniteMechanism.is_pdp decides by enumeration."
    ),
)
