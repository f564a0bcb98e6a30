"""Draws of a pair, each a call of its own: a pilot of both data sets, and blocks whose data sets fair coins choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_bet import Pair
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from ..streams import StreamKey
from ..subject.guarded_subject import Call, Subject, always_refused, call_plan
from ..subject.open_calls import OpenCall
from ..subject.open_subject import OpenSubject
from ..subject.outputs import Layout
from ..subject.returned import Outputs

Sides = tuple[list[Outputs], list[Outputs]]


def drawn(subject: Subject, members: Sequence[Any], coins: NDArray[np.bool_], key: StreamKey) -> Sides:
    """Return a draw of the first data set for each coin that says so, and one of the second for each other coin.

    Where calls may be open together they begin in the order of the coins, so that load falls on both data sets alike.
    """
    if isinstance(subject, OpenSubject):
        seeds = key.child("calls").rng().integers(2**63, size=len(coins)).tolist()
        wanted = [OpenCall(members[0 if coin else 1], 1, False, seed) for coin, seed in zip(coins, seeds, strict=True)]
        parts = subject.ask(wanted, None).parts
        of = [[part for part, coin in zip(parts, coins, strict=True) if coin == side] for side in (True, False)]
        return list(chain(*of[0])), list(chain(*of[1]))
    n_first = int(coins.sum())
    plans: tuple[list[Call], ...] = tuple(list(call_plan(n, one_by_one=True)) for n in (n_first, len(coins) - n_first))
    first, second = (
        subject.made(member, plan, key.child(name).rng())
        for member, plan, name in zip(members, plans, ("first", "second"), strict=True)
    )
    return first, second


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
        """Return the columns of outputs, learned from the pilot alone."""
        return Layout.learn([*self.first, *self.second], views=subject.views)

    def rows(self, layout: Layout) -> Pair:
        """Return the pilot as float rows."""
        return encoded(self.first, layout), encoded(self.second, layout)


def encoded(parts: Sequence[Outputs], layout: Layout) -> FloatArray:
    """Return outputs as float rows."""
    if not parts:
        return np.empty((0, layout.width))
    return np.concatenate([layout.encode(part) for part in parts])
