"""W19, Definition 2.1: differential privacy."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-D2.1",
    paper="wang2019",
    kind="definition",
    title="Differential privacy",
    locator="Definition 2.1",
    formula=Formula(
        'Pr_(theta tilde.op cal(A)(Z)) (theta in cal(S)) <= e^epsilon Pr_(theta tilde.op cal(A)(Z\')) (theta in cal(S)) + delta quad forall "measurable" cal(S)',
        "P(A(Z) in S) <= exp(epsilon) P(A(Z') in S) + delta for every measurable S",
    ),
    definition="mechanisms.finite_laws.FiniteMechanism.worst_delta",
    domain="All data sets Z, Z' of the domain that differ by one added or removed record; pure if delta = 0",
    summary="For a finite mechanism the smallest delta is a rational maximum over all neighbours; for one pair of densities it is the hockey-stick divergence of `mechanisms.PrivacyProfile`, the worse direction.",
)
