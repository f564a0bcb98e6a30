"""What of each kind of record is compared, what a change is called, and which way it goes: a table a kind of row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from audits.stats.intervals import clopper_pearson, even_share
from audits.verdict import WEAKEST_FIRST, CheckRole, Ground
from reports.numbers import format_interval

from ..kernel.rows import Row, dumps, number
from ..papers.ledger import verdict_word
from ..schemas.row_parts import Profile
from .walk import (
    DIGEST,
    Comparer,
    Matched,
    RecordChange,
    Rule,
    Turn,
    Way,
    compared,
    defect_turn,
    flat,
    less,
    more,
    outcome_turn,
    outcome_words,
    paired,
    ranked,
    said,
    text,
    walked,
)

Changes = Iterator[RecordChange]
Rows = Sequence[Row]


@dataclass(frozen=True)
class ComparedRecord:
    """A record of a kind: ``run``, ``certificate``, ``sweep`` or ``calibration``."""

    kind: str
    header: Row
    rows: tuple[Row, ...]

    def of(self, *kinds: str) -> list[Row]:
        """Return the rows of some kinds, kind by kind, in their order."""
        return [row for kind in kinds for row in self.rows if row["kind"] == kind]

    @property
    def confidential(self) -> bool:
        """Whether it holds what only a curator may read; a sweep over a user's own data is taken to."""
        return bool(self.header.get("contains_private")) or (self.kind == "sweep" and self.header["data"] is not None)


def _same_total(old: Row, new: Row) -> bool:
    return bool(old.get("failure_prob") == new.get("failure_prob"))


def _digest(key: str) -> Callable[[Row], str]:
    return lambda row: str(row.get(key) or "")[:DIGEST]


#: What every header may say. A sum over the cells of a sweep, and a share of a whole, follow from another change.
HEADER = (
    Rule("profile", "profile?", ranked(get_args(Profile)), both=True),
    *(Rule(key.replace("_", " "), f"{key}?", less, both=True) for key in ("complete", "n_draws", "imported_draws")),
    Rule("failure prob", "failure_prob?", more, both=True, when=lambda old, _: "failure_prob_per_cell" not in old),
    Rule("failure prob per id", "failure_prob_per_id?", more, both=True, when=_same_total),
    Rule("failure prob per cell", "failure_prob_per_cell?", more, both=True),
    Rule("seed", "seed"),
    Rule("version", "versions", each=True),
    Rule("platform", "platform"),
    Rule("sources", _digest("sources")),
)

# Certificates: what is claimed, its verdicts, what they rest on, and the deployment that they are about.

#: What a claim is of; where one of these is another, the old promise is made no more, and its numbers say other things.
FORM = ("type", "profile", "relation", "metric")
#: Numbers of a claim of which a larger one promises less, and those of which a smaller one does.
LARGER_IS_LESS = ("epsilon", "delta", "mu", "rho", "at_most", "level")
SMALLER_IS_LESS = ("group", "alpha", "at_least", "probability")
#: Keys of the budget that cap what is examined; without one, nothing is capped.
CAPS = ("max_draws", "max_seconds")
#: Numbers of the public domain, and which way it goes that one grows: a smaller domain holds fewer data sets.
BOUNDS: dict[str, Way] = {"n_min": more, "x_bound": less, "y_bound": less}
#: A change of the room that a check leaves under its bound, relative and absolute, of which nobody must know.
ROOM = 1e-3


def _verdict_turn(old: tuple[str, str], new: tuple[str, str]) -> Turn:
    """Return which way a verdict with its ground changed; a failure that is open now is no improvement."""
    if old[0] == new[0]:
        return ranked(WEAKEST_FIRST)(Ground(old[1]), Ground(new[1]))
    turn = ranked(("FAIL", "UNDECIDED", "PASS"))(old[0], new[0])
    return Turn.CHANGED if turn is Turn.BETTER and new[0] != "PASS" else turn


