"""What the first lines of a file show: whether it has a header, and which columns hold numbers, text or dates.

No cell leaves this file: an answer is a word about a column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

#: Lines below the first one that are looked at.
LOOKED_AT = 200
NUMBER = r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*"
COMMA = r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*"
DATE = r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([T ]\d.*)?"
TRUTH = r"(?i:\s*(true|false)\s*)"
#: What pandas takes for a missing value, as far as tables of numbers write it.
MISSING = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "null", "NULL", "None", "<NA>", "#N/A")


def kind_of_cells(cells: Sequence[str]) -> str:
    """Return what cells hold: ``numbers`` (or true and false), ``dates`` or ``text``; empty ones ``nothing``."""
    present = [cell for cell in cells if cell.strip() not in MISSING]
    if not present:
        return "nothing"
    for kind, form in (("numbers", NUMBER), ("numbers", TRUTH), ("dates", DATE)):
        if all(re.fullmatch(form, cell) for cell in present):
            return kind
    return "text"


def columns_of(lines: pd.DataFrame) -> list[list[str]]:
    """Return the cells of every column of lines that were read as text."""
    return [[str(cell) for cell in lines[name]] for name in lines.columns]


def lacks_header(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the first line parses as the others do: it is a record then, and its cells are no names.

    A header has text above a column of numbers or dates. A first line without that is a record where it has a number
    above numbers, or a text that occurs again below. Numbers from 0 on are a header, as pandas writes one.
    """
    first = [column[0] for column in columns]
    if first == [str(place) for place in range(len(columns))]:
        return False
    alike = False
    for top, *below in columns:
        kind, above = kind_of_cells(below), kind_of_cells([top])
        if kind in ("numbers", "dates") and above not in (kind, "nothing"):
            return False
        alike = alike or (kind != "text" and above in ("numbers", "dates")) or (above == "text" and top in below)
    return alike


def comma_in_numbers(columns: Sequence[Sequence[str]]) -> bool:
    """Return whether the numbers have a decimal comma: some do, and none a point."""
    cells = [cell for column in columns if kind_of_cells(column) == "numbers" for cell in column]
    return any(re.fullmatch(COMMA, cell) for cell in cells) and not any("." in cell for cell in cells)


def instead_of_numbers(values: pd.Series[Any], remedy: str) -> str:
    """Return what a column holds in place of numbers, and the way out; nothing of any cell."""
    import pandas as pd

    cells = values.dropna().astype("string")
    if len(cells) and cells.str.fullmatch(r"\s*[+-]?\d+\s*").all():
        return "whole numbers beyond 64 bits; write them with a decimal point"
    if len(cells) and cells.str.fullmatch(r"\s*[+-]?(\d+|\d*,\d+)(e[+-]?\d+)?\s*", case=False).all():
        return 'numbers with a decimal comma; data.decimal = "," reads them'
    if pd.api.types.is_datetime64_any_dtype(values.dtype) or (len(cells) and cells.str.fullmatch(DATE).all()):
        return "dates; leave the column out of data.features, or make a number of it first, as an age in days"
    return f"text; list its public levels in {remedy}"
