"""RW21's figures in which the data-dependent bound is the tighter one, record by record: F7 to F10, and the ratio of F3."""

from dataclasses import dataclass
from functools import partial

from audits import Budget

from ...kit import Case, Decide, Display, Draws, Evidence, Numbers
from .credit_and_uci import MANY, SOME, Seen, budget, by_lambda, closer, closer_for_small, seen_again

#: What of a loss of 1 is small: a tenth of the budget.
SMALL = 0.1


@dataclass(frozen=True)
class FigureData:
    """The data that a figure was drawn on: its domain in words, the sets, their loss, and the runs a profile."""

    domain: str
    sets: tuple[str, ...]
    loss: str
    draws: Draws

    def at(self, *shares: float, independent: float) -> Numbers:
        """Return the numbers of a case: the budgets of the three releases, and of the data-independent report."""
        return {"sets": " ".join(self.sets), "loss": self.loss} | budget(*shares, independent=independent)


KIDNEY = FigureData(
    "Logistic regression, UCI kidney; epsilon = 1 for each release, delta = rho = 1e-6; preparation "
    "and the data-independent lambda not stated",
    ("rw21/kidney",),
    "logistic",
    MANY,
)
WINE = FigureData(
    "Linear regression on an unbounded domain, UCI wine quality (which wine is not stated: both); epsilon = 1 for each "
    "release, delta = rho = 1e-6; preparation and the data-independent lambda not stated",
    ("rw21/wine-red", "rw21/wine-white"),
    "squared",
    SOME,
)


def _tighter(case: Case, budget: Budget, *, quantity: str, claim: Seen) -> Evidence:
    return seen_again(case, budget, f"probability that the data-dependent {quantity}", claim)


def _displays(key: str, title: str, check: Decide, params: Numbers, draws: Draws) -> dict[str, Display]:
    words = 'Pr["median" overline(epsilon_1^P) / epsilon_1 "smaller for DATA-DEP"] > 1/2'
    return by_lambda(key, title, words, check, params, draws)


def closer_displays(key: str, params: Numbers, draws: Draws) -> dict[str, Display]:
    """Return the displays of: the ratio of bound to loss is closer to 1 in the data-dependent report (F3, F9, F10)."""
    check = partial(_tighter, quantity="median ratio of bound to loss is smaller", claim=closer)
    return _displays(key, "the data-dependent ratio of bound to loss is closer to 1", check, params, draws)


def small_displays(data: FigureData) -> dict[str, Display]:
    """Return the displays of: tighter for small epsilon_1 (F7, F8), which are records or the budget of the parameter."""
    only, over = partial(closer_for_small, largest=SMALL), f"the records with a loss of at most {SMALL}"
    records = partial(_tighter, quantity=f"bound is tighter, over {over}", claim=only)
    small = partial(_tighter, quantity=f"bound is tighter, at a budget of {SMALL}", claim=closer)
    whole, part = data.at(1.0, 1.0, 1.0, independent=1.0), data.at(SMALL, 1.0, 1.0, independent=SMALL)
    return {
        **_displays("@records", "tighter where the loss is small", records, whole, data.draws),
        **_displays("@budget", "tighter where the budget of the parameter is small", small, part, data.draws),
    }