def _points(old: Any, new: Any) -> Turn:
    """Return which way a table of points went: each is still promised where a smaller epsilon and delta are."""
    covered = all(any(epsilon <= e and delta <= d for epsilon, delta in new) for e, d in old)
    return Turn.CHANGED if covered else Turn.WORSE


def _same_form(old: Row, new: Row) -> bool:
    return all(old["promise"].get(key) == new["promise"].get(key) for key in FORM)


#: What the configuration claims: another kind of promise is none of what it was.
PROMISE: dict[str, Way] = {
    **dict.fromkeys(LARGER_IS_LESS, more),
    **dict.fromkeys(SMALLER_IS_LESS, less),
    "scope": ranked(("target", "records", "everyone")),
    "points": _points,
}


def _pairs(row: Row) -> list[Row]:
    pairs: list[Row] = (row["examination"] or {}).get("pairs", [])
    return pairs


CLAIMS = Matched(
    lambda row: str(row["claim"]),
    said("claim", lambda row: f" ({row['words']})"),
    (
        Rule("verdict", "words", _verdict_turn, by=lambda row: (row["verdict"], row["ground"])),
        *(Rule("promise", f"promise.{key}?", Turn.WORSE, f", {key}") for key in FORM),
        *(
            Rule("promise", f"promise.{key}?", way, f", {key}", both=True, when=_same_form)
            for key, way in PROMISE.items()
        ),
        Rule("claim", "sentence"),
        Rule("scope", "scope"),
        Rule("vouched", "vouched"),
        Rule("conditions", "conditions", more, by=lambda row: len(row["conditions"])),
        Rule("pairs examined", lambda row: len(_pairs(row)), less),
        Rule("draws", lambda row: sum(pair.get("draws", 0) for pair in _pairs(row)), less),
    ),
)
OVERALL = (
    Rule(
        "verdict", "words", _verdict_turn, by=lambda row: (row["verdict"], row["words"].partition("(")[2].rstrip(")"))
    ),
    Rule("proof required", lambda row: row.get("required") == "proved", less),
    Rule("undecided allowed", lambda row: bool(row.get("undecided_allowed")), more),
)


def _artefact(header: Row) -> str:
    file = header.get("artefact", {})
    return f"{file.get('name', '')} {file.get('sha256', '')[:DIGEST]}".strip()


def _bound(name: str) -> Callable[[Row], float]:
    return lambda header: number(header["data"][name])


DEPLOYMENT = (
    Rule("mechanism", "mechanism"),
    Rule("code of the mechanism", _digest("mechanism_digest")),
    Rule("configuration file", _digest("configuration_digest")),
    Rule("artefact", _artefact),
    *(Rule("domain", _bound(name), way, name) for name, way in BOUNDS.items()),
    Rule("data", lambda row: flat({k: v for k, v in row["data"].items() if k not in BOUNDS}), each=True),
    Rule("not shown", lambda row: dict.fromkeys(row["not_shown"], "not shown"), each=True),
)


def _whole(row: Row) -> Row:
    return row


def _check_turn(old: Row, new: Row) -> Turn:
    return Turn.CHANGED if new["power"] == "REPORTS" else outcome_turn(old, new)


def _same_outcome(old: Row, new: Row) -> bool:
    return outcome_words(old) == outcome_words(new)


#: What was released, and at which cost; never its numbers.
RELEASES = Matched(lambda row: str(row["name"]), said("release"), (Rule("cost", "cost"),), gone=Turn.CHANGED)
CHECKS = Matched(
    lambda row: f"{row['claim']}, {row['check']}",
    said("check", lambda row: f" ({outcome_words(row)})"),
    (
        Rule("power", "power", ranked([role.name for role in reversed(CheckRole)]), words=str.lower),
        Rule("outcome", outcome_words, _check_turn, by=_whole),
        Rule("draws", "sampled.n_draws?", less, both=True, when=_same_outcome),
    ),
    shown=lambda row: f"{row['claim']}, {row['check']}",
    looks="checks",
)


