"""A certificate as a document: a pure function of the record's rows, its digest and a date; nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reports.codec import from_plain
from reports.numbers import format_count, format_probability
from reports.row import (
    Attachment,
    Audience,
    Badge,
    Block,
    Bullets,
    Callout,
    Code,
    Document,
    Fact,
    Facts,
    Figure,
    Paragraph,
    Reference,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ...engine.rows import Row, number
from ...messages.words import allowed, figure, interval, setting
from .certificate_words import (
    METHOD,
    POWER_WORDS,
    SEVERITY,
    VERDICT_TITLE,
    advice_of,
    left_out,
    promise,
    reader_words,
    summary_text,
)
from .examined_pages import examined_blocks, front_facts, front_note, on_whose_word, shown_checks, word_callout

AUTHOR = "pdp-verify"
TITLE = "Privacy certificate"
TONES = {"PASS": Tone.GOOD, "FAIL": Tone.BAD, "UNDECIDED": Tone.WARNING}
OUTCOME_TONES = {"HOLDS": Tone.GOOD, "FAILS": Tone.BAD, "UNDECIDED": Tone.NEUTRAL, "OUT_OF_DOMAIN": Tone.NEUTRAL}


def split(rows: Sequence[Row]) -> tuple[Row, dict[str, list[Row]]]:
    """Return the header and the other rows by kind."""
    by_kind: dict[str, list[Row]] = {kind: [] for kind in ("release", "claim", "check", "figure")}
    for row in rows[1:]:
        by_kind[row["kind"]].append(row)
    return rows[0], by_kind


def document(rows: Sequence[Row], *, digest: str, date: str, record: bytes) -> Document:
    """Return the report of a record.

    Parameters
    ----------
    rows : sequence of rows
        Of the record, header first.
    digest : str
        SHA-256 of the record, for the running header.
    date : str
        ISO date, or empty.
    record : bytes
        The record itself, which travels inside the PDF.
    """
    header, parts = split(rows)
    audience = Audience(header["audience"])
    sections = [_summary(header, parts), _method(header), _findings(parts)]
    for claim in parts["claim"]:
        sections += _claim_sections(claim, parts)
    sections += _releases(header, parts)
    sections.append(_appendix(header))
    return Document(
        title=TITLE,
        subtitle=f"{header['mechanism']} on {header['data']['name']}",
        date=date,
        author=AUTHOR,
        keywords=("differential privacy", "per-instance privacy", "certificate", header["verdict"]),
        summary=Callout(TONES[header["verdict"]], VERDICT_TITLE[header["words"]], summary_text(header, parts)),
        front=_front(header, parts),
        sections=tuple(Section(s.title, s.level, s.blocks, audience, s.badges, s.kicker, s.id) for s in sections),
        running_header=f"pdp-verify certificate {digest[:12]}",
        audience=audience,
        confidential=header["contains_private"],
        paper=header["paper"],
        attachment=Attachment("audit.jsonl", record, "application/jsonl", "The record this report was made from"),
    )


def _badge(claim: Row) -> Badge:
    return Badge(_lower(claim), TONES[claim["verdict"]])


def _lower(claim: Row) -> str:
    return str(claim["words"]).replace(claim["verdict"], claim["verdict"].lower())


def _front(header: Row, parts: dict[str, list[Row]]) -> tuple[Block, ...]:
    data = header["data"]
    bounds = (
        f"||x|| at most {figure(data['x_bound'], typographic=True)}, "
        f"|y| at most {figure(data['y_bound'], typographic=True)}"
    )
    facts = [
        Fact("Mechanism", header["mechanism"] + (" (imported)" if header["imported"] else "")),
        Fact("Data", data["name"] + (" (public)" if data["public"] else " (private)")),
        Fact("Public domain", f"{data['dim']} features, {bounds}"),
        Fact("Failure probability", format_probability(header["failure_prob"], typographic=True) + " in total"),
        Fact("Audience", header["audience"]),
    ]
    if "n_records" in data:
        facts.insert(2, Fact("Records", format_count(data["n_records"])))
    if header["data"].get("n_min"):
        facts.insert(3, Fact("Least number of records", format_count(header["data"]["n_min"]) + ", a public condition"))
    facts += front_facts(parts["claim"])
    rows = tuple((Reference(_id(c), c["claim"]), c["sentence"], _badge(c)) for c in parts["claim"])
    blocks: list[Block] = [Facts(tuple(facts))]
    blocks.append(
        Table("Claims and verdicts", ("Claim", "In words", "Verdict"), rows, ("left", "left", "left"), (0, 1, 0))
    )
    blocks += front_note(parts["claim"])
    if header["audience"] == "release" and not data["public"]:
        blocks.append(Paragraph(left_out(header), TextStyle.NOTE))
    return tuple(blocks)


def _id(claim: Row) -> str:
    return "claim-" + str(claim["claim"]).replace(" ", "-")


def _summary(header: Row, parts: dict[str, list[Row]]) -> Section:
    blocks: list[Block] = [Paragraph(reader_words(header), TextStyle.LEAD)]
    promises = [promise(claim, on_whose_word(claim)) for claim in parts["claim"] if claim["verdict"] == "PASS"]
    broken = [f"{c['sentence']}: refuted ({c['reason']})." for c in parts["claim"] if c["verdict"] == "FAIL"]
    still = [f"{c['sentence']}: {c['reason']}. {advice_of(c)}" for c in parts["claim"] if c["verdict"] == "UNDECIDED"]
    for title, items in (
        ("What may be promised", promises),
        ("What must not be promised", broken),
        ("What is open", still),
    ):
        if items:
            blocks += [Paragraph(title + ":", TextStyle.LEAD), Bullets(tuple(items))]
    conditions = sorted({condition for claim in parts["claim"] for condition in claim["conditions"]})
    if conditions:
        blocks += [Paragraph("All of this is conditional on:", TextStyle.LEAD), Bullets(tuple(conditions))]
    steps = header["data"]["steps"]
    if steps:
        blocks += [Paragraph("The records are prepared one by one, with public constants:"), Bullets(tuple(steps))]
    for note in header["data"]["data_dependent"]:
        blocks.append(Callout(Tone.WARNING, "Preparation that reads the data", note))
    return Section("What may be promised to whom", 1, tuple(blocks), kicker="Executive summary")


def _method(header: Row) -> Section:
    budget = format_probability(header["failure_prob"], typographic=True)
    blocks: list[Block] = [Bullets(METHOD)]
    blocks.append(
        Paragraph(
            f"Failure probability is spent, not repeated: {budget} in total, divided over the claims and within a "
            "claim over its simulated checks. It bounds the probability of a false FAIL, and that of missing, on the "
            "pairs examined, what a simulation is said to rule out. A PASS that rests on a proof carries none; how "
            "far a word can be trusted has no probability."
        )
    )
    return Section("What was done, and what a verdict means", 1, tuple(blocks), kicker="Method")


def _findings(parts: dict[str, list[Row]]) -> Section:
    ordered = sorted(parts["claim"], key=lambda claim: SEVERITY.index(claim["verdict"]))
    rows = tuple(
        (_badge(c), Reference(_id(c), c["claim"]), c["reason"], c["scope"], Reference(_id(c))) for c in ordered
    )
    table = Table(
        "Findings, the most severe first",
        ("Verdict", "Claim", "Decided by", "Speaks about", "Page"),
        rows,
        ("left", "left", "left", "left", "right"),
        (0, 0, 1, 1, 0),
    )
    blocks: list[Block] = [table]
    for claim in ordered:
        tone = TONES[claim["verdict"]]
        text = _decided_by(claim, parts) + (f" {advice_of(claim)}" if claim["advice"] else "")
        blocks.append(Callout(tone, f"{_lower(claim)}: {claim['claim']}", text[0].upper() + text[1:]))
    return Section("Findings", 1, tuple(blocks), kicker="Ordered by severity")


def _decided_by(claim: Row, parts: dict[str, list[Row]]) -> str:
    """Return the deciding check's numbers in words, or the reason where no check decided."""
    for row in parts["check"]:
        if row["claim"] == claim["claim"] and row["check"] == claim["reason"]:
            about, witness = row["about"], row["exact"] or row["sampled"]
            value = _exact(row["exact"]) if row["exact"] else interval(witness, typographic=True)
            return f"{row['check']}. {about['quantity']}: {allowed(about, typographic=True)} is allowed, found {value}."
    return f"{claim['reason']}."


