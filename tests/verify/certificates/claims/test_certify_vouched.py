"""On whose word a PASS rests: keys, exit codes, terminal, attestation, pages, and what the public may read of it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from toys.deployments import dp, imported, section

from audits import Estimate
from audits.examination.examined import Demand, DrawnPair, Enough
from audits.verdict import CheckRole, Decision, Ground
from verify import certify
from verify.certificates.asked import Asked, exit_code, overall, waived
from verify.certificates.certificate import FINDINGS
from verify.certificates.certificate_words import shown_checks
from verify.certificates.certify_call import certify as notebook
from verify.certificates.claims.finding import Check, Examined, Finding
from verify.certificates.claims.types import DPClaim
from verify.certificates.config.config import load
from verify.certificates.config.mechanism_source import vouched_by
from verify.certificates.config.own_code import Vouched
from verify.cli import invoke
from verify.kernel.statement import Claim, Evidence
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]
DATA = '[data]\nfile = "data.csv"\nfeatures = ["a"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 1.0\nn_min = 8\n'
TAIL = '[[claims]]\ntype = "dp"\nepsilon = 1.0\ndelta = 1e-6\n[budget]\nprofile = "quick"\njobs = 1\n'
WORD = 'vouched_by = { who = "Grace Hopper, Navy", proof = "proof.txt" }\n'
MECHANISM = '[mechanism]\nimport = "mine.py:Mine"\n'
CODE = """
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return rng.normal(size=(n_draws, 1))
"""
PROOF = b"Theorem. It is private."
ROW = {
    "relation": "one record added or removed",
    "pairs": [{"name": f"pair {i}", "draws": 2_500} for i in range(7)],
    "draws": 2_500,
    "refused": [{"name": "no records", "reason": "ValueError on both data sets"}],
    "visible": 0.0125,
    "contract": [{"name": "repeats", "outcome": "reported", "words": "equal seeds give other outputs"}],
    "cannot_catch": ["a record like no other"],
    "reproducible": False,
}
ENOUGH = Enough(Demand(6, 2_000), tuple(DrawnPair(f"pair {i}", 2_500, 2_500) for i in range(7)), 0.0125)
EXAMINED = Examined(ENOUGH, "", ROW)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data, a mechanism and a proof."""
    index = np.arange(12)
    rows = np.column_stack([0.6 * np.sin(index), 0.9 * np.cos(index)])
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,y", comments="")
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    (tmp_path / "proof.txt").write_bytes(PROOF)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def finding(deployment: Any, claim: Any) -> Finding:
    """An imported mechanism's finding that passes if somebody vouches."""
    shown = Claim("largest delta", 0.0, 1e-6, 1.0)
    check = Check(
        "its stated law", CheckRole.DECIDES, Evidence(shown, Estimate.proved(0.0, 1e-9, "by hand")), private=False
    )
    return Finding(
        str(claim.name),
        "dp",
        "mine is (1, 1e-6)-differentially private",
        "every pair of neighbouring data sets in the public domain",
        False,
        (check,),
        deployment.conditions,
        "Say on whose word it rests: mechanism.vouched_by.",
        imported=True,
        examined=EXAMINED,
        vouched=deployment.vouched,
    )


def stub(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    def dp(deployment: Any, claim: Any) -> Finding:
        return replace(finding(deployment, claim), **changes)

    monkeypatch.setitem(FINDINGS, DPClaim, dp)


def run(work: Path, *arguments: str, word: str = WORD, data: str = DATA, out: str = "out") -> int:
    (work / "deployment.toml").write_text(data + MECHANISM + word + TAIL, encoding="utf-8")
    return invoke(["certify", "deployment.toml", "--out", out, *arguments])


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]


# --- exit codes -------------------------------------------------------------------------------------------------------

PROVED, VOUCHED = (Decision.PASS, Ground.PROVED), (Decision.PASS, Ground.ATTESTED)
FAILED, OPEN = (Decision.FAIL, Ground.NONE), (Decision.UNDECIDED, Ground.NONE)
EXAMINED_OPEN, NOT_EXAMINED = (Decision.UNDECIDED, Ground.NO_VIOLATION), (Decision.UNDECIDED, Ground.NOT_TESTED)


