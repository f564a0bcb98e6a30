"""A mechanism under examination: every call is guarded, counted and laid out the same way for every data set."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.ticks import listening, tick

from ..estimate import StreamKey
from ..white_box.tails import CHUNK
from .call_apart import apart
from .call_note import calling
from .calls import (
    CallEnded,
    Deadline,
    Handed,
    OutOfTime,
    ProcessExited,
    exit_code,
    generator,
    global_state,
    guarded,
    reseed_globals,
)
from .forms import Rebuilt
from .output_leaves import ABSENT, Refusal, shown
from .outputs import Layout
from .returned import Outputs, WrongRows, as_objects, came_as_objects, joined, outputs_of, types_apart

#: Draws of each data set that show what outputs look like, and calls that show whether a data set is refused.
PILOT, PROBE = 40, 12
#: Most calls of one draw on a fresh object, of one draw on an object used before, and rows of calls of ten.
FRESH, USED, TENS = 100, 100, 200
#: Share of the draws for each of the first two, and the fewest where there are five times as many draws.
SHARE, LEAST = 0.01, 25
#: Most numbers that a call may be asked for.
NUMBERS = 1 << 22


def without_draw(mechanism: Any) -> str:
    """Return the rule that an object which cannot be drawn from breaks, and what it is; empty where it can be."""
    if callable(getattr(mechanism, "draw", None)) and not isinstance(mechanism, type):
        return ""
    kind = f"the class {mechanism.__name__}" if isinstance(mechanism, type) else type(mechanism).__name__
    rule = "an instance" if isinstance(mechanism, type) else "an object of a class"
    return f"be {rule} with the method draw(self, dataset, n_draws, *, rng), which returns n_draws outputs; got {kind}"


def _outputs(mechanism: Any, dataset: Any, n_draws: int, rng: np.random.Generator) -> Outputs:
    """Return the outputs of one call; to end the program is one."""
    try:
        with calling():
            return outputs_of(mechanism.draw(dataset, n_draws, rng=rng), n_draws)
    except SystemExit as stop:
        raise ProcessExited(f"exit {exit_code(stop)}") from None


class Call(NamedTuple):
    """One planned call: how many draws, and whether on a fresh object."""

    n_draws: int
    fresh: bool


@dataclass
class Ledger:
    """What happened so far."""

    evaluations: int = 0  #: draws asked for, those of calls that raised included
    wrote: bool = False  #: whether a call wrote to the data set that it was given
    wrong_rows: int = 0  #: calls that returned another number of outputs than was asked for
    ended: bool = False  #: whether a call for several draws raised, where calls may be open together
    #: whether a call that was watched took numbers from ``rng``, and from a global generator
    used_rng: bool = False
    used_globals: bool = False
    #: fewest seconds that a draw took, where there is a deadline and calls are made one after the other
    fastest: float = math.inf


@dataclass(frozen=True, eq=False)
class Subject:
    """A mechanism, and how it is called.

    Every call gets a writable copy of the data set, a generator of its own, and global generators (``random``,
    ``numpy.random``, torch) in a state that follows from the same stream. What it raises is an output.
    """

    mechanism: Any  #: with ``draw(dataset, n_draws, *, rng)``
    #: returns a pristine mechanism; by default a deep copy of ``mechanism`` as it is now
    fresh: Callable[[], Any] | None = None
    #: each maps one output to a number, a symbol or a sequence, which become further columns
    views: Sequence[Callable[[Any], Any]] = ()
    #: no call is begun after it, nor one that by the fastest so far would end after it: ``OutOfTime`` instead
    deadline: Deadline | None = None
    ledger: Ledger = field(default_factory=Ledger, init=False, repr=False)
    pristine: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        wrong = without_draw(self.mechanism)
        if wrong:
            raise TypeError(f"mechanism must {wrong}")
        object.__setattr__(self, "views", tuple(self.views))
        if self.fresh is None:
            object.__setattr__(self, "pristine", _deep_copy(self.mechanism))

    @property
    def name(self) -> str:
        """Short name for reports."""
        return str(getattr(self.mechanism, "name", type(self.mechanism).__name__))

    def new(self) -> Any:
        """Return a pristine mechanism, or the one there is."""
        if self.fresh is not None:
            return apart(self.fresh())
        return apart(self.mechanism if self.pristine is None else copy.deepcopy(self.pristine))

    def call(self, mechanism: Any, handed: Handed, n_draws: int, seed: int) -> list[Outputs]:
        """Return ``n_draws`` outputs of one call; where it raises, of a call for each of them.

        A random refusal so becomes one outcome of each draw, and a call for several draws that cannot be made, or that
        returns another number of outputs, is made one by one.
        """
        try:
            return [self._attempt(mechanism, handed, n_draws, seed)]
        except Exception as stop:  # what a mechanism raises is an output of it
            if isinstance(stop, WrongRows):
                self.ledger.wrong_rows += 1
            if n_draws == 1:
                return [[self._refusal(stop, public=handed.public)]]
        seeds = generator(seed).integers(2**63, size=n_draws)
        return joined([part for one_seed in seeds for part in self.call(mechanism, handed, 1, int(one_seed))])

    def _attempt(self, mechanism: Any, handed: Handed, n_draws: int, seed: int) -> Outputs:
        dataset, rng = handed.give(), generator(seed)
        reseed_globals(seed)
        with self._counted(n_draws):
            try:
                return _outputs(mechanism, dataset, n_draws, rng)
            finally:
                self.ledger.wrote |= handed.take_back()

    @contextmanager
    def _counted(self, n_draws: int) -> Iterator[None]:
        """Count a call, unless there is no time for it; a mechanism made of ours does not tick by itself."""
        started = self._begun(n_draws)
        try:
            with listening(None):
                yield
        finally:
            self._ended(n_draws, started)

    def _begun(self, n_draws: int) -> float:
        """Count a call that is about to begin, unless there is no time for it, and return when that is."""
        ledger, deadline = self.ledger, self.deadline
        if deadline is not None and deadline.reached(n_draws * ledger.fastest if ledger.fastest < math.inf else 0.0):
            raise OutOfTime
        ledger.evaluations += n_draws
        return 0.0 if deadline is None else deadline.clock()

    def _ended(self, n_draws: int, started: float) -> None:
        """Note how long a call took, and tell whoever waits."""
        ledger, deadline = self.ledger, self.deadline
        ledger.fastest = 0.0 if deadline is None else min(ledger.fastest, (deadline.clock() - started) / n_draws)
        tick(n_draws)

    def _refusal(self, stop: Exception, *, public: bool) -> Refusal:
        lines = str(stop).strip().splitlines() if public else []
        kind = stop.kind if isinstance(stop, CallEnded) else type(stop).__name__
        return Refusal(kind, shown(lines[0]) if lines else "")

    def watched(self, mechanism: Any, handed: Handed, n_draws: int, seed: int) -> tuple[Any, bool, bool]:
        """Return the outputs of one call, or its refusal, and whether it used ``rng``, and a global generator."""
        dataset, rng = handed.give(), generator(seed)
        reseed_globals(seed)
        before, globally = rng.bit_generator.state, global_state()
        with self._counted(n_draws):
            try:
                outputs: Any = _outputs(mechanism, dataset, n_draws, rng)
            except Exception as stop:  # what a mechanism raises is an output of it
                outputs = self._refusal(stop, public=handed.public)
        self.ledger.wrote |= handed.take_back()
        used, used_globals = rng.bit_generator.state != before, global_state() != globally
        self.ledger.used_rng |= used
        self.ledger.used_globals |= used_globals
        return outputs, used, used_globals

    def refusal(self, dataset: Any, key: StreamKey) -> Refusal | None:
        """Return why a data set is refused at each of some draws, or None if one of them gives an output."""
        return self.refusals([dataset], key)[0]

    def refusals(self, datasets: Sequence[Any], key: StreamKey) -> list[Refusal | None]:
        """Return the same for each of some data sets."""
        return [self.probe(dataset, key)[0] for dataset in datasets]

    def twice(self, dataset: Any, n_draws: int, seeds: Sequence[int]) -> tuple[list[Any], list[Any], bool]:
        """Return what calls give, what the same calls give once more, and whether they used a global generator."""
        with guarded():
            handed = Handed(dataset)
            calls = [[self.watched(self.new(), handed, n_draws, seed) for seed in seeds] for _ in range(2)]
        first, second = ([outputs for outputs, _, _ in each] for each in calls)
        return first, second, any(used for each in calls for _, _, used in each)

    def probe(self, dataset: Any, key: StreamKey) -> tuple[Refusal | None, bool]:
        """Return why a data set is refused, and whether it was before any random number was asked for."""
        seeds = key.child("probe").rng().integers(2**63, size=PROBE)
        handed, first, early = Handed(dataset), None, True
        with guarded():
            for seed in seeds.tolist():
                outputs, used, used_globals = self.watched(self.new(), handed, 1, seed)
                if not isinstance(outputs, Refusal) or (first is not None and outputs != first):
                    return (None, False) if not isinstance(outputs, Refusal) else (first, False)
                first, early = outputs, early and not used and not used_globals
        return first, early

    def sample(
        self, dataset: Any, n_draws: int, seeds: np.random.Generator, *, one_by_one: bool = False, width: int = 1
    ) -> list[Outputs]:
        """Return outputs by the plan of calls, in the order of the calls."""
        return joined(self.made(dataset, list(call_plan(n_draws, one_by_one=one_by_one, width=width)), seeds))

    def made(
        self, dataset: Any, calls: Sequence[Call], rng: np.random.Generator, n_first: int = 0, *, again: bool = True
    ) -> list[Outputs]:
        """Return the outputs of some calls, made one after the other: ``n_first`` first, ``again`` in any case."""
        parts: list[Outputs] = []
        with guarded():
            used, handed = self.new(), Handed(dataset)
            for planned, seed in zip(calls, rng.integers(2**63, size=len(calls)).tolist(), strict=True):
                parts += self.call(self.new() if planned.fresh else used, handed, planned.n_draws, seed)
        return parts

    def encoded(
        self, first: Any, second: Any, key: StreamKey, *, one_by_one: bool = False, n_pilot: int = PILOT
    ) -> EncodedSubject:
        """Return the mechanism as a source of float rows on two data sets, its layout learned from a pilot of both.

        ``key``: of the pilot. ``one_by_one``: make every draw a call of its own, as must be where rows of one call
        depend on each other. ``n_pilot``: draws of each data set that show what outputs look like.
        """
        members = (first, second)
        probes = [
            self.probe(member, key.child(name)) for member, name in zip(members, ("first", "second"), strict=True)
        ]
        pilots: list[list[Outputs]] = [
            [[refusal]]
            if refusal is not None and early
            else self.sample(member, n_pilot, key.child(name, "pilot").rng())
            for member, name, (refusal, early) in zip(members, ("first", "second"), probes, strict=True)
        ]
        refusals = [always_refused(pilot) for pilot in pilots]
        known = [
            why if early and why is not None and (self.ledger.used_rng or all(refusals)) else None
            for why, (_, early) in zip(refusals, probes, strict=True)
        ]
        layout, plain, rebuilt = self._layout([outputs for pilot in pilots for outputs in pilot])
        return EncodedSubject(
            self,
            members,
            layout,
            plain,
            (refusals[0], refusals[1]),
            (known[0], known[1]),
            one_by_one,
            rebuilt=rebuilt,
            types=types_apart(*pilots),
        )

    def _layout(self, pilot: Sequence[Outputs]) -> tuple[Layout, bool, Rebuilt | None]:
        """Return the layout of the outputs of both pilots, whether it is plain, and how objects are rebuilt from rows.

        It is plain where the outputs are rows of finite numbers, or objects that are made again of rows.
        """
        layout = Layout.learn(pilot, views=self.views)
        if not came_as_objects(pilot):
            return layout, layout.plain and all(np.isfinite(layout.encode(each)).all() for each in pilot), None
        states = any(callable(getattr(self.mechanism, name, None)) for name in ("log_density", "privacy_loss"))
        rebuilt = Rebuilt.of([output for outputs in pilot for output in as_objects(outputs)]) if states else None
        return layout, rebuilt is not None, rebuilt


@dataclass(frozen=True, eq=False)
class EncodedSubject:
    """A mechanism whose outputs on two data sets are float rows of one width."""

    subject: Subject
    members: tuple[Any, Any]
    layout: Layout
    #: whether outputs are finite numbers of one shape and type, or rebuilt, so that a density may be asked about them
    plain: bool
    #: for each data set the refusal that every draw of the pilot met; None where one of them gave an output
    refusals: tuple[Refusal | None, Refusal | None]
    #: a refusal that came before any random number was asked for, of a mechanism that asks for them otherwise: every
    #: draw is this symbol, and none is made
    constant: tuple[Refusal | None, Refusal | None]
    one_by_one: bool = False
    #: whether draws are dear and a few of them probably tell all: each of one data set ends its call, none of the other
    #: does
    few_first: bool = False
    #: makes rows of outputs that are objects, and outputs of such rows, for a density to be asked about
    rebuilt: Rebuilt | None = None
    #: which types the numbers of each data set have, in words, where the pilots differ in nothing else; empty otherwise
    types: str = ""
    _counts: dict[str, int] = field(default_factory=lambda: {"first": 0, "second": 0}, repr=False)

    @property
    def name(self) -> str:
        """Short name for reports."""
        return self.subject.name

    @property
    def drawn(self) -> tuple[int, int]:
        """How many rows were drawn of each data set, the pilot apart; a refusal that is known costs nothing."""
        return self._counts["first"], self._counts["second"]

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent rows, shape ``(n_draws, width)``, of calls by a plan that is the same for every data set.

        Rows are put into an order that ``rng`` decides, so that no part of a sample comes from one kind of call.
        """
        return self.drawn_twice(dataset, n_draws, rng)[0]

    def drawn_twice(self, dataset: Any, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return rows, and the same draws as rows that a density is asked about."""
        place = 0 if dataset is self.members[0] else 1
        if dataset is not self.members[place]:
            raise ValueError("dataset must be one of the two that the layout was learned from, got another one")
        known = self.constant[place]
        if known is not None:
            rows = np.tile(self.layout.encode([known]), (n_draws, 1))
            return rows, rows if self.rebuilt is None else np.full((n_draws, self.rebuilt.width), ABSENT)
        parts = self.subject.sample(dataset, n_draws, rng, one_by_one=self.one_by_one, width=self.layout.width)
        order = rng.permutation(sum(map(len, parts)))
        rows = self._rows(place, parts, order)
        if self.rebuilt is None:
            return rows, rows
        return rows, self.rebuilt.rows([output for part in parts for output in as_objects(part)])[order]

    def _rows(self, place: int, parts: Sequence[Outputs], order: NDArray[np.intp]) -> FloatArray:
        """Return the rows of a sample of one data set, in an order, and count them."""
        rows = (
            np.concatenate([self.layout.encode(part) for part in parts]) if parts else np.empty((0, self.layout.width))
        )
        self._counts["first" if place == 0 else "second"] += len(rows)
        return np.asarray(rows[order], dtype=np.float64)


def call_plan(
    n_draws: int, *, one_by_one: bool = False, width: int = 1, most: int = CHUNK, most_fresh: int = FRESH
) -> Iterator[Call]:
    """Yield the calls that make ``n_draws`` draws: single ones on fresh objects and on a used one, tens, blocks.

    The same for every data set. A mechanism that answers otherwise when one draw is asked for, in the first row, or in
    its first calls, so puts that answer into the sample often enough to be seen. No call is for more than ``most``
    draws, and at most ``most_fresh`` are on fresh objects: the rest of the single ones are on the used one.
    """
    few = min(max(int(np.ceil(SHARE * n_draws)), LEAST), n_draws // 5)
    singles, fresh = min(few, FRESH) + min(few, USED), min(few, FRESH, most_fresh)
    used = n_draws - fresh if one_by_one else singles - fresh
    yield from (Call(1, True) for _ in range(fresh))
    yield from (Call(1, False) for _ in range(used))
    tens = min(2 * few, TENS, n_draws - fresh - used) // 10 if most >= 10 else 0
    yield from (Call(10, False) for _ in range(tens))
    left, most = n_draws - fresh - used - 10 * tens, max(1, min(most, CHUNK, NUMBERS // max(1, width)))
    for start in range(0, left, most):
        yield Call(min(most, left - start), False)


def always_refused(pilot: Sequence[Outputs]) -> Refusal | None:
    """Return why every draw of a pilot was refused, or None if one of them gave an output."""
    outputs = [output for part in pilot if isinstance(part, list) for output in part]
    if sum(len(part) for part in pilot) > len(outputs) or not all(isinstance(output, Refusal) for output in outputs):
        return None
    return next((output for output in outputs if isinstance(output, Refusal)), None)


def _deep_copy(mechanism: Any) -> Any:
    try:
        return copy.deepcopy(mechanism)
    except Exception:  # a lock, an open file, a session: there is one object only
        return None
