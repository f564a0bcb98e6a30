"""A mechanism behind a command that stays open: requests on its standard input, answers on its standard output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .wire import AnswerCache


@dataclass(frozen=True, eq=False)
class CommandMechanism:
    """A mechanism in any language: a command that reads requests and writes answers, a line each, until its input ends.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell reads them.
    folder : path, optional
        Where it runs; by default where this process does.
    concurrency : int
        Most processes of it at once.
    timeout : float
        Seconds that one request may take.
    timeouts : {"stop", "output"}
        Whether a request that takes longer ends the audit as not examined, or is an output.
    batch : int
        Most draws of one request.
    reproducible : bool
        Whether requests have a seed.
    data : {"json", "csv"}
        Whether a request holds the records themselves or the path of a file with them.
    answers : AnswerCache, optional
        Where answers are kept.
    version : str
        What runs there, in the user's words; answers of another version are others.
    """

    command: Sequence[str]
    _: KW_ONLY
    folder: str | Path | None = None
    concurrency: int = 1
    timeout: float = 60.0
    timeouts: str = "stop"
    batch: int = 100
    reproducible: bool = True
    data: str = "json"
    answers: AnswerCache | None = None
    version: str = ""

    @property
    def name(self) -> str:
        """Short name for reports."""
        raise NotImplementedError

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return ``n_draws`` outputs; may be called from several threads."""
        raise NotImplementedError

    def fresh(self) -> CommandMechanism:
        """Return the same mechanism, whose next request goes to a newly started process."""
        raise NotImplementedError

    def close(self) -> None:
        """End its processes; requests that are open end with ``NoAnswer``. A later draw starts anew."""
        raise NotImplementedError
