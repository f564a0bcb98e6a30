"""What the machine refuses, and what a signal stops: exit codes, one line, and the command that goes on."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from verify.cli import invoke
from verify.engine.record import read
from verify.engine.store import Store
from verify.messages.errors import Defect, UserError
from verify.messages.faults import withheld
from verify.papers import registry

TESTS = Path(__file__).resolve().parents[2]
Captured = pytest.CaptureFixture[str]


def quick(folder: Path, *arguments: str) -> list[str]:
    return ["run", "--profile", "quick", "--jobs", "1", "--out", str(folder), *arguments]


def stop_with(stop: BaseException) -> Callable[..., Any]:
    """Return a function that is stopped."""

    def stopped(*_: object, **__: object) -> Any:
        raise stop

    return stopped


def the_line(capsys: Captured) -> str:
    """Return the one line on stderr that is an error."""
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert "defect" not in lines[0]
    return lines[0]


FULL = [errno.ENOSPC, errno.EDQUOT, errno.EFBIG]


@pytest.mark.parametrize("code", FULL)
def test_a_full_disk_is_told_with_the_command_that_goes_on(
    code: int, toys: registry.Registry, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("verify.engine.record.write_atomic", stop_with(OSError(code, os.strerror(code), "audit.jsonl")))
        assert invoke(quick(tmp_path / "out")) == 2
    line = the_line(capsys)
    assert f"the disk must have room, got none for audit.jsonl ({os.strerror(code)})" in line
    words = line.split("; ")[1].removesuffix(" goes on from here").split()
    assert words == ["pdp-verify", *quick(tmp_path / "out"), "--resume"]
    assert invoke(words[1:]) == 0
    assert read(tmp_path / "out").header["complete"] is True


@pytest.mark.parametrize(
    ("stop", "message"),
    [
        (sqlite3.OperationalError("database or disk is full"), "the disk must have room, got none for "),
        (sqlite3.OperationalError("disk I/O error"), "store.sqlite (disk I/O error)"),
        (sqlite3.OperationalError("database is locked"), "store must be free, got store="),
        (sqlite3.OperationalError("attempt to write a readonly database"), "store must be a file that can be written"),
        (sqlite3.DatabaseError("database disk image is malformed"), "store must be undamaged, got store="),
    ],
)
def test_what_sqlite_refuses_is_told_in_its_place(
    stop: sqlite3.Error,
    message: str,
    toys: registry.Registry,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refusing(sqlite3.Connection):
        def executemany(self, query: str, *values: Any) -> sqlite3.Cursor:
            assert "INSERT" in query
            raise stop

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *place, **more: connect(*place, factory=Refusing, **more))
    assert invoke(quick(tmp_path / "out")) == 2
    line = the_line(capsys)
    assert message in line
    assert str(tmp_path / "out" / "store.sqlite") in line


def _junk(path: Path) -> None:
    path.write_bytes(b"no database at all, " * 99)


def _folder(path: Path) -> None:
    path.mkdir()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _tamper(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE rows SET rows = replace(rows, 'HOLDS', 'FAILS')")


def _replace(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("UPDATE rows SET rows = 7")


@pytest.mark.parametrize("spoil", [_junk, _folder, _cut, _tamper, _replace])
def test_a_store_that_is_not_as_it_was_written_is_refused(
    spoil: Callable[[Path], None], toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    store = tmp_path / "out" / "store.sqlite"
    if spoil in (_junk, _folder):
        (tmp_path / "out").mkdir()
    else:
        assert invoke(quick(tmp_path / "out")) == 0
    capsys.readouterr()
    spoil(store)
    assert invoke(quick(tmp_path / "out", "--resume")) == 2
    assert "store must be " in the_line(capsys)


def test_a_row_comes_back_as_it_was_put(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    store.put("key", [{"a": "ä \u2028", "error": None}])
    assert store.get("key") == [{"a": "ä \u2028", "error": None}]
    assert store.get("other") is None
    store.close()


class Odd(OSError):
    """An error of the system without a number."""


@pytest.mark.parametrize(
    ("stop", "code", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a/b"), 2, "got a/b (Permission denied)"),
        (OSError(errno.EROFS, "Read-only file system", "a"), 2, "got a (Read-only file system)"),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "a"),
            2,
            "must stay readable and writable, got a",
        ),
        (Odd("odd"), 2, "got standard output or a temporary file (odd)"),
        (MemoryError("9 GiB for an array"), 2, "memory must suffice, got too little (9 GiB for an array)"),
        (MemoryError(), 2, "memory must suffice, got too little"),
        (RecursionError("maximum"), 2, "the input must be nested less deeply"),
        (SystemExit(0), 2, "the code of a configuration must not end the program"),
        (KeyboardInterrupt(), 130, "error: interrupted"),
        (click.UsageError("Got an odd thing."), 2, "error: Got an odd thing; see pdp-verify list --help"),
    ],
)
def test_whose_fault_it_is(
    stop: BaseException, code: int, message: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "default", stop_with(stop))
    monkeypatch.setattr("os.dup2", lambda *_: None)  # not of the process that tests
    assert invoke(["list"]) == code
    assert message in the_line(capsys)


@pytest.mark.parametrize("stop", [EOFError("end"), ZeroDivisionError("by 0"), ValueError("v"), KeyError("k")])
def test_a_defect_of_ours_stays_one_and_is_no_interrupt(
    stop: Exception, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "default", stop_with(stop))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert invoke(["list"]) == 4
    assert f"error: {type(stop).__name__}: " in capsys.readouterr().err
    kept = next(tmp_path.iterdir()).read_text()
    assert "Traceback" in kept
    assert kept.rstrip().splitlines()[-1].startswith(type(stop).__name__)


def test_a_defect_is_one_line_where_nothing_can_be_kept(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(registry, "default", stop_with(ZeroDivisionError("by 0")))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    assert invoke(["list"]) == 4
    assert capsys.readouterr().err == ("error: ZeroDivisionError: by 0 (a defect of ours; details could not be kept)\n")


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["run", "--nope"], "pdp-verify run --help"),
        (["certify"], "pdp-verify certify --help"),
        (["sweep", "a", "b"], "pdp-verify sweep --help"),
        (["report", "a"], "pdp-verify report --help"),
        (["nope"], "pdp-verify --help"),
    ],
)
def test_a_wrong_call_points_to_the_help_of_its_command(arguments: list[str], command: str, capsys: Captured) -> None:
    assert invoke(arguments) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert printed.endswith(f"; see {command}\n")


def shell(*words: str, tmp: Path | None = None, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run the program as a shell would."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)]), **more.pop("env", {})}
    command = [sys.executable, "-c", "from verify.cli import main; main()", *words]
    return subprocess.run(command, env=environment, text=True, check=False, stderr=subprocess.PIPE, cwd=tmp, **more)


def test_a_standard_output_that_takes_nothing_is_no_defect() -> None:
    with open("/dev/full", "w") as full:
        done = shell("--version", stdout=full)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the disk must have room, got none for standard output or a temporary file (No space left on device)\n"
    )


def test_a_word_is_completed_for_a_shell() -> None:
    words = {"_PDP_VERIFY_COMPLETE": "bash_complete", "COMP_WORDS": "pdp-verify cer", "COMP_CWORD": "1"}
    done = shell(env=words, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "plain,certify\n", "")


def test_no_warning_of_a_library_reaches_the_user(tmp_path: Path) -> None:
    code = "import warnings; from verify import cli; cli.invoke = lambda _: warnings.warn('odd') or 0; cli.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=TESTS.parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_letter_that_a_terminal_has_not_is_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from verify import cli

    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1", write_through=True))
    monkeypatch.setattr(sys, "warnoptions", ["error"])  # leaves the filters of the tests alone
    monkeypatch.setattr(cli, "invoke", lambda _: click.echo("β") or 0)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert cli.run_alone([]) == 0
    assert written.getvalue() == b"\\u03b2\n"


@pytest.mark.slow
def test_a_file_that_may_not_grow_ends_a_run_that_goes_on_afterwards(tmp_path: Path) -> None:
    """A real limit of the system in a child: nothing is half-written, and the command on the line finishes the run."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))

    words = ["run", "W19-T4.1", "--profile", "quick", "--jobs", "1", "--out", "out"]
    done = shell(*words, tmp=tmp_path, stdout=subprocess.PIPE, preexec_fn=limit)
    assert done.returncode == 2, done.stderr
    line = done.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    assert line.endswith("; pdp-verify " + " ".join(words) + " --resume goes on from here")
    assert [path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith("store")] == []
    assert shell(*words, "--resume", tmp=tmp_path, stdout=subprocess.PIPE).returncode == 0
    assert shell(*words[:-1], "whole", tmp=tmp_path, stdout=subprocess.PIPE).returncode == 0
    assert (tmp_path / "out" / "audit.jsonl").read_bytes() == (tmp_path / "whole" / "audit.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("command", "patched", "next_line"),
    [
        ("run", "verify.engine.record.write", "next    pdp-verify run W19-T4.1 --jobs 1 --out {out} --resume"),
        ("run", "verify.runs.publish.publish", "next    pdp-verify run W19-T4.1 --jobs 1 --out {out} --resume"),
        (
            "calibrate",
            "verify.calibration.calibration_pages.render",
            "next    pdp-verify calibrate --out {out} --resume",
        ),
    ],
)
def test_an_interrupt_while_pages_are_written_says_how_to_go_on(
    command: str,
    patched: str,
    next_line: str,
    toys: registry.Registry,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr("verify.calibration.calibration_run.tasks", lambda *_: [])
    monkeypatch.setattr(patched, stop_with(KeyboardInterrupt()))
    more = ["W19-T4.1", "--jobs", "1"] if command == "run" else []
    assert invoke([command, *more, "--out", str(tmp_path / "out")]) == 130
    assert capsys.readouterr().err.splitlines()[-2:] == ["error: interrupted", next_line.format(out=tmp_path / "out")]


FOREIGN = "def stop(kind, *words):\n    raise kind(*words)\n"
OURS = "def stop(kind, *words):\n    with withheld(True):\n        raise kind(*words)\n"


def test_what_other_code_says_is_withheld_and_what_ours_says_is_not() -> None:
    """Only where data are not public; an error of a file that passed through code of ours alone stays whole."""
    theirs: dict[str, Any] = {"__name__": "pdp_verify_user_1"}
    exec(FOREIGN, theirs)
    for kind, words, said in (
        (ValueError, ("0.4711",), "ValueError: its message is withheld"),
        (OSError, (errno.ENOSPC, "0.4711", "0.4711"), "OSError: its message is withheld"),
        (MemoryError, ("0.4711",), "memory must suffice, got too little"),
    ):
        with pytest.raises((Defect, UserError), match=f"^{said}") as told, withheld(True):
            theirs["stop"](kind, *words)
        assert "4711" not in str(told.value)
        with pytest.raises(kind, match="4711"), withheld(False):
            theirs["stop"](kind, *words)
    noted = OSError(errno.EIO, "0.4711")
    noted.add_note("in a worker process: ...")
    with pytest.raises(Defect, match="withheld"), withheld(True):
        raise noted
    with pytest.raises(Defect, match=r"^ValueError: its message"), withheld(True):
        raise Defect("a batch was not decided (ValueError: 0.4711)") from ValueError("0.4711")
    for kind in (UserError, KeyboardInterrupt, SystemExit, Defect):
        with pytest.raises(kind, match="as it is"), withheld(True):
            raise kind("as it is")
    ours: dict[str, Any] = {"__name__": "reports.files", "withheld": withheld}
    exec(OURS, ours)
    with pytest.raises(OSError, match="No space left"):
        ours["stop"](OSError, errno.ENOSPC, "No space left", "out/audit.pdf")
    with pytest.raises(Defect, match=r"^ValueError: its message is withheld"):
        ours["stop"](ValueError, "0.4711")
