"""One statement: formulas, verdict in words, where it was read, numbers side by side, worst case, mutants, figures."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from typing import Any

from reports.codec import from_plain
from reports.numbers import format_count, format_percent
from reports.row import (
    Badge,
    Block,
    Callout,
    Cell,
    Code,
    Fact,
    Facts,
    Figure,
    FormulaBlock,
    HeatMap,
    Paragraph,
    Section,
    Table,
    TextStyle,
    Tone,
)

from ..engine.record import Record
from ..kernel.measure import gravity
from ..kernel.provenance import Worth
from ..kernel.rows import Row, number
from ..kernel.ruling import worst
from ..kernel.words import (
    allowed,
    case_sentence,
    exact_words,
    figure,
    interval,
    plain_words,
    replay_lines,
    setting,
    verdict_sentence,
)
from .pages.causes import display_of
from .pages.short_pages import SHORT_DIGEST, TONES, badge, paper_address

#: A note that is one of several quantiles of the same number, by its level.
QUANTILE = re.compile(r"(?P<what>.*) \((?P<level>\d+ %|median)\)")


def _undecided_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return why cases are undecided that have no witness, in their checks' own words, each once."""
    details = dict.fromkeys(row["detail"] for row in rows if row["outcome"] == "UNDECIDED" and row["detail"])
    return [Paragraph(plain_words(f"{text[0].upper()}{text[1:]}."), TextStyle.NOTE) for text in details]


def _given_blocks(rows: Sequence[Row]) -> list[Block]:
    """Return the numbers of every case: its quantiles in a table, and the rest in another."""
    return [block for row in rows for block in (*_quantiles(row), *_rest(row))]


def _quantiles(row: Row) -> list[Block]:
    by_what: dict[str, dict[str, Cell]] = {}
    for name, value in row["notes"].items():
        if found := QUANTILE.fullmatch(name):
            by_what.setdefault(found["what"], {})[found["level"]] = figure(value, 3, typographic=True)
    if not by_what:
        return []
    levels = tuple(dict.fromkeys(level for values in by_what.values() for level in values))
    cells = tuple((what, *(values.get(level, "–") for level in levels)) for what, values in by_what.items())
    aligned = ("left", *("right" for _ in levels))
    title = f"{row['part']}: bound over loss over the records, medians over {row['n_draws']} runs"
    return [Table(title, ("Report", *levels), cells, aligned, (1, *(0 for _ in levels)))]


def _rest(row: Row) -> list[Block]:
    rest = {name: value for name, value in row["notes"].items() if not QUANTILE.fullmatch(name)}
    if not rest:
        return []
    cells = tuple((name, figure(value, 3, typographic=True)) for name, value in rest.items())
    title = f"{row['part']}: what else was seen in {row['n_draws']} runs"
    return [Table(title, ("What", "Number"), cells, ("left", "right"), (1, 0))]


#: Rows that a table shows; the record has them all.
MOST_ROWS = 5


def statement_sections(record: Record, statement: Row, figures: Sequence[Row]) -> list[Section]:
    """Return the sections of one statement: its own page, then one sub-section a part when it has several."""
    verdict = record.verdict(statement["id"])
    rows = record.cases_of(statement["id"])
    parts = statement["parts"]
    single = len(parts) == 1
    blocks: list[Block] = []
    if statement["summary"]:
        blocks.append(Paragraph(plain_words(statement["summary"]), TextStyle.LEAD))
    wrong = [
        part for part in parts if part["proof"] and record.verdict(display_of(part))["printed"]["verdict"] == "REFUTED"
    ]
    if verdict["printed"]["verdict"] == "SUPPORTED" and wrong:
        text = "The statement has a verdict of its own, which the line does not change."
        blocks.append(Callout(Tone.WARNING, "True; a line of its proof is wrong", text))
    if single:
        blocks += _part_blocks(parts[0], verdict, rows)
    else:
        blocks += [_verdict_callout("As printed", verdict["printed"])]
        if verdict["corrected"]:
            blocks.append(_verdict_callout("Corrected, where it had to be", verdict["corrected"]))
    facts = where_facts(statement)
    if single:
        facts += provenance_facts(parts[0])
    if verdict.get("data"):
        sets = ", ".join(f"{name} ({record.header['data'][name][:SHORT_DIGEST]}…)" for name in verdict["data"])
        facts.append(Fact("Decided with", f"{sets}; nothing is expected of data that are not shipped"))
    if statement["definition"]:
        facts.append(Fact("Implemented by", statement["definition"]))
    address = paper_address(record.header["papers"].get(statement["paper"], {}).get("doi", ""))
    facts += [Fact("File", statement["file"]), Fact("Paper", statement["reference"], address)]
    on_data = bool(verdict.get("data"))
    tail = [*_mutant_blocks(verdict, rows), *(_figure_block(row) for row in figures)]
    tail += _given_blocks(rows) if on_data and single else []
    head = Section(
        statement["title"],
        1,
        (*blocks, Facts(tuple(facts)), *(tail if single else ())),
        badges=_badges(verdict),
        kicker=f"{statement['id']} · {verdict['printed']['verdict'].lower().replace('_', ' ')}",
        id=statement["id"],
    )
    if single:
        return [head]
    sections = [head]
    for part in parts:
        ruling = ruling_of_part(record, part)
        mine = [row for row in rows if row["part"] == part["id"]]
        read = [Facts(tuple(source))] if (source := provenance_facts(part)) else []
        sections.append(
            Section(
                part["title"],
                2,
                (*_part_blocks(part, ruling, mine), *(_given_blocks(mine) if on_data else ()), *read),
                badges=_badges(ruling),
                kicker=part["id"] + (" · line of the proof" if part["proof"] else ""),
                id=part["id"] if part["id"] != statement["id"] else "",
            )
        )
    if tail:
        sections.append(Section(f"Mutants and figures of {statement['id']}", 2, tuple(tail)))
    return sections


