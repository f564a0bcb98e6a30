"""Verdicts and numbers in words, the same in the terminal and in the report."""

from __future__ import annotations

import math
import shlex
from typing import Any

from .rows import Row, number
from .verdict import Reason, Verdict


def figure(value: Any, digits: int = 6) -> str:
    """Return a record's number for a reader; absent numbers are a dash."""
    if value is None:
        return "-"
    value = number(value)
    if math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"


def interval(estimate: Row | None, digits: int = 6) -> str:
    """Return an estimate's interval, or a dash."""
    if estimate is None:
        return "-"
    low, high = figure(estimate["low"], digits), figure(estimate["high"], digits)
    return low if low == high else f"[{low}, {high}]"


def allowed(claim: Row | None) -> str:
    """Return what a claim allows, in words."""
    if claim is None:
        return "-"
    low, high = number(claim["low"]), number(claim["high"])
    if low == high:
        return f"equal to {figure(low)}"
    if math.isinf(low) and math.isinf(high):
        return "anything"
    if math.isinf(high):
        return f"at least {figure(low)}"
    if math.isinf(low) or low == 0.0:
        return f"at most {figure(high)}"
    return f"between {figure(low)} and {figure(high)}"


def setting(params: Row) -> str:
    """Return parameters as ``name = value`` pairs."""
    pairs = (f"{name} = {value if isinstance(value, (str, bool)) else figure(value)}" for name, value in params.items())
    return ", ".join(pairs)


def verdict_sentence(ruling: Row) -> str:
    """Return a ruling in words: the verdict's own sentence, the reason, and how many cases had which outcome."""
    sentence = Verdict[ruling["verdict"]].value
    if ruling["reason"] != Reason.NONE.name:
        sentence += f" ({Reason[ruling['reason']].value})"
    counted = {
        "HOLDS": "{} hold",
        "FAILS": "{} fail",
        "UNDECIDED": "{} undecided",
        "OUT_OF_DOMAIN": "{} out of domain",
    }
    counts = [words.format(ruling["outcomes"][name]) for name, words in counted.items() if ruling["outcomes"].get(name)]
    return sentence + (f"; cases: {', '.join(counts)}" if counts else "")


def case_sentence(row: Row) -> str:
    """Return what one case found, in words."""
    if row["error"]:
        return f"the check stopped: {row['error']['type']}: {row['error']['message']}"
    claim = row["claim"]
    text = f"{claim['quantity']}: published {figure(claim['published'])}, allowed {allowed(claim)}"
    if row["exact"]:
        text += f", exact {interval(row['exact'])}"
    if row["sampled"]:
        text += f", estimated {figure(row['sampled']['value'])} in {interval(row['sampled'])}"
    return text


def replay_command(record: str, id_: str, case: str | None = None) -> str:
    """Return the command that draws a case again."""
    words = ["pdp-verify", "replay", record, id_]
    return shlex.join(words + (["--case", case] if case else []))
