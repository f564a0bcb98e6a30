"""RW21, Figure 3: data-independent against data-dependent bounds, credit default (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import uci_figure

STATEMENT = uci_figure(
    3,
    '"ratio" overline(epsilon_1^P) / epsilon_1 "closer to" 1 "for the data-dependent bound, sums comparable"',
    "credit default",
    "--independent 1 --dependent 0.2 0.7 0.1",
    "Logistic regression, n = 30000, d = 21, total epsilon 1: data-independent 1, data-dependent (0.2, 0.7, 0.1), r = 0",
)
