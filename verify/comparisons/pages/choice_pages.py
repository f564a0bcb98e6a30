"""A comparison on at most four pages: error against epsilon, what each record loses, the table, and the method."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.formats import write_document
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

from ...kernel.rows import Row, number
from ..choice_table import ChoiceRecord
from . import choice_words as words
from .choice_words import row_name
from .printed_values import PrintedCell, agreement, printed_cell

#: Rows of the table that four pages have room for; the file of the table has all.
MOST_ROWS = 62
#: Reasons that there is room for.
MOST_NOTES = 10
#: How far the points of one epsilon spread, on a logarithmic axis: of the way to the next epsilon, and of the axis.
OF_THE_GAP, OF_THE_AXIS = 0.4, 0.1
#: Epsilons that are nearer than this part of the axis have one label.
ONE_LABEL = 0.04
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

    ``seconds`` (what each row took, by its name) are no part of the record; ``date`` is an ISO date, or empty.
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
    sections = tuple(Section(title, 2, tuple(blocks), audience) for title, blocks in filled)
    return Document(
        title="Which mechanism at which price",
        subtitle=f"{header['name']}: {format_count(header['n_records'])} records of {header['dim']} features, "
        f"{header['loss']} loss",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "utility", "comparison"),
        summary=_callout(header),
        front=(*_front(header, rows, cells), *figures[:1]),
        sections=(Section("In detail", 1, (), audience), *sections),
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
    measured = words.measured_line(header)
    if measured:
        yield Paragraph(f"The error is {measured}.", TextStyle.NOTE)
    found = [cell for cell in cells if cell is not None]
    if found:
        yield Paragraph(
            f"Against W18's tables for {header['recipe']}: {agreement(found)} Which cells are in bold, where the ± is "
            "one standard deviation and not 2 s/sqrt(10), is a reading: the copy shows no bold type, and the rule that "
            "the paper states for it was applied."
        )


def _figures(rows: Sequence[Row]) -> Iterator[Figure]:
    marks = {row["method"]: words.error_of(row) for row in words.references(rows) if not row["way"]}
    trivial = words.trivial_error(rows)
    chosen = _drawn(rows)
    relations = [name for name in RELATIONS if any(row["neighbours"] == name for row in chosen)]
    for place, name in enumerate(relations):
        of_it = [row for row in chosen if row["neighbours"] == name]
        yield _error_figure(of_it, name, marks, trivial)
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


@dataclass(frozen=True)
class _Places:
    """Where the points of a figure stand: at their epsilon, a little apart; those of one epsilon each at a name."""

    epsilons: tuple[float, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[Row]) -> _Places:
        """Return the places of rows."""
        return cls(tuple(sorted({row["epsilon"] for row in rows})), tuple(_by_label(rows)))

    @property
    def by_name(self) -> bool:
        """Whether all rows have the same epsilon."""
        return len(self.epsilons) == 1

    @property
    def spread(self) -> float:
        """How far the points of one epsilon spread, as the logarithm of a factor."""
        logs = [math.log(epsilon) for epsilon in self.epsilons]
        gap = min(high - low for low, high in itertools.pairwise(logs))
        return min(OF_THE_GAP * gap, OF_THE_AXIS * (logs[-1] - logs[0]))

    def x(self, row: Row) -> float:
        """Return where a row stands."""
        place, n_places = self.labels.index(_label(row)), len(self.labels)
        if self.by_name:
            return float(place)
        return float(row["epsilon"]) * math.exp(self.spread * ((place + 0.5) / n_places - 0.5))

    def span(self, epsilon: float) -> tuple[float, float]:
        """Return from where to where the points of an epsilon stand."""
        if self.by_name:
            return -0.5, len(self.labels) - 0.5
        aside = math.exp(0.5 * self.spread)
        return epsilon / aside, epsilon * aside

    def points(self, label: str, rows: Sequence[Row], columns: tuple[str, str, str], floor: float) -> Series:
        """Return the points of a mechanism with their bars; ends below ``floor`` stand there."""
        y, low, high = (tuple(number(row[column]) for row in rows) for column in columns)
        low = tuple(max(end, floor) for end in low)
        return Series(label, tuple(map(self.x, rows)), y, low, high, Style.POINTS)

    def axis(self) -> dict[str, Any]:
        """Return the x axis: ticks at the promised epsilons and nowhere else, or at names."""
        if self.by_name:
            at = tuple(map(float, range(len(self.labels))))
            label = f"each at the promised epsilon {self.epsilons[0]:g} (nats)"
            return {"x_label": label, "x_at": at, "x_ticks": tuple(name.replace(" ", "\n") for name in self.labels)}
        apart = ONE_LABEL * math.log(self.epsilons[-1] / self.epsilons[0])
        texts, last = [], 0.0
        for epsilon in self.epsilons:
            near = last > 0 and math.log(epsilon / last) < apart
            texts.append("" if near else f"{epsilon:g}")
            last = last if near else epsilon
        ticks = {"x_at": self.epsilons, "x_ticks": tuple(texts)}
        return {"x_label": "promised epsilon (nats)", "x_scale": "log", **ticks}


def _error_figure(rows: Sequence[Row], relation: str, marks: Mapping[str, float], trivial: float) -> Figure:
    groups, places = _by_label(rows), _Places.of(rows)
    shown = [row for row in rows if not words.is_useless(row, trivial)]
    scale = _scale([words.error_of(row) for row in shown])
    floor = 0.5 * min(words.error_of(row) for row in shown) if scale == "log" else 0.0
    series = tuple(
        places.points(label, [row for row in group if row in shown], ("error", "error_low", "error_high"), floor)
        for label, group in groups.items()
    )
    useless = [label for label, group in groups.items() if any(words.is_useless(row, trivial) for row in group)]
    left_out = (
        f" Above {words.USELESS:g} times the trivial error, and left out: {', '.join(useless)}." if useless else ""
    )
    best = min(shown or rows, key=words.error_of)
    side = "" if places.by_name else "; points of one epsilon stand side by side around it"
    ends = "; an interval that goes below the axis ends there" if scale == "log" else ""
    return Figure(
        name=f"error-{relation}",
        title=f"Error against epsilon, {RELATIONS[relation]}",
        caption="Cross-validated error with its 95 % interval over the folds, cut at 0, exact calibration unless a "
        f"label says otherwise{side}{ends}.{left_out}",
        alt="Points with intervals, one colour and marker a mechanism, against epsilon. Smallest error: "
        f"{_label(best)} at epsilon {best['epsilon']:g}. Horizontal lines: the non-private and the trivial error.",
        y_label=rows[0]["metric"],
        series=series,
        marks=tuple(Mark("y", value, name) for name, value in marks.items() if math.isfinite(value)),
        y_scale=scale,
        y_from=floor,
        **places.axis(),
    )


def _scale(values: Sequence[float]) -> str:
    positive = [value for value in values if value > 0]
    return "log" if len(positive) == len(values) > 0 and max(positive) > 20 * min(positive) else "linear"


def _record_figure(rows: Sequence[Row], relation: str) -> Figure:
    places = _Places.of(rows)
    columns = ("record_epsilon_median", "record_epsilon_median", "record_epsilon_largest")
    series = tuple(
        places.points(label, [row for row in group if row["record_epsilon_median"] is not None], columns, 0.0)
        for label, group in _by_label(rows).items()
    )
    promise = tuple(
        Mark("y", epsilon, "" if place else "the promise", places.span(epsilon))
        for place, epsilon in enumerate(places.epsilons)
    )
    return Figure(
        name="record-epsilon",
        title=f"What each record loses, {RELATIONS[relation]}",
        caption="The same mechanisms in the same order: the marker is the epsilon of the median record at the promised "
        "delta, the bar goes up to the largest of all records. On the line above its epsilon a record loses all that "
        "is promised.",
        alt="Points with bars from the median to the largest per-record epsilon, one colour and marker a mechanism, "
        "against the promised epsilon, and for each promised epsilon a line at its height.",
        y_label="per-record epsilon (nats)",
        series=series,
        marks=promise,
        y_scale="log",
        **places.axis(),
    )


def _table(rows: Sequence[Row], seconds: Mapping[str, float], cells: Sequence[PrintedCell | None]) -> Iterator[Block]:
    groups = words.by_promise(rows)
    bests, trivial = {id(best) for best in words.bests(rows)}, words.trivial_error(rows)
    tried = [row for group in groups.values() for row in group if row["error"] is not None]
    most = MOST_ROWS - sum(cell is not None for cell in cells)
    shown = _shortened(groups, most) if len(tried) > most else tried
    replaced = any(row["neighbours"] == "replace" for row in rows)
    lines = tuple(
        _line(row, trivial, seconds.get(words.row_name(row)), replaced=replaced, best=id(row) in bests)
        for row in (*words.references(rows), *shown)
    )
    caption = (
        "Record epsilon: of the median record, of 95 % of them, the largest. Best: least error with a proved promise"
    )
    caption += ", below the trivial one" if math.isfinite(trivial) else ""
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
        "Largest",
        "Seconds",
    )
    yield Table(caption, headers, lines, ("left",) * 4 + ("right",) * 5, (0.0,) * len(headers))
    yield from _printed(rows, cells)
    notes = [*filter(None, [words.unsettled_line(rows)]), *words.reasons(rows)]
    if notes:
        yield Paragraph("Notes: " + ". ".join(notes[:MOST_NOTES]) + ".", TextStyle.NOTE)


def _line(row: Row, trivial: float, seconds: float | None, *, replaced: bool, best: bool) -> tuple[Cell, ...]:
    epsilon = "" if row["epsilon"] is None else f"{row['epsilon']:g}" + (f", {row['neighbours']}" if replaced else "")
    losses = (row[f"record_epsilon_{name}"] for name in ("median", "95", "largest"))
    return (
        epsilon,
        row["method"] + (", best" if best else ""),
        row["way"],
        Badge(row["standing"], _TONES[row["standing"]]) if row["standing"] else "",
        words.error_words(row, trivial, typographic=True),
        *("" if loss is None else format_number(number(loss), 2, typographic=True) for loss in losses),
        "" if seconds is None else format_number(seconds, 2, typographic=True),
    )


def _shortened(groups: Mapping[words.Promised, Sequence[Row]], n_rows: int) -> list[Row]:
    most = max(n_rows // len(groups), 1)
    kept = [row for group in groups.values() for row in [row for row in group if row["error"] is not None][:most]]
    return kept[:n_rows]


def _printed(rows: Sequence[Row], cells: Sequence[PrintedCell | None]) -> Iterator[Block]:
    trivial = words.trivial_error(rows)
    lines = tuple(
        (
            "" if row["epsilon"] is None else f"{row['epsilon']:g}",
            row["method"],
            row["way"],
            words.error_words(row, trivial, typographic=True),
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
        "a 95 % interval of Student's t over the folds, of which ± is the longer half; it is cut where no error can be "
        "(below 0, a rate above 1). It says how folds vary, not how another sample would.",
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


#: The files of a comparison.
LEAVES = ("comparison.jsonl", "comparison.csv", "run.json", "comparison.pdf", "comparison.html")


def names_of(comparison: ChoiceRecord) -> dict[str, float]:
    """Return what each row took, by its name, as ``run.json`` has it."""
    pairs = zip(comparison.rows, comparison.seconds, strict=False)
    return {row_name(row): round(seconds, 3) for row, seconds in pairs if seconds is not None}


def write_pages(comparison: ChoiceRecord, run: Mapping[str, Any], *paths: Path) -> None:
    """Write the pages of a comparison; the same record and ``run.json`` give the same bytes. Nothing is drawn."""
    date = str(run.get("finished", ""))[:10]
    taken = run.get("seconds_of")
    seconds = taken if isinstance(taken, Mapping) else {}
    pages = document(comparison.header, comparison.rows, seconds, date=date)
    for path in paths:
        write_document(pages, path, mode=0o600 if is_private(comparison.header) else 0o666)