def _claim_sections(claim: Row, parts: dict[str, list[Row]]) -> list[Section]:
    checks = shown_checks(claim, [row for row in parts["check"] if row["claim"] == claim["claim"]])
    blocks: list[Block] = [Paragraph(claim["sentence"][0].upper() + claim["sentence"][1:] + ".", TextStyle.LEAD)]
    facts = [Fact("Speaks about", claim["scope"]), Fact("Decided by", claim["reason"])]
    facts += [Fact("Conditional on", condition) for condition in claim["conditions"]]
    blocks += [*word_callout(claim), Facts(tuple(facts)), *examined_blocks(claim)]
    if checks:
        blocks.append(_check_table(checks))
    blocks += [block for row in checks for block in _check_blocks(row)]
    figures = [row["figure"] for row in parts["figure"] if row["claim"] == claim["claim"]]
    blocks += [_figure(figure_row) for figure_row in figures]
    badges = (_badge(claim),)
    return [Section(f"Claim {claim['claim']}", 1, tuple(blocks), badges=badges, kicker="Evidence", id=_id(claim))]


def _figure(plain: Any) -> Block:
    return from_plain(plain, Figure)


def _check_table(checks: Sequence[Row]) -> Table:
    rows = tuple(
        (
            row["check"],
            allowed(row["about"], typographic=True),
            _exact(row["exact"]),
            interval(row["sampled"], typographic=True),
            Badge(_outcome(row), OUTCOME_TONES[row["outcome"]]),
        )
        for row in checks
    )
    columns = ("Check", "Allowed", "Exact or proved", "Simulated", "Outcome")
    return Table("Evidence", columns, rows, ("left", "left", "left", "left", "left"), (1, 0, 0, 0, 0))


