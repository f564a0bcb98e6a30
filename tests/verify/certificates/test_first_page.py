"""The first page says it all on one page, and nothing beyond the record; "certificate" stands over a PASS alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pypdf
import pytest
from toys.deployments import DATA, DRAWN, MOMENT, QUICK, REPORT, claim, dp, imported, mechanism, pdp, write_labelled

from verify.certificates.certificate_pages import document
from verify.certificates.certificate_words import numbers_in_words
from verify.certificates.first_page import odds_words
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
#: For the curator alone; the last of two such options counts.
INSIDE = ("--audience", "curator")
FEW = QUICK + "pairs = 6\ndraws = 2000\n"


def objective(sigma: float) -> str:
    return mechanism("objective-perturbation", loss="logistic", sigma=sigma, lam=0.5)


PASSING = DATA + objective(5.35) + dp(1.0) + FEW
FAILING = DATA + objective(2.75) + dp(1.0) + FEW
OPEN = DATA + imported("mine.py:make") + dp(1.0) + FEW
#: Two claims that are refuted and mean different things.
TWO = DATA + objective(2.75) + dp(1.0) + pdp(0.5) + FEW
FIVE = DATA + objective(4.0) + DRAWN + REPORT + dp(1.0) + pdp(1.0) + claim("report-coverage", level=0.05)
FIVE += claim("ex-post", epsilon=1.0) + claim("utility", metric="accuracy", at_least=0.5) + FEW


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    write_labelled(folder)
    (folder / "mine.py").write_text(MOMENT)
    return folder


def certified(work: Path, name: str, text: str, *arguments: str, code: int) -> Path:
    """Certify, by default for both audiences, and return the folder; what is there already is returned as it is."""
    out = work / name
    if not out.exists():
        (work / f"{name}.toml").write_text(text, encoding="utf-8")
        command = ["certify", str(work / f"{name}.toml"), "--audience", "release", "--out", str(out), *arguments]
        assert invoke(command) == code
    return out


@pytest.fixture(scope="module")
def failing(work: Path) -> Path:
    return certified(work, "failing", FAILING, code=1)


@pytest.fixture(scope="module")
def passing(work: Path) -> Path:
    return certified(work, "passing", PASSING, code=0)


def front(folder: Path) -> str:
    """Return what the first page says, in one line."""
    text = (folder / "audit.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return " ".join(re.sub(r"[*\\]", "", text).split())


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]


def test_the_word_certificate_stands_over_a_pass_alone(work: Path, failing: Path, passing: Path) -> None:
    undecided = certified(work, "open", OPEN, code=3)
    for folder, title in ((passing, "Privacy certificate"), (failing, "Audit result"), (undecided, "Audit result")):
        for part in ("curator", "release"):
            reader = pypdf.PdfReader(folder / part / "audit.pdf")
            assert reader.metadata is not None
            assert reader.metadata.title == title
            assert ("certificate" in str(reader.metadata["/Keywords"])) is (folder is passing)
            pages = " ".join(page.extract_text() for page in reader.pages).casefold()
            assert ("certificate" in pages) is (folder is passing)
            markdown = (folder / part / "audit.md").read_text(encoding="utf-8")
            assert f"# {title}" in markdown.splitlines()
            assert ("certificate" in markdown.casefold()) is (folder is passing)


def test_the_page_of_a_fail_says_what_would_pass_and_what_was_found(failing: Path) -> None:
    for part in ("curator", "release"):
        text = front(failing / part)
        for words in (
            "FAIL: a claim is refuted",
            "Verdict: Claimed epsilon 1 at delta 1e-06; the true one is at least ",
            "Delta between 5.31×10⁻⁴ and 0.00974, where at most 1×10⁻⁶ is allowed",
            "What it would mean if it were kept: the release changes anybody's odds on whether a record is there by a "
            "factor of at most 2.72 (e to the epsilon), but for a probability of at most 1×10⁻⁶ (delta)",
            "guesses right in at most 73.2 % of cases",
            "The least sigma that this suite can prove is 5.35 (now 2.75); the true one may lie below",
            "the least epsilon that this suite can prove is 1.8 (claimed: 1)",
            "| Nobody |",
            "Rests on: a counterexample",
            "Not tested: the bits that a floating-point implementation puts out",
            "objective-perturbation, loss logistic, sigma 2.75, lam 0.5",
            "pdp-verify check DIR",
        ):
            assert words in text, words
        assert "10.9576" not in text
        assert ("SHA-256" in text) is (part == "curator")


def test_the_page_of_a_pass_says_to_whom_and_that_nobodys_word_is_needed(passing: Path) -> None:
    text = front(passing / "release")
    for words in (
        "PASS (proved)",
        "Verdict: Proved: the same bound gives epsilon 1 at delta 1e-6.",
        "Everyone whose record may be in any data set of the public domain",
        "What this means: the release changes",
        "Nobody's word is needed.",
        "even a verdict would say something about them",
    ):
        assert words in text, words
    assert "What would pass" not in text


def test_evidence_begins_on_page_two_whatever_the_number_of_claims(work: Path, failing: Path, passing: Path) -> None:
    five = certified(work, "five", FIVE, *INSIDE, code=1)
    two = certified(work, "two", TWO, *INSIDE, code=1)
    for folder in (failing, passing, two, five, certified(work, "open", OPEN, code=3)):
        for part in sorted(path.name for path in folder.iterdir() if path.is_dir()):
            reader = pypdf.PdfReader(folder / part / "audit.pdf")
            evidence = reader.outline[0]
            assert not isinstance(evidence, list)
            assert reader.get_destination_page_number(evidence) == 1, (folder.name, part)
            assert "How to check" in reader.pages[0].extract_text()


def test_no_raw_name_is_on_the_pages(work: Path, failing: Path) -> None:
    for folder in (failing, certified(work, "five", FIVE, *INSIDE, code=1), certified(work, "open", OPEN, code=3)):
        text = (folder / "curator" / "audit.md").read_text(encoding="utf-8").replace("\\", "")
        for raw in ("x_norm", "n_records", "FORWARD", "BACKWARD", "p_value", "epsilon_published", "quantile_", " = "):
            assert raw not in text, (folder.name, raw)
    shown = numbers_in_words({"x_norm": 1.0, "direction": "BACKWARD", "some_name": 2.0, "ok": True, "gone": None})
    assert shown.startswith("length of the features 1; drawn from the second data set, held against the first; ")
    assert shown.endswith("some name 2; ok: yes")


def test_a_mechanism_that_draws_alone_states_nothing_that_anything_could_be_conditional_on(work: Path) -> None:
    undecided = certified(work, "open", OPEN, code=3) / "curator"
    (row,) = [row for row in rows_of(undecided) if row["kind"] == "claim"]
    assert row["conditions"] == []
    assert "author's word" not in (undecided / "audit.md").read_text(encoding="utf-8")
    text = front(undecided)
    assert "Rests on: draws alone, which can refute and never support; nobody vouches." in text
    assert "Nothing was found against it" in text


def test_what_refutes_an_imported_mechanism_is_the_check_that_did_and_no_other(work: Path) -> None:
    (work / "loud.py").write_text(MOMENT.replace("8.0", "0.01"))
    refuted = certified(work, "loud", DATA + imported("loud.py:make") + dp(1.0) + FEW, *INSIDE, code=1) / "curator"
    (row,) = [row for row in rows_of(refuted) if row["kind"] == "claim"]
    assert row["reason"].startswith("black box: the claim: ")
    text = front(refuted)
    assert "P-value" not in text
    assert re.search(r"\| Epsilon at least [0-9.]+ \|", text)
    assert re.search(r"Verdict: Claimed epsilon 1 at delta 1e-06; the true one is at least [0-9.]+ \(confidence", text)
    assert "Likely cause: one record moves the output by" in text
    assert "Promised and found" not in text  # what the mechanism states is not what was found
    assert "Name whoever vouches" not in (refuted / "audit.md").read_text(encoding="utf-8")


@pytest.mark.quick
def test_without_a_factor_the_guess_alone_is_told() -> None:
    odds = {"about": "whether a record is there", "factor": None, "delta": 0.0, "guess": 0.6914624}
    text = odds_words(odds, kept=True)
    assert text == (
        "What this means: of those who know everything else and ask whether a record is there, whoever first holds "
        "either answer for as likely as the other guesses right in at most 69.2 % of cases."
    )
    assert "(delta)" not in odds_words(odds | {"factor": 2.0}, kept=False)


def test_a_record_of_before_remedies_and_odds_still_has_its_pages(failing: Path) -> None:
    rows = rows_of(failing / "curator")
    for row in rows:
        row.pop("remedy", None)
        row.pop("odds", None)
    pages = document(rows, digest="0" * 64, date="", record=b"")
    assert pages.title == "Audit result"


def test_what_changed_since_the_previous_certificate_is_on_page_one(
    work: Path, failing: Path, capsys: Captured
) -> None:
    given = ("--previous", str(failing))
    later = certified(work, "later", PASSING, *given, code=0)
    assert "since the previous certificate: " in capsys.readouterr().out
    for part in ("curator", "release"):
        before = rows_of(later / part)[0]["previous"]
        assert before["words"] == "FAIL"
        assert before["changes"][0] == {"turn": "BETTER", "words": "verdict: FAIL -> PASS (proved)"}
        assert f"since FAIL in record {before['record'][:12]}" in front(later / part)
        assert "verdict: FAIL -> PASS (proved) (for the better)" in front(later / part).replace("\\", "")
    digests = {part: rows_of(later / part)[0]["previous"]["record"] for part in ("curator", "release")}
    assert digests["curator"] != digests["release"]  # for release it is held against what was released before
    assert invoke(["check", str(later)]) == 0
    command = ["certify", str(work / "later.toml"), "--audience", "release", "--out", str(later)]
    assert invoke([*command, *given]) == 0
    assert "finished before" in capsys.readouterr().out
    assert invoke(command) == 2
    assert "a finished certificate that differs in --previous" in capsys.readouterr().err


def test_a_previous_folder_without_the_record_is_refused(work: Path, failing: Path, capsys: Captured) -> None:
    out = work / "never"
    command = ["certify", str(work / "failing.toml"), "--out", str(out), "--previous"]
    assert invoke([*command, str(work / "absent")]) == 2
    assert "previous must be a folder of certify with a record for curator (its whole --out" in capsys.readouterr().err
    assert invoke([*command, str(failing / "release")]) == 2
    assert not out.exists()
