"""RW21, Figure 9: ratio of bound to loss, kidney (data not shipped)."""

from __future__ import annotations

from ..statement import Formula
from .credit_and_uci import uci_figure

STATEMENT = uci_figure(
    9,
    title="Ratio of bound to loss, kidney",
    locator="Figure 9, supplement B.3",
    data="kidney",
    options="--dependent 1 1 1",
    setting="Logistic regression; epsilon = 1 for each release",
    formula=Formula(
        'overline(epsilon_1^P) / epsilon_1 "is closer to" 1 "for the data-dependent bound"',
        "ratio of the bound to epsilon_1 closer to 1 for the data-dependent bound",
    ),
)