def certificate_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Changes:
    """Yield what changed between two certificates: the verdict first, then claims, deployment and checks."""
    headers = old.header, new.header
    yield from compared(OVERALL, *headers)
    yield from walked(CLAIMS, _promised(old), _promised(new))
    yield from compared(DEPLOYMENT, *headers)
    yield from _settings(old.header["configuration"], new.header["configuration"])
    yield from _checks(old.of("check"), new.of("check"), comparer, restated(*headers))
    yield from walked(RELEASES, old.of("release"), new.of("release"), _drawn)
    spent = old.of("budget"), new.of("budget")  # records of old do not say it
    turn = Turn.WORSE if spent[0] and not spent[1] else Turn.CHANGED
    rule = Rule("failure probability spent", _spent, turn)
    yield from compared([rule], {"budget": spent[0]}, {"budget": spent[1]})


def _promised(record: ComparedRecord) -> Rows:
    promised = promises(record.header)
    return [{**row, "promise": promised.get(row["claim"], {})} for row in record.of("claim")]


def promises(header: Row) -> dict[str, Row]:
    """Return the claims of the configuration, by name."""
    return {str(claim.get("name")): claim for claim in header["configuration"]["claims"]}


def restated(old: Row, new: Row) -> list[str]:
    """Return the claims of both configurations that claim something else now."""
    before, after = promises(old), promises(new)
    return [name for name in before if name in after and before[name] != after[name]]


def _settings(old: Row, new: Row) -> Changes:
    """Yield the keys of the configuration that differ; a budget that is larger examines more."""
    settings = [flat({key: value for key, value in each.items() if key != "claims"}) for each in (old, new)]
    for key in dict.fromkeys([*settings[0], *settings[1]]):
        section, _, name = key.partition(".")
        before, after = (each["budget"].get(name) for each in (old, new))
        if key in ("budget.profile", "budget.seed", "budget.failure_prob"):
            continue  # the header says them
        if key == "budget.sequential":  # it can refute and never support; records of old are without it
            before, after = bool(before), bool(after)
            what, turn = "budget", more(before, after)
        elif section == "budget" and (name in CAPS or None not in (before, after)):
            what, turn = "budget", less(*(math.inf if side is None else side for side in (before, after)))
        else:
            before, after = settings[0].get(key), settings[1].get(key)
            what, name, turn = "configuration", key, Turn.CHANGED
        if before != after:
            yield RecordChange(turn, what, name, text(before), text(after))


def _checks(old: Rows, new: Rows, comparer: Comparer, others: Sequence[str]) -> Changes:
    """Yield how the checks of the claims that both records have changed; which pairs are searched may change freely."""
    claims = {row["claim"] for row in old} & {row["claim"] for row in new}
    counts = [Counter((row["claim"], row["power"]) for row in rows) for rows in (old, new)]

    def gone(row: Row) -> Turn:
        kind = row["claim"], row["power"]
        return Turn.WORSE if counts[1][kind] < counts[0][kind] else Turn.CHANGED

    def numbers(name: str, old: Row, new: Row) -> Changes:
        """Yield the numbers of a check that moved, and how much room a deciding one leaves."""
        changed = list(comparer.claimed(name, old["about"], new["about"])) if new["claim"] not in others else None
        if changed != []:
            yield from changed or ()
            return
        yield from comparer.moved(name, old, new)
        rooms = [number(row["margin"]) for row in (old, new)]
        known = comparer.numbers and new["power"] == "DECIDES" and all(0 <= room < math.inf for room in rooms)
        if known and not math.isclose(*rooms, rel_tol=ROOM, abs_tol=ROOM):
            words = [f"{room:.3g} of what is allowed" for room in rooms]
            yield RecordChange(Turn.CHANGED, "room left", name, words[0], words[1])

    rows = CHECKS._replace(gone=gone)
    yield from walked(rows, old, new, numbers, comparer=comparer, skip=lambda row: row["claim"] not in claims)


