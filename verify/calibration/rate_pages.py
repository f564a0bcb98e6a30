"""The rates of a calibration on paper: one figure a level, one row a series with its levels side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

from reports.numbers import format_count
from reports.row import Badge, Block, Figure, Mark, Paragraph, Section, Series, Style, Table, TextStyle, Tone

from ..engine.rows import Row
from .series.series import LEVELS


def rate_sections(rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return the sections on true claims."""
    rates = [row for row in rows if row["kind"] == "rate" and row["level"] > 0]
    if not rates:
        return _exact(rows)
    blocks: list[Block] = [_figure(level, rates) for level in LEVELS]
    blocks.append(_rates("False alarms: share of audits that miss, with its exact 95 % interval", rates))
    two_sided = {(row["auditor"], row["law"]) for row in rates if row["high"]}
    ends = [row for row in rates if (row["auditor"], row["law"]) in two_sided]
    if ends:
        blocks.append(_ends(ends))
    controls = [row for row in rows if row["kind"] == "control"]
    if controls:
        blocks.append(_rates("Invalid auditors, which must be found out", controls))
    return (Section("False alarms on true claims", 1, tuple(blocks)), *_exact(rows))


def _series(rows: Iterable[Row]) -> list[dict[float, Row]]:
    """Return the rows of each series by level, in the order of the record."""
    found: dict[tuple[str, str], dict[float, Row]] = {}
    for row in rows:
        found.setdefault((row["auditor"], row["law"]), {})[row["level"]] = row
    return list(found.values())


def _rates(caption: str, rows: Sequence[Row]) -> Table:
    body = []
    for levels in _series(rows):
        one = next(iter(levels.values()))
        cells = tuple(_rate(levels.get(level)) for level in LEVELS)
        body.append((one["auditor"], one["law"], format_count(one["repeats"]), *cells, _badge(list(levels.values()))))
    columns = ("Auditor", "Law or claim", "Audits", *(f"Level {level:g}" for level in LEVELS), "Finding")
    return Table(caption, columns, tuple(body), ("left", "left", *("right",) * 4, "left"), (3, 4, 0, 0, 0, 0, 0))


def _rate(row: Row | None) -> str:
    if row is None:
        return ""
    low, high = row["interval"]
    return f"{row['any'] / row['repeats']:.4f}\n{low:.3f}-{high:.3f}"


def _badge(rows: Sequence[Row]) -> Badge:
    compatible = all(row["compatible"] for row in rows)
    if rows[0]["kind"] == "control":
        return Badge("not seen", Tone.NEUTRAL) if compatible else Badge("found out", Tone.GOOD)
    return Badge("compatible", Tone.GOOD) if compatible else Badge("too often", Tone.BAD)


def _ends(rows: Sequence[Row]) -> Table:
    def share(row: Row | None, end: str) -> str:
        return "" if row is None else f"{row[end] / row['repeats']:.4f}"

    body = []
    for levels in _series(rows):
        one = next(iter(levels.values()))
        cells = (share(levels.get(level), end) for level in LEVELS for end in ("low", "high"))
        body.append((one["auditor"], one["law"], *cells))
    columns = ("Auditor", "Law", *(f"{end} {level:g}" for level in LEVELS for end in ("Low,", "High,")))
    return Table(
        "The two ends of the intervals apart: the low one above the truth, the high one below it, at each level",
        columns,
        tuple(body),
        ("left", "left", *("right",) * 6),
        (3, 3, 0, 0, 0, 0, 0, 0),
    )


def _figure(level: float, rates: Sequence[Row]) -> Figure:
    rows = [row for row in rates if row["level"] == level]
    place = tuple(float(k) for k in range(1, len(rows) + 1))
    worst = max(rows, key=lambda row: row["any"] / row["repeats"], default=None)
    words = f"{worst['auditor']}, {worst['law']}" if worst else "none"
    return Figure(
        f"false-alarms-{level:g}",
        f"False-alarm rates at level {level:g}",
        "One point a series, in the order of the table, with exact 95 % intervals. Far below the line an auditor is "
        f"valid and cautious; above it, it would be wrong more often than it says. Highest: {words}.",
        f"Points with error bars, one a series, and a horizontal line at the level {level:g}; the highest is {words}.",
        "series, in the order of the table",
        "share of audits that miss",
        (
            Series(
                "measured",
                place,
                tuple(row["any"] / row["repeats"] for row in rows),
                tuple(row["interval"][0] for row in rows),
                tuple(row["interval"][1] for row in rows),
                Style.POINTS,
            ),
        ),
        (Mark("y", level, "nominal level"),),
    )


def _exact(rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return what needs no level: proved enclosures, predicted chances, sums over all counts."""
    proved = [row for row in rows if row["kind"] == "rate" and row["level"] == 0]
    predicted = [row for row in rows if row["kind"] == "prediction"]
    blocks: list[Block] = [
        Paragraph(
            "A proved enclosure may never miss; it is compared with closed forms at sixty digits, over random laws. A "
            "predicted chance must be met from both sides.",
            TextStyle.NOTE,
        )
    ]
    if proved:
        blocks.append(
            Table(
                "Proved enclosures",
                ("Auditor", "Law", "Laws drawn", "Missed", "Finding"),
                tuple(
                    (
                        row["auditor"],
                        row["law"],
                        format_count(row["repeats"]),
                        format_count(row["any"]),
                        Badge("none", Tone.GOOD) if row["compatible"] else Badge("missed", Tone.BAD),
                    )
                    for row in proved
                ),
                ("left", "left", "right", "right", "left"),
            )
        )
    if predicted:
        blocks.append(
            Table(
                "Predicted and observed chances of an outcome",
                ("Prediction", "Probability and claim", "Draws", "Audits", "Predicted", "Observed", "Finding"),
                tuple(
                    (
                        row["auditor"],
                        row["law"],
                        format_count(row["n_draws"]),
                        format_count(row["repeats"]),
                        f"{row['level']:.4f}",
                        _rate(row),
                        Badge("met", Tone.GOOD) if row["compatible"] else Badge("not met", Tone.BAD),
                    )
                    for row in predicted
                ),
                ("left", "left", "right", "right", "right", "right", "left"),
            )
        )
    exact = [row for row in rows if row["kind"] == "exact"]
    body = []
    for level in LEVELS:
        at_level = [row for row in exact if row["level"] == level]
        low, high = (max(at_level, key=itemgetter(end)) for end in ("low", "high"))
        body.append(
            (
                f"{level:g}",
                format_count(len(at_level)),
                f"{low['low']:.6f}",
                f"n = {low['n']}, p = {low['p']:g}",
                f"{high['high']:.6f}",
                f"n = {high['n']}, p = {high['p']:g}",
            )
        )
    blocks.append(
        Table(
            "Clopper-Pearson, by summation over all counts: largest probability of a miss at each end "
            "(at most level / 2)",
            ("Level", "Laws", "Low end", "at", "High end", "at"),
            tuple(body),
            ("right", "right", "right", "left", "right", "left"),
        )
    )
    return (Section("What is exact", 1, tuple(blocks)),)
