"""The fixture without a pair: it takes what ``audits.audit`` takes, and searches the pairs itself."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms import AdaSSP, Dataset, NeighbouringPair, PosteriorSampling
from verify.plugin.pytest_audit import AuditFailure, Auditor, as_expected
from verify.plugin.pytest_record import Session, document

SMALL = {"pairs": 1, "draws": 2_000}


def half_noise(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
    return y.sum() + rng.laplace(scale=0.5, size=n_draws)


def enough_noise(X: Any, y: Any, rng: Any, n_draws: int) -> Any:
    return y.sum() + rng.laplace(scale=1.0, size=n_draws)


def auditor() -> Auditor:
    return Auditor("test_mine.py::test_release", "", 1, 20_000, 1e-4)


def test_a_refuted_claim_fails_the_test_with_the_summary() -> None:
    fixture = auditor()
    with pytest.raises(AuditFailure) as stop:
        fixture(half_noise, epsilon=1.0, **SMALL)
    first, second, *_, last = str(stop.value).splitlines()
    assert first == "expected 'no violation', got"
    assert second.startswith("FAIL: half_noise, claimed (1, 0)-differentially private (one record added or removed)")
    assert last == "Such a FAIL is wrong in at most 1 of 20,000 such runs."
    assert fixture.rows[0]["outcome"] == "FAILS"


def test_a_refutation_may_be_what_is_expected() -> None:
    row = auditor()(half_noise, epsilon=1.0, expect="fail", **SMALL)
    assert (row["outcome"], row["mechanism"], row["n_draws"]) == ("FAILS", "half_noise", 4_000)


def test_no_violation_is_all_that_draws_can_give() -> None:
    fixture = auditor()
    row = fixture(enough_noise, epsilon=1.0, **SMALL)
    assert (row["outcome"], row["reason"]) == ("UNDECIDED", "NO_FINITE_TEST")
    for expect in ("pass", "fail"):
        with pytest.raises(AuditFailure, match=f"expected '{expect}', got\nUNDECIDED"):
            fixture(enough_noise, epsilon=1.0, expect=expect, **SMALL)
    assert [each["number"] for each in fixture.rows] == [1, 2, 3]
    assert sum(each["failure_prob"] for each in fixture.rows) < 1e-4


def test_what_was_not_examined_is_no_absence_of_a_violation() -> None:
    def broken(X: Any, y: Any, rng: Any) -> float:
        raise RuntimeError("always")

    with pytest.raises(AuditFailure, match="expected 'no violation', got\nUNDECIDED"):
        auditor()(broken, epsilon=1.0, **SMALL)


def test_a_theorem_passes() -> None:
    assert auditor()(AdaSSP(1.0, 1e-6), epsilon=1.0, delta=1e-6, expect="pass")["outcome"] == "HOLDS"


def test_a_mechanism_of_ours_without_a_theorem_for_the_claim_was_not_examined() -> None:
    with pytest.raises(AuditFailure, match="expected 'no violation', got\nUNDECIDED"):
        auditor()(AdaSSP(1.0, 1e-6), epsilon=0.3, delta=1e-6, relation="replace")


def test_each_audit_has_a_stream_and_a_failure_probability_of_its_own() -> None:
    fixture = auditor()
    rows = [fixture(enough_noise, epsilon=1.0, **SMALL) for _ in range(2)]
    assert rows[0]["detail"] != rows[1]["detail"]
    assert fixture(enough_noise, epsilon=1.0, failure_prob=0.01, **SMALL)["failure_prob"] == 0.01
    assert auditor()(enough_noise, epsilon=1.0, **SMALL) == rows[0]


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((), {}, "must be given a pair and a claim, or epsilon"),
        ((), {"epsilon": 1.0, "claim": (1.0, 0.0)}, "must be given a pair and a claim, or epsilon"),
        ((), {"epsilon": 1.0, "expect": "green"}, "expect must be one of pass, fail, no violation"),
        ((), {"epsilon": -1.0}, "epsilon must be at least 0"),
        ((), {"epsilon": 1.0, "peirs": 3}, "peirs"),
        ((), {"epsilon": 1.0, "seed": 3}, "seed"),
    ],
)
def test_a_wrong_call_fails_the_test_in_a_line(arguments: Any, options: Any, said: str) -> None:
    with pytest.raises(AuditFailure, match=said) as stop:
        auditor()(enough_noise, *arguments, **options)
    assert "\n" not in str(stop.value)


def test_the_report_of_a_session_shows_it() -> None:
    fixture = auditor()
    fixture(enough_noise, epsilon=1.0, **SMALL)
    session = Session(tuple(fixture.rows), seed=1, n_draws=20_000, failure_prob=1e-4, profile="quick", complete=True)
    shown = repr(document(session, date="2026-01-01"))
    assert "Every claim is as its test expects" in shown
    assert "enough_noise" in shown


@pytest.mark.parametrize(
    "reason", ["NOT_TESTED", "DEPENDENT", "MISSTATED", "INTERRUPTED", "UNCONFIRMED", "INCONSISTENT"]
)
def test_what_is_no_answer_is_as_nobody_expects(reason: str) -> None:
    row = {"outcome": "UNDECIDED", "reason": reason, "expect": "no violation", "error": None}
    assert as_expected(row | {"reason": "DRAWS_ALONE"})
    assert not as_expected(row)
    assert not as_expected(row | {"reason": "DRAWS_ALONE", "error": {"type": "ValueError", "message": ""}})


class Twice:
    """Each draw of a call has enough noise, and every second one that of the one before."""

    def draw(self, dataset: Any, n_draws: int, *, rng: Any) -> Any:
        return dataset.y.sum() + np.repeat(rng.laplace(scale=1.0, size=n_draws), 2)[:n_draws]


def test_draws_that_depend_on_each_other_find_no_violation_and_are_no_answer() -> None:
    pair = NeighbouringPair.add(Dataset([[0.5]], [0.5], 1.0, 1.0), [0.5], 0.5)
    with pytest.raises(AuditFailure, match="rows of one call are independent"):
        auditor()(Twice(), epsilon=1.0, **SMALL)
    with pytest.raises(AuditFailure, match="not tested: rows of one call are independent"):
        auditor()(Twice(), pair, (1.0, 0.0), expect="no violation")


def test_words_of_before_are_taken_with_a_warning() -> None:
    pair = NeighbouringPair.add(Dataset([[0.5]], [0.5], 1.0, 1.0), [0.5], 1.0)
    mechanism = PosteriorSampling(0.01, 1.0)
    for old, new in (("holds", "pass"), ("not refuted", "no violation")):
        with pytest.warns(DeprecationWarning, match=f"expect='{old}' is expect='{new}' now"):
            assert auditor()(mechanism, pair, (2.0, 0.1), expect=old)["expect"] == new


@pytest.mark.slow
def test_a_suite_is_red_where_a_release_leaks(tmp_path: Path) -> None:
    (tmp_path / "test_release.py").write_text(
        "def release(X, y, rng, n_draws):\n    return y.sum() + rng.laplace(scale=0.5, size=n_draws)\n\n"
        "def test_right(privacy_audit):\n    privacy_audit(release, epsilon=2.0, pairs=1)\n\n"
        "def test_wrong(privacy_audit):\n    privacy_audit(release, epsilon=1.0, pairs=1)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--privacy-record=r.jsonl"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "1 failed, 1 passed" in found.stdout
    assert "FAIL: release, claimed (1, 0)-differentially private" in found.stdout
    assert "red by chance in at most 1 of 1,280,000 runs" in found.stdout
    assert re.search(
        r"test_right: UNDECIDED \(no violation found\); epsilon is at least [\d.]+\n"
        r"that no violation is found is no proof: expect='pass' asks for one",
        found.stdout,
    )
    assert (tmp_path / "r.jsonl").read_text().count('"kind":"audit"') == 2
