"""A comparison on the terminal: a table for each promise, the best marked, and the printed cells of a recipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reports.numbers import format_number

from ...engine.rows import Row, number
from ...messages.terminal import labelled
from . import choice_words as words
from .printed_values import agreement, printed_cell

#: Before the row of the smallest error with a proved promise.
BEST = "*"
_HEAD = ("", "method", "way", "promise", "error", "median", "95 %", "largest", "s")
_RIGHT = 4


def lines(header: Row, rows: Sequence[Row], seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of a comparison, by epsilon and then error; the columns are as wide as what they hold.

    Parameters
    ----------
    header, rows : mapping, sequence of mapping
        The record; the printed cells of a published set are told too.
    seconds : mapping of str to float
        What each row took, by its name.
    """
    groups = words.by_promise(rows)
    bests, trivial = {id(best) for best in words.bests(rows)}, words.trivial_error(rows)
    blocks: list[tuple[str, list[tuple[str, ...]]]] = [("", [_HEAD])]
    for_nothing = words.references(rows)
    blocks.append(("", [_cells(row, trivial, seconds.get(words.row_name(row)), best=False) for row in for_nothing]))
    for (epsilon, delta, neighbours), group in groups.items():
        title = f"epsilon {epsilon:g}, delta {format_number(delta, 3)}, {neighbours}"
        cells = [_cells(row, trivial, seconds.get(words.row_name(row)), best=id(row) in bests) for row in group]
        blocks.append((title, cells))
    widths = [max(len(cells[i]) for _, block in blocks for cells in block) for i in range(len(_HEAD))]
    for title, block in blocks:
        yield from [title] if title else []
        yield from (_set(cells, widths) for cells in block)
    yield from _below(header, rows)


def _below(header: Row, rows: Sequence[Row]) -> Iterator[str]:
    recipe: str = header["recipe"]
    yield labelled("best *", f"smallest error with a proved promise: {words.best_line(rows)}", 8)
    yield labelled("exact", words.exact_line(rows), 8)
    about = (("error", words.measured_line(header)), ("note", words.unsettled_line(rows)))
    yield from (labelled(name, line, 8) for name, line in about if line)
    yield from (labelled("note", line, 8) for line in words.reasons(rows))
    found = [(row, cell) for row in rows if (cell := printed_cell(recipe, row)) is not None]
    if not found:
        return
    yield f"W18's printed cells for {recipe}: {agreement([cell for _, cell in found])}"
    trivial = words.trivial_error(rows)
    for row, cell in found:
        where = " ".join(
            filter(None, (row["method"], row["way"], "" if row["epsilon"] is None else f"{row['epsilon']:g}"))
        )
        printed = f"{format_number(cell.error, 3)} ± {format_number(cell.half_width, 3)}"
        yield f"  {where:<25} {words.error_words(row, trivial):<17} printed {printed:<16} {cell.words}"


def _cells(row: Row, trivial: float, seconds: float | None, *, best: bool) -> tuple[str, ...]:
    losses = (row[f"record_epsilon_{name}"] for name in ("median", "95", "largest"))
    return (
        BEST if best else "",
        row["method"],
        row["way"],
        row["standing"],
        words.error_words(row, trivial),
        *("-" if loss is None else format_number(number(loss), 2) for loss in losses),
        "" if seconds is None else format_number(seconds, 2),
    )


def _set(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if place < _RIGHT else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return " ".join(padded).rstrip()
