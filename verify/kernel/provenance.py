"""Where a display was read, and what our copy of the paper is worth there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Worth(Enum):
    """What our copy of a paper is worth at one place; the member's value is the printed sentence."""

    CONFIRMED = "confirmed: a second source prints the same"
    SINGLE = "as transcribed: no second source was found"
    DAMAGED = "damaged: other sources, or the paper's own use, contradict our copy"


@dataclass(frozen=True)
class Provenance:
    """Where a display was read: the copy and its digest (SHA-256), its line, what that place is worth, and why."""

    copy: str
    digest: str
    line: int
    worth: Worth = Worth.SINGLE
    evidence: str = ""
