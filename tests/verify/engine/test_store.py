"""The file of rows: whose it is, what is never replaced, and that a wrong file stays as it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from verify.engine.rows import Row, dumps
from verify.engine.store import Store, file_system
from verify.messages.errors import UserError

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
