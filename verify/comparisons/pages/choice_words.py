"""A comparison of mechanisms in words, on a terminal that is as wide as it is."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reports.numbers import format_number

from ...kernel.rows import Row, number
from ...messages.texts import labelled
from .printed_values import agreement, printed_cell

#: Where the records come from -> the first line of every output, its title before the colon.
FIRST: dict[str, str] = {
    "records": (
        "An experiment on the data, not a release: its numbers depend on every record and stay inside. A mechanism "
        "chosen by them is chosen from the data."
    ),
    "published": (
        "An experiment on published data, not a release: a mechanism chosen by these numbers for these very records is "
        "chosen from the data."
    ),
    "public": (
        "An experiment on a public set, not a release: no private record was read, and a choice made from it costs "
        "nothing."
    ),
    "synthetic": (
        "An experiment on synthetic records, not a release: they were drawn from the public domain, no private record "
        "was read, and a choice made from them costs nothing."
    ),
}
#: What is known of a calibration's promise, for a reader.
STANDINGS: dict[str, str] = {
    "proved": "the promise is proved here over every data set of the public domain",
    "broken": "a pair of neighbouring data sets that can be built exceeds it",
    "not proved": "neither: the promise rests on the paper's word, or on a condition that is not met",
}
#: An error so many times the trivial one is of no use: an average that a few draws decide, and that need not settle.
USELESS = 3.0
#: Beside such an error.
UNSETTLED = f">{USELESS:g}x"
#: What a step that changes what an error is measured on has in its name.
_CHANGING = ("clipped", "rows scaled", "divided")
#: Methods that promise nothing.
WITHOUT_PRIVACY = ("non-private", "trivial")
#: Order of the ways that a method is calibrated.
WAYS = ("", "published", "exact", "as run")
Promised = tuple[float, float, str]


def first_line(header: Row) -> str:
    """Return the first line of every output of a comparison: what it was made on, and what it is not."""
    return FIRST["published" if header["origin"] == "records" and header["public"] else header["origin"]]


def promised(row: Row) -> Promised:
    """Return what a row's mechanism was set up for: epsilon, delta and the neighbours."""
    return row["epsilon"], row["delta"], row["neighbours"]


def row_name(row: Row) -> str:
    """Return what names a row among those of one comparison, as ``Contender.name`` does."""
    promise = "" if row["epsilon"] is None else f"epsilon {row['epsilon']:g} ({row['neighbours']})"
    return ", ".join(filter(None, (row["method"], row["way"], promise)))


