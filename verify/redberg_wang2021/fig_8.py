"""RW21, Figure 8: losses and bounds, wine quality (data not shipped)."""

from __future__ import annotations

from ..statement import Formula
from .credit_and_uci import uci_figure

STATEMENT = uci_figure(
    8,
    title="Losses and bounds, wine quality",
    locator="Figure 8, supplement B.3",
    data="wine quality",
    options="--loss squared --dependent 1 1 1",
    setting="Linear regression on an unbounded domain; epsilon = 1 for each release",
    formula=Formula(
        '"the data-dependent bound is tighter for small" epsilon_1 (dot)',
        "the data-dependent bound is tighter for small losses epsilon_1(.)",
    ),
)
