"""What every report of a run says of its method: what a verdict means, the words, and how to do it again."""

from __future__ import annotations

from collections.abc import Mapping

from reports.numbers import format_probability
from reports.row import Audience, Bullets, Code, Fact, Facts, Paragraph, Section, Table

from ...engine.record import Record
from ...kernel.paper import papers
from ...kernel.verdict import Verdict
from ...kernel.words import command_lines

VERDICT_MEANING: Mapping[Verdict, str] = {
    Verdict.REFUTED: (
        "Refuted: at least one case is impossible under the claim, and was confirmed: a simulated one on fresh draws "
        "that took no part in finding it, an exact one by an enclosure whose proved error is smaller than the excess."
    ),
    Verdict.SUPPORTED: (
        "Supported: every case inside the printed domain holds, none is undecided, and every deliberately wrong "
        "version (mutant) that the same checks must notice was caught. It is not a proof. Support over "
        "infinitely many data sets carries no probability."
    ),
    Verdict.UNDECIDED: "Undecided: neither of the two, with the reason beside it.",
    Verdict.TEXT_UNCLEAR: (
        "Text unclear: our copy of the paper is damaged at this place, or contradicts itself. Each way to read it is "
        "decided, and the paper is blamed for none of them."
    ),
    Verdict.DEFINITION: "Definition: nothing to check; the page names the type or function that implements it.",
}
METHOD = (
    "Each statement is checked as printed, misprints included, and, where that form is refuted, in a corrected form: "
    "the smallest change that makes it true, with its own verdict. A line of a proof has a verdict of its own, which "
    "never decides the statement.",
    "Up to three numbers stand side by side: the one that the published formula gives, the exact one (a proved "
    "enclosure in ball arithmetic or an equally rigorous bound), and a simulated one with its interval. The exact one "
    "decides where it exists; the simulated one must then agree with it, or the case counts as a defect of this suite.",
    "A case holds when every value of the deciding interval is allowed by the claim, fails when none is, and is "
    "undecided otherwise. Cases outside the printed domain, or where the claim says nothing, are shown, not counted.",
    "Intervals of simulated numbers are valid at finite sample sizes (Clopper-Pearson, betting and "
    "empirical-Bernstein bounds, Dvoretzky-Kiefer-Wolfowitz bands); none rests on a normal approximation.",
    "A formal (epsilon, delta) claim is decided on the hockey-stick divergence in both directions, which is the "
    "definition. The probability that the privacy loss exceeds epsilon is a larger quantity, shown beside it only.",
    "The worst case of a statement is the gravest in kind: a privacy loss comes before a coverage, a coverage before a "
    "bound, a bound before an identity. Within a kind it is the one that exceeds what is allowed by most.",
    "A result that rests on an iterative solve states the residual it was solved to. What is decided is the law of the "
    "exact minimiser in real arithmetic with ideal Gaussian noise, not that of a floating-point implementation.",
)
GLOSSARY = (
    ("as printed", "The formula as our copy of the paper has it, whatever it was meant to say."),
    ("epsilon, delta", "The promise: whatever is observed, its probability changes by a factor of at most exp(epsilon) "
     "when one person joins or leaves, but for a part delta."),
    ("hockey-stick divergence", "The least delta for which the promise holds at a given epsilon: the true delta."),
    ("leverage", "x^T (X^T X + lambda I)^-1 x: how far one person's features pull the regression."),
    ("margin", "The room between a number and what is allowed, relative to that; negative where the claim fails."),
    ("mutant", "A deliberately wrong version of a statement. A check that does not catch it supports nothing."),
    ("per-instance", "About the data set at hand and one person in it, not about the worst case over all of them."),
    ("reading", "One way to understand a text that allows several, or that is damaged in our copy."),
)  # fmt: skip


def method(record: Record, *, part: str = "") -> Section:
    """Return the section that says what a verdict means, with the words that need one."""
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
            Bullets(tuple(VERDICT_MEANING.values())),
            *(Paragraph(text) for text in METHOD),
            Paragraph(spending),
            Table("Words", ("Word", "Means"), GLOSSARY, ("left", "left"), (0, 1)),
        ),
        Audience.RELEASE,
        kicker="Method",
        part=part,
    )


def appendix(record: Record, *, part: str = "") -> Section:
    """Return the section that says how to make the record and the report again."""
    header = record.header
    known = [id_ for paper in papers() for id_, entry in paper.entries.items() if not entry.parent]
    named = [] if set(header["statements"]) == set(known) else header["statements"]
    command = ["pdp-verify", "run", *named, "--profile", header["profile"], "--seed", str(header["seed"])]
    command += ["--failure-prob", repr(header["failure_prob"])]
    given = ["--data", "FOLDER"] if any(row.get("data") for row in record.verdicts) else []
    own = [row for row in record.verdicts if row["parent"] is None]
    first = next((row["id"] for row in own if row["printed"]["verdict"] == "REFUTED"), None)
    first = first or next((row["id"] for row in record.cases), "ID")
    facts = [Fact(name, version) for name, version in header["versions"].items()]
    facts += [Fact("platform", header["platform"]), Fact("digest of our sources", header["sources"])]
    facts += [Fact(f"digest of {name}", digest) for name, digest in header["data"].items()]
    facts += [Fact("seed", str(header["seed"])), Fact("schema of the record", str(header["schema_version"]))]
    return Section(
        "How to do this again",
        1,
        (
            Paragraph(
                "On a machine with the same platform line the run below writes the same record, byte for byte, "
                "whatever the number of workers. Elsewhere a replayed case must have the same verdict, and the same "
                "numbers to one part in a thousand million."
            ),
            Code(command_lines([*command, *given]), "The whole run"),
            Code(command_lines(["pdp-verify", "replay", "audit.jsonl", first, *given]), "One case, drawn again"),
            Code("pdp-verify report audit.jsonl -o audit.pdf", "The short report, from the record alone"),
            Code("pdp-verify report audit.jsonl --full -o audit-full.pdf", "All the evidence, a section a statement"),
            Code("pdp-verify errata audit.jsonl -o corrections.pdf", "The corrections to the papers"),
            Facts(tuple(facts)),
        ),
        Audience.RELEASE,
        kicker="Reproduce",
        part=part,
    )
