"""The answers of a door, kept beside the configuration until the certificate is finished: a stopped audit goes on.

They are outputs on records that may be private: the file is its owner's alone, and no answer is handed out twice, so
that a run never takes one draw for two. An answer is on file before the door reads it: a run that was killed asks
again for those alone that were under way. That a disk is full is told once and stops nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

from ..engine.store import Store
from .config.config import Loaded
from .config.mechanism_source import DoorSource, source_of

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
