"""A certificate as a document: a pure function of the record's rows, its digest and a date; nothing is computed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from audits.error_budget import Part
from reports.codec import from_plain
from reports.numbers import format_number, format_probability
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

from ..kernel.rows import Row, number
from ..kernel.words import allowed, figure, interval
from ..messages.pair_words import in_words
from ..messages.verdict_words import verdict_said
from .certificate_words import (
    METHOD,
    POWER_WORDS,
    SEVERITY,
    TONES,
    VERDICT_TITLE,
    badge_of,
    claim_id,
    examined_blocks,
    numbers_in_words,
    shown_checks,
    summary_text,
    word_callout,
)
from .counterexample import pair_blocks
from .first_page import asked_by_lines, first_page

#: Most rows of the table.
MOST = 40
#: Names of parts that are no words of their own.
WORDS = {"FORWARD": "drawn from the first data set", "BACKWARD": "drawn from the second data set"}


def _budget_section(row: Row) -> Section:
    """Return the section of a record's row: the deepest parts of which a table has room for all."""
    leaves = row["leaves"]
    depth = max((len(leaf["place"]) for leaf in leaves), default=1)
    while depth > 1 and len({tuple(leaf["place"][:depth]) for leaf in leaves}) > MOST:
        depth -= 1
    grouped: dict[tuple[str, ...], list[Row]] = {}
    for leaf in leaves:
        grouped.setdefault(tuple(leaf["place"][:depth]), []).append(leaf)
    rows = tuple(
        (
            ", ".join(WORDS.get(name, name) for name in place),
            format_probability(math.fsum(leaf["alpha"] for leaf in inside), typographic=True),
            f"{sum(leaf['spent'] for leaf in inside)} of {len(inside)}",
            ", ".join(dict.fromkeys(leaf["decided"] for leaf in inside if leaf["spent"])) or "nothing",
        )
        for place, inside in grouped.items()
    )
    columns = ("Part", "Failure probability", "Parts spent", "Spent on")
    widths, alignments = (1, 0, 0, 1), ("left", "right", "right", "left")
    return Section("How the failure probability was spent", 2, (Table("", columns, rows, alignments, widths),))


def tree_lines(parts: Sequence[Part]) -> list[str]:
    """Return a tree as lines, each part below what it belongs to."""
    lines = []
    for part in parts:
        name = WORDS.get(part.place[-1], part.place[-1]) if part.place else "failure probability"
        spent = f"  {part.decided}" if part.decided else ""
        lines.append(f"{'  ' * len(part.place)}{name:<40} {format_probability(part.alpha)}{spent}")
    return lines


AUTHOR = "pdp-verify"
#: The word "certificate" stands over a PASS alone; everything else is the result of an audit.
TITLES = {"PASS": "Privacy certificate"}
OTHER_TITLE = "Audit result"
OUTCOME_TONES = {"HOLDS": Tone.GOOD, "FAILS": Tone.BAD, "UNDECIDED": Tone.NEUTRAL, "OUT_OF_DOMAIN": Tone.NEUTRAL}


def split(rows: Sequence[Row]) -> tuple[Row, dict[str, list[Row]]]:
    """Return the header and the other rows by kind."""
    by_kind: dict[str, list[Row]] = {kind: [] for kind in ("release", "claim", "check", "figure", "budget")}
    for row in rows[1:]:
        by_kind[row["kind"]].append(row)
    return rows[0], by_kind


def document(rows: Sequence[Row], *, digest: str, date: str, record: bytes) -> Document:
    """Return the report of a record (header first); ``digest`` and ``record`` are its SHA-256 and its bytes."""
    header, parts = split([rows[0], *map(_with_pairs_in_words, rows[1:])])
    audience = Audience(header["audience"])
    sections = [_evidence(header, parts), *(_claim_section(header, claim, parts) for claim in parts["claim"])]
    sections += _releases(header, parts)
    sections += [_method(header), *map(_budget_section, parts["budget"]), _appendix(header)]
    title = TITLES.get(header["verdict"], OTHER_TITLE)
    return Document(
        title=title,
        subtitle=f"{header['mechanism']} on {header['data']['name']}",
        date=date,
        author=AUTHOR,
        keywords=("differential privacy", "per-instance privacy", title.split()[-1], header["verdict"]),
        summary=Callout(TONES[header["verdict"]], VERDICT_TITLE[header["words"]], summary_text(header, parts)),
        front=first_page(header, parts),
        sections=tuple(Section(s.title, s.level, s.blocks, audience, s.badges, s.kicker, s.id) for s in sections),
        running_header=f"pdp-verify {title.lower()} {digest[:12]}",
        audience=audience,
        confidential=header["contains_private"],
        paper=header["paper"],
        attachment=Attachment("audit.jsonl", record, "application/jsonl", "The record this report was made from"),
    )


def _with_pairs_in_words(row: Row) -> Row:
    """Return a claim or a check with the names of pairs of data sets as words that are true of their records."""
    keys = {"claim": ("reason", "check", "examination"), "check": ("check", "words", "notes")}.get(row["kind"], ())
    return row | {key: in_words(row[key]) for key in keys if key in row}


