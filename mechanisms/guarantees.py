"""What a mechanism's paper promises about it, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from .base import check_delta
from .data.neighbours import Relation

#: DP: every pair of neighbours; pDP: one data set and one target; ex-post: one output as well.
Scope = Literal["DP", "pDP", "ex-post"]


@dataclass(frozen=True)
class Guarantee:
    """A stated (epsilon, delta) promise, and for whom it is stated.

    Parameters
    ----------
    epsilon : float
        At least 0, natural log; may be infinite (an empty promise).
    delta : float
        In [0, 1].
    relation : Relation
        The neighbouring relation under which it is stated.
    scope : {"DP", "pDP", "ex-post"}
        All pairs; one data set and one target; one data set, one target and one output.
    source : str
        Paper and printed number, for example ``"W19-T4.1 (4.3)"``.
    """

    epsilon: float
    delta: float
    relation: Relation
    scope: Scope
    source: str

    def __post_init__(self) -> None:
        if not float(self.epsilon) >= 0:
            raise ValueError(f"epsilon must be at least 0, got epsilon={self.epsilon}")
        check_delta(self.delta)
        if self.scope not in get_args(Scope):
            raise ValueError(f"scope must be one of {', '.join(get_args(Scope))}, got scope={self.scope}")
        if not self.source:
            raise ValueError("source must name a paper and a printed number, got source=''")
