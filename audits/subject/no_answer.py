"""How a call can end without outputs: the time is up, nobody answers, or the mechanism itself ended it."""

from __future__ import annotations


class OutOfTime(BaseException):
    """The moment has come in the middle of a pair. No ``Exception``: it must not pass for the mechanism's own."""


class NoAnswer(OutOfTime):
    """Nothing is known of what the mechanism would have answered, so the audit ends; its text names the remedy."""


class CallEnded(Exception):
    """The mechanism ended a call without outputs, and that is an output of the call.

    Parameters
    ----------
    kind : str
        What was seen, without a word of the mechanism's own: ``timeout``, ``closed``, ``HTTP 500``, ``exit 3``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class ProcessExited(CallEnded):
    """The mechanism's process ended while a request was open: ``exit 3``, ``signal 11``."""
