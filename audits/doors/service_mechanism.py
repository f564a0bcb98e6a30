"""A mechanism behind a service: a request is the body of a POST, the answer the body that comes back."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from .channels import Channels
from .connections import BUSY, Connection
from .door_identity import checked_url, service_identity, shown_url
from .open_door import DoorMechanism, OpenDoor, check_terms
from .request_texts import RequestTexts
from .wire import AnswerCache

#: Seconds before each further attempt for a request that did not reach the mechanism.
PAUSES = (0.05, 0.25, 1.25)


@dataclass(frozen=True, eq=False)
class ServiceMechanism(DoorMechanism):
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
        Whether a request that takes longer ends the audit as not examined, or is an output. With "output" so are the
        statuses 429, 502, 503 and 504, after which a request is sent again otherwise.
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

    url: str = field(repr=False)
    _: KW_ONLY
    concurrency: int = 4
    timeout: float = 60.0
    timeouts: str = "stop"
    batch: int = 100
    reproducible: bool = True
    data: str = "json"
    answers: AnswerCache | None = None
    version: str = ""

    def __post_init__(self) -> None:
        checked_url(self.url)
        check_terms(self)
        object.__setattr__(self, "_door", self._open())

    def _open(self) -> OpenDoor:
        retried = () if self.timeouts == "output" else BUSY
        return OpenDoor(
            Channels(partial(Connection, checked_url(self.url), retried), self.concurrency, PAUSES),
            partial(service_identity, self.url, self.version),
            RequestTexts(in_files=self.data == "csv"),
            self.batch,
            self.timeout,
            self.timeouts,
            self.reproducible,
            self.answers,
        )

    @property
    def name(self) -> str:
        """Short name for reports: scheme, host and path, without the query."""
        return shown_url(self.url)

    def fresh(self) -> ServiceMechanism:
        """Return itself: a service is not started anew."""
        return self
