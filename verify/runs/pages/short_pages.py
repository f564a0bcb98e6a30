"""The report that a run leaves: what fails and what to use instead on one page, causes, every statement in a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import metadata

from reports.numbers import format_count, format_probability
from reports.row import (
    Audience,
    Badge,
    Block,
    Callout,
    Cell,
    Document,
    Fact,
    Facts,
    Paragraph,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ...engine.record import Record
from ...kernel.paper import Consequence
from ...kernel.rows import Row
from ...kernel.verdict import Outcome, Verdict
from ...kernel.words import case_sentence, plain_words
from .causes import EVERYDAY, Cause, Correction, causes, display_of, entries, proof_lines, unclear
from .method_pages import appendix, method


def _project_address(*labels: str) -> str:
    """Return the address that the project's metadata (``[project.urls]``) give under one of these labels."""
    wanted = {label.lower() for label in labels}
    for entry in metadata.metadata("pdp-verify").get_all("Project-URL") or ():
        label, _, address = str(entry).partition(",")
        if label.strip().lower() in wanted:
            return address.strip()
    return ""


def tracker() -> str:
    """Return the address of the project's issues, or nothing where its metadata state none."""
    return _project_address("issues", "issue tracker", "tracker", "bug tracker")


def paper_address(doi: str) -> str:
    """Return the address of a paper, or nothing without an identifier."""
    return f"https://doi.org/{doi}" if doi else ""


AUTHOR = "pdp-verify"
TITLE = "Published statements on per-instance differential privacy, decided"
TONES = {
    "SUPPORTED": Tone.GOOD,
    "REFUTED": Tone.BAD,
    "UNDECIDED": Tone.WARNING,
    "TEXT_UNCLEAR": Tone.NEUTRAL,
    "DEFINITION": Tone.NEUTRAL,
    "HOLDS": Tone.GOOD,
    "FAILS": Tone.BAD,
    "OUT_OF_DOMAIN": Tone.NEUTRAL,
}
#: Rows of the table of the gravest causes, and the longest formula that such a row prints.
MOST_CAUSES, LONGEST_FORMULA = 5, 170
#: Characters of a digest: enough to tell copies apart.
SHORT_DIGEST = 16
CHAPTERS = (
    (Consequence.PRIVACY, "What is promised about a person's privacy, and does not hold."),
    (Consequence.COVERAGE, "A bound or a report that holds less often than it says."),
)


def short_document(record: Record, *, date: str) -> Document:
    """Return the short report of a record, with an ISO date (or none): at most 20 pages."""
    found = entries(record)
    sections = [
        *_cause_sections(record, found),
        *_aside_sections(record),
        *_all_statements(record),
        method(record),
        appendix(record),
    ]
    return Document(
        title=TITLE,
        subtitle=f"{len(record.statements)} statements, profile {record.header['profile']}; the short report",
        date=date,
        author=AUTHOR,
        keywords=("differential privacy", "per-instance privacy", "verification"),
        summary=headline(record, found),
        front=front(record, found),
        sections=tuple(sections),
        running_header="pdp-verify audit",
        audience=Audience.RELEASE,
    )


def own(record: Record) -> list[Row]:
    """Return the verdict rows of statements, parts left out."""
    return [row for row in record.verdicts if row["parent"] is None]


def badge(verdict: str, before: str = "") -> Badge:
    """Return a verdict as a badge, "refuted" in red; with what it is a verdict on in front."""
    return Badge(before + verdict.lower().replace("_", " "), TONES[verdict])


def headline(record: Record, found: Sequence[Correction]) -> Callout:
    """Return what the record says in a sentence or two; what is wrong with the run itself goes first."""
    state = run_state(record)
    if state.tone is not Tone.GOOD:
        return state
    counts = {each: sum(entry.consequence is each for entry in found) for each in Consequence}
    rows = own(record)
    refuted = [row for row in rows if row["printed"]["verdict"] == "REFUTED"]
    mended = sum((row["corrected"] or {}).get("verdict") == "SUPPORTED" for row in refuted)
    supported = _count(rows, Verdict.SUPPORTED)
    text = (
        f"Of {len(rows)} published statements {supported} are supported as printed and {len(found)} are refuted, "
        f"{mended} of which are supported in a corrected form. The text of {_count(rows, Verdict.TEXT_UNCLEAR)} is "
        f"unclear in our copy, {_count(rows, Verdict.UNDECIDED)} are undecided, {_count(rows, Verdict.DEFINITION)} are "
        "definitions."
    )
    privacy, coverage = counts[Consequence.PRIVACY], counts[Consequence.COVERAGE]
    if privacy or coverage:
        what = [f"{privacy} promises of privacy fail"] if privacy else []
        what += [f"{coverage} bounds hold less often than stated"] if coverage else []
        return Callout(Tone.BAD, ", ".join(what), text)
    return Callout(Tone.NEUTRAL if found else Tone.GOOD, "No promise of privacy was refuted", text)


