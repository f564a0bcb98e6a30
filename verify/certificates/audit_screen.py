"""The answer of an audit on a terminal: a box, the verdict in colour, and the trade-off curve in characters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.panel import Panel
from rich.text import Text

from audits.verdict import Decision

from .audit_picture import claimed_curve, errors_seen, lies_below, point_curve

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from .audit_call import AuditResult

COLOURS = {Decision.PASS: "green", Decision.FAIL: "red", Decision.UNDECIDED: "yellow"}
#: Columns of the box, and of the curve and its rows.
WIDTH, COLUMNS, ROWS = 80, 56, 11
#: Signs of the claimed curve, the certified one, an event, and one that refutes; without Unicode the second row.
SIGNS = ("·", "+", "o", "●"), (".", "+", "o", "X")


def screen(audit: AuditResult, console: Console) -> RenderableType:
    """Return the summary in a box, with the curve below it where the console is wide enough and something was seen."""
    first, *others = audit.summary().splitlines()
    colour = COLOURS[audit.decision]
    text = Text.assemble((audit.verdict, f"bold {colour}"), first.removeprefix(audit.verdict), "\n", "\n".join(others))
    plot = curve_in_characters(audit, unicode=console.encoding.startswith("utf")) if console.width >= WIDTH else None
    return Panel(text if plot is None else Group(text, "", plot), border_style=colour, width=min(WIDTH, console.width))


def curve_in_characters(audit: AuditResult, *, unicode: bool = True) -> Text | None:
    """Return the claimed trade-off curve, the certified one, and the events that were seen; None where none was."""
    seen = errors_seen(audit)
    if not seen:
        return None
    claimed, certified, event, wrong = SIGNS[not unicode]
    at = (np.arange(COLUMNS) + 0.5) / COLUMNS
    cells = [[(" ", "")] * COLUMNS for _ in range(ROWS)]

    def mark(x: float, y: float, sign: str, style: str) -> None:
        column, row = min(int(x * COLUMNS), COLUMNS - 1), min(int((1.0 - y) * ROWS), ROWS - 1)
        cells[row][column] = (sign, style)

    refuted, bounded = audit.decision is Decision.FAIL, 0 < audit.epsilon_lower < math.inf
    if bounded:
        for x, y in zip(at, point_curve(at, audit.epsilon_lower, audit.point[1]), strict=True):
            mark(x, y, certified, "red" if refuted else "green")
    for x, y in zip(at, claimed_curve(audit, at), strict=True):
        mark(x, y, claimed, "blue")
    for errors in seen:
        (x, _), (y, _) = errors
        bad = refuted and lies_below(audit, errors)
        mark(x, y, wrong if bad else event, "bold red" if bad else "green")
    bar, corner, line = ("│", "└", "─") if unicode else ("|", "+", "-")
    found = Text("false negatives\n")
    for number, row in enumerate(cells):
        label = {0: "1", ROWS - 1: "0"}.get(number, " ")
        found.append(f"{label:>3} {bar}")
        found.append(Text.assemble(*row))
        found.append("\n")
    end = "false positives 1"
    found.append(f"    {corner}{line * COLUMNS}\n     0{end:>{COLUMNS - 1}}\n")
    known = f", {certified} epsilon {math.floor(audit.epsilon_lower * 1000) / 1000:g}" if bounded else ""
    found.append(f"     {claimed} claimed{known}, {f'{wrong} seen, refutes it' if refuted else f'{event} seen'}")
    return found