def references(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of what promises nothing: the non-private estimate and the trivial one."""
    return [row for row in rows if row["method"] in WITHOUT_PRIVACY and row["epsilon"] is None]


def by_promise(rows: Iterable[Row]) -> dict[Promised, list[Row]]:
    """Return the rows of each promise: by neighbours, then epsilon; in each the smallest error first, no error last."""
    found: dict[Promised, list[Row]] = {}
    for row in rows:
        if row["epsilon"] is not None:
            found.setdefault(promised(row), []).append(row)
    ordered = sorted(found, key=lambda promise: (promise[2], promise[0], promise[1]))
    return {promise: sorted(found[promise], key=_place) for promise in ordered}


def _place(row: Row) -> tuple[bool, float, str, int]:
    error = error_of(row)
    return row["error"] is None, math.inf if math.isnan(error) else error, row["method"], WAYS.index(row["way"])


def error_of(row: Row) -> float:
    """Return the cross-validated error of a row; nan where there is none."""
    return math.nan if row["error"] is None else number(row["error"])


def half_width(row: Row) -> float:
    """Return half the width of the error's interval; nan where there is none."""
    if row["error_low"] is None or row["error_high"] is None:
        return math.nan
    error = error_of(row)
    if not math.isfinite(error):
        return error
    return max(number(row["error_high"]) - error, error - number(row["error_low"]))


def trivial_error(rows: Iterable[Row]) -> float:
    """Return the error of predicting 0; infinite where that was not tried."""
    found = [error_of(row) for row in references(rows) if row["method"] == "trivial"]
    return found[0] if found and not math.isnan(found[0]) else math.inf


def is_useless(row: Row, trivial: float) -> bool:
    """Return whether an error is so far above the trivial one that it need not settle from seed to seed."""
    return error_of(row) > USELESS * trivial


def error_words(row: Row, trivial: float = math.inf, *, typographic: bool = False) -> str:
    """Return error and half width of its interval with three and two digits, and a mark where it need not settle."""
    error, width = error_of(row), half_width(row)
    if math.isnan(error):
        return "–" if typographic else "-"
    words = format_number(error, 3, typographic=typographic)
    words += "" if math.isnan(width) else f" ± {format_number(width, 2, typographic=typographic)}"
    return f"{words} {UNSETTLED}" if is_useless(row, trivial) else words


def worthwhile(rows: Sequence[Row]) -> dict[Promised, list[Row]]:
    """Return for each promise the rows that keep it by a proof and have less error than predicting 0, the least first.

    Promises in the order of ``by_promise``. An error that is not below the trivial one buys nothing for its noise, and
    no such mechanism is called best.
    """
    below = trivial_error(rows)
    return {
        promise: [row for row in group if row["standing"] == "proved" and error_of(row) < below]
        for promise, group in by_promise(rows).items()
    }


def bests(rows: Sequence[Row]) -> list[Row]:
    """Return the row of the smallest error among those that are worthwhile, for each promise that has one."""
    return [group[0] for group in worthwhile(rows).values() if group]


def best_line(rows: Sequence[Row]) -> str:
    """Return which mechanism has the smallest error at which epsilons, and at which none is better than nothing.

    Promises that are not proved do not count.
    """
    tried = math.isfinite(trivial_error(rows))
    none = f"no mechanism with a proved promise {'beats predicting 0' if tried else 'has a finite error'}"
    groups = worthwhile(rows)
    found: dict[tuple[str, str], list[str]] = {}
    for (epsilon, _, neighbours), group in groups.items():
        what = f"{group[0]['method']} ({group[0]['way']})" if group else none
        found.setdefault((neighbours, what), []).append(f"{epsilon:g}")
    several = len({neighbours for _, _, neighbours in groups}) > 1
    words = [
        f"{what} at epsilon {', '.join(at)}" + (f" for {neighbours}" if several else "")
        for (neighbours, what), at in found.items()
    ]
    return "; ".join(words) or "none"


def exact_gains(rows: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return the published and the exact row of every method and promise that have a finite error both ways."""
    pairs = []
    for group in by_promise(rows).values():
        ways = {(row["method"], row["way"]): row for row in group if math.isfinite(error_of(row))}
        for method in dict.fromkeys(method for method, _ in ways):
            if (method, "published") in ways and (method, "exact") in ways:
                pairs.append((ways[method, "published"], ways[method, "exact"]))
    return pairs


def exact_line(rows: Sequence[Row]) -> str:
    """Return in a sentence or two what the exact calibration buys over the published one, where errors are of use."""
    trivial = trivial_error(rows)
    both = exact_gains(rows)
    if not both:
        return "No mechanism here has both a published and an exact calibration."
    pairs = [pair for pair in both if not any(is_useless(row, trivial) for row in pair)]
    settled = f"errors are both at most {USELESS:g} times the trivial one"
    if not pairs:
        return f"No mechanism has a published and an exact calibration whose {settled}: what exact buys is not told."
    less = [(exact, error_of(exact) / error_of(published)) for published, exact in pairs if error_of(published) > 0]
    line = (
        f"Exact calibration has the smaller error in {sum(ratio < 1 for _, ratio in less)} of {len(pairs)} comparisons"
        + (f" whose {settled}" if math.isfinite(trivial) else "")
    )
    if less:
        best, ratio = min(less, key=lambda each: each[1])
        middle = format_number(statistics.median(ratio for _, ratio in less), 3)
        where = f"{best['method']} at epsilon {best['epsilon']:g}"
        line += f" (median ratio {middle}, least {format_number(ratio, 3)}: {where})"
    lost = [published for published, exact in pairs if published["standing"] != exact["standing"] == "proved"]
    if lost:
        methods = ", ".join(dict.fromkeys(row["method"] for row in lost))
        line += f"; the published calibration is not proved for {len(lost)} of them ({methods}), the exact one is"
    return line + "."


def unsettled_line(rows: Sequence[Row]) -> str:
    """Return what the mark beside an error says, or nothing where no error has it."""
    trivial = trivial_error(rows)
    if not any(is_useless(row, trivial) for row in rows):
        return ""
    return (
        f"{UNSETTLED} marks an error above {USELESS:g} times the trivial one: the average over draws does not settle, "
        "and another seed may give another order of magnitude"
    )


def measured_line(header: Row) -> str:
    """Return on what the error is measured, where responses were clipped or divided, or rows scaled; else nothing."""
    steps = [step for step in dict.fromkeys((*header["steps"], *header["data_dependent"])) if _changes(step)]
    return f"measured on the records as prepared: {'; '.join(steps)}" if steps else ""


def _changes(step: str) -> bool:
    return not step.startswith("features") and any(word in step for word in _CHANGING)


def reasons(rows: Iterable[Row]) -> list[str]:
    """Return why numbers are missing or not as they seem: each reason once, with the mechanism and its promises."""
    why: dict[tuple[str, str, str], list[str]] = {}
    for (epsilon, _, neighbours), group in by_promise(rows).items():
        for row in group:
            if row["reason"]:
                at = f"{epsilon:g}" + (" (replace)" if neighbours == "replace" else "")
                why.setdefault((row["method"], row["way"], row["reason"]), []).append(at)
    return [f"{method} ({way}) at {', '.join(at)}: {reason}" for (method, way, reason), at in why.items()]


#: Before the row of the smallest error with a proved promise.
BEST = "*"
_HEAD = ("", "method", "way", "promise", "error", "median", "95 %", "largest", "s")
_RIGHT = 4


def lines(header: Row, rows: Sequence[Row], seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield the lines of a comparison, by epsilon and then error; the columns are as wide as what they hold.

    ``seconds`` has what each row took, by its name; the printed cells of a published set are told too.
    """
    groups = by_promise(rows)
    best_rows, trivial = {id(best) for best in bests(rows)}, trivial_error(rows)
    blocks: list[tuple[str, list[tuple[str, ...]]]] = [("", [_HEAD])]
    for_nothing = references(rows)
    blocks.append(("", [_cells(row, trivial, seconds.get(row_name(row)), best=False) for row in for_nothing]))
    for (epsilon, delta, neighbours), group in groups.items():
        title = f"epsilon {epsilon:g}, delta {format_number(delta, 3)}, {neighbours}"
        cells = [_cells(row, trivial, seconds.get(row_name(row)), best=id(row) in best_rows) for row in group]
        blocks.append((title, cells))
    widths = [max(len(cells[i]) for _, block in blocks for cells in block) for i in range(len(_HEAD))]
    for title, block in blocks:
        yield from [title] if title else []
        yield from (_set(cells, widths) for cells in block)
    yield from _below(header, rows)


def _below(header: Row, rows: Sequence[Row]) -> Iterator[str]:
    recipe: str = header["recipe"]
    yield labelled("best *", f"smallest error with a proved promise: {best_line(rows)}", 8)
    yield labelled("exact", exact_line(rows), 8)
    about = (("error", measured_line(header)), ("note", unsettled_line(rows)))
    yield from (labelled(name, line, 8) for name, line in about if line)
    yield from (labelled("note", line, 8) for line in reasons(rows))
    found = [(row, cell) for row in rows if (cell := printed_cell(recipe, row)) is not None]
    if not found:
        return
    yield f"W18's printed cells for {recipe}: {agreement([cell for _, cell in found])}"
    trivial = trivial_error(rows)
    for row, cell in found:
        where = " ".join(
            filter(None, (row["method"], row["way"], "" if row["epsilon"] is None else f"{row['epsilon']:g}"))
        )
        printed = f"{format_number(cell.error, 3)} ± {format_number(cell.half_width, 3)}"
        yield f"  {where:<25} {error_words(row, trivial):<17} printed {printed:<16} {cell.words}"


def _cells(row: Row, trivial: float, seconds: float | None, *, best: bool) -> tuple[str, ...]:
    losses = (row[f"record_epsilon_{name}"] for name in ("median", "95", "largest"))
    return (
        BEST if best else "",
        row["method"],
        row["way"],
        row["standing"],
        error_words(row, trivial),
        *("-" if loss is None else format_number(number(loss), 2) for loss in losses),
        "" if seconds is None else format_number(seconds, 2),
    )


def _set(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if place < _RIGHT else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return " ".join(padded).rstrip()
