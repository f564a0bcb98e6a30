"""RW21, Figure 5: the worst case over a data set, against the dimension."""

from __future__ import annotations

import numpy as np

from audits import Budget
from reports.row import Figure

from ..cases import case, grid, mutant
from ..missing import data_missing
from ..paper_figures import rw21_fig_5 as drawn
from ..paper_figures import rw21_worst_case
from ..paper_figures.page import stream
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .worst_cases import ceiling_evidence

ID = "RW21-F5"
PLOTTED, CEILING = f"{ID}#plotted", f"{ID}#ceiling"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the ceiling; show what is seen at d = 1, 2 and 60, which labels and budgets change."""
    if case.part == CEILING:
        return ceiling_evidence(case)
    lam = rw21_worst_case.scales(drawn.DIMS[-1]).lam
    seen: dict[str, Value] = {}
    for label, temperature in rw21_worst_case.LABELS.items():
        for dim in (1, 2, 60):
            rng = stream(1, ID, label, f"{dim}")
            runs = [rw21_worst_case.worst(drawn.N_RECORDS, dim, temperature, lam, rng) for _ in range(3)]
            seen[f"data-independent, d={dim}, {label}"] = float(np.median([run.independent for run in runs]))
            seen[f"data-dependent, d={dim}, {label}"] = float(np.median([run.dependent for run in runs]))
    missing = "labels and budgets are not stated, and in few dimensions they set the worst bound"
    return data_missing("worst bound over the data set against d", missing, seen)


def _cases() -> tuple[Case, ...]:
    alone: dict[str, Value] = {"what": "one record", "d": 2, "lambda": 27.9, "data": 1, "n": 1}
    axes: dict[str, tuple[Value, ...]] = {
        "what": ("random data",),
        "d": drawn.DIMS,
        "lambda": (0.5, 27.9),
        "data": (1,),
        "n": (300,),
    }
    return (
        *grid(CEILING, Standing.PRINTED, axes, regime="any outputs and releases", quick_every=4),
        case(CEILING, Standing.PRINTED, alone, role=Role.EDGE, regime="where the ceiling is reached"),
        mutant(CEILING, "ceiling 5 % lower", alone | {"share": 0.95}, severity=0.05),
        case(PLOTTED, Standing.PRINTED, {}, regime="labels and budgets not stated"),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the figure made again under both rules of labels."""
    return drawn.page(seed).figures


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="figure",
    title="Worst-case loss and bounds against the dimension",
    locator="Figure 5, supplement B.1",
    domain=(
        "Logistic regression, n = 1000, d = 1 to 60; labels and budgets not stated. The ceiling: every n and d, unit rows, any released "
        "values, corrected bounds"
    ),
    summary=(
        "Both bounds lie under a ceiling free of n and d, which one badly predicted record reaches. The worst bound over one "
        "data set is another matter: with budgets of 1 it grows from d = 1 to 60 by a factor 2 (data-dependent, logistic "
        "labels) to 20 (separable labels), and with a noisier gradient release it would not; the setting is not stated."
    ),
    parts=(
        Part(
            PLOTTED,
            "the bounds do not depend on d, as plotted",
            Formula(
                'max_(z in D) overline(epsilon_1^P) (z) "does not depend on" d in {1, ..., 60}',
                "max over z in D of the bound does not depend on d in {1, ..., 60}",
            ),
        ),
        Part(
            CEILING,
            "a ceiling free of n and d",
            Formula(
                "overline(epsilon_1^P) (z) <= max_(0 <= s <= 1) {-log(1 - s(1-s)/lambda) + s^2/(2 sigma^2) + (s Phi^(-1) (1 - rho/2))/sigma}",
                "bound(z) <= max over 0 <= s <= 1 of -log(1 - s(1-s)/lambda) + s^2/(2 sigma^2) + s Phi^-1(1 - rho/2)/sigma",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
