"""How a mechanism is set up for a target (epsilon, delta) by a published rule: a name on the mechanism axis of a sweep.

The claim of a cell is that the mechanism, set up so, is (epsilon, delta)-private between the two data sets of the cell.
A module that holds a mechanism may have ``recipes()``, a mapping of names to ``Recipe``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .base import WhiteBox
from .data.neighbours import NeighbouringPair
from .objective.losses import GlmLoss, LogisticLoss, PseudoHuberLoss, SmoothedHingeLoss

#: Ridge of the recipes whose rule does not choose one.
LAM = 1.0

LOSSES: Mapping[str, Callable[[], GlmLoss]] = {
    "logistic": LogisticLoss,
    "pseudo-huber": PseudoHuberLoss,
    "smoothed-hinge": SmoothedHingeLoss,
}
SQUARED = "squared"
LINEAR = (SQUARED,)
#: Losses whose response is a label, -1 or +1.
LABELS = ("logistic", "smoothed-hinge")


@dataclass(frozen=True)
class Setup:
    """A mechanism set up for a cell; out of domain where its rule claims nothing there, with the reason."""

    mechanism: WhiteBox | None
    out_of_domain: str = ""


Build = Callable[[str, NeighbouringPair, float, float], Setup]


@dataclass(frozen=True)
class Recipe:
    """One name on the mechanism axis.

    Attributes
    ----------
    build : callable
        ``build(loss, pair, epsilon, delta)``; the sizes and public bounds are those of ``pair.first``.
    losses : tuple of str
        The losses it is defined for.
    exact : bool
        Whether the law of the loss is known, so that nothing is drawn.
    rule : str
        Where the rule is printed or derived.
    """

    build: Build
    losses: tuple[str, ...]
    exact: bool
    rule: str
