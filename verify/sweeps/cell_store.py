"""The file of a sweep: rows by content hash in SQLite, written by several local processes at once, never overwritten.

A file that is not ours, or that is damaged, is refused before SQLite opens it for writing, so that it stays as it is.
"""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from ..errors import UserError
from ..rows import Row
from ..store import logged, refused

#: Marks the file in its header (bytes 68 to 71), readable without opening the database: "PDPS".
APPLICATION_ID = 0x50445053
MAGIC = b"SQLite format 3\x00"
#: File systems that several machines share: the write-ahead log needs shared memory, which they have not.
NETWORK = {"9p", "afs", "beegfs", "ceph", "cifs", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2"}
NETWORK |= {"fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "orangefs", "pvfs2", "smb3", "smbfs"}
MOUNTS = Path("/proc/self/mounts")
BUSY = 60_000  # milliseconds that a writer waits for another one
#: A crash may be replaced (by the same crash, or by what a retry found); a decided row never is.
PUT = """
INSERT INTO rows VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET rows = excluded.rows
WHERE json_type(rows.rows, '$[0].error') = 'object'
"""


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


class CellStore:
    """Rows of cells by content hash. Any number of processes of one machine may write; a key is counted once."""

    def __init__(self, path: Path, *, private: bool = False, mounts: Path = MOUNTS) -> None:
        self.path = path
        kind = file_system(path.parent, mounts)
        if kind in NETWORK:
            raise UserError(
                f"store must be on a local disk, got store={path} on a network file system ({kind}); "
                "name a local file with --store"
            )
        if path.is_symlink():
            raise UserError(f"store must be a file, got store={path} (a link); name the file itself with --store")
        try:
            if not path.exists():
                _create(path, private=private)
            _check(path)
            self._db = logged(path, timeout=BUSY / 1000)
        except OSError as stop:
            raise UserError(f"store must be a file that can be written, got store={path} ({stop.strerror})") from stop
        except sqlite3.Error as stop:
            raise refused(path, stop) from stop

    def __enter__(self) -> CellStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def keys(self, *, failed: bool = False) -> set[str]:
        """Return the keys of all rows, or of those alone that are crashes."""
        query = "SELECT key FROM rows"
        if failed:
            query += " WHERE json_type(rows, '$[0].error') = 'object'"
        return {str(key) for (key,) in self._select(query)}

    def has(self, keys: Iterable[str]) -> set[str]:
        """Return which of a few keys have a row by now (of whichever process)."""
        wanted = list(keys)
        marks = ",".join("?" * len(wanted))
        return {str(key) for (key,) in self._select(f"SELECT key FROM rows WHERE key IN ({marks})", wanted)}

    def get(self, key: str) -> Row | None:
        """Return the row of a key, crashes included."""
        found = next(self._select("SELECT rows FROM rows WHERE key = ?", [key]), None)
        if found is None:
            return None
        try:
            (row,) = json.loads(str(found[0]))
        except (ValueError, TypeError, RecursionError):
            raise refused(self.path, "a row is not as it was written") from None
        return dict(row) if isinstance(row, dict) else None

    def put(self, rows: Iterable[tuple[str, str]]) -> None:
        """Keep rows, given as key and JSON text, in one transaction; a row that is decided already stays."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(PUT, ((key, f"[{text}]") for key, text in rows))
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
        except sqlite3.Error as stop:
            raise refused(self.path, stop) from stop

    def close(self) -> None:
        """Close the file (the last process to do so folds its log in)."""
        self._db.close()

    def _select(self, query: str, values: Iterable[str] = ()) -> Iterator[tuple[object, ...]]:
        try:
            yield from self._db.execute(query, list(values))
        except sqlite3.Error as stop:
            raise refused(self.path, stop) from stop


def _create(path: Path, *, private: bool) -> None:
    """Make an empty store under another name, then give it its own: nobody ever sees half of one."""
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}.tmp")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
        with closing(sqlite3.connect(temporary, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute("CREATE TABLE rows (key TEXT PRIMARY KEY, rows TEXT NOT NULL)")
        try:
            os.link(temporary, path)
        except FileExistsError:
            return  # another process was first; its file is as good
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
        raise UserError(f"store must be a store of pdp-verify sweep, got store={path} (another kind of file)")
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
        columns = [name for _, name, *_ in db.execute("PRAGMA table_info(rows)")]
        if columns != ["key", "rows"]:
            raise sqlite3.DatabaseError("its table is missing")
