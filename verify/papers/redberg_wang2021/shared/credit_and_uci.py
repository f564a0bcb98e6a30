"""RW21's figures on UCI data (F3, F6 to F10): undecided without the files, with the command that shows them."""

from __future__ import annotations

from ....kernel.missing import undecided_without
from ....kernel.statement import Statement

COMMAND = "python benchmarks/uci_reports.py FILE"
TIGHTER = '"the data-dependent bound is tighter for small" epsilon_1 (dot)'
CLOSER = 'overline(epsilon_1^P) / epsilon_1 "is closer to" 1 "for the data-dependent bound"'


def uci_figure(number: int, typst: str, data: str, options: str, setting: str) -> Statement:
    """Return the statement of one figure: its data set, the options of the command, the printed setting."""
    return undecided_without(
        f"RW21-F{number}",
        typst,
        domain=f"{setting}; delta = rho = 1e-6 where stated; one run of every release",
        data=f"the UCI data set {data} is",
        command=f"{COMMAND} {options} (prints quantiles of loss, bounds and ratios; the verdict is a comparison by eye)",
    )