def _drawn(name: str, old: Row, new: Row) -> Changes:
    if old["cost"] == new["cost"] and old != new:
        yield RecordChange(Turn.CHANGED, "release", name, "one draw", "another draw")


def _spent(row: Row) -> str:
    """Return how much of the failure probability was spent, by the part that an audience may know of."""
    alphas = [leaf["alpha"] for part in row["budget"][:1] for leaf in part["leaves"] if leaf["spent"]]
    return f"{math.fsum(alphas):.4g}" if row["budget"] else "not said"


# Runs: verdicts, formulas, cases and mutants of the published statements. What a paper printed is refuted or not
# whatever we wish: a verdict on it that changes is worse only where it is not the expected one any more, or where what
# was decided is open now. A corrected form is ours, and should be supported.

#: Words of a statement that may change without changing what is claimed; and those of a part.
WORDS = ("title", "locator", "summary", "definition", "reference")
PART_WORDS = {"title": "title", "what_went_wrong": "what went wrong", "derivation": "derivation", "proof": "proof line"}
PAPERS = Matched(
    lambda row: str(row["name"]),
    said("paper"),
    (Rule("paper", lambda row: flat(row["paper"]), where=".", each=True),),
    gone=Turn.CHANGED,
)


def _form_turn(old: Row, new: Row) -> Turn:
    """Return which way the verdict on a form changed."""
    before, after, expected = old["verdict"], new["verdict"], new["expected"]
    if before == after:
        return defect_turn(old, new)
    if new["ours"]:
        worse, better = before == "SUPPORTED" or after == "REFUTED", after == "SUPPORTED"
    else:
        worse = after == "UNDECIDED" or (expected is not None and before == expected)
        worse = worse or (before == "UNDECIDED" and expected not in (None, after))
        better = before == "UNDECIDED" and not worse
    return Turn.BETTER if better else Turn.WORSE if worse else Turn.CHANGED


FORMS = Matched(
    lambda row: str(row["form"]),
    said("form", lambda row: f" ({verdict_word(row)})"),
    (
        Rule(
            *("verdict", lambda row: {"verdict": row["verdict"], "reason": row["reason"]}, _form_turn),
            words=verdict_word,
            by=_whole,
        ),
    ),
)
VERDICT = (Rule("consequence", "consequence?"), Rule("root", "root?"))
EXPECTATION = Rule(
    *("expectation", lambda row: list(row["unexpected"]) or "as expected"),
    lambda old, new: Turn.WORSE if new["unexpected"] else Turn.BETTER,
    by=_whole,
    when=lambda old, new: bool(old["unexpected"]) != bool(new["unexpected"]),
)
STATEMENTS = Matched(
    lambda row: str(row["id"]),
    rules=(Rule("domain", "domain"), *(Rule("text", key, where=f", {key}") for key in WORDS)),
)


def _part_name(part: Row) -> str:
    named = part["reading"] and "@" not in part["id"]
    return f"{part['id']} reading {part['reading']}" if named else str(part["id"])


PARTS = Matched(
    _part_name,
    rules=(
        Rule("formula", "printed.text", where=" as printed"),
        Rule("formula", "corrected.text", where=" corrected"),
        Rule("provenance", "provenance?", where=", ", each=True),
        *(Rule("text", f"{key}?", where=f", {words}") for key, words in PART_WORDS.items()),
    ),
)
FIGURES = Matched(
    lambda row: f"{row['id']} {row['number']}",
    rules=(Rule("figure", lambda row: "stopped" if row["error"] else "drawn", ranked(("stopped", "drawn"))),),
)


