"""W19, Figure 2: the average pDP of a data set against DP, for Gaussian noise and for posterior sampling.

"Several orders of magnitude" is read as a factor of at least 100. No size, noise level or temperature is stated.
"""

from __future__ import annotations

import math

from audits import Budget
from reports.row import Figure

from ..cases import case, grid, mutant
from ..missing import data_missing, float_evidence
from ..paper_figures import w19_fig_2
from ..paper_figures.page import stream
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value

ID = "W19-FIG2"
LEFT, RIGHT = f"{ID}#left", f"{ID}#right"
SEVERAL_ORDERS = 100.0


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the left pane on one data set; show the right, where the unstated temperatures decide."""
    if case.part == RIGHT:
        dataset = w19_fig_2.data(stream(1, ID, "right"))
        gains: dict[str, Value] = {
            f"gain at gamma={gamma:g}": w19_fig_2.exponential_epsilon(gamma)
            / float(w19_fig_2.posterior_losses(dataset, gamma).mean())
            for gamma in (0.01, 1.0, 100.0, 1000.0)
        }
        missing = "data and grid of gamma are not stated, and the gain goes from below 1 to above 100 with gamma"
        return data_missing("pure DP of the exponential mechanism over the average pDP", missing, gains)
    n, d = case.whole("n"), case.whole("d")
    dataset = w19_fig_2.data(stream(case.whole("data"), ID, f"{n} {d}"), n, d)
    dp, records = w19_fig_2.gaussian_losses(dataset, case.number("sigma"))
    quantity = "epsilon of DP (a bad data set of the same size) over the average pDP of the data set"
    notes: dict[str, Value] = {"DP at least": dp, "average pDP": float(records.mean())}
    return float_evidence(quantity, dp / float(records.mean()), SEVERAL_ORDERS, math.inf, SEVERAL_ORDERS, notes)


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[float, ...]] = {
        "n": (300, 1000, 3000),
        "d": (2, 10, 20),
        "sigma": (0.05, 1.0, 50.0),
        "data": (1,),
    }
    return (
        *grid(LEFT, Standing.PRINTED, axes, regime="n at least 15 d", quick_every=5),
        mutant(LEFT, "data too small for their dimension", {"n": 40, "d": 20, "sigma": 1.0, "data": 1}),
        case(RIGHT, Standing.PRINTED, {}, regime="temperatures not stated", quick=True),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return both panes made again."""
    return w19_fig_2.page(seed).figures


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="figure",
    title="DP against the spread of pDP: Gaussian noise, and posterior sampling against risk",
    locator="Figure 2, section 4.3",
    domain=(
        "Linear regression, delta = 1e-6; data, sizes, noise, ridge and gamma not stated. Decided (left) for the data of "
        "Figure 1 with n = 300 to 3000, d = 2 to 20, ridge 1, sigma = 0.05 to 50; DP from below; 'several orders' at least 100"
    ),
    summary=(
        "Left: supported, by factors of 300 and more. Right: the gain over the exponential mechanism (domain |theta| <= 1) "
        "runs from below 1 at small gamma, where leverages put a floor under pDP, to hundreds at large gamma; the "
        "temperatures of the figure are not stated."
    ),
    parts=(
        Part(
            LEFT,
            "isotropic Gaussian noise",
            Formula(
                'epsilon_"DP" / (1/n sum_i epsilon(z_i, Z_(-i))) >= 10^2',
                "epsilon of DP / average pDP of the data set >= 100",
            ),
        ),
        Part(
            RIGHT,
            "posterior sampling against the exponential mechanism",
            Formula(
                'epsilon_"exponential mechanism" / (1/n sum_i epsilon(z_i, Z_(-i))) >= 10^2',
                "epsilon of the exponential mechanism / average pDP of the data set >= 100",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
