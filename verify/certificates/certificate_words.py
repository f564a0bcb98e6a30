"""The sentences of a certificate, the names of its numbers, and what was examined, for pages and terminal alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audits.verdict import Ground
from reports.numbers import format_count, format_probability
from reports.row import Badge, Block, Bullets, Callout, Fact, Facts, Paragraph, Table, TextStyle, Tone

from ..kernel.rows import NON_FINITE, Row, number
from ..kernel.words import figure

TONES = {"PASS": Tone.GOOD, "FAIL": Tone.BAD, "UNDECIDED": Tone.WARNING}
SEVERITY = ("FAIL", "UNDECIDED", "PASS")
VERDICT_TITLE = {
    "PASS (proved)": "PASS (proved): every claim is supported by a proof",
    "PASS (attested)": "PASS (attested): every claim is supported, at least one of them on somebody's word",
    "PASS (simulated)": "PASS (simulated): every claim is supported, at least one of them by simulation",
    "FAIL": "FAIL: a claim is refuted",
    "UNDECIDED (no violation found)": "UNDECIDED (no violation found): nothing refutes a claim or supports it",
    "UNDECIDED (its own statement is refuted)": "UNDECIDED (its own statement is refuted): what the mechanism states "
    "about itself is not what it does",
    "UNDECIDED (not tested)": "UNDECIDED (not tested): too little was drawn for a claim",
    "UNDECIDED": "UNDECIDED: a claim is neither supported nor refuted",
}
#: What no audit of draws can catch, however many there are.
CANNOT_CATCH = (
    "a record that switches the noise off and is not among those that were tried",
    "a mechanism that recognises the audit and behaves otherwise elsewhere",
    "a leak that is rarer than could be seen",
    "a law that is right on every pair that was tried and wrong on another",
)
POWER_WORDS = {
    "DECIDES": "can support and refute",
    "REFUTES": "can refute, never support",
    "STATES": "tests what the mechanism states about itself, never the claim",
    "AGREES": "two witnesses of one number must agree",
    "REPORTS": "decides nothing",
}
METHOD = (
    "PASS (proved): a claim over all data sets passes only if a proved bound lies below it, and no counterexample is "
    "found. The bound rests on a published statement, in its printed or corrected form, or on a derivation of this "
    "suite's own (docs/derivations); each claim names which. Checks on the records at hand never give more than "
    "'per-instance privacy on this data'.",
    "PASS (attested): an imported mechanism passes only after enough pairs of data sets were drawn from on both sides, "
    "with nothing found in their black-box audits nor between its stated law and its draws, and on the word of "
    "somebody named for the rest.",
    "FAIL means a counterexample: a pair of neighbouring data sets whose divergence, enclosed in ball arithmetic or "
    "confirmed on fresh draws, exceeds what is claimed.",
    "UNDECIDED (its own statement is refuted): draws refute the density, loss, profile or worst case that the "
    "mechanism states, and not the claim. No number that rests on such a statement is shown.",
    "UNDECIDED means neither; the reason and the way out are given. Draws alone can refute and never support. "
    "'No violation found' says that enough was drawn for a violation to be seen, 'not tested' that too little was.",
    "An (epsilon, delta) claim is decided on the hockey-stick divergence in both directions, which is its definition. "
    "The probability that the privacy loss exceeds epsilon is a larger quantity.",
    "Exact numbers are proved enclosures; simulated ones have intervals that are valid at finite sample sizes "
    "(Clopper-Pearson, betting, exact binomial tests). Where both exist they must agree, or the run counts as a "
    "defect of ours.",
    "What is decided is the law of the mechanism in real arithmetic with ideal normal noise, for objective "
    "perturbation that of the exact minimiser; not the bits that a floating-point implementation puts out.",
    "A loss that depends on one's own record is private: such numbers are on pages for the curator alone.",
)


def summary_text(header: Row, parts: dict[str, list[Row]]) -> str:
    """Return what the verdict lets one do, and how many claims came out how."""
    claims = parts["claim"]
    counts = {verdict: sum(claim["verdict"] == verdict for claim in claims) for verdict in SEVERITY}
    words = (("PASS", "supported"), ("FAIL", "refuted"), ("UNDECIDED", "undecided"))
    shown = ", ".join(f"{n} {word}" for verdict, word in words if (n := counts[verdict]))
    counted = "" if len(claims) == 1 else f" Of {len(claims)} claims: {shown}."
    return _reader_words(header) + counted


def left_out(header: Row) -> str:
    """Return what a release document says about the claims that are not in it."""
    declared = ", ".join(header["not_shown"])
    named = f" Declared public are the claims, not their verdicts: {declared}." if declared else ""
    return (
        "This document is about all data sets. What may have been claimed about the private records themselves is the "
        f"curator's: even a verdict would say something about them.{named}"
    )


def _reader_words(header: Row) -> str:
    """Return the executive summary's first sentence."""
    misstated = header["words"].endswith(f"({Ground.MISSTATED.value})")
    return {
        "PASS": "The deployment may be described with the claims below, to the people named in each, under the "
        "conditions listed.",
        "FAIL": "The deployment must not go out with these claims: at least one of them is false, and the "
        "counterexample is in this document.",
        "UNDECIDED": "The deployment has not been shown to keep all of its claims; nothing was found that breaks them."
        + (" What the mechanism states about itself is not what it does." if misstated else ""),
    }[header["verdict"]]