def _case_name(row: Row) -> str:
    """Return a case's name, with its statement's id in front unless it is there already, and its version."""
    named = row["case"] if row["case"].startswith(row["id"]) else f"{row['id']} {row['case']}"
    version = row["standing"].lower()
    return str(named) if version in named else f"{named} ({version})"


def _case_said(row: Row, fate: str) -> str:
    noun = f"the {'mutant' if row['standing'] == 'MUTANT' else 'case'} " if fate == "gone" else ""
    return f"{noun}is {fate} ({outcome_words(row)})"


CASES = Matched(
    lambda row: "\0".join(row[key] for key in ("id", "part", "standing", "case")),
    _case_said,
    shown=_case_name,
    looks="cases",
)
SEVERITY = Rule("severity", "severity", more, both=True)


def run_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Changes:
    """Yield what changed between two runs, verdicts first."""
    headers = old.header, new.header
    data = Rule("data", lambda row: {name: digest[:DIGEST] for name, digest in row["data"].items()}, each=True)
    yield from compared([data], *headers)
    papers = [[{"name": k, "paper": v} for k, v in header.get("papers", {}).items()] for header in headers]
    yield from walked(PAPERS, papers[0], papers[1])
    gone, added = _absent(old, new), _absent(new, old)
    yield from (RecordChange(Turn.WORSE, "gone", id_, f"{what} is gone", "") for id_, what in gone.items())
    yield from (RecordChange(Turn.CHANGED, "new", id_, "", f"{what} is new") for id_, what in added.items())
    yield from walked(Matched(lambda row: str(row["id"])), old.of("verdict"), new.of("verdict"), _verdict)
    yield from walked(STATEMENTS, old.of("statement"), new.of("statement"), _parts)
    yield from _cases(old.of("case"), new.of("case"), comparer, {*gone, *added})
    yield from walked(FIGURES, old.of("figure"), new.of("figure"))
    ids = {row["id"] for row in new.of("figure")}
    for name, row in paired(old.of("figure"), new.of("figure"), FIGURES.name)[1].items():
        if row["id"] in ids:
            yield RecordChange(Turn.CHANGED, "gone", name, "the figure is gone", "")


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


def _verdict(name: str, old: Row, new: Row) -> Changes:
    before, after = (_forms(name, row, new["expected"] or {}) for row in (old, new))
    forms = list(walked(FORMS, before, after))
    yield from forms
    worse = any(change.turn is Turn.WORSE for change in forms)
    yield from compared(VERDICT if worse else (*VERDICT, EXPECTATION), old, new, name)


def _forms(name: str, row: Row, expected: Row) -> list[Row]:
    """Return the verdicts on every form and reading, with what the new record's ledger expects of each."""
    forms = [
        ("as printed", row["printed"], expected.get("printed"), False),
        ("corrected", row["corrected"], None, True),
    ]
    for each, reading in row["readings"].items():
        forms.append((f"reading {each}", reading["printed"], expected.get("readings", {}).get(each), False))
        forms.append((f"reading {each} corrected", reading["corrected"], None, True))
    return [{"form": f"{name} {form}", "expected": e, "ours": ours, **found} for form, found, e, ours in forms if found]


def _parts(_: str, old: Row, new: Row) -> Changes:
    yield from walked(PARTS, old["parts"], new["parts"])


def _cases(old: Rows, new: Rows, comparer: Comparer, absent: set[str]) -> Changes:
    """Yield how cases changed, and which ones one record alone has, those of an id that is absent there aside."""

    def case(name: str, old: Row, new: Row) -> Changes:
        if (old["outcome"], old["reason"]) != (new["outcome"], new["reason"]):
            yield _outcome(name, old, new)
        if comparer.numbers:
            yield from compared([SEVERITY], old, new, name)
            if not comparer.same(old["params"], new["params"]):
                yield RecordChange(Turn.CHANGED, "case", name, text(old["params"]), text(new["params"]))
                return
        changed = list(comparer.claimed(name, old["claim"], new["claim"]))
        yield from changed
        if not any(change.where.endswith(", quantity") for change in changed):
            yield from comparer.moved(name, old, new)

    yield from _draws(list(paired(old, new, CASES.name)[0].values()))
    yield from walked(
        CASES, old, new, case, comparer=comparer, skip=lambda row: bool(absent & {row["id"], row["part"]})
    )


