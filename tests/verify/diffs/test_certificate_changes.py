"""Planted changes of a certificate: verdicts and their grounds, claims, what was examined, the deployment."""

from __future__ import annotations

from typing import Any

import pytest
from rows import for_each
from toys.compared import Rows, changed, of, without

from verify import difference
from verify.diffs.changes import RecordChange, Turn

HEADER, CLAIM = of("header"), of("claim")
DECIDES = of("check", power="DECIDES")
SAMPLED = {"value": 0.1, "low": 0.0, "high": 0.2, "failure_prob": 1e-6, "n_draws": 1, "method": "a count"}


def only(old: Rows, new: Rows) -> RecordChange:
    """Return the one change that there is."""
    found = difference(old, new).changes
    assert len(found) == 1, found
    return found[0]


def stands(rows: Rows, verdict: str, ground: str) -> Rows:
    """Return the rows with this verdict on the claim, and over all claims."""
    words = verdict + (f" ({ground})" if ground else "")
    both = changed(rows, CLAIM, verdict=verdict, ground=ground, words=words)
    return changed(both, HEADER, verdict=verdict, words=words)


@pytest.mark.parametrize(
    ("old", "new", "turn"),
    [
        (("PASS", "proved"), ("FAIL", ""), Turn.WORSE),
        (("PASS", "proved"), ("UNDECIDED", "no violation found"), Turn.WORSE),
        (("PASS", "proved"), ("PASS", "attested"), Turn.WORSE),
        (("PASS", "attested"), ("PASS", "proved"), Turn.BETTER),
        (("UNDECIDED", "no violation found"), ("UNDECIDED", "not examined"), Turn.WORSE),
        (("UNDECIDED", "no violation found"), ("FAIL", ""), Turn.WORSE),
        (("UNDECIDED", "no violation found"), ("PASS", "attested"), Turn.BETTER),
        (("FAIL", ""), ("UNDECIDED", "no violation found"), Turn.CHANGED),
        (("FAIL", ""), ("PASS", "proved"), Turn.BETTER),
    ],
)
def test_a_verdict_and_what_it_rests_on(
    certificate: Rows, old: tuple[str, str], new: tuple[str, str], turn: Turn
) -> None:
    found = difference(stands(certificate, *old), stands(certificate, *new)).changes
    assert [(change.what, change.where, change.turn) for change in found] == [
        ("verdict", "", turn),
        ("verdict", "dp", turn),
    ]


def test_a_claim_that_is_gone(certificate: Rows) -> None:
    change = only(certificate, without(certificate, CLAIM))
    assert (change.what, change.where, change.turn) == ("gone", "dp", Turn.WORSE)
    assert change.old == "the claim is gone (PASS (proved))"


@for_each(
    ("name", "value", "turn"),
    [("epsilon", 5.0, Turn.WORSE), ("epsilon", 3.0, Turn.BETTER), ("delta", 1e-4, Turn.WORSE)],
)
def test_a_larger_epsilon_promises_less(certificate: Rows, name: str, value: float, turn: Turn) -> None:
    configuration = dict(certificate[0]["configuration"])
    configuration["claims"] = [configuration["claims"][0] | {name: value}]
    found = difference(certificate, changed(certificate, HEADER, configuration=configuration))
    assert [(change.what, change.where, change.turn) for change in found.changes] == [("promise", f"dp, {name}", turn)]
    assert found.notes == ("numbers of dp are not compared: it claims something else",)


PDP = {"type": "pdp", "name": "dp", "epsilon": 1.0, "delta": 1e-6, "scope": "records"}
TABLE = {"type": "dp", "name": "dp", "relation": "add-remove", "group": 1, "profile": "table"}


@for_each(
    ("old", "new", "turns"),
    [
        ({}, {"type": "pdp"}, {"dp, type": Turn.WORSE}),
        ({}, {"profile": "zcdp"}, {"dp, profile": Turn.WORSE}),
        ({}, {"relation": "replace", "epsilon": 1.0}, {"dp, relation": Turn.WORSE}),
        ({"group": 2}, {"group": 1}, {"dp, group": Turn.WORSE}),
        ({"group": 1}, {"group": 2}, {"dp, group": Turn.BETTER}),
        (PDP, {"scope": "target"}, {"dp, scope": Turn.WORSE}),
        (PDP, {"scope": "everyone"}, {"dp, scope": Turn.BETTER}),
        ({"type": "utility", "at_least": 0.7}, {"at_least": 0.6}, {"dp, at_least": Turn.WORSE}),
        ({"type": "utility", "at_most": 0.7}, {"at_most": 0.8}, {"dp, at_most": Turn.WORSE}),
        ({"type": "utility", "metric": "accuracy"}, {"metric": "mean squared error"}, {"dp, metric": Turn.WORSE}),
        ({"type": "utility", "probability": 0.9}, {"probability": 0.8}, {"dp, probability": Turn.WORSE}),
        ({"type": "report-coverage", "level": 1e-5}, {"level": 1e-3}, {"dp, level": Turn.WORSE}),
        (TABLE | {"points": [[1.0, 1e-6]]}, {"points": [[1.0, 1e-5]]}, {"dp, points": Turn.WORSE}),
        (TABLE | {"points": [[1.0, 1e-6]]}, {"points": [[0.5, 1e-6], [2.0, 0.0]]}, {"dp, points": Turn.CHANGED}),
    ],
)
def test_a_weaker_promise_under_the_same_name(
    certificate: Rows, old: dict[str, Any], new: dict[str, Any], turns: dict[str, Turn]
) -> None:
    def claimed(claim: dict[str, Any]) -> Rows:
        return changed(certificate, HEADER, configuration=certificate[0]["configuration"] | {"claims": [claim]})

    first = certificate[0]["configuration"]["claims"][0] | old
    found = difference(claimed(first), claimed(first | new)).changes
    assert {change.where: change.turn for change in found if change.what == "promise"} == turns


