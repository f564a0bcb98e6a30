"""RW21, Figure 3: data-independent against data-dependent bounds, credit default (data of the user)."""

from dataclasses import replace

from audits import Budget

from ..kit import Case, Evidence, statement
from .shared.credit_and_uci import FEW, SUMS, budget, by_lambda, comparable, seen_again
from .shared.tighter_bounds import closer_displays

CREDIT = {"sets": "rw21/credit", "loss": "logistic"} | budget(0.2, 0.7, 0.1, independent=1.0)


def _comparable(case: Case, budget: Budget) -> Evidence:
    """Decide with a factor 2; where the sums are further apart, but not ten times, the word decides, which has no number."""
    evidence = seen_again(case, budget, "probability that the sums of the losses are within a factor 2", comparable)
    sums = [float(value or 0.0) for name, value in evidence.notes.items() if name.endswith(SUMS)]
    if evidence.sampled is None or evidence.sampled.high >= 0.5 or not all(0.1 < each < 10.0 for each in sums):
        return evidence
    told = f"reading: comparable has no number: the sums are {min(sums):.2g} to {max(sums):.2g} times the other's"
    return replace(evidence, sampled=None, reason=told)


STATEMENT = statement(
    "RW21-F3",
    domain="Logistic regression, n = 30000, d = 21, delta = rho = 1e-6, total epsilon 1: data-independent 1, data-dependent "
    "(0.2, 0.7, 0.1), r = 0; preparation and the data-independent lambda not stated",
    summary="Decided on the file of the user: both claims as what is seen in more than half of all runs, under three preparations "
    "and both forms of the report, which must agree; a factor 2 is comparable, one of ten is not, and between them the word decides. "
    "On the published file the ratio is closer to 1 in every reading; of the sums lambda and preparation decide (docs/derivations/redberg_wang2021_on_data.md).",
    displays=closer_displays("#ratio@", CREDIT, FEW)
    | by_lambda(
        "#sums@",
        "the summed losses of both reports are comparable",
        "Pr[1/2 <= (sum (overline(epsilon_1^P) + epsilon_2 + epsilon_3))/(sum overline(epsilon_1^P)) <= 2] > 1/2",
        _comparable,
        CREDIT,
        FEW,
    ),
    needs=("rw21/credit",),
)
