"""RW21, Figure 6: allocations of the budget, credit default (data not shipped)."""

from __future__ import annotations

from ..statement import Formula
from .credit_and_uci import uci_figure

STATEMENT = uci_figure(
    6,
    title="Allocations of the budget, credit default",
    locator="Figure 6, supplement B.2",
    data="credit default",
    options="--dependent E1 E2 E3, with each of the four allocations",
    setting="Logistic regression; data-dependent budgets (0.2, 0.7, 0.1), (0.4, 0.5, 0.1), (0.5, 0.25, 0.25), (0.8, 0.1, 0.1) against 1",
    formula=Formula(
        '"the advantage of the data-dependent bound vanishes as" epsilon_1 -> 1',
        "the advantage of the data-dependent bound vanishes as epsilon_1 -> 1",
    ),
)
