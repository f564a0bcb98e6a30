"""A certificate in a notebook or a script: the claims of a configuration, decided; nothing is printed.

``pdp-verify certify`` does the same and writes the folder with record, report and attestation. For both, the answers of
a door are kept beside the configuration until the certificate is finished: a stopped audit goes on. They are outputs on
records that may be private: the file is its owner's alone, and no answer is handed out twice, so that a run never takes
one draw for two. An answer is on file before the door reads it: a run that was killed asks again for those alone that
were under way. That a disk is full is told once and stops nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.estimate import Result
from audits.verdict import Decision
from reports.row import Audience

from ..engine.store import Store
from ..engine.worker import one_blas_thread
from ..kernel.rows import Row
from ..messages.errors import UserError
from .certificate import Certificate, decide, read_deployment, record_rows
from .claims.types import BY_TYPE
from .config.config import Configuration, Loaded, load
from .config.mechanism_source import DoorSource, source_of


@dataclass(frozen=True, eq=False, repr=False)
class Certification(Result):
    """What was decided, as one audience may see it.

    Attributes
    ----------
    decision : Decision
        PASS, FAIL or UNDECIDED, over all claims that the audience may see.
    rows : tuple of dict
        The record: header, releases, then each claim with its checks and figures.
    certificate : Certificate
        Everything, private findings included.
    """

    decision: Decision
    rows: tuple[Row, ...]
    audience: Audience
    certificate: Certificate

    @property
    def claims(self) -> dict[str, Decision]:
        """The verdict on each claim that the audience may see, by the claim's name."""
        return {finding.name: finding.verdict.decision for finding in self.certificate.visible(self.audience)}

    @property
    def words(self) -> dict[str, str]:
        """The same verdicts with what they rest on: ``PASS (proved)``, ``UNDECIDED (not tested)``, …."""
        return {finding.name: finding.verdict.words for finding in self.certificate.visible(self.audience)}

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"decision": self.decision, "audience": self.audience, **self.words}


def certify(
    config: str | Path | Loaded, *, audience: str | None = None, jobs: int = 1, complete: bool = False
) -> Certification:
    """Decide every claim of a configuration.

    A private release that the configuration asks to be drawn is drawn once, kept beside the configuration, and reused.
    So are the answers of a command or a service, until every claim is decided.

    Parameters
    ----------
    config : path or Loaded
        CONFIG.toml, or what ``load`` made of it.
    audience : {"curator", "release"}, optional
        Who will see the result. By default the curator for private data, everyone for public ones.
    jobs : int
        Worker processes for sampled checks.
    complete : bool
        Whether every pair of data sets of an imported mechanism is examined; without it, none after the first one that
        refutes the claim.

    Returns
    -------
    Certification
        The decision, a verdict for every claim, and the rows of the record.

    Raises
    ------
    UserError
        One line: what is wrong with the configuration or its data.
    """
    loaded = config if isinstance(config, Loaded) else load(Path(config))
    reader = reader_of(loaded.config, audience)
    if jobs < 1:
        raise UserError(f"jobs must be at least 1, got jobs={jobs}")
    with one_blas_thread(), kept_answers(loaded) as answers:
        deployment, digest = read_deployment(loaded, jobs=jobs, answers=answers, complete=complete)
        certificate = decide(deployment, digest)
        rows = tuple(record_rows(certificate, reader, loaded))
        if answers is not None:
            answers.finish(cut=certificate.cut)
    return Certification(certificate.decision(reader), rows, reader, certificate)


def reader_of(config: Configuration, audience: str | None) -> Audience:
    """Return the audience that was asked for, or the default; refuses a release that would have nothing to say."""
    public = config.data.is_public
    known = [option.value for option in Audience]
    if audience is not None and audience not in known:
        raise UserError(f"audience must be {' or '.join(known)}, got audience={audience}")
    reader = Audience(audience) if audience else (Audience.RELEASE if public else Audience.CURATOR)
    if reader is Audience.RELEASE and not public and config.budget.max_seconds is not None:
        raise UserError(
            "budget.max_seconds must be absent for --audience release on private data, got "
            f"budget.max_seconds={config.budget.max_seconds:g}; what is reached by then depends on how long the "
            "records take (budget.max_draws caps what is drawn)"
        )
    about_everyone = any(claim.everywhere for claim in config.claims)
    if reader is Audience.RELEASE and not public and not about_everyone:
        *others, last = (type_ for type_, section in BY_TYPE.items() if section.everywhere)
        raise UserError(
            f"claims must hold one of type {', '.join(others)} or {last} for --audience release on private data, "
            "got none; the others depend on the records and stay with the curator"
        )
    return reader


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
