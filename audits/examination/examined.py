"""How much must be examined before anything may rest on it: a demand, and the proof that it was met."""

from __future__ import annotations

from dataclasses import dataclass

#: The largest probability of a leak on one side that an examination may leave unseen where it was made smaller by hand,
#: or made fewer draws of wide outputs.
VISIBLE = 0.05


@dataclass(frozen=True)
class Demand:
    """What an examination must have drawn."""

    pairs: int  #: pairs of data sets with draws on both sides, at least 1
    draws: int  #: draws of each data set of such a pair, at least 1
    visible: float = 1.0  #: the smallest leak seen must be at most this, in (0, 1]

    def __post_init__(self) -> None:
        if self.pairs < 1 or self.draws < 1:
            raise ValueError(f"pairs and draws must be at least 1, got pairs={self.pairs}, draws={self.draws}")
        if not 0 < self.visible <= 1:
            raise ValueError(f"visible must be in (0, 1], got visible={self.visible}")


@dataclass(frozen=True)
class DrawnPair:
    """How often the mechanism was run on each data set of one pair, refusals of the whole data set left out."""

    name: str
    first: int
    second: int
    #: draws of each data set that the width of the outputs allowed, where that is fewer than were wanted
    most: int | None = None

    @property
    def draws(self) -> int:
        """Draws of the data set that was drawn from less."""
        return min(self.first, self.second)


@dataclass(frozen=True)
class Enough:
    """The draws that met a demand. It cannot be made from fewer: a PASS that needs one needs the draws.

    Raises ``ValueError`` if fewer pairs, or fewer draws of one of their data sets, were drawn than demanded, or the
    smallest leak that could be seen is larger than demanded.
    """

    demand: Demand
    drawn: tuple[DrawnPair, ...]
    visible: float

    def __post_init__(self) -> None:
        wrong = shortfall(self.demand, self.drawn, self.visible)
        if wrong:
            raise ValueError(wrong)


def shortfall(demand: Demand, drawn: tuple[DrawnPair, ...], visible: float) -> str:
    """Return what is missing of a demand, in words; empty when it is met."""
    wanted = {pair: min(demand.draws, pair.most or demand.draws) for pair in drawn}
    full = len({pair.name for pair in drawn if pair.draws >= wanted[pair]})
    # fewer draws of wide outputs will do, as those made fewer by hand do, where what they see is small enough
    limit = min(demand.visible, VISIBLE) if any(most < demand.draws for most in wanted.values()) else demand.visible
    if full < demand.pairs:
        return (
            f"{full} of at least {demand.pairs} pairs of data sets were drawn from at least {demand.draws:,} times "
            "on both sides"
        )
    if visible >= 1 and limit < 1:
        return f"no leak could have been seen (one of at most {limit:g} is asked for)"
    if not visible <= limit:
        return f"leaks rarer than {visible:.3g} could not have been seen (at most {limit:g} is asked for)"
    return ""
