"""W19, Figure 1: how much smaller pDP is than DP for one output perturbation.

The paper gives sigma, delta, the ridge and the scaling, but neither ``n`` nor ``d``, on which both gains depend.
"""

from __future__ import annotations

import math

from audits import Budget
from reports.row import Figure

from ..cases import case, grid, mutant
from ..missing import data_missing, float_evidence
from ..paper_figures import w19_fig_1
from ..paper_figures.page import stream
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value

ID = "W19-FIG1"
RECORDS, UNIVERSE = f"{ID}#in the data set", f"{ID}#in the universe"
#: "More than an order of magnitude", and "six times".
ORDER, SIX = 10.0, 6.0


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the first gain on one data set; show the second, which the unstated sizes set."""
    if case.part == UNIVERSE:
        sizes = ((100, 10), (100, 20), (100, 40), (1000, 20))
        gains: dict[str, Value] = {
            f"gain at n={n}, d={d}": w19_fig_1.losses(n, d, stream(1, ID, f"{n} {d}")).gain_of_all for n, d in sizes
        }
        return data_missing("DP over pDP for all", "n and d of the figure are not stated, and they set the gain", gains)
    n, d = case.whole("n"), case.whole("d")
    found = w19_fig_1.losses(n, d, stream(case.whole("data"), ID, f"{n} {d}"))
    quantity = "epsilon of DP (a bad data set of the same size) over the largest pDP in the data set"
    notes: dict[str, Value] = {"DP at least": found.dp, "largest pDP": float(found.records.max())}
    return float_evidence(quantity, found.gain_of_worst_record, ORDER, math.inf, ORDER, notes)


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[int, ...]] = {"n": (100, 300, 1000), "d": (2, 5, 10, 20), "data": (1, 2)}
    return (
        *grid(RECORDS, Standing.PRINTED, axes, regime="n at least 5 d", quick_every=5),
        mutant(RECORDS, "data too small for their dimension", {"n": 20, "d": 20, "data": 1}),
        case(UNIVERSE, Standing.PRINTED, {}, regime="sizes not stated", quick=True),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the figure made again."""
    return w19_fig_1.page(seed).figures


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="figure",
    title="DP, pDP for all and pDP of a data set, for one output perturbation",
    locator="Figure 1, section 2.2",
    domain=(
        "Rows of norm 1, |y| <= 1, ridge 1, sigma = 4, delta = 1e-6; n, d, noise and coefficients not stated. Decided for "
        "n = 100 to 1000, d = 2 to 20, noise 0.3; DP from below"
    ),
    summary=(
        "Every record of the data set loses more than ten times less than under DP in all sizes tried with n >= 5 d. The "
        "six of pDP for all is a number of the figure's unstated n and d: the gain is about 6 at n = 100, d = 20, and "
        "grows without limit with n."
    ),
    parts=(
        Part(
            RECORDS,
            "all users in the data set",
            Formula(
                'epsilon_"DP" / (max_i epsilon(Z_(-i), z_i)) > 10', "epsilon of DP / largest pDP in the data set > 10"
            ),
        ),
        Part(
            UNIVERSE,
            "all users in the universe",
            Formula('epsilon_"DP" / (sup_z epsilon(Z, z)) approx 6', "epsilon of DP / pDP for all = about 6"),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
