"""RW21, supplement A: the table of variants of differential privacy, one method a row."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "RW21-TabA",
    paper="redberg_wang2021",
    kind="table",
    title="Variants of differential privacy",
    locator="Supplement A, table of variants",
    domain="Pairs D, D' that differ in one record z; suprema over what a row does not name",
    formula=Formula(
        "D_infinity^delta (P || Q) = sup_(S: P(S) >= delta) log (P(S) - delta)/Q(S), quad"
        " D_alpha (P || Q) = 1/(alpha - 1) log EE_(omega ~ Q) (p(omega)/q(omega))^alpha",
        "D_inf^delta(P||Q) = sup over S with P(S) >= delta of log((P(S) - delta)/Q(S)); "
        "D_alpha(P||Q) = log(E_Q (p/q)^alpha)/(alpha - 1)",
    ),
    definition="mechanisms.divergences.FiniteMechanism",
    summary=(
        "Seven rows, seven methods: pure, approximate, renyi, data_dependent, personalised, per_instance, ex_post. That "
        "D_inf^delta <= epsilon says the same as Definitions 1 and 2 is enumerated over all events of random laws in "
        "tests/mechanisms/test_divergences.py."
    ),
)
