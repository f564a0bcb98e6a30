"""What ``check`` vouches for, it has compared: a changed or foreign file is named; no writer follows a link."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, dp, imported
from toys.forgery import BOTH, attest_again, certify, flipped, lay_out, names_in, paths_of, replaced

from reports.junit import junit_xml
from verify.certificates.certificate import record_text
from verify.certificates.folder.output import junit_cases, parse_rows, render_again
from verify.cli import invoke
from verify.engine.store import Store
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def finished(private_certificate: Path) -> Path:
    return private_certificate


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def said(folder: Path, capsys: Captured, *arguments: str) -> tuple[int, str]:
    """Return the exit code of ``check`` and what it printed."""
    capsys.readouterr()
    code = invoke(["check", str(folder), *arguments])
    printed = capsys.readouterr()
    assert printed.err == ""
    return code, printed.out


def flips(folder: Path, per_file: int, seed: int) -> Iterator[tuple[Path, int]]:
    """Yield each file of both folders with as many places in it."""
    rng = np.random.default_rng(seed)
    for part in BOTH:
        for name in names_in(folder / part):
            for place in rng.integers(8 * (folder / part / name).stat().st_size, size=per_file):
                yield folder / part / name, int(place)


def every_flip_is_noticed(folder: Path, per_file: int, seed: int, capsys: Captured) -> int:
    tried = 0
    for path, place in flips(folder, per_file, seed):
        before = path.read_bytes()
        path.write_bytes(flipped(before, place))
        code, out = said(path.parent, capsys)
        assert (code, path.name in out) == (1, True), (path, place, out)
        path.write_bytes(before)
        tried += 1
    return tried


def test_a_flipped_bit_is_noticed_in_every_file(copy: Path, capsys: Captured) -> None:
    assert every_flip_is_noticed(copy, 2, 1, capsys) == 2 * (12 + 10)
    assert said(copy, capsys)[0] == 0


@pytest.mark.slow
def test_flipped_bits_are_noticed_wherever_they_are(copy: Path, capsys: Captured) -> None:
    assert every_flip_is_noticed(copy, 60, 2, capsys) == 60 * (12 + 10)


@pytest.mark.slow
def test_every_bit_of_the_attestation_matters(copy: Path, capsys: Captured) -> None:
    """The one file whose digest is nowhere: every byte of it, one bit each."""
    path = copy / "release" / "attestation.json"
    before = path.read_bytes()
    for place in range(len(before)):
        path.write_bytes(flipped(before, 8 * place + place % 8))
        code, out = said(path.parent, capsys)
        assert (code, path.name in out) == (1, True), (place, out)


@pytest.mark.quick
@pytest.mark.parametrize("part", BOTH)
def test_a_missing_a_foreign_and_a_linked_file_are_named(part: str, copy: Path, capsys: Captured) -> None:
    folder = copy / part
    for name in names_in(folder):
        path = folder / name
        data = path.read_bytes()
        path.unlink()
        code, out = said(folder, capsys)
        assert (code, f"{name} is missing" in out) == (1, True)
        path.symlink_to(copy / "elsewhere")
        assert f"{name} is a symbolic link" in said(folder, capsys)[1]
        path.unlink()
        path.mkdir()
        assert f"{name} is no file" in said(folder, capsys)[1]
        path.rmdir()
        path.write_bytes(b"")
        code, out = said(folder, capsys)
        assert (code, name in out) == (1, True)
        path.write_bytes(data)
    for name in ("extra.txt", "configuration.toml" if part == "release" else ".hidden", "a\nb"):
        (folder / name).write_bytes(b"x")
        code, out = said(folder, capsys)
        assert (code, "no part of" in out) == (1, True)
        (folder / name).unlink()
    os.mkfifo(folder / "pipe")
    assert "pipe is no file" in said(folder, capsys)[1]


def test_a_linked_or_exchanged_folder_is_not_followed(copy: Path, capsys: Captured) -> None:
    (copy / "release").rename(copy.parent / "elsewhere")
    (copy / "release").symlink_to(copy.parent / "elsewhere")
    assert said(copy, capsys) == (1, "release: it is no folder\n")
    (copy / "release").unlink()
    shutil.copytree(copy / "curator", copy / "release")
    code, out = said(copy / "release", capsys)
    assert (code, "release: audit.jsonl is for the audience curator" in out) == (1, True)


@pytest.mark.slow
def test_the_folders_of_two_certificates_do_not_belong_together(copy: Path, tmp_path: Path, capsys: Captured) -> None:
    assert certify(lay_out(tmp_path / "other"), tmp_path / "other" / "out") == 0
    shutil.rmtree(copy / "release")
    shutil.copytree(tmp_path / "other" / "out" / "release", copy / "release")
    code, out = said(copy, capsys)
    assert (code, "audit.jsonl in the two folders holds different releases" in out) == (1, True)


@pytest.mark.parametrize("part", BOTH)
@pytest.mark.parametrize("name", ["report-independent.json", "report-dependent.json"])
def test_a_report_that_is_not_the_records_is_named(part: str, name: str, copy: Path, capsys: Captured) -> None:
    """What a data subject relies on: sigma 11 -> 99 went unnoticed once, and told her too little."""
    path = copy / part / name
    path.write_bytes(path.read_bytes().replace(b'"sigma": 8.0', b'"sigma": 99.0'))
    assert f"{name} is not the file that was attested" in said(copy / part, capsys)[1]
    attest_again(copy / part)
    code, out = said(copy / part, capsys)
    assert (code, f"{name} is not made from this audit.jsonl" in out) == (1, True)


def test_configuration_and_chain_are_compared_by_what_they_say(copy: Path, capsys: Captured) -> None:
    """A careless forger writes every digest anew, and the record still says something else."""
    folder = copy / "curator"
    honest = {name: (folder / name).read_bytes() for name in names_in(folder)}
    text = honest["configuration.toml"].replace(b"sigma = 8.0", b"sigma = 9.0")
    (folder / "configuration.toml").write_bytes(text)
    attest_again(folder)
    code, out = said(folder, capsys)
    assert (code, "configuration.toml is not the configuration that was attested" in out) == (1, True)
    (folder / "configuration.toml").write_bytes(honest["configuration.toml"])
    entries = json.loads(honest["releases.json"])
    for changed in ([], entries[1:], entries[:1], [*entries, entries[0]], [entries[0] | {"sha256": "0" * 64}]):
        (folder / "releases.json").write_text(json.dumps(changed))
        attest_again(folder)
        code, out = said(folder, capsys)
        assert (code, "releases.json" in out) == (1, True)


def test_signatures_lie_beside_the_attestation_and_are_named(copy: Path, capsys: Captured) -> None:
    for suffix in ("sig", "sigstore.json", "bundle", "asc"):
        (copy / "release" / f"attestation.json.{suffix}").write_bytes(b"signed")
    code, out = said(copy / "release", capsys)
    assert code == 0
    assert "attestation.json.sigstore.json lies beside the attestation; signatures are not checked" in out
    assert "not signed" not in out


def test_the_artefact_is_found_by_its_digest(finished: Path, capsys: Captured) -> None:
    model = finished.parent / "model.onnx"
    code, out = said(finished / "release", capsys, "--artefact", str(model))
    assert (code, "is the artefact that was attested; it was named, not examined" in out) == (0, True)
    other = finished.parent / "data.csv"
    code, out = said(finished / "release", capsys, "--artefact", str(other))
    assert (code, f"{other} is not the artefact that was attested (model.onnx)" in out) == (1, True)
    assert invoke(["check", str(finished), "--artefact", "nowhere.onnx"]) == 2
    assert "--artefact must be a file that can be read" in capsys.readouterr().err
    for part in BOTH:
        subjects = json.loads((finished / part / "attestation.json").read_bytes())["subject"]
        assert subjects[-1]["name"] == "model.onnx"


@pytest.mark.parametrize("part", BOTH)
def test_a_subject_that_nothing_speaks_about_is_named(part: str, copy: Path, capsys: Captured) -> None:
    """Another model, so that its holder finds a certificate that is not its own."""
    attest_again(copy / part, more=[{"name": "other.onnx", "digest": {"sha256": "0" * 64}}])
    code, out = said(copy / part, capsys)
    assert (code, f"{part}: attestation.json names " in out) == (1, True)


IMPORTED = DATA + imported("mine.py:Mine", views=["mine.py:first", "views.py:first"])
IMPORTED += 'vouched_by = { who = "us", proof = "proof.txt" }\n' + QUICK + "pairs = 1\ndraws = 200\n" + dp(1.0)
MINE = """
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return rng.normal(size=(n_draws, 1))
"""
FIRST = "def first(output):\n    return float(output[0])\n"


@pytest.mark.slow
def test_code_views_and_proof_are_inputs_by_name(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path, IMPORTED)
    for name, text in {"mine.py": MINE + FIRST, "views.py": FIRST, "proof.txt": "as it is"}.items():
        (tmp_path / name).write_text(text)
    code = certify(configuration, tmp_path / "out")
    assert code == 3
    assert said(tmp_path / "out", capsys)[0] == 0
    subjects = json.loads((tmp_path / "out" / "curator" / "attestation.json").read_bytes())["subject"]
    assert [each["name"] for each in subjects] == ["d.toml", "mine.py", "views.py", "proof.txt"]
    assert certify(configuration, tmp_path / "out") == code
    (tmp_path / "views.py").write_text(FIRST + "\n")
    capsys.readouterr()
    assert certify(configuration, tmp_path / "out") == 2
    assert "differs in views.py" in capsys.readouterr().err


JUNK = [b"", b"null", b"[]", b"5", b'"x"', b"\xff\xfe\x00", b"[" * 100_000, b'{"a":' * 100_000, b"{}", b"9" * 10_000]


@pytest.mark.parametrize("part", BOTH)
def test_junk_is_named_and_no_defect(part: str, copy: Path, capsys: Captured) -> None:
    folder = copy / part
    for name in names_in(folder):
        before = (folder / name).read_bytes()
        for junk in JUNK:
            (folder / name).write_bytes(junk)
            code, out = said(folder, capsys)
            assert (code, name in out) == (1, True), (name, junk[:9], out)
        (folder / name).write_bytes(before)


VALUES = (None, [], {}, "x", -1, 1e300, True, [[[]]])


def odd_values(folder: Path, name: str, every: int) -> Iterator[bytes]:
    """Yield a file of JSON lines with one value of another type in it."""
    lines = (folder / name).read_text(encoding="utf-8").splitlines() if name.endswith("l") else [""]
    rows = [json.loads(line) for line in lines] if lines != [""] else [json.loads((folder / name).read_bytes())]
    places = [(k, path) for k, row in enumerate(rows) for path in paths_of(row) if row.get("kind") != "figure"]
    for count, (k, path) in enumerate(places):
        if count % every == 0:
            odd = replaced(rows[k], path, VALUES[count // every % len(VALUES)])
            changed = [*rows[:k], odd, *rows[k + 1 :]]
            if json.dumps(changed) == json.dumps(rows):
                continue
            yield "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in changed).encode()


def no_odd_value_is_vouched_for(folder: Path, name: str, every: int, capsys: Captured) -> int:
    tried = 0
    for data in odd_values(folder, name, every):
        (folder / name).write_bytes(data)
        code, out = said(folder, capsys)
        assert (code, name in out) == (1, True), (data[:200], out)
        tried += 1
    return tried


@pytest.mark.parametrize("name", ["attestation.json", "predicate.json", "run.json", "audit.jsonl"])
def test_a_value_of_another_type_is_named_and_no_defect(name: str, copy: Path, capsys: Captured) -> None:
    assert no_odd_value_is_vouched_for(copy / "curator", name, 17, capsys) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["attestation.json", "predicate.json", "run.json", "audit.jsonl"])
def test_any_value_of_another_type_is_named_and_no_defect(name: str, copy: Path, capsys: Captured) -> None:
    assert no_odd_value_is_vouched_for(copy / "curator", name, 1, capsys) >= 4


def the_careless_forger_is_found(folder: Path, every: int, capsys: Captured) -> int:
    """Odd records around which every digest was written anew: never vouched for, never a defect."""
    tried, attested = 0, (folder / "attestation.json").read_bytes()
    for data in odd_values(folder, "audit.jsonl", every):
        (folder / "audit.jsonl").write_bytes(data)
        try:
            attest_again(folder, attested=attested)
        except (LookupError, TypeError, ValueError, AttributeError):
            continue  # the forger's own tool stumbles
        code, out = said(folder, capsys)
        assert code == 1, (data[:300], out)
        tried += 1
    return tried


def test_digests_written_anew_do_not_help_a_changed_record(copy: Path, capsys: Captured) -> None:
    assert the_careless_forger_is_found(copy / "curator", 47, capsys) >= 5


@pytest.mark.slow
def test_digests_written_anew_help_no_changed_record(copy: Path, capsys: Captured) -> None:
    assert the_careless_forger_is_found(copy / "curator", 7, capsys) >= 40


def made_again(folder: Path, rows: list[dict[str, object]]) -> None:
    """Write a folder anew from other rows: record, pages, JUnit and attestation, as a forger could."""
    record, run = folder / "audit.jsonl", json.loads((folder / "run.json").read_bytes())
    record.write_text(record_text(rows), encoding="utf-8")
    for name in ("audit.pdf", "audit.html", "audit.md"):
        render_again(record, run, folder / name, jobs=1)
    (folder / "junit.xml").write_bytes(junit_xml("pdp-verify certify", junit_cases(rows)))
    attest_again(folder)


#: What is written of the failure probability -> whether it adds up.
BUDGETS = {
    "it is not said, as of old": (None, 0),
    "a part is larger": (lambda row: replaced(row, ("leaves", 0, "alpha"), 0.9), 1),
    "a part is twice there": (lambda row: row | {"leaves": [*row["leaves"], row["leaves"][0]]}, 1),
    "the whole is larger": (lambda row: row | {"failure_prob": 0.5}, 1),
    "a part was not spent": (lambda row: replaced(row, ("leaves", 0, "spent"), not row["leaves"][0]["spent"]), 1),
    "as it was": (lambda row: row, 0),
}


@pytest.mark.parametrize("name", BUDGETS)
def test_a_failure_probability_that_does_not_add_up_is_named(name: str, copy: Path, capsys: Captured) -> None:
    """Even where everything else was made again to fit."""
    folder, (change, expected) = copy / "release", BUDGETS[name]
    rows = parse_rows((folder / "audit.jsonl").read_bytes())
    (budget,) = [row for row in rows if row["kind"] == "budget"]
    others = [row for row in rows if row is not budget]
    made_again(folder, others if change is None else [*others, change(budget)])
    code, out = said(folder, capsys)
    assert code == expected, out
    assert ("a failure probability that does not add up" in out) is bool(expected)


@pytest.mark.parametrize("there", [True, False])
def test_a_store_that_is_a_link_is_refused(there: bool, tmp_path: Path) -> None:
    """SQLite would take an empty file for a store of its own, or make one where the link points."""
    victim = tmp_path / "victim"
    if there:
        victim.touch()
    (tmp_path / "store.sqlite").symlink_to(victim)
    with pytest.raises(UserError, match=r"^store must be a file, got store=.*store\.sqlite \(a link\)"):
        Store(tmp_path / "store.sqlite")
    assert victim.exists() is there
    assert not there or victim.read_bytes() == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.sqlite"] + ["victim"] * there
