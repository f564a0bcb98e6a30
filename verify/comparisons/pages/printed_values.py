"""The cells that W18 prints for a recipe's data set, beside ours, with a statement of agreement per cell.

Table 3 is for epsilon 0.1, Table 4 for epsilon 1. What the paper sets in bold is "the DP algorithm where the standard
deviation is smaller than the error, and the 95% confidence interval covers the observed best performance". The copy
that the tables were read from does not show bold type; the published experiments' code prints one standard deviation s
over its ten folds after the ± of a bold cell, and 2 s/sqrt(10) after any other. Which cells are bold is therefore a
reading: those for which the paper's rule holds with the printed number taken as s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...kernel.rows import Row, number
from ...papers.wang2018.shared.printed_tables import EXISTING, OURS, table
from ...papers.wang2018.shared.printed_tables import Row as PrintedRow

#: What a recipe's name begins with where the paper prints a row for it.
PREFIX = "w18/"
#: Epsilon -> number of the table.
TABLES: Mapping[float, int] = {0.1: 3, 1.0: 4}
#: Half a 95 % interval of the mean over the ten folds, in standard deviations.
OF_THE_MEAN = 2 / math.sqrt(10)
#: Columns of the table that a recipe adds.
COLUMNS = ("printed_error", "printed_half_width", "agrees")
_COLUMN_OF = {"trivial": "Trivial", "AdaOPS 2018": "AdaOPS"}


@dataclass(frozen=True)
class PrintedCell:
    """One printed cell beside the error that was found here.

    Attributes
    ----------
    error, half_width : float
        As printed, the second after the ±.
    bold : bool
        Whether the cell is read as one in bold, whose ± is one standard deviation.
    agrees : bool
        Whether our error lies within the printed ±.
    """

    error: float
    half_width: float
    bold: bool
    agrees: bool

    @property
    def words(self) -> str:
        """The statement of agreement."""
        width = "one standard deviation" if self.bold else "2 s/sqrt(10)"
        return f"{'within' if self.agrees else 'outside'} the printed ± ({width})"


def printed_cell(recipe: str, row: Row) -> PrintedCell | None:
    """Return the printed cell that a row of a comparison answers to, or None where the paper prints none.

    The recipe is ``w18/…``; ``exact`` calibrations are ours and have no printed cell, as have replacements.
    """
    name = recipe.removeprefix(PREFIX)
    if name == recipe or row["way"] == "exact" or row["neighbours"] == "replace" or row["error"] is None:
        return None
    epsilon = min(TABLES) if row["epsilon"] is None else row["epsilon"]
    printed = table(TABLES[epsilon]).get(name, {}) if epsilon in TABLES else {}
    column = _COLUMN_OF.get(row["method"], row["method"])
    if column not in printed:
        return None
    error, half_width = printed[column]
    agrees = abs(number(row["error"]) - error) <= half_width
    return PrintedCell(error, half_width, column in bold(printed), agrees)


def bold(row: PrintedRow) -> frozenset[str]:
    """Return the methods of a printed row that are read as set in bold."""
    private = [method for method in (*EXISTING, *OURS) if method in row]
    best = min((row[method][0] for method in private), default=math.inf)
    return frozenset(
        method
        for method in private
        if row[method][1] < row[method][0] and row[method][0] - OF_THE_MEAN * row[method][1] <= best
    )


def printed_columns(recipe: str, rows: Iterable[Row]) -> dict[str, list[Any]]:
    """Return the columns that the printed cells add to a table of rows, None where there is none; no column without."""
    cells = [printed_cell(recipe, row) for row in rows]
    if not any(cells):
        return {}
    values = [(cell.error, cell.half_width, cell.agrees) if cell else (None, None, None) for cell in cells]
    return {name: [value[place] for value in values] for place, name in enumerate(COLUMNS)}


def agreement(cells: Sequence[PrintedCell]) -> str:
    """Return in a sentence how many printed cells agree."""
    agreeing = sum(cell.agrees for cell in cells)
    return f"{agreeing} of {len(cells)} printed cells: our error lies within the printed ±."
