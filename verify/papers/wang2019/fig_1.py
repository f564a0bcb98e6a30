"""W19, Figure 1: how much smaller pDP is than DP for one output perturbation.

The paper gives sigma, delta, the ridge and the scaling, but neither ``n`` nor ``d``, on which both gains depend.
"""

import math

from ...figures.figure_page import stream
from ...kernel.evidence import data_missing, float_evidence
from ..kit import At, Case, Display, Evidence, Form, Mutant, Value, over, statement
from .figures import w19_fig_1

ID = "W19-FIG1"
#: "More than an order of magnitude".
ORDER = 10.0


def _records(case: Case) -> Evidence:
    """Decide the gain of every record of one data set."""
    n, d = case.whole("n"), case.whole("d")
    losses = w19_fig_1.losses(n, d, stream(case.whole("data"), ID, f"{n} {d}"))
    quantity = "epsilon of DP (a bad data set of the same size) over the largest pDP in the data set"
    notes: dict[str, Value] = {"DP at least": losses.dp, "largest pDP": float(losses.records.max())}
    return float_evidence(quantity, losses.gain_of_worst_record, ORDER, math.inf, ORDER, notes)


def _universe(case: Case) -> Evidence:
    """Show the gain of all, which the unstated sizes set."""
    gains: dict[str, Value] = {
        f"gain at n={n}, d={d}": w19_fig_1.losses(n, d, stream(1, ID, f"{n} {d}")).gain_of_all
        for n, d in ((100, 10), (100, 20), (100, 40), (1000, 20))
    }
    return data_missing("DP over pDP for all", "n and d of the figure are not stated, and they set the gain", gains)


STATEMENT = statement(
    ID,
    domain="Rows of norm 1, |y| <= 1, ridge 1, sigma = 4, delta = 1e-6; n, d, noise and coefficients not stated. Decided for "
    "n = 100 to 1000, d = 2 to 20, noise 0.3; DP from below",
    summary="Every record of the data set loses more than ten times less than under DP in all sizes tried with n >= 5 d. The "
    "six of pDP for all is a number of the figure's unstated n and d: the gain is 6.6 at n = 100, d = 20, and "
    "grows without limit with n.",
    displays={
        "#in the data set": Display(
            "all users in the data set",
            printed=Form(
                'epsilon_"DP" / (max_i epsilon(Z_(-i), z_i)) > 10',
                _records,
                over("n at least 5 d", {"n": (100, 300, 1000), "d": (2, 5, 10, 20), "data": (1, 2)}, quick_every=5),
            ),
            mutants={"data too small for their dimension": Mutant(_records, {"n": 20, "d": 20, "data": 1})},
        ),
        "#in the universe": Display(
            "all users in the universe",
            printed=Form('epsilon_"DP" / (sup_z epsilon(Z, z)) approx 6', _universe, [At("sizes not stated")]),
        ),
    },
    figures=lambda seed: w19_fig_1.page(seed).figures,
)
