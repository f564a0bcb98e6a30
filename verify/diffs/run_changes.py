"""Two runs: verdicts, formulas, cases and mutants of the published statements.

What a paper printed is refuted or not whatever we wish: a verdict on it that changes is worse only where it is not the
expected one any more, or where what was decided is open now. A corrected form is ours, and should be supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from ..kernel.rows import Row
from ..papers.ledger import verdict_word
from .changes import DIGEST, RecordChange, Turn, alone, flat, more_is, named_changes, one, paired, text
from .look_changes import ComparedRecord, Comparer, claim_changes, defect_turn, outcome_turn, outcome_words

#: Words of a statement that may change without changing what is claimed.
WORDS = ("title", "locator", "summary", "definition", "reference")
#: What a part of a statement says, in the words of a change.
PART_WORDS = {"title": "title", "what_went_wrong": "what went wrong", "derivation": "derivation", "proof": "proof line"}
NO_READING: Row = {"printed": None, "corrected": None}
CASE = ("id", "part", "standing", "case")


def run_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Iterator[RecordChange]:
    """Yield what changed between two runs, verdicts first."""
    data = ({name: digest[:DIGEST] for name, digest in side.header["data"].items()} for side in (old, new))
    yield from named_changes("data", *data)
    yield from _papers(*(header.get("papers", {}) for header in (old.header, new.header)))
    gone, added = _absent(old, new), _absent(new, old)
    yield from (RecordChange(Turn.WORSE, "gone", id_, f"{what} is gone", "") for id_, what in gone.items())
    yield from (RecordChange(Turn.CHANGED, "new", id_, "", f"{what} is new") for id_, what in added.items())
    yield from _verdicts(old.of("verdict"), new.of("verdict"))
    yield from _statements(old.of("statement"), new.of("statement"))
    yield from _cases(old.of("case"), new.of("case"), comparer, gone.keys() | added.keys())
    yield from _figures(old.of("figure"), new.of("figure"))


def _papers(old: Mapping[str, Row], new: Mapping[str, Row]) -> Iterator[RecordChange]:
    """Yield what changed of the papers that both records name, and which ones one alone names."""
    gone = [(name, paper) for name, paper in old.items() if name not in new]
    added = [(name, paper) for name, paper in new.items() if name not in old]
    yield from alone("paper", gone, added, turn=Turn.CHANGED)
    for name in (name for name in old if name in new):
        yield from named_changes("paper", flat(old[name], name), flat(new[name], name))


def _absent(there: ComparedRecord, here: ComparedRecord) -> dict[str, str]:
    """Return the ids, and the displays of statements, that one record has and the other lacks."""
    known = {(row["kind"], row["id"]) for row in here.of("statement", "verdict")}
    rows = there.of("statement", "verdict")
    lacking = {row["id"]: row.get("parent") for row in rows if (row["kind"], row["id"]) not in known}
    absent = {id_: "the id" for id_, parent in lacking.items() if parent not in lacking}
    parts = {part["id"] for row in here.of("statement") for part in row["parts"]} | {id_ for _, id_ in known}
    for row in there.of("statement"):
        if row["id"] not in absent:
            absent |= {part["id"]: "the part" for part in row["parts"] if part["id"] not in parts | lacking.keys()}
    return absent


def _verdicts(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    both, _, _ = paired(old, new, lambda row: str(row["id"]))
    for id_, (before, after) in both.items():
        if before == after:
            continue
        found = [
            *_printed(f"{id_} as printed", before["printed"], after["printed"], _expected(after, "printed")),
            *_corrected(f"{id_} corrected", before["corrected"], after["corrected"]),
            *_readings(id_, before, after),
        ]
        yield from found
        for name in ("consequence", "root"):
            yield from one(Turn.CHANGED, name, id_, before.get(name), after.get(name))
        lists = [list(row["unexpected"]) or "as expected" for row in (before, after)]
        if bool(before["unexpected"]) != bool(after["unexpected"]) and not any(c.turn is Turn.WORSE for c in found):
            yield from one(Turn.WORSE if after["unexpected"] else Turn.BETTER, "expectation", id_, *lists)


def _expected(row: Row, form: str) -> Any:
    return row["expected"][form] if row["expected"] else None


def _readings(id_: str, old: Row, new: Row) -> Iterator[RecordChange]:
    expected: Mapping[str, str] = _expected(new, "readings") or {}
    for name in dict.fromkeys([*old["readings"], *new["readings"]]):
        before, after = (row["readings"].get(name) or NO_READING for row in (old, new))
        yield from _printed(f"{id_} reading {name}", before["printed"], after["printed"], expected.get(name))
        yield from _corrected(f"{id_} reading {name} corrected", before["corrected"], after["corrected"])


def _printed(where: str, old: Row | None, new: Row | None, expected: str | None) -> Iterator[RecordChange]:
    """Yield how the verdict on what a paper printed changed."""

    def turn(before: str, after: str) -> Turn:
        if after == "UNDECIDED" or (expected is not None and before == expected):
            return Turn.WORSE
        if before == "UNDECIDED":
            return Turn.BETTER if expected in (None, after) else Turn.WORSE
        return Turn.CHANGED

    yield from _ruling(where, old, new, turn)


def _corrected(where: str, old: Row | None, new: Row | None) -> Iterator[RecordChange]:
    """Yield how the verdict on a corrected form changed: it should be supported, and never be less decided."""

    def turn(before: str, after: str) -> Turn:
        if after == "SUPPORTED":
            return Turn.BETTER
        return Turn.WORSE if before == "SUPPORTED" or after == "REFUTED" else Turn.CHANGED

    yield from _ruling(where, old, new, turn)


def _ruling(where: str, old: Row | None, new: Row | None, turn: Callable[[str, str], Turn]) -> Iterator[RecordChange]:
    """Yield how the verdict on a form changed, or that only one of the records has the form."""
    if old is None or new is None:
        gone, added = ([] if each is None else [(where, each)] for each in (old, new))
        yield from alone("form", gone, added, lambda row: f" ({verdict_word(row)})")
    elif (old["verdict"], old["reason"]) != (new["verdict"], new["reason"]):
        same = old["verdict"] == new["verdict"]
        way = defect_turn(old, new) if same else turn(old["verdict"], new["verdict"])
        yield RecordChange(way, "verdict", where, verdict_word(old), verdict_word(new))


def _statements(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    both, _, _ = paired(old, new, lambda row: str(row["id"]))
    for id_, (before, after) in both.items():
        if before == after:
            continue
        yield from one(Turn.CHANGED, "domain", id_, before["domain"], after["domain"])
        yield from named_changes("text", before, after, names=WORDS, where=f"{id_}, ")
        parts, _, _ = paired(before["parts"], after["parts"], _part_name)
        for name, (part, now) in parts.items():
            yield from _part(name, part, now)


def _part_name(part: Row) -> str:
    named = part["reading"] and "@" not in part["id"]
    return f"{part['id']} reading {part['reading']}" if named else str(part["id"])


def _part(where: str, old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield how the formulas and words of a part changed."""
    for form, words in (("printed", "as printed"), ("corrected", "corrected")):
        before, after = (part[form] and part[form]["text"] for part in (old, new))
        yield from one(Turn.CHANGED, "formula", f"{where} {words}", before, after)
    before, after = ((part.get("provenance") or {}) for part in (old, new))
    yield from named_changes("provenance", before, after, where=f"{where}, ")
    for name, words in PART_WORDS.items():
        yield from one(Turn.CHANGED, "text", f"{where}, {words}", old.get(name), new.get(name))


