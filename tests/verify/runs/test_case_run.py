"""One case: first look, confirmation, and everything a check can do wrong."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import for_each
from toys import load_toy

from audits import Budget, Estimate, StreamKey
from verify.cli import invoke
from verify.engine import versions
from verify.engine.record import read
from verify.engine.worker import RunSettings
from verify.kernel.rows import dumps
from verify.kernel.shares import case_budgets, whole
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement
from verify.messages.errors import UserError
from verify.papers import registry
from verify.runs.case_run import compare_rows, decide_case, decisive, figure_rows

SETTINGS = RunSettings(seed=3, profile="quick", failure_prob=1e-4)
CLAIM = Claim("a number", 0.0, 1.0, 1.0)
DRAWS = (10, 20, 30)


def sampled(low: float, high: float, budget: Budget) -> Estimate:
    return Estimate(low, low, high, budget.failure_prob, budget.n_draws, "made up")


def statement_of(check: Callable[[Case, Budget], Evidence], draws: tuple[int, int, int] = DRAWS) -> Statement:
    case = Case("W19-T4.1", "case", Standing.PRINTED, {"p": 1.0}, draws=draws)
    part = Part("W19-T4.1", "part", Formula("x"))
    return Statement("W19-T4.1", "wang2019", "theorem", "t", "l", "d", (part,), (case,), check)


def first_row(statement: Statement, profile: str = "quick") -> dict[str, Any]:
    budgets = case_budgets(whole(1e-4, StreamKey(3)), statement)
    return decide_case(statement, statement.cases[0], profile, budgets[statement.cases[0].name])


def decide(check: Callable[[Case, Budget], Evidence], draws: tuple[int, int, int] = DRAWS) -> dict[str, Any]:
    statement = statement_of(check, draws)
    row = first_row(statement)
    json.loads(dumps(row), parse_constant=pytest.fail)
    return row


def test_sampled_failure_is_confirmed_on_its_own_stream_and_share() -> None:
    budgets: list[Budget] = []

    def check(case: Case, budget: Budget) -> Evidence:
        budgets.append(budget)
        return Evidence(CLAIM, sampled=sampled(2.0, 3.0, budget))

    row = decide(check)
    assert (row["outcome"], row["reason"], row["confirmation"]["outcome"]) == ("FAILS", "NONE", "FAILS")
    assert [budget.key.path[-1] for budget in budgets] == ["decide", "confirm"]
    assert budgets[0].key.rng().random() != budgets[1].key.rng().random()
    assert [budget.n_draws for budget in budgets] == [10, 10]
    assert sum(budget.failure_prob for budget in budgets) == row["failure_prob"]


def test_failure_that_does_not_repeat_is_undecided() -> None:
    def check(case: Case, budget: Budget) -> Evidence:
        low = 2.0 if budget.key.path[-1] == "decide" else 0.5
        return Evidence(CLAIM, sampled=sampled(low, low, budget))

    row = decide(check)
    assert (row["outcome"], row["reason"], row["confirmation"]["outcome"]) == ("UNDECIDED", "UNCONFIRMED", "HOLDS")


def test_exact_failure_counts_directly() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, exact=Estimate.proved(2.0, 2.0, "by hand")), draws=(0, 0, 0))
    assert (row["outcome"], row["confirmation"], row["failure_prob"]) == ("FAILS", None, 0.0)


def test_witnesses_that_disagree_are_inconsistent() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, Estimate.proved(0.5, 0.5, "wrong"), sampled(0.625, 0.75, budget)))
    assert (row["outcome"], row["reason"], row["detects"]) == ("UNDECIDED", "INCONSISTENT", 0.125)


def test_exception_becomes_an_outcome_of_one_line() -> None:
    statement = load_toy("thm_3")
    row = first_row(statement)
    assert (row["outcome"], row["reason"]) == ("UNDECIDED", "ERROR")
    assert row["error"] == {"type": "ArithmeticError", "message": "one broken check"}


def test_exact_case_may_not_sample() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, sampled=sampled(0.0, 0.5, budget)), draws=(0, 0, 0))
    assert "draws must be declared" in row["error"]["message"]


def test_case_may_not_spend_more_than_its_share() -> None:
    def check(case: Case, budget: Budget) -> Evidence:
        return Evidence(CLAIM, sampled=Estimate(0.5, 0.5, 0.5, 2 * budget.failure_prob, 1, "greedy"))

    assert "must be at most the share" in decide(check)["error"]["message"]


def test_exact_witness_must_be_proved() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, exact=sampled(0.5, 0.5, budget)))
    assert "proved enclosure" in row["error"]["message"]


def test_evidence_without_a_witness_states_its_reason() -> None:
    row = decide(lambda case, budget: Evidence(CLAIM, reason="data missing: no table"), draws=(0, 0, 0))
    assert (row["outcome"], row["reason"], row["detail"]) == ("UNDECIDED", "DATA_MISSING", "data missing: no table")
    row = decide(lambda case, budget: Evidence(CLAIM, reason="no way to tell"), draws=(0, 0, 0))
    assert row["reason"] == "NO_FINITE_TEST"


def test_numbers_of_a_row_are_strict_json() -> None:
    notes = {"a": np.float64(0.5), "b": math.inf, "c": -math.inf, "d": math.nan, "e": np.int64(3), "f": np.True_}
    row = decide(lambda case, budget: Evidence(CLAIM, Estimate.proved(0.5, 0.5, "exact"), notes=notes), (0, 0, 0))
    assert row["notes"] == {"a": 0.5, "b": "inf", "c": "-inf", "d": "nan", "e": 3, "f": True}


def test_share_does_not_depend_on_the_profile() -> None:
    statement = load_toy("thm_1")
    shares = {first_row(statement, profile)["failure_prob"] for profile in ("quick", "standard", "full")}
    assert shares == {1e-4 / sum(any(case.draws) for case in statement.cases)}


def test_quick_profile_keeps_one_figure() -> None:
    statement = load_toy("thm_1")
    assert len(figure_rows(statement, SETTINGS)) == 1
    assert [row["number"] for row in figure_rows(statement, RunSettings(3, "standard", 1e-4))] == [1, 2]


def test_figure_that_breaks_becomes_a_row() -> None:
    def broken(seed: int) -> tuple[object, ...]:
        raise ZeroDivisionError("no figure")

    statement = Statement(**{**vars(load_toy("thm_1")), "figures": broken})
    row = figure_rows(statement, SETTINGS)[0]
    assert (row["figure"], row["error"]["type"]) == (None, "ZeroDivisionError")


@pytest.fixture
def record_path(toys: registry.Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    return tmp_path / "out" / "audit.jsonl"


def spoil(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_refutation_is_reproduced_to_the_byte(record_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["replay", str(record_path), "RW21-T17"]) == 0
    out = capsys.readouterr().out
    assert "RW21-T17 printed" in out
    assert "FAILS" in out
    assert "reproduced to the byte" in out


def test_any_case_can_be_replayed(record_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for row in read(record_path).cases:
        assert invoke(["replay", str(record_path), row["part"], "--case", row["case"]]) == 0
    assert capsys.readouterr().out.count("reproduced to the byte") == 9  # the cases that the quick profile runs


def test_the_command_that_show_prints_can_be_pasted(record_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "a " + "very " * 20 + "long name"
    spoil(record_path, '"case":"printed"', f'"case":"{long}"')
    spoil(record_path, '"worst_case":"printed"', f'"worst_case":"{long}"')
    assert invoke(["show", "RW21-T17", "--record", str(record_path)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("replay"))
    assert shlex.split(line)[1:] == ["pdp-verify", "replay", str(record_path), "RW21-T17", "--case", long]
    broken = long.replace("very long", "very\n            long")
    assert decisive(read(record_path), "RW21-T17", broken)["case"] == long


def test_tampered_number_is_found(record_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = next(row for row in read(record_path).cases if row["case"] == "printed")
    spoil(record_path, json.dumps(row["sampled"]["value"]), "0.61")
    assert invoke(["replay", str(record_path), "RW21-T17"]) == 1
    assert "sampled.value: recorded 0.61" in capsys.readouterr().out


def test_another_platform_is_compared_with_a_tolerance(
    record_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(versions, "platform_tag", lambda: "elsewhere")
    assert invoke(["replay", str(record_path), "RW21-T17"]) == 0
    captured = capsys.readouterr()
    assert "compared to 1e-9" in captured.err
    assert "reproduced to 1e-9" in captured.out


def test_case_that_no_longer_exists_is_not_reproduced(record_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(record_path, '"case":"printed"', '"case":"vanished"')
    assert invoke(["replay", str(record_path), "RW21-T17"]) == 1
    assert "no longer part of RW21-T17" in capsys.readouterr().out


def test_decisive_case(record_path: Path) -> None:
    record = read(record_path)
    assert decisive(record, "RW21-T17")["case"] == "printed"
    assert decisive(record, "RW21-T17.2")["case"] == "large"
    assert decisive(record, "RW21-T17", "corrected")["case"] == "corrected"
    with pytest.raises(UserError, match="id must be in the record"):
        decisive(record, "W19-L2.4")
    with pytest.raises(UserError, match="case must be one of RW21-T17 in the record, got case=other"):
        decisive(record, "RW21-T17", "other")


@for_each(
    ("recorded", "again", "here", "elsewhere"),
    [
        ({"a": 1.0}, {"a": 1.0}, 0, 0),
        ({"a": 1.0}, {"a": 1.0 + 1e-15}, 1, 0),
        ({"a": 1.0}, {"a": 1.0 + 1e-8}, 1, 1),
        ({"a": {"b": [1, "x"]}}, {"a": {"b": [1, "y"]}}, 1, 1),
        ({"a": "inf"}, {"a": 1.0}, 1, 1),
        ({"a": None}, {"a": 0.0}, 1, 1),
        ({"a": True}, {"a": 1}, 1, 1),
        ({"a": 1.0, "b": 2}, {"b": 2, "a": 1.0}, 1, 0),
        ({"a": 1.0}, {"a": 1.0, "b": 2}, 1, 1),
    ],
)
def test_rows_are_compared_field_by_field(
    recorded: dict[str, Any], again: dict[str, Any], here: int, elsewhere: int
) -> None:
    assert len(compare_rows(recorded, again, same_platform=True)) == here
    assert len(compare_rows(recorded, again, same_platform=False)) == elsewhere


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of two statements whose texts have several readings."""
    out = tmp_path_factory.mktemp("readings")
    assert invoke(["run", "W18-F3", "RW21-C16", "--profile", "quick", "--jobs", "1", "--out", str(out)]) == 0
    return out / "audit.jsonl"


