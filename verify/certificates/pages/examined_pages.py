"""What was examined of an imported mechanism, and on whose word the rest is taken, for the pages.

The examination of a claim's row: ``relation`` in words; ``pairs``, each with a ``name``, its ``draws`` of either data
set, and whether its stated ``law`` was held against them; ``draws``, the least of these; ``refused``, pairs with the
``reason``; ``visible``, the smallest probability of a leak that would have been seen; ``contract``, findings with
``name``, ``outcome`` and ``words``; ``wide`` and ``not_reached``, what was drawn less often or not at all;
``cannot_catch``, sentences; ``games``, those in which a filter was tried. What is absent is not printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reports.numbers import format_count, format_probability
from reports.row import Block, Bullets, Callout, Fact, Facts, Paragraph, Table, TextStyle, Tone

from ...engine.rows import Row, number
from .certificate_words import CANNOT_CATCH

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
    if count_of(row["pairs"]) or not games:
        parts.append(f"{format_count(count_of(row['pairs']))} pairs of data sets")
    if row.get("draws") is not None:
        parts.append(f"at least {format_count(row['draws'])} draws of each data set")
    if row.get("relation"):
        parts.append(str(row["relation"]))
    if row.get("refused"):
        parts.append(f"{len(row['refused'])} more refused by the mechanism")
    return ", ".join(parts)


def count_of(pairs: Any) -> int:
    """Return the number of pairs, of which there may be a list."""
    return len(pairs) if isinstance(pairs, list) else int(pairs)


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
    facts = [Fact("Examined", examined_words(row))]
    if unseen_words(row):
        facts.append(Fact("Too rare to be seen", unseen_words(row)))
    if row.get("wide"):
        facts.append(Fact("Fewer draws, as outputs are wide", row["wide"]))
    if row.get("not_reached"):
        facts.append(Fact("Not examined", row["not_reached"]))
    if row.get("reproducible") is False:
        facts.append(Fact("Repeats under one seed", "no: replay draws again and need not find the same numbers"))
    blocks: list[Block] = [Paragraph("What was examined:", TextStyle.LEAD), Facts(tuple(facts))]
    if isinstance(row["pairs"], list) and row["pairs"]:
        blocks.append(_pair_table(row["pairs"]))
    if row.get("refused"):
        blocks.append(Paragraph("Refused by the mechanism, and so not examined:"))
        blocks.append(Bullets(tuple(f"{_name(item)}: {item['reason']}" for item in row["refused"])))
    if row.get("contract"):
        cells = tuple((item["name"], item["outcome"], item.get("words", "")) for item in row["contract"])
        blocks.append(Table("How it behaves", ("Check", "Outcome", "In words"), cells, ("left",) * 3, (0, 0, 1)))
    sentences = tuple(f"{item[0].upper()}{item[1:]}." for item in row.get("cannot_catch") or CANNOT_CATCH)
    return [*blocks, Paragraph("What no audit of draws can catch:"), Bullets(sentences)]


def _pair_table(pairs: Sequence[Row]) -> Table:
    cells = tuple((_name(each), _part(each, "draws"), _part(each, "law")) for each in pairs[:LISTED])
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


def _part(pair: Any, name: str) -> str:
    value = pair.get(name) if isinstance(pair, dict) else None
    return "" if value is None else format_count(value) if isinstance(value, int) else str(value)


def word_callout(claim: Row) -> list[Block]:
    """Return the box on a claim that passed on somebody's word."""
    if claim["ground"] != "vouched":
        return []
    text = (
        "Nothing here proves this claim. It was examined and nothing was found; that it holds over all data sets is "
        f"the word of {on_whose_word(claim)}."
    )
    return [Callout(Tone.WARNING, "On somebody's word", text)]
