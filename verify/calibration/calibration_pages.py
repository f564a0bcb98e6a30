"""A calibration on paper: the verdict first, then rates, what is exact, power, and how to make it again."""

from __future__ import annotations

import math
import shlex

from reports.numbers import format_count
from reports.row import Block, Bullets, Callout, Code, Document, Fact, Facts, Paragraph, Section, Tone

from ..engine.rows import Row
from .calibration_record import Calibration
from .findings import FAILURE_PROB, unexpected
from .power_pages import power_sections
from .rate_pages import rate_sections
from .series.series import LEVELS


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
        sections=(*rate_sections(calibration.rows), *power_sections(calibration.rows), _again(header)),
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
        title = (
            "One finding is not as it should be"
            if len(wrong) == 1
            else f"{len(wrong)} findings are not as they should be"
        )
        return Callout(Tone.BAD, title, text)
    if not calibration.complete:
        done, planned = (format_count(calibration.header[name]) for name in ("tasks_done", "tasks"))
        why = "Not complete" if calibration.crashed else "Interrupted"
        return Callout(Tone.WARNING, f"{why}: {done} of {planned} tasks were done", text)
    return Callout(Tone.GOOD, "Every false-alarm rate is compatible with its level", text)


def _front(calibration: Calibration, wrong: list[str]) -> tuple[Block, ...]:
    crashes = [f"A worker process died every time at {name}; it has no count" for name in calibration.crashed]
    blocks: list[Block] = [Bullets((*wrong, *crashes))] if wrong or crashes else []
    if not calibration.complete:
        blocks.append(
            Paragraph(
                "What follows is what was counted so far. A rate that is too high counts all the same; "
                "a mutant or an invalid auditor that was not found yet says nothing."
            )
        )
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
