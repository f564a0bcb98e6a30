"""Requests and answers of a mechanism behind a line of JSON, and a digest of what stands behind it.

A request is one line of JSON, an answer one line of JSON for each draw. Equal JSON values are equal outputs; how they
are spelt (white space, blank lines, ``2`` or ``2.0``) is not looked at.

A number is a float where it is that float, or what a float is written as; another one keeps its exact value. A list of
one thing is another value than the thing.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import io
import json
import math
import os
import re
import shutil
import tempfile
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import SplitResult, urlsplit

import numpy as np

from ..harness.output_leaves import Refusal, shown
from ..harness.returned import WrongRows

#: Seeds are whole numbers below this, which every JSON reader holds.
SEEDS = 2**53


class AnswerCache(Protocol):
    """Where answers are kept, so that a stopped audit goes on without asking twice.

    What is kept holds outputs on private records. A line's bytes that are no UTF-8 are lone surrogates in its text; one
    that begins with a line's end says how a call ended without outputs.
    """

    def get(self, key: str) -> list[str] | None:
        """Return what was kept under a key; None if nothing was."""
        ...

    def put(self, key: str, lines: list[str]) -> None:
        """Keep lines under a key; called from several threads."""
        ...


class Single(list[Any]):
    """A list of one thing, which is not taken for the thing."""


@dataclass(frozen=True)
class PlainLine:
    """A line of an answer that is no JSON value: an output, other than the JSON text of the same characters."""

    text: str  #: the line; bytes that are no UTF-8 as lone surrogates


def read_answer(lines: Sequence[bytes], n_draws: int, *, public: bool = False) -> list[Any]:
    """Return the outputs that the lines of one answer hold.

    ``lines``: blank lines are no lines. ``n_draws``: outputs that were asked for. ``public``: whether the text of an
    error may be kept as the reason of its refusal. Raises ``WrongRows`` if there are more or fewer lines than draws.
    """
    if len(lines) != n_draws:
        came, asked = _count(len(lines), "line"), _count(n_draws, "draw")
        raise WrongRows(f"an answer must have a line for each draw, got {came} for {asked}")
    return [read_line(line, public=public) for line in lines]


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def read_line(line: bytes, *, public: bool = False) -> Any:
    """Return the output that one line holds.

    A number is a float unless float64 does not hold it: then it is a whole number or a ``Decimal``.
    ``{"error": "text"}`` is a refusal, by the type of error that the text begins with. What is no JSON (a name that
    stands twice in an object included) is a ``PlainLine``.
    """
    try:
        text = line.decode("utf-8")
        value = _singles((_EXACT if _LONG.search(text) else _DECODER).decode(text))
    except (ValueError, ArithmeticError, RecursionError):  # an exponent that is beyond all numbers included
        return PlainLine(line.decode("utf-8", "surrogateescape"))
    if isinstance(value, dict) and list(value) == ["error"] and isinstance(value["error"], str):
        return _refusal(value["error"], public)
    return value


def _whole(text: str) -> float | int:
    value = int(text)
    try:
        rounded = float(value)
    except OverflowError:
        return value
    return rounded if math.isfinite(rounded) and int(rounded) == value else value


def _real(text: str) -> float | Decimal:
    value, exact = float(text), Decimal(text)
    written = (Decimal(value), Decimal(repr(value)), Decimal(f"{value:.17g}"))
    return value if exact in written else exact


def _singles(value: Any) -> Any:
    """Return a value whose lists of one thing are marked."""
    if isinstance(value, list):
        inner = [_singles(item) if isinstance(item, list | dict) else item for item in value]
        return Single(inner) if len(inner) == 1 else inner
    return {name: _singles(item) for name, item in value.items()} if isinstance(value, dict) else value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError("a name stands twice")
    return read


_DECODER = json.JSONDecoder(parse_int=_whole, object_pairs_hook=_object)
_EXACT = json.JSONDecoder(parse_int=_whole, parse_float=_real, object_pairs_hook=_object)
#: The type of an error at the beginning of its text; the text itself may quote the data and is no output.
_ERROR_TYPE = re.compile(r"[A-Za-z_][\w.]{0,80}(?:Error|Exception|Exit|Interrupt|Warning)(?=:|\s*$)", re.ASCII)
#: What a number has in its text that may not be a float: more than 15 digits, or a large exponent.
_LONG = re.compile(r"[\d.]{17}|[eE][+-]?\d{3}")


def _refusal(text: str, public: bool) -> Refusal:
    named, lines = _ERROR_TYPE.match(text), text.strip().splitlines() if public else []
    return Refusal(named.group() if named else "error", shown(lines[0]) if lines else "")


#: Data sets whose texts are kept at hand.
AT_HAND = 16
#: How our folders of records are called, and the seconds after which one that nobody holds is a dead process's.
PREFIX, SETTLED = "pdp-verify-records-", 60.0


@dataclass(frozen=True)
class RecordsText:
    """The records of one data set."""

    text: str  #: the first members of a request, without its opening brace
    digest: str  #: SHA-256 of the records themselves

    def request(self, n_draws: int, seed: int | None) -> bytes:
        """Return a request as one line."""
        seeded = "" if seed is None else f', "seed": {seed}'
        return f'{{{self.text}, "n_draws": {n_draws}{seeded}}}\n'.encode()


class RequestTexts:
    """The texts of data sets, made once for each of the last few.

    ``in_files``: whether requests name a file with the records; the files are our own and go with this object.
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


def command_files(command: Sequence[str], folder: str | Path | None = None) -> dict[str, Path]:
    """Return the arguments of a command that are files, as it sees them from the folder that it runs in.

    ``command``: the program itself is left out where it is found by its bare name. ``folder``: by default where this
    process runs. Returned: from the argument to its path.
    """
    place = Path(folder) if folder is not None else Path()
    named = [word for i, word in enumerate(command) if word and (i or "/" in word)]
    return {word: place / word for word in named if _is_file(place / word)}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long: an argument that is no path
        return False


def command_identity(command: Sequence[str], folder: str | Path | None = None, version: str = "") -> str:
    """Return the SHA-256 of a command: of its words, and of the contents of those that are files.

    ``folder``: where it runs. ``version``: what the user says that it is.
    """
    return command_digest(command, file_digests(command, folder), version)


def file_digests(command: Sequence[str], folder: str | Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of the contents of each argument that is a file, by the argument; as of ``command_files``."""
    return {word: _file_digest(path) for word, path in command_files(command, folder).items()}


def command_digest(command: Sequence[str], digests: Mapping[str, str], version: str = "") -> str:
    """Return the same digest where those of the files are known; ``digests`` may hold those of other names too."""
    files = {word: digests[word] for word in command if word in digests}
    return _digest({"command": list(command), "files": files, "version": version})


def service_identity(url: str, version: str = "") -> str:
    """Return the SHA-256 of a url and of what the user says that runs there."""
    return _digest({"url": url, "version": version})


def _digest(parts: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_url(url: str) -> SplitResult:
    """Return the parts of a url that a service may have.

    Raises ``ValueError`` if it is not of http or https, has no host, or has a user and password, which no message
    repeats.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("url must be a url of http or https, got something else") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must be without user and password, got one with them")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or port == 0
        or not url.isascii()
        or any(c <= " " or c == "\x7f" for c in url)
    ):
        raise ValueError(f"url must be a url of http or https with a host, got url={parts.scheme}:…")
    return parts


def shown_url(url: str) -> str:
    """Return scheme, host, port and path of a url: nothing of its query, which may hold a token."""
    parts = checked_url(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
