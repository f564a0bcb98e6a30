"""W19, Definition 2.7: moment pDP."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W19-D2.7",
    '(EE epsilon, EE epsilon^2, ..., EE epsilon^k, delta) quad "for" (Z, z) tilde.op cal(P)',
    "mechanisms.records.footprint.Footprint",
    domain="Any distribution of (data set, target); the named instances are a data set, for all, for one, assumptions on Z, a prior on Z",
    summary="`Footprint.moments(k)` are the moments; `of_dataset`, `for_all`, `for_one` and `with_prior` build the named instances.",
)
