"""What an earlier run left: a finished certificate of the same inputs is not made again, a stopped audit goes on.

The answers of a door are kept beside the configuration until the certificate is finished. They are outputs on records
that may be private: the file is its owner's alone, and no answer is handed out twice, so that a run never takes one
draw for two. An answer is on file before the door reads it: a run that was killed asks again for those alone that were
under way. That a disk is full is told once and stops nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.row import Audience

from ...engine.follow import SILENT, Phases
from ...engine.rows import Row
from ...engine.store import Store
from ...engine.versions import library_versions, platform_tag, source_digest
from ...messages.errors import UserError
from ..asked import Asked
from ..config.config import Loaded
from ..config.config_mechanisms import OwnSection
from ..config.mechanism_source import DoorSource, source_of, vouched_by
from ..config.own_code import OwnCode
from ..reading.data_files import read_dataset, size
from ..release.releases import chain, folder_of
from .attestation import artefact_of, sha256
from .certificate_files import CHAIN, LAST, RUN, kind_of, shown
from .check_folder import check_folder
from .output import chain_bytes, inputs


@dataclass(frozen=True)
class Request:
    """What is asked for: a configuration, for whom (in the order of the folders), and how."""

    loaded: Loaded
    wanted: tuple[Audience, ...]
    asked: Asked
    draw_again: bool
    complete: bool = False

    @property
    def inside(self) -> bool:
        """Whether who reads the answer may see what depends on the records."""
        return self.wanted[-1] is Audience.CURATOR or self.loaded.config.data.is_public

    @property
    def words(self) -> dict[str, bool]:
        """The options that bear on record and exit code, as ``run.json`` keeps them."""
        return {
            "--require": self.asked.proved,
            "--allow-undecided": self.asked.undecided,
            "--draw-again": self.draw_again,
            "--complete": self.complete,
        }


@dataclass(frozen=True)
class Before:
    """What was finished before: the folders of these audiences, whole and of the same inputs, and their records."""

    rows: Mapping[Audience, Sequence[Row]]

    def spares(self, request: Request, audience: Audience, record: bytes, kept: bytes) -> bool:
        """Return whether a finished folder stays as it is beside the one that is missing.

        It does when its record would be the same; and, for release on private data, when it was made by these versions:
        nothing that others see may say whether the records are still the same.
        """
        current = (source_digest(), library_versions(), platform_tag())
        header = self.rows[audience][0]
        same = (header["sources"], header["versions"], header["platform"]) == current
        return record == kept or (same and not request.inside)

    def holds(self, request: Request) -> bool:
        """Return whether nothing is left to do."""
        return set(request.wanted) <= set(self.rows)


def finished_before(out: Path, request: Request, progress: Phases = SILENT) -> Before:
    """Return what ``out`` holds of this very request; nothing is drawn or written.

    For release on private data the records are not looked at: what a release folder says holds whatever they are.

    Raises UserError if it holds a finished certificate that is damaged, or was made of other inputs: it names the file,
    or the input.
    """
    there = [audience for audience in Audience if kind_of(out / audience.value / LAST) != "nothing"]
    if not there:
        return Before({})
    if Audience.CURATOR not in there:
        raise _refused(out, "a finished release folder without its curator's")
    rows: dict[Audience, Sequence[Row]] = {}
    for audience in there:
        checked = check_folder(out / audience.value, render=False)
        if checked.wrong:
            raise _refused(out, f"a damaged certificate: {audience.value}: {checked.wrong[0]}")
        rows[audience] = checked.rows
    for audience in there:
        if rows[audience][0].get("previous", {}).get("record", "") != request.asked.previous.digests.get(audience, ""):
            raise _refused(out, "a finished certificate that differs in --previous")
    other = _other_input(out / Audience.CURATOR.value, rows[Audience.CURATOR], request, progress)
    if other:
        raise _refused(out, f"a finished certificate that differs in {other}")
    return Before(rows)


def _refused(out: Path, what: str) -> UserError:
    return UserError(
        f"out must be new, empty, or hold this very certificate, got out={shown(out)} with {what}; "
        "--overwrite replaces it, another --out keeps both"
    )


def _other_input(curator: Path, rows: Sequence[Row], request: Request, progress: Phases) -> str:
    """Return the first input that is another one than then, in words; nothing of what it says."""
    loaded, run = request.loaded, json.loads((curator / RUN).read_bytes())
    for option, given in request.words.items():
        if run.get("asked", {}).get(option) is not given:
            return f"{option}, which was {'not ' if given else ''}given"
    attested = json.loads((curator / LAST).read_bytes())["subject"]
    if attested[0]["digest"]["sha256"] != loaded.digest or attested[0]["name"] != loaded.path.name:
        return f"the configuration {shown(attested[0]['name'])}"
    try:
        now = _inputs_now(loaded)
    except OSError as stop:
        return f"{shown(Path(str(stop.filename)).name)}, which is not there any more"
    differing = (*(one for one in now if one not in attested), *(one for one in attested if one not in now))
    changed = [one["name"] for one in differing]
    if changed:
        return shown(changed[0])
    kept = [] if loaded.config.release is None else chain(loaded)  # without a release there is none
    if (curator / CHAIN).read_bytes() != chain_bytes(kept):
        return "its draws: more were made since"
    if not request.inside:
        return ""
    data = loaded.config.data
    with progress.phase("reading the data", size(data, loaded.folder)) as step:
        digest = read_dataset(data, loaded.folder, tell=step).digest
    return f"data.{'file' if data.source is None else 'source'}" if digest != rows[0]["data"]["digest"] else ""


def _inputs_now(loaded: Loaded) -> list[dict[str, Any]]:
    mechanism = loaded.config.mechanism
    views = mechanism.views if isinstance(mechanism, OwnSection) else ()
    sources = [OwnCode(origin, str(loaded.folder)) for origin in views]
    return inputs(loaded, _output_now(loaded), sources, vouched_by(loaded), artefact_of(loaded))


def _output_now(loaded: Loaded) -> str:
    release = loaded.config.release
    if release is None:
        return ""
    return sha256((loaded.folder / release.file if release.file else folder_of(loaded) / "output.json").read_bytes())


#: The key of a stored row that holds an answer's lines.
LINES = "lines"
#: What SQLite keeps beside its file while that is open, or after a kill.
BESIDE = ("-wal", "-shm")


class StoredAnswers:
    """A file of answers by the digest of their request; any number of threads may ask and add.

    Parameters
    ----------
    path : Path
        Readable by its owner alone; it is made by the first answer and stays until ``remove``.
    about : str
        What the answers are answers of (a digest): those of anything else are neither counted nor handed out.
    tell : callable
        Is told in a line, once, that no more answers can be kept.

    ``n_draws`` are the lines of the answers that were kept before. Raises UserError if the file cannot be read or
    written, is damaged, or is not one of ours.
    """

    def __init__(self, path: Path, *, about: str = "", tell: Callable[[str], object] = lambda _: None) -> None:
        self.path, self._about, self._tell = path, about, tell
        self._lock = threading.Lock()
        self._waiting: deque[tuple[str, str, bool]] = deque()
        self._kept: set[str] = set()
        self._store: Store | None = None
        self._over = False
        self.n_draws = 0
        if path.exists() or path.is_symlink():
            self._read()

    def _read(self) -> None:
        """Open a file that is there and count what is in it, which also reads it whole."""
        self._store = _opened(self.path)
        try:
            names = self._store.keys()
            self._kept = {name for name in names if name.startswith(f"{self._about}:")}
            self.n_draws = sum(len(_lines(self._store, name)) for name in self._kept)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> StoredAnswers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, key: str) -> list[str] | None:
        """Return the lines that an earlier process kept, the first time that they are asked for."""
        name = f"{self._about}:{key}"
        with self._lock:
            if self._store is None or name not in self._kept:
                return None
            self._kept.discard(name)
            try:
                return _lines(self._store, name)
            except Exception as stop:  # damaged since it was opened: it is asked again
                self._give_up(stop)
                return None

    def put(self, key: str, lines: list[str]) -> None:
        """Keep the lines of an answer: on file when this returns, in one transaction with what other threads add."""
        self._waiting.append((f"{self._about}:{key}", json.dumps({LINES: lines}), False))
        with self._lock:
            together = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if self._over or not together:  # empty: in another thread's transaction
                return
            try:
                if self._store is None:
                    self._store = _opened(self.path)
                self._store.put_texts(together)
            except Exception as stop:  # a full disk, a folder that nobody may write to
                self._give_up(stop)

    def close(self) -> None:
        """Close the file and leave it where it is; nothing is kept or handed out any more."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store, self._over = None, True

    def remove(self) -> None:
        """Close the file and delete it: what it was for is finished."""
        self.close()
        self.path.unlink(missing_ok=True)
        _forget_beside(self.path)

    def finish(self, *, cut: bool) -> None:
        """Delete the file once a certificate is made; ``cut``: not all was drawn, so that it stays for another run."""
        if not cut:
            self.remove()
        elif self.path.exists():
            self._tell(
                f"note: the draws so far stay in {self.path}; certify goes on with them (--overwrite or a new --out)"
            )

    def _give_up(self, stop: Exception) -> None:
        """Keep nothing more, and say so: raised, it would pass for an output of the mechanism."""
        if not self._over:
            self._over = True
            why = (stop.strerror if isinstance(stop, OSError) else None) or " ".join(str(stop).split())
            self._tell(f"note: draws are not kept in {self.path} any more ({why})")


