"""The folder in which private releases are kept: one process at a time, counted first, sealed with what was written.

``spent.json`` lists every draw. A draw is written there before it is made; when what was drawn has been written, its
entry gets the digest of that file. A run that is stopped in between can so only have counted too much. What is found
there later must be what was sealed last; nothing is drawn silently because a file is damaged or gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from reports.files import make_folder, write_atomic

from ...engine.held import HOLDER, LOCK, held
from ...kernel.rows import encode
from ...messages.errors import UserError

#: Only the owner may read what has not been published yet.
PRIVATE_MODE = 0o600
#: For how long a run waits for another one that draws.
WAIT_SECONDS = 600.0
SPENT = "spent.json"
OWN = frozenset({SPENT, "output.json", "report.json", LOCK, HOLDER})

What = Literal["output", "report"]
#: One draw, as ``spent.json`` holds it.
Entry = dict[str, Any]


class _Drawn(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True)

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None


class _Output(_Drawn):
    what: Literal["output"]
    mechanism: str


class _Report(_Drawn):
    what: Literal["report"]
    mu: Annotated[float, Field(ge=0)] | Literal["inf"]


_ENTRIES = TypeAdapter(list[Annotated[_Output | _Report, Field(discriminator="what")]])


@dataclass
class ReleaseState:
    """What was drawn, as far as it is kept; ``writes`` is False where nothing may be written or drawn (a dry run).

    Attributes
    ----------
    folder : Path
    entries : list of dict
        One for every draw that was ever made, oldest first.
    """

    folder: Path
    entries: list[Entry] = field(default_factory=list)
    writes: bool = True

    def of(self, what: What) -> list[Entry]:
        """Return the draws of one kind."""
        return [entry for entry in self.entries if entry["what"] == what]

    def name(self, what: What) -> str:
        """Return the name of the file that keeps the last draw, as a message shows it."""
        return f"{self.folder.name}/{what}.json"

    def kept(self, what: What, *, again: bool) -> bytes | None:
        """Return what was written last, or None when nothing is kept.

        Parameters
        ----------
        again : bool
            Whether another draw was asked for: then a file may be gone.

        Raises UserError if the file is not the one that was sealed.
        """
        data, last = _read_file(self.folder, f"{what}.json"), next(reversed(self.of(what)), {})
        sealed = last.get("sha256")
        if data is None and sealed is not None and not again:
            raise UserError(
                f"{self.name(what)} must be there, for it was drawn, got no such file; "
                "put it back, or --draw-again draws once more and counts both"
            )
        if data is not None and sealed is not None and digest_of(data) != sealed:
            raise UserError(
                f"{self.name(what)} must be the file whose digest {SPENT} holds, got another; put that one back, "
                "or remove it and --draw-again draws once more and counts both"
            )
        return data

    def adopt(self, what: What, data: bytes, about: Entry) -> None:
        """Count and seal a readable file of an interrupted run, or of one before there were digests."""
        if not self.of(what):
            self.count(what, about)
        if "sha256" not in self.of(what)[-1] and self.place(what, data) is None:
            self._seal(what, data)

    def place(self, what: What, data: bytes) -> int | None:
        """Return which entry of all sealed a file, or None."""
        digest = digest_of(data)
        places = [k for k, entry in enumerate(self.entries) if entry["what"] == what and entry.get("sha256") == digest]
        return places[-1] if places else None

    def count(self, what: What, about: Entry) -> None:
        """Write one more draw into the list, before it is made; where nothing is written, it is foreseen."""
        self.entries = [*self.entries, {"what": what} | about]
        self._write_entries()

    def keep(self, what: What, data: bytes) -> None:
        """Write what was drawn for the last entry, then seal it."""
        with _refused(self.folder):
            write_atomic(self.folder / f"{what}.json", data, mode=PRIVATE_MODE)
        self._seal(what, data)

    def _seal(self, what: What, data: bytes) -> None:
        last = max(k for k, entry in enumerate(self.entries) if entry["what"] == what)
        sealed = self.entries[last] | {"sha256": digest_of(data)}
        self.entries = [*self.entries[:last], sealed, *self.entries[last + 1 :]]
        self._write_entries()

    def _write_entries(self) -> None:
        if self.writes:
            text = json.dumps(self.entries, indent=1, allow_nan=False) + "\n"
            with _refused(self.folder):
                write_atomic(self.folder / SPENT, text.encode(), mode=PRIVATE_MODE)


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[ReleaseState]:
    """Hold the folder for as long as the block runs; it is made where there is none, whatever the records are.

    Raises UserError if another run holds it for too long, or it is damaged, or cannot be written.
    """
    if folder.is_symlink() or folder.exists():
        _require_files(folder)
    with _refused(folder):
        make_folder(folder, private=True)
    with held(folder, folder.name, wait=WAIT_SECONDS):
        with _refused(folder):
            for left in folder.glob(".*.tmp"):  # of a killed run: we are alone here
                left.unlink()
        yield looked_at(folder, writes=True)


def looked_at(folder: Path, *, writes: bool = False) -> ReleaseState:
    """Return the state without holding it: what is read was written whole, and is never written back.

    Raises UserError if it is damaged.
    """
    if not folder.is_symlink() and not folder.exists():
        return ReleaseState(folder, [], writes)
    _require_files(folder)
    return ReleaseState(folder, read_chain(folder), writes)


def read_chain(folder: Path) -> list[Entry]:
    """Return the list of draws of a folder, oldest first; empty when nothing was drawn.

    Raises UserError if it is not as it was written.
    """
    data = _read_file(folder, SPENT)
    if data is None:
        return []
    try:
        _ENTRIES.validate_json(data)
        entries: list[Entry] = encode(json.loads(data))  # an infinite mu was no strict JSON before
    except (ValidationError, ValueError, RecursionError):
        raise UserError(f"{folder.name}/{SPENT} must be the list of draws as it was written, got another") from None
    return entries


def _read_file(folder: Path, name: str) -> bytes | None:
    """Return the bytes of a file of the folder, or None when there is none; a link is not followed.

    Raises UserError if it is no file or cannot be read.
    """
    path = folder / name
    _require_file(path)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as stop:
        raise UserError(f"{folder.name}/{name} must be readable, got {stop.strerror}") from None


def digest_of(data: bytes) -> str:
    """Return the SHA-256 by which a file is sealed."""
    return hashlib.sha256(data).hexdigest()


def _require_files(folder: Path) -> None:
    """Refuse a folder that is a link or a file, or in which there is a link."""
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(f"{folder.name} must be a folder, got {'a link' if folder.is_symlink() else 'a file'}")
    with _refused(folder):
        for path in sorted(folder.iterdir()):
            if path.is_symlink() or path.name in OWN:
                _require_file(path)


def _require_file(path: Path) -> None:
    if path.is_symlink() or (path.exists() and not path.is_file()):
        got = "a link" if path.is_symlink() else "something else"
        raise UserError(f"{path.parent.name}/{path.name} must be a file, got {got}")


@contextlib.contextmanager
def _refused(folder: Path) -> Iterator[None]:
    """Say in one line what the system refused; nothing is lost, for a draw was counted before."""
    try:
        yield
    except OSError as stop:
        raise UserError(
            f"{folder.name} must be a private folder that can be written, got {stop.strerror} ({stop.filename}); "
            "the same command goes on from there"
        ) from stop