def test_another_sentence_is_said(certificate: Rows) -> None:
    assert only(certificate, changed(certificate, CLAIM, sentence="it is fine")).what == "claim"


def test_a_further_condition_is_for_the_worse(certificate: Rows) -> None:
    held = [changed(certificate, CLAIM, conditions=words) for words in ([], ["at full moon"], ["at noon"])]
    assert only(held[0], held[1]).turn is Turn.WORSE
    assert only(held[0], held[1]).new == "at full moon"
    assert only(held[1], held[2]).turn is Turn.CHANGED
    assert only(held[2], held[0]).turn is Turn.BETTER


@for_each(
    ("name", "value", "turn"),
    [
        ("n_min", 5, Turn.WORSE),
        ("x_bound", 0.5, Turn.WORSE),
        ("x_bound", "inf", Turn.BETTER),
        ("dim", 99, Turn.CHANGED),
    ],
)
def test_a_smaller_public_domain_is_for_the_worse(certificate: Rows, name: str, value: Any, turn: Turn) -> None:
    data = certificate[0]["data"]
    change = only(changed(certificate, HEADER, data=data), changed(certificate, HEADER, data=data | {name: value}))
    assert (change.what, change.where, change.turn) == ("data" if name == "dim" else "domain", name, turn)


@for_each(
    ("section", "name", "old", "new", "turn"),
    [
        ("budget", "draws", 1000, 100, Turn.WORSE),
        ("budget", "pairs", 4, 8, Turn.BETTER),
        ("budget", "max_seconds", None, 10.0, Turn.WORSE),
        ("budget", "max_draws", 100, None, Turn.BETTER),
        ("mechanism", "sigma", 8.0, 7.0, Turn.CHANGED),
        ("data", "rows", "clip", "refuse", Turn.CHANGED),
    ],
)
def test_the_configuration(certificate: Rows, section: str, name: str, old: Any, new: Any, turn: Turn) -> None:
    def configured(value: Any) -> Rows:
        inside = dict(certificate[0]["configuration"])
        left = {key: each for key, each in inside[section].items() if key != name}
        return changed(
            certificate, HEADER, configuration=inside | {section: left | ({} if value is None else {name: value})}
        )

    change = only(configured(old), configured(new))
    assert (change.turn, name in change.where) == (turn, True)
    two = ("the configurations differ: these are verdicts on two deployments",)
    assert difference(configured(old), configured(new)).notes == (() if section == "budget" else two)


@for_each(
    ("values", "what", "turn"),
    [
        ({"required": "proved"}, "proof required", Turn.BETTER),
        ({"undecided_allowed": True}, "undecided allowed", Turn.WORSE),
        ({"mechanism": "another"}, "mechanism", Turn.CHANGED),
        ({"mechanism_digest": "f" * 64}, "code of the mechanism", Turn.CHANGED),
        ({"configuration_digest": "f" * 64}, "configuration file", Turn.CHANGED),
        ({"artefact": {"name": "model.onnx", "sha256": "f" * 64}}, "artefact", Turn.CHANGED),
        ({"data__digest": "f" * 64}, "data", Turn.CHANGED),
        ({"not_shown": ["pdp"]}, "not shown", Turn.CHANGED),
        ({"profile": "standard"}, "profile", Turn.BETTER),
        ({"failure_prob": 1e-2}, "failure prob", Turn.WORSE),
    ],
)
def test_the_deployment(certificate: Rows, values: dict[str, Any], what: str, turn: Turn) -> None:
    change = only(certificate, changed(certificate, HEADER, **values))
    assert (change.what, change.turn) == (what, turn)


def test_numbers_of_other_data_are_not_compared(certificate: Rows) -> None:
    ends = {"exact__low": 0.5, "exact__high": 0.6}
    assert only(certificate, changed(certificate, DECIDES, **ends)).what == "number"
    other = changed(changed(certificate, DECIDES, **ends), HEADER, data__digest="f" * 64)
    assert only(certificate, other).what == "data"
    assert difference(certificate, other).notes == ("numbers are not compared: the data differ",)