def _cases(old: Sequence[Row], new: Sequence[Row], comparer: Comparer, absent: Set[str]) -> Iterator[RecordChange]:
    """Yield how cases changed, and which ones one record alone has, those of an id that is absent there aside."""
    both, gone, more = paired(old, new, lambda row: "\0".join(row[name] for name in CASE))
    comparer.compared["cases"] += len(both)
    for row in gone.values():
        if not absent & {row["id"], row["part"]}:
            what = "mutant" if row["standing"] == "MUTANT" else "case"
            yield RecordChange(Turn.WORSE, "gone", _named(row), f"the {what} is gone ({outcome_words(row)})", "")
    yield from _draws(both.values())
    for before, after in both.values():
        if before == after:
            comparer.equal(before)
            continue
        yield from _outcome(before, after)
        if comparer.numbers and None not in (before["severity"], after["severity"]):
            yield from more_is(Turn.WORSE, "severity", _named(after), before["severity"], after["severity"])
        if comparer.numbers and not comparer.same(before["params"], after["params"]):
            yield RecordChange(Turn.CHANGED, "case", _named(after), text(before["params"]), text(after["params"]))
            continue
        changed = list(claim_changes(_named(after), before["claim"], after["claim"], comparer))
        yield from changed
        if not any(change.where.endswith(", quantity") for change in changed):
            yield from comparer.moved(_named(after), before, after)
    added = [row for row in more.values() if not absent & {row["id"], row["part"]}]
    yield from (RecordChange(Turn.CHANGED, "new", _named(row), "", f"is new ({outcome_words(row)})") for row in added)