def _outcome(name: str, old: Row, new: Row) -> RecordChange:
    """Return how the outcome of a case changed, or why it is undecided."""
    outcomes, words = (old["outcome"], new["outcome"]), (outcome_words(old), outcome_words(new))
    if new["standing"] == "MUTANT" and "FAILS" in outcomes:
        turn = Turn.WORSE if old["outcome"] == "FAILS" else Turn.BETTER
        sides = ["caught" if outcome == "FAILS" else word for outcome, word in zip(outcomes, words, strict=True)]
        return RecordChange(turn, "mutant", name, sides[0], sides[1])
    if new["standing"] == "MUTANT":
        turn = Turn.WORSE if outcomes[0] == "UNDECIDED" != outcomes[1] else defect_turn(old, new)
    elif new["standing"] == "PRINTED":  # to be open is worse, to be decided better
        before, after = (outcome not in ("UNDECIDED", "OUT_OF_DOMAIN") for outcome in outcomes)
        turn = less(before, after) if before or after else defect_turn(old, new)
    else:
        turn = outcome_turn(old, new)
    return RecordChange(turn, "outcome", name, *words)


def _draws(both: Sequence[tuple[Row, Row]]) -> Changes:
    """Yield how many cases that rest on draws have fewer of them, and how many have more."""
    sampled = [(old, new) for old, new in both if old["n_draws"] != new["n_draws"] and not new["exact"]]
    for turn, words in ((Turn.WORSE, "fewer"), (Turn.BETTER, "more")):
        these = [pair for pair in sampled if less(pair[0]["n_draws"], pair[1]["n_draws"]) is turn]
        for old, new in these[:1]:
            where = f"{len(these)} cases have {words}, as {_case_name(new)}"
            yield RecordChange(turn, "draws", where, text(old["n_draws"]), text(new["n_draws"]))


# Sweeps: the grid, then its cells.


def _axis(old: Any, new: Any) -> Turn:
    return Turn.CHANGED if all(value in (new or []) for value in old or []) else Turn.WORSE


def _cell_words(row: Row) -> str:
    return f"holds, as {row['ground']}" if row["ground"] else outcome_words(row)


def _cell_turn(old: Row, new: Row) -> Turn:
    if old["outcome"] == new["outcome"] == "HOLDS":
        return Turn.BETTER if new["ground"] == "proved" else Turn.WORSE
    return outcome_turn(old, new)


SWEEP = (
    Rule("grid", "name"),
    Rule("axis", "axes", _axis, each=True),
    Rule("data", _digest("data")),
    Rule("mechanism", lambda row: flat(row["imported"]), each=True),
)
CELLS = Matched(
    lambda row: dumps(row["cell"]),
    said("cell", lambda row: f" ({_cell_words(row)})"),
    (Rule("outcome", _cell_words, _cell_turn, by=_whole),),
    shown=lambda row: text(row["cell"]),
    looks="cells",
)


def sweep_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Changes:
    """Yield what changed between two sweeps: the grid, then its cells."""

    def numbers(name: str, old: Row, new: Row) -> Changes:
        yield from list(comparer.claimed(name, old["claim"], new["claim"])) or comparer.moved(name, old, new)

    yield from compared(SWEEP, old.header, new.header)
    yield from walked(CELLS, old.of("cell"), new.of("cell"), numbers, comparer=comparer)


# Calibrations: how often each auditor misses, and which wrong mechanisms are found out. What is counted does not depend
# on the seed, so that counts of two seeds are compared: as intervals that hold together but for ``FAILURE_PROB``.

