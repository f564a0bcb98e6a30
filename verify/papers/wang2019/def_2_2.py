"""W19, Definition 2.2: per-instance differential privacy."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.2",
    "Pr_(cal(A)(Z)) (cal(S)) <= e^epsilon Pr_(cal(A)([Z, z])) (cal(S)) + delta, quad Pr_(cal(A)([Z, z])) (cal(S)) <= e^epsilon Pr_(cal(A)(Z)) (cal(S)) + delta",
    "mechanisms.base.PrivacyProfile",
    domain="One fixed data set Z and one fixed target z; epsilon and delta are functions of the pair",
    summary="`PrivacyProfile.delta_at` is the smallest delta at an epsilon in one direction; a pair is (epsilon, delta)-pDP when both directions stay below delta. Every formal claim of this suite is decided on it.",
)
