"""Draws of a pair, each a call of its own: a pilot of both data sets, and blocks whose data sets fair coins choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_bet import Pair
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from ..streams import StreamKey
from ..subject.calls import Handed, guarded
from ..subject.guarded_subject import Subject, always_refused, call_plan
from ..subject.open_calls import OpenCall
from ..subject.open_subject import OpenSubject
from ..subject.outputs import WHOLE, Layout
from ..subject.returned import Outputs

Sides = tuple[list[Outputs], list[Outputs]]


def drawn(subject: Subject, members: Sequence[Any], coins: NDArray[np.bool_], key: StreamKey) -> Sides:
    """Return a draw of the first data set for each coin that says so, and one of the second for each other coin.

    Calls are made, or begin where they may be open together, in the order of the coins: load, and what calls share with
    each other, falls on both data sets alike. How many of them are on fresh objects does not depend on the coins.
    """
    seeds = key.child("calls").rng().integers(2**63, size=len(coins)).tolist()
    places = [0 if coin else 1 for coin in coins]
    if isinstance(subject, OpenSubject):
        wanted = [OpenCall(members[place], 1, False, seed) for place, seed in zip(places, seeds, strict=True)]
        parts = subject.ask(wanted, None).parts
    else:
        parts = _in_turn(subject, members, places, seeds)
    first, second = ([part for part, at in zip(parts, places, strict=True) if at == place] for place in (0, 1))
    return list(chain(*first)), list(chain(*second))


def _in_turn(
    subject: Subject, members: Sequence[Any], places: Sequence[int], seeds: Sequence[int]
) -> list[list[Outputs]]:
    """Return the outputs of calls that are made one after the other, on one used object but for a few."""
    plan = call_plan(len(places), one_by_one=True)
    with guarded():
        used, handed = subject.new(), [Handed(member) for member in members]
        return [
            subject.call(subject.new() if planned.fresh else used, handed[place], 1, seed)
            for planned, place, seed in zip(plan, places, seeds, strict=True)
        ]


@dataclass(frozen=True)
class PilotPair:
    """A pair with what its pilot gave: outputs that are learned from and never bet on."""

    named: NamedPair | NamedGroupPair
    first: list[Outputs]
    second: list[Outputs]

    @property
    def members(self) -> tuple[Any, Any]:
        """The two data sets."""
        return self.named.pair.first, self.named.pair.second

    @property
    def refused(self) -> bool:
        """Whether both data sets were refused at every draw, in the same way."""
        why = always_refused(self.first)
        return why is not None and why == always_refused(self.second)

    def more(self, subject: Subject, n_each: int, key: StreamKey) -> PilotPair:
        """Return the pair with ``n_each`` further draws of each data set."""
        coins = key.child("coins").rng().permutation(np.arange(2 * n_each) < n_each)
        first, second = drawn(subject, self.members, coins, key)
        return PilotPair(self.named, self.first + first, self.second + second)

    def layout(self, subject: Subject) -> Layout:
        """Return the columns of outputs, learned from the pilot alone; at least one, outputs without numbers too."""
        layout = Layout.learn([*self.first, *self.second], views=subject.views)
        if layout.structure is None or layout.n_numbers:
            return layout
        return replace(layout, structure=None, columns=(WHOLE,))

    def rows(self, layout: Layout) -> Pair:
        """Return the pilot as float rows."""
        return encoded(self.first, layout), encoded(self.second, layout)


def encoded(parts: Sequence[Outputs], layout: Layout) -> FloatArray:
    """Return outputs as float rows."""
    if not parts:
        return np.empty((0, layout.width))
    return np.concatenate([layout.encode(part) for part in parts])
