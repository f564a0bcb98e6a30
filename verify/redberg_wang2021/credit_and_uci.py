"""RW21's figures on UCI data (F3, F6 to F10): undecided without the files, with the command that shows them."""

from __future__ import annotations

from ..missing import missing_statement
from ..statement import Formula, Statement

COMMAND = "python benchmarks/uci_reports.py FILE"


def uci_figure(
    number: int, *, title: str, locator: str, data: str, options: str, setting: str, formula: Formula
) -> Statement:
    """Return the statement of one figure."""
    return missing_statement(
        f"RW21-F{number}",
        paper="redberg_wang2021",
        kind="figure",
        title=title,
        locator=locator,
        domain=f"{setting}; delta = rho = 1e-6 where stated; one run of every release",
        formula=formula,
        data=f"the UCI data set {data} is",
        command=f"{COMMAND} {options} (prints quantiles of loss, bounds and ratios; the verdict is a comparison by eye)",
    )
