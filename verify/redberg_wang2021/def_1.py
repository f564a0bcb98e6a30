"""RW21, Definition 1: differential privacy under adding or removing one record."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-D1",
    paper="redberg_wang2021",
    kind="definition",
    title="Differential privacy",
    locator="Definition 1, section 2.2",
    domain="All data sets D, records z and measurable sets S; D_{+-z} adds or removes z",
    formula=Formula(
        "Pr[cal(A)(D) in S] <= e^epsilon Pr[cal(A)(D_(plus.minus z)) in S] + delta",
        "P(A(D) in S) <= e^epsilon P(A(D_{+-z}) in S) + delta",
    ),
    definition="mechanisms.divergences.FiniteMechanism.is_dp",
    summary=(
        "On finite worlds decided by enumeration; for continuous outputs mechanisms.base.PrivacyProfile.delta_at is the "
        "smallest delta at an epsilon, for one pair of data sets and one direction."
    ),
)
