"""The file of rows: whose it is, what is never replaced, and that a wrong file stays as it is."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toys import LEDGER, toy_registry

from audits import StreamKey
from verify.calibration import calibration_run as run
from verify.calibration.calibration_pages import document
from verify.calibration.calibration_record import read
from verify.calibration.series.series import AuditSeries
from verify.cli import invoke
from verify.engine.executors import local
from verify.engine.held import HOLDER, LOCK, held
from verify.engine.store import Store, file_system
from verify.engine.worker import RunSettings
from verify.kernel.rows import Row, dumps
from verify.messages.errors import UserError
from verify.papers import registry
from verify.runs.cli_run import counts_line
from verify.runs.statement_run import execute

HOLDS: Row = {"outcome": "HOLDS", "error": None}
FAILS: Row = {"outcome": "FAILS", "error": None}
CRASH: Row = {"outcome": "UNDECIDED", "error": {"type": "WorkerDied", "message": "died"}}


def test_rows_come_back_and_decided_rows_are_never_replaced(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.put("a", [HOLDS, HOLDS])
        store.put("b", [CRASH])
        store.put("a", [FAILS])
        store.put("a", [CRASH])
        store.put("b", [CRASH])
        assert store.get("a") == store.finished("a") == [HOLDS, HOLDS]
        assert (store.get("b"), store.finished("b")) == ([CRASH], None)
        assert store.keys() == {"a", "b"}
        assert store.keys(failed=True) == {"b"}
        store.put("b", [FAILS])
        assert store.finished("b") == [FAILS]
        assert store.has(["a", "c"]) == {"a"}
        assert store.get("c") is None


def test_a_transaction_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        with pytest.raises(ZeroDivisionError):
            store.put_texts((str(1 / n), dumps(HOLDS), False) for n in (1, 0))
        assert store.keys() == set()
        store.put("a", [HOLDS])


def test_two_connections_write_one_file(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite", many=True) as one, Store(tmp_path / "s.sqlite", many=True) as two:
        one.put("a", [HOLDS])
        two.put("a", [FAILS])
        two.put("b", [HOLDS])
        assert one.keys() == two.keys() == {"a", "b"}
        assert two.get("a") == [HOLDS]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.sqlite"]


def test_a_row_that_is_not_as_it_was_written_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.put("a", [HOLDS])
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as db:
        db.execute("UPDATE rows SET rows = replace(rows, 'HOLDS', 'FAILS')")
        db.commit()
    with Store(tmp_path / "s.sqlite") as store, pytest.raises(UserError, match="a row is not as it was written"):
        store.get("a")


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, rows TEXT NOT NULL)")


def damaged(path: Path) -> None:
    with Store(path) as store:
        store.put_texts((f"{i:064d}", dumps(HOLDS), False) for i in range(2000))
    content = bytearray(path.read_bytes())
    content[4096 * 5 : 4096 * 9] = b"\xa5" * 4096 * 4
    path.write_bytes(content)


def cut_short(path: Path) -> None:
    damaged(path)
    path.write_bytes(path.read_bytes()[:150])


def other_table(path: Path) -> None:
    with Store(path):
        pass
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE rows")
        db.execute("PRAGMA journal_mode=DELETE")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("my notes\n" * 100), "another kind of file"),
        (lambda path: path.write_bytes(b""), "another kind of file"),
        (foreign, "another kind of file"),
        (damaged, "store must be undamaged"),
        (cut_short, "store must be undamaged"),
        (other_table, "its table is missing"),
        (lambda path: path.mkdir(), "store must be a file"),
    ],
)
def test_wrong_file_is_refused_in_one_line_and_stays_as_it_is(
    make: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    make(path)
    before = (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns, sorted(tmp_path.iterdir()))
    with pytest.raises(UserError, match=words) as stop:
        Store(path)
    assert "\n" not in str(stop.value)
    assert str(path) in str(stop.value)
    assert (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


def test_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    far = tmp_path / "far away"
    far.mkdir()
    escaped = str(far).replace(" ", "\\040")
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/x {escaped} nfs4 rw 0 0\n/dev/sdb {escaped}/near xfs rw 0 0\n")
    assert file_system(far / "s.sqlite", mounts) == "nfs4"
    assert file_system(far / "near" / "s.sqlite", mounts) == "xfs"
    assert file_system(tmp_path, mounts) == "ext4"
    assert file_system(tmp_path, tmp_path / "none") == ""
    with pytest.raises(UserError, match=r"on a network file system \(nfs4\); name a local file with --store"):
        Store(far / "s.sqlite", many=True, mounts=mounts)
    assert list(far.iterdir()) == []
    Store(far / "s.sqlite", mounts=mounts).close()  # one process alone may write there


def test_store_of_private_data_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite", private=True) as store:
        store.put("a", [HOLDS])
        assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


@pytest.mark.parametrize("private", [True, False])
def test_store_that_others_may_read_is_closed_to_them_where_data_are_private(tmp_path: Path, private: bool) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path):
        path.chmod(0o644)
    with Store(path, private=private) as store:
        store.put("a", [])
        modes = {part.stat().st_mode & 0o777 for part in tmp_path.iterdir()}
    assert modes == {0o600 if private else 0o644}


Captured = pytest.CaptureFixture[str]
#: Holds the folder in which it is started until it is told to let go.
HOLDS_OF_HELD = """
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
        [sys.executable, "-c", HOLDS_OF_HELD], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
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
        threading.Timer(1.0, process.stdin.close).start()
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


