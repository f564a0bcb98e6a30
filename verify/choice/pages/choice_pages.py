"""A comparison on at most four pages: error against epsilon, what each record loses, the table, and the method."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from reports.numbers import format_count, format_number
from reports.row import (
    Audience,
    Badge,
    Block,
    Callout,
    Cell,
    Document,
    Fact,
    Facts,
    Figure,
    Mark,
    Paragraph,
    Section,
    Series,
    Style,
    Table,
    TextStyle,
    Tone,
)

from ...engine.rows import Row, number
from . import choice_words as words
from .printed_values import PrintedCell, agreement, printed_cell

#: Rows of the table that four pages have room for; the file of the table has all.
MOST_ROWS = 62
#: Reasons that there is room for.
MOST_NOTES = 10
#: An error so many times the trivial one is of no use, and is named in the caption instead of drawn.
USELESS = 3.0
#: The way that stands for a method in the figures: the first that it offers.
DRAWN = ("exact", "published")
RELATIONS = {"add-remove": "one record added or removed", "replace": "one record replaced"}
ORIGINS = {
    "records": "the records themselves",
    "public": "a public set",
    "synthetic": "synthetic records from the public domain",
}
_TONES = {"proved": Tone.GOOD, "broken": Tone.BAD, "not proved": Tone.WARNING}


def _published(header: Row) -> bool:
    return bool(header["origin"] == "records" and header["public"])


def is_private(header: Row) -> bool:
    """Return whether a comparison's numbers depend on records that are not public."""
    return bool(header["origin"] == "records" and not header["public"])


def _draws(header: Row) -> str:
    """Return how many draws there are on a fold."""
    return f"{header['draws']} draw{'' if header['draws'] == 1 else 's'}"


def document(header: Row, rows: Sequence[Row], seconds: Mapping[str, float], *, date: str) -> Document:
    """Return the pages of a comparison.

    Parameters
    ----------
    header, rows : mapping, sequence of mapping
        The record.
    seconds : mapping of str to float
        What each row took, by its name; no part of the record.
    date : str
        ISO date, or empty.
    """
    private = is_private(header)
    audience = Audience.CURATOR if private else Audience.RELEASE
    cells = [printed_cell(header["recipe"], row) for row in rows]
    figures = tuple(_figures(rows))
    parts = (
        ("What each record loses", figures[1:]),
        ("Every mechanism at every promise", tuple(_table(rows, seconds, cells))),
        ("Method", (_method(header),)),
    )
    filled = [(title, blocks) for title, blocks in parts if blocks]
    sections = tuple(Section(title, min(i + 1, 2), blocks, audience) for i, (title, blocks) in enumerate(filled))
    return Document(
        title="Which mechanism at which price",
        subtitle=f"{header['name']}: {format_count(header['n_records'])} records of {header['dim']} features, "
        f"{header['loss']} loss",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "utility", "comparison"),
        summary=_callout(header),
        front=(*_front(header, rows, cells), *figures[:1]),
        sections=sections,
        running_header="pdp-verify compare",
        audience=audience,
        confidential=private,
    )


def _callout(header: Row) -> Callout:
    title, _, text = words.first_line(header).partition(": ")
    return Callout(Tone.WARNING if is_private(header) else Tone.NEUTRAL, title, text[:1].upper() + text[1:])


def _front(header: Row, rows: Sequence[Row], cells: Sequence[PrintedCell | None]) -> Iterator[Block]:
    reader = "the curator of the records" if is_private(header) else "everybody"
    yield Facts(
        (
            Fact("For", reader),
            Fact("Made on", ORIGINS[header["origin"]] + (", which are public" if _published(header) else "")),
            Fact("Folds, draws", f"{header['folds']} folds, {_draws(header)} in each"),
            Fact("Seed", str(header["seed"])),
        ),
        wide=True,
    )
    if not header["complete"]:
        done = f"{format_count(header['cells_done'])} of {format_count(header['cells'])}"
        yield Paragraph(f"Not complete: {done} mechanisms were tried.", TextStyle.LEAD)
    yield Paragraph(f"Smallest error with a proved promise: {words.best_line(rows)}.", TextStyle.LEAD)
    yield Paragraph(words.exact_line(rows))
    found = [cell for cell in cells if cell is not None]
    if found:
        yield Paragraph(
            f"Against W18's tables for {header['recipe']}: {agreement(found)} Which cells are in bold, where the ± is "
            "one standard deviation and not 2 s/sqrt(10), is a reading: the copy shows no bold type, and the rule that "
            "the paper states for it was applied."
        )


def _figures(rows: Sequence[Row]) -> Iterator[Figure]:
    marks = {row["method"]: words.error_of(row) for row in words.references(rows) if not row["way"]}
    limit = USELESS * marks.get("trivial", math.inf)
    chosen = _drawn(rows)
    relations = [name for name in RELATIONS if any(row["neighbours"] == name for row in chosen)]
    for place, name in enumerate(relations):
        of_it = [row for row in chosen if row["neighbours"] == name]
        yield _error_figure(of_it, name, marks, limit)
        if place == 0:
            yield _record_figure(of_it, name)


