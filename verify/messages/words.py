"""Verdicts and numbers in words, the same in the terminal and in the report."""

from __future__ import annotations

import math
import shlex
from typing import Any

from reports.numbers import format_interval, format_number

from ..engine.rows import NON_FINITE, Row, number
from ..kernel.verdict import Reason, Verdict


def figure(value: Any, digits: int = 6, *, typographic: bool = False) -> str:
    """Return a record's number for a reader; absent numbers are a dash."""
    return format_number(math.nan if value is None else number(value), digits, typographic=typographic)


def interval(estimate: Row | None, *, typographic: bool = False) -> str:
    """Return an estimate with its interval, the bounds rounded outwards, or a dash."""
    if estimate is None:
        return "–" if typographic else "-"
    value, low, high = (number(estimate[name]) for name in ("value", "low", "high"))
    return format_interval(value, low, high, typographic=typographic)


def allowed(claim: Row | None, *, typographic: bool = False) -> str:
    """Return what a claim allows, in words."""
    if claim is None:
        return "-"
    low, high = number(claim["low"]), number(claim["high"])
    low_text, high_text = (figure(end, typographic=typographic) for end in (low, high))
    if low == high:
        return f"equal to {low_text}"
    if math.isinf(low) and math.isinf(high):
        return "anything"
    if math.isinf(high):
        return f"at least {low_text}"
    if math.isinf(low) or low == 0.0:
        return f"at most {high_text}"
    if low_text == high_text:
        half = figure((high - low) / 2, 2, typographic=typographic)
        return f"{low_text} ± {half}" if typographic else f"{low_text} +- {half}"
    return f"between {low_text} and {high_text}"


def setting(params: Row, *, typographic: bool = False) -> str:
    """Return parameters as ``name = value`` pairs."""

    def shown(value: Any) -> str:
        if value is None or isinstance(value, bool) or (isinstance(value, str) and value not in NON_FINITE):
            return str(value)
        return figure(value, typographic=typographic)

    return ", ".join(f"{name} = {shown(value)}" for name, value in params.items())


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


def case_sentence(row: Row, *, typographic: bool = False) -> str:
    """Return what one case found, in words."""
    if row["error"]:
        return f"the check stopped: {row['error']['type']}: {row['error']['message']}"
    claim = row["claim"]
    published = figure(claim["published"], typographic=typographic)
    text = f"{claim['quantity']}: published {published}, allowed {allowed(claim, typographic=typographic)}"
    if row["exact"]:
        text += f", exact {figure(row['exact']['value'], typographic=typographic)}"
    if row["sampled"]:
        text += f", estimated {interval(row['sampled'], typographic=typographic)}"
    return text


def case_title(row: Row) -> str:
    """Return a case's name, with its statement's id in front unless it is there already."""
    case = str(row["case"])
    return case if case.startswith(row["id"]) else f"{row['id']} {case}"


def replay_command(record: str, id_: str, case: str | None = None) -> str:
    """Return the command that draws a case again."""
    words = ["pdp-verify", "replay", record, id_]
    return shlex.join(words + (["--case", case] if case else []))
