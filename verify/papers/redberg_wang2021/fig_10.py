"""RW21, Figure 10: ratio of bound to loss, wine quality (data of the user)."""

from __future__ import annotations

from audits import Budget

from ...kernel.declare import statement
from ...kernel.statement import Case, Evidence
from .shared.credit_and_uci import SOME, budget, by_lambda, closer, seen_again

SETS = ("rw21/wine-red", "rw21/wine-white")


def _closer(case: Case, budget: Budget) -> Evidence:
    return seen_again(
        case, budget, "probability that the data-dependent median ratio of bound to loss is smaller", closer
    )


STATEMENT = statement(
    "RW21-F10",
    domain=(
        "Linear regression on an unbounded domain, UCI wine quality (which wine is not stated: both); epsilon = 1 for each release, delta = rho = 1e-6; preparation "
        "and the data-independent lambda not stated"
    ),
    summary=(
        "Decided on the file of the user, as what is seen in more than half of all runs, under three preparations and both "
        "forms of the report, which must agree. The bound on the slope of the squared loss is not stated: 2, as for |theta| <= 1 "
        "and |y| <= 1. On the published files it holds in every reading (docs/derivations/redberg_wang2021_on_data.md)."
    ),
    displays=by_lambda(
        "@",
        "the data-dependent ratio of bound to loss is closer to 1",
        'Pr["median" overline(epsilon_1^P) / epsilon_1 "smaller for DATA-DEP"] > 1/2',
        _closer,
        {"sets": " ".join(SETS), "loss": "squared"} | budget(1.0, 1.0, 1.0, independent=1.0),
        SOME,
    ),
    needs=SETS,
)
