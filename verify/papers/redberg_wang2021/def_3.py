"""RW21, Definition 3: the ex-post per-instance loss at an outcome."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-D3",
    "abs(log (Pr[cal(A)(D) = o])/(Pr[cal(A)(D_(plus.minus z)) = o])) <= epsilon(o, D, D_(plus.minus z))",
    "mechanisms.base.WhiteBox.privacy_loss",
    domain="One data set D, one record z, one outcome o; densities for continuous outputs",
    summary=(
        "privacy_loss is the signed logarithm, its absolute value the smallest epsilon; on finite worlds it is "
        "mechanisms.laws.divergences.FiniteMechanism.ex_post."
    ),
)
