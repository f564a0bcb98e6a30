"""RW21, Figure 7: losses and bounds, kidney (data not shipped)."""

from __future__ import annotations

from ..statement import Formula
from .credit_and_uci import uci_figure

STATEMENT = uci_figure(
    7,
    title="Losses and bounds, kidney",
    locator="Figure 7, supplement B.3",
    data="kidney",
    options="--dependent 1 1 1",
    setting="Logistic regression; epsilon = 1 for each release",
    formula=Formula(
        '"the data-dependent bound is tighter for small" epsilon_1 (dot)',
        "the data-dependent bound is tighter for small losses epsilon_1(.)",
    ),
)