@pytest.mark.parametrize(
    ("found", "words", "plain", "required", "allowed", "both"),
    [
        ([PROVED], "PASS (proved)", 0, 0, 0, 0),
        ([PROVED, VOUCHED], "PASS (attested)", 0, 3, 0, 3),
        ([PROVED, EXAMINED_OPEN], "UNDECIDED (no violation found)", 3, 3, 0, 0),
        ([VOUCHED, EXAMINED_OPEN], "UNDECIDED (no violation found)", 3, 3, 0, 3),
        ([EXAMINED_OPEN, NOT_EXAMINED], "UNDECIDED (not tested)", 3, 3, 3, 3),
        ([VOUCHED, NOT_EXAMINED], "UNDECIDED (not tested)", 3, 3, 3, 3),
        ([OPEN, EXAMINED_OPEN], "UNDECIDED", 3, 3, 0, 0),
        ([VOUCHED, FAILED], "FAIL", 1, 1, 1, 1),
        ([NOT_EXAMINED, FAILED], "FAIL", 1, 1, 1, 1),
    ],
)
def test_exit_codes_by_what_the_verdicts_rest_on(
    found: list[Any], words: str, plain: int, required: int, allowed: int, both: int
) -> None:
    assert overall(found) == words
    asked = (Asked(), Asked(proved=True), Asked(undecided=True), Asked(proved=True, undecided=True))
    assert tuple(exit_code(found, each) for each in asked) == (plain, required, allowed, both)
    assert not waived(found, Asked())


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_pass_on_somebodys_word_says_whose(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    stub(monkeypatch)
    assert run(work) == 0
    printed = capsys.readouterr().out
    assert "PASS (attested)" in printed.splitlines()[0]
    assert "on the word of Grace Hopper, Navy (proof.txt)" in printed.splitlines()[0]
    assert "PASS (attested): 1 claim" in printed
    folder = work / "out" / "curator"
    header, claim = rows_of(folder)[:2]
    digest = hashlib.sha256(PROOF).hexdigest()
    assert (header["verdict"], header["words"], header["exit_code"]) == ("PASS", "PASS (attested)", 0)
    assert claim["vouched"] == {"who": "Grace Hopper, Navy", "proof": "proof.txt", "kind": "file", "digest": digest}
    attested = json.loads((folder / "attestation.json").read_text())
    assert {"name": "proof.txt", "digest": {"sha256": digest}} in attested["subject"]
    verdict = attested["predicate"]["annotations"]["verdicts"][0]
    assert (verdict["verdict"], verdict["ground"], verdict["visibleLeak"]) == ("PASS (attested)", "attested", 0.0125)
    assert verdict["vouchedBy"]["digest"] == digest
    assert attested["predicate"]["passedTests"] == ["dp"]
    assert invoke(["check", "out"]) == 0


def test_a_required_proof_is_not_replaced_by_a_word(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch)
    assert run(work, "--require", "proved") == 3
    folder = work / "out" / "curator"
    header = rows_of(folder)[0]
    assert (header["verdict"], header["required"], header["exit_code"]) == ("PASS", "proved", 3)
    body = json.loads((folder / "predicate.json").read_text())
    assert (body["result"], body["passedTests"], body["warnedTests"]) == ("WARNED", [], ["dp"])
    assert body["annotations"]["required"] == "proved"
    assert ElementTree.parse(folder / "junit.xml").getroot().attrib["skipped"] == "1"
    assert invoke(["check", "out"]) == 0
    assert invoke(["certify", "deployment.toml", "--require", "examined"]) == 2


def test_without_a_word_the_same_evidence_is_undecided_and_may_be_allowed(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    stub(monkeypatch)
    assert run(work, word="") == 3
    printed = capsys.readouterr().out
    assert "UNDECIDED (no violation found)" in printed
    assert "mechanism.vouched_by" in printed
    assert run(work, "--allow-undecided", word="", out="out2") == 0
    body = json.loads((work / "out2" / "curator" / "predicate.json").read_text())
    assert (body["result"], body["annotations"]["undecidedAllowed"]) == ("WARNED", True)
    assert invoke(["check", "out2"]) == 0


def test_what_was_not_examined_is_never_waived(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    missing = "2 of at least 6 pairs were drawn from; 9 pairs were refused (ValueError)"
    stub(monkeypatch, examined=Examined(None, missing, ROW | {"visible": 1.0}))
    assert run(work, "--allow-undecided") == 3
    assert f"UNDECIDED (not tested)         {missing}" in capsys.readouterr().out
    folder = work / "out" / "curator"
    assert "undecided_allowed" not in rows_of(folder)[0]
    assert "undecidedAllowed" not in json.loads((folder / "predicate.json").read_text())["annotations"]
    assert "no leak would have been seen" in (folder / "audit.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("public", [False, True])
def test_the_public_reads_who_vouches_only_for_public_data(
    public: bool, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    stub(monkeypatch)
    data = DATA + ("public = true\n" if public else "")
    assert run(work, "--audience", "release", data=data) == 0
    printed = capsys.readouterr().out
    everything = printed + "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in (work / "out" / "release").iterdir()
    )
    assert ("Hopper" in everything) is public
    assert ("proof.txt" in everything) is public
    assert hashlib.sha256(PROOF).hexdigest() in everything
    assert "PASS (attested)" in printed
    assert "Hopper" in (work / "out" / "curator" / "audit.md").read_text(encoding="utf-8")
    assert invoke(["check", "out"]) == 0


def test_the_pages_say_what_was_examined_refused_and_not_seen(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch)
    assert run(work) == 0
    text = (work / "out" / "curator" / "audit.md").read_text(encoding="utf-8")
    front, _, rest = text.partition("## ")
    plain, shown = " ".join(front.split()), " ".join(rest.split())
    for words in (
        "PASS (attested): every claim is supported, at least one of them on somebody's word",
        "Grace Hopper, Navy (a file proof.txt, SHA-256",
        "7 pairs of data sets, at least 2,500 draws of each data set, one record added or removed, 1 more refused",
        "could not have been seen",
        "at least 8 records",
        "a record like no other; the bits that a floating-point implementation puts out",
        "the word of Grace Hopper, Navy",
        "On condition that: **every data set has at least 8 records",
        "pass (attested)",
    ):
        assert words in plain, words
    for words in (
        "Nothing here proves this claim",
        "no records: ValueError on both data sets",
        "equal seeds give other outputs",
        "replay draws again",
        "every data set has at least 8 records",
        "A record like no other.",
    ):
        assert words in shown, words


def test_of_many_pairs_a_page_shows_the_worst_and_all_that_refute() -> None:
    def row(check: str, quantity: str, low: float, outcome: str = "HOLDS", power: str = "REFUTES") -> dict[str, Any]:
        about = {"quantity": quantity, "low": 1e-6 if quantity == "p-value" else 0.0}
        return {
            "check": check,
            "power": power,
            "outcome": outcome,
            "about": about,
            "exact": None,
            "sampled": {"low": low},
        }

    claim = {"examination": ROW}
    checks = [
        row("stated worst case", "delta", 0.0, power="DECIDES"),
        row("law: pair 1", "p-value", 0.4),
        row("law: pair 2", "p-value", 0.01),
        row("black box: pair 1", "epsilon", 0.1),
        row("black box: pair 2", "epsilon", 0.3),
        row("black box: pair 3", "epsilon", 2.0, "FAILS"),
        row("its delta: pair 1", "delta at epsilon 1", 0.1),
        row("its delta: pair 1", "delta at epsilon 2", 0.05),
        row("own law: somewhere else", "epsilon", 0.2),
    ]
    shown = shown_checks(claim, checks)
    assert [(each["check"], each["sampled"]["low"]) for each in shown] == [
        ("stated worst case", 0.0),
        ("black box: pair 3", 2.0),
        ("own law: somewhere else", 0.2),
        ("law (the worst of 2 pairs)", 0.01),
        ("black box (the worst of 2 pairs)", 0.3),
        ("its delta, delta at epsilon 1", 0.1),
        ("its delta, delta at epsilon 2", 0.05),
    ]
    assert shown_checks({"examination": None}, checks) == checks


def test_a_notebook_sees_the_same_words(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stub(monkeypatch)
    (work / "deployment.toml").write_text(DATA + MECHANISM + WORD + TAIL, encoding="utf-8")
    found = notebook("deployment.toml")
    assert (found.claims, found.words) == ({"dp": Decision.PASS}, {"dp": "PASS (attested)"})


def test_the_help_says_what_each_verdict_means(capsys: Captured) -> None:
    assert invoke(["certify", "--help"]) == 0
    text = capsys.readouterr().out
    for words in (
        "PASS (proved)",
        "PASS (attested)",
        "UNDECIDED (no violation found)",
        "UNDECIDED (not tested)",
        "--require",
    ):
        assert words in text


# --- the key ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("proof", "kind", "kept"),
    [
        ("proof.txt", "file", "proof.txt"),
        (" ./proof.txt ", "file", "./proof.txt"),
        ("10.1561/0400000042", "DOI", "10.1561/0400000042"),
        ("https://doi.org/10.1561/0400000042", "DOI", "10.1561/0400000042"),
        ("https://example.org/proof?page=3", "URL", "https://example.org/proof?page=3"),
    ],
)
def test_a_proof_is_a_file_a_doi_or_a_page(proof: str, kind: str, kept: str, work: Path) -> None:
    found = Vouched.read("somebody", proof, work)
    assert (found.kind, found.proof) == (kind, kept)
    assert found.digest == (hashlib.sha256(PROOF).hexdigest() if kind == "file" else "")
    shown = found.row(names=False)
    assert len(shown["digest"]) == 64
    assert ("proof" in shown) is (kind == "DOI")
    assert "who" not in shown


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ('vouched_by = { who = "A" }', "mechanism.vouched_by.proof must be given, got nothing"),
        ('vouched_by = { proof = "proof.txt" }', "mechanism.vouched_by.who must be given, got nothing"),
        ('vouched_by = { who = "", proof = "proof.txt" }', "vouched_by.who must be text that is not empty, got"),
        ('vouched_by = { who = "A", proof = " " }', "vouched_by.proof must be text that is not empty, got"),
        ('vouched_by = { who = "A", proof = 3 }', "mechanism.vouched_by.proof must be text, got"),
        ('vouched_by = { who = "A\\nB", proof = "proof.txt" }', "vouched_by.who must be one line of text"),
        ('vouched_by = { who = "A", proof = "no.txt" }', "must be a file that can be read, a DOI (10.…/…) or a URL"),
        ('vouched_by = { who = "A", proof = "10.12" }', "must be a file that can be read, a DOI (10.…/…) or a URL"),
        ('vouched_by = { who = "A", proof = "http://" }', "must be a file that can be read, a DOI (10.…/…) or a URL"),
        ('vouched_by = { who = "A", proof = "." }', "must be a file that can be read, a DOI (10.…/…) or a URL"),
        ('vouched_by = { who = "A", proof = "empty.txt" }', "vouched_by.proof must be a file that is not empty, got"),
        (
            'vouched_by = { who = "A", poof = "empty.txt" }',
            "vouched_by.poof must be a known key, got mechanism.vouched",
        ),
        ('vouched_by = "A"', "mechanism.vouched_by must be a table, got mechanism.vouched_by=A"),
        ('vouched_by = { who = "REQUIRED", proof = "proof.txt" }', "mechanism.vouched_by.who must be filled in"),
    ],
)
def test_half_a_word_is_refused_in_one_line(word: str, message: str, work: Path, capsys: Captured) -> None:
    (work / "empty.txt").write_text("\n")
    assert run(work, word=word + "\n") == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith("note: this file runs code (")]
    assert len(lines) == 1
    assert message in lines[0]


def test_a_word_for_a_mechanism_of_ours_is_refused(work: Path, capsys: Captured) -> None:
    ours = DATA + '[mechanism]\nname = "ssp"\nsigma_gram = 8.0\nsigma_moment = 8.0\nlam = 1.0\n' + WORD + TAIL
    (work / "deployment.toml").write_text(ours, encoding="utf-8")
    assert invoke(["certify", "deployment.toml"]) == 2
    assert "mechanism.vouched_by must be a known key" in capsys.readouterr().err


def test_a_word_is_read_from_beside_the_configuration(work: Path) -> None:
    (work / "below").mkdir()
    (work / "below" / "deployment.toml").write_text(DATA + MECHANISM + WORD + TAIL, encoding="utf-8")
    with pytest.raises(UserError, match=r"mechanism\.vouched_by\.proof must be a file that can be read"):
        vouched_by(load(work / "below" / "deployment.toml"))
    (work / "deployment.toml").write_text(DATA + MECHANISM + TAIL, encoding="utf-8")
    assert vouched_by(load(work / "deployment.toml")) is None


@pytest.mark.parametrize(("who", "proof"), [("", "a"), ("a", ""), (" ", "a"), ("a\nb", "c")])
def test_half_a_word_cannot_be_built(who: str, proof: str) -> None:
    with pytest.raises(ValueError, match="must be one line of text that is not empty"):
        Vouched(who, proof)


MECHANISM_PUBLIC_WORDS = '''
import numpy as np
from mechanisms import GaussianProfile


class OwnDataOnly:
    """Private everywhere but near the user's own data, which have 17 records."""

    name = "own data only"

    def draw(self, dataset, n_draws, *, rng):
        sigma = 1e-3 if dataset.n_records in (16, 17) else 20.0
        return dataset.y.sum() + sigma * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs[:, 0] - dataset.y.sum()) / 20.0)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / 20.0)
'''
OWN_DATA_ONLY = section("[data]", file="data.csv", features=["a"], target="y", x_bound=1.0, y_bound=1.0)
OWN_DATA_ONLY += imported("mine.py:OwnDataOnly") + 'vouched_by = { who = "its author", proof = "10.1000/182" }\n'
OWN_DATA_ONLY += dp(1.0) + section("[budget]", profile="quick", pairs=2, draws=3000)


def test_the_public_reads_nothing_of_what_own_records_gave_away(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM_PUBLIC_WORDS, encoding="utf-8")
    (tmp_path / "c.toml").write_text(OWN_DATA_ONLY, encoding="utf-8")
    texts = []
    for n in (17, 40):  # leaking and not
        rows = np.column_stack([0.5 * np.sin(np.arange(n)), 0.9 * np.cos(np.arange(n))])
        np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,y", comments="")
        inside, outside = (certify(tmp_path / "c.toml", audience=who) for who in ("curator", "release"))
        assert inside.decision.name == ("FAIL" if n == 17 else "PASS")
        assert "your data" in str(inside.rows)
        assert "your data" not in str(outside.rows)
        texts.append(str(outside.rows))
    assert texts[0] == texts[1]
