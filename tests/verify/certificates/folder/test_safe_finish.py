"""A killed run finishes with the same command, a finished one says so, and a refused one leaves no folder behind."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from toys.deployments import ARTEFACT, DATA, DRAWN, QUICK, SSP, dp, write_rows
from toys.forgery import BOTH, certify, flipped, lay_out, names_in

from reports.row import Audience
from verify.certificates.asked import Asked
from verify.certificates.certificate import decide, read_deployment
from verify.certificates.config.config import load
from verify.certificates.folder import output
from verify.certificates.folder.check_folder import check_folder
from verify.certificates.folder.finished import Request
from verify.certificates.folder.output import Contents, contents
from verify.cli import invoke
from verify.engine.held import held

Captured = pytest.CaptureFixture[str]
TEXT = DATA + SSP + DRAWN + ARTEFACT + QUICK + dp(1.0)


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it is done."""


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("origin")
    assert certify(lay_out(folder, TEXT), folder / "out") == 0
    return folder


@pytest.fixture
def work(origin: Path, tmp_path: Path) -> Path:
    """The finished certificate, its configuration and its release folder, at another place."""
    return Path(shutil.copytree(origin, tmp_path / "work"))


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return every visible file with the time at which it was written."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


def refused(work: Path, capsys: Captured, *arguments: str) -> str:
    """Return the line of a refusal; nothing was written."""
    before = everything(work)
    capsys.readouterr()
    assert certify(work / "d.toml", work / "out", *arguments) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert everything(work) == before
    return printed.err


def test_a_finished_one_says_so_and_keeps_its_own_code(work: Path, capsys: Captured) -> None:
    """A retry of the same command is no failure, and draws and writes nothing."""
    before = everything(work)
    capsys.readouterr()
    assert certify(work / "d.toml", work / "out") == 0
    out = capsys.readouterr().out
    assert re.match(r"dp +PASS \(proved\) +Proved: the same bound gives epsilon 0\.\d+ at delta 1e-\d\.", out)
    assert (
        out.count("finished before: of the same inputs, by these sources; nothing was drawn or written; whether") == 1
    )
    assert certify(work / "d.toml", work / "out", "--audience", "curator") == 0
    assert everything(work) == before


@pytest.mark.slow
def test_another_version_still_counts_as_finished(
    work: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verify.engine.versions.source_digest", lambda: "0" * 64)
    assert certify(work / "d.toml", work / "out") == 0
    assert "finished before: of the same inputs, by pdp-verify 0.1.0, sources" in capsys.readouterr().out


def another_record(work: Path) -> None:
    rows = np.loadtxt(work / "data.csv", delimiter=",", skiprows=1)
    rows[3, 0] = 0.123456
    write_rows(work, rows)


def write(name: str, data: str) -> Callable[[Path], None]:
    return lambda work: (work / name).write_text(data) and None


@pytest.mark.parametrize("missing", [False, True])
def test_a_release_does_not_say_whether_the_records_changed(missing: bool, work: Path, capsys: Captured) -> None:
    """What it says holds whatever they are, and the curator's folder stays: nothing that others see depends on them."""
    other = Path(shutil.copytree(work, work.parent / "other"))
    another_record(other)
    seen = []
    for folder in (work, other):
        if missing:
            (folder / "out" / "release" / "attestation.json").unlink()
        curator = everything(folder / "out" / "curator")
        capsys.readouterr()
        code = certify(folder / "d.toml", folder / "out")
        assert everything(folder / "out" / "curator") == curator
        files = {name: data for name, (_, data) in everything(folder / "out" / "release").items()}
        printed = capsys.readouterr()
        seen.append((code, printed.out.replace(str(folder), ""), printed.err, files))
    assert seen[0] == seen[1]
    assert seen[0][0] == 0
    assert ("finished before" in seen[0][1]) is not missing
    assert invoke(["check", str(other / "out")]) == 0


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (another_record, ("--audience", "curator"), "differs in data.file;"),
        (write("d.toml", TEXT + "\n"), (), "differs in the configuration d.toml"),
        (write("model.onnx", "others"), (), "differs in model.onnx"),
        (lambda work: (work / "d.releases" / "output.json").unlink(), (), "output.json, which is not there any more"),
        (lambda _: None, ("--allow-undecided",), "differs in --allow-undecided, which was not given"),
        (lambda _: None, ("--require", "proved"), "differs in --require, which was not given"),
        (lambda _: None, ("--draw-again",), "differs in --draw-again, which was not given"),
    ],
)
def test_other_inputs_are_named_and_nothing_is_touched(
    change: Callable[[Path], None], arguments: tuple[str, ...], words: str, work: Path, capsys: Captured
) -> None:
    change(work)
    line = refused(work, capsys, *arguments)
    assert words in line
    assert "0.123456" not in line
    assert "--overwrite replaces it" in line


