"""A recorded case drawn again gives the same row; a record that was tampered with does not."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from verify.cli import invoke
from verify.engine import versions
from verify.engine.record import read
from verify.messages.errors import UserError
from verify.papers import registry
from verify.runs.case_run import compare_rows, decisive


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


@pytest.mark.parametrize(
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