def run_state(record: Record) -> Callout:
    """Return how the run itself went: whether it is complete, and its verdicts the expected ones."""
    errors = sum(row["error"] is not None for row in (*record.cases, *record.figures))
    unexpected = sum(bool(row["unexpected"]) for row in own(record))
    still_open = [row["id"] for row in record.verdicts if row["still_open"]]
    if not record.header["complete"]:
        return Callout(Tone.WARNING, "Interrupted: not every case was run", "What follows rests on the others.")
    if errors:
        return Callout(Tone.BAD, f"{errors} checks of this suite stopped with an error", "Their cases are undecided.")
    if unexpected:
        listed = "; ".join(f"{row['id']}: {message}" for row in record.verdicts for message in row["unexpected"])
        return Callout(Tone.BAD, f"{unexpected} statements have a verdict that was not expected", listed)
    if still_open:
        text = f"{', '.join(still_open)}: undecided with so few draws, and not counted as a difference."
        return Callout(Tone.GOOD, "No decided verdict differs from the expected one; some stayed open", text)
    on_data = [row["id"] for row in own(record) if row.get("data")]
    if on_data:
        text = f"{', '.join(on_data)}: decided with data that are not shipped, of which nothing is expected."
        return Callout(Tone.GOOD, "No verdict differs from an expected one", text)
    return Callout(Tone.GOOD, "Every verdict is the expected one")


def front(record: Record, found: Sequence[Correction]) -> tuple[Block, ...]:
    """Return what stands on the first page under the headline."""
    blocks: list[Block] = []
    gravest = [cause for cause in causes(found) if cause.consequence in (Consequence.PRIVACY, Consequence.COVERAGE)]
    if found:
        blocks.append(classes(found))
    if gravest:
        rows = tuple(_use_row(cause) for cause in gravest[:MOST_CAUSES])
        columns = ("If you rely on", "What happens", "Use instead")
        more = f"; the {len(rows)} gravest of {len(gravest)} causes" if len(rows) < len(gravest) else ""
        blocks.append(Table(f"What to use instead{more}", columns, rows, ("left",) * 3, (1.0, 1.25, 1.25)))
    blocks += examined(record)
    state = run_state(record)
    words = state.title + (f": {state.text}" if state.text else "")
    blocks.append(Paragraph(f"The run itself. {words.rstrip('.')}. {_numbers(record)}", TextStyle.NOTE))
    return tuple(blocks)


def classes(found: Iterable[Correction]) -> Table:
    """Return the table of consequences, with how many statements and causes each has."""
    listed = list(found)
    rows = []
    for each in Consequence:
        of = [entry for entry in listed if entry.consequence is each]
        if of:
            rows.append((each.value, str(len(of)), str(len(causes(of)))))
    columns = ("Refuted as printed: what follows", "Statements", "Causes")
    return Table("", columns, tuple(rows), ("left", "right", "right"), (1, 0, 0))


def examined(record: Record) -> tuple[Block, ...]:
    """Return which papers were read, from which copies."""
    facts, digests = [], []
    for name, paper in record.header["papers"].items():
        count = sum(row["paper"] == name for row in record.statements)
        about = f"{author(paper)} ({paper['year']}). {paper['title']}"
        facts.append(Fact(f"{count} statements of", about, paper_address(paper["doi"])))
        digests += [f"{copy['digest'][:SHORT_DIGEST]}…" for copy in paper["copies"].values()]
    if not facts:
        return ()
    read = (
        f"Read from {', '.join(digests)} (SHA-256): machine transcriptions. Nothing here was compared with a "
        "publisher's PDF."
        if digests
        else "No copy is named that they were read from."
    )
    return Facts(tuple(facts)), Paragraph(read, TextStyle.NOTE)


