"""A calibration on paper: the verdict, a table of rates, a table of mutants, and three figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from reports.numbers import format_count, format_number
from reports.row import (
    Badge,
    Block,
    Bullets,
    Callout,
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

from .run import CONFIDENCE, FAILURE_PROB, FOUND, unexpected
from .series import LEVELS

Row = dict[str, Any]


def document(header: Mapping[str, Any], rows: Sequence[Row], *, date: str) -> Document:
    """Return the pages of a calibration, with an ISO date."""
    wrong = unexpected(list(rows))
    rates = [row for row in rows if row["kind"] == "rate"]
    mutants = [row for row in rows if row["kind"] == "mutant"]
    sections = [_rates(rates, [row for row in rows if row["kind"] == "control"]), _exact(rows)]
    if mutants:
        sections.append(_mutants(mutants))
    return Document(
        title="Calibration of the instrument",
        subtitle=f"{header['profile']} profile, seed {header['seed']}",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "calibration", "false alarms", "power"),
        summary=_callout(rates, mutants, wrong),
        front=_front(rates, wrong),
        sections=tuple(sections),
        running_header="pdp-verify calibrate",
    )


def _callout(rates: Sequence[Row], mutants: Sequence[Row], wrong: Sequence[str]) -> Callout:
    total = sum(row["repeats"] for row in rates)
    stated = [row for row in mutants if row["found"] is not None]
    found = f"; {sum(row['found'] for row in stated)} of {len(stated)} mutants are refuted" if stated else ""
    text = f"{format_count(total)} audits of true claims in {len(rates)} series{found}."
    if wrong:
        return Callout(Tone.BAD, f"{len(wrong)} findings are not as they should be", text)
    return Callout(Tone.GOOD, "Every false-alarm rate is compatible with its level", text)


def _front(rates: Sequence[Row], wrong: Sequence[str]) -> tuple[Block, ...]:
    blocks: list[Block] = [Bullets(tuple(wrong))] if wrong else []
    least = max((row["smallest_rate_refused"] for row in rates if row["level"] == LEVELS[-1]), default=0.0)
    return (
        *blocks,
        Paragraph(
            "Each auditor is run many times on mechanisms whose law is known in closed form. A false alarm is an "
            "interval that misses the exact value, which is when a claim that is true with equality would be called "
            "false. Its rate must not exceed the failure probability that the auditor was given."
        ),
        Facts(
            (
                Fact("A rate is refused when", "the exact (Clopper-Pearson) lower end of it exceeds the level"),
                Fact("Failure probability of this page", f"{FAILURE_PROB:g}, over all rates together"),
                Fact(f"Smallest rate refused at level {LEVELS[-1]:g}", f"{least:.3f}"),
            )
        ),
    )


def _rates(rates: Sequence[Row], controls: Sequence[Row]) -> Section:
    blocks: list[Block] = [_rate_figure(level, rates) for level in LEVELS]
    blocks.append(
        Table(
            "False alarms, with the two ends of the interval apart",
            (
                "Auditor",
                "Law",
                "Level",
                "Audits",
                "Low end above",
                "High end below",
                "Rate",
                "95 % interval",
                "Finding",
            ),
            tuple(_rate_cells(row) for row in rates),
            ("left", "left", *("right",) * 6, "left"),
        )
    )
    if controls:
        blocks.append(
            Table(
                "Invalid auditors, which must be found out",
                (
                    "Auditor",
                    "Law",
                    "Level",
                    "Audits",
                    "Low end above",
                    "High end below",
                    "Rate",
                    "95 % interval",
                    "Finding",
                ),
                tuple(_rate_cells(row) for row in controls),
                ("left", "left", *("right",) * 6, "left"),
            )
        )
    return Section("False alarms on true claims", 1, tuple(blocks))


def _rate_cells(row: Row) -> tuple[str | Badge, ...]:
    if row["kind"] == "control":
        badge = Badge("not seen here", Tone.NEUTRAL) if row["compatible"] else Badge("found out", Tone.GOOD)
    else:
        badge = Badge("compatible", Tone.GOOD) if row["compatible"] else Badge("too often", Tone.BAD)
    low, high = row["interval"]
    return (
        row["auditor"],
        row["law"],
        f"{row['level']:g}",
        format_count(row["repeats"]),
        format_count(row["low"]),
        format_count(row["high"]),
        f"{row['any'] / row['repeats']:.4f}",
        f"{low:.3f}-{high:.3f}",
        badge,
    )


def _rate_figure(level: float, rates: Sequence[Row]) -> Figure:
    rows = [row for row in rates if row["level"] == level]
    place = tuple(float(k) for k in range(1, len(rows) + 1))
    measured = tuple(row["any"] / row["repeats"] for row in rows)
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
                measured,
                tuple(row["interval"][0] for row in rows),
                tuple(row["interval"][1] for row in rows),
                Style.POINTS,
            ),
        ),
        (Mark("y", level, "nominal level"),),
    )


def _exact(rows: Sequence[Row]) -> Section:
    exact = [row for row in rows if row["kind"] == "exact"]
    body = []
    for level in LEVELS:
        mine = [row for row in exact if row["level"] == level]
        low, high = (max(mine, key=itemgetter(end)) for end in ("low", "high"))
        body.append(
            (
                f"{level:g}",
                format_count(len(mine)),
                f"{low['low']:.6f}",
                f"n = {low['n']}, p = {low['p']:g}",
                f"{high['high']:.6f}",
                f"n = {high['n']}, p = {high['p']:g}",
            )
        )
    table = Table(
        "Clopper-Pearson, by summation over all counts: largest probability of a miss at each end (at most level / 2)",
        ("Level", "Laws", "Low end", "at", "High end", "at"),
        tuple(body),
        ("right", "right", "right", "left", "right", "left"),
    )
    return Section("Rates that need no repetition", 2, (table,))


def _mutants(mutants: Sequence[Row]) -> Section:
    graded = [row for row in mutants if len(row["grades"]) > 1]
    single = [row for row in mutants if len(row["grades"]) == 1]
    first = mutants[0]
    blocks: list[Block] = [
        Paragraph(
            f"Each audit has a failure probability of {first['failure_prob']:g}. A mutant counts as found when the exact "
            f"{CONFIDENCE:.0%} lower end of the share of audits that refute it is at least {FOUND:g}.",
            TextStyle.NOTE,
        )
    ]
    for k, group in enumerate(_groups(graded), start=1):
        blocks.append(_power_figure(k, group))
    blocks.append(
        Table(
            "Mutants by degrees: the smallest strength that is found",
            ("Mutant", "Draws", "Grades tried", "Smallest found"),
            tuple(
                (
                    row["name"],
                    format_count(row["n_draws"]),
                    ", ".join(f"{grade['strength']:g}" for grade in row["grades"]),
                    "none" if row["smallest_found"] is None else format_number(row["smallest_found"]),
                )
                for row in graded
            ),
            ("left", "right", "left", "right"),
        )
    )
    if single:
        blocks.append(
            Table(
                "The bank of mutants at their stated strength",
                ("Mutant", "Draws", "Audits", "Refuted", "Lower end", "Finding"),
                tuple(
                    (
                        row["name"],
                        format_count(row["n_draws"]),
                        format_count(row["grades"][0]["repeats"]),
                        format_count(row["grades"][0]["refuted"]),
                        f"{row['grades'][0]['lower']:.3f}",
                        Badge("found", Tone.GOOD) if row["found"] else Badge("missed", Tone.BAD),
                    )
                    for row in single
                ),
                ("left", "right", "right", "right", "right", "left"),
            )
        )
    return Section("Power on mutants", 1, tuple(blocks))


def _groups(graded: Sequence[Row]) -> list[list[Row]]:
    noise = [row for row in graded if row["unit"] == "s"]
    return [group for group in ([row for row in graded if row["unit"] != "s"], noise) if group]


def _power_figure(number: int, rows: Sequence[Row]) -> Figure:
    series = tuple(
        Series(
            row["name"],
            tuple(grade["strength"] for grade in row["grades"]),
            tuple(grade["refuted"] / grade["repeats"] for grade in row["grades"]),
            tuple(grade["interval"][0] for grade in row["grades"]),
            tuple(grade["interval"][1] for grade in row["grades"]),
            Style.POINTS,
        )
        for row in rows
    )
    found = "; ".join(
        f"{row['name']}: " + ("none" if row["smallest_found"] is None else f"{row['smallest_found']:g}") for row in rows
    )
    return Figure(
        f"power-{number}",
        "Power curves: " + ("mechanisms broken by degrees" if rows[0]["unit"] != "s" else "one law, every auditor"),
        "Share of audits that refute the mutant, against its strength, with exact 95 % intervals.",
        f"Refutation rates against strength on a logarithmic axis; smallest strength found: {found}.",
        "strength of the violation",
        "share refuted",
        series,
        (Mark("y", FOUND, "found"),),
        x_scale="log",
    )