@contextlib.contextmanager
def kept_answers(loaded: Loaded, tell: Callable[[str], object] = lambda _: None) -> Iterator[StoredAnswers | None]:
    """Open what is kept of a configuration's command or url for as long as the block runs; None where it has neither.

    ``tell`` is told in a line that the run goes on, or that answers stay or cannot be kept; all of it may depend on how
    long the records take.
    """
    source = source_of(loaded)
    if not isinstance(source, DoorSource):
        yield None
        return
    real = loaded.path.resolve()
    path = Path(os.path.relpath(real.with_name(f"{real.stem}.draws")))
    section, seed = source.section, loaded.config.budget.seed
    late = section.timeout if section.timeouts == "output" else ""  # what was too late need not be with more time
    about = hashlib.sha256(f"{source.digest()} {seed} {late}".encode()).hexdigest()
    with StoredAnswers(path, about=about, tell=tell) as answers:
        if answers.n_draws:
            tell(f"going on with {answers.n_draws:,} draws ({path}; delete it to begin afresh)")
        yield answers


def _opened(path: Path) -> Store:
    if not path.exists():
        _forget_beside(path)  # else SQLite would take the log of a file that is gone for that of the new one
    return Store(path, private=True, threads=True)


def _lines(store: Store, name: str) -> list[str]:
    (row,) = store.get(name) or [{LINES: []}]
    lines: list[str] = row[LINES]
    return lines


def _forget_beside(path: Path) -> None:
    for end in BESIDE:
        path.with_name(path.name + end).unlink(missing_ok=True)
