"""SARIF: what is written obeys the published schema, is the same for the same problems, and an empty log says so."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from verify.interchange.sarif_log import FINGERPRINT, OF_GITHUB, SarifProblem, sarif_log

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
