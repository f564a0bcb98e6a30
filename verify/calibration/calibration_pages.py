"""A calibration on paper: the verdict first, then rates, what is exact, power, and how to make it again."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from reports.formats import write_document
from reports.numbers import format_count, format_number
from reports.row import (
    Badge,
    Block,
    Bullets,
    Callout,
    Cell,
    Code,
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

from ..kernel.rows import Row
from .calibration_record import CONFIDENCE, FAILURE_PROB, FOUND, Calibration, unexpected
from .series.series import DEFAULT_DRAWS, LEVELS


def document(calibration: Calibration, *, date: str) -> Document:
    """Return the pages of a calibration, with an ISO date (or none)."""
    header = calibration.header
    wrong = unexpected(calibration.rows, complete=calibration.complete)
    return Document(
        title="Calibration of the instrument",
        subtitle=f"{header['profile']} profile, seed {header['seed']}",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "calibration", "false alarms", "power"),
        summary=_callout(calibration, wrong),
        front=_front(calibration, wrong),
        sections=(*_rate_sections(calibration.rows), *_power_sections(calibration.rows), _again(header)),
        running_header="pdp-verify calibrate",
    )


def _of(calibration: Calibration, kind: str) -> list[Row]:
    return [row for row in calibration.rows if row["kind"] == kind]


def _callout(calibration: Calibration, wrong: list[str]) -> Callout:
    rates, mutants = _of(calibration, "rate"), _of(calibration, "mutant")
    stated = [row for row in mutants if row["found"] is not None]
    mutants_found = f"; {sum(row['found'] for row in stated)} of {len(stated)} mutants are found" if stated else ""
    total = format_count(sum(row["repeats"] for row in rates))
    text = f"{total} audits of true claims, {len(rates)} rates{mutants_found}."
    if wrong:
        many = f"{len(wrong)} findings are not as they should be"
        return Callout(Tone.BAD, "One finding is not as it should be" if len(wrong) == 1 else many, text)
    if not calibration.complete:
        done, planned = (format_count(calibration.header[name]) for name in ("tasks_done", "tasks"))
        why = "Not complete" if calibration.crashed else "Interrupted"
        return Callout(Tone.WARNING, f"{why}: {done} of {planned} tasks were done", text)
    return Callout(Tone.GOOD, "Every false-alarm rate is compatible with its level", text)


def _front(calibration: Calibration, wrong: list[str]) -> tuple[Block, ...]:
    crashes = [f"A worker process died every time at {name}; it has no count" for name in calibration.crashed]
    blocks: list[Block] = [Bullets((*wrong, *crashes))] if wrong or crashes else []
    if not calibration.complete:
        text = (
            "What follows is what was counted so far. A rate that is too high counts all the same; "
            "a mutant or an invalid auditor that was not found yet says nothing."
        )
        blocks.append(Paragraph(text))
    rates = [row for row in _of(calibration, "rate") if row["level"] == LEVELS[-1]]
    least = max((row["smallest_rate_refused"] for row in rates), default=0.0)
    broken = (
        "The quick profile tests no mutants (mechanisms that are broken on purpose)."
        if calibration.header["profile"] == "quick" and not _of(calibration, "mutant")
        else "It is then run on mechanisms that are broken on purpose, to see how often it says so."
    )
    return (
        *blocks,
        Paragraph(
            "Each auditor is run many times on mechanisms whose law is known exactly. A false alarm is an interval "
            "that misses the exact value, which is when a claim that is true with equality would be called false. Its "
            f"rate must not exceed the failure probability that the auditor was given (the level). {broken}"
        ),
        Facts(
            (
                Fact("A rate is refused when", "the exact (Clopper-Pearson) lower end of it exceeds the level"),
                Fact("Failure probability of this page", f"{FAILURE_PROB:g}, over all rates together"),
                Fact(f"Largest rate that could pass at level {LEVELS[-1]:g}", f"below {least:.3f}"),
                *_smallest(_of(calibration, "mutant")),
            )
        ),
    )


def _smallest(mutants: list[Row]) -> tuple[Fact, ...]:
    """Return the smallest slight violation that each auditor finds, the sharpest one first."""
    slight = [row for row in mutants if row["unit"] == "s"]
    order = sorted(slight, key=lambda row: math.inf if row["smallest_found"] is None else row["smallest_found"])
    words = (
        f"{row['auditor']} " + ("none" if row["smallest_found"] is None else f"{100 * row['smallest_found']:g} %")
        for row in order
    )
    return (Fact("Smallest violation found, of those tried", "; ".join(words)),) if slight else ()


def _again(header: Row) -> Section:
    command = shlex.join(["pdp-verify", "calibrate", "--profile", header["profile"], "--seed", str(header["seed"])])
    versions = ", ".join(f"{name} {version}" for name, version in header["versions"].items())
    return Section(
        "How to make this page again",
        1,
        (
            Code(command, "Draws everything again; on the same platform the record is the same to the byte"),
            Code("pdp-verify report calibration.jsonl -o calibration.pdf", "Renders the record; draws nothing"),
            Facts(
                (
                    Fact("Versions", versions),
                    Fact("Platform", header["platform"]),
                    Fact("Digest of the sources", header["sources"]),
                )
            ),
        ),
    )


def _rate_sections(rows: Sequence[Row]) -> tuple[Section, ...]:
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
    caption = "The two ends of the intervals apart: the low one above the truth, the high one below it, at each level"
    return Table(caption, columns, tuple(body), ("left", "left", *("right",) * 6), (3, 3, 0, 0, 0, 0, 0, 0))


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
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (
                row["auditor"],
                row["law"],
                format_count(row["repeats"]),
                format_count(row["any"]),
                Badge("none", Tone.GOOD) if row["compatible"] else Badge("missed", Tone.BAD),
            )
            for row in proved
        )
        columns: tuple[str, ...] = ("Auditor", "Law", "Laws drawn", "Missed", "Finding")
        blocks.append(Table("Proved enclosures", columns, cells, ("left", "left", "right", "right", "left")))
    if predicted:
        cells = tuple(
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
        )
        columns = ("Prediction", "Probability and claim", "Draws", "Audits", "Predicted", "Observed", "Finding")
        aligned = ("left", "left", *("right",) * 4, "left")
        blocks.append(Table("Predicted and observed chances of an outcome", columns, cells, aligned))
    exact = [row for row in rows if row["kind"] == "exact"]
    body = []
    for level in LEVELS:
        at_level = [row for row in exact if row["level"] == level]
        worst = [(end, max(at_level, key=itemgetter(end))) for end in ("low", "high")]
        ends = [cell for end, row in worst for cell in (f"{row[end]:.6f}", f"n = {row['n']}, p = {row['p']:g}")]
        body.append((f"{level:g}", format_count(len(at_level)), *ends))
    caption = (
        "Clopper-Pearson, by summation over all counts: largest probability of a miss at each end (at most level / 2)"
    )
    columns = ("Level", "Laws", "Low end", "at", "High end", "at")
    blocks.append(Table(caption, columns, tuple(body), ("right", "right", "right", "left", "right", "left")))
    return (Section("What is exact", 1, tuple(blocks)),)


#: Most curves of one figure.
CURVES = 4


def _power_sections(rows: Sequence[Row]) -> tuple[Section, ...]:
    """Return the section on mutants, if any were audited."""
    mutants = [row for row in rows if row["kind"] == "mutant"]
    if not mutants:
        return ()
    graded = [row for row in mutants if row["graded"]]
    blocks: list[Block] = [
        Paragraph(
            f"Each audit has a failure probability of {mutants[0]['failure_prob']:g}. A mutant counts as found when "
            f"the exact {CONFIDENCE:.0%} lower end of the share of audits that refute it is at least {FOUND:g}. The "
            f"default budget is {format_count(DEFAULT_DRAWS)} mechanism evaluations; the tables name every other one.",
            TextStyle.NOTE,
        )
    ]
    blocks += [_power_figure(number, group) for number, group in enumerate(_groups(graded), start=1)]
    if graded:
        blocks.append(_by_degrees(graded))
    stated = [row for row in mutants if not row["graded"]]
    if stated:
        blocks.append(_stated(stated))
    return (Section("Power on mutants", 1, tuple(blocks)),)


def _stated(rows: Sequence[Row]) -> Table:
    cells = tuple(
        (
            row["name"],
            row["auditor"],
            *(format_count(n) for n in (row["n_draws"], grade["repeats"], grade["refuted"])),
            f"{grade['lower']:.3f}",
            Badge("found", Tone.GOOD) if row["found"] else Badge("missed", Tone.BAD),
        )
        for row in rows
        for grade in row["grades"][:1]
    )
    columns = ("Mutant", "Refuted by", "Draws", "Audits", "Refuted", "Lower end", "Finding")
    aligned = ("left", "left", *("right",) * 4, "left")
    return Table("The bank of mutants at their stated strength", columns, cells, aligned)


def _by_degrees(rows: Sequence[Row]) -> Table:
    cells = tuple(
        (
            row["name"],
            format_count(row["n_draws"]),
            ", ".join(f"{g['strength']:g}: {g['refuted']}/{g['repeats']}" for g in row["grades"]),
            "none" if row["smallest_found"] is None else format_number(row["smallest_found"]),
            "" if row["stated"] is None else format_number(row["stated"]),
        )
        for row in rows
    )
    caption = "Mutants by degrees: refutations at each strength, and the smallest strength that is found"
    columns = ("Mutant", "Draws", "Strength: refuted", "Smallest found", "Stated")
    return Table(caption, columns, cells, ("left", "right", "left", "right", "right"), (4, 0, 5, 0, 0))


def _groups(graded: Sequence[Row]) -> list[list[Row]]:
    """Return mechanisms that break by degrees, then slight violations, a few curves each."""
    groups = []
    for kind in ([r for r in graded if r["unit"] != "s"], [r for r in graded if r["unit"] == "s"]):
        n_figures = -(-len(kind) // CURVES)
        groups += [kind[k::n_figures] for k in range(n_figures)]
    return groups


def _power_figure(number: int, rows: Sequence[Row]) -> Figure:
    by_auditor = rows[0]["unit"] == "s"
    smallest = "; ".join(
        f"{row['name']}: " + ("none" if row["smallest_found"] is None else f"{row['smallest_found']:g}") for row in rows
    )
    return Figure(
        f"power-{number}",
        "Power: " + ("slight violations, by auditor" if by_auditor else "mechanisms broken by degrees"),
        "Share of audits that refute the mutant, against its strength, with exact 95 % intervals.",
        f"Refutation rates against strength on a logarithmic axis; smallest strength found: {smallest}.",
        "strength of the violation, per cent",
        "share refuted",
        tuple(
            Series(
                row["auditor"] if by_auditor else row["name"],
                tuple(100 * grade["strength"] for grade in row["grades"]),
                tuple(grade["refuted"] / grade["repeats"] for grade in row["grades"]),
                tuple(grade["interval"][0] for grade in row["grades"]),
                tuple(grade["interval"][1] for grade in row["grades"]),
            )
            for row in rows
        ),
        (Mark("y", FOUND, "found"),),
        x_scale="log",
    )


def render(calibration: Calibration, run: Mapping[str, Any], path: Path) -> None:
    """Write the pages of a calibration; the same record and ``run.json`` give the same bytes. Nothing is drawn."""
    write_document(document(calibration, date=str(run.get("finished", ""))[:10]), path)
