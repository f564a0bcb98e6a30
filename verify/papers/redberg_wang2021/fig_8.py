"""RW21, Figure 8: losses and bounds, wine quality (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import TIGHTER, uci_figure

STATEMENT = uci_figure(
    8,
    TIGHTER,
    "wine quality",
    "--loss squared --dependent 1 1 1",
    "Linear regression on an unbounded domain; epsilon = 1 for each release",
)
