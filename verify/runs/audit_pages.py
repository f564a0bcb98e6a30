"""A record as a document: a first page for a manager, the method, a page a statement, how to reproduce it.

A pure function of the record and a date: nothing is drawn, no statistic computed.
"""

from __future__ import annotations

from collections.abc import Mapping

from reports.numbers import format_count, format_probability
from reports.row import (
    Audience,
    Badge,
    Block,
    Bullets,
    Callout,
    Code,
    Document,
    Fact,
    Facts,
    Paragraph,
    Reference,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ..engine.record import Record
from ..engine.rows import Row
from ..kernel.verdict import Outcome, Verdict
from .statement_pages import TONES, statement_sections

AUTHOR = "pdp-verify"
TITLE = "Published statements on per-instance differential privacy, decided"

VERDICT_MEANING: Mapping[Verdict, str] = {
    Verdict.REFUTED: (
        "Refuted: at least one case is impossible under the claim, and was confirmed: a simulated one on fresh draws "
        "that took no part in finding it, an exact one by an enclosure whose proved error is smaller than the excess."
    ),
    Verdict.SUPPORTED: (
        "Supported: every case inside the printed domain holds, none is undecided, and every deliberately wrong "
        "version (mutant) that the same checks must refute was refuted. It is not a proof. Support over "
        "infinitely many data sets carries no probability."
    ),
    Verdict.UNDECIDED: "Undecided: neither of the two, with the reason beside it.",
    Verdict.DEFINITION: "Definition: nothing to check; the page names the type or function that implements it.",
}
METHOD = (
    "Each statement is checked as printed, misprints included, and, where that form is refuted, in a corrected form: "
    "the smallest change that makes it true, with its own verdict.",
    "Up to three numbers stand side by side: the one that the published formula gives, the exact one (a proved "
    "enclosure in ball arithmetic or an equally rigorous bound), and a simulated one with its interval. The exact one "
    "decides where it exists; the simulated one must then agree with it, or the case counts as a defect of this suite.",
    "A case holds when every value of the deciding interval is allowed by the claim, fails when none is, and is "
    "undecided otherwise. Cases outside the printed domain, or where the claim says nothing, are shown, not counted.",
    "Intervals of simulated numbers are valid at finite sample sizes (Clopper-Pearson, betting and "
    "empirical-Bernstein bounds, Dvoretzky-Kiefer-Wolfowitz bands); none rests on a normal approximation.",
    "A formal (epsilon, delta) claim is decided on the hockey-stick divergence in both directions, which is the "
    "definition. The probability that the privacy loss exceeds epsilon is a larger quantity, shown beside it only.",
    "The margin of a case is the distance between the deciding interval and the edge of what is allowed, relative to "
    "that edge; it is negative where the claim fails.",
    "A result that rests on an iterative solve states the residual it was solved to. What is decided is the law of the "
    "exact minimiser in real arithmetic with ideal Gaussian noise, not that of a floating-point implementation.",
)


def document(record: Record, *, date: str) -> Document:
    """Return the report of a record, with an ISO date (or none)."""
    figures = {id_: [row for row in record.figures if row["id"] == id_] for id_ in record.header["statements"]}
    sections = [_method(record)]
    for statement in record.statements:
        sections += statement_sections(record, statement, figures.get(statement["id"], []))
    sections.append(_appendix(record))
    return Document(
        title=TITLE,
        subtitle=f"{len(record.statements)} statements, profile {record.header['profile']}",
        date=date,
        author=AUTHOR,
        keywords=("differential privacy", "per-instance privacy", "verification"),
        summary=summary(record),
        front=_front(record),
        sections=tuple(
            Section(s.title, s.level, s.blocks, Audience.RELEASE, s.badges, s.kicker, s.id) for s in sections
        ),
        running_header="pdp-verify audit",
        audience=Audience.RELEASE,
    )


def _own(record: Record) -> list[Row]:
    """Return the verdict rows of statements, parts left out."""
    return [row for row in record.verdicts if row["parent"] is None]


def summary(record: Record) -> Callout:
    """Return the run's outcome in a title and a sentence."""
    own = _own(record)
    counts = {verdict: sum(row["printed"]["verdict"] == verdict.name for row in own) for verdict in Verdict}
    mended = sum(
        row["printed"]["verdict"] == "REFUTED" and (row["corrected"] or {}).get("verdict") == "SUPPORTED" for row in own
    )
    text = (
        f"Of {len(own)} published statements, {counts[Verdict.SUPPORTED]} are supported as printed and "
        f"{counts[Verdict.REFUTED]} are refuted as printed, {mended} of which are supported in a corrected form; "
        f"{counts[Verdict.UNDECIDED]} are undecided, {counts[Verdict.DEFINITION]} are definitions."
    )
    unexpected = sum(bool(row["unexpected"]) for row in own)
    errors = sum(row["error"] is not None for row in (*record.cases, *record.figures))
    if not record.header["complete"]:
        return Callout(Tone.WARNING, "Interrupted: not every case was run", text)
    if errors:
        return Callout(Tone.BAD, f"{errors} checks of this suite stopped with an error", text)
    if unexpected:
        return Callout(Tone.BAD, f"{unexpected} statements have a verdict that was not expected", text)
    return Callout(Tone.GOOD, "Every verdict is the expected one", text)


def _front(record: Record) -> tuple[Block, ...]:
    header = record.header
    cases = [row for row in record.cases if row["standing"] != "MUTANT"]
    mutants = [row for row in record.cases if row["standing"] == "MUTANT"]
    caught = sum(row["outcome"] == Outcome.FAILS.name for row in mutants)
    draws = sum(look["sampled"]["n_draws"] for look in _looks(record) if look["sampled"])
    versions = ", ".join(f"{name} {version}" for name, version in header["versions"].items())
    blocks: list[Block] = [
        Paragraph(
            "What was checked: the statements below, from three papers on per-instance differential privacy in linear "
            "and generalised linear models, each against the exact value of what it bounds and against simulation, on "
            "public data and over the stated ranges of their parameters."
        ),
        Facts(
            (
                Fact("Cases decided", format_count(len(cases))),
                Fact("Mutants refuted", f"{caught} of {len(mutants)}"),
                Fact("Mechanism draws", format_count(draws)),
                Fact("Failure probability", format_probability(header["failure_prob"], typographic=True) + " in total"),
                Fact("Seed", str(header["seed"])),
                Fact("Profile", header["profile"]),
            ),
            wide=True,
        ),
        Facts((Fact("Data", ", ".join(header["data"]) or "none embedded"), Fact("Versions", versions))),
    ]
    blocks.append(_verdict_table(record))
    unexpected = [f"{row['id']}: {message}" for row in record.verdicts for message in row["unexpected"]]
    still_open = [f"{row['id']}: {message}" for row in record.verdicts for message in row["still_open"]]
    if unexpected:
        blocks += [Paragraph("Not as expected:", TextStyle.LEAD), Bullets(tuple(unexpected))]
    if still_open:
        blocks += [Paragraph("Open at this budget, not counted as a mismatch:"), Bullets(tuple(still_open))]
    return tuple(blocks)


def _looks(record: Record) -> list[Row]:
    return [look for row in record.cases for look in (row, row["confirmation"]) if look]


def _verdict_table(record: Record) -> Table:
    titles = {row["id"]: row["title"] for row in record.statements}
    rows = tuple(
        (
            row["id"],
            Reference(row["id"], titles[row["id"]]),
            Badge(row["printed"]["verdict"].lower(), TONES[row["printed"]["verdict"]]),
            Badge(row["corrected"]["verdict"].lower(), TONES[row["corrected"]["verdict"]]) if row["corrected"] else "–",
            Reference(row["id"]),
        )
        for row in _own(record)
    )
    columns = ("Id", "Statement", "As printed", "Corrected", "Page")
    return Table("Verdicts", columns, rows, ("left", "left", "left", "left", "right"), (0, 1, 0, 0, 0))


def _method(record: Record) -> Section:
    header = record.header
    share = format_probability(header["failure_prob_per_id"], typographic=True)
    total = format_probability(header["failure_prob"], typographic=True)
    spending = (
        f"Failure probability is spent, not repeated: the run has {total} in total, of which each catalogue id owns a "
        f"fixed {header['slots']}th ({share}), whatever else runs. Within an id it is divided over its simulated "
        "cases, and within a case between the first look and the confirmation of a failure. It bounds the "
        "probability of a false outcome of a case and of a false refutation. It says nothing about a supported "
        "statement: support over infinitely many data sets carries no probability."
    )
    return Section(
        "What a verdict means, and what it does not",
        1,
        (
            Bullets(tuple(VERDICT_MEANING[verdict] for verdict in VERDICT_MEANING)),
            *(Paragraph(text) for text in METHOD),
            Paragraph(spending),
        ),
        kicker="Method",
    )


def _appendix(record: Record) -> Section:
    header = record.header
    command = ["pdp-verify", "run", *header["statements"]]
    command += ["--profile", header["profile"], "--seed", str(header["seed"])]
    command += ["--failure-prob", repr(header["failure_prob"])]
    first = next((row["id"] for row in _own(record) if row["printed"]["verdict"] == "REFUTED"), None)
    first = first or next((row["id"] for row in record.cases), "ID")
    facts = [Fact(name, version) for name, version in header["versions"].items()]
    facts += [Fact("platform", header["platform"]), Fact("digest of our sources", header["sources"])]
    facts += [Fact(f"digest of {name}", digest) for name, digest in header["data"].items()]
    facts += [Fact("seed", str(header["seed"])), Fact("schema of the record", str(header["schema_version"]))]
    return Section(
        "How to reproduce this report",
        1,
        (
            Paragraph(
                "On a machine with the same platform line the run below writes the same record, byte for byte, "
                "whatever the number of workers. Elsewhere a replayed case must have the same verdict, and the same "
                "numbers to one part in a thousand million."
            ),
            Code(" ".join(command), "The whole run"),
            Code(f"pdp-verify replay audit.jsonl {first}", "One case, drawn again"),
            Code("pdp-verify report audit.jsonl -o audit.pdf", "This report, from the record alone"),
            Facts(tuple(facts)),
        ),
        kicker="Appendix",
    )
