"""Rows as they are decided, in SQLite, by the key of their task: what a stopped command need not do again.

Any number of processes of one machine may write; a decided row is never replaced. A file that is not ours, or that is
damaged, is refused before SQLite opens it for writing, so that it stays as it is.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from ..kernel.rows import Row, dumps
from ..messages.errors import UserError
from ..messages.faults import FULL_WORDS

#: Marks the file in its header (bytes 68 to 71), readable without opening the database: "PDPS".
APPLICATION_ID = 0x50445053
MAGIC = b"SQLite format 3\x00"
#: One line a task: its key, the digest of its rows, whether it failed (and may be tried again), its rows as JSON.
COLUMNS = ("key", "digest", "failed", "rows")
TABLE = "CREATE TABLE rows (key TEXT PRIMARY KEY, digest TEXT NOT NULL, failed INTEGER NOT NULL, rows TEXT NOT NULL)"
#: A failure may be replaced (by the same failure, or by what a retry found); decided rows never are.
PUT = """
INSERT INTO rows VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
SET digest = excluded.digest, failed = excluded.failed, rows = excluded.rows WHERE rows.failed
"""
#: File systems that several machines share: the write-ahead log needs shared memory, which they have not.
NETWORK = {"9p", "afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"}
NETWORK |= {"fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "orangefs", "pvfs2", "smb3", "smbfs"}
MOUNTS = Path("/proc/self/mounts")
BUSY = 60_000  # milliseconds that a writer waits for another one


class Store:
    """A file of rows by key.

    Parameters
    ----------
    private : bool
        Whether the file is for its owner alone.
    many : bool
        Whether several processes may write at once: then it must lie on a local disk.
    threads : bool
        Whether several threads use it, one at a time.
    """

    def __init__(
        self, path: Path, *, private: bool = False, many: bool = False, threads: bool = False, mounts: Path = MOUNTS
    ) -> None:
        self.path = path
        kind = file_system(path.parent, mounts) if many else ""
        if kind in NETWORK:
            raise UserError(
                f"store must be on a local disk, got store={path} on a network file system ({kind}); "
                "name a local file with --store"
            )
        if path.is_symlink():
            raise UserError(f"store must be a file, got store={path} (a link)")
        try:
            if not path.exists():
                _create(path, private=private)
            _check(path)
            if private:
                _tighten(path)
            self._db = _logged(path, threads=threads)
        except OSError as stop:
            raise UserError(f"store must be a file that can be written, got store={path} ({stop.strerror})") from stop
        except sqlite3.Error as stop:
            raise refused(path, stop) from stop

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keys(self, *, failed: bool = False) -> set[str]:
        """Return the keys of all tasks, or of those alone that failed."""
        return {str(key) for (key,) in self._select("SELECT key FROM rows" + (" WHERE failed" if failed else ""))}

    def has(self, keys: Sequence[str]) -> set[str]:
        """Return which of a few keys have rows by now (of whichever process)."""
        marks = ",".join("?" * len(keys))
        return {str(key) for (key,) in self._select(f"SELECT key FROM rows WHERE key IN ({marks})", keys)}

    def get(self, key: str) -> list[Row] | None:
        """Return the rows of a task, failures included, or None where it has none."""
        line = next(self._select("SELECT digest, rows FROM rows WHERE key = ?", [key]), None)
        if line is None:
            return None
        digest, text = line
        if digest != _digest(str(text)):
            raise refused(self.path, "a row is not as it was written")
        rows: list[Row] = json.loads(str(text))
        return rows

    def finished(self, key: str) -> list[Row] | None:
        """Return the rows of a task that did not fail, or None: what failed is to be tried again."""
        rows = self.get(key)
        return None if rows is None or any(row.get("error") for row in rows) else rows

    def put(self, key: str, rows: Sequence[Row]) -> None:
        """Keep the rows of a task."""
        text = ",".join(dumps(row) for row in rows)
        self.put_texts([(key, text, any(row.get("error") for row in rows))])

    def put_texts(self, tasks: Iterable[tuple[str, str, bool]]) -> None:
        """Keep the rows of tasks in one transaction: each its key, its rows as JSON text, and whether it failed."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(PUT, (_line(*task) for task in tasks))
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as stop:
            raise refused(self.path, stop) from stop

    def close(self) -> None:
        """Close the file (the last process to do so folds its log in)."""
        self._db.close()

    def _select(self, query: str, values: Sequence[str] = ()) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._db.execute(query, list(values))
        except (sqlite3.Error, UnicodeDecodeError) as stop:
            raise refused(self.path, stop) from stop