def claim_id(claim: Row) -> str:
    """Return what a reference to the pages of a claim points to."""
    return "claim-" + str(claim["claim"]).replace(" ", "-")


def lower_verdict(claim: Row) -> str:
    """Return the verdict on a claim as its badge says it: ``pass (proved)``."""
    return str(claim["words"]).replace(claim["verdict"], claim["verdict"].lower())


def badge_of(claim: Row) -> Badge:
    """Return the verdict on a claim in colour."""
    return Badge(lower_verdict(claim), TONES[claim["verdict"]])


#: Name in a record -> words; a name that is not listed is shown with its underscores as spaces.
WORDS = {
    "x_norm": "length of the features",
    "x_norm_of_records": "length of the other records' features",
    "y": "response",
    "n_records": "records",
    "mu": "distance of the two normal laws",
    "epsilon_published": "epsilon claimed",
    "epsilon_exact": "epsilon of this pair",
    "tail_at_published": "probability that the loss exceeds the claimed epsilon",
    "p_value": "p-value",
    "log10_p_value": "logarithm of the p-value, base 10",
    "quantile_90": "90 % of records below",
    "quantile_99": "99 % of records below",
    "line": "kind of test",
    "hits": "how often it happened",
    "compared": "outputs compared",
    "rho": "failure probability of each event",
    "least sigma of the statement": "sigma that the statement itself would ask for",
    "least lam": "lam that it would ask for",
    "inside its domain": "inside the statement's own domain (which the bound need not be)",
}
#: The same where a pair of data sets is described.
OF_A_PAIR = {"n_records": "other records", "pair": "the pair"}
DIRECTIONS = {
    "FORWARD": "drawn from the first data set, held against the second",
    "BACKWARD": "drawn from the second data set, held against the first",
}


def numbers_in_words(values: Row, *, of_a_pair: bool = False) -> str:
    """Return the named numbers of a record in words, one after the other; what is absent is left out.

    Examples
    --------
    >>> numbers_in_words({"x_norm": 1.0, "n_records": 0, "direction": "FORWARD"}, of_a_pair=True)
    'length of the features 1; other records 0; drawn from the first data set, held against the second'
    """
    names = WORDS | OF_A_PAIR if of_a_pair else WORDS
    return "; ".join(_one(name, value, names) for name, value in values.items() if value is not None)


def _one(name: str, value: Any, names: dict[str, str]) -> str:
    if name == "direction" and value in DIRECTIONS:
        return DIRECTIONS[value]
    words = names.get(name, name.replace("_", " "))
    if isinstance(value, bool):
        return f"{words}: {'yes' if value else 'no'}"
    if isinstance(value, str) and value not in NON_FINITE:
        return f"{words}: {value}"
    return f"{words} {figure(value, typographic=True)}"


#: Characters of a digest that a page shows.
SHORT = 12
#: Pairs that a page lists.
LISTED = 40


def on_whose_word(claim: Row) -> str:
    """Return who vouches and with which proof, as far as the reader may know; empty where nobody does."""
    word = claim["vouched"]
    if word is None:
        return ""
    kind = {"file": "a file", "DOI": "DOI", "URL": "a page"}[word["kind"]]
    proof = f"{kind} {word['proof']}" if "proof" in word else f"{kind} that the curator knows"
    digest = "" if word["kind"] == "DOI" else f", SHA-256 {word['digest'][:SHORT]}…"
    return f"{word.get('who', 'somebody whom the curator knows')} ({proof}{digest})"


def examined_words(row: Row) -> str:
    """Return in one line what was examined."""
    games = len(row.get("games", ()))
    parts = [f"{format_count(games)} adaptive games on finite answers, every analyst"] if games else []
    pairs = len(row["pairs"]) if isinstance(row["pairs"], list) else int(row["pairs"])
    if pairs or not games:
        parts.append(f"{format_count(pairs)} pair{'' if pairs == 1 else 's'} of data sets")
    if row.get("draws") is not None:
        parts.append(f"at least {format_count(row['draws'])} draws of each data set")
    if row.get("relation"):
        parts.append(str(row["relation"]))
    if row.get("refused"):
        parts.append(f"{len(row['refused'])} more refused by the mechanism")
    return ", ".join(parts)


