"""The tree of a failure probability: what it was split into, and what each part was spent on."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace


class LedgerError(Exception):
    """A part of a failure probability was given out or spent twice, or there was less: a defect of this suite.

    It is no ``ValueError``, so that nobody takes it for one that a mechanism raises or that data are refused for.
    """


#: Names from the outermost part to the innermost.
Place = tuple[str, ...]
#: By how much parts may exceed the whole through rounding, relative to it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Part:
    """A named part of a failure probability."""

    place: Place
    alpha: float  #: the failure probability that it owns
    parts: tuple[str, ...] = ()  #: what it was split into; empty for a leaf
    decided: str = ""  #: what it was spent on; empty where it was not spent
    private: bool = False  #: whether it depends on records that may not be published


class Ledger:
    """Remembers how a failure probability was split, and refuses to give out more than there is.

    ``alpha``: the whole. ``place``: where the whole stands in a larger tree.
    """

    def __init__(self, alpha: float, place: Place = (), *, private: bool = False) -> None:
        self._root = place
        self._parts = {place: Part(place, alpha, private=private)}

    def __getitem__(self, place: Place) -> Part:
        """Return a part."""
        return self._parts[place]

    def take(self, place: Place, name: str, alpha: float, *, private: bool = False) -> Place:
        """Split off a part, and return its place.

        Raises ``LedgerError`` if the name was taken, the whole was spent, or the parts add up to more than the whole.
        """
        whole = self._parts[place]
        if name in whole.parts:
            raise LedgerError(f"name must be that of a new part of {_words(place)}, got name={name}")
        if whole.decided:
            raise LedgerError(f"{_words(place)} must not be spent before it is split, got decided={whole.decided}")
        total = math.fsum([alpha, *(self._parts[*place, other].alpha for other in whole.parts)])
        if total > whole.alpha * (1 + ROUNDING):
            most = f"must add up to at most {whole.alpha:.6g}"
            raise LedgerError(f"parts of {_words(place)} {most}, got total={total:.6g}")
        self._parts[place] = replace(whole, parts=(*whole.parts, name))
        self._parts[*place, name] = Part((*place, name), alpha, private=private or whole.private)
        return (*place, name)

    def spend(self, place: Place, decided: str) -> None:
        """Write down what a leaf was spent on.

        Raises ``LedgerError`` if it was spent before, or split.
        """
        leaf = self._parts[place]
        if not decided:
            raise LedgerError("decided must say what the part is spent on, got decided=''")
        if leaf.decided or leaf.parts:
            used = leaf.decided or ", ".join(leaf.parts)
            raise LedgerError(f"{_words(place)} must be spent once, got it used already: {used}")
        self._parts[place] = replace(leaf, decided=decided)

    def tree(self) -> tuple[Part, ...]:
        """Return every part, each before what it was split into."""
        return tuple(self._below(self._root))

    def leaves(self) -> tuple[Part, ...]:
        """Return the parts that were not split."""
        return tuple(part for part in self.tree() if not part.parts)

    def adopt(self, tree: Sequence[Part]) -> None:
        """Take over what another process did with a part that was given to it whole.

        Raises ``LedgerError`` if that part is another one here, or was used here.
        """
        if not tree:
            return
        own, given = self._parts[tree[0].place], tree[0]
        if own.parts or own.decided or own.alpha != given.alpha:
            raise LedgerError(f"{_words(own.place)} must be unused and of the same size, got parts={own.parts}")
        self._parts |= {part.place: part for part in tree}

    def _below(self, place: Place) -> Iterator[Part]:
        part = self._parts[place]
        yield part
        for name in part.parts:
            yield from self._below((*place, name))


def _words(place: Place) -> str:
    return " / ".join(place) or "the whole"
