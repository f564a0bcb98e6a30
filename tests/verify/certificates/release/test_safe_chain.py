"""The output of a certificate is one that its chain of draws counts, in the curator's copy and where it was drawn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toys.forgery import CONFIGURATION, attest_again, certify, lay_out, release_folder

from verify.certificates.folder.attestation import sha256
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def origin(private_certificate: Path) -> Path:
    return private_certificate.parent


@pytest.fixture
def place(origin: Path) -> Path:
    """The release folder, put back afterwards by whoever takes it away."""
    return release_folder(origin / "d.toml")


def said(folder: Path, capsys: Captured) -> tuple[int, str]:
    capsys.readouterr()
    return invoke(["check", str(folder)]), capsys.readouterr().out


def test_an_output_that_the_release_folder_does_not_count_fails(origin: Path, place: Path, capsys: Captured) -> None:
    """Two runs at once each published an output once, for one draw in the list: one of them was not in it."""
    curator, spent = origin / "out" / "curator", place / "spent.json"
    honest = spent.read_bytes()
    entries = json.loads(honest)
    try:
        for changed in ([entries[0] | {"sha256": "0" * 64}, entries[1]], [entries[1]], [], entries[:1]):
            spent.write_text(json.dumps(changed))
            code, out = said(curator, capsys)
            assert (code, f"{spent} does not count" in out) == (1, True)
        for junk in ("{", '[{"what": "else"}]', "[5]", "[" * 100_000):
            spent.write_text(junk)
            code, out = said(curator, capsys)
            assert (code, "spent.json" in out) == (1, True)
        spent.write_text(json.dumps([*entries, entries[0]]))
        code, out = said(curator, capsys)
        assert (code, f"1 later draw in {place}" in out) == (0, True)
    finally:
        spent.write_bytes(honest)
    assert said(curator, capsys)[0] == 0


@pytest.mark.slow
def test_a_release_folder_that_is_not_there_is_a_note(origin: Path, place: Path, capsys: Captured) -> None:
    place.rename(origin / "moved")
    try:
        code, out = said(origin / "out" / "curator", capsys)
    finally:
        (origin / "moved").rename(place)
    assert (code, "the release folder is not at hand: its chain of draws was not compared" in out) == (0, True)


@pytest.mark.quick
def test_the_attestation_names_the_output_and_the_record_its_numbers(origin: Path, place: Path) -> None:
    attested = json.loads((origin / "out" / "curator" / "attestation.json").read_bytes())
    assert [each["name"] for each in attested["subject"]] == ["d.toml", "output.json", "model.onnx"]
    assert attested["subject"][1]["digest"]["sha256"] == sha256((place / "output.json").read_bytes())
    copied = json.loads((origin / "out" / "curator" / "releases.json").read_bytes())
    assert copied == json.loads((place / "spent.json").read_bytes())
    assert not (origin / "out" / "release" / "releases.json").exists()
    assert set(json.loads((origin / "out" / "release" / "run.json").read_bytes())) == {"schema_version", "date"}


@pytest.mark.slow
def test_a_second_draw_is_counted_in_its_own_certificate(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path)
    assert certify(configuration, tmp_path / "one") == 0
    assert certify(configuration, tmp_path / "two", "--draw-again") == 3  # two draws cost more than the claim
    code, out = said(tmp_path / "two", capsys)
    assert (code, "later draw" in out) == (0, False)
    code, out = said(tmp_path / "one", capsys)
    assert (code, "2 later draws in" in out) == (0, True)
    for part in ("curator", "release"):  # the first record with the second output around it
        shutil.copy(tmp_path / "two" / part / "audit.jsonl", tmp_path / "one" / part / "audit.jsonl")
    assert said(tmp_path / "one", capsys)[0] == 1


@pytest.mark.slow
def test_a_file_of_ones_own_is_released_without_a_chain(tmp_path: Path, capsys: Captured) -> None:
    text = CONFIGURATION.replace("draw = true", 'file = "theta.json"')
    text = text.replace("[report]\nrho = 0.01\nsigma2 = 8.0\nsigma3 = 0.25\n", "")
    configuration = lay_out(tmp_path, text)
    (tmp_path / "theta.json").write_text("[0.5, 0.25]")
    assert certify(configuration, tmp_path / "out") == 0
    assert said(tmp_path / "out", capsys)[0] == 0
    assert (tmp_path / "out" / "curator" / "releases.json").read_text() == "[]\n"
    (tmp_path / "theta.json").write_text("[0.5, 0.5]")
    code, out = said(tmp_path / "out" / "curator", capsys)
    assert (code, "release.file is not at hand as it was: its numbers were not compared" in out) == (0, True)
    folder, digest = tmp_path / "out" / "curator", sha256((tmp_path / "theta.json").read_bytes())
    attested = json.loads((folder / "attestation.json").read_bytes())
    attested["predicate"]["configuration"][-2]["digest"]["sha256"] = digest
    attest_again(folder, attested=json.dumps(attested).encode())
    code, out = said(folder, capsys)
    assert (code, "audit.jsonl holds other numbers than the output that was attested" in out) == (1, True)
