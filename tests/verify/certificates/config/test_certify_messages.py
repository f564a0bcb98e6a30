"""What ``init``, ``check`` and ``certify`` say when something is missing, damaged or empty: one line that names it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toys.deployments import QUICK, SSP, dp, section

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
PUBLIC = section("[data]", source="anes96") + SSP + dp(1.0) + QUICK


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished certificate of public data, for both audiences."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "d.toml").write_text(PUBLIC, encoding="utf-8")
    assert invoke(["certify", str(folder / "d.toml"), "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def header_file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    path.write_text("age,income,ill\n1,2,1\n", encoding="utf-8")
    return path


def test_init_into_a_folder_that_is_not_there_is_one_line(tmp_path: Path, capsys: Captured) -> None:
    output = tmp_path / "nodir" / "x.toml"
    assert invoke(["init", str(header_file(tmp_path)), "--target", "ill", "-o", str(output)]) == 2
    err = capsys.readouterr().err
    assert f"output must be a file that can be written, got output={output} (No such file or directory)" in err
    assert err.count("\n") == 1


def test_init_asks_for_what_is_required_and_for_nothing_else(tmp_path: Path, capsys: Captured) -> None:
    example, draft = tmp_path / "example.toml", tmp_path / "draft.toml"
    assert invoke(["init", "-o", str(example)]) == 0
    assert capsys.readouterr().err == f"next: pdp-verify certify {example}\n"
    assert invoke(["init", str(header_file(tmp_path)), "--target", "ill", "-o", str(draft)]) == 0
    assert f"next: fill in every REQUIRED in {draft}, then pdp-verify" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "words"), [("nope", "--target nope; it has age, income, ill"), ("incom", "; did you mean income")]
)
def test_init_suggests_a_column_only_when_one_is_near(
    target: str, words: str, tmp_path: Path, capsys: Captured
) -> None:
    assert invoke(["init", str(header_file(tmp_path)), "--target", target]) == 2
    assert capsys.readouterr().err.endswith(f"{words}\n")


def test_check_says_what_it_compared(finished: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "every file is the one that was attested, and what the record makes was made again: they belong together"
    unsigned = "not signed: whoever rewrites the files and their digests is not noticed"
    curator, release = (f"{part}: {words}\n{part}: {unsigned}\n" for part in ("curator", "release"))
    capsys.readouterr()
    assert invoke(["check", str(finished)]) == 0
    assert capsys.readouterr().out == f"{curator}{release}"
    monkeypatch.chdir(finished / "curator")
    assert invoke(["check", "."]) == 0
    assert capsys.readouterr().out == curator


@pytest.mark.parametrize("renamed", [False, True])
def test_a_curators_folder_needs_its_configuration(renamed: bool, copy: Path, capsys: Captured) -> None:
    folder = copy / "curator"
    (folder / "configuration.toml").unlink()
    if renamed:
        folder = folder.rename(copy.parent / "theirs")
    assert invoke(["check", str(folder)]) == 1
    assert capsys.readouterr().out == f"{folder.name}: configuration.toml is missing\n"


@pytest.mark.parametrize("name", ["attestation.json", "audit.jsonl", "predicate.json", "run.json"])
@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b"[]", b"[1]"])
def test_check_names_the_file_that_is_damaged(name: str, content: bytes, copy: Path, capsys: Captured) -> None:
    (copy / "release" / name).write_bytes(content)
    assert invoke(["check", str(copy / "release")]) == 1
    out = capsys.readouterr().out
    assert out.startswith(f"release: {name} is not readable")
    assert out.count("\n") == 1
    assert "codec" not in out


def test_check_survives_files_of_another_shape(copy: Path, capsys: Captured) -> None:
    folder = copy / "release"
    attested = json.loads((folder / "attestation.json").read_text())
    (folder / "attestation.json").write_text(json.dumps(attested | {"subject": [1]}))
    assert invoke(["check", str(folder)]) == 1
    assert "attestation.json is not the statement of its predicate" in capsys.readouterr().out
    header = (folder / "audit.jsonl").read_text().splitlines()[0]
    (folder / "attestation.json").write_text(json.dumps(attested))
    (folder / "audit.jsonl").write_text(json.dumps({**json.loads(header), "data": None}) + "\n")
    (folder / "audit.md").write_bytes(b"\xff")
    assert invoke(["check", str(folder)]) == 1
    assert "audit.jsonl is not the file that was attested" in capsys.readouterr().out


@pytest.mark.parametrize("record", [None, '{"statement": "x"}\n', '{"record": "calibration"}\n'])
def test_check_refuses_a_folder_without_a_certificate(record: str | None, tmp_path: Path, capsys: Captured) -> None:
    for name in ("audit.jsonl", "audit.pdf", "run.json") if record else ():
        (tmp_path / name).write_text(str(record), encoding="utf-8")
    assert invoke(["check", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"error: folder must be that of a certificate, got folder={tmp_path}\n"


def test_the_help_says_which_folders_there_will_be(capsys: Captured) -> None:
    assert invoke(["certify", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    assert "to a release folder beside the curator's, which stays inside" in words