def _evidence(header: Row, parts: dict[str, list[Row]]) -> Section:
    """Return the findings, the most severe first, and what was done to the records before."""
    ordered = sorted(parts["claim"], key=lambda claim: SEVERITY.index(claim["verdict"]))
    rows = tuple(
        (badge_of(c), Reference(claim_id(c), c["claim"]), c["reason"], c["scope"], Reference(claim_id(c)))
        for c in ordered
    )
    columns = ("Verdict", "Claim", "Decided by", "Speaks about", "Page")
    alignments, widths = ("left", "left", "left", "left", "right"), (0, 0, 1, 1, 0)
    blocks: list[Block] = [Table("Findings, the most severe first", columns, rows, alignments, widths)]
    steps = header["data"]["steps"]
    if steps:
        blocks += [Paragraph("The records are prepared one by one, with public constants:"), Bullets(tuple(steps))]
    for note in header["data"]["data_dependent"]:
        blocks.append(Callout(Tone.WARNING, "Preparation that reads the data", note))
    return Section("Evidence", 1, tuple(blocks))


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
    return Section("What was done, and what a verdict means", 2, tuple(blocks))


def _decided_by(claim: Row, parts: dict[str, list[Row]]) -> str:
    """Return the deciding check's numbers in words, or the reason where no check decided."""
    for row in parts["check"]:
        if (
            row["claim"] == claim["claim"]
            and row["check"] == claim.get("check", claim["reason"])
            and (row["exact"] or row["sampled"])
        ):
            about, witness = row["about"], row["exact"] or row["sampled"]
            value = _exact(row["exact"]) if row["exact"] else interval(witness, typographic=True)
            words = f"{row['check']} ({about['quantity']})"
            return f"{words}: {allowed(about, typographic=True)} is allowed, found {value}."
    return f"{verdict_said(claim).removesuffix('.')}."


def _claim_section(header: Row, claim: Row, parts: dict[str, list[Row]]) -> Section:
    checks = shown_checks(claim, [row for row in parts["check"] if row["claim"] == claim["claim"]])
    first = claim["sentence"][0]
    as_it_is = asked_by_lines(header) and claim["sentence"].startswith(header["mechanism"])  # http://, rscript
    lead = (first if as_it_is else first.upper()) + claim["sentence"][1:] + "."
    blocks: list[Block] = [Paragraph(lead, TextStyle.LEAD)]
    decided = _decided_by(claim, parts)
    facts = [Fact("Speaks about", claim["scope"]), Fact("Decided by", decided[0].upper() + decided[1:])]
    facts += [Fact("Conditional on", condition) for condition in claim["conditions"]]
    blocks += [*word_callout(claim), Facts(tuple(facts)), *pair_blocks(header, claim.get("counterexample"))]
    blocks += examined_blocks(claim)
    if checks:
        blocks.append(_check_table(checks))
    blocks += [block for row in checks for block in _check_blocks(row)]
    blocks += _figures(parts, claim["claim"])
    return Section(f"Claim {claim['claim']}", 2, tuple(blocks), badges=(badge_of(claim),), id=claim_id(claim))


def _figures(parts: dict[str, list[Row]], claim: str) -> list[Block]:
    return [from_plain(row["figure"], Figure) for row in parts["figure"] if row["claim"] == claim]


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
    ends = (
        format_number(low, 3, rounding="down", typographic=True),
        format_number(high, 3, rounding="up", typographic=True),
    )
    return f"{ends[0]} to {ends[1]}"


def _outcome(row: Row) -> str:
    if row["power"] == "REPORTS":
        return "reported"
    if row["power"] == "REFUTES" and row["outcome"] in ("UNDECIDED", "HOLDS"):
        return "not refuted"
    return {"HOLDS": "holds", "FAILS": "fails", "UNDECIDED": "undecided", "OUT_OF_DOMAIN": "says nothing"}[
        row["outcome"]
    ]


def _check_blocks(row: Row) -> list[Block]:
    items: list[Fact] = []
    if row["found"]:
        label = "Counterexample" if row["outcome"] == "FAILS" else "Worst pair found"
        items.append(Fact(label, numbers_in_words(row["found"], of_a_pair=True)))
    notes = {key: value for key, value in row["notes"].items() if value is not None}
    if notes:
        items.append(Fact("Numbers", numbers_in_words(notes)))
    if not row["words"] and not items:
        return []
    words = f"{row['words'][0].upper()}{row['words'][1:].removesuffix('.')}." if row["words"] else ""
    name = row["check"][0].upper() + row["check"][1:]
    blocks: list[Block] = [Paragraph(f"{name} ({POWER_WORDS[row['power']]}). {words}")]
    if items:
        blocks.append(Facts(tuple(items)))
    return blocks


def _releases(header: Row, parts: dict[str, list[Row]]) -> list[Section]:
    budget = _figures(parts, "")
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
    return [Section("Releases and budget", 2, (*blocks, *budget))]


def _appendix(header: Row) -> Section:
    facts = [Fact("versions", ", ".join(f"{name} {version}" for name, version in header["versions"].items()))]
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
    own = asked_by_lines(header) and not header["configuration"]["mechanism"]["reproducible"]
    again = "asks for other draws, which need not say the same" if own else "writes the same record"
    return Section(
        "Versions, digests, and how to reproduce this",
        2,
        (
            Paragraph(
                "The record travels inside this PDF as audit.jsonl. With the configuration, the data and these "
                f"versions the first command {again}; the second says whether the files of a folder belong together."
            ),
            Code(f"pdp-verify certify CONFIG.toml --audience {header['audience']}\npdp-verify check DIR"),
            Facts(tuple(facts), small=True),
        ),
    )
