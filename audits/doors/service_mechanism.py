"""A mechanism behind a service: a request is the body of a POST, the answer the body that comes back."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .wire import AnswerCache


@dataclass(frozen=True, eq=False)
class ServiceMechanism:
    """A mechanism that a service at a url answers for; redirects are not followed.

    Parameters
    ----------
    url : str
        Of http or https, without user and password.
    concurrency : int
        Most requests that are open at once.
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

    url: str
    _: KW_ONLY
    concurrency: int = 4
    timeout: float = 60.0
    timeouts: str = "stop"
    batch: int = 100
    reproducible: bool = True
    data: str = "json"
    answers: AnswerCache | None = None
    version: str = ""

    @property
    def name(self) -> str:
        """Short name for reports: scheme, host and path, without the query."""
        raise NotImplementedError

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return ``n_draws`` outputs; may be called from several threads."""
        raise NotImplementedError

    def fresh(self) -> ServiceMechanism:
        """Return itself: a service is not started anew."""
        return self

    def close(self) -> None:
        """Close its connections; requests that are open end with ``NoAnswer``. A later draw opens others."""
        raise NotImplementedError
