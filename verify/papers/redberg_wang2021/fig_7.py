"""RW21, Figure 7: losses and bounds, kidney (data of the user)."""

from ..kit import statement
from .shared.tighter_bounds import KIDNEY, small_displays

STATEMENT = statement(
    "RW21-F7",
    domain=KIDNEY.domain,
    summary="Decided on the file of the user, with small taken as a tenth of the budget: the records whose loss is at most 0.1 (1), "
    "or a budget of 0.1 for the parameter (2). Tighter: the median ratio of bound to loss is smaller. On the "
    "published file it is with one lambda for both reports; with each at its own the preparation decides (docs/derivations/redberg_wang2021_on_data.md).",
    displays=small_displays(KIDNEY),
    needs=KIDNEY.sets,
)
