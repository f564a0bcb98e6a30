"""RW21, Figure 4: the worst case over a data set, against its size."""

from __future__ import annotations

from audits import Budget

from ..cases import case, mutant
from ..paper_figures import rw21_fig_4 as drawn
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from .worst_cases import size_evidence

ID = "RW21-F4"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one size against the reference size."""
    return size_evidence(case, budget, drawn.DIM)


def _cases() -> tuple[Case, ...]:
    draws = (44, 44, 200)
    points: tuple[dict[str, Value], ...] = (
        {"n": 100, "temperature": 0.0},
        {"n": 100, "temperature": 1.0},
        {"n": 10_000, "temperature": 0.0},
    )
    return (
        *(
            case(ID, Standing.PRINTED, point, regime="both rules of labels", draws=draws, quick=i == 0)
            for i, point in enumerate(points)
        ),
        mutant(ID, "noise that grows as sqrt(n)", {"n": 100, "temperature": 0.0, "power": 0.5}, draws=draws),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="figure",
    title="Worst-case loss and bounds against the number of records",
    locator="Figure 4, supplement B.1",
    domain=(
        "Logistic regression, d = 50, n = 100 to 10000; labels and budgets not stated. Decided for epsilon = 1, delta = rho = 1e-6 "
        "in each release, lambda as Algorithm 2 needs, labels by the sign of the score or by the logistic model"
    ),
    summary=(
        "The median worst case of either bound stays within a factor 2 of that at n = 1000 (about 1.25 is seen). No bound can "
        "exceed a ceiling that is free of n and d (RW21-F5): that is the reason."
    ),
    parts=(
        Part(
            ID,
            "the bounds do not depend on n",
            Formula(
                '1/2 <= ("median of" max_(z in D) overline(epsilon_1^P) (z) "at" n) / ("the same at" n = 1000) <= 2',
                "1/2 <= median over data sets of max_z of the bound at n / the same at n = 1000 <= 2",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
