"""W19, Figure 2: the average pDP of a data set against DP, for Gaussian noise and for posterior sampling.

"Several orders of magnitude" is read as a factor of at least 100. No size, noise level or temperature is stated.
"""

import math

from ...figures.figure_page import stream
from ...kernel.evidence import data_missing, float_evidence
from ..kit import At, Case, Display, Evidence, Form, Mutant, Value, over, statement
from .figures import w19_fig_2

ID = "W19-FIG2"
SEVERAL_ORDERS = 100.0


def _gaussian(case: Case) -> Evidence:
    """Decide the left pane on one data set."""
    n, d = case.whole("n"), case.whole("d")
    dataset = w19_fig_2.data(stream(case.whole("data"), ID, f"{n} {d}"), n, d)
    dp, records = w19_fig_2.gaussian_losses(dataset, case.number("sigma"))
    quantity = "epsilon of DP (a bad data set of the same size) over the average pDP of the data set"
    notes: dict[str, Value] = {"DP at least": dp, "average pDP": float(records.mean())}
    return float_evidence(quantity, dp / float(records.mean()), SEVERAL_ORDERS, math.inf, SEVERAL_ORDERS, notes)


def _posterior(case: Case) -> Evidence:
    """Show the right pane, where the unstated temperatures decide."""
    dataset = w19_fig_2.data(stream(1, ID, "right"))
    gains: dict[str, Value] = {
        f"gain at gamma={gamma:g}": w19_fig_2.exponential_epsilon(gamma)
        / float(w19_fig_2.posterior_losses(dataset, gamma).mean())
        for gamma in (0.01, 1.0, 100.0, 1000.0)
    }
    missing = "data and grid of gamma are not stated, and the gain goes from below 1 to above 100 with gamma"
    return data_missing("pure DP of the exponential mechanism over the average pDP", missing, gains)


SIZES = {"n": (300, 1000, 3000), "d": (2, 10, 20), "sigma": (0.05, 1.0, 50.0), "data": (1,)}
RATIO = 'epsilon_"{worst}" / (1/n sum_i epsilon(z_i, Z_(-i))) >= 10^2'

STATEMENT = statement(
    ID,
    domain="Linear regression, delta = 1e-6; data, sizes, noise, ridge and gamma not stated. Decided (left) for the data of "
    "Figure 1 with n = 300 to 3000, d = 2 to 20, ridge 1, sigma = 0.05 to 50; DP from below; 'several orders' at least 100",
    summary="Left: supported, by factors of 300 and more. Right: the gain over the exponential mechanism (domain |theta| <= 1) "
    "runs from below 1 at small gamma, where leverages put a floor under pDP, to hundreds at large gamma; the "
    "temperatures of the figure are not stated.",
    displays={
        "#left": Display(
            "isotropic Gaussian noise",
            printed=Form(RATIO.format(worst="DP"), _gaussian, over("n at least 15 d", SIZES, quick_every=5)),
            mutants={
                "data too small for their dimension": Mutant(_gaussian, {"n": 40, "d": 20, "sigma": 1.0, "data": 1})
            },
        ),
        "#right": Display(
            "posterior sampling against the exponential mechanism",
            printed=Form(RATIO.format(worst="exponential mechanism"), _posterior, [At("temperatures not stated")]),
        ),
    },
    figures=lambda seed: w19_fig_2.page(seed).figures,
)