def _named(row: Row) -> str:
    """Return a case's name, with its statement's id in front unless it is there already, and its version."""
    case = str(row["case"])
    named = case if case.startswith(row["id"]) else f"{row['id']} {case}"
    version = row["standing"].lower()
    return named if version in named else f"{named} ({version})"


def _outcome(old: Row, new: Row) -> Iterator[RecordChange]:
    """Yield how the outcome of a case changed, or why it is undecided."""
    if (old["outcome"], old["reason"]) == (new["outcome"], new["reason"]):
        return
    words = outcome_words(old), outcome_words(new)
    if new["standing"] == "MUTANT":
        caught = [row["outcome"] == "FAILS" for row in (old, new)]
        if caught[0] or caught[1]:
            turn = Turn.WORSE if caught[0] else Turn.BETTER
            before, after = ("caught" if each else word for each, word in zip(caught, words, strict=True))
            yield RecordChange(turn, "mutant", _named(new), before, after)
            return
        turn = Turn.WORSE if old["outcome"] == "UNDECIDED" != new["outcome"] else defect_turn(old, new)
    elif new["standing"] == "PRINTED":
        turn = _printed_turn(old, new)
    else:
        turn = outcome_turn(old, new)
    yield RecordChange(turn, "outcome", _named(new), *words)


def _printed_turn(old: Row, new: Row) -> Turn:
    """Return which way the outcome of a case of a printed form changed: to be open is worse, to be decided better."""
    before, after = (row["outcome"] in ("UNDECIDED", "OUT_OF_DOMAIN") for row in (old, new))
    if before and after:
        return defect_turn(old, new)
    return Turn.WORSE if after else Turn.BETTER if before else Turn.CHANGED


def _draws(pairs: Any) -> Iterator[RecordChange]:
    """Yield how many cases that rest on draws have fewer of them, and how many have more."""
    sampled = [(old, new) for old, new in pairs if old["n_draws"] != new["n_draws"] and not new["exact"]]
    for turn, words in ((Turn.WORSE, "fewer"), (Turn.BETTER, "more")):
        these = [both for both in sampled if (both[1]["n_draws"] < both[0]["n_draws"]) == (turn is Turn.WORSE)]
        if these:
            old, new = these[0]
            where = f"{len(these)} cases have {words}, as {_named(new)}"
            yield RecordChange(turn, "draws", where, text(old["n_draws"]), text(new["n_draws"]))


def _figures(old: Sequence[Row], new: Sequence[Row]) -> Iterator[RecordChange]:
    ids = {row["id"] for row in new}
    both, gone, _ = paired(old, new, lambda row: f"{row['id']} {row['number']}")
    for name, (before, after) in both.items():
        if bool(before["error"]) != bool(after["error"]):
            was, is_now = ("stopped" if row["error"] else "drawn" for row in (before, after))
            yield RecordChange(Turn.WORSE if after["error"] else Turn.BETTER, "figure", name, was, is_now)
    for name, row in gone.items():
        if row["id"] in ids:
            yield RecordChange(Turn.CHANGED, "gone", name, "the figure is gone", "")
