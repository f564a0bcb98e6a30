"""A search for the worst pair over the designs of a public domain: starts, then one coordinate after the other.

What it finds depends on the public domain, the value that it is given and the seed: never on anybody's records.
Whoever uses a pair that it found examines it on draws that took no part in finding it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np

from mechanisms.data.neighbours import Relation

from .pair_designs import FEW, INSIDE, PATTERN, RESPONSES, ROOT, ROWS, SHARES, TARGETS, TINY, Length, PairDesign, listed
from .pairs import NamedGroupPair, PublicDomain, design_pair
from .worst_case import NamedPair

#: Designs of the fixed list that a search starts from.
LISTED = 24
#: Most records of a data set that a search tries.
MOST = 10_000
#: Numbers that people like, and those of records: powers of two and of ten, and what lies beside them.
ROUND = tuple(digit * 10**k for k in range(1, 4) for digit in (1, 2, 3, 5))
SIZES = tuple(
    sorted({n for k in range(14) for n in (2**k - 1, 2**k, 2**k + 1)} | {m for n in ROUND for m in (n - 1, n)} | {MOST})
)
#: Lengths of rows and of the target's row, and sizes and values of responses.
LENGTHS: tuple[Length, ...] = (1.0, ROOT, 0.5, 0.2, 0.1, 0.03, 0.01, 1e-3, TINY)
LEVELS = (1.0, 0.5, 0.1, TINY)
ANSWERS = (None, 1.0, 0.5, TINY, 0.0, -0.5, -1.0)
#: What is put back at the end where it makes no difference.
PLAIN: tuple[Mapping[str, Any], ...] = (
    {"labels": False},
    {"level": 1.0},
    {"length": 1.0},
    {"target_length": None},
    {"target_response": None},
    {"old_response": None},
    {"responses": "responses alike"},
    {"rows": "rows alike"},
    {"few": 0.0},
)
#: Coordinates of a climb among irregular orders, and the numbers of records that it may start from.
ORDER, ORDERED = ("n", "pattern", "target", "target_response", "place"), (15, 31, 16, 8, 33, 63)
#: Shares of the units that putting back and the starts may take; records times features that cost an evaluation.
TIDYING, STARTS, RECORDS = 0.06, 0.5, 2000
#: Share of the units for finding sizes from which a mechanism behaves otherwise; steps looked into; share of the units
#: from which one evaluation is too dear for that.
LADDERS, STEPS, DEAR = 0.15, 3, 0.05
#: A move must raise the value by this share, and each doubling of the records is worth this share less.
GAIN, DOUBLING = 0.01, 0.005
#: Records up to which a climb walks on where nothing gets better.
WALK = 100
#: What a design costs that gives no pair, or one that was looked at before.
NOTHING = 0.05


@dataclass(frozen=True)
class PairSearch:
    """Where a worst pair is searched, and how long."""

    domain: PublicDomain
    relation: Relation  #: ``REPLACE``, or ``ADD`` or ``REMOVE``: both of these are one
    group: int = 1  #: records that the two data sets are apart
    labels: bool = False  #: responses are -1 and +1 only
    units: int = 1_500  #: evaluations; one with many records counts as several
    winners: int = 4  #: pairs that come back at most
    n_draws: int = 48  #: draws of each data set in an evaluation


class FoundPair(NamedTuple):
    """A pair that a search found, its design, and its value."""

    named: NamedPair | NamedGroupPair
    design: PairDesign
    value: float


def search_designs(
    value: Callable[[NamedPair | NamedGroupPair], float], search: PairSearch, rng: np.random.Generator
) -> tuple[FoundPair, ...]:
    """Return the worst pairs that a search finds, the worst first, of different rows or targets.

    The fixed list, a ladder of sizes and designs at random come first; from the best of them, of different kinds, one
    coordinate is changed at a time, and now and then two, and a change that raises the value is kept.

    ``value``: how far the two data sets of a pair are told apart; deterministic. Infinity ends nothing; nan is the
    least. Returned: at most ``search.winners``, of positive value.
    """
    book = _Book(value, search)
    for ladder in _ladders():
        book.climb_ladder(ladder)
    for design in _starts(search, rng):
        if book.spent >= STARTS * search.units:
            break
        book.look(design)
    irregular = [found for found in book.found.values() if found.design.responses == PATTERN]
    starts = [*book.leaders(_level), *sorted(irregular, key=_level, reverse=True)[:1]]
    climbs = [_Climb(found, search, rng) for found in starts]
    while climbs and book.spent < (1 - TIDYING) * search.units:
        for climb in climbs:
            climb.step(book)
    for found in book.leaders(_worth):
        book.tidy(found)
    return tuple(book.leaders(_worth))


class _Book:
    """What was looked at, and what it cost."""

    def __init__(self, value: Callable[[Any], float], search: PairSearch) -> None:
        self.value, self.search = value, search
        self.spent = 0.0
        self.found: dict[str, FoundPair] = {}

    def look(self, design: PairDesign) -> FoundPair | None:
        """Return the pair of a design with its value; None where there is no such pair, or none that is affordable."""
        search = self.search
        self.spent += NOTHING
        cost = self._cost(design)
        if cost > search.units - self.spent:
            return None
        named = design_pair(search.domain, design, search.relation, group=search.group, labels=search.labels)
        if named is None or named.name in self.found:
            return None if named is None else self.found[named.name]
        self.spent += cost
        value = self.value(named)
        found = FoundPair(named, design, 0.0 if math.isnan(value) else value)
        self.found[named.name] = found
        return found

    def climb_ladder(self, ladder: Sequence[PairDesign]) -> None:
        """Look at designs of growing size, and by halves where the value changes most from one to the next."""
        seen = [found for design in ladder if (found := self._step(design)) is not None]
        steps = sorted(pairwise(seen), key=lambda step: -_jump(*step))[:STEPS]
        for low, high in steps:
            while _jump(low, high) > 0 and high.design.n - low.design.n > 1:
                middle = self._step(replace(low.design, n=(low.design.n + high.design.n) // 2))
                if middle is None:
                    break
                low, high = (low, middle) if _jump(low, middle) >= _jump(middle, high) else (middle, high)

    def _step(self, design: PairDesign) -> FoundPair | None:
        units = self.search.units
        dear = self._cost(design) > DEAR * units or self.spent > LADDERS * units
        return None if dear else self.look(design)

    def _cost(self, design: PairDesign) -> float:
        return 1 + max(design.n, self.search.domain.n_min) * self.search.domain.dim / RECORDS

    def tidy(self, found: FoundPair) -> None:
        """Look at a pair in which what makes no difference is put back, so that its words say what does."""
        for change in PLAIN:
            plainer = self.look(replace(found.design, **change))
            if plainer is not None and plainer.value >= (1 - GAIN) * found.value:
                found = plainer

    def leaders(self, key: Callable[[FoundPair], float]) -> list[FoundPair]:
        """Return the best pairs, one of each kind."""
        kinds: dict[object, FoundPair] = {}
        for found in sorted(self.found.values(), key=key, reverse=True):
            design = found.design
            if found.value > 0:
                kinds.setdefault(PATTERN if design.responses == PATTERN else (design.rows, design.target), found)
        return list(kinds.values())[: self.search.winners]


def _jump(low: FoundPair, high: FoundPair) -> float:
    """Return by which share of the larger one two values differ, 0 where they are about the same."""
    less, more = sorted(min(found.value, 1e9) for found in (low, high))
    return 1 - less / more if less < (1 - GAIN) * more else 0.0


def _level(found: FoundPair) -> float:
    return round(found.value, 2)


def _worth(found: FoundPair) -> float:
    """Return the value, of two pairs that are about as good more for the smaller one and the plainer words."""
    less = DOUBLING * (math.log2(1 + found.design.n) + len(found.design.words) / 40)
    return found.value * (1 - less)


class _Climb:
    """A design, and the changes of it that are still to be tried; of some coordinates alone where they are named."""

    def __init__(self, start: FoundPair, search: PairSearch, rng: np.random.Generator) -> None:
        self.search, self.rng = search, rng
        self.best, self.names = start, ORDER if start.design.responses == PATTERN else ()
        self.changes = self._all()

    def _all(self) -> Iterator[Mapping[str, Any]]:
        """Yield changes of one coordinate, in turn and each in random order; then of two at random, for ever."""
        rng, table = self.rng, _coordinates(self.best.design, self.search, self.rng)
        values = [each for name, each in table.items() if each and (not self.names or name in self.names)]
        orders = [rng.permutation(len(each)) for each in values]
        for step in range(max(len(each) for each in values)):
            for place in rng.permutation(len(values)):
                if step < len(values[place]):
                    yield values[place][orders[place][step]]
        while True:
            first, second = (values[place] for place in rng.choice(len(values), size=2, replace=False))
            yield {**first[int(rng.integers(len(first)))], **second[int(rng.integers(len(second)))]}

    def step(self, book: _Book) -> None:
        """Look at one more change; keep it where it is better, or as good and no larger: a plateau is walked over."""
        best = self.best
        found = book.look(replace(best.design, **next(self.changes)))
        if found is None:
            return
        if found.value > (1 + GAIN) * best.value:
            self.best = found
            self.changes = self._all()
        elif found.value >= (1 - GAIN) * best.value and found.design.n <= max(best.design.n, WALK):
            self.best = found


#: The design from which the starts are varied, and the targets of which some are among the few.
START = PairDesign(30, "rows alike", "responses alike", "opposite of the first record", place=2, removed=True)
ONE_OF = (
    "opposite of the first record",
    "the first record with the opposite response",
    "one more copy of the first record",
    "the zero record",
)


def _ladders() -> Iterator[list[PairDesign]]:
    """Yield designs of growing size, one below a power of two or ten: records alike, then with some reversed ones."""
    powers = [2**k - 1 for k in range(1, 14)]
    sizes = sorted({*powers, 9, 99, 999})
    yield [replace(START, n=n, target="most excited direction, response +") for n in sizes]
    for share in (0.1, 0.5):
        yield [replace(START, n=n, few=share, few_as="with row and response reversed") for n in powers if n < 1024]


def _starts(search: PairSearch, rng: np.random.Generator) -> Iterator[PairDesign]:
    """Yield designs to start from: of the fixed list, of many sizes, each length and kind of rows, at random."""
    plain = START
    yield from (replace(listed(number), removed=True) for number in range(LISTED // 3))
    few = [
        replace(plain, n=100, few=share, few_as=few_as, target=target)
        for few_as in FEW
        for share in SHARES
        for target in ONE_OF
    ]
    few = [few[place] for place in rng.permutation(len(few))]
    crossed = replace(plain, n=300, target="the first record with the opposite response")
    lengths = [replace(design, length=length) for length in LENGTHS for design in (plain, crossed)]
    copies = [replace(plain, rows=rows, target="one more copy of the first record") for rows in ROWS]
    rest = [replace(listed(number), removed=True) for number in range(LISTED // 3, LISTED)]
    orders = [
        replace(plain, responses=PATTERN, n=n, pattern=int(rng.integers(2**63)), place=place)
        for place in (2, 0)
        for n in ORDERED
    ]
    for group in zip_longest(rest, lengths, copies, orders, few, (_random(search, rng) for _ in rest)):
        yield from (design for design in group if design is not None)
    while True:
        yield _random(search, rng)


def _random(search: PairSearch, rng: np.random.Generator) -> PairDesign:
    """Return a design at random, the usual values of its coordinates more often than the others."""
    design = replace(listed(int(rng.integers(LISTED))), removed=True, n=int(rng.choice(SIZES[: SIZES.index(1000)])))
    for values in _coordinates(design, search, rng).values():
        if values and rng.random() < 0.4:
            design = replace(design, **values[int(rng.integers(len(values)))])
    return design


def _coordinates(
    design: PairDesign, search: PairSearch, rng: np.random.Generator
) -> dict[str, list[Mapping[str, Any]]]:
    least, most = search.domain.n_min, search.domain.n_max
    sizes = [*SIZES, least, least + 1, *([] if most is None else [most])]
    near = sorted(sizes, key=lambda n: abs(math.log((n + 1) / (design.n + 1))))[1:8]
    far = [int(design.n * factor) for factor in (0.25, 4)]
    whole = {"n": [n for n in (*near, *far, design.n - 1, design.n + 1) if 0 <= n <= max(MOST, least + 1)]}
    tables: dict[str, Any] = {
        **whole,
        "rows": ROWS,
        "length": LENGTHS,
        "responses": (*RESPONSES, PATTERN),
        "level": LEVELS,
        "target": TARGETS,
        "target_length": (None, *LENGTHS),
        "target_response": ANSWERS,
        "few": (0.0, *SHARES),
        "few_as": tuple(FEW) if design.few else (),
        "place": (0, 1, 2),
        "labels": (False, True) if search.domain.y_bound >= 1 and not search.labels else (),
        "old_response": ANSWERS if search.relation is Relation.REPLACE else (),
    }
    values: dict[str, list[Mapping[str, Any]]] = {
        name: [{name: value} for value in each if value != getattr(design, name)] for name, each in tables.items()
    }
    values["pattern"] = [{"pattern": pattern} for pattern in _patterns(design, rng)]
    free = [place for place, bound in enumerate((search.domain.x_bound, search.domain.y_bound)) if math.isinf(bound)]
    values["scales"] = [
        {"scales": tuple(scale if p == place else design.scales[p] for p in (0, 1))}
        for place in free
        for scale in range(4)
        if scale != design.scales[place]
    ]
    return values


def _patterns(design: PairDesign, rng: np.random.Generator) -> list[int]:
    """Return other patterns: of responses those with one sign changed first, then others."""
    if design.responses == PATTERN:
        flips = rng.permutation(max(1, min(design.n, 64)))[:16]
        return [*(design.pattern ^ (1 << int(bit)) for bit in flips), *(int(p) for p in rng.integers(2**63, size=8))]
    return [int(p) for p in rng.integers(1024, size=4)] if design.target == INSIDE else []
