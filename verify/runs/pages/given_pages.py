"""What was seen on data that a run was given: quantiles and counts of every case, as tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reports.row import Block, Cell, Paragraph, Table, TextStyle

from ...engine.rows import Row
from ...messages.words import figure, plain_words

#: A note that is one of several quantiles of the same number, by its level.
QUANTILE = re.compile(r"(?P<what>.*) \((?P<level>\d+ %|median)\)")


def undecided_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return why cases are undecided that have no witness, in their checks' own words, each once."""
    details = dict.fromkeys(row["detail"] for row in rows if row["outcome"] == "UNDECIDED" and row["detail"])
    return [Paragraph(plain_words(f"{text[0].upper()}{text[1:]}."), TextStyle.NOTE) for text in details]


def given_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return the numbers of every case: its quantiles in a table, and the rest in another."""
    return [block for row in rows for block in (*_quantiles(row), *_rest(row))]


def _quantiles(row: Row) -> list[Block]:
    by_what: dict[str, dict[str, Cell]] = {}
    for name, value in row["notes"].items():
        if found := QUANTILE.fullmatch(name):
            by_what.setdefault(found["what"], {})[found["level"]] = figure(value, 3, typographic=True)
    if not by_what:
        return []
    levels = tuple(dict.fromkeys(level for values in by_what.values() for level in values))
    cells = tuple((what, *(values.get(level, "–") for level in levels)) for what, values in by_what.items())
    aligned = ("left", *("right" for _ in levels))
    title = f"{row['part']}: bound over loss over the records, medians over {row['n_draws']} runs"
    return [Table(title, ("Report", *levels), cells, aligned, (1, *(0 for _ in levels)))]


def _rest(row: Row) -> list[Block]:
    rest = {name: value for name, value in row["notes"].items() if not QUANTILE.fullmatch(name)}
    if not rest:
        return []
    cells = tuple((name, figure(value, 3, typographic=True)) for name, value in rest.items())
    title = f"{row['part']}: what else was seen in {row['n_draws']} runs"
    return [Table(title, ("What", "Number"), cells, ("left", "right"), (1, 0))]
