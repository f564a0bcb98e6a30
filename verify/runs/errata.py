"""The errata of the three papers as a document, generated from a record: what is printed, the evidence, what is true.

Only statements that the record refutes as printed are in it, ordered by consequence (``paper.toml``), then as in the
papers. Nothing is written by hand: words and formulas come from the record's statement rows.
"""

from __future__ import annotations

from collections.abc import Mapping

from reports.numbers import format_probability
from reports.row import (
    Audience,
    Badge,
    Block,
    Callout,
    Document,
    Fact,
    Facts,
    FormulaBlock,
    Paragraph,
    Reference,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ..engine.record import Record
from ..engine.rows import Row
from ..messages.errors import UserError
from ..messages.words import verdict_sentence
from ..papers.ledger import Ledger
from ..papers.paper import Consequence
from .statement_pages import TONES, ruling_of_part, worst_blocks

TITLE = "Errata to three papers on per-instance differential privacy"
EVIDENCE = (
    "Each entry gives the formula as printed, the smallest counterexample that was found, what went wrong, and a "
    "corrected form with its own verdict. A counterexample is exact (a proved enclosure) or was simulated and "
    "confirmed on fresh draws; the command below it draws it again. A corrected form that is supported held in "
    "every case tried, also where the printed form fails, and deliberately wrong versions of it were refuted; "
    "that is evidence, not a proof, except where a derivation is named."
)


def consequence_of(statement: Row, ledger: Ledger) -> Consequence:
    """Return the consequence that the ledger gives an id that is refuted as printed."""
    expected = ledger.get(statement["id"])
    return Consequence[expected.consequence] if expected and expected.consequence else Consequence.RESULT


def errata_document(record: Record, ledger: Ledger, *, date: str) -> Document:
    """Return the errata of a record, with an ISO date (or none).

    Raises
    ------
    UserError
        If the record refutes nothing.
    """
    refuted = [s for s in record.statements if record.verdict(s["id"])["printed"]["verdict"] == "REFUTED"]
    if not refuted:
        raise UserError("record must refute a statement as printed, got one that refutes none")
    by_consequence: Mapping[Consequence, list[Row]] = {
        each: [s for s in refuted if consequence_of(s, ledger) is each] for each in Consequence
    }
    sections = [
        section
        for each, statements in by_consequence.items()
        if statements
        for section in _chapter(record, each, statements)
    ]
    mended = sum((record.verdict(s["id"])["corrected"] or {}).get("verdict") == "SUPPORTED" for s in refuted)
    text = (
        f"{len(refuted)} of {len(record.statements)} statements are refuted as printed; {mended} of them are supported "
        "in a corrected form. "
        + " ".join(f"{each.value}: {len(found)}." for each, found in by_consequence.items() if found)
    )
    probability = format_probability(record.header["failure_prob"], typographic=True)
    return Document(
        title=TITLE,
        subtitle="Generated from a record of pdp-verify",
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "errata"),
        summary=Callout(Tone.NEUTRAL, f"{len(refuted)} statements are refuted as printed", text),
        front=(
            Paragraph(EVIDENCE),
            Facts(
                (
                    Fact("Profile", record.header["profile"]),
                    Fact("Seed", str(record.header["seed"])),
                    Fact("Failure probability", f"{probability} in total"),
                    Fact("Digest of the sources", record.header["sources"][:16]),
                ),
                wide=True,
            ),
            _index(record, by_consequence),
        ),
        sections=tuple(sections),
        running_header="pdp-verify errata",
        audience=Audience.RELEASE,
    )


def _index(record: Record, by_consequence: Mapping[Consequence, list[Row]]) -> Table:
    rows = tuple(
        (s["id"], Reference(s["id"], s["title"]), each.name.lower(), _corrected_badge(record, s), Reference(s["id"]))
        for each, statements in by_consequence.items()
        for s in statements
    )
    columns = ("Id", "Statement", "Consequence", "Corrected form", "Page")
    return Table("Refuted as printed", columns, rows, ("left", "left", "left", "left", "right"), (0, 1, 0, 0, 0))


def _corrected_badge(record: Record, statement: Row) -> Badge | str:
    corrected = record.verdict(statement["id"])["corrected"]
    return Badge(corrected["verdict"].lower(), TONES[corrected["verdict"]]) if corrected else "–"


def _chapter(record: Record, consequence: Consequence, statements: list[Row]) -> list[Section]:
    """Return a page that opens a consequence, and a sub-section a statement."""
    names = ", ".join(s["id"] for s in statements)
    head = Section(consequence.value, 1, (Paragraph(names, TextStyle.NOTE),), Audience.RELEASE, kicker="Errata")
    return [head, *(_entry(record, statement) for statement in statements)]


def _entry(record: Record, statement: Row) -> Section:
    blocks: list[Block] = [Paragraph(statement["summary"])] if statement["summary"] else []
    blocks.append(Facts((Fact("Where", statement["locator"]), Fact("Domain", statement["domain"]))))
    rows = record.cases_of(statement["id"])
    for part in statement["parts"]:
        ruling = ruling_of_part(record, part)
        if ruling["printed"]["verdict"] == "REFUTED":
            blocks += _part(part, ruling, [row for row in rows if row["part"] == part["id"]])
    return Section(
        statement["title"],
        2,
        tuple(blocks),
        Audience.RELEASE,
        kicker=f"{statement['id']} · {statement['of']} · {statement['reference']}",
        id=statement["id"],
    )


def _part(part: Row, ruling: Row, rows: list[Row]) -> list[Block]:
    """Return one refuted display: as printed, counterexample, what went wrong, corrected."""
    printed = [row for row in rows if row["standing"] == "PRINTED"]
    blocks: list[Block] = [
        FormulaBlock(f"As printed ({part['title']})", part["printed"]["typst"], part["printed"]["text"])
    ]
    blocks += worst_blocks(printed, part["id"])
    if part["what_went_wrong"]:
        blocks.append(Paragraph("What went wrong: " + part["what_went_wrong"]))
    if part["corrected"] and ruling["corrected"]:
        derived = f" Derivation: {part['derivation']}." if part["derivation"] else ""
        blocks.append(FormulaBlock("Corrected", part["corrected"]["typst"], part["corrected"]["text"]))
        sentence = verdict_sentence(ruling["corrected"])
        blocks.append(Paragraph(f"The corrected form is {sentence}.{derived}"))
    return blocks
