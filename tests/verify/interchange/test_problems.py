"""What is a problem: refuted and open claims, unexpected and open statements; and where it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from toys.recorded import Rows, ruled

from verify.engine.record import Record
from verify.interchange.sarif_log import (
    certificate_problems,
    claim_lines,
    places_in_configuration,
    places_in_record,
    run_problems,
)
from verify.messages.errors import UserError

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


@pytest.mark.parametrize("path", ["/etc/deployment.toml", "../deployment.toml"])
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


@pytest.mark.parametrize(
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
