"""RW21, Definition 2: per-instance differential privacy, of one data set and one record, in both directions."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-D2",
    "Pr[cal(A)(D) in S] <= e^epsilon Pr[cal(A)(D_(plus.minus z)) in S] + delta, quad"
    " Pr[cal(A)(D_(plus.minus z)) in S] <= e^epsilon Pr[cal(A)(D) in S] + delta",
    "mechanisms.base.PrivacyProfile",
    domain="One data set D and one record z, all measurable sets S, both directions",
    summary=(
        "The profile of a pair gives the smallest delta at an epsilon in either direction; on finite worlds "
        "mechanisms.laws.divergences.FiniteMechanism.is_pdp decides by enumeration."
    ),
)