def unseen_words(row: Row) -> str:
    """Return what leaks could not have been seen; empty where the row does not say."""
    if row.get("visible") is None:
        return ""
    visible = number(row["visible"])
    if visible >= 1:
        return "no leak would have been seen"
    return f"leaks rarer than {format_probability(visible, typographic=True)} could not have been seen"


def examined_blocks(claim: Row) -> list[Block]:
    """Return a claim's own part: what was examined, what was refused and why, and what the mechanism does."""
    row = claim["examination"]
    if row is None:
        return []
    facts = [Fact("Tested", examined_words(row))]
    if unseen_words(row):
        facts.append(Fact("Too rare to be seen", unseen_words(row)))
    if row.get("wide"):
        facts.append(Fact("Fewer draws, as outputs are wide", row["wide"]))
    if row.get("not_reached"):
        facts.append(Fact("Not tested", row["not_reached"]))
    if row.get("reproducible") is False:
        facts.append(Fact("Repeats under one seed", "no: replay draws again and need not find the same numbers"))
    blocks: list[Block] = [Paragraph("What was tested:", TextStyle.LEAD), Facts(tuple(facts))]
    if isinstance(row["pairs"], list) and row["pairs"]:
        blocks.append(_pair_table(row["pairs"]))
    if row.get("refused"):
        blocks.append(Paragraph("Refused by the mechanism, and so not tested:"))
        blocks.append(Bullets(tuple(f"{_name(item)}: {item['reason']}" for item in row["refused"])))
    if row.get("contract"):
        cells = tuple((item["name"], item["outcome"], item.get("words", "")) for item in row["contract"])
        blocks.append(Table("How it behaves", ("Check", "Outcome", "In words"), cells, ("left",) * 3, (0, 0, 1)))
    sentences = tuple(f"{item[0].upper()}{item[1:]}." for item in row.get("cannot_catch") or CANNOT_CATCH)
    return [*blocks, Paragraph("What no audit of draws can catch:"), Bullets(sentences)]


def _pair_table(pairs: Sequence[Row]) -> Table:
    cells = tuple((_name(each), _cell(each, "draws"), _cell(each, "law")) for each in pairs[:LISTED])
    if len(pairs) > LISTED:
        cells += ((f"and {len(pairs) - LISTED} more, in the record", "", ""),)
    columns = ("Pair", "Draws of either data set", "Stated law against draws")
    return Table("Pairs examined", columns, cells, ("left", "right", "left"), (1, 0, 0))


def shown_checks(claim: Row, checks: Sequence[Row]) -> list[Row]:
    """Return the checks that a page shows: of those that search every pair alike, the worst pair of each kind.

    What decides, what refutes and whatever speaks about no pair is shown as it is; all of them are in the record.
    """
    if claim["examination"] is None or not isinstance(claim["examination"]["pairs"], list):
        return list(checks)
    names = [_name(pair) for pair in claim["examination"]["pairs"]]
    kinds: dict[tuple[str, str], list[Row]] = {}
    shown: list[Row] = []
    for row in checks:
        kind = next(
            (row["check"].removesuffix(f": {name}") for name in names if row["check"].endswith(f": {name}")), ""
        )
        if not kind or row["outcome"] == "FAILS" or row["power"] == "DECIDES":
            shown.append(row)
        else:
            kinds.setdefault((kind, row["about"]["quantity"]), []).append(row)
    several = {kind for kind, _ in kinds if sum(each == kind for each, _ in kinds) > 1}
    for (kind, quantity), rows in kinds.items():
        kind = f"{kind}, {quantity}" if kind in several else kind
        of = f" (the worst of {len(rows)} pairs)" if len(rows) > 1 else ""
        shown.append(max(rows, key=_badness) | {"check": f"{kind}{of}"})
    return shown


def _badness(check: Row) -> float:
    """Return how close a check is to refuting: the lower end of what it found, of a p-value the smallness."""
    ends = [number(witness["low"]) for witness in (check["exact"], check["sampled"]) if witness is not None]
    lowest = max(ends, default=0.0)
    return -lowest if number(check["about"]["low"]) > 0 else lowest


def _name(pair: Any) -> str:
    return str(pair.get("pair") or pair.get("name")) if isinstance(pair, dict) else str(pair)


def _cell(pair: Any, name: str) -> str:
    value = pair.get(name) if isinstance(pair, dict) else None
    return "" if value is None else format_count(value) if isinstance(value, int) else str(value)


def word_callout(claim: Row) -> list[Block]:
    """Return the box on a claim that passed on somebody's word."""
    if claim["ground"] != Ground.ATTESTED.value:
        return []
    text = (
        "Nothing here proves this claim. It was tested and no violation was found; that it holds over all data sets is "
        f"the word of {on_whose_word(claim)}."
    )
    return [Callout(Tone.WARNING, "On somebody's word", text)]
