"""The sentences of a certificate."""

from __future__ import annotations

from audits.verdict import Ground
from reports.row import Badge, Tone

from ...engine.rows import Row

TONES = {"PASS": Tone.GOOD, "FAIL": Tone.BAD, "UNDECIDED": Tone.WARNING}
SEVERITY = ("FAIL", "UNDECIDED", "PASS")
VERDICT_TITLE = {
    "PASS (proved)": "PASS (proved): every claim is supported by a proof",
    "PASS (vouched)": "PASS (vouched): every claim is supported, at least one of them on somebody's word",
    "PASS (simulated)": "PASS (simulated): every claim is supported, at least one of them by simulation",
    "FAIL": "FAIL: a claim is refuted",
    "UNDECIDED (examined)": "UNDECIDED (examined): nothing was found against a claim, and it is not supported",
    "UNDECIDED (its own statement is refuted)": "UNDECIDED (its own statement is refuted): what the mechanism states "
    "about itself is not what it does",
    "UNDECIDED (not examined)": "UNDECIDED (not examined): too little was examined for a claim",
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
    "PASS (vouched): an imported mechanism passes only after enough pairs of data sets were drawn from on both sides, "
    "with nothing found in their black-box audits nor between its stated law and its draws, and on the word of "
    "somebody named for the rest.",
    "FAIL means a counterexample: a pair of neighbouring data sets whose divergence, enclosed in ball arithmetic or "
    "confirmed on fresh draws, exceeds what is claimed.",
    "UNDECIDED (its own statement is refuted): draws refute the density, loss, profile or worst case that the "
    "mechanism states, and not the claim. No number that rests on such a statement is shown.",
    "UNDECIDED means neither; the reason and the way out are given. Draws alone can refute and never support. "
    "'Examined' says that enough was drawn and nothing was found, 'not examined' that too little was drawn to say "
    "even that.",
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
    return reader_words(header) + counted


def left_out(header: Row) -> str:
    """Return what a release document says about the claims that are not in it."""
    declared = ", ".join(header["not_shown"])
    named = f" Declared public are the claims, not their verdicts: {declared}." if declared else ""
    return (
        "This document is about all data sets. What may have been claimed about the private records themselves is the "
        f"curator's: even a verdict would say something about them.{named}"
    )


def reader_words(header: Row) -> str:
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
