"""The tree of a failure probability as words and as a table: what it was split into, and what it was spent on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from audits.error_budget import Part
from reports.numbers import format_probability
from reports.row import Section, Table

from ...engine.rows import Row

#: Most rows of the table.
MOST = 40
#: Names of parts that are no words of their own.
WORDS = {"FORWARD": "drawn from the first data set", "BACKWARD": "drawn from the second data set"}


def budget_section(row: Row) -> Section:
    """Return the section of a record's row: the deepest parts of which a table has room for all."""
    leaves = row["leaves"]
    depth = max((len(leaf["place"]) for leaf in leaves), default=1)
    while depth > 1 and len({tuple(leaf["place"][:depth]) for leaf in leaves}) > MOST:
        depth -= 1
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for leaf in leaves:
        grouped.setdefault(tuple(leaf["place"][:depth]), []).append(leaf)
    rows = tuple(
        (
            ", ".join(WORDS.get(name, name) for name in place),
            format_probability(math.fsum(leaf["alpha"] for leaf in inside), typographic=True),
            f"{sum(leaf['spent'] for leaf in inside)} of {len(inside)}",
            ", ".join(dict.fromkeys(leaf["decided"] for leaf in inside if leaf["spent"])) or "nothing",
        )
        for place, inside in grouped.items()
    )
    columns = ("Part", "Failure probability", "Parts spent", "Spent on")
    widths, alignments = (1, 0, 0, 1), ("left", "right", "right", "left")
    return Section("How the failure probability was spent", 2, (Table("", columns, rows, alignments, widths),))


def tree_lines(parts: Sequence[Part]) -> list[str]:
    """Return a tree as lines, each part below what it belongs to."""
    lines = []
    for part in parts:
        name = WORDS.get(part.place[-1], part.place[-1]) if part.place else "failure probability"
        spent = f"  {part.decided}" if part.decided else ""
        lines.append(f"{'  ' * len(part.place)}{name:<40} {format_probability(part.alpha)}{spent}")
    return lines