@pytest.mark.slow
def test_a_later_draw_is_another_input(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path, TEXT.replace(dp(1.0), dp(2.0)))
    assert certify(configuration, tmp_path / "out") == 0
    assert certify(configuration, tmp_path / "two", "--draw-again") == 0
    assert "differs in output.json" in refused(tmp_path, capsys)


@pytest.mark.parametrize("part", ["curator", pytest.param("release", marks=pytest.mark.slow)])
def test_a_damaged_one_is_named(part: str, work: Path, capsys: Captured) -> None:
    path = work / "out" / part / "audit.pdf"
    path.write_bytes(flipped(path.read_bytes(), 4000))
    line = refused(work, capsys)
    assert f"with a damaged certificate: {part}: audit.pdf is not the file that was attested" in line


def test_the_folder_that_is_missing_is_added(work: Path, capsys: Captured) -> None:
    """Killed between the two folders, or asked for the release later: the curator's stays as it was, signed or not."""
    curator = work / "out" / "curator"
    (curator / "attestation.json.sig").write_text("signed")
    before = everything(curator)
    for name in ("audit.pdf", "attestation.json"):
        (work / "out" / "release" / name).unlink()
    assert certify(work / "d.toml", work / "out") == 0
    assert everything(curator) == before
    assert invoke(["check", str(work / "out")]) == 0
    assert "finished before" not in capsys.readouterr().out


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Stop before the file operation of that number, of those that write the folders."""
    counts = [0]
    honest = {"write_atomic": output.write_atomic, "make_folder": output.make_folder, "discard": output.discard}

    def counting(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            counts[0] += 1
            if counts[0] == step:
                raise Killed
            return honest[name](*arguments, **named)

        return call

    for name in honest:
        monkeypatch.setattr(output, name, counting(name))
    return monkeypatch


#: Two folders taken away, two made, 10 + 8 files written.
STEPS = 2 + 2 + 10 + 8


@pytest.fixture(scope="module")
def parts(origin: Path) -> list[Contents]:
    """Both folders of the certificate, made and not written."""
    loaded, asked = load(origin / "d.toml"), Asked()
    both = (Audience.CURATOR, Audience.RELEASE)
    certificate = decide(*read_deployment(loaded, jobs=1))
    about = {"asked": Request(loaded, both, asked, draw_again=False).words}
    return [
        contents(certificate, loaded, each, date=output.today(), jobs=1, about=about if each is both[0] else None)
        for each in both
    ]


def finishes(step: int, parts: list[Contents], work: Path, *arguments: str) -> None:
    """Kill the writing at a step; the same command finishes, with the output of before."""
    kept = (work / "d.releases" / "output.json").read_bytes()
    with pytest.MonkeyPatch.context() as patch:
        killed_at(step, patch)
        with pytest.raises(Killed):
            output.write_all(parts, work / "out")
    assert certify(work / "d.toml", work / "out", *arguments) == 0
    for part in BOTH:
        assert check_folder(work / "out" / part, render=False).wrong == []
    assert (work / "d.releases" / "output.json").read_bytes() == kept


def test_a_run_that_was_killed_between_the_folders_finishes(parts: list[Contents], work: Path) -> None:
    shutil.rmtree(work / "out")
    (work / "out").mkdir()
    finishes(STEPS - 8, parts, work)


@pytest.mark.slow
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_at_every_file_operation(step: int, parts: list[Contents], work: Path) -> None:
    """In a new folder, and where an older certificate is replaced."""
    if step % 2:
        shutil.rmtree(work / "out")
        (work / "out").mkdir()
        finishes(step, parts, work)
    else:
        finishes(step, parts, work, "--overwrite")


def test_there_are_as_many_file_operations_as_were_killed(parts: list[Contents], work: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        killed_at(STEPS + 1, patch)
        output.write_all(parts, work / "out")
    assert certify(work / "d.toml", work / "out") == 0


@pytest.mark.slow
def test_a_full_disk_is_no_defect_and_the_same_command_finishes(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    shutil.rmtree(work / "out")
    full = OSError(errno.ENOSPC, "No space left on device", str(work / "out"))
    honest = output.write_atomic
    monkeypatch.setattr(output, "write_atomic", Mock(side_effect=full))
    assert certify(work / "d.toml", work / "out") == 2
    assert "the disk must have room" in capsys.readouterr().err
    assert not (work / "out").exists()
    monkeypatch.setattr(output, "write_atomic", honest)
    assert certify(work / "d.toml", work / "out") == 0


# --- folders ----------------------------------------------------------------------------------------------------------


def test_a_refused_input_leaves_no_folder(work: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.chdir(work)
    (work / "data.csv").write_text("a,b\n1,2\n")
    (work / "mine").mkdir()
    for out in ([], ["--out", "new/deep/er"], ["--out", "mine"]):
        assert invoke(["certify", "d.toml", *out]) == 2
    assert names_in(work) == ["d.releases", "d.toml", "data.csv", "mine", "model.onnx", "out"]
    assert names_in(work / "mine") == []
    assert capsys.readouterr().err.count("\n") == 3


@pytest.mark.quick
def test_an_artefact_that_is_not_there_is_refused_before_anything_is_drawn(tmp_path: Path, capsys: Captured) -> None:
    configuration = lay_out(tmp_path, TEXT)
    (tmp_path / "model.onnx").unlink()
    assert certify(configuration, tmp_path / "out") == 2
    assert "artefact.file must be a file that can be read, got artefact.file=model.onnx" in capsys.readouterr().err
    assert names_in(tmp_path) == ["d.toml", "data.csv"]


@pytest.mark.parametrize("link", ["curator", "release", "curator/audit.jsonl", "curator/.x.tmp", ".lock", "theirs"])
def test_a_link_inside_is_named_and_not_followed(link: str, tmp_path: Path, capsys: Captured) -> None:
    configuration, victim = lay_out(tmp_path, TEXT), tmp_path / "victim"
    victim.mkdir()
    (tmp_path / "out" / link).parent.mkdir(parents=True)
    (tmp_path / "out" / link).symlink_to(victim)
    assert certify(configuration, tmp_path / "out", "--overwrite") == 2
    assert f"out must hold no symbolic link, got {tmp_path / 'out' / link}" in capsys.readouterr().err
    assert names_in(victim) == []
    assert not (tmp_path / "d.releases").exists()


def test_a_folder_that_is_reached_through_a_link_serves(work: Path) -> None:
    (work / "link").symlink_to(work / "out")
    assert certify(work / "d.toml", work / "link") == 0


def test_a_pipe_in_the_place_of_a_file_is_named_before_anything_is_taken_away(work: Path, capsys: Captured) -> None:
    (work / "out" / "curator" / "audit.pdf").unlink()
    os.mkfifo(work / "out" / "curator" / "audit.pdf")
    before = names_in(work / "out" / "curator")
    assert certify(work / "d.toml", work / "out", "--overwrite") == 2
    assert f"got out={work / 'out'} with curator/audit.pdf" in capsys.readouterr().err
    assert names_in(work / "out" / "curator") == before


@pytest.mark.parametrize("theirs", ["notes.txt", "curator/notes.txt", "release/audit.jsonl.bak", ".hidden"])
def test_what_is_no_part_of_a_certificate_is_named_and_kept(theirs: str, work: Path, capsys: Captured) -> None:
    (work / "out" / theirs).write_text("keep me")
    assert f"hold a certificate alone, got out={work / 'out'} with {theirs}" in refused(work, capsys, "--overwrite")
    assert (work / "out" / theirs).read_text() == "keep me"


def test_a_second_run_into_the_same_folder_is_refused(work: Path, capsys: Captured) -> None:
    with held(work / "out", "it", wait=0):
        line = refused(work, capsys)
        assert f"must not be in use by another run, got process {os.getpid()} (started " in line
    assert certify(work / "d.toml", work / "out") == 0
    assert invoke(["check", str(work / "out")]) == 0


@pytest.mark.slow
def test_the_curators_folder_is_the_owners_alone(work: Path) -> None:
    assert (work / "out" / "curator").stat().st_mode & 0o777 == 0o700
    (work / "out" / "curator").chmod(0o755)
    assert certify(work / "d.toml", work / "out", "--overwrite") == 0
    assert (work / "out" / "curator").stat().st_mode & 0o777 == 0o700


@pytest.mark.slow
def test_what_an_overwritten_certificate_held_more_is_gone(work: Path) -> None:
    """Other claims, another audience: no file of before stays beside those of now, and no signature."""
    (work / "out" / "curator" / "attestation.json.sig").write_text("of before")
    (work / "out" / "curator" / "report-dependent.json").write_text("{}")
    assert invoke(["certify", str(work / "d.toml"), "--out", str(work / "out"), "--overwrite"]) == 0
    assert names_in(work / "out") == [".lock", "curator"]
    assert invoke(["check", str(work / "out")]) == 0
    assert json.loads((work / "out" / "curator" / "run.json").read_bytes())["asked"]["--draw-again"] is False
