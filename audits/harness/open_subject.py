"""A mechanism under examination whose calls may be open together: the two data sets' calls in random order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from queue import Empty
from typing import Any, NamedTuple

import numpy as np

from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.ticks import tick

from ..estimate import StreamKey
from .calls import Crew, Deadline, NoAnswer, OpenCall, OpenCalls, OutOfTime, generator, open_calls
from .guarded_subject import PILOT, Call, EncodedSubject, Subject, always_refused, call_plan
from .output_leaves import Refusal
from .returned import Outputs, WrongRows, joined, outputs_of

#: Calls on a fresh object in a sample of each data set of a pair: each may have a process to start.
FRESH_IN_PAIR = 2
#: Calls that show whether a data set is refused: half as many as in this process, since each may have one to start.
PROBE_OPEN = 6
#: Seconds between two looks at the clock while calls are open.
LOOK = 0.05
#: Share of the failure probability that a sample made as planned may spend; one begun again has the rest.
FIRST_TRY = 0.9
#: The two data sets of a pair, in streams.
SIDES = ("first", "second")


class Made(NamedTuple):
    """The outputs of each call asked for, in order, and whether every call for several draws could be made."""

    parts: list[list[Outputs]]
    whole: bool


def subject_of(
    mechanism: Any,
    *,
    fresh: Callable[[], Any] | None = None,
    views: Sequence[Callable[[Any], Any]] = (),
    deadline: Deadline | None = None,
) -> Subject:
    """Return a mechanism under examination, in the way that its calls can be made; parameters as of ``Subject``."""
    kind = Subject if open_calls(mechanism) is None else OpenSubject
    return kind(mechanism, fresh=fresh, views=views, deadline=deadline)


@dataclass(frozen=True, eq=False)
class OpenSubject(Subject):
    """A mechanism of which several calls may be open at once, and how it is called.

    Threads make the calls; this thread begins them in an order that is fixed beforehand, counts them and keeps their
    outputs by their place in the plan, so that nothing depends on which of them ends first. Nothing is copied, and no
    generator of this process is touched. No call is begun after the deadline, and none is waited for that is open then.
    Parameters as of ``Subject``; ``fresh`` is not used.
    """

    def __post_init__(self) -> None:
        object.__setattr__(self, "views", tuple(self.views))

    @property
    def door(self) -> OpenCalls:
        """The mechanism."""
        door: OpenCalls = self.mechanism
        return door

    def new(self) -> Any:
        """Return the mechanism as it begins."""
        return self.door.fresh()

    def made(
        self, dataset: Any, calls: Sequence[Call], rng: np.random.Generator, n_first: int = 0, *, again: bool = True
    ) -> list[Outputs]:
        """Return the outputs of some calls: ``n_first`` of them are made first, the others in random order.

        Of a data set that refuses each of the first ones nothing more is asked. A call for several draws that could
        not be made is made draw by draw, or, without ``again``, all calls are made and no outputs come back.
        """
        seeds = rng.integers(2**63, size=len(calls)).tolist()
        wanted = [OpenCall(dataset, *call, seed) for call, seed in zip(calls, seeds, strict=True)]
        first = self.ask(wanted[:n_first], None).parts
        if n_first and always_refused(list(chain(*first))) is not None:
            return list(chain(*first))
        rest = self.ask(wanted[n_first:], rng, again=again, to_the_end=True)
        return list(chain(*first, *rest.parts)) if again or rest.whole else []

    def sample(
        self, dataset: Any, n_draws: int, seeds: np.random.Generator, *, one_by_one: bool = False, width: int = 1
    ) -> list[Outputs]:
        """Return outputs of one data set by the plan of calls, which are made in random order."""
        return joined(self.made(dataset, self.plan(n_draws, one_by_one=one_by_one, width=width), seeds))

    def plan(self, n_draws: int, *, one_by_one: bool = False, width: int = 1, fresh: int = FRESH_IN_PAIR) -> list[Call]:
        """Return the calls that make ``n_draws`` draws of one data set, ``fresh`` of them on fresh objects."""
        alone = one_by_one or self.door.batch == 1
        return list(call_plan(n_draws, one_by_one=alone, width=width, most=self.door.batch, most_fresh=fresh))

    def of_both(
        self, members: Sequence[Any], calls: Sequence[Call], key: StreamKey, *, again: bool = True
    ) -> tuple[list[list[Outputs]], bool]:
        """Return the outputs of the same calls of several data sets, all of them in one random order.

        ``members``: data sets. ``calls``: of each of them. ``again``: as of ``ask``. Returned:
        outputs for each data set, and whether every call for several draws could be made.
        """
        wanted: list[OpenCall] = []
        for i, member in enumerate(members):
            seeds = key.child("calls", str(i)).rng().integers(2**63, size=len(calls)).tolist()
            wanted += [OpenCall(member, *call, seed) for call, seed in zip(calls, seeds, strict=True)]
        made = self.ask(wanted, key.child("order").rng(), again=again)
        of_each = [made.parts[i * len(calls) : (i + 1) * len(calls)] for i in range(len(members))]
        return [list(chain(*parts)) for parts in of_each], made.whole

    def refusals(self, datasets: Sequence[Any], key: StreamKey) -> list[Refusal | None]:
        """Return for each data set why it is refused at each of some draws, or None if one of them gives an output."""
        key = key.child("probe")
        once, _ = self.of_both(datasets, [Call(1, False)], key.child("once"))
        seen = [always_refused(parts) for parts in once]
        open_ = [i for i, refusal in enumerate(seen) if refusal is not None]
        more, _ = self.of_both([datasets[i] for i in open_], [Call(1, False)] * (PROBE_OPEN - 1), key)
        for i, parts in zip(open_, more, strict=True):
            seen[i] = always_refused(once[i] + parts)
        return seen

    def twice(self, dataset: Any, n_draws: int, seeds: Sequence[int]) -> tuple[list[Any], list[Any], bool]:
        """Return what calls give, and what the same calls give once more; of generators elsewhere nothing is known."""
        wanted = [OpenCall(dataset, n_draws, False, seed) for seed in seeds]
        made = [joined(parts) for parts in self.ask([*wanted, *wanted], None).parts]
        return made[: len(seeds)], made[len(seeds) :], False

    def encoded(
        self, first: Any, second: Any, key: StreamKey, *, one_by_one: bool = False, n_pilot: int = PILOT
    ) -> EncodedSubject:
        """Return the mechanism as a source of float rows on two data sets; parameters as of ``Subject``.

        No refusal is taken to be certain, since nobody sees whether a random number was asked for before it. Where a
        call of the pilot for several draws could not be made, every draw of the sample is a call of its own.
        """
        calls = self.plan(n_pilot, one_by_one=one_by_one, fresh=0)
        pilots, whole = self.of_both((first, second), calls, key)
        refusals = (always_refused(pilots[0]), always_refused(pilots[1]))
        alone = one_by_one or not whole or self.door.batch == 1
        few_first = not whole and (refusals[0] is None) != (refusals[1] is None)
        layout, plain, rebuilt = self._layout([outputs for pilot in pilots for outputs in pilot])
        plain = plain and rebuilt is None  # objects from elsewhere have no density test
        return OpenSource(self, (first, second), layout, plain, refusals, (None, None), alone, few_first)

    def ask(
        self,
        wanted: Sequence[OpenCall],
        order: np.random.Generator | None,
        *,
        again: bool = True,
        to_the_end: bool = False,
    ) -> Made:
        """Return the outputs of some calls, in the order given, whatever the order in which they are made and end.

        ``order``: decides in which order they are begun; None for the one given. ``again``: whether a call for several
        draws that raises, or returns another number of outputs, is made draw by draw. Otherwise no outputs come back.
        ``to_the_end``: whether the other calls are made all the same then, so that the books do not depend on how many
        were open; otherwise no call is begun after it. Raises ``OutOfTime`` when the time comes, whatever is open then;
        ``NoAnswer`` where nothing is known of an answer.
        """
        ended = self._in_turn(wanted, order, until_failure=not (again or to_the_end))
        failed = [i for i, outcome in enumerate(ended) if isinstance(outcome, Exception) and wanted[i].n_draws > 1]
        if failed and not again:
            return Made([], whole=False)
        singles = [single for i in failed for single in _single_calls(wanted[i])]
        remade = iter(self._in_turn(singles, order))
        parts: list[list[Outputs]] = []
        for call, outcome in zip(wanted, ended, strict=True):
            if isinstance(outcome, Exception) and call.n_draws > 1:
                parts.append(joined([self._seen(call, next(remade)) for _ in range(call.n_draws)]))
            else:
                parts.append([self._seen(call, outcome)])
        return Made(parts, whole=not failed)

    def _seen(self, call: OpenCall, outcome: Any) -> Outputs:
        """Return the outputs of a call for one draw, or of one that did not raise; no text of a private data set."""
        public = bool(getattr(call.dataset, "public", False))
        if isinstance(outcome, Exception):
            return [self._refusal(outcome, public=public)]
        if isinstance(outcome, list) and not public:
            return [replace(o, reason="") if isinstance(o, Refusal) and o.reason else o for o in outcome]
        outputs: Outputs = outcome
        return outputs

    def _in_turn(
        self, wanted: Sequence[OpenCall], order: np.random.Generator | None, *, until_failure: bool = False
    ) -> list[Any]:
        """Return what each call returned or raised; calls are begun in turn, as many open as may be."""
        places = range(len(wanted)) if order is None else order.permutation(len(wanted)).tolist()
        ended: list[Any] = [None] * len(wanted)
        for place, outcome in self._outcomes(wanted, deque(places), until_failure=until_failure):
            ended[place] = outcome
        return ended

    def _outcomes(
        self, wanted: Sequence[OpenCall], waiting: deque[int], *, until_failure: bool
    ) -> Iterator[tuple[int, Any]]:
        """Yield the place of each call as it ends, and what it returned or raised."""
        size = min(max(1, self.door.concurrency), len(waiting))
        crew, n_open = Crew(size), 0
        try:
            while waiting or n_open:
                while waiting and n_open < size:
                    place, n_open = waiting.popleft(), n_open + 1
                    self._begun(wanted[place].n_draws)
                    crew.begin(place, self._ready(wanted[place]))
                (place, outcome), n_open = self._next(crew), n_open - 1
                n_draws = wanted[place].n_draws
                tick(n_draws)
                if isinstance(outcome, BaseException) and not isinstance(outcome, Exception):
                    raise outcome
                wrong = isinstance(outcome, WrongRows)
                self.ledger.wrong_rows += wrong
                self.ledger.ended |= n_draws > 1 and isinstance(outcome, Exception) and not wrong
                if until_failure and n_draws > 1 and isinstance(outcome, Exception):
                    waiting.clear()
                yield place, outcome
        except NoAnswer:
            raise
        except BaseException:  # the time is up, or somebody stops us: what is open is not waited for
            getattr(self.mechanism, "close", lambda: None)()
            raise
        finally:
            crew.let_go()

    def _ready(self, call: OpenCall) -> Callable[[], Outputs]:
        door = self.door.fresh() if call.fresh else self.door
        return partial(_called, door, call)

    def _next(self, crew: Crew) -> tuple[int, Any]:
        while True:
            try:
                return crew.ended(LOOK)
            except Empty:
                if self.deadline is not None and self.deadline.reached():
                    raise OutOfTime from None


@dataclass(frozen=True, eq=False)
class OpenSource(EncodedSubject):
    """A mechanism whose calls may be open together, and whose outputs on two data sets are float rows of one width."""

    def draw_both(self, n_each: int, key: StreamKey) -> tuple[FloatArray, FloatArray, float]:
        """Return ``n_each`` rows of either data set, all calls in one random order, and what a sample may be asked for.

        A call for several draws that cannot be made says something about all of them: outputs of single calls in
        their place would be those of another law. So the sample is then begun again, draw by draw.

        Returned: the rows, in an order that ``key`` decides, and the share of the failure probability that questions
        about the sample may spend: 1, ``FIRST_TRY`` where it could have been begun again, the rest where it was.
        """
        subject = self.subject
        assert isinstance(subject, OpenSubject)
        calls, share = subject.plan(n_each, one_by_one=self.one_by_one, width=self.layout.width), 1.0
        parts, whole = subject.of_both(self.members, calls, key, again=self.one_by_one)
        if not self.one_by_one:
            share = FIRST_TRY if whole else 1 - FIRST_TRY
        if not whole:
            calls, key = subject.plan(n_each, one_by_one=True), key.child("one by one")
            parts, _ = subject.of_both(self.members, calls, key)
        orders = [key.child("rows", name).rng().permutation(sum(map(len, parts[i]))) for i, name in enumerate(SIDES)]
        first, second = (self._rows(i, joined(parts[i]), order) for i, order in enumerate(orders))
        return first, second, share


def _single_calls(call: OpenCall) -> list[OpenCall]:
    seeds = generator(call.seed).integers(2**63, size=call.n_draws).tolist()
    return [call._replace(n_draws=1, fresh=False, seed=seed) for seed in seeds]


def _called(door: OpenCalls, call: OpenCall) -> Outputs:
    return outputs_of(door.draw(call.dataset, call.n_draws, rng=generator(call.seed)), call.n_draws)
