"""SARIF: what is written obeys the published schema, is the same for the same problems, and an empty log says so."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rows import for_each
from toys import LEDGER
from toys.recorded import Rows, ruled

from verify.cli import invoke
from verify.engine.record import Record
from verify.export.interchange_formats import INTERCHANGE, interchange_of
from verify.export.sarif_log import (
    FINGERPRINT,
    OF_GITHUB,
    SarifProblem,
    certificate_problems,
    claim_lines,
    places_in_configuration,
    places_in_record,
    run_problems,
    sarif_log,
)
from verify.messages.errors import UserError
from verify.papers import ledger, registry

FILE = Path(__file__).resolve().parents[2] / "published_schemas" / "sarif-schema-2.1.0.json"
SEEN = ("Everything that is released.", "See audit.pdf.")
REFUTED = SarifProblem("dp", "Everything", *SEEN, "error", "dp: FAIL", "claim dp", "a folder/deployment.toml", 7)
OPEN = SarifProblem("pdp", "Records", *SEEN, "warning", "pdp: UNDECIDED", "claim pdp", "deployment.toml", 1)


def obeys(log: bytes) -> dict[str, Any]:
    """Return a log that obeys the published schema."""
    plain: dict[str, Any] = json.loads(log)
    jsonschema.Draft7Validator(json.loads(FILE.read_text(encoding="utf-8"))).validate(plain)
    return plain


def written(*problems: SarifProblem, complete: bool = True) -> bytes:
    artefact = {"name": "model.onnx", "sha256": "0" * 64}
    return sarif_log(problems, version="1.2.3", complete=complete, about={"verdict": "FAIL"}, artefact=artefact)


def test_the_schema_is_the_published_one() -> None:
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert digest in (FILE.parent / "README.md").read_text(encoding="utf-8")


def test_problems_become_results_with_place_level_and_rule() -> None:
    run = obeys(written(REFUTED, OPEN, replace(OPEN, key="another", line=9)))["runs"][0]
    assert [(each["ruleId"], each["ruleIndex"], each["level"]) for each in run["results"]] == [
        ("dp", 0, "error"),
        ("pdp", 1, "warning"),
        ("pdp", 1, "warning"),
    ]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["dp", "pdp"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    region = {"startLine": 7, "startColumn": 1, "endLine": 7, "endColumn": 2}
    assert place == {"artifactLocation": {"uri": "a%20folder/deployment.toml"}, "region": region}
    assert run["results"][0]["message"] == {"text": "dp: FAIL"}
    assert run["artifacts"][0]["hashes"] == {"sha-256": "0" * 64}
    assert "not examined" in run["artifacts"][0]["description"]["text"]
    assert "roles" not in run["artifacts"][0]  # the file itself is no target of the analysis
    assert run["tool"]["driver"]["version"] == "1.2.3"


def test_nothing_found_is_an_empty_list_and_no_missing_one() -> None:
    run = obeys(written())["runs"][0]
    assert run["results"] == []
    assert run["properties"] == {"verdict": "FAIL"}
    assert run["invocations"] == [{"executionSuccessful": True}]


def test_a_run_that_was_cut_short_is_told_from_one_that_found_nothing() -> None:
    assert obeys(written(complete=False))["runs"][0]["invocations"] == [{"executionSuccessful": False}]


def test_the_fingerprint_stays_while_words_lines_and_levels_change() -> None:
    later = replace(REFUTED, level="warning", message="dp: UNDECIDED", line=70, file="other.toml")
    prints = [obeys(written(each))["runs"][0]["results"][0]["partialFingerprints"] for each in (REFUTED, later, OPEN)]
    assert prints[0] == prints[1] != prints[2]
    assert list(prints[0]) == [OF_GITHUB, FINGERPRINT]
    two = obeys(written(OPEN, replace(OPEN, key="claim other")))["runs"][0]["results"]
    assert two[0]["partialFingerprints"][OF_GITHUB] != two[1]["partialFingerprints"][OF_GITHUB]


def test_what_code_scanning_on_github_requires_is_there_and_not_empty() -> None:
    long = "x" * 2000
    log = obeys(written(replace(REFUTED, title=long, about=long), OPEN))
    run = log["runs"][0]
    assert log["$schema"].endswith("/sarif-schema-2.1.0.json")
    assert log["version"] == "2.1.0"
    for rule in run["tool"]["driver"]["rules"]:
        for name in ("shortDescription", "fullDescription", "help"):
            assert 0 < len(rule[name]["text"]) <= 1024
    for result in run["results"]:
        assert result["message"]["text"]
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"]
        assert set(place["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}


def test_equal_problems_give_equal_bytes() -> None:
    assert written(REFUTED, OPEN) == written(REFUTED, OPEN) != written(OPEN, REFUTED)


def test_the_check_of_the_schema_can_fail() -> None:
    log = json.loads(written(REFUTED))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        obeys(json.dumps(log).encode())


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from verify.messages.errors import UserError

    monkeypatch.setitem(__import__("sys").modules, "sarif_pydantic", None)
    with pytest.raises(UserError, match=r"needs the extra interchange: pip install 'pdp-verify\[interchange\]'"):
        written(REFUTED)


PUBLIC = """\
[data]
source = "fair"

[mechanism]
name = "ssp"
sigma_gram = 8.0
sigma_moment = 8.0
lam = 1.0