@pytest.mark.parametrize("pages", ["report", "errata"])
def test_every_command_of_the_pages_works_with_readings(
    readings: Path, pages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(readings.parent)
    full = ["--full"] if pages == "report" else []
    assert invoke([pages, "audit.jsonl", "-o", str(tmp_path / "pages.md"), *full]) == 0
    lines = (tmp_path / "pages.md").read_text().replace("\\\n", "").splitlines()  # as a shell reads them
    commands = [shlex.split(line) for line in lines if line.startswith("pdp-verify replay")]
    assert {"W18-F3@a", "W18-F3@b", "W18-F3.24", "RW21-C16@a", "RW21-C16@b"} <= {words[3] for words in commands}
    for words in commands:
        assert invoke(words[1:]) == 0
        assert invoke([*words[1:4]]) == 0  # without --case: the case that decides
        assert invoke(["show", words[3], "--record", words[2]]) == 0
    out = capsys.readouterr().out
    assert out.count("reproduced to the byte") == 2 * len(commands)
    assert out.count("\nreplay      pdp-verify replay audit.jsonl") >= len(commands)


@pytest.mark.parametrize("command", ["replay audit.jsonl W18-F3@z", "show W18-F3@z", "show W18-F3#25"])
def test_a_part_that_is_none_is_one_line(
    readings: Path, command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(readings.parent)
    assert invoke(command.split()) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert "got id=W18-F3" in captured.err


def test_pages_say_what_is_right_in_every_reading(readings: Path, tmp_path: Path) -> None:
    """The corrected formula of a reading, its verdict, its cases and its derivation, as ``show`` has them."""
    assert invoke(["report", str(readings), "--full", "-o", str(tmp_path / "report.md")]) == 0
    assert invoke(["errata", str(readings), "-o", str(tmp_path / "errata.md")]) == 0
    whole, errata = ((tmp_path / name).read_text().replace("\\", "") for name in ("report.md", "errata.md"))
    statement = next(row for row in read(readings).statements if row["id"] == "W18-F3")
    for part in statement["parts"]:
        section = whole.partition(f"### {part['id']} · {part['title']}")[2].partition("\n### ")[0]
        heading = "As read" if part["reading"] else "As printed"
        entry = re.split(r"As (?:printed|read) \(", errata.partition(f"{heading} ({part['title']})")[2])[0]
        for page in (section, entry):
            assert part["corrected"]["text"] in page
            assert part["derivation"].split(",")[0] in page.replace("\\", "")
            assert "upported by every case tried" in page
        assert f"As printed ({part['id']})" in section.replace("\\", "")
        assert f"Corrected ({part['id']})" in section.replace("\\", "")
        assert f"Corrected, {part['id']}: published, exact" in section.replace("\\", "")