def honest(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    """Never misses."""
    return np.zeros((n_repeats, 2), dtype=bool)


class Quiet:
    """Follows a run and says nothing."""

    def begin(self, n_tasks: int, seconds: float | None = None) -> None: ...

    def advance(self, name: str, n_tasks: int = 1) -> None: ...


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """One series that never misses, and no mutants."""
    monkeypatch.setattr(run, "all_series", lambda: {"honest: coin": AuditSeries("honest", "coin", 1, honest)})
    monkeypatch.setattr(run, "all_mutants", dict)


def calibrate(out: Path, *words: str) -> int:
    return invoke(["calibrate", "--jobs", "1", "--out", str(out), *words])


@pytest.mark.parametrize(
    ("words", "kept", "got"),
    [
        (("--profile", "standard"), "profile must be that of the calibration in {} (quick)", "profile=standard"),
        (("--seed", "4"), "seed must be that of the calibration in {} (3)", "seed=4"),
    ],
)
def test_resume_refuses_another_profile_or_seed(
    tiny: None, tmp_path: Path, capsys: Captured, words: tuple[str, ...], kept: str, got: str
) -> None:
    out = tmp_path / "cal"
    assert calibrate(out, "--profile", "quick", "--seed", "3") == 0
    before = (out / "calibration.jsonl").read_bytes()
    capsys.readouterr()
    assert calibrate(out, "--resume", *words) == 2
    assert capsys.readouterr().err == f"error: {kept.format(out)}, got {got}\n"
    assert (out / "calibration.jsonl").read_bytes() == before


@pytest.mark.parametrize("words", [(), ("--profile", "quick"), ("--seed", "3")])
def test_resume_takes_profile_and_seed_of_the_folder(tiny: None, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "cal"
    assert calibrate(out, "--profile", "quick", "--seed", "3") == 0
    before = (out / "calibration.jsonl").read_bytes()
    assert calibrate(out, "--resume", *words) == 0
    assert (out / "calibration.jsonl").read_bytes() == before
    assert json.loads((out / "run.json").read_text())["reused_tasks"] == read(out / "calibration.jsonl").header["tasks"]


def test_a_calibration_that_is_killed_leaves_its_profile(
    tiny: None, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever ends it without warning: the folder says what it is of from the start."""

    class Killed(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        raise Killed

    out = tmp_path / "cal"
    with monkeypatch.context() as patch:
        patch.setattr(run, "calibrate", killed)
        assert calibrate(out, "--profile", "quick") == 4
    header = read(out / "calibration.jsonl").header
    assert (header["profile"], header["complete"], header["tasks_done"]) == ("quick", False, 0)
    assert calibrate(out, "--profile", "full", "--resume") == 2
    assert calibrate(out, "--resume") == 0
    assert read(out / "calibration.jsonl").complete


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("calibration.jsonl", "{}"),
        ("audit.jsonl", '{"kind":"header","record":"certificate"}'),
        ("curator/audit.jsonl", "{}"),
    ],
)
def test_run_refuses_the_folder_of_a_calibration_or_a_certificate(
    toys: registry.Registry, tmp_path: Path, capsys: Captured, file: str, text: str
) -> None:
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert invoke(["run", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path), "--resume"]) == 2
    line = f"error: out must not be the folder of a calibration, a comparison or a certificate, got out={tmp_path}\n"
    assert capsys.readouterr().err == line
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path]


def test_calibrate_refuses_the_folder_of_a_certificate(tiny: None, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "curator").mkdir()
    (tmp_path / "curator" / "audit.jsonl").write_text("{}")
    assert calibrate(tmp_path, "--profile", "quick", "--resume") == 2
    assert "must not be the folder of a run, a comparison or a certificate" in capsys.readouterr().err


def test_quick_says_that_it_tests_no_mutants(tiny: None, tmp_path: Path, capsys: Captured) -> None:
    assert calibrate(tmp_path / "cal", "--profile", "quick") == 0
    printed = capsys.readouterr().out
    assert "the quick profile tests no mutants" in printed
    assert "0 of 0" not in printed
    pages = str(document(read(tmp_path / "cal" / "calibration.jsonl"), date="2031-01-01").front)
    assert "The quick profile tests no mutants" in pages
    assert "It is then run on mechanisms that are broken" not in pages


def test_counts_line_of_one_statement_without_mutants(tmp_path: Path) -> None:
    store = Store(tmp_path / "store.sqlite")
    try:
        sources = toy_registry("W19-T4.1").select()
        findings = execute(
            sources, RunSettings(3, "quick", 1e-4), LEDGER, executor=local(1), store=store, watcher=Quiet()
        )
    finally:
        store.close()
    start = "1 statement: 1 supported, 0 refuted as printed, 0 undecided, 0 definitions; 3 cases,"
    assert counts_line(findings) == f"{start} 1 of 1 mutant caught,"
    cases = tuple(row for row in findings.record.cases if row["standing"] != "MUTANT")
    assert counts_line(replace(findings, record=replace(findings.record, cases=cases))) == start
