"""RW21, Figure 8: losses and bounds, wine quality (data of the user)."""

from ..kit import statement
from .shared.tighter_bounds import WINE, small_displays

STATEMENT = statement(
    "RW21-F8",
    domain=WINE.domain,
    summary="Decided on the file of the user, with small taken as a tenth of the budget: the records whose loss is at most 0.1 (1), "
    "or a budget of 0.1 for the parameter (2). Tighter: the median ratio of bound to loss is smaller. The bound on the slope of the squared loss is not stated: 2, as for |theta| <= 1 "
    "and |y| <= 1. On the published files it holds in every reading (docs/derivations/redberg_wang2021_on_data.md).",
    displays=small_displays(WINE),
    needs=WINE.sets,
)