def _drawn(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of the one way that stands for each method and relation, those with an error alone."""
    kept: list[Row] = []
    found = [row for row in rows if row["way"] in DRAWN and math.isfinite(words.error_of(row))]
    for method, relation in dict.fromkeys((row["method"], row["neighbours"]) for row in found):
        of_it = [row for row in found if (row["method"], row["neighbours"]) == (method, relation)]
        way = next(way for way in DRAWN if any(row["way"] == way for row in of_it))
        kept += sorted((row for row in of_it if row["way"] == way), key=lambda row: row["epsilon"])
    return kept


def _label(row: Row) -> str:
    return str(row["method"]) + ("" if row["way"] == "exact" else f", {row['way']}")


def _by_label(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(_label(row), []).append(row)
    return found


def _aside(rows: Sequence[Row], place: int, n_groups: int) -> float:
    """Return by which factor the points of a group stand beside their epsilon."""
    epsilons = sorted({row["epsilon"] for row in rows})
    gap = min((math.log(high / low) for low, high in itertools.pairwise(epsilons)), default=1.0)
    return math.exp(0.6 * min(gap, 2.0) / n_groups * (place - 0.5 * (n_groups - 1)))


def _error_figure(rows: Sequence[Row], relation: str, marks: Mapping[str, float], limit: float) -> Figure:
    groups = _by_label(rows)
    series = tuple(
        _points(
            label,
            [row for row in group if words.error_of(row) <= limit],
            ("error", "error_low", "error_high"),
            _aside(rows, place, len(groups)),
        )
        for place, (label, group) in enumerate(groups.items())
    )
    useless = [label for label, group in groups.items() if any(words.error_of(row) > limit for row in group)]
    left_out = f" Above {USELESS:g} times the trivial error, and left out: {', '.join(useless)}." if useless else ""
    shown = [row for row in rows if words.error_of(row) <= limit]
    best = min(shown or rows, key=words.error_of)
    return Figure(
        f"error-{relation}",
        f"Error against epsilon, {RELATIONS[relation]}",
        "Cross-validated error with its 95 % interval over the folds, exact calibration unless a label says otherwise; "
        f"points of one epsilon stand side by side.{left_out}",
        f"Points with intervals, one colour and marker a mechanism, against epsilon. Smallest error: {_label(best)} at "
        f"epsilon {best['epsilon']:g}. Horizontal lines: the non-private and the trivial error.",
        "promised epsilon (nats)",
        rows[0]["metric"],
        series,
        tuple(Mark("y", value, name) for name, value in marks.items() if math.isfinite(value)),
        x_scale="log",
        y_scale=_scale([words.error_of(row) for row in shown]),
    )


def _points(label: str, rows: Sequence[Row], columns: tuple[str, str, str], aside: float) -> Series:
    x = tuple(row["epsilon"] * aside for row in rows)
    y, low, high = (tuple(number(row[column]) for row in rows) for column in columns)
    return Series(label, x, y, low, high, Style.POINTS)


def _scale(values: Sequence[float]) -> str:
    positive = [value for value in values if value > 0]
    return "log" if len(positive) == len(values) > 0 and max(positive) > 20 * min(positive) else "linear"


def _record_figure(rows: Sequence[Row], relation: str) -> Figure:
    groups = _by_label(rows)
    columns = ("record_epsilon_median", "record_epsilon_median", "record_epsilon_largest")
    series = tuple(
        _points(
            label,
            [row for row in group if row["record_epsilon_median"] is not None],
            columns,
            _aside(rows, place, len(groups)),
        )
        for place, (label, group) in enumerate(groups.items())
    )
    epsilons = tuple(sorted({row["epsilon"] for row in rows}))
    return Figure(
        "record-epsilon",
        f"What each record loses, {RELATIONS[relation]}",
        "The same mechanisms in the same order: the marker is the epsilon of the median record at the promised delta, "
        "the bar goes up to the largest of all records. On the line a record loses all that is promised.",
        "Points with bars from the median to the largest per-record epsilon, one colour and marker a mechanism, "
        "against the promised epsilon, and the line on which both are the same.",
        "promised epsilon (nats)",
        "per-record epsilon (nats)",
        (*series, Series("the promise", epsilons, epsilons, style=Style.LINE)),
        x_scale="log",
        y_scale="log",
    )


def _table(rows: Sequence[Row], seconds: Mapping[str, float], cells: Sequence[PrintedCell | None]) -> Iterator[Block]:
    groups = words.by_promise(rows)
    bests = {id(best) for best in map(words.best_of, groups.values()) if best is not None}
    tried = [row for group in groups.values() for row in group if row["error"] is not None]
    most = MOST_ROWS - sum(cell is not None for cell in cells)
    shown = _shortened(groups, most) if len(tried) > most else tried
    replaced = any(row["neighbours"] == "replace" for row in rows)
    lines = tuple(
        _line(row, seconds.get(words.row_name(row)), replaced=replaced, best=id(row) in bests)
        for row in (*words.references(rows), *shown)
    )
    caption = "Record epsilon: of the median record, of 95 % of them, of all. Best: least error with a proved promise"
    if len(shown) < len(tried):
        caption += f"; {len(shown)} of {len(tried)} rows, the smallest errors of each promise (comparison.csv has all)"
    metric = next((row["metric"] for row in rows if row["metric"]), "error")
    headers = (
        "Epsilon",
        "Mechanism",
        "Calibration",
        "Promise",
        metric.capitalize(),
        "Median",
        "95 %",
        "All",
        "Seconds",
    )
    yield Table(caption, headers, lines, ("left",) * 4 + ("right",) * 5, (0.0,) * len(headers))
    yield from _printed(rows, cells)
    notes = words.reasons(rows)
    if notes:
        yield Paragraph("Notes: " + ". ".join(notes[:MOST_NOTES]) + ".", TextStyle.NOTE)


def _line(row: Row, seconds: float | None, *, replaced: bool, best: bool) -> tuple[Cell, ...]:
    epsilon = "" if row["epsilon"] is None else f"{row['epsilon']:g}" + (f", {row['neighbours']}" if replaced else "")
    losses = (row[f"record_epsilon_{name}"] for name in ("median", "95", "largest"))
    return (
        epsilon,
        row["method"] + (", best" if best else ""),
        row["way"],
        Badge(row["standing"], _TONES[row["standing"]]) if row["standing"] else "",
        words.error_words(row, typographic=True),
        *("" if loss is None else format_number(number(loss), 2, typographic=True) for loss in losses),
        "" if seconds is None else format_number(seconds, 2, typographic=True),
    )


def _shortened(groups: Mapping[words.Promised, Sequence[Row]], n_rows: int) -> list[Row]:
    most = max(n_rows // len(groups), 1)
    kept = [row for group in groups.values() for row in [row for row in group if row["error"] is not None][:most]]
    return kept[:n_rows]


def _printed(rows: Sequence[Row], cells: Sequence[PrintedCell | None]) -> Iterator[Block]:
    lines = tuple(
        (
            "" if row["epsilon"] is None else f"{row['epsilon']:g}",
            row["method"],
            row["way"],
            words.error_words(row, typographic=True),
            f"{format_number(cell.error, 3, typographic=True)} ± {format_number(cell.half_width, 3, typographic=True)}",
            "one standard deviation" if cell.bold else "2 s/sqrt(10)",
            Badge("within", Tone.GOOD) if cell.agrees else Badge("outside", Tone.NEUTRAL),
        )
        for row, cell in zip(rows, cells, strict=True)
        if cell is not None
    )
    if lines:
        headers = ("Epsilon", "Mechanism", "Calibration", "Error here", "Printed", "The ± read as", "Agreement")
        yield Table("Beside the printed cells", headers, lines, ("left",) * 3 + ("right",) * 2 + ("left",) * 2)


def _method(header: Row) -> Facts:
    numbers = sorted({promise["delta"] for promise in header["promises"]})
    deltas = ", ".join(format_number(delta, 3, typographic=True) for delta in numbers)
    relations = dict.fromkeys(RELATIONS[promise["neighbours"]] for promise in header["promises"])
    bounds = f"norm of a row at most {_bound(header['x_bound'])}, |response| at most {_bound(header['y_bound'])}"
    as_run = " As run: as the code of the published experiments has it." if header["as_run"] else ""
    items = {
        "Promises": f"Epsilon as in the table, delta {deltas}; {' and '.join(relations)}. Public domain: {bounds}.",
        "Error": f"{header['folds']} folds, the same for every mechanism; on each left-out fold the error of "
        f"coefficients learned from the others, the mean over {_draws(header)}; then the mean over folds, with "
        "a 95 % interval of Student's t over the folds. It says how folds vary, not how another sample would.",
        "Calibration": "Published is the rule as its paper prints it; exact the least noise for which this project "
        f"proves the promise. Both see public numbers alone.{as_run}",
        "Promise": "; ".join(f"{name}: {meaning}" for name, meaning in words.STANDINGS.items()) + ".",
        "Record epsilon": "What each record of the data loses, added or removed, when the mechanism runs on all, at "
        "the promised delta: by the exact law where it is known, else by a proved bound, else the promise itself.",
    }
    if header["data_dependent"]:
        read = "; ".join(header["data_dependent"])
        items["Read off the data"] = f"{read}. That is part of the mechanism, and no promise here covers it."
    steps = "; ".join(step for step in header["steps"] if step not in header["data_dependent"])
    if steps:
        items["Preparation"] = f"{steps if len(steps) <= 400 else steps[:397] + '...'}."
    return Facts(tuple(Fact(label, text) for label, text in items.items()), small=True)


def _bound(value: object) -> str:
    return format_number(number(value), 4, typographic=True)
