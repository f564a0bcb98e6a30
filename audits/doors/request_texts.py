"""Requests: the records of a data set as JSON, or as a file that a request names."""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
import math
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: Data sets whose texts are kept at hand.
AT_HAND = 16
#: How our folders of records are called, and the seconds after which one that nobody holds is a dead process's.
PREFIX, SETTLED = "pdp-verify-records-", 60.0


@dataclass(frozen=True)
class RecordsText:
    """The records of one data set.

    Attributes
    ----------
    text : str
        The first members of a request, without its opening brace.
    digest : str
        SHA-256 of the records themselves.
    """

    text: str
    digest: str

    def request(self, n_draws: int, seed: int | None) -> bytes:
        """Return a request as one line."""
        seeded = "" if seed is None else f', "seed": {seed}'
        return f'{{{self.text}, "n_draws": {n_draws}{seeded}}}\n'.encode()


class RequestTexts:
    """The texts of data sets, made once for each of the last few.

    Parameters
    ----------
    in_files : bool
        Whether requests name a file with the records; the files are our own and go with this object.
    """

    def __init__(self, *, in_files: bool) -> None:
        self._files = RecordFiles() if in_files else None
        self._made: OrderedDict[str, RecordsText] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, dataset: Any) -> RecordsText:
        """Return the records of anything with ``X`` and ``y``, of any type."""
        X, y = np.asarray(dataset.X), np.asarray(dataset.y)
        key = _contents(X, y)
        with self._lock:
            made = self._made.pop(key, None) or self._make(X, y)
            self._made[key] = made
            if len(self._made) > AT_HAND:
                self._made.popitem(last=False)
        return made

    def _make(self, X: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> RecordsText:
        text = f'"X": {json.dumps(X.tolist(), default=_plain)}, "y": {json.dumps(y.tolist(), default=_plain)}'
        digest = hashlib.sha256(text.encode()).hexdigest()
        if self._files is None:
            return RecordsText(text, digest)
        return RecordsText(f'"csv": {json.dumps(str(self._files.path(digest, X, y)))}', digest)

    def close(self) -> None:
        """Remove the files."""
        if self._files is not None:
            with self._lock:
                self._made.clear()
                self._files.remove()


def _contents(X: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> str:
    digest = hashlib.sha256()
    for array in (X, y):
        raw = repr(array.tolist()).encode() if array.dtype.hasobject else np.ascontiguousarray(array).tobytes()
        digest.update(f"{array.dtype.str} {array.shape} {len(raw)}:".encode())
        digest.update(raw)
    return digest.hexdigest()


def _plain(value: Any) -> Any:
    """Return what JSON has for a value of another type: the Python number of a NumPy one, otherwise its text."""
    return value.item() if isinstance(value, np.number | np.bool_) else str(value)


class RecordFiles:
    """Files of records in a folder that its owner alone may read, each written once."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._remove: Any = None

    def path(self, digest: str, X: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> Path:
        """Return the file of some records, columns ``x1`` to ``xd`` and ``y`` under a header."""
        if self._folder is None:
            _sweep(Path(tempfile.gettempdir()))
            self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
            self._remove = weakref.finalize(self, _remove_folder, self._folder, os.getpid(), _held(self._folder))
        path = self._folder / f"{digest[:32]}.csv"
        if not path.exists():
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow([*(f"x{i + 1}" for i in range(X.shape[1])), "y"])
            writer.writerows([*map(_cell, row), _cell(last)] for row, last in zip(X.tolist(), y.tolist(), strict=True))
            path.write_text(text.getvalue(), encoding="utf-8", newline="")
            path.chmod(0o400)
        return path

    def remove(self) -> None:
        """Remove the folder; a later file gets another one."""
        if self._remove is not None:
            self._remove()
        self._folder = self._remove = None


def _held(folder: Path) -> int | None:
    """Return a descriptor that holds a folder until it is closed or its process ends; None where another one does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _sweep(place: Path) -> None:
    """Remove what killed processes of ours have left behind: folders that nobody holds, after a minute."""
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.lstat().st_uid != os.getuid() or time.time() - folder.lstat().st_mtime < SETTLED:
                continue
            descriptor = _held(folder)
            if descriptor is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(descriptor)


def _remove_folder(folder: Path, owner: int, held: int | None) -> None:
    if os.getpid() == owner:  # a forked process leaves it to its parent
        shutil.rmtree(folder, ignore_errors=True)
    if held is not None:
        os.close(held)


def _cell(value: Any) -> Any:
    """Return a number as R and others read it back, NaN and infinity included."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if value != value else "Inf" if value > 0 else "-Inf"
    return repr(value) if isinstance(value, float) else value