def copies(record: Record) -> Table | None:
    """Return the copies that were read, whole digests and how each was made; nothing where none is named."""
    rows = tuple(
        (f"{author(paper)} ({paper['year']}), {name}", copy["made"], copy["digest"])
        for paper in record.header["papers"].values()
        for name, copy in paper["copies"].items()
    )
    if not rows:
        return None
    columns = ("Copy", "Made", "SHA-256")
    return Table("The copies that statements were read from", columns, rows, ("left",) * 3, (1, 2, 1.6))


def _count(rows: Iterable[Row], verdict: Verdict) -> int:
    return sum(row["printed"]["verdict"] == verdict.name for row in rows)


def _numbers(record: Record) -> str:
    header = record.header
    cases = [row for row in record.cases if row["standing"] != "MUTANT"]
    mutants = [row for row in record.cases if row["standing"] == "MUTANT"]
    caught = sum(row["outcome"] == Outcome.FAILS.name for row in mutants)
    looks = [look for row in record.cases for look in (row, row["confirmation"]) if look]
    draws = sum(look["sampled"]["n_draws"] for look in looks if look["sampled"])
    probability = format_probability(header["failure_prob"], typographic=True)
    return (
        f"{format_count(len(cases))} cases, {caught} of {len(mutants)} mutants caught, {format_count(draws)} draws, "
        f"failure probability {probability} in total, seed {header['seed']}, profile "
        f"{header['profile']}, pdp-verify {header['versions']['pdp-verify']}."
    )


def _use_row(cause: Cause) -> tuple[Cell, ...]:
    entry = cause.entries[0]
    others = len(cause.entries) - 1
    what = f"{entry.statement['title']} ({entry.id}{f', and {others} more' if others else ''})"
    return what, _tells(entry), cause.use or _corrected_words(entry)


def _tells(entry: Correction) -> str:
    return case_sentence(entry.worst, typographic=True) if entry.worst else str(entry.statement["summary"])


def _corrected_words(entry: Correction) -> str:
    """Return the corrected formula in plain text, or where it stands when it is long."""
    part = entry.worst["part"] if entry.worst else entry.id
    texts: list[str] = [p["corrected"]["text"] for p in entry.statement["parts"] if p["id"] == part and p["corrected"]]
    if not entry.verdict["corrected"]:
        return "No corrected form is known."
    if texts and len(texts[0]) <= LONGEST_FORMULA:
        return plain_words(texts[0])
    return f"The corrected form of {part} (pdp-verify show {entry.id})."


def corrected(verdict: Row) -> Cell:
    """Return the verdict on a corrected form as a badge, or a dash without one."""
    return badge(verdict["corrected"]["verdict"]) if verdict["corrected"] else "–"


SHOWN = (
    "One slip may stand behind several statements: they are together, the gravest cause first. A statement is shown by "
    f"its worst case, if possible one where people work ({EVERYDAY})."
)


def _cause_sections(record: Record, found: Sequence[Correction]) -> list[Section]:
    if not found:
        return []
    sections = [Section("What is refuted, by cause", 1, (Paragraph(SHOWN),), Audience.RELEASE, kicker="Findings")]
    for consequence, text in CHAPTERS:
        of = [cause for cause in causes(found) if cause.consequence is consequence]
        if of:
            sections.append(Section(consequence.value, 2, (Paragraph(text),), Audience.RELEASE))
            sections += [_cause_section(cause) for cause in of]
    for consequence in (Consequence.RESULT, Consequence.PROOF, Consequence.MISPRINT):
        entries_of = [entry for entry in found if entry.consequence is consequence]
        if entries_of:
            table = Table("", ENTRY_COLUMNS, tuple(map(_entry_row, entries_of)), ("left",) * 4, (0, 0.8, 1.6, 0))
            sections.append(Section(consequence.value, 2, (table,), Audience.RELEASE))
    return sections


ENTRY_COLUMNS = ("Id", "Statement", "Worst case", "Corrected")


def _entry_row(entry: Correction) -> tuple[Cell, ...]:
    return entry.id, entry.statement["title"], _tells(entry), corrected(entry.verdict)


def _cause_section(cause: Cause) -> Section:
    table = Table("", ENTRY_COLUMNS, tuple(map(_entry_row, cause.entries)), ("left",) * 4, (0, 0.8, 1.6, 0))
    blocks: list[Block] = [Paragraph(plain_words(cause.text))] if cause.text else []
    if cause.use:
        blocks.append(Paragraph(f"Use instead: {plain_words(cause.use)}"))
    count = f" ({len(cause.entries)} statements)" if len(cause.entries) > 1 else ""
    return Section(cause.title + count, 3, (*blocks, table), Audience.RELEASE)


