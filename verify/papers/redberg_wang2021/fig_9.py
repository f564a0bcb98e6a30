"""RW21, Figure 9: ratio of bound to loss, kidney (data of the user)."""

from __future__ import annotations

from audits import Budget

from ...kernel.declare import statement
from ...kernel.statement import Case, Evidence
from .shared.credit_and_uci import MANY, budget, by_lambda, closer, seen_again

SETS = ("rw21/kidney",)


def _closer(case: Case, budget: Budget) -> Evidence:
    return seen_again(
        case, budget, "probability that the data-dependent median ratio of bound to loss is smaller", closer
    )


STATEMENT = statement(
    "RW21-F9",
    domain=(
        "Logistic regression, UCI kidney; epsilon = 1 for each release, delta = rho = 1e-6; preparation "
        "and the data-independent lambda not stated"
    ),
    summary=(
        "Decided on the file of the user, as what is seen in more than half of all runs, under three preparations and both "
        "forms of the report, which must agree. On the published file it holds where both reports run with one lambda. With "
        "each at its own the preparation decides: at the lambda of Theorem 5 the noise saturates the loss, and the "
        "data-independent bound comes close to it (docs/derivations/redberg_wang2021_on_data.md)."
    ),
    displays=by_lambda(
        "@",
        "the data-dependent ratio of bound to loss is closer to 1",
        'Pr["median" overline(epsilon_1^P) / epsilon_1 "smaller for DATA-DEP"] > 1/2',
        _closer,
        {"sets": " ".join(SETS), "loss": "logistic"} | budget(1.0, 1.0, 1.0, independent=1.0),
        MANY,
    ),
    needs=SETS,
)
