"""Files are written whole or not at all, folders are no links."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from rows import for_each

from reports import FORMATS, Document, pdf_bytes, render_markdown, rendered, write_document
from reports.figures import figure_svg
from reports.files import make_folder, write_atomic
from reports.junit import JUnitCase, junit_xml
from reports.row import Figure, Series
from verify import cli


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.bin"
    write_atomic(path, b"one")
    write_atomic(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match=r"No space left on device.*a\.bin"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.a\.bin"):
        write_atomic(tmp_path / "nowhere" / "a.bin", b"")


def test_permissions(tmp_path):
    write_atomic(tmp_path / "a.bin", b"", mode=0o600)
    assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) & 0o077 == 0


def test_a_link_is_replaced_and_never_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"theirs")
    (tmp_path / "in").mkdir()
    for name, target in {"link": victim, "dangling": tmp_path / "new", "loop": tmp_path / "in" / "loop"}.items():
        path = tmp_path / "in" / name
        path.symlink_to(target)
        write_atomic(path, b"ours")
        assert path.read_bytes() == b"ours"
        assert not path.is_symlink()
    assert victim.read_bytes() == b"theirs"
    assert not (tmp_path / "new").exists()


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(OSError, match=rf"no file that can be replaced.*{name}"):
            write_atomic(tmp_path / name, b"")
    assert (tmp_path / "link").is_symlink()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_folder_is_made_or_taken(tmp_path):
    plain, private = tmp_path / "a" / "b", tmp_path / "a" / "c"
    assert make_folder(plain, private=False) == plain
    make_folder(plain, private=False)
    before = os.umask(0o022)
    try:
        make_folder(private, private=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    os.chmod(plain, 0o2755)
    make_folder(plain, private=True)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o2700
    make_folder(plain, private=False)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o2700
    (tmp_path / "reached").symlink_to(tmp_path / "a")
    make_folder(tmp_path / "reached" / "c", private=True)  # above the last part, links are followed


@for_each("private", [False, True])
def test_a_link_or_a_file_is_no_folder(private, tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    for name in ("link", "dangling", "file"):
        with pytest.raises(NotADirectoryError, match=rf"a link or a file, not a folder.*{name}"):
            make_folder(tmp_path / name, private=private)
    assert stat.S_IMODE((tmp_path / "theirs").stat().st_mode) & 0o077
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("owner", ["this user", "another"])
def test_rights_that_cannot_be_taken_matter_in_the_folder_of_somebody_else(owner, tmp_path, monkeypatch):
    """A file system without permissions is left alone; a folder that somebody else laid out is not used."""
    folder = tmp_path / "laid-out"
    folder.mkdir(mode=0o755)

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refused)
    if owner == "this user":
        make_folder(folder, private=True)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        with pytest.raises(PermissionError, match=r"a folder of somebody else.*laid-out"):
            make_folder(folder, private=True)
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077


@pytest.mark.parametrize("suffix", list(FORMATS))
def test_a_document_is_written_in_the_format_of_its_suffix(demo: Document, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"report{suffix}"
    write_document(demo, path, mode=0o600)
    assert path.read_bytes() == rendered(demo, suffix)
    assert path.stat().st_mode & 0o777 == 0o600


def test_formats_are_what_their_own_modules_render(demo: Document) -> None:
    assert rendered(demo, ".pdf") == pdf_bytes(demo)
    assert rendered(demo, ".md").decode() == render_markdown(demo)


def test_figures_drawn_elsewhere_are_used(demo: Document) -> None:
    """A figure handed in as SVG takes the place of the one that would be drawn, where a format shows figures."""
    empty = b'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"/>'
    names = [block.name for block in demo.blocks() if hasattr(block, "name") and hasattr(block, "alt")]
    assert rendered(demo, ".pdf", figures=dict.fromkeys(names, empty)) != rendered(demo, ".pdf")


@pytest.mark.quick
def test_another_suffix_is_refused(demo: Document, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"suffix must be one of .pdf, .md, .html, got suffix='.doc'"):
        write_document(demo, tmp_path / "report.doc")
    assert list(tmp_path.iterdir()) == []


@for_each("command", ["errata", "figures", "report"])
def test_commands_refuse_another_suffix_before_they_work(command: str, tmp_path: Path) -> None:
    record = [] if command == "figures" else [str(tmp_path / "none.jsonl")]
    arguments = [command, *record, "-o", str(tmp_path / "x.doc")]
    assert cli.invoke(arguments) == 2
    assert CliRunner().invoke(cli.group, [command, "--help"]).exit_code == 0
    assert list(tmp_path.iterdir()) == []


CASES = (
    JUnitCase("a", "m", "passed"),
    JUnitCase("b", "m", "failed", "first line\nsecond <line> & \x00"),
    JUnitCase("c", "n", "error", "]]>"),
    JUnitCase("d", "n", "skipped"),
)


def test_counts_and_elements():
    document = junit_xml("run", CASES)
    assert document == junit_xml("run", iter(CASES))
    suite = ElementTree.fromstring(document).find("testsuite")
    counts = {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    assert [case.get("name") for case in suite] == ["a", "b", "c", "d"]
    failure = suite[1].find("failure")
    assert failure.get("message") == "first line"
    assert failure.text == "first line\nsecond <line> & <U+0000>"
    assert [len(case) for case in suite] == [0, 1, 1, 1]
    assert b"time" not in document


@given(text=st.text())
def test_any_text_gives_well_formed_xml(text):
    root = ElementTree.fromstring(junit_xml(text, [JUnitCase(text, text, "failed", text)]))
    assert root.find("testsuite/testcase/failure") is not None


def test_unknown_status():
    with pytest.raises(ValueError, match="status must be one of passed, failed, error, skipped, got status='ok'"):
        JUnitCase("a", "b", "ok")


DRAW = """
import hashlib, logging
from reports.figures import figure_svg
from reports.row import Figure, Series
figure = Figure("a", "A", "a caption", "words", "x", "y", (Series("s", (0.0, 1.0), (1.0, 2.0)),))
print(hashlib.sha256(figure_svg(figure)).hexdigest())
assert logging.getLogger("matplotlib").level == logging.NOTSET
"""


@pytest.mark.parametrize("variable", ["MPLCONFIGDIR", pytest.param("HOME", marks=pytest.mark.slow)])
def test_nothing_is_said_about_a_cache_that_cannot_be_kept(variable: str, tmp_path: Path) -> None:
    file = tmp_path / "no folder"
    file.write_text("")
    kept = {k: v for k, v in os.environ.items() if k not in ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
    found = subprocess.run(
        [sys.executable, "-c", DRAW],
        env=kept | {variable: str(file / "below")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    figure = Figure("a", "A", "a caption", "words", "x", "y", (Series("s", (0.0, 1.0), (1.0, 2.0)),))
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.strip() == hashlib.sha256(figure_svg(figure)).hexdigest()
