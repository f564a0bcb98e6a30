"""What changed between two records and which way it goes: one table, and what holds of every record."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rows import for_each
from toys.compared import FILES, Rows, changed, of, run_rows, without, write_rows

from verify import Difference, difference, read
from verify.calibration.calibration_record import read as read_calibration
from verify.diffs.walk import Turn

#: Kinds of rows of which every one was examined, and none may be dropped in silence.
EXAMINED = ("case", "verdict", "claim", "check", "cell", "exact", "rate", "prediction", "control", "mutant")
FALSE, TRUE = {"kind": "verdict", "id": "RW21-T17"}, {"kind": "verdict", "id": "W19-T4.1"}
HEADER, SWEEP, CLAIM, DECIDES = ({"kind": kind} for kind in ("header", "sweep", "claim", "check"))
DECIDES |= {"power": "DECIDES"}
REFUTES, REPORTS = ({"kind": "check", "power": power} for power in ("REFUTES", "REPORTS"))
LARGE, MUTANT = ({"kind": "case", "case": case} for case in ("large", "mutant: 0.55"))
PRINTED = {"kind": "case", "id": "RW21-T17", "case": "printed"}
HOLDS, FAILS = ({"kind": "cell", "outcome": outcome} for outcome in ("HOLDS", "FAILS"))
NOT_QUICK = {"kind": "case", "case": "exact, not quick"}


def form(name: str, verdict: str, reason: str = "NONE") -> dict[str, str]:
    return {f"{name}__verdict": verdict, f"{name}__reason": reason}


def words(verdict: str, ground: str) -> dict[str, str]:
    return {"verdict": verdict, "ground": ground, "words": f"{verdict} ({ground})" if ground else verdict}


def ends(low: Any, high: Any, witness: str = "exact", spent: float = 0.0) -> dict[str, Any]:
    estimate = {"value": low, "low": low, "high": high, "failure_prob": spent, "n_draws": 0, "method": "by hand"}
    return {witness: estimate}


def claims(**values: Any) -> dict[str, Any]:
    return {"configuration__claims": [{"type": "dp", "name": "dp", "epsilon": 1.0, "delta": 1e-6} | values]}


def points(*pairs: list[float]) -> dict[str, Any]:
    return claims(profile="table", points=list(pairs))


def budget(**values: Any) -> dict[str, Any]:
    return {f"configuration__budget__{name}": value for name, value in values.items()}


PAPER = {"reference": "", "title": "", "year": 2019, "doi": "", "copies": {}}
RULING = {"verdict": "REFUTED", "reason": "NONE", "outcomes": {}, "worst_case": "", "worst_margin": "nan"}
SUPPORTED = RULING | {"verdict": "SUPPORTED"}
PAIRS = [{"name": name, "draws": 100, "law": "compared"} for name in ("a", "b")]
READING = {"expected__readings": {"a": "REFUTED"}}
#: Record, the row that differs, what the old and the new one say, and the changes, forth and back: W for the worse, B
#: for the better, C otherwise; ``where`` follows ``@``.
TABLE: list[tuple[str, dict[str, str], dict[str, Any], dict[str, Any], str, str]] = [
    ("run", FALSE, form("corrected", "SUPPORTED"), form("corrected", "UNDECIDED"), "W verdict", "B verdict"),
    ("run", FALSE, form("corrected", "SUPPORTED"), form("corrected", "REFUTED"), "W verdict", "B verdict"),
    ("run", FALSE, form("corrected", "SUPPORTED"), form("corrected", "TEXT_UNCLEAR"), "W verdict", "B verdict"),
    ("run", FALSE, form("corrected", "UNDECIDED"), form("corrected", "REFUTED"), "W verdict", "C verdict"),
    (
        "run",
        FALSE,
        form("printed", "REFUTED"),
        form("printed", "SUPPORTED"),
        "W verdict@RW21-T17 as printed",
        "C verdict",
    ),
    ("run", FALSE, form("printed", "REFUTED"), form("printed", "TEXT_UNCLEAR"), "W verdict", "C verdict"),
    ("run", FALSE, form("printed", "REFUTED"), form("printed", "UNDECIDED"), "W verdict", "B verdict"),
    ("run", FALSE, form("printed", "UNDECIDED"), form("printed", "SUPPORTED"), "W verdict", "W verdict"),
    ("run", FALSE, form("printed", "SUPPORTED"), form("printed", "TEXT_UNCLEAR"), "C verdict", "C verdict"),
    (
        *("run", FALSE, form("printed", "REFUTED")),
        form("printed", "TEXT_UNCLEAR") | {"expected__printed": "TEXT_UNCLEAR"},
        *("C verdict", "C verdict"),
    ),
    (
        *("run", FALSE, form("printed", "UNDECIDED", "BUDGET"), form("printed", "UNDECIDED", "ERROR")),
        *("W verdict", "B verdict"),
    ),
    (
        *("run", FALSE, form("corrected", "UNDECIDED", "BUDGET"), form("corrected", "UNDECIDED", "POWER")),
        *("C verdict", "C verdict"),
    ),
    (
        *("run", FALSE, READING | {"readings": {"a": {"printed": RULING, "corrected": SUPPORTED}}}),
        READING | {"readings": {"a": {"printed": SUPPORTED, "corrected": RULING}}},
        "W verdict@RW21-T17 reading a,W verdict@RW21-T17 reading a corrected",
        "C verdict,B verdict",
    ),
    (
        *("run", FALSE, READING | {"readings": {"a": {"printed": RULING, "corrected": SUPPORTED}}}),
        READING | {"readings": {}},
        *("W gone@RW21-T17 reading a,W gone@RW21-T17 reading a corrected", "C new,C new"),
    ),
    ("run", FALSE, {}, {"corrected": None}, "W gone@RW21-T17 corrected", "C new"),
    ("run", TRUE, {}, {"unexpected": ["expected REFUTED"]}, "W expectation", "B expectation"),
    ("run", {"kind": "statement"}, {}, {"domain": "any coin"}, "C domain", "C domain"),
    ("run", {"kind": "statement"}, {}, {"title": "Another"}, "C text@W19-T4.1, title", "C text"),
    ("run", MUTANT, {}, {"outcome": "HOLDS"}, "W mutant@RW21-T17 mutant: 0.55", "B mutant"),
    ("run", MUTANT, {"outcome": "UNDECIDED", "reason": "BUDGET"}, {"outcome": "HOLDS"}, "W outcome", "C outcome"),
    ("run", MUTANT, {"severity": 0.02}, {"severity": 0.5}, "W severity", "B severity"),
    ("run", LARGE, {}, {"outcome": "UNDECIDED", "reason": "BUDGET"}, "W outcome", "B outcome"),
    ("run", PRINTED, {"outcome": "FAILS"}, {"outcome": "HOLDS"}, "C outcome", "C outcome"),
    ("run", PRINTED, {"outcome": "FAILS"}, {"outcome": "UNDECIDED", "reason": "POWER"}, "W outcome", "B outcome"),
    ("run", PRINTED, {"outcome": "FAILS"}, {"outcome": "OUT_OF_DOMAIN"}, "W outcome", "B outcome"),
    ("run", LARGE, {}, {"n_draws": 10}, "W draws", "B draws"),
    ("run", LARGE, {}, {"n_draws": 0, **ends(0.85, 0.85)}, "B proved number", "W proved number,B draws"),
    ("run", LARGE, {}, {"params": {"p": 0.9}, "sampled__high": 0.95, "sampled__low": 0.9}, "C case", "C case"),
    (
        *("run", LARGE, {}, {"claim__quantity": "tails", "sampled__high": 0.95, "sampled__low": 0.9}),
        *("C claim@RW21-T17 large (printed), quantity", "C claim"),
    ),
    ("run", LARGE, {}, {"claim__high": 0.91}, "C claim@RW21-T17 large (printed), high", "C claim"),
    ("run", NOT_QUICK, ends(1.0, 2.0), ends(2.0, 3.0), "", ""),
    ("run", NOT_QUICK, ends(1.0, 2.0), ends(2.1, 3.0), "C number", "C number"),
    ("run", NOT_QUICK, ends(1e-30, 2e-30), ends(3e-30, 4e-30), "C number", "C number"),  # a proved width
    ("run", NOT_QUICK, ends(1.1e-16, 1.1e-16), ends(4.4e-16, 4.4e-16), "", ""),  # a residue of rounding
    ("run", NOT_QUICK, ends(0.25, 0.25), ends(0.25 + 1e-15, 0.25 + 1e-15), "", ""),
    ("run", NOT_QUICK, ends(0.25, 0.25), ends(0.25025, 0.25025), "C number", "C number"),
    ("run", NOT_QUICK, ends("inf", "inf"), ends(1.0, 2.0), "C number", "C number"),
    ("run", NOT_QUICK, ends("nan", "nan"), ends(1.0, 2.0), "", ""),
    ("run", LARGE, ends(0.1, 0.2, "sampled"), {"sampled": None}, "W sampled number", "B sampled number"),
    ("run", {"kind": "figure"}, {}, {"figure": None, "error": {"type": "E", "message": ""}}, "W figure", "B figure"),
    ("run", HEADER, {}, {"failure_prob": 1e-2}, "W failure prob", "B failure prob"),
    ("run", HEADER, {}, {"complete": False}, "W complete", "B complete"),
    ("run", HEADER, {}, {"platform": "abacus"}, "C platform", "C platform"),
    ("run", HEADER, {"versions": {"numpy": "8"}}, {"versions": {"numpy": "9"}}, "C version@numpy", "C version"),
    ("run", HEADER, {"data": {"fair": "1" * 64}}, {"data": {"fair": "0" * 64}}, "C data@fair", "C data"),
    ("run", HEADER, {"papers": {}}, {"papers": {"W": PAPER}}, "C new@W", "C gone@W"),
    ("run", HEADER, {"papers": {"W": PAPER}}, {"papers": {"W": PAPER | {"year": 1}}}, "C paper@W.year", "C paper"),
    ("certificate", CLAIM, words("PASS", "proved"), words("FAIL", ""), "W verdict@dp", "B verdict"),
    ("certificate", CLAIM, words("PASS", "proved"), words("PASS", "attested"), "W verdict", "B verdict"),
    (
        "certificate",
        CLAIM,
        words("UNDECIDED", "no violation found"),
        words("UNDECIDED", "not tested"),
        "W verdict",
        "B verdict",
    ),
    ("certificate", CLAIM, words("UNDECIDED", "no violation found"), words("FAIL", ""), "W verdict", "C verdict"),
    ("certificate", HEADER, {}, {"verdict": "FAIL", "words": "FAIL"}, "W verdict", "B verdict"),
    ("certificate", HEADER, claims(), claims(epsilon=2.0), "W promise@dp, epsilon", "B promise"),
    ("certificate", HEADER, claims(), claims(delta=1e-5), "W promise@dp, delta", "B promise"),
    ("certificate", HEADER, claims(), claims(type="pdp", epsilon=0.5), "W promise@dp, type", "W promise"),
    ("certificate", HEADER, claims(), claims(profile="zcdp"), "W promise@dp, profile", "W promise"),
    ("certificate", HEADER, claims(group=2), claims(group=1), "W promise@dp, group", "B promise"),
    ("certificate", HEADER, claims(scope="records"), claims(scope="target"), "W promise@dp, scope", "B promise"),
    ("certificate", HEADER, claims(at_least=0.7), claims(at_least=0.6), "W promise@dp, at_least", "B promise"),
    ("certificate", HEADER, claims(at_most=0.7), claims(at_most=0.8), "W promise@dp, at_most", "B promise"),
    ("certificate", HEADER, claims(metric="a"), claims(metric="b"), "W promise@dp, metric", "W promise"),
    ("certificate", HEADER, claims(probability=0.9), claims(probability=0.8), "W promise@dp, probability", "B promise"),
    ("certificate", HEADER, claims(level=1e-5), claims(level=1e-3), "W promise@dp, level", "B promise"),
    ("certificate", HEADER, points([1.0, 1e-6]), points([1.0, 1e-5]), "W promise@dp, points", "C promise"),
    ("certificate", HEADER, points([1.0, 1e-6]), points([0.5, 1e-6], [2.0, 0.0]), "C promise", "W promise"),
    ("certificate", CLAIM, {}, {"sentence": "it is fine"}, "C claim", "C claim"),
    ("certificate", CLAIM, {"conditions": []}, {"conditions": ["at noon"]}, "W conditions", "B conditions"),
    ("certificate", CLAIM, {"conditions": ["at one"]}, {"conditions": ["at two"]}, "C conditions", "C conditions"),
    (
        *("certificate", CLAIM, {"examination": {"pairs": PAIRS}}, {"examination": {"pairs": PAIRS[:1]}}),
        *("W pairs examined,W draws", "B pairs examined,B draws"),
    ),
    ("certificate", HEADER, {}, {"data__n_min": 5}, "W domain@n_min", "B domain"),
    ("certificate", HEADER, {}, {"data__x_bound": 0.5}, "W domain@x_bound", "B domain"),
    ("certificate", HEADER, {}, {"data__y_bound": "nan"}, "W domain@y_bound", "W domain"),
    ("certificate", HEADER, {}, {"data__x_bound": "inf"}, "B domain@x_bound", "W domain"),
    ("certificate", HEADER, {}, {"data__dim": 99}, "C data@dim", "C data"),
    ("certificate", HEADER, budget(draws=1000), budget(draws=100), "W budget@draws", "B budget"),
    ("certificate", HEADER, budget(pairs=4), budget(pairs=8), "B budget@pairs", "W budget"),
    ("certificate", HEADER, {}, budget(max_seconds=10.0), "W budget@max_seconds", "B budget"),
    ("certificate", HEADER, {}, budget(sequential=True), "W budget@sequential", "B budget"),
    ("certificate", HEADER, {}, budget(draws=100), "C configuration@budget.draws", "C configuration"),
    ("certificate", HEADER, {}, {"configuration__mechanism__sigma": 7.0}, "C configuration", "C configuration"),
    ("certificate", HEADER, {}, {"required": "proved"}, "B proof required", "W proof required"),
    ("certificate", HEADER, {}, {"undecided_allowed": True}, "W undecided allowed", "B undecided allowed"),
    ("certificate", HEADER, {}, {"mechanism": "another"}, "C mechanism", "C mechanism"),
    ("certificate", HEADER, {}, {"mechanism_digest": "f" * 64}, "C code of the mechanism", "C code of the mechanism"),
    ("certificate", HEADER, {}, {"configuration_digest": "f" * 64}, "C configuration file", "C configuration file"),
    ("certificate", HEADER, {}, {"artefact": {"name": "m", "sha256": "f" * 64}}, "C artefact", "C artefact"),
    ("certificate", HEADER, {}, {"not_shown": ["pdp"]}, "C not shown@pdp", "C not shown"),
    ("certificate", HEADER, {}, {"profile": "standard"}, "B profile", "W profile"),
    ("certificate", DECIDES, {}, {"margin": 0.25}, "C room left@dp, worst case over all data sets", "C room left"),
    ("certificate", DECIDES, {}, {"margin": -2.0}, "", ""),
    ("certificate", DECIDES, {}, {"outcome": "UNDECIDED"}, "W outcome", "B outcome"),
    ("certificate", DECIDES, {"power": "REPORTS"}, {"power": "REPORTS", "outcome": "FAILS"}, "C outcome", "C outcome"),
    ("certificate", DECIDES, {}, {"power": "REPORTS"}, "W power", "B power"),
    ("certificate", REFUTES, {}, {"outcome": "FAILS"}, "W outcome", "B outcome"),
    ("certificate", REFUTES, {}, {"check": "elsewhere"}, "C gone,C new@dp, elsewhere", "C gone,C new"),
    ("certificate", {"kind": "release", "name": "output"}, {}, {"numbers": [0.123456]}, "C release", "C release"),
    ("certificate", {"kind": "release", "name": "output"}, {}, {"cost": "twice"}, "C cost", "C cost"),
    ("sweep", HOLDS, {}, {"outcome": "FAILS", "ground": ""}, "W outcome", "B outcome"),
    ("sweep", HOLDS, {}, {"outcome": "UNDECIDED", "reason": "BUDGET", "ground": ""}, "W outcome", "B outcome"),
    ("sweep", HOLDS, {}, {"ground": "attested"}, "W outcome", "B outcome"),
    ("sweep", FAILS, {}, {"outcome": "UNDECIDED", "reason": "BUDGET"}, "C outcome", "W outcome"),
    ("sweep", SWEEP, {}, {"axes__epsilon": [0.5]}, "W axis@epsilon", "C axis"),
    ("sweep", SWEEP, {}, {"n_draws": 10}, "W n draws", "B n draws"),
    ("sweep", SWEEP, {}, {"failure_prob_per_cell": 1e-6}, "W failure prob per cell", "B failure prob per cell"),
    ("sweep", SWEEP, {}, {"failure_prob": 0.5}, "", ""),
    ("sweep", SWEEP, {}, {"name": "dark"}, "C grid", "C grid"),
    ("sweep", SWEEP, {}, {"imported": {"mine": {"digest": "a"}}}, "C mechanism@mine.digest", "C mechanism"),
    ("sweep", SWEEP, {"data": "a" * 64}, {"data": "b" * 64}, "C data", "C data"),
    ("calibration", {"kind": "rate"}, {}, {"compatible": False}, "W verdict", "B verdict"),
    ("calibration", {"kind": "exact"}, {}, {"compatible": False}, "W verdict", "B verdict"),
    ("calibration", {"kind": "control"}, {}, {"compatible": True}, "W verdict", "B verdict"),  # not found out any more
    ("calibration", {"kind": "rate"}, {}, {"n_draws": 10}, "W draws", "B draws"),
    ("calibration", {"kind": "rate"}, {}, {"repeats": 900}, "W repetitions", "B repetitions"),
    ("calibration", {"kind": "rate"}, {}, {"any": 120}, "C rate", "C rate"),
    ("calibration", {"kind": "rate"}, {}, {"any": 41}, "", ""),
    ("calibration", {"kind": "mutant"}, {}, {"found": None}, "W mutant", "B mutant"),
    ("calibration", {"kind": "mutant"}, {}, {"smallest_found": 2.0}, "C least found", "C least found"),
    ("calibration", HEADER, {}, {"crashed": ["tails"]}, "W tasks that crashed", "B tasks that crashed"),
    ("calibration", HEADER, {}, {"seed": 2}, "C seed", "C seed"),
]


def differs(old: Rows, new: Rows, expected: str) -> None:
    """Hold the changes against their words, each of which begins one."""
    said = [f"{change.turn.name[0]} {change.what}@{change.where}" for change in difference(old, new).changes]
    wanted = re.split(",(?=[WBC] )", expected) if expected else []
    assert [each[: len(want)] for each, want in zip(said, wanted, strict=True)] == wanted, said


@for_each(("kind", "row", "old", "new", "forth", "back"), TABLE)
def test_what_changed_and_which_way_it_goes(
    records: Mapping[str, Rows],
    kind: str,
    row: dict[str, str],
    old: dict[str, Any],
    new: dict[str, Any],
    forth: str,
    back: str,
) -> None:
    place = next(i for i, each in enumerate(records[kind]) if of(**row)(each))
    before = changed(records[kind], lambda each: each == records[kind][place], **old)
    after = changed(before, lambda each: each == before[place], **new)
    differs(before, after, forth)
    differs(after, before, back)


@for_each("kind", list(FILES))
def test_a_record_differs_from_itself_in_nothing(records: Mapping[str, Rows], kind: str, tmp_path: Path) -> None:
    """In every form in which a record may be given."""
    rows = records[kind]
    found = difference(rows, copy.deepcopy(rows))
    assert (found.changes, found.notes, found.worse, found.exit_code) == ((), (), False, 0)
    assert (found.kind, found.headline(), found.lines()) == (kind, "no change", [])
    assert sum(found.compared.values()) > 0
    file = write_rows(rows, tmp_path / FILES[kind])
    forms: list[Any] = [file, str(file), file.parent]
    forms += [read(file)] if kind == "run" else [read_calibration(file)] if kind == "calibration" else []
    assert all(difference(form, rows) == found for form in forms)


@given(st.data())
def test_whatever_is_dropped_is_for_the_worse_and_what_is_added_is_not(
    records: Mapping[str, Rows], data: st.DataObject
) -> None:
    rows = records[data.draw(st.sampled_from(list(FILES)))]
    header, *others = rows
    some = [header, *data.draw(st.permutations(others).map(lambda mixed: mixed[: len(mixed) // 2]))]
    assert difference(some, copy.deepcopy(some)).changes == ()
    place = data.draw(st.sampled_from([i for i, row in enumerate(rows) if row["kind"] in EXAMINED]))
    left = [*rows[:place], *rows[place + 1 :]]
    assert difference(rows, left).worse
    if rows[place]["kind"] in ("case", "check", "cell", "rate"):
        assert difference([*rows, rows[place]], rows).worse  # a row that comes twice counts twice
    added = difference(left, rows)
    assert not added.worse
    assert {change.what for change in added.changes} == {"new"}


def test_an_id_that_is_gone_is_one_change(run: Rows) -> None:
    new = without(run, lambda row: row["kind"] != "header" and row["id"].startswith("RW21-T17"))
    differs(run, new, "W gone@RW21-T17")
    differs(new, run, "C new@RW21-T17")
    for case, words_ in (("large", "the case is gone (holds)"), ("mutant: 0.55", "the mutant is gone (fails)")):
        (change,) = difference(run, without(run, of("case", case=case))).changes
        assert change.old == words_


def test_a_display_and_its_formula(run: Rows) -> None:
    new = copy.deepcopy(run)
    parts = next(row for row in new if row["kind"] == "statement" and row["id"] == "RW21-T17")["parts"]
    parts[0] |= {"corrected": {"typst": "p", "text": "p <= 0.75"}, "what_went_wrong": "much"}
    differs(run, new, "C formula@RW21-T17.1 corrected,C text@RW21-T17.1, what went wrong")
    parts[:] = [part for part in parts if not part["id"].endswith("#half")]
    new = without(new, lambda row: "RW21-T17#half" in (row.get("part"), row.get("id")))
    assert ("gone", "RW21-T17#half") in {(each.what, each.where) for each in difference(run, new).of(Turn.WORSE)}


def test_quick_against_standard_and_another_seed(run: Rows, tmp_path: Path) -> None:
    quick, other = run_rows(tmp_path, "quick"), run_rows(tmp_path, "standard", seed=4)
    assert {change.what for change in difference(quick, run).of(Turn.BETTER)} == {"profile", "draws"}
    assert {change.what for change in difference(run, quick).of(Turn.WORSE)} == {"profile", "gone", "draws"}
    found = difference(run, other)
    differs(run, other, "C seed")
    assert found.notes == ("numbers are not compared: the seeds differ (3, 4), and with them what a case is about",)
    assert not {"proved", "sampled", "equal"} & found.compared.keys()


def test_numbers_of_other_data_and_of_another_claim_are_not_compared(certificate: Rows) -> None:
    moved = changed(certificate, of(**DECIDES), exact__low=0.5, exact__high=0.6)
    differs(certificate, moved, "C number")
    other = changed(moved, of("header"), data__digest="f" * 64)
    differs(certificate, other, "C data")
    assert difference(certificate, other).notes == ("numbers are not compared: the data differ",)
    claimed = changed(moved, of("header"), **claims())
    notes = difference(certificate, claimed).notes
    assert notes == ("numbers of dp are not compared: it claims something else",)
    assert "number" not in {change.what for change in difference(certificate, claimed).changes}


def test_another_platform_moves_last_digits_and_nothing_more(run: Rows) -> None:
    old, new = (changed(run, of(**NOT_QUICK), **ends(low, low + 1e-12)) for low in (0.25, 0.25 + 2e-12))
    differs(old, new, "C number")
    there = changed(new, of("header"), platform="abacus")
    differs(old, there, "C platform")
    words_ = "another platform or other versions: numbers are compared to 1e-9, and to 1e-12 near 0"
    assert difference(old, there).notes == (words_,)
    differs(old, changed(there, of(**NOT_QUICK), **ends(0.27, 0.28)), "C number,C platform")


@given(*[st.floats(-1e3, 1e3).map(lambda value: round(value, 3))] * 4)
def test_intervals_that_share_no_value_have_moved(
    records: Mapping[str, Rows], a: float, b: float, c: float, d: float
) -> None:
    """The failure probability that is said is the sum of both."""
    (low, high), (low_now, high_now) = sorted((a, b)), sorted((c, d))
    row = next(row for row in records["run"] if of(**LARGE)(row))
    old, new = (
        [records["run"][0], row | ends(*each, "sampled", spent)]
        for each, spent in (((low, high), 1e-7), ((low_now, high_now), 2e-7))
    )
    found = difference(old, new).changes
    assert [change.what for change in found] == ["number"] * (max(low, low_now) > min(high, high_now))
    assert all(change.line().endswith("(both intervals hold but for 3e-07)") for change in found)


def test_a_smaller_grid_is_worse_and_a_users_own_data_are_confidential(records: Mapping[str, Rows]) -> None:
    sweep = records["sweep"]
    smaller = without(sweep, lambda row: row.get("cell", {}).get("epsilon") == 4.0)
    assert [change.what for change in difference(sweep, smaller).of(Turn.WORSE)] == ["gone"] * 12
    assert not difference(smaller, sweep).worse
    own = changed(sweep, of("sweep"), data="a" * 64)
    assert (difference(own, own).confidential, difference(sweep, sweep).confidential) == (True, False)


def test_a_strength_of_a_mutant_and_rates_of_two_seeds(records: Mapping[str, Rows]) -> None:
    rows = records["calibration"]
    grades = next(row for row in rows if row["kind"] == "mutant")["grades"]
    differs(rows, changed(rows, of("mutant"), grades=grades[1:]), "W gone@tails, half the noise, 0.1")
    differs(rows, changed(rows, of("mutant"), grades=[grades[0] | {"refuted": 5}, grades[1]]), "C rate")
    found = difference(rows, changed(changed(rows, of("header"), seed=2), of("rate"), any=120))
    assert ([change.what for change in found.changes], found.notes) == (["seed", "rate"], ())
    assert 0 < found.changes[1].failure_prob < 1e-3


def test_what_was_spent_of_the_failure_probability(certificate: Rows) -> None:
    """Records of old do not say it; that a record says it no longer is for the worse."""
    old = without(certificate, of("budget"))
    leaf = {"place": ["dp", "look"], "alpha": 4e-5, "decided": "a look", "spent": True}
    new = [*old, {"kind": "budget", "failure_prob": 1e-4, "leaves": [leaf, leaf | {"spent": False, "decided": ""}]}]
    assert difference(old, new).lines() == ["failure probability spent  not said -> 4e-05"]
    differs(old, new, "C failure probability spent")
    differs(new, old, "W failure probability spent")


def test_another_draw_is_said_without_its_numbers(certificate: Rows) -> None:
    new = changed(certificate, of("release", name="output"), numbers=[0.123456, 0.5])
    assert difference(certificate, new).lines() == ["release  output: one draw -> another draw"]


def test_no_change_alone_is_said_of_equal_records(run: Rows) -> None:
    found = difference(run, changed(run, of("header"), slots=run[0]["slots"] + 1))
    assert found.changes == ()
    assert found.notes == ("1 line differs, in numbers whose intervals overlap or in what is not compared",)


def test_lines_say_the_worst_first_and_cut_long_values_around_what_differs(run: Rows, certificate: Rows) -> None:
    found = difference(run, changed(run, of("header"), seed=4, profile="quick", sources="f" * 64))
    lines = found.lines()
    assert lines[:2] == ["profile  standard -> quick", "seed  3 -> 4"]
    assert lines[2].endswith(" -> ffffffffffff")
    assert found.lines(1) == [lines[0], "and 2 more"]
    assert found.summary().splitlines()[:2] == ["run: 3 changes: 1 for the worse", f"  {lines[0]}"]
    assert repr(found).startswith("Difference(kind=run, worse=1, changed=2, better=0")
    assert isinstance(found, Difference)
    sentence = next(row["sentence"] for row in certificate if row["kind"] == "claim")
    new = changed(certificate, of("claim"), sentence=sentence.replace("(4,", "(5,"))
    (change,) = difference(certificate, new).changes
    start = "claim  dp: …its private report is (4, 1e-5)-differentially p… -> "
    assert change.line() == start + "…its private report is (5, 1e-5)-differentially p…"
    assert change.row()["old"] == sentence
    assert len(difference(certificate, changed(certificate, of("claim"), sentence="x" * 999)).lines()[0]) < 400
