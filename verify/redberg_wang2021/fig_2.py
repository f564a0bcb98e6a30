"""RW21, Figure 2: the 0-1 loss hardly changes when lambda is inflated."""

from __future__ import annotations

import math

import numpy as np

from audits import Budget, Estimate
from audits.intervals import clopper_pearson

from ..cases import case, mutant
from ..evidence import coverage_evidence
from ..paper_figures import rw21_fig_2 as drawn
from ..paper_figures.page import stream
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value

ID = "RW21-F2"
#: What "roughly constant" is taken to mean: within 0.05, for at least four draws of the noise in five.
BAND, LEVEL = 0.05, 0.8


def check(case: Case, budget: Budget) -> Evidence:
    """Estimate how often the 0-1 loss moves by at most ``BAND`` when lambda is inflated, with the same noise."""
    epsilon, other = case.number("epsilon"), case.number("other epsilon")
    inflation = drawn.star(epsilon) if case.params["c"] == "star" else case.number("c")
    dataset = drawn.data(stream(case.whole("data"), ID))
    noise = budget.key.child("noise").rng().standard_normal((budget.n_draws, drawn.DIM))
    moved = drawn.zero_one(dataset, other, inflation, noise) - drawn.zero_one(dataset, epsilon, 1.0, noise)
    count = int((np.abs(moved) <= BAND).sum())
    interval = clopper_pearson(count, budget.n_draws, budget.failure_prob)
    share = count / budget.n_draws
    sampled = Estimate(share, interval.low, interval.high, budget.failure_prob, budget.n_draws, "Clopper-Pearson")
    quantity = f"probability that the 0-1 loss moves by at most {BAND:g} from its value at c = 1"
    notes: dict[str, Value] = {
        "mean change": float(moved.mean()),
        "c": inflation,
        "largest": float(np.abs(moved).max()),
    }
    return coverage_evidence(quantity, LEVEL, sampled=sampled, notes=notes)


def _cases() -> tuple[Case, ...]:
    draws = (120, 120, 1000)

    def params(epsilon: float, c: float | str, data: int, other: float = math.nan) -> dict[str, Value]:
        return {
            "epsilon": epsilon,
            "other epsilon": epsilon if math.isnan(other) else other,
            "c": c,
            "data": data,
        }

    grid: tuple[tuple[float, float | str, int], ...] = ((0.1, 100.0, 1), (1.0, "star", 2), (3.0, 100.0, 1))
    return (
        *(
            case(ID, Standing.PRINTED, params(*point), regime="inflations up to 100", draws=draws, quick=i == 1)
            for i, point in enumerate(grid)
        ),
        case(
            ID, Standing.PRINTED, params(10.0, 100.0, 1), role=Role.EDGE, regime="least noise", draws=draws, quick=False
        ),
        mutant(ID, "a third of epsilon instead", params(3.0, 1.0, 1, 1.0), draws=draws),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="figure",
    title="0-1 loss of objective perturbation under inflated regularisation",
    locator="Figure 2, section 4.1",
    domain=(
        "n = 1000, d = 50, logistic loss, lambda = c/(2 epsilon); epsilons and labels not stated. Decided for epsilon = 0.1 to 10, "
        "c up to 100 (Algorithm 2 needs 45 to 67), labels: rescaled score above one half, loss on the data themselves"
    ),
    summary=(
        "With the same noise the 0-1 loss stays within 0.05 of its value at c = 1 in every setting tried; the mean moves by "
        "less than 0.01 for epsilon <= 3 and by about 0.02 at epsilon = 10, where the noise no longer hides the bias. What "
        "hardly moves is often useless: at epsilon = 0.1 the loss is 0.47."
    ),
    parts=(
        Part(
            ID,
            "roughly constant in the inflation",
            Formula(
                'Pr[abs("0-1"(c) - "0-1"(1)) <= 0.05] >= 0.8 "for all" c <= 100',
                "Pr[|0-1 loss at c - 0-1 loss at 1| <= 0.05] >= 0.8 for all c <= 100",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
