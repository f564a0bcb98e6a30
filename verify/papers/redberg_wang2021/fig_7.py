"""RW21, Figure 7: losses and bounds, kidney (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import TIGHTER, uci_figure

STATEMENT = uci_figure(7, TIGHTER, "kidney", "--dependent 1 1 1", "Logistic regression; epsilon = 1 for each release")
