"""RW21, Figure 9: ratio of bound to loss, kidney (data not shipped)."""

from __future__ import annotations

from .shared.credit_and_uci import CLOSER, uci_figure

STATEMENT = uci_figure(9, CLOSER, "kidney", "--dependent 1 1 1", "Logistic regression; epsilon = 1 for each release")
