"""How many draws a cap leaves for an examination: draws shrink first, then pilots, then the number of pairs.

A pair has its share of the failure probability whether other pairs are looked at or not, so leaving some out never
raises the probability of a false verdict. What was left out is named.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..subject.guarded_subject import PILOT, PROBE

#: Evaluations of the contract checks, at most, and as a share of what the pairs are given.
CONTRACT_DRAWS, CONTRACT_SHARE = 6_000, 0.1
#: Evaluations by which the contract's facts are looked at, whatever its tests are given.
WATCHED = 18
#: Evaluations at most by which a pair is found to be accepted, and by which its outputs' layout is learned.
PROBED, LEARNED = 2 * PROBE, 2 * PROBE + 2 * PILOT
#: Draws of both data sets of a pair below which pairs are left out instead (fewer hardly refute anything), and the
#: pilot of each data set then.
LEAST, SMALL_PILOT = 400, 10


@dataclass(frozen=True)
class Cap:
    """What may be drawn.

    Attributes
    ----------
    n_draws : int
        Of a pair, both data sets together.
    contract : int
        Of the contract checks.
    n_pilot : int
        Of each data set, to learn what outputs look like.
    tight : bool
        Whether there is nothing left for a search, or for data sets that stand in for refused ones.
    most : int or None
        Pairs at most; None for all.
    spared : str
        What is left out, in words.
    """

    n_draws: int
    contract: int
    n_pilot: int = PILOT
    tight: bool = False
    most: int | None = None
    spared: str = ""

    @classmethod
    def of(cls, max_draws: int | None, n_draws: int, n_pairs: int, slots: int) -> Cap:
        """Return the plan for ``slots`` pairs to be compared, ``n_pairs`` being at hand, of ``n_draws`` each."""
        if max_draws is not None:
            left = (1 - CONTRACT_SHARE) * max_draws - PROBED * n_pairs  # what the pairs may have beside the contract
            few = int(left / (slots + 2)) - LEARNED
            if few < min(LEAST, n_draws):
                return cls._tight(max_draws, n_draws, slots)
            n_draws = max(2, min(n_draws, few))
        contract = min(CONTRACT_DRAWS, max(40, int(CONTRACT_SHARE * n_draws * slots)))
        return cls(n_draws, contract)

    @classmethod
    def _tight(cls, max_draws: int, n_draws: int, slots: int) -> Cap:
        contract = max(1, int(CONTRACT_SHARE * max_draws) - WATCHED)
        room, beside = max_draws - contract - WATCHED, PROBED + 2 * PROBE + 2 * SMALL_PILOT
        n_draws = max(2, min(n_draws, LEAST, room - beside))  # all of it for one pair, where that is what there is
        most = min(slots, max(0, room) // (beside + n_draws))
        spared = f"{slots - most} of {slots} pairs of data sets were left out" if most < slots else ""
        return cls(n_draws, contract, SMALL_PILOT, True, most, spared)