def where_facts(statement: Row) -> list[Fact]:
    """Return where a statement stands in its paper, and its domain."""
    where = Fact("Where", f"{statement['locator']} ({statement['of']})")
    return [where, Fact("Domain", plain_words(statement["domain"]))]


def ruling_of_part(record: Record, part: Row) -> Row:
    """Return the rulings of one part of a statement, as printed and corrected: of its display, or of one reading."""
    ruling = record.verdict(part["id"].partition("@")[0])
    reading: Row = ruling["readings"][part["reading"]] if part["reading"] else ruling
    return reading


def provenance_facts(part: Row) -> list[Fact]:
    """Return where a part was read: copy, line, and what our copy is worth there."""
    source = part["provenance"]
    if source is None:
        return []
    place = f"copy {source['copy']} ({source['digest'][:SHORT_DIGEST]}…), line {source['line']}"
    facts = [Fact("Read at", f"{place}; {Worth[source['worth']].value}")]
    return [*facts, Fact("Evidence", plain_words(source["evidence"]))] if source["evidence"] else facts


def _badges(verdict: Row) -> tuple[Badge, ...]:
    printed = badge(verdict["printed"]["verdict"], "as printed: ")
    return (printed, badge(verdict["corrected"]["verdict"], "corrected: ")) if verdict["corrected"] else (printed,)


def _verdict_callout(form: str, ruling: Row) -> Callout:
    sentence = verdict_sentence(ruling)
    return Callout(
        TONES[ruling["verdict"]],
        f"{form}: {ruling['verdict'].lower().replace('_', ' ')}",
        sentence[0].upper() + sentence[1:],
    )


def _part_blocks(part: Row, verdict: Row, rows: Sequence[Row]) -> list[Block]:
    """Return formula, verdict and numbers of one part: as printed, then corrected."""
    forms = [("As printed", "PRINTED", part["printed"], verdict["printed"])]
    if part["corrected"] and verdict["corrected"]:
        forms.append(("Corrected", "CORRECTED", part["corrected"], verdict["corrected"]))
    blocks: list[Block] = []
    for form, standing, formula, ruling in forms:
        mine = [row for row in rows if row["standing"] == standing]
        blocks.append(FormulaBlock(f"{form} ({part['id']})", formula["typst"], formula["text"]))
        blocks.append(_verdict_callout(form, ruling))
        if form == "Corrected" and part["what_went_wrong"]:
            derived = f" Derived in {part['derivation']}." if part["derivation"] else ""
            wrong = plain_words(part["what_went_wrong"]).rstrip(".")
            blocks.append(Paragraph(f"What is wrong as printed: {wrong}.{derived}"))
        blocks += worst_blocks(mine, part["id"])
        blocks += _undecided_blocks(mine)
        if mine:
            blocks.append(_number_table(form, part["id"], mine))
        blocks += _agreement(mine)
    if len(forms) == 1 and part["what_went_wrong"]:
        blocks.append(Paragraph(plain_words(part["what_went_wrong"])))
    return blocks


def worst_blocks(rows: Sequence[Row], id_: str, told: Row | None = None) -> list[Block]:
    """Return the case that tells it (or the worst), the family that fails alike, and the command that replays it."""
    tightest = told or worst(rows)
    if tightest is None:
        return []
    label = "Counterexample" if tightest["outcome"] == "FAILS" else "Worst case found"
    facts = [Fact(label, case_sentence(tightest, typographic=True))]
    where = setting(tightest["found"] or tightest["params"], typographic=True)
    if where:
        facts.append(Fact("Found at" if tightest["found"] else "At", where))
    others = family(rows, tightest) if tightest["outcome"] == "FAILS" else ""
    if others:
        facts.append(Fact("Fails alike at", others))
    if tightest["confirmation"]:
        again = interval(tightest["confirmation"]["sampled"], typographic=True)
        facts.append(Fact("On fresh draws", again))
    if tightest["claim"] and tightest["claim"]["strict_note"]:
        facts.append(Fact("Note", tightest["claim"]["strict_note"]))
    return [Facts(tuple(facts)), Code(replay_lines("audit.jsonl", id_, tightest["case"]))]