def file_system(path: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the file system that holds a path, or nothing where the system does not tell."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = os.path.realpath(path)
    best = ("", "")
    for line in lines:
        _, where, kind, *_ = line.split(" ")
        where = where.encode().decode("unicode_escape")
        inside = place == where or place.startswith(where.rstrip("/") + "/")
        if inside and len(where) >= len(best[0]):
            best = (where, kind)
    return best[1]


def refused(path: Path, stop: Exception | str) -> Exception:
    """Return what is wrong with a store that cannot be read or written."""
    why = " ".join(str(stop).split())
    if any(words in why for words in FULL_WORDS):
        return OSError(errno.ENOSPC, why, str(path))
    if "disk I/O error" in why:  # the system says no more to SQLite: a quota, a file that may not grow, a broken disk
        return OSError(errno.EIO, why, str(path))
    if "locked" in why:
        return UserError(f"store must be free, got store={path} in use by another process ({why})")
    if "readonly" in why or "unable to open" in why:
        return UserError(f"store must be a file that can be written, got store={path} ({why})")
    return UserError(f"store must be undamaged, got store={path} ({why}); move it away to begin afresh")


def _line(key: str, text: str, failed: bool) -> tuple[str, str, bool, str]:
    text = f"[{text}]"
    return key, _digest(text), failed, text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _logged(path: Path, *, threads: bool) -> sqlite3.Connection:
    """Return a connection with a write-ahead log; it is closed if the file turns out to be damaged."""
    db = sqlite3.connect(path, isolation_level=None, timeout=BUSY / 1000, check_same_thread=not threads)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
    except sqlite3.Error:
        db.close()  # else its log would stay beside it
        raise
    return db


def _tighten(path: Path) -> None:
    """Take a file, and the log beside it, from everybody but its owner."""
    for part in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        if part.exists() and part.stat().st_mode & 0o077:
            part.chmod(0o600)


def _create(path: Path, *, private: bool) -> None:
    """Make an empty store under another name, then give it its own: nobody ever sees half of one."""
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        with closing(sqlite3.connect(temporary, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(TABLE)
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass  # another process was first; its file is as good
        except OSError:  # a file system without links
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _check(path: Path) -> None:
    """Refuse a file that is not a store of ours, by its header alone; then one that is damaged, opened for reading."""
    if not path.is_file():
        raise UserError(f"store must be a file, got store={path}")
    with path.open("rb") as file:
        head = file.read(100)
    ours = head[:16] == MAGIC and head[68:72] == APPLICATION_ID.to_bytes(4, "big")
    if not ours:
        raise UserError(
            f"store must be a store of pdp-verify, got store={path} (another kind of file, or of an earlier version); "
            "move it away to begin afresh"
        )
    for pause in (0.05, 0.2, 0.5, 1.0):
        try:
            return _inspect(path)
        except sqlite3.Error:
            time.sleep(pause)  # another process may be folding its log in at this moment
    return _inspect(path)


def _inspect(path: Path) -> None:
    busy = path.with_name(path.name + "-wal").exists()  # without a log, even a reader would leave one behind
    uri = path.resolve().as_uri() + ("?mode=ro" if busy else "?mode=ro&immutable=1")
    with closing(sqlite3.connect(uri, uri=True, timeout=BUSY / 1000)) as db:
        (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(str(verdict))
        columns = tuple(name for _, name, *_ in db.execute("PRAGMA table_info(rows)"))
        if columns != COLUMNS:
            raise sqlite3.DatabaseError("its table is missing" if not columns else "its table is another one")
