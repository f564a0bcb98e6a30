"""RW21, Figure 10: ratio of bound to loss, wine quality (data of the user)."""

from ..kit import statement
from .shared.tighter_bounds import WINE, closer_displays

STATEMENT = statement(
    "RW21-F10",
    domain=WINE.domain,
    summary="Decided on the file of the user, as what is seen in more than half of all runs, under three preparations and both "
    "forms of the report, which must agree. The bound on the slope of the squared loss is not stated: 2, as for |theta| <= 1 "
    "and |y| <= 1. On the published files it holds in every reading (docs/derivations/redberg_wang2021_on_data.md).",
    displays=closer_displays("@", WINE.at(1.0, 1.0, 1.0, independent=1.0), WINE.draws),
    needs=WINE.sets,
)
