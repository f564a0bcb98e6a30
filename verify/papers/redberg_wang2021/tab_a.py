"""RW21, supplement A: the table of variants of differential privacy, one method a row."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "RW21-TabA",
    "D_infinity^delta (P || Q) = sup_(S: P(S) >= delta) log (P(S) - delta)/Q(S), quad"
    " D_alpha (P || Q) = 1/(alpha - 1) log EE_(omega ~ Q) (p(omega)/q(omega))^alpha",
    "mechanisms.laws.divergences.FiniteMechanism",
    domain="Pairs D, D' that differ in one record z; suprema over what a row does not name",
    summary=(
        "Seven rows, seven methods: pure, approximate, renyi, data_dependent, personalised, per_instance, ex_post. That "
        "D_inf^delta <= epsilon says the same as Definitions 1 and 2 is enumerated over all events of random laws in "
        "tests/mechanisms/laws/test_divergences.py."
    ),
)
