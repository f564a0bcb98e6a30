"""W19, Definition 2.1: differential privacy."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.1",
    'Pr_(theta tilde.op cal(A)(Z)) (theta in cal(S)) <= e^epsilon Pr_(theta tilde.op cal(A)(Z\')) (theta in cal(S)) + delta quad forall "measurable" cal(S)',
    "mechanisms.laws.finite_laws.SymbolMechanism.worst_delta",
    domain="All data sets Z, Z' of the domain that differ by one added or removed record; pure if delta = 0",
    summary="For a finite mechanism the smallest delta is a rational maximum over all neighbours; for one pair of densities it is the hockey-stick divergence of `mechanisms.PrivacyProfile`, the worse direction.",
)