#: Probability that any rate is said to have moved that did not, whatever the number of rates.
FAILURE_PROB = 1e-3
FOUND = {True: "found", False: "not found", None: "not tried"}
RATES = ("rate", "control", "prediction")


def _as_it_should(row: Row) -> bool:
    """Return whether a rate is as it should be; a control is an auditor that must be found out."""
    return bool(row["compatible"] != (row["kind"] == "control"))


def _as_it_should_words(row: Row) -> str:
    words = "found out" if row["kind"] == "control" else "as it should be"
    return words if _as_it_should(row) else f"not {words}"


def _rate_name(row: Row) -> str:
    kind = "" if row["kind"] == "rate" else f" ({row['kind']})"
    return f"{row['auditor']}, {row['law']}, level {row['level']:g}{kind}"


def _found(old: bool | None, new: bool | None) -> Turn:
    return Turn.WORSE if old else Turn.BETTER if new else Turn.CHANGED


COMPATIBLE = Rule("verdict", _as_it_should_words, less, by=_as_it_should)
CALIBRATION = (Rule("tasks that crashed", lambda row: len(row.get("crashed", [])), more),)
EXACT = Matched(
    lambda row: f"{row['auditor']} at n={row['n']}, p={row['p']:g}, level {row['level']:g}",
    said("exact coverage"),
    (COMPATIBLE,),
)
RATE = Matched(_rate_name, said("rate"), (COMPATIBLE, Rule("draws", "n_draws", less)))
MUTANTS = Matched(
    lambda row: f"{row['auditor']}, {row['name']}",
    said("mutant"),
    (
        Rule("mutant", "found", _found, words=FOUND.__getitem__),
        Rule("least found", "smallest_found"),
        Rule("stated", "stated"),
        Rule("draws", "n_draws", less),
    ),
)
GRADES = Matched(lambda grade: text(grade["strength"]), said("strength"))


def calibration_changes(old: ComparedRecord, new: ComparedRecord, comparer: Comparer) -> Changes:
    """Yield what changed between two calibrations: what is as it should be, what is found out, and rates that moved."""
    intervals = len(old.of(*RATES)) + sum(len(row["grades"]) for row in old.of("mutant"))
    share = even_share(FAILURE_PROB, 2 * max(1, intervals))

    def moved(name: str, before: Row, after: Row) -> Changes:
        """Yield how many repetitions there are, and whether a rate moved: two intervals with no value in common."""
        yield from compared([Rule("repetitions", "repeats", less)], before, after, name)
        comparer.compared["rates"] += 1
        counts = [(row["refuted" if "refuted" in row else "any"], row["repeats"]) for row in (before, after)]
        ends = [clopper_pearson(*count, share) for count in counts]
        if ends[0].high < ends[1].low or ends[1].high < ends[0].low:
            words = [format_interval(k / n, each.low, each.high) for (k, n), each in zip(counts, ends, strict=True)]
            yield RecordChange(Turn.CHANGED, "rate", name, words[0], words[1], 2 * share)

    def grades(name: str, before: Row, after: Row) -> Changes:
        def of_grade(where: str, grade: Row, now: Row) -> Changes:
            yield from moved(name if grade["strength"] is None else where, grade, now)

        yield from walked(GRADES, before["grades"], after["grades"], of_grade, where=f"{name}, ")

    yield from compared(CALIBRATION, old.header, new.header)
    yield from walked(EXACT, old.of("exact"), new.of("exact"))
    yield from walked(RATE, old.of(*RATES), new.of(*RATES), moved)
    yield from walked(MUTANTS, old.of("mutant"), new.of("mutant"), grades)


#: How each kind of record is compared.
CHANGES = {
    "run": run_changes,
    "certificate": certificate_changes,
    "sweep": sweep_changes,
    "calibration": calibration_changes,
}
