"""Proposed corrections to the papers as a document, made from a record: causes, entries by severity, misprints, texts.

Only what the record refutes as printed is an entry. Nothing is written by hand but the slips of ``roots.toml``: words,
formulas, places and verdicts come from the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reports.numbers import format_probability
from reports.row import (
    Audience,
    Block,
    Callout,
    Cell,
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
from ..kernel.paper import Consequence
from ..kernel.rows import Row
from ..kernel.words import plain_words, rounded_factor, verdict_sentence
from ..messages.errors import UserError
from .pages.causes import (
    EVERYDAY,
    Cause,
    Correction,
    causes,
    display_of,
    entries,
    proof_lines,
    told_by,
    unclear,
    unclear_parts,
)
from .pages.short_pages import SHORT_DIGEST, author, classes, corrected, paper_address, tracker
from .statement_pages import provenance_facts, ruling_of_part, where_facts, worst_blocks

EVIDENCE = (
    "Each entry gives the formula as printed in our copy, a counterexample, what went wrong, and a corrected form with "
    "its own verdict. A counterexample is exact (a proved enclosure) or was simulated and confirmed on fresh draws; "
    "the command below it draws it again. A corrected form that is supported held in every case tried, also where "
    "the printed form fails, and deliberately wrong versions of it were caught; that is evidence, not a proof, except "
    "where a derivation is named."
)
CREDIT = (
    "What is checked here was founded by {papers}. These are proposals, offered with respect and thanks: of {decided} "
    "statements that were decided {supported} hold as printed, and {mended} more in a corrected form."
)
NOT_COMPARED = "Read from a machine transcription; nothing here was compared with the publisher's PDF."
NO_ADDRESS = "whoever sent you this document (its maker names an address with --contact)"
#: Consequences whose entries have a section each; misprints are a list.
CHAPTERS = (Consequence.PRIVACY, Consequence.COVERAGE, Consequence.RESULT, Consequence.PROOF)


@dataclass(frozen=True)
class Selection:
    """The statements of a record that corrections are about: those of all its papers, or of one."""

    record: Record
    papers: tuple[Row, ...]
    statements: tuple[Row, ...]
    entries: tuple[Correction, ...]


def select(record: Record, paper: str = "") -> Selection:
    """Return what corrections of a paper are about, by its folder's name or the prefix of its ids; of all without one.

    Raises ``UserError`` if the record has no such paper.
    """
    prefixes = {row["paper"]: row["id"].partition("-")[0] for row in record.statements}
    known = list(prefixes)
    names = [name for name in known if not paper or paper.lower() in (name.lower(), prefixes[name].lower())]
    if not names:
        words = ", ".join(f"{prefixes[name]} ({name})" for name in known)
        raise UserError(f"paper must be {words}, got paper={paper}")
    statements = tuple(row for row in record.statements if row["paper"] in names)
    chosen = tuple(entry for entry in entries(record) if entry.statement["paper"] in names)
    return Selection(record, tuple(record.header["papers"][name] for name in names), statements, chosen)


def errata_document(record: Record, *, date: str, paper: str = "", contact: str = "") -> Document:
    """Return the proposed corrections of the record of a run, with an ISO date (or none).

    Parameters
    ----------
    paper : str
        Of one paper alone: its folder's name, or the prefix of its ids.
    contact : str
        Where answers go; without it the project's issue tracker, if its metadata name one.

    Raises
    ------
    UserError
        If the record has no such paper, or refutes nothing of it.
    """
    chosen = select(record, paper)
    if not chosen.entries:
        raise UserError("record must refute a statement as printed, got one that refutes none")
    named = _named(chosen.papers)
    sections = [
        *_causes(chosen),
        *(section for each in CHAPTERS for section in _chapter(chosen, each)),
        *_misprints(chosen),
        *_proof_lines(chosen),
        *_unclear(chosen),
    ]
    count = len(chosen.entries)
    return Document(
        title=f"Proposed corrections to {_title(chosen.papers)}",
        subtitle=named,
        date=date,
        author="pdp-verify",
        keywords=("differential privacy", "corrections"),
        summary=_summary(chosen, count),
        front=_front(chosen, named, contact),
        sections=tuple(sections),
        running_header="Proposed corrections",
        audience=Audience.RELEASE,
    )


def _named(papers: Sequence[Row]) -> str:
    words = [f"{author(paper)} ({paper['year']})" for paper in papers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _title(papers: Sequence[Row]) -> str:
    if len(papers) == 1:
        return f"“{papers[0]['title']}”"
    return f"{len(papers)} papers on per-instance differential privacy"


def _summary(chosen: Selection, count: int) -> Callout:
    text = (
        f"{count} of {len(chosen.statements)} statements are refuted as printed in our copy, {_mended(chosen)} of them "
        f"supported in a corrected form. {len(causes(chosen.entries))} causes stand behind them."
    )
    return Callout(Tone.NEUTRAL, f"{count} proposed corrections", text)


def _mended(chosen: Selection) -> int:
    return sum((entry.verdict["corrected"] or {}).get("verdict") == "SUPPORTED" for entry in chosen.entries)


def _front(chosen: Selection, named: str, contact: str) -> tuple[Block, ...]:
    header = chosen.record.header
    verdicts = [chosen.record.verdict(s["id"])["printed"]["verdict"] for s in chosen.statements]
    supported = verdicts.count("SUPPORTED")
    decided = supported + verdicts.count("REFUTED")
    answers = contact or tracker()
    link = answers if answers.startswith(("https://", "http://")) and " " not in answers else ""
    facts = [Fact("Paper", paper["reference"], paper_address(paper["doi"])) for paper in chosen.papers]
    facts.append(Fact("Answers to", answers or NO_ADDRESS, link))
    probability = format_probability(header["failure_prob"], typographic=True)
    made = f"profile {header['profile']}, seed {header['seed']}, failure probability {probability} in total"
    facts.append(Fact("Made from", f"a record of pdp-verify {header['versions']['pdp-verify']}; {made}"))
    copies = tuple(
        (f"{author(paper)} ({paper['year']}), {name}", copy["made"], copy["digest"][:SHORT_DIGEST] + "…")
        for paper in chosen.papers
        for name, copy in paper["copies"].items()
    )
    blocks: list[Block] = [
        Paragraph(CREDIT.format(papers=named, supported=supported, decided=decided, mended=_mended(chosen))),
        classes(chosen.entries),
        Facts(tuple(facts)),
        Paragraph(NOT_COMPARED, TextStyle.LEAD),
    ]
    if copies:
        columns = ("Copy", "How it was made", "SHA-256")
        blocks.append(Table("What was read", columns, copies, ("left",) * 3, (1, 2, 0)))
    return (*blocks, Paragraph(EVIDENCE, TextStyle.NOTE), _index(chosen))


def _index(chosen: Selection) -> Table:
    """Return every entry, the gravest first, with the factor by which delta is exceeded where people work."""
    rows = []
    for entry in chosen.entries:
        target = _target(entry)
        factor = "outside only" if entry.consequence is Consequence.PRIVACY else "–"
        if entry.everyday:
            factor = rounded_factor(entry.everyday, typographic=True)
        title, follows = Reference(target, entry.statement["title"]), entry.consequence.name.lower()
        rows.append((entry.id, title, follows, factor, corrected(entry.verdict), Reference(target)))
    columns = ("Id", "Statement", "What follows", "Factor on delta", "Corrected", "Page")
    aligned = ("left", "left", "left", "right", "left", "right")
    caption = f"Entries, the gravest first; the factor on delta is the worst with {EVERYDAY}"
    return Table(caption, columns, tuple(rows), aligned, (0, 1, 0, 0, 0, 0))


def _causes(chosen: Selection) -> list[Section]:
    """Return the slips that stand behind more than one entry."""
    shared = [cause for cause in causes(chosen.entries) if len(cause.entries) > 1]
    if not shared:
        return []
    text = f"{len(shared)} slips stand behind {sum(len(cause.entries) for cause in shared)} of the entries."
    head = Section("Causes", 1, (Paragraph(text),), Audience.RELEASE, kicker="First")
    return [head, *(_cause(cause) for cause in shared)]


def _cause(cause: Cause) -> Section:
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (e.id, Reference(_target(e), e.statement["title"]), e.consequence.name.lower(), Reference(_target(e)))
        for e in cause.entries
    )
    blocks: list[Block] = [Paragraph(plain_words(cause.text))]
    if cause.use:
        blocks.append(Paragraph(f"Instead: {plain_words(cause.use)}"))
    columns = ("Id", "Statement", "What follows", "Page")
    table = Table("", columns, rows, ("left", "left", "left", "right"), (0, 1, 0, 0))
    return Section(cause.title, 2, (*blocks, table), Audience.RELEASE)


MISPRINTS = "misprints"


def _target(entry: Correction) -> str:
    return MISPRINTS if entry.consequence is Consequence.MISPRINT else entry.id


def _chapter(chosen: Selection, consequence: Consequence) -> list[Section]:
    """Return what opens a consequence, and a sub-section a statement, those first that fail where people work."""
    of = [entry for entry in chosen.entries if entry.consequence is consequence]
    if not of:
        return []
    text = f"{len(of)} entries, the gravest first."
    if consequence is Consequence.PRIVACY:
        near = sum(bool(entry.everyday) for entry in of)
        text += f" The first {near} fail with {EVERYDAY}; the others failed only outside, in the cases that were tried."
    head = Section(consequence.value, 1, (Paragraph(text, TextStyle.NOTE),), Audience.RELEASE, kicker="Entries")
    return [head, *(_entry(chosen.record, entry, cited=len(chosen.papers) > 1) for entry in of)]


def _entry(record: Record, entry: Correction, *, cited: bool) -> Section:
    statement = entry.statement
    blocks: list[Block] = [Paragraph(plain_words(statement["summary"]))] if statement["summary"] else []
    facts = where_facts(statement)
    if cited:
        paper = record.header["papers"][statement["paper"]]
        facts.append(Fact("Paper", f"{author(paper)} ({paper['year']})"))
    blocks.append(Facts(tuple(facts)))
    rows = record.cases_of(statement["id"])
    for part in statement["parts"]:
        ruling = ruling_of_part(record, part)
        if ruling["printed"]["verdict"] == "REFUTED" and not part["proof"] and not _is_unclear(record, part):
            of_part = [row for row in rows if row["part"] == part["id"]]
            blocks += _part(part, ruling, of_part, entry.consequence)
    return Section(statement["title"], 2, tuple(blocks), Audience.RELEASE, kicker=statement["id"], id=statement["id"])


def _is_unclear(record: Record, part: Row) -> bool:
    verdict: str = record.verdict(display_of(part))["printed"]["verdict"]
    return bool(part["reading"]) and verdict == "TEXT_UNCLEAR"


def _part(part: Row, ruling: Row, rows: list[Row], consequence: Consequence) -> list[Block]:
    """Return one refuted display: as printed, where it was read, counterexample, what went wrong, corrected."""
    printed = [row for row in rows if row["standing"] == "PRINTED"]
    blocks: list[Block] = [
        FormulaBlock(
            f"{'As read' if part['reading'] else 'As printed'} ({part['title']})",
            part["printed"]["typst"],
            part["printed"]["text"],
        )
    ]
    source = provenance_facts(part)
    if source:
        blocks.append(Facts(tuple(source)))
    if ruling["printed"]["verdict"] == "REFUTED":
        blocks += worst_blocks(printed, part["id"], told_by(printed, consequence))
    if part["what_went_wrong"]:
        blocks.append(Paragraph("What went wrong: " + plain_words(part["what_went_wrong"])))
    if part["corrected"] and ruling["corrected"]:
        derived = f" Derivation: {part['derivation']}." if part["derivation"] else ""
        blocks.append(FormulaBlock("Corrected", part["corrected"]["typst"], part["corrected"]["text"]))
        sentence = verdict_sentence(ruling["corrected"])
        blocks.append(Paragraph(f"The corrected form is {sentence}.{derived}"))
    return blocks


def _misprints(chosen: Selection) -> list[Section]:
    """Return the misprints as a list: what is printed, and what is plainly meant."""
    rows = []
    for entry in (each for each in chosen.entries if each.consequence is Consequence.MISPRINT):
        for part in entry.statement["parts"]:
            ruling = ruling_of_part(chosen.record, part)
            if ruling["printed"]["verdict"] != "REFUTED" or part["proof"] or _is_unclear(chosen.record, part):
                continue
            corrected = part["corrected"]["text"] if part["corrected"] else "–"
            line = f"\nline {part['provenance']['line']}" if part["provenance"] else ""
            place = part["id"] + line
            rows.append((place, plain_words(part["printed"]["text"]), plain_words(corrected)))
    if not rows:
        return []
    columns = ("Id, line of our copy", "As printed", "Meant")
    table = Table("", columns, tuple(rows), ("left",) * 3, (0.42, 1, 1))
    text = "The intended formula is plain from the context; each corrected form was decided like the others."
    blocks = (Paragraph(text), table)
    return [Section("Misprints", 1, blocks, Audience.RELEASE, kicker="List", id=MISPRINTS)]


#: What is said of the statement beside a wrong line of its proof.
STATEMENT_IS = {
    "SUPPORTED": "The statement itself is true.",
    "TEXT_UNCLEAR": "The text of the statement itself is unclear.",
}


def _proof_lines(chosen: Selection) -> list[Section]:
    ids = {statement["id"] for statement in chosen.statements}
    found = [(statement, part) for statement, part in proof_lines(chosen.record) if statement["id"] in ids]
    if not found:
        return []
    sections = []
    for statement, part in found:
        verdict = chosen.record.verdict(statement["id"])["printed"]["verdict"]
        said = STATEMENT_IS.get(verdict, f"The statement itself is {verdict.lower()}.")
        words = Paragraph(f"{statement['title']}, {statement['locator']}. {said}")
        rows = [row for row in chosen.record.cases_of(statement["id"]) if row["part"] == part["id"]]
        blocks = _part(part, ruling_of_part(chosen.record, part), rows, Consequence.PROOF)
        title = part["title"] if part["title"] != statement["title"] else f"A line of the proof of {statement['title']}"
        sections.append(Section(title, 2, (words, *blocks), Audience.RELEASE, kicker=part["id"]))
    text = "A line of a proof never decides its statement: where that is true, the line is all there is to mend."
    head = Section("A line of the proof is wrong", 1, (Paragraph(text),), Audience.RELEASE, kicker="Proofs")
    return [head, *sections]


def _unclear(chosen: Selection) -> list[Section]:
    """Return the places where our copy is damaged or contradicts itself, each reading with its verdict."""
    ids = {statement["id"] for statement in chosen.statements}
    found = [statement for statement in unclear(chosen.record) if statement["id"] in ids]
    if not found:
        return []
    sections = []
    for statement in found:
        blocks: list[Block] = [Facts((Fact("Where", statement["locator"]),))]
        rows = chosen.record.cases_of(statement["id"])
        for part in unclear_parts(chosen.record, statement):
            ruling = ruling_of_part(chosen.record, part)
            of_part = [row for row in rows if row["part"] == part["id"]]
            blocks.append(Paragraph(f"Read as “{part['reading']}”: {verdict_sentence(ruling['printed'])}."))
            blocks += _part(part, ruling, of_part, Consequence.RESULT)
        key = f"unclear-{statement['id']}"
        sections.append(Section(statement["title"], 2, tuple(blocks), Audience.RELEASE, kicker=statement["id"], id=key))
    text = (
        "Our copy is damaged at these places, or contradicts itself, so that nothing is proposed. Each way to read "
        "them is decided; the publisher's text may well be right."
    )
    head = Section("Text unclear", 1, (Paragraph(text),), Audience.RELEASE, kicker="Questions")
    return [head, *sections]