#: Members of a family of failing cases that are told, the ends among them.
MOST_MEMBERS = 7


def family(rows: Sequence[Row], one: Row) -> str:
    """Return the failing cases that differ from one of them in numbers alone: the growth that refutes an order."""
    alike = [
        row
        for row in rows
        if row["outcome"] == "FAILS"
        and not row["found"]
        and row["claim"]["quantity"] == one["claim"]["quantity"]
        and row["params"].keys() == one["params"].keys()
    ]
    varied = [
        name
        for name, value in one["params"].items()
        if isinstance(value, (int, float)) and len({row["params"][name] for row in alike}) > 1
    ]
    fixed = [name for name in one["params"] if name not in varied]
    alike = [row for row in alike if all(row["params"][name] == one["params"][name] for name in fixed)]
    members = sorted({tuple(float(row["params"][name]) for name in varied) for row in alike})
    if "constant" not in varied or len(members) < 3:  # one point refutes any claim but that of an order
        return ""
    if len(members) > MOST_MEMBERS:
        step = (len(members) - 1) / (MOST_MEMBERS - 1)
        members = [members[round(place * step)] for place in range(MOST_MEMBERS)]
    told = (setting(dict(zip(varied, member, strict=True)), typographic=True) for member in members)
    return "no constant is enough: " + "; ".join(told)


def _order(row: Row) -> tuple[int, tuple[float, ...]]:
    rank = {"FAILS": 0, "UNDECIDED": 1, "HOLDS": 2}.get(row["outcome"], 3)
    return rank, gravity(row) if row["claim"] and row["margin"] != "nan" else ()


def _number_table(form: str, id_: str, rows: Sequence[Row]) -> Table:
    shown = sorted(rows, key=_order)[:MOST_ROWS]
    columns = ("Case", "Published", "Allowed", "Exact", "Estimated [interval]", "Outcome")
    cells = tuple(
        (
            _case_label(row),
            figure((row["claim"] or {}).get("published"), typographic=True),
            allowed(row["claim"], typographic=True),
            exact_words(row, typographic=True),
            interval(row["sampled"], typographic=True),
            Badge(row["outcome"].lower().replace("_", " "), TONES[row["outcome"]]),
        )
        for row in shown
    )
    some = f"; the {len(shown)} tightest of {format_count(len(rows))} cases" if len(shown) < len(rows) else ""
    return Table(f"{form}, {id_}: published, exact and estimated{some}", columns, cells, widths=(1, 0, 0, 0, 0, 0))


def _case_label(row: Row) -> str:
    words = [row["regime"] or row["role"].lower(), setting(row["found"] or row["params"], typographic=True)]
    return ": ".join(word for word in words if word)


def _agreement(rows: Iterable[Row]) -> list[Block]:
    detects = [number(row["detects"]) for row in rows if row["detects"] is not None and row["reason"] != "INCONSISTENT"]
    if not detects:
        return []
    text = (
        f"Exact and simulated values agree in {len(detects)} cases; an error of the exact value above "
        f"{figure(min(detects), 2, typographic=True)} (in the finest of them) could not have gone unnoticed."
    )
    return [Paragraph(text, TextStyle.NOTE)]


def _mutant_blocks(verdict: Row, rows: Sequence[Row]) -> list[Block]:
    mutants = [row for row in rows if row["standing"] == "MUTANT"]
    if not mutants:
        return []
    several = len({row["part"] for row in rows}) > 1
    cells = tuple(
        (
            (f"{row['part']}: " if several else "") + (row["mutant"] or row["case"]),
            "–" if row["severity"] is None else format_percent(row["severity"], 2, typographic=True),
            figure(row["margin"], 3, typographic=True),
            Badge("caught", Tone.GOOD) if row["outcome"] == "FAILS" else Badge("not caught", Tone.BAD),
        )
        for row in mutants
    )
    smallest = verdict["mutants"]["smallest"]
    note = f"; the smallest one caught is {format_percent(smallest['severity'], 2)} away from true" if smallest else ""
    caption = f"Deliberately wrong versions that the same checks must catch{note}"
    columns = ("Mutant", "Distance from true", "Margin", "Outcome")
    return [Table(caption, columns, cells, ("left", "right", "right", "left"), (1, 0, 0, 0))]


def _figure_block(row: Row) -> Block:
    if row["figure"] is None:
        return Callout(Tone.BAD, "A figure could not be made", f"{row['error']['type']}: {row['error']['message']}")
    return _figure_of(row)


def _figure_of(row: Row) -> Figure | HeatMap:
    """Return the figure of a record's row, named after its statement (names are unique in a document)."""
    kind: Any = {"Figure": Figure, "HeatMap": HeatMap}[row["figure"]["kind"]]
    plain: Figure | HeatMap = from_plain(row["figure"], kind)
    return dataclasses.replace(plain, name=f"{row['id']}-{row['number']}")
