"""W19, Definition 2.7: moment pDP."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W19-D2.7",
    paper="wang2019",
    kind="definition",
    title="Moment pDP",
    locator="Definition 2.7",
    formula=Formula(
        '(EE epsilon, EE epsilon^2, ..., EE epsilon^k, delta) quad "for" (Z, z) tilde.op cal(P)',
        "(E epsilon, E epsilon^2, ..., E epsilon^k, delta) for (Z, z) ~ P",
    ),
    definition="mechanisms.footprint.Footprint",
    domain="Any distribution of (data set, target); the named instances are a data set, for all, for one, assumptions on Z, a prior on Z",
    summary="`Footprint.moments(k)` are the moments; `of_dataset`, `for_all`, `for_one` and `with_prior` build the named instances.",
)