[[claims]]
type = "dp"
epsilon = 1.0
delta = 1e-6

  [[ claims ]]  # the second
type = "dp"
name = "weaker"
epsilon = 2.0
delta = 1e-6
"""


@pytest.mark.parametrize(("verdict", "levels"), [("PASS", []), ("FAIL", ["error"]), ("UNDECIDED", ["warning"])])
def test_a_claim_is_a_problem_unless_it_passed(released: Rows, verdict: str, levels: list[str]) -> None:
    rows = ruled(released, verdict)
    problems = certificate_problems(rows, places_in_record("audit.jsonl", rows))
    assert [problem.level for problem in problems] == levels
    for problem in problems:
        assert "\n" not in problem.message
        assert problem.message.startswith(f"dp: {verdict}")
        assert rows[problem.line - 1]["claim"] == "dp"
        assert rows[problem.line - 1]["kind"] == "claim"


def test_a_word_where_a_proof_was_required_is_a_warning(released: Rows) -> None:
    places = places_in_record("audit.jsonl", released)
    assert certificate_problems(ruled(released, "VOUCHED"), places) == []
    asked = certificate_problems(ruled(released, "VOUCHED", required="proved"), places)
    assert [problem.level for problem in asked] == ["warning"]


def test_the_lines_of_claims_are_found_where_each_has_a_table() -> None:
    assert claim_lines(PUBLIC, ["dp", "weaker"]) == {"dp": 10, "weaker": 15}
    assert claim_lines("claims = [{ type = 'dp' }]", ["dp"]) == {}
    assert claim_lines(PUBLIC + 'text = """\n[[claims]]\n"""\n', ["dp", "weaker"]) == {}


def test_results_point_to_the_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "audits").mkdir()
    path = Path("audits/deployment.toml")
    path.write_text(PUBLIC, encoding="utf-8")
    from verify.certificates.folder.attestation import sha256

    places = places_in_configuration(path, {"configuration_digest": sha256(PUBLIC.encode())})
    assert (places.file, places.line("weaker"), places.line("unknown")) == ("audits/deployment.toml", 15, 1)
    with pytest.raises(UserError, match="source must be the configuration that the record was made of"):
        places_in_configuration(path, {"configuration_digest": "0" * 64})
    unsaid = places_in_configuration(path, {})
    assert (unsaid.line("dp"), unsaid.line("weaker")) == (1, 1)  # the lines would count what is not shown


@for_each("path", ["/etc/deployment.toml", "../deployment.toml"])
def test_a_source_outside_the_repository_is_refused(path: str) -> None:
    with pytest.raises(UserError, match="source must be a path relative to the repository's root"):
        places_in_configuration(Path(path), {})


def _verdict(printed: str, **more: Any) -> dict[str, Any]:
    ruling = {"verdict": printed, "reason": "NO_FINITE_TEST" if printed == "UNDECIDED" else "NONE"}
    row = {"id": "W19-T4.1", "parent": None, "printed": ruling, "corrected": None, "unexpected": [], "still_open": []}
    return row | more


def _record(verdict: dict[str, Any], error: dict[str, str] | None = None) -> Record:
    statement = {"id": "W19-T4.1", "title": "A theorem", "locator": "Theorem 1", "file": "verify/papers/a.py"}
    return Record({}, (statement,), ({"id": "W19-T4.1", "error": error},), (), (verdict,))


@for_each(
    ("verdict", "level", "words"),
    [
        (_verdict("SUPPORTED"), None, ""),
        (_verdict("REFUTED"), None, ""),  # as the ledger expects
        (_verdict("TEXT_UNCLEAR"), None, ""),
        (_verdict("REFUTED", unexpected=["printed: REFUTED, expected SUPPORTED"]), "error", "expected SUPPORTED"),
        (_verdict("SUPPORTED", still_open=["printed: UNDECIDED (BUDGET)"]), "warning", "BUDGET"),
        (_verdict("UNDECIDED"), "note", "UNDECIDED, as expected (NO_FINITE_TEST)"),
        (_verdict("REFUTED", id="W19-T4.1.p", parent="W19-T4.1"), None, ""),
        (
            _verdict("REFUTED", id="W19-T4.1.p", parent="W19-T4.1", unexpected=["expected SUPPORTED"]),
            "error",
            "4.1.p: e",
        ),
        (
            _verdict("UNDECIDED", id="W19-T4.1.p", parent="W19-T4.1", still_open=["printed: open"]),
            "warning",
            "4.1.p: p",
        ),
    ],
)
def test_a_statement_is_a_problem_where_nobody_expected_it_or_it_is_open(
    verdict: dict[str, Any], level: str | None, words: str
) -> None:
    problems = run_problems(_record(verdict))
    assert [problem.level for problem in problems] == ([] if level is None else [level])
    assert all(words in problem.message and problem.file == "verify/papers/a.py" for problem in problems)


def test_a_check_that_broke_is_an_error_whatever_the_verdict() -> None:
    problems = run_problems(_record(_verdict("SUPPORTED"), {"type": "ValueError", "message": "no"}))
    assert [problem.level for problem in problems] == ["error"]


Captured = pytest.CaptureFixture[str]


def report(record: Path, file: Path, *more: str) -> int:
    return invoke(["report", str(record), "-o", str(file), *more])


@for_each(
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
