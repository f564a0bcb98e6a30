"""RW21, Figure 10: ratio of bound to loss, wine quality (data not shipped)."""

from __future__ import annotations

from ..statement import Formula
from .credit_and_uci import uci_figure

STATEMENT = uci_figure(
    10,
    title="Ratio of bound to loss, wine quality",
    locator="Figure 10, supplement B.3",
    data="wine quality",
    options="--loss squared --dependent 1 1 1",
    setting="Linear regression on an unbounded domain; epsilon = 1 for each release",
    formula=Formula(
        'overline(epsilon_1^P) / epsilon_1 "is closer to" 1 "for the data-dependent bound"',
        "ratio of the bound to epsilon_1 closer to 1 for the data-dependent bound",
    ),
)
