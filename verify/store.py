"""Rows as they are decided, in SQLite: what an interrupted run leaves behind, and what a resumed one need not redo."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .errors import UserError
from .faults import FULL_WORDS
from .rows import Row, dumps
from .worker import Task


def content_key(task: Task, statement_id: str, params: Mapping[str, Any], context: Mapping[str, Any]) -> str:
    """Return the hash of everything that decides a task's rows: statement, case, settings, sources, versions."""
    return content_hash({"task": asdict(task), "id": statement_id, "params": dict(params), "context": dict(context)})


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the hash of anything that can be written as JSON, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


class Store:
    """A small SQLite file of rows by content hash; one writer, readers never wait (write-ahead log)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise UserError(f"store must be a file, got store={path}{' (a link)' if path.is_symlink() else ''}")
        try:
            self._db = logged(path)
            with closed_if_refused(self._db):
                self._db.execute("CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, rows TEXT NOT NULL)")
        except sqlite3.Error as stop:
            raise refused(path, stop) from stop

    def get(self, key: str) -> list[Row] | None:
        """Return the rows of a finished task, or None. A task that stopped with an exception is not finished."""
        try:
            found = self._db.execute("SELECT rows FROM rows WHERE key = ?", (key,)).fetchone()
        except (sqlite3.Error, UnicodeDecodeError) as stop:
            raise refused(self.path, stop) from stop
        if found is None:
            return None
        digest, _, text = str(found[0]).partition(" ")
        if digest != hashlib.sha256(text.encode()).hexdigest():
            raise refused(self.path, "a row is not as it was written")
        rows: list[Row] = json.loads(text)
        return None if any(row.get("error") for row in rows) else rows

    def put(self, key: str, rows: list[Row]) -> None:
        """Keep the rows of a finished task, after their digest."""
        text = "[" + ",".join(dumps(row) for row in rows) + "]"
        text = f"{hashlib.sha256(text.encode()).hexdigest()} {text}"
        try:
            self._db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (key, text))
        except sqlite3.Error as stop:
            raise refused(self.path, stop) from stop

    def close(self) -> None:
        """Close the file (its log is folded in)."""
        self._db.close()


def logged(path: Path, *, timeout: float = 5.0) -> sqlite3.Connection:
    """Return a connection with a write-ahead log, which waits so many seconds for another writer."""
    db = sqlite3.connect(path, isolation_level=None, timeout=timeout)
    with closed_if_refused(db):
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
    return db


@contextlib.contextmanager
def closed_if_refused(db: sqlite3.Connection) -> Iterator[None]:
    """Close a file that turns out to be damaged: else its log would stay beside it."""
    try:
        yield
    except sqlite3.Error:
        db.close()
        raise


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
