"""One process at a time holds a folder; a killed holder holds nothing; who waits or is refused learns of whom."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from verify.engine.held import HOLDER, LOCK, held
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]
#: Holds the folder in which it is started until it is told to let go.
HOLDS = """
import sys
from pathlib import Path
from verify.engine.held import held
with held(Path("."), "the folder", wait=0):
    print("held", flush=True)
    sys.stdin.readline()
"""
HOLDER_WORDS = r"process (\d+) \(started \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00\)"


def holding(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_who_finds_it_held_is_told_by_whom_and_a_killed_holder_holds_nothing(tmp_path: Path, capsys: Captured) -> None:
    process = holding(tmp_path)
    with process:
        with pytest.raises(UserError) as stop, held(tmp_path, "d.releases", wait=0):
            pass
        found = re.fullmatch(f"d.releases must not be in use by another run, got {HOLDER_WORDS}", str(stop.value))
        assert found is not None
        assert int(found[1]) == process.pid
        assert capsys.readouterr().err == ""
        with pytest.raises(UserError, match=HOLDER_WORDS), held(tmp_path, "d.releases", wait=0.3):
            pass
        said = capsys.readouterr().err
        assert re.fullmatch(f"waiting for {HOLDER_WORDS}, which holds d.releases\n", said)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert json.loads((tmp_path / HOLDER).read_bytes())["pid"] == process.pid
    with held(tmp_path, "d.releases", wait=0):
        assert json.loads((tmp_path / HOLDER).read_bytes())["pid"] == os.getpid()
    assert capsys.readouterr().err == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == [LOCK]
    assert (tmp_path / LOCK).stat().st_mode & 0o077 == 0


def test_who_waits_goes_on_when_it_is_free(tmp_path: Path, capsys: Captured) -> None:
    with holding(tmp_path) as process:
        assert process.stdin is not None
        threading.Timer(0.3, process.stdin.close).start()
        with held(tmp_path, "the folder", wait=60):
            pass
    assert capsys.readouterr().err.count("\n") == 1


def test_the_lock_file_is_never_another_file_of_that_name(tmp_path: Path) -> None:
    """Two threads take it 30 times each: a lock file that is removed lets two in at once."""
    inside, most, seen = 0, 0, set()

    def take() -> None:
        nonlocal inside, most
        for _ in range(30):
            with held(tmp_path, "the folder", wait=60):
                inside += 1
                most = max(most, inside)
                seen.add((tmp_path / LOCK).stat().st_ino)
                inside -= 1

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert len(seen) == 1


def test_it_is_let_go_of_whatever_happens_inside(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), held(tmp_path, "the folder", wait=0):
            raise ZeroDivisionError


@pytest.mark.parametrize("content", [b"", b"[]", b'{"pid": "x"}', b'{"pid": 1, "started": "\x1b[31m"}', b"[" * 99_999])
def test_a_holder_that_cannot_be_read_is_another_process(content: bytes, tmp_path: Path) -> None:
    with holding(tmp_path) as process:
        (tmp_path / HOLDER).write_bytes(content)
        with pytest.raises(UserError, match=r"got another process$"), held(tmp_path, "the folder", wait=0):
            pass
        process.kill()


def test_a_lock_file_that_is_a_link_is_refused_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / LOCK).symlink_to(tmp_path / "victim")
    start = time.monotonic()
    with (
        pytest.raises(UserError, match=r"the folder must be in a folder that can be locked, got .*\.lock \("),
        held(tmp_path / "in", "the folder", wait=5),
    ):
        pass
    assert time.monotonic() - start < 2
    assert not (tmp_path / "victim").exists()


def test_a_full_disk_does_not_keep_the_name_of_a_killed_holder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / HOLDER).write_text('{"pid": 1, "started": "2026-01-01T00:00:00+00:00"}')

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("verify.engine.held.write_atomic", full)
    with held(tmp_path, "the folder", wait=0):
        assert not (tmp_path / HOLDER).exists()