def test_less_room_under_a_proved_bound_is_said(certificate: Rows) -> None:
    """Two bounds from 0 always overlap: what is left under the allowed one tells them apart."""
    change = only(certificate, changed(certificate, DECIDES, margin=0.25))
    assert (change.what, change.turn, change.new) == ("room left", Turn.CHANGED, "0.25 of what is allowed")
    assert change.where == "dp, worst case over all data sets"


def test_checks_that_are_gone_and_others_in_their_place(certificate: Rows) -> None:
    searches = of("check", power="REFUTES")
    name = next(row["check"] for row in certificate if searches(row))
    fewer = only(certificate, without(certificate, of("check", check=name)))
    assert (fewer.what, fewer.turn) == ("gone", Turn.WORSE)
    other = difference(certificate, changed(certificate, searches, check="simulated: elsewhere"))
    assert [(change.what, change.turn) for change in other.changes] == [("gone", Turn.CHANGED), ("new", Turn.CHANGED)]


@for_each(
    ("power", "outcome", "turn"),
    [
        ("DECIDES", "FAILS", Turn.WORSE),
        ("DECIDES", "UNDECIDED", Turn.WORSE),
        ("REFUTES", "FAILS", Turn.WORSE),
        ("REPORTS", "FAILS", Turn.CHANGED),
    ],
)
def test_an_outcome_of_a_check(certificate: Rows, power: str, outcome: str, turn: Turn) -> None:
    old = changed(certificate, DECIDES, power=power)
    change = only(old, changed(old, of("check", power=power), outcome=outcome))
    assert (change.what, change.turn) == ("outcome", turn)


def test_fewer_pairs_or_draws_examined_are_worse(certificate: Rows) -> None:
    pairs = [{"name": name, "draws": 100, "law": "compared"} for name in ("a", "b")]
    old = changed(certificate, CLAIM, examination={"pairs": pairs})
    new = changed(certificate, CLAIM, examination={"pairs": pairs[:1]})
    assert {(change.what, change.turn) for change in difference(old, new).changes} == {
        ("pairs examined", Turn.WORSE),
        ("draws", Turn.WORSE),
    }
    assert not difference(new, old).worse
    assert difference(old, certificate).worse


def test_another_draw_is_said_without_its_numbers(certificate: Rows) -> None:
    change = only(certificate, changed(certificate, of("release", name="output"), numbers=[0.123456, 0.5]))
    assert (change.what, change.old, change.new) == ("release", "one draw", "another draw")
    assert "0.123" not in change.line()
    cost = only(certificate, changed(certificate, of("release", name="output"), cost="twice"))
    assert cost.what == "cost"
    beyond = changed(certificate, DECIDES, margin=-2.0)
    assert not [change for change in difference(certificate, beyond).changes if change.what == "room left"]


def test_a_check_that_can_do_less_is_for_the_worse(certificate: Rows) -> None:
    weaker = changed(certificate, DECIDES, power="REPORTS")
    assert (only(certificate, weaker).what, only(certificate, weaker).turn) == ("power", Turn.WORSE)
    assert only(weaker, certificate).turn is Turn.BETTER


def test_fewer_draws_of_a_check_are_for_the_worse(certificate: Rows) -> None:
    seen = next(row for row in certificate if row["kind"] == "check")
    chosen = of("check", check=seen["check"])
    many, few = (changed(certificate, chosen, sampled=SAMPLED | {"n_draws": n}) for n in (2000, 100))
    assert (only(many, few).what, only(many, few).turn) == ("draws", Turn.WORSE)
    failed = changed(few, chosen, outcome="FAILS")  # a refutation stops as soon as it is sure
    assert [change.what for change in difference(many, failed).changes] == ["outcome"]


def test_what_was_spent_of_the_failure_probability_is_compared_where_both_say_it(certificate: Rows) -> None:
    """Records of old do not say it; that a record says it no longer is for the worse."""
    old = without(certificate, of("budget"))
    leaf = {"place": ["dp", "look"], "alpha": 4e-5, "decided": "a look", "spent": True}
    spent = [*old, {"kind": "budget", "failure_prob": 1e-4, "leaves": [leaf, leaf | {"spent": False, "decided": ""}]}]
    more = changed(spent, of("budget"), leaves=[leaf, leaf | {"place": ["dp", "confirmation"]}])
    assert difference(old, old).changes == ()
    assert difference(spent, spent).changes == ()
    what = "failure probability spent"
    assert only(old, spent) == RecordChange(Turn.CHANGED, what, "", "not said", "4e-05")
    assert only(spent, old) == RecordChange(Turn.WORSE, what, "", "4e-05", "not said")
    assert only(spent, more) == RecordChange(Turn.CHANGED, what, "", "4e-05", "8e-05")
