"""``report -o`` for other people's tools: whole files of the same bytes, private ones closed, mistakes in one line."""

from __future__ import annotations

import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from toys import LEDGER

from verify.cli import invoke
from verify.interchange.interchange_formats import INTERCHANGE, interchange_of
from verify.papers import ledger, registry

Captured = pytest.CaptureFixture[str]


def report(record: Path, file: Path, *more: str) -> int:
    return invoke(["report", str(record), "-o", str(file), *more])


@pytest.mark.parametrize(
    ("name", "end"),
    [("a.sarif", ".sarif"), ("bom.cdx.json", ".cdx.json"), ("a.registry.json", ".registry.json"), ("a.json", "")],
)
def test_the_end_of_the_name_chooses(name: str, end: str) -> None:
    assert interchange_of(Path(name)) == end
    assert interchange_of(Path(end or "b.pdf")) == ""


@pytest.mark.parametrize("end", INTERCHANGE)
def test_a_record_gives_the_same_bytes_and_nothing_of_the_machine(
    end: str, private_certificate: Path, tmp_path: Path
) -> None:
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        assert report(private_certificate / "release", tmp_path / place / f"x{end}") == 0
    first, second = ((tmp_path / place / f"x{end}").read_bytes() for place in ("one", "two"))
    assert first == second
    for folder in (tmp_path, private_certificate):
        assert str(folder).encode() not in first


def test_the_folder_of_the_certificate_is_as_it_was(private_certificate: Path, tmp_path: Path) -> None:
    def held() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (private_certificate / "release").iterdir()}

    before = held()
    for end in INTERCHANGE:
        assert report(private_certificate / "release", tmp_path / f"x{end}") == 0
    assert held() == before


@pytest.mark.parametrize("end", [".sarif", ".cdx.json"])
def test_what_the_curator_gets_is_closed(end: str, private_certificate: Path, tmp_path: Path) -> None:
    for audience, others in (("curator", 0), ("release", 0o044)):
        file = tmp_path / f"{audience}{end}"
        assert report(private_certificate / audience, file) == 0
        assert stat.S_IMODE(file.stat().st_mode) & 0o044 == others


@pytest.mark.parametrize("end", INTERCHANGE)
def test_the_release_says_nothing_of_the_records(end: str, private_certificate: Path, tmp_path: Path) -> None:
    """The bytes are a function of what the release folder holds: moved away from everything else, it gives them too."""
    shutil.copytree(private_certificate / "release", tmp_path / "alone")
    assert report(private_certificate / "release", tmp_path / f"x{end}") == 0
    assert report(tmp_path / "alone", tmp_path / f"y{end}") == 0
    written = (tmp_path / f"x{end}").read_bytes()
    assert written == (tmp_path / f"y{end}").read_bytes()
    secret = json.loads((private_certificate / "curator" / "audit.jsonl").read_text(encoding="utf-8").splitlines()[0])
    for private in (secret["data"]["digest"], secret["configuration_digest"]):
        assert private.encode() not in written


def test_the_source_is_the_configuration_of_the_record_and_no_other(
    private_certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (private_certificate / "curator" / "configuration.toml").read_text(encoding="utf-8")
    (tmp_path / "same.toml").write_text(text, encoding="utf-8")
    (tmp_path / "other.toml").write_text(text + "\n", encoding="utf-8")
    assert report(private_certificate / "curator", Path("x.sarif"), "--source", "same.toml") == 0
    assert report(private_certificate / "curator", Path("y.sarif"), "--source", "other.toml") == 2
    assert "source must be the configuration that the record was made of" in capsys.readouterr().err
    assert not (tmp_path / "y.sarif").exists()
    # the record for release of private data does not say which it was
    assert report(private_certificate / "release", Path("z.sarif"), "--source", "other.toml") == 0


@pytest.mark.parametrize(("expected", "ids"), [("REFUTED", []), ("SUPPORTED", ["RW21-T17", "RW21-T17.1"])])
def test_a_refuted_statement_is_an_error_where_nobody_expected_it(
    expected: str, ids: list[str], toys: registry.Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {id_: replace(each, printed=expected) for id_, each in LEDGER.items() if id_.startswith("RW21-T17")}
    monkeypatch.setattr(ledger, "default", lambda: LEDGER | ({} if expected == "REFUTED" else other))
    run = ["run", "RW21-T17", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")]
    assert invoke(run) == bool(ids)
    assert report(tmp_path / "out", tmp_path / "x.sarif") == 0
    log = json.loads((tmp_path / "x.sarif").read_bytes())["runs"][0]
    assert [(result["ruleId"], result["level"]) for result in log["results"]] == [(id_, "error") for id_ in ids]
    assert log["properties"]["statements"] == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["-o", "x.cdx.json", "--source", "d.toml"], "source must be given for a .sarif file alone"),
        (["-o", "x.json"], "output must end in "),
        (["-o", ".sarif"], "output must end in "),
        (["-o", "x.sarif", "--source", "missing.toml"], "source must be a readable file, got source=missing.toml"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], line: str, private_certificate: Path, capsys: Captured) -> None:
    assert invoke(["report", str(private_certificate / "release"), *arguments]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_calibration_has_no_findings(tmp_path: Path, capsys: Captured) -> None:
    header = {"kind": "header", "schema_version": 1, "record": "calibration"}
    (tmp_path / "calibration.jsonl").write_text(json.dumps(header) + "\n", encoding="utf-8")
    assert report(tmp_path / "calibration.jsonl", tmp_path / "x.sarif") == 2
    assert "record must be that of a run, got a calibration" in capsys.readouterr().err
