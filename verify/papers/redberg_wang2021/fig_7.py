"""RW21, Figure 7: losses and bounds, kidney (data of the user)."""

from __future__ import annotations

from functools import partial

from audits import Budget

from ...kernel.declare import statement
from ...kernel.statement import Case, Evidence
from .shared.credit_and_uci import MANY, budget, by_lambda, closer, closer_for_small, seen_again

SETS = ("rw21/kidney",)
DATA = {"sets": " ".join(SETS), "loss": "logistic"}
TIGHTER = 'Pr["median" overline(epsilon_1^P) / epsilon_1 "smaller for DATA-DEP"] > 1/2'


def _records(case: Case, budget: Budget) -> Evidence:
    quantity = "probability that the data-dependent bound is tighter, over the records with a loss of at most 0.1"
    return seen_again(case, budget, quantity, partial(closer_for_small, largest=0.1))


def _small_budget(case: Case, budget: Budget) -> Evidence:
    return seen_again(case, budget, "probability that the data-dependent bound is tighter, at a budget of 0.1", closer)


STATEMENT = statement(
    "RW21-F7",
    domain=(
        "Logistic regression, UCI kidney; epsilon = 1 for each release, delta = rho = 1e-6; preparation "
        "and the data-independent lambda not stated"
    ),
    summary=(
        "Decided on the file of the user, with small taken as a tenth of the budget: the records whose loss is at most 0.1 (1), "
        "or a budget of 0.1 for the parameter (2). Tighter: the median ratio of bound to loss is smaller. On the "
        "published file it is with one lambda for both reports; with each at its own the preparation decides (docs/derivations/redberg_wang2021_on_data.md)."
    ),
    displays=by_lambda(
        "@records",
        "tighter where the loss is small",
        TIGHTER,
        _records,
        DATA | budget(1.0, 1.0, 1.0, independent=1.0),
        MANY,
    )
    | by_lambda(
        "@budget",
        "tighter where the budget of the parameter is small",
        TIGHTER,
        _small_budget,
        DATA | budget(0.1, 1.0, 1.0, independent=0.1),
        MANY,
    ),
    needs=SETS,
)
