"""RW21, Figure 6: allocations of the budget, credit default (data of the user)."""

from collections.abc import Mapping

from audits import Budget
from mechanisms import Dataset

from ..kit import Case, Evidence, Value, statement
from .shared.credit_and_uci import FEW, FORMS, RunCount, Shares, advantage, both_reports, budget, by_lambda, tally

#: The four allocations of the figure, by increasing share of the parameter.
ALLOCATIONS = (Shares(0.2, 0.7, 0.1), Shares(0.4, 0.5, 0.1), Shares(0.5, 0.25, 0.25), Shares(0.8, 0.1, 0.1))
#: "Little better": the data-dependent median ratio is smaller by less than this factor.
LITTLE = 2.0


def _vanishes(case: Case, budget: Budget) -> Evidence:
    """Estimate how often the advantage at the last allocation is smaller than at the first, and little."""

    def seen(dataset: Dataset, own: Budget) -> tuple[Mapping[str, RunCount], Mapping[str, Value]]:
        rng = own.key.rng()
        first, last = (
            [
                {form: advantage(*pair, form) for form in FORMS}
                for pair in both_reports(case, dataset, at, own.n_draws, rng)
            ]
            for at in (ALLOCATIONS[0], ALLOCATIONS[-1])
        )
        counts = {
            form: RunCount.of(end[form] < min(start[form], LITTLE) for start, end in zip(first, last, strict=True))
            for form in FORMS
        }
        between = [next(both_reports(case, dataset, at, 1, rng)) for at in ALLOCATIONS[1:-1]]
        told = [first[0]["printed"], *(advantage(*pair, "printed") for pair in between), last[0]["printed"]]
        named = zip(ALLOCATIONS, told, strict=True)
        return counts, {f"advantage at epsilon_1 = {at.theta:g}, one run": value for at, value in named}

    return tally(case, budget, "probability that the advantage falls, to less than a factor 2", seen)


STATEMENT = statement(
    "RW21-F6",
    domain="Logistic regression; data-dependent budgets (0.2, 0.7, 0.1), (0.4, 0.5, 0.1), "
    "(0.5, 0.25, 0.25), (0.8, 0.1, 0.1) against 1; preparation and the data-independent lambda not stated",
    summary="Decided on the file of the user. The advantage is the data-independent median ratio of bound to loss over the "
    "data-dependent one; that it vanishes is taken as: smaller at the last allocation than at the first, and below 2. On the "
    "published file it mostly does with one lambda for both reports; with each at its own the preparation decides "
    "(docs/derivations/redberg_wang2021_on_data.md).",
    displays=by_lambda(
        "@",
        "the advantage of the data-dependent report vanishes as its first budget grows",
        'Pr["advantage"(0.8) < min{"advantage"(0.2), 2}] > 1/2',
        _vanishes,
        {"sets": "rw21/credit", "loss": "logistic"} | budget(0.8, 0.1, 0.1, independent=1.0),
        FEW,
    ),
    needs=("rw21/credit",),
)
