"""Planted changes of a run: each is found, and goes the way that it goes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from rows import for_each
from toys.compared import Rows, changed, of, run_rows, without

from verify import difference
from verify.diffs.changes import RecordChange, Turn

FALSE = of("verdict", id="RW21-T17")
TRUE = of("verdict", id="W19-T4.1")


def only(old: Rows, new: Rows) -> RecordChange:
    """Return the one change that there is."""
    found = difference(old, new).changes
    assert len(found) == 1, found
    return found[0]


def ruled(rows: Rows, form: str, verdict: str, reason: str = "NONE") -> Rows:
    """Return the rows with another verdict on the false toy, ``expected`` as it was."""
    return changed(rows, FALSE, **{f"{form}__verdict": verdict, f"{form}__reason": reason})


@for_each(
    ("form", "old", "new", "turn"),
    [
        ("corrected", "SUPPORTED", "UNDECIDED", Turn.WORSE),
        ("corrected", "SUPPORTED", "REFUTED", Turn.WORSE),
        ("corrected", "SUPPORTED", "TEXT_UNCLEAR", Turn.WORSE),
        ("corrected", "UNDECIDED", "SUPPORTED", Turn.BETTER),
        ("corrected", "UNDECIDED", "REFUTED", Turn.WORSE),
        ("corrected", "REFUTED", "UNDECIDED", Turn.CHANGED),
        ("printed", "REFUTED", "SUPPORTED", Turn.WORSE),  # the ledger says REFUTED
        ("printed", "REFUTED", "TEXT_UNCLEAR", Turn.WORSE),
        ("printed", "REFUTED", "UNDECIDED", Turn.WORSE),
        ("printed", "UNDECIDED", "REFUTED", Turn.BETTER),
        ("printed", "UNDECIDED", "SUPPORTED", Turn.WORSE),
        ("printed", "SUPPORTED", "REFUTED", Turn.CHANGED),
        ("printed", "SUPPORTED", "TEXT_UNCLEAR", Turn.CHANGED),
        ("printed", "SUPPORTED", "UNDECIDED", Turn.WORSE),
    ],
)
def test_a_verdict_that_changes(run: Rows, form: str, old: str, new: str, turn: Turn) -> None:
    change = only(ruled(run, form, old), ruled(run, form, new))
    assert (change.what, change.turn) == ("verdict", turn)
    assert change.where == f"RW21-T17 {'as printed' if form == 'printed' else form}"
    assert (change.old, change.new) == (old, new)


def test_a_verdict_that_the_ledger_expects_now_is_no_change_for_the_worse(run: Rows) -> None:
    new = changed(ruled(run, "printed", "TEXT_UNCLEAR"), FALSE, expected__printed="TEXT_UNCLEAR")
    assert only(run, new).turn is Turn.CHANGED


@for_each(
    ("old", "new", "turn"),
    [("BUDGET", "ERROR", Turn.WORSE), ("INCONSISTENT", "BUDGET", Turn.BETTER), ("BUDGET", "POWER", Turn.CHANGED)],
)
def test_a_reason_that_is_a_defect_is_worse(run: Rows, old: str, new: str, turn: Turn) -> None:
    for form in ("printed", "corrected"):
        change = only(ruled(run, form, "UNDECIDED", old), ruled(run, form, "UNDECIDED", new))
        assert (change.what, change.turn) == ("verdict", turn)


def test_a_reading_is_judged_as_what_is_printed(run: Rows) -> None:
    ruling = {"verdict": "REFUTED", "reason": "NONE", "outcomes": {}, "worst_case": "", "worst_margin": "nan"}
    other = ruling | {"verdict": "SUPPORTED"}
    old = changed(
        run, FALSE, readings={"a": {"printed": ruling, "corrected": other}}, expected__readings={"a": "REFUTED"}
    )
    new = changed(old, FALSE, readings={"a": {"printed": other, "corrected": other}})
    assert (only(old, new).where, only(old, new).turn) == ("RW21-T17 reading a", Turn.WORSE)
    new = changed(old, FALSE, readings={"a": {"printed": ruling, "corrected": ruling}})
    assert (only(old, new).where, only(old, new).turn) == ("RW21-T17 reading a corrected", Turn.WORSE)
    none = changed(old, FALSE, readings={})
    assert [(change.what, change.where, change.turn) for change in difference(old, none).changes] == [
        ("gone", "RW21-T17 reading a", Turn.WORSE),
        ("gone", "RW21-T17 reading a corrected", Turn.WORSE),
    ]
    assert not difference(none, old).worse


def test_a_form_that_is_gone(run: Rows) -> None:
    change = only(run, changed(run, FALSE, corrected=None))
    assert (change.what, change.where, change.turn) == ("gone", "RW21-T17 corrected", Turn.WORSE)


def test_what_became_unexpected_without_another_verdict(run: Rows) -> None:
    new = changed(run, TRUE, unexpected=["as printed: expected REFUTED, got SUPPORTED"])
    assert (only(run, new).what, only(run, new).turn) == ("expectation", Turn.WORSE)
    assert only(new, run).turn is Turn.BETTER


def test_an_id_that_is_gone_is_one_change(run: Rows) -> None:
    new = without(run, lambda row: row["kind"] != "header" and row["id"].startswith("RW21-T17"))
    assert (only(run, new).what, only(run, new).where, only(run, new).turn) == ("gone", "RW21-T17", Turn.WORSE)
    assert (only(new, run).what, only(new, run).turn) == ("new", Turn.CHANGED)


def test_a_display_that_is_gone(run: Rows) -> None:
    new = copy.deepcopy(run)
    statement = next(row for row in new if row["kind"] == "statement" and row["id"] == "RW21-T17")
    statement["parts"] = [part for part in statement["parts"] if not part["id"].endswith("#half")]
    new = without(new, lambda row: row.get("part") == "RW21-T17#half" or row.get("id") == "RW21-T17#half")
    found = difference(run, new)
    assert found.worse
    assert ("gone", "RW21-T17#half") in {(change.what, change.where) for change in found.changes}


def test_a_formula_a_domain_and_words(run: Rows) -> None:
    def part(**values: Any) -> Rows:
        new = copy.deepcopy(run)
        statement = next(row for row in new if row["kind"] == "statement" and row["id"] == "RW21-T17")
        statement["parts"][0] |= values
        return new

    change = only(run, part(corrected={"typst": "p", "text": "p <= 0.75"}))
    assert (change.what, change.where, change.old) == ("formula", "RW21-T17.1 corrected", "p <= 0.8")
    assert (change.new, change.turn) == ("p <= 0.75", Turn.CHANGED)
    assert only(run, part(what_went_wrong="much")).where == "RW21-T17.1, what went wrong"
    assert only(run, changed(run, of("statement"), domain="any coin")).what == "domain"
    assert only(run, changed(run, of("statement"), title="Another")).what == "text"


@for_each(
    ("case", "outcome", "reason", "what", "turn"),
    [
        ("mutant: 0.55", "HOLDS", "NONE", "mutant", Turn.WORSE),
        ("mutant: 0.55", "UNDECIDED", "BUDGET", "mutant", Turn.WORSE),
        ("corrected", "UNDECIDED", "BUDGET", "outcome", Turn.WORSE),
        ("corrected", "FAILS", "NONE", "outcome", Turn.WORSE),
        ("corrected", "OUT_OF_DOMAIN", "NONE", "outcome", Turn.WORSE),
        ("printed", "HOLDS", "NONE", "outcome", Turn.CHANGED),
        ("printed", "UNDECIDED", "UNCONFIRMED", "outcome", Turn.WORSE),
    ],
)
def test_an_outcome_that_changes(run: Rows, case: str, outcome: str, reason: str, what: str, turn: Turn) -> None:
    new = changed(run, of("case", id="RW21-T17", case=case), outcome=outcome, reason=reason)
    assert (only(run, new).what, only(run, new).turn) == (what, turn)
    assert case in only(run, new).where


def test_a_mutant_that_is_caught_now_is_for_the_better(run: Rows) -> None:
    old = changed(run, of("case", case="mutant: 0.55"), outcome="UNDECIDED", reason="BUDGET")
    assert (only(old, run).what, only(old, run).turn, only(old, run).new) == ("mutant", Turn.BETTER, "caught")
    held = changed(run, of("case", case="mutant: 0.55"), outcome="HOLDS")
    assert only(old, held).turn is Turn.WORSE


def test_a_case_that_is_gone(run: Rows) -> None:
    for case, words in (("large", "the case is gone (holds)"), ("mutant: 0.55", "the mutant is gone (fails)")):
        change = only(run, without(run, of("case", case=case)))
        assert (change.what, change.turn, change.old) == ("gone", Turn.WORSE, words)


def test_fewer_draws_are_worse_unless_the_number_is_proved_now(run: Rows) -> None:
    sampled = of("case", case="large")
    fewer = only(run, changed(run, sampled, n_draws=10))
    assert (fewer.what, fewer.turn, fewer.old, fewer.new) == ("draws", Turn.WORSE, "8000", "10")
    assert only(changed(run, sampled, n_draws=10), run).turn is Turn.BETTER
    proved = next(row for row in run if row["kind"] == "case" and row["exact"])["exact"]
    assert not difference(run, changed(run, sampled, n_draws=0, exact=proved)).worse


def test_a_case_that_asks_another_question_has_no_number_that_moved(run: Rows) -> None:
    new = changed(run, of("case", case="large"), params={"p": 0.9}, sampled__low=0.85, sampled__high=0.95)
    assert (only(run, new).what, only(run, new).new) == ("case", "p = 0.9")
    asked = changed(run, of("case", case="large"), claim__quantity="tails", sampled__low=0.85, sampled__high=0.95)
    assert (only(run, asked).what, only(run, asked).where) == ("claim", "RW21-T17 large (printed), quantity")
    allowed = changed(run, of("case", case="large"), claim__high=0.91)
    assert (only(run, allowed).what, only(run, allowed).old, only(run, allowed).new) == ("claim", "0.9", "0.91")


def test_quick_against_standard(tmp_path: Path) -> None:
    quick, standard = (run_rows(tmp_path, profile) for profile in ("quick", "standard"))
    grown, shrunk = difference(quick, standard), difference(standard, quick)
    assert not grown.worse
    assert {change.what for change in grown.of(Turn.BETTER)} == {"profile", "draws"}
    assert {change.what for change in shrunk.of(Turn.WORSE)} == {"profile", "gone", "draws"}


def test_another_seed_is_no_false_alarm(run: Rows, tmp_path: Path) -> None:
    found = difference(run, run_rows(tmp_path, "standard", seed=4))
    assert [change.what for change in found.changes] == ["seed"]
    assert found.notes == ("numbers are not compared: the seeds differ (3, 4), and with them what a case is about",)
    assert not {"proved", "sampled", "equal"} & found.compared.keys()


def test_a_figure_that_stopped(run: Rows) -> None:
    new = changed(run, of("figure"), figure=None, error={"type": "ValueError", "message": "no"})
    assert (only(run, new).what, only(run, new).turn) == ("figure", Turn.WORSE)
    assert only(run, without(run, of("figure", number=1))).turn is Turn.CHANGED


def test_a_paper_that_one_record_alone_names_is_one_change(run: Rows) -> None:
    first, *others = run[0]["papers"]
    papers = {name: run[0]["papers"][name] for name in others}
    change = only(run, changed(run, of("header"), papers=papers))
    assert (change.what, change.where, change.turn) == ("gone", first, Turn.CHANGED)
    assert only(changed(run, of("header"), papers=papers), run).new == "the paper is new"
    other = changed(run, of("header"), papers=run[0]["papers"] | {first: run[0]["papers"][first] | {"year": 1900}})
    assert only(run, other).where == f"{first}.year"


@for_each("witness", ["exact", "sampled"])
def test_a_witness_that_is_gone_is_for_the_worse(run: Rows, witness: str) -> None:
    seen = next(row for row in run if row["kind"] == "case" and row["exact"] is not None and row["claim"] is not None)
    both = changed(run, of("case", case=seen["case"]), sampled=seen["exact"])
    lost = changed(both, of("case", case=seen["case"]), **{witness: None})
    what = {"exact": "proved number", "sampled": "sampled number"}[witness]
    assert (only(both, lost).what, only(both, lost).turn, only(both, lost).new) == (what, Turn.WORSE, "none")
    assert only(lost, both).turn is Turn.BETTER
    assert difference(both, changed(lost, of("header"), seed=99)).worse is False  # another seed, other cases


def test_a_printed_case_that_left_the_domain_is_decided_no_more(run: Rows) -> None:
    case = next(row["case"] for row in run if row["kind"] == "case" and row["standing"] == "PRINTED")
    fails, outside = (changed(run, of("case", case=case), outcome=word) for word in ("FAILS", "OUT_OF_DOMAIN"))
    assert only(fails, outside).turn is Turn.WORSE
    assert only(outside, fails).turn is Turn.BETTER


def test_a_cruder_mutant_under_the_same_name_is_for_the_worse(run: Rows) -> None:
    case = next(row["case"] for row in run if row["kind"] == "case" and row["standing"] == "MUTANT")
    fine, crude = (changed(run, of("case", case=case), severity=size) for size in (0.02, 0.5))
    assert (only(fine, crude).what, only(fine, crude).turn) == ("severity", Turn.WORSE)
    assert only(crude, fine).turn is Turn.BETTER


def test_no_change_alone_is_said_of_equal_records(run: Rows) -> None:
    assert difference(run, run).notes == ()
    found = difference(run, changed(run, of("header"), slots=run[0]["slots"] + 1))
    assert found.changes == ()
    assert found.notes == ("1 line differs, in numbers whose intervals overlap or in what is not compared",)
