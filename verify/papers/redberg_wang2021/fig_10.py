"""RW21, Figure 10: ratio of bound to loss, wine quality (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import CLOSER, uci_figure

STATEMENT = uci_figure(
    10,
    CLOSER,
    "wine quality",
    "--loss squared --dependent 1 1 1",
    "Linear regression on an unbounded domain; epsilon = 1 for each release",
)
