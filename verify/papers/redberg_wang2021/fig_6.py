"""RW21, Figure 6: allocations of the budget, credit default (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import uci_figure

STATEMENT = uci_figure(
    6,
    '"the advantage of the data-dependent bound vanishes as" epsilon_1 -> 1',
    "credit default",
    "--dependent E1 E2 E3, with each of the four allocations",
    "Logistic regression; data-dependent budgets (0.2, 0.7, 0.1), (0.4, 0.5, 0.1), (0.5, 0.25, 0.25), (0.8, 0.1, 0.1) against 1",
)
