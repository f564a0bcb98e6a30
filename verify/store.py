"""Rows as they are decided, in SQLite: what an interrupted run leaves behind, and what a resumed one need not redo."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

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
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, rows TEXT NOT NULL)")

    def get(self, key: str) -> list[Row] | None:
        """Return the rows of a finished task, or None. A task that stopped with an exception is not finished."""
        found = self._db.execute("SELECT rows FROM rows WHERE key = ?", (key,)).fetchone()
        if found is None:
            return None
        rows: list[Row] = json.loads(found[0])
        return None if any(row.get("error") for row in rows) else rows

    def put(self, key: str, rows: list[Row]) -> None:
        """Keep the rows of a finished task."""
        text = "[" + ",".join(dumps(row) for row in rows) + "]"
        self._db.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (key, text))

    def close(self) -> None:
        """Close the file (its log is folded in)."""
        self._db.close()
