"""Verdicts and numbers in words, the same in the terminal and in the report."""

from __future__ import annotations

import math
import re
import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from reports.numbers import format_count, format_interval, format_number, format_percent

from .measure import Measure, excess, found_value, is_narrow
from .rows import NON_FINITE, Row, number
from .verdict import Reason, Verdict


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
    counted = {"HOLDS": "{} hold", "FAILS": "{} fail", "UNDECIDED": "{} undecided", "OUT_OF_DOMAIN": "{} out of domain"}
    counts = [words.format(ruling["outcomes"][name]) for name, words in counted.items() if ruling["outcomes"].get(name)]
    return sentence + (f"; cases: {', '.join(counts)}" if counts else "")


def case_sentence(row: Row, *, typographic: bool = False) -> str:
    """Return what one case found, as a sentence with one unit: its measure says what the numbers are."""
    if row["error"]:
        return f"the check stopped: {row['error']['type']}: {row['error']['message']}"
    claim = row["claim"]
    found = _found(row, typographic=typographic)
    fails = row["outcome"] == "FAILS"
    if claim["measure"] == Measure.DELTA.name:
        return _delta_sentence(row, found, fails=fails, typographic=typographic)
    quantity = claim["quantity"]
    if claim["measure"] == Measure.GROWTH.name and GROWS.fullmatch(quantity) and not row["sampled"]:
        return _growth_sentence(row, typographic=typographic)
    sides = [row["notes"].get(name) for name in ("value", "bound")]
    if claim["measure"] == Measure.BOUND.name and None not in sides:
        name = quantity.partition(": value ")[0]
        value, bound = (figure(side, 4, typographic=typographic) for side in sides)
        return f"{_capital(name)}: {value}, where at most {bound} is {'promised' if fails else 'allowed'}."
    limit = allowed(claim, typographic=typographic)
    if claim["measure"] in (Measure.COVERAGE.name, Measure.FAILURE.name):
        event, _, about = quantity.partition(": ")
        name = f"The {event}" + (f" ({about})" if about else "")
        return f"{name} is {found}, where {limit} {'was promised' if fails else 'is allowed'}."
    if claim["measure"] == Measure.IDENTITY.name and fails and quantity.startswith("relative d"):
        _, _, about = quantity.partition(": ")
        share = format_percent(abs(found_value(row)), 2, typographic=typographic)
        return f"The two sides differ by {share}{f' ({about})' if about else ''}, where they are said to be equal."
    if _is_point(claim):
        return f"{_capital(quantity)}: {found}, where {figure(claim['published'], typographic=typographic)} is stated."
    return f"{_capital(quantity)}: {found}, where {limit} is {'stated' if fails else 'allowed'}."


def _is_point(claim: Row) -> bool:
    """Return whether a claim allows one number and the rounding of it."""
    low, high, published = (number(claim[name]) for name in ("low", "high", "published"))
    return low <= published <= high and high - low <= 1e-8 * max(1.0, abs(published))


#: A growth in words: "decades by which A over its order grows, n from 1 to 1e5".
GROWS = re.compile(r"decades by which (?P<what>.+?) grows(?P<where>.*)", re.DOTALL)
#: Which formula an epsilon is of.
FORMULA = {"PRINTED": "printed", "CORRECTED": "corrected", "MUTANT": "wrong"}


def _capital(text: str) -> str:
    """Return a text with a large first letter, unless it begins with a symbol."""
    return text[0].upper() + text[1:] if re.match(r"[a-z]{2}|a ", text) else text


def _found(row: Row, *, typographic: bool) -> str:
    """Return the number that was found, and beside an exact one the simulated."""
    exact, sampled = row["exact"], row["sampled"]
    if not exact:
        return interval(sampled, typographic=typographic) if sampled else "not known"
    value = exact_words(row, _telling_digits(row), typographic=typographic)
    return f"{value} (simulated: {interval(sampled, typographic=typographic)})" if sampled else value


#: Digits of a number in a sentence, until it no longer reads like what it must not be.
DIGITS = (3, 4, 6, 9)


def _telling_digits(row: Row) -> int:
    """Return how many digits tell what was found from what is allowed: three, or more where those are alike."""
    claim, value = row["claim"], found_value(row)
    limits = [number(claim[name]) for name in ("low", "high")]
    return next((d for d in DIGITS if all(figure(value, d) != figure(limit, d) for limit in limits)), DIGITS[0])


def exact_words(row: Row, digits: int = 6, *, typographic: bool = False) -> str:
    """Return the exact number of a case, or the ends of its proved enclosure that tell something where it is wide."""
    exact, claim = row["exact"], row["claim"]
    if exact is None or is_narrow(exact):
        return figure(exact["value"] if exact else None, digits, typographic=typographic)
    low, high = (figure(exact[name], digits, typographic=typographic) for name in ("low", "high"))
    if number(exact["low"]) > number(claim["high"]) or number(exact["high"]) == math.inf:
        return f"at least {low}"
    if number(exact["high"]) < number(claim["low"]) or number(exact["low"]) in (0.0, -math.inf):
        return f"at most {high}"
    return f"between {low} and {high}"