def _aside_sections(record: Record) -> list[Section]:
    """Return what is not held against the papers: unclear texts, and lines of proofs of statements that stand."""
    sections = []
    texts = unclear(record)
    if texts:
        rows = tuple(
            (row["id"], _title(record, row["id"]), "; ".join(_readings(row)))
            for row in record.verdicts
            if row["printed"]["verdict"] == "TEXT_UNCLEAR" and row["readings"]
        )
        table = Table("", ("Id", "Statement", "Readings"), rows, ("left",) * 3, (0, 1, 1))
        text = (
            "Our copy is damaged here, or contradicts itself. Each reading is decided; none is called the printed one."
        )
        sections.append(Section("Text unclear", 2, (Paragraph(text), table), Audience.RELEASE))
    lines = proof_lines(record)
    if lines:
        wrong = tuple(
            (s["id"], s["title"], part["title"], badge(record.verdict(s["id"])["printed"]["verdict"]))
            for s, part in lines
        )
        columns = ("Id", "Statement", "Line of its proof", "The statement is")
        table = Table("", columns, wrong, ("left",) * 4, (0, 1, 1, 0))
        text = "A line of the proof is wrong as printed; the statement has a verdict of its own."
        sections.append(Section("A line of a proof is wrong", 2, (Paragraph(text), table), Audience.RELEASE))
    if sections and not any(row["printed"]["verdict"] == "REFUTED" for row in own(record)):
        head = Section("What is not held against the papers", 1, (Paragraph("Nothing is refuted."),), Audience.RELEASE)
        return [head, *sections]
    return sections


def _readings(verdict: Row) -> list[str]:
    said = {name: each["printed"]["verdict"].lower() for name, each in verdict["readings"].items()}
    if set(said.values()) == {"refuted"}:
        return [f"refuted in every reading ({', '.join(said)})"]
    return [f"{name}: {word}" for name, word in said.items()]


def _title(record: Record, id_: str) -> str:
    for statement in record.statements:
        if statement["id"] == id_:
            return str(statement["title"])
        for part in statement["parts"]:
            if display_of(part) == id_:
                return f"{statement['title']}: {part['title'] or statement['title']}"
    return id_


def _all_statements(record: Record) -> list[Section]:
    sections = []
    for place, (name, paper) in enumerate(record.header["papers"].items()):
        statements = [row for row in record.statements if row["paper"] == name]
        if not statements:
            continue
        wrong = {statement["id"] for statement, _ in proof_lines(record)}
        rows = tuple(_statement_row(record.verdict(s["id"]), s, s["id"] in wrong) for s in statements)
        columns = ("Id", "Statement", "As printed", "What follows", "Corrected")
        table = Table("", columns, rows, ("left",) * 5, (0, 1, 0, 0, 0))
        head = "Every statement" if not place else ""
        title = f"{author(paper)} ({paper['year']}): {paper['title']}"
        if head:
            read = copies(record)
            blocks: list[Block] = [Paragraph(WORDS_OF_TABLE, TextStyle.NOTE), *([read] if read else [])]
            sections.append(Section(head, 1, tuple(blocks), Audience.RELEASE, kicker="Index"))
        sections.append(Section(title, 2, (table,), Audience.RELEASE))
    return sections


WORDS_OF_TABLE = (
    "What follows: privacy (a loss can exceed what is promised), coverage (a bound holds less often), result (a "
    "rate, a risk or an identity is wrong), proof (a step fails), misprint (the intended formula is plain)."
)


def _statement_row(verdict: Row, statement: Row, wrong_line: bool) -> tuple[Cell, ...]:
    printed = verdict["printed"]["verdict"]
    follows = verdict["consequence"].lower() if printed == "REFUTED" else "a line of its proof" if wrong_line else "–"
    return statement["id"], statement["title"], badge(printed), follows or "result", corrected(verdict)


def author(paper: Row) -> str:
    """Return the authors of a paper, as its reference begins."""
    names = str(paper["reference"]).split(". ")[0].split(", ")
    return " and ".join(name.rsplit(" ", 1)[-1] for name in names)