def _exact(estimate: Row | None) -> str:
    """Return an enclosure as one number where it is narrow, as its two ends where it is wide."""
    if estimate is None:
        return "–"
    low, high = number(estimate["low"]), number(estimate["high"])
    if low == high or high - low <= 1e-9 * max(abs(high), 1e-300):
        return figure(estimate["value"], 4, typographic=True)
    return f"{figure(low, 3, typographic=True)} to {figure(high, 3, typographic=True)}"


def _outcome(row: Row) -> str:
    if row["power"] == "REPORTS":
        return "reported"
    if row["power"] == "REFUTES" and row["outcome"] in ("UNDECIDED", "HOLDS"):
        return "not refuted"
    return {"HOLDS": "holds", "FAILS": "fails", "UNDECIDED": "undecided", "OUT_OF_DOMAIN": "says nothing"}[
        row["outcome"]
    ]


def _check_blocks(row: Row) -> list[Block]:
    """Return a check's own words and numbers, where it has any beyond the table."""
    items: list[Fact] = []
    if row["found"]:
        label = "Counterexample" if row["outcome"] == "FAILS" else "Worst pair found"
        items.append(Fact(label, setting(row["found"], typographic=True)))
    notes = {key: value for key, value in row["notes"].items() if value is not None}
    if notes:
        items.append(Fact("Numbers", setting(notes, typographic=True)))
    if not row["words"] and not items:
        return []
    words = f"{row['words'][0].upper()}{row['words'][1:].removesuffix('.')}." if row["words"] else ""
    name = row["check"][0].upper() + row["check"][1:]
    blocks: list[Block] = [Paragraph(f"{name} ({POWER_WORDS[row['power']]}). {words}")]
    if items:
        blocks.append(Facts(tuple(items)))
    return blocks


def _releases(header: Row, parts: dict[str, list[Row]]) -> list[Section]:
    budget = [_figure(row["figure"]) for row in parts["figure"] if row["claim"] == ""]
    if not parts["release"] and not budget:
        return []
    blocks: list[Block] = []
    if parts["release"]:
        rows = tuple((row["name"], row["cost"]) for row in parts["release"])
        blocks.append(Table("Private releases and their cost", ("Release", "Cost"), rows, ("left", "left"), (0, 1)))
        blocks.append(
            Paragraph(
                "Each was drawn once, written before it was used, and is reused on every later run; a second draw adds "
                "to the budget. Anyone can compute her own bound from a report and her own record:"
            )
        )
        blocks.append(Code("pdp-verify my-loss report.json record.json"))
    return [Section("Releases and budget", 1, (*blocks, *budget), kicker="Budget")]


def _appendix(header: Row) -> Section:
    facts = [Fact(name, version) for name, version in header["versions"].items()]
    facts += [Fact("platform", header["platform"]), Fact("digest of our sources", header["sources"])]
    facts += [Fact("seed of the audit's own draws", str(header["seed"])), Fact("profile", header["profile"])]
    for label, key in (
        ("digest of the configuration", "configuration_digest"),
        ("digest of the mechanism", "mechanism_digest"),
    ):
        if header.get(key):
            facts.append(Fact(label, header[key]))
    if header.get("artefact"):
        facts.append(Fact(f"digest of {header['artefact']['name']}, not examined", header["artefact"]["sha256"]))
    if "digest" in header["data"]:
        facts.append(Fact("digest of the prepared data", header["data"]["digest"]))
    facts.append(Fact("schema of the record", str(header["schema_version"])))
    return Section(
        "Versions, digests, and how to reproduce this",
        1,
        (
            Paragraph(
                "The record travels inside this PDF as audit.jsonl. With the configuration, the data and these "
                "versions the first command writes the same record; the second says whether the files of a folder "
                "belong together."
            ),
            Code(f"pdp-verify certify CONFIG.toml --audience {header['audience']}\npdp-verify check DIR"),
            Facts(tuple(facts)),
        ),
        kicker="Appendix",
    )