def times(row: Row, *, typographic: bool = False) -> str:
    """Return by how many times a failing case exceeds what is allowed ("28"), or nothing where no factor says it."""
    factor = excess(row) if row["claim"]["measure"] in COUNTED else math.nan
    if not 1.0 < factor < math.inf:
        return ""
    return rounded_factor(factor, typographic=typographic)


def rounded_factor(factor: float, *, typographic: bool = False) -> str:
    """Return a factor to two digits (three below ten)."""
    rounded = float(f"{factor:.{2 if factor >= 10 else 3}g}")
    return format_count(int(rounded)) if 1000 <= rounded < 1e9 else figure(rounded, typographic=typographic)


#: Measures whose excess is a factor that means something.
COUNTED = tuple(each.name for each in (Measure.DELTA, Measure.COVERAGE, Measure.FAILURE, Measure.BOUND))


def _delta_sentence(row: Row, found: str, *, fails: bool, typographic: bool) -> str:
    """Return "At epsilon 0.0267 (the printed formula) the true delta is 0.0283, where 0.001 was promised."."""
    claim = row["claim"]
    digits = _telling_digits(row)
    epsilon, promised = (figure(claim[name], digits, typographic=typographic) for name in ("published", "high"))
    chosen = any(value == claim["published"] for name, value in row.get("params", {}).items() if "epsilon" in name)
    formula = FORMULA.get(row.get("standing", ""), "")
    source = f" (the {formula} formula)" if formula and not chosen else ""
    if row["exact"] or row["sampled"]:
        factor = times(row, typographic=typographic) if fails else ""
        said = f"the true delta is {found}, where {promised} {'was' if fails else 'is'} promised"
        least = "" if not row["exact"] or is_narrow(row["exact"]) else "at least "
        return f"At epsilon {epsilon}{source} {said}{f': {least}{factor} times as much' if factor else ''}."
    return f"At epsilon {epsilon}{source} a delta of {promised} is promised; the true one is not known."


def _growth_sentence(row: Row, *, typographic: bool) -> str:
    """Return by what factor something over its order grows, and over which range."""
    claim = row["claim"]
    told = GROWS.fullmatch(claim["quantity"])
    assert told  # asked before
    what, where, high = told["what"], told["where"], number(claim["high"])
    what, where = (where.lstrip(": "), "") if what == "this" else (what, where)
    grown = _factor(found_value(row), typographic=typographic)
    limit = f"at most {_factor(high, typographic=typographic)} is allowed" if math.isfinite(high) else "none is allowed"
    return f"{_capital(what)} grows by a factor of {grown}{where}, where {limit}."


def _factor(decades: float, *, typographic: bool) -> str:
    """Return a factor that is known in decades."""
    if abs(decades) > 15 or not math.isfinite(decades):
        return f"10^{figure(decades, 3, typographic=typographic)}"
    return figure(float(f"{10.0**decades:.2g}"), typographic=typographic)


def plain_words(text: str) -> str:
    """Return prose for a page: without backticks, which would be printed as they stand, and with signs of order."""
    return text.replace("`", "").replace("<=", "≤").replace(">=", "≥")


def case_title(row: Row) -> str:
    """Return a case's name, with its statement's id in front unless it is there already."""
    case = str(row["case"])
    return case if case.startswith(row["id"]) else f"{row['id']} {case}"


#: Characters of a line of a command on a page; a longer one would be broken where a shell does not break it.
COMMAND_WIDTH = 92


def command_lines(words: Sequence[str]) -> str:
    """Return a command in lines that a page does not break: a copy of them runs."""
    lines = [""]
    for word in (shlex.quote(word) if len(shlex.quote(word)) < COMMAND_WIDTH else _broken(word) for word in words):
        if lines[-1] and len(lines[-1]) + len(word) + 3 > COMMAND_WIDTH:
            lines.append("   ")
        lines[-1] += f" {word}" if lines[-1] else word
    return " \\\n".join(lines)


def _broken(word: str) -> str:
    """Return one long argument in several lines: between double quotes a shell drops a backslash and a line's end."""
    escaped = re.sub(r'([\\"$`])', r"\\\1", word)
    return '"' + " \\\n".join(textwrap.wrap(escaped, COMMAND_WIDTH - 4, break_long_words=False)) + '"'


def replay_command(record: str, id_: str, case: str | None = None) -> str:
    """Return the command that draws a case again."""
    return shlex.join(_replay_words(record, id_, case))


def replay_lines(record: str, id_: str, case: str | None = None) -> str:
    """Return the command that draws a case again, in lines for a page."""
    return command_lines(_replay_words(record, id_, case))


def _replay_words(record: str, id_: str, case: str | None) -> list[str]:
    return ["pdp-verify", "replay", record, id_, *(["--case", case] if case else [])]
