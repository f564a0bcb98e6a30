"""Power on paper: curves of the mutants by degrees, the smallest that is found, and the bank at its stated strength."""

from __future__ import annotations

from collections.abc import Sequence

from reports.numbers import format_count, format_number
from reports.row import Badge, Block, Figure, Mark, Paragraph, Section, Series, Table, TextStyle, Tone

from ..engine.rows import Row
from .bank.mutant import DEFAULT_DRAWS
from .findings import CONFIDENCE, FOUND

#: Most curves of one figure.
CURVES = 4


def power_sections(rows: Sequence[Row]) -> tuple[Section, ...]:
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
    blocks += [_figure(number, group) for number, group in enumerate(_groups(graded), start=1)]
    if graded:
        blocks.append(_by_degrees(graded))
    stated = [row for row in mutants if not row["graded"]]
    if stated:
        blocks.append(_stated(stated))
    return (Section("Power on mutants", 1, tuple(blocks)),)


def _stated(rows: Sequence[Row]) -> Table:
    return Table(
        "The bank of mutants at their stated strength",
        ("Mutant", "Refuted by", "Draws", "Audits", "Refuted", "Lower end", "Finding"),
        tuple(
            (
                row["name"],
                row["auditor"],
                format_count(row["n_draws"]),
                format_count(row["grades"][0]["repeats"]),
                format_count(row["grades"][0]["refuted"]),
                f"{row['grades'][0]['lower']:.3f}",
                Badge("found", Tone.GOOD) if row["found"] else Badge("missed", Tone.BAD),
            )
            for row in rows
        ),
        ("left", "left", "right", "right", "right", "right", "left"),
    )


def _by_degrees(rows: Sequence[Row]) -> Table:
    return Table(
        "Mutants by degrees: refutations at each strength, and the smallest strength that is found",
        ("Mutant", "Draws", "Strength: refuted", "Smallest found", "Stated"),
        tuple(
            (
                row["name"],
                format_count(row["n_draws"]),
                ", ".join(f"{g['strength']:g}: {g['refuted']}/{g['repeats']}" for g in row["grades"]),
                "none" if row["smallest_found"] is None else format_number(row["smallest_found"]),
                "" if row["stated"] is None else format_number(row["stated"]),
            )
            for row in rows
        ),
        ("left", "right", "left", "right", "right"),
        (4, 0, 5, 0, 0),
    )


def _groups(graded: Sequence[Row]) -> list[list[Row]]:
    """Return mechanisms that break by degrees, then slight violations, a few curves each."""
    groups = []
    for kind in ([r for r in graded if r["unit"] != "s"], [r for r in graded if r["unit"] == "s"]):
        n_figures = -(-len(kind) // CURVES)
        groups += [kind[k::n_figures] for k in range(n_figures)]
    return groups


def _figure(number: int, rows: Sequence[Row]) -> Figure:
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
