"""RW21, Definition 1: differential privacy under adding or removing one record."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-D1",
    "Pr[cal(A)(D) in S] <= e^epsilon Pr[cal(A)(D_(plus.minus z)) in S] + delta",
    "mechanisms.laws.divergences.FiniteMechanism.is_dp",
    domain="All data sets D, records z and measurable sets S; D_{+-z} adds or removes z",
    summary=(
        "On finite worlds decided by enumeration; for continuous outputs mechanisms.base.PrivacyProfile.delta_at is the "
        "smallest delta at an epsilon, for one pair of data sets and one direction."
    ),
)
