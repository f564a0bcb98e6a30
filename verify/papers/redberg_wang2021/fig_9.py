"""RW21, Figure 9: ratio of bound to loss, kidney (data of the user)."""

from ..kit import statement
from .shared.tighter_bounds import KIDNEY, closer_displays

STATEMENT = statement(
    "RW21-F9",
    domain=KIDNEY.domain,
    summary="Decided on the file of the user, as what is seen in more than half of all runs, under three preparations and both "
    "forms of the report, which must agree. On the published file it holds where both reports run with one lambda. With "
    "each at its own the preparation decides: at the lambda of Theorem 5 the noise saturates the loss, and the "
    "data-independent bound comes close to it (docs/derivations/redberg_wang2021_on_data.md).",
    displays=closer_displays("@", KIDNEY.at(1.0, 1.0, 1.0, independent=1.0), KIDNEY.draws),
    needs=KIDNEY.sets,
)
