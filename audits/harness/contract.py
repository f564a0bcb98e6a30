"""Whether a mechanism keeps the contract that every audit rests on: independent outputs of one law, made from ``rng``.

Cheap and first. Findings report; where a breach leaks, the black box finds the leak in the outputs. A mechanism that
does not repeat under one ``rng`` (randomness of the operating system, a service) keeps the contract.
Derivation: ``docs/derivations/contract.md``.

The tests condition on the pooled outputs and ask which call or place they came from; under the contract that is
uniformly random, so that counts are hypergeometric. No law of the outputs is assumed, discrete ones included.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mechanisms.data.dataset import FloatArray

from ..estimate import Budget, StreamKey
from .calls import open_calls
from .guarded_subject import Call, Subject
from .open_subject import FIRST_TRY
from .output_leaves import Refusal
from .outputs import Layout

Bools = NDArray[np.bool_]
IntArray = NDArray[np.int64]

#: Columns, and most common outputs, that events are made of.
MAX_COLUMNS, MAX_ATOMS = 8, 4
#: Pooled quantiles of each column, and of its distance from the median, at which events begin.
LEVELS, DISTANCES = (0.25, 0.5, 0.75), (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class Exact:
    """The smallest of several exact p-values, paid for by their number, and the smallest that could have come out."""

    p_value: float
    words: str
    smallest: float

    @classmethod
    def of(cls, tests: list[tuple[float, str, float]]) -> Exact:
        """Return the Bonferroni minimum of ``(p_value, words, smallest possible)``; 1 of no test."""
        if not tests:
            return cls(1.0, "", 1.0)
        p, words, _ = min(tests, key=lambda test: test[0])
        return cls(min(1.0, len(tests) * p), words, min(1.0, len(tests) * min(test[2] for test in tests)))


def row_ids(rows: FloatArray) -> IntArray:
    """Return the same number for bit-equal rows, shape ``(n,)``."""
    if not rows.shape[1]:
        return np.zeros(len(rows), dtype=np.int64)
    bits = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
    return np.asarray(np.unique(bits, return_inverse=True)[1], dtype=np.int64)


def more_hits(hits: int, n: int, other_hits: int, other_n: int) -> float:
    """Return P(at least ``hits`` of all hits fall to the first ``n`` of ``n + other_n`` places), hypergeometric."""
    return float(stats.hypergeom.sf(hits - 1, n + other_n, hits + other_hits, n))


def _smallest_more_hits(n: int, other_n: int) -> float:
    """Return the smallest p-value that ``more_hits`` can give: every one of the first, none of the others."""
    return more_hits(n, n, 0, other_n) if n and other_n else 1.0


def events(rows: FloatArray) -> Iterator[tuple[str, Bools]]:
    """Yield events that are defined by the pooled rows, blind to where each comes from, as members, shape ``(n,)``."""
    ids = row_ids(rows)
    counts = np.bincount(ids)
    yield "outputs that occur more than once", counts[ids] > 1
    for rank, atom in enumerate(np.argsort(-counts, kind="stable")[:MAX_ATOMS]):
        if counts[atom] > 1:
            yield f"the output that is number {rank + 1} by frequency", ids == atom
    for j in range(min(rows.shape[1], MAX_COLUMNS)):
        column = rows[:, j]
        missing = np.isnan(column)
        values = np.where(missing, -np.inf, column)
        order = np.sort(values)
        at = {level: order[int(level * (len(order) - 1))] for level in LEVELS}
        yield f"column {j + 1} is no number", missing
        for level, threshold in at.items():
            yield f"column {j + 1} beyond its {level:g} quantile", values > threshold
        with np.errstate(invalid="ignore"):
            distance = np.where(missing, np.inf, np.abs(values - at[0.5]))
        distance = np.where(np.isnan(distance), 0.0, distance)
        ordered = np.sort(distance)
        for level in DISTANCES:
            yield f"column {j + 1} far from its median ({level:g})", distance > ordered[int(level * (len(order) - 1))]


def same_law(rows: FloatArray, chosen: Bools) -> list[tuple[float, str, float]]:
    """Return two-sided p-values of "which rows are ``chosen`` says nothing about them", one for each event.

    ``rows``, (n, k) array: all outputs, of the chosen calls and of the others. ``chosen``, (n,) array of bool: fixed by
    the plan of calls.
    """
    n, m = int(chosen.sum()), int((~chosen).sum())
    smallest = min(1.0, 2 * _smallest_more_hits(n, m))
    if not n or not m:
        return []
    words, members = zip(*events(rows), strict=True)
    table = np.array(members)
    hits, others = table[:, chosen].sum(axis=1), table[:, ~chosen].sum(axis=1)
    tails = [stats.hypergeom.sf(hits - 1, n + m, hits + others, n), stats.hypergeom.cdf(hits, n + m, hits + others, n)]
    p_values = np.minimum(1.0, 2 * np.minimum(*tails)).tolist()
    return [
        (p, f"{event}: {x} of {n} against {y} of {m}", smallest)
        for p, event, x, y in zip(p_values, words, hits, others, strict=True)
    ]


def more_repeats(pairs: IntArray, others: IntArray, words: tuple[str, str]) -> list[tuple[float, str, float]]:
    """Return the p-value of "equal outputs are no more frequent in the pairs than in the other pairs".

    ``pairs``, ``others``, (n, 2) and (m, 2) arrays: identities of outputs; no output in two pairs. ``words``: what the
    two kinds of pairs are.
    """
    n, m = len(pairs), len(others)
    if not n or not m:
        return []
    hits, hits_others = int((pairs[:, 0] == pairs[:, 1]).sum()), int((others[:, 0] == others[:, 1]).sum())
    text = f"{hits} of {n} pairs {words[0]} are equal, {hits_others} of {m} pairs {words[1]}"
    return [(more_hits(hits, n, hits_others, m), text, _smallest_more_hits(n, m))]


def independent(first: FloatArray, second: FloatArray, words: str) -> list[tuple[float, str, float]]:
    """Return two-sided Fisher p-values of "the second of a pair does not depend on the first", one for each event.

    ``first``, ``second``, (n, k) arrays: pairs of outputs, none in two pairs. ``words``: what the pairs are.
    """
    n = len(first)
    if not n:
        return []
    smallest = min(1.0, 2 * float(stats.hypergeom.pmf(n // 2, n, n // 2, n // 2)))
    words_of, members = zip(*events(np.concatenate([first, second])), strict=True)  # their thresholds know no pair
    a, b = np.array(members)[:, :n], np.array(members)[:, n:]
    together, in_first, in_second = (a & b).sum(axis=1), a.sum(axis=1), b.sum(axis=1)
    law = stats.hypergeom(n, in_first, in_second)
    p_values = np.minimum(1.0, 2 * np.minimum(law.sf(together - 1), law.cdf(together))).tolist()
    return [
        (p, f"{words}, {event}: {x} of {n} for both ({y}, {z})", smallest)
        for p, event, x, y, z in zip(p_values, words_of, together, in_first, in_second, strict=True)
    ]


PValues = list[tuple[float, str, float]]

#: Outputs of a call of the middle size, and the fewest draws of a data set that are worth a test.
TEN, FEWEST = 10, 40
#: From how many draws two more data sets are looked at.
FOUR_DATA_SETS = 3000
#: Windows of very first calls.
FIRST_CALLS = (4, 16)
#: Most calls on fresh objects where each may be a process to be started.
FRESH_PROCESSES = 25
#: What is said of a mechanism whose outputs are others under the same ``rng``.
DIFFER = "they differ, which is allowed: replay cannot give the same numbers"


class ContractOutcome(Enum):
    """What one check says."""

    OK = "kept"
    VIOLATED = "violated"
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class ContractFinding:
    """One check."""

    name: str
    outcome: ContractOutcome
    words: str  #: what was seen
    p_value: float  #: exact, under the contract; 0 or 1 for a check without a test
    failure_prob: float  #: probability of a violation that is none; 0 for a check without a test
    n_draws: int  #: evaluations that the check read

    @property
    def violated(self) -> bool:
        """Whether the contract is broken."""
        return self.outcome is ContractOutcome.VIOLATED


@dataclass(frozen=True)
class Conduct:
    """How a mechanism is to be drawn from, and what ``replay`` can promise."""

    reproducible: bool = True  #: whether the same ``rng`` gave the same outputs
    #: whether every draw must be a call of its own, since rows of one call are not known to be independent
    one_by_one: bool = False
    global_generators: bool = False  #: whether it took numbers from a global generator
    writes: bool = False  #: whether it wrote to its data


class CallPlan(NamedTuple):
    """Calls of one data set: single ones on fresh objects, single ones on a used object, calls of ten, large ones."""

    #: calls of each kind
    fresh: int
    used: int
    tens: int
    block: int  #: outputs of all large calls
    large: int = 1  #: large calls, of equal size
    new_for_tens: bool = True  #: whether calls of ten are on fresh objects, too

    @classmethod
    def of(cls, n_draws: int) -> CallPlan:
        """Return the plan for ``n_draws`` of one data set: 3 in 20, 3 in 20, 6 in 20 and the rest."""
        fresh = used = 2 * (n_draws * 3 // 40)
        tens = n_draws * 6 // 20 // (2 * TEN) * 2
        return cls(fresh, used, tens, n_draws - fresh - used - TEN * tens)

    @classmethod
    def of_open(cls, n_draws: int, batch: int) -> CallPlan:
        """Return the plan where fresh objects are processes to be started, and a call has at most ``batch`` draws."""
        wanted = cls.of(n_draws)
        fresh, tens = min(wanted.fresh, FRESH_PROCESSES), wanted.tens if batch >= TEN else 0
        left = n_draws - fresh - wanted.used - TEN * tens
        large = math.ceil(left / batch) if batch > 1 else 1
        block = left // large * large if batch > 1 else 0
        return cls(fresh, wanted.used + left - block, tens, block, large, False)

    @property
    def calls(self) -> list[Call]:
        """The calls in the order in which their outputs are kept."""
        size = self.block // self.large
        return [
            *(Call(1, True) for _ in range(self.fresh)),
            *(Call(1, False) for _ in range(self.used)),
            *(Call(TEN, self.new_for_tens) for _ in range(self.tens)),
            *(Call(size, False) for _ in range(self.large if size else 0)),
        ]


@dataclass(frozen=True)
class Sample:
    """Outputs of one data set by the plan, in the order of the calls, as rows."""

    rows: FloatArray
    plan: CallPlan

    @cached_property
    def ids(self) -> IntArray:
        """The same number for equal outputs, shape ``(n,)``."""
        return row_ids(self.rows)

    @cached_property
    def starts(self) -> tuple[int, int, int]:
        """Where the calls on the used object, those of ten, and the large ones begin."""
        used = self.plan.fresh + self.plan.used
        return self.plan.fresh, used, used + TEN * self.plan.tens

    def tens(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the part of the calls of ten, shape ``(calls, 10, …)``."""
        _, start, stop = self.starts
        return values[start:stop].reshape(self.plan.tens, TEN, *values.shape[1:])

    def large(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the part of the large calls, shape ``(calls, outputs of one, …)``."""
        plan = self.plan
        return values[self.starts[2] :].reshape(plan.large, plan.block // plan.large, *values.shape[1:])

    @property
    def several(self) -> list[tuple[int, int]]:
        """Where each call for several outputs begins and ends."""
        _, tens, block = self.starts
        size = self.plan.block // self.plan.large
        large = [(start, start + size) for start in range(block, len(self.rows), size)] if size else []
        return [*((start, start + TEN) for start in range(tens, block, TEN)), *large]

    def mask(self, *spans: tuple[int, int]) -> Bools:
        """Return which rows lie in one of the spans."""
        inside = np.zeros(len(self.rows), dtype=np.bool_)
        for start, stop in spans:
            inside[start:stop] = True
        return inside


def contract_findings(
    subject: Subject, pairs: Sequence[Any], budget: Budget
) -> tuple[tuple[ContractFinding, ...], Conduct]:
    """Return what is known of the contract, and how the mechanism is to be drawn from.

    ``subject``: best one that was not called before: a module may count calls. ``pairs``: anything with ``first`` and
    ``second``; the data sets of the first pair are looked at, and with many draws those of the last. ``budget``:
    ``n_draws`` counts all evaluations; ``failure_prob`` is spent on three tests in equal shares.
    """
    datasets = _datasets(pairs, budget.n_draws)
    samples, spent = _samples(subject, datasets, budget)
    n = sum(len(sample.rows) for sample in samples)
    tests = {
        "outputs do not repeat from call to call": _repeated_calls,
        "rows of one call are independent": _dependent_rows,
        "one law whatever the call": _other_laws,
    }
    parts = budget.split(dict.fromkeys(tests, spent / len(tests)))
    seeds, rows, sizes = (_finding(name, test(samples), parts[name], n) for name, test in tests.items())
    repeats, uses_globals = _watch(subject, datasets, budget)
    dependent = rows.outcome is not ContractOutcome.OK
    conduct = Conduct(repeats, dependent, uses_globals, subject.ledger.wrote)
    return (seeds, rows, sizes, *_facts(subject, conduct)), conduct


def _datasets(pairs: Sequence[Any], n_draws: int) -> list[Any]:
    chosen = [pairs[0], *(pairs[-1:] if n_draws >= FOUR_DATA_SETS and len(pairs) > 1 else [])] if pairs else []
    distinct: list[Any] = []
    for pair in chosen:
        distinct += [
            dataset for dataset in (pair.first, pair.second) if not any(dataset is other for other in distinct)
        ]
    return distinct[: max(1, n_draws // (2 * FEWEST))]


def _samples(subject: Subject, datasets: Sequence[Any], budget: Budget) -> tuple[list[Sample], float]:
    """Return samples of the data sets that are not always refused, and the share of the failure probability of tests.

    Where calls may be open together and one for several draws could not be made, all are begun again in single calls.
    """
    n_each, door = budget.n_draws // max(1, len(datasets)), open_calls(subject.mechanism)
    if n_each < FEWEST:
        return [], 1.0
    if door is None or door.batch == 1:
        plan = CallPlan.of(n_each) if door is None else CallPlan.of_open(n_each, 1)
        return _drawn(subject, datasets, plan, budget.key) or [], 1.0
    samples = _drawn(subject, datasets, CallPlan.of_open(n_each, door.batch), budget.key)
    if samples is not None:
        return samples, FIRST_TRY
    return _drawn(subject, datasets, CallPlan.of_open(n_each, 1), budget.key.child("one by one")) or [], 1 - FIRST_TRY


def _drawn(subject: Subject, datasets: Sequence[Any], plan: CallPlan, key: StreamKey) -> list[Sample] | None:
    """Return samples by the plan; None where it was not kept to, since a call for several draws could not be made."""
    samples: list[Sample] = []
    for i, dataset in enumerate(datasets):
        rng = key.child(f"data set {i}").rng()
        singles = sum(1 for _ in takewhile(lambda call: call.n_draws == 1, plan.calls))
        parts = subject.made(dataset, plan.calls, rng, min(singles, max(FIRST_CALLS)), again=False)
        if not parts:
            return None
        if not all(isinstance(part, list) and all(isinstance(output, Refusal) for output in part) for part in parts):
            layout = Layout.learn(parts, types=False)
            samples.append(Sample(np.concatenate([layout.encode(part) for part in parts]), plan))
    return samples


def _finding(name: str, p_values: PValues, budget: Budget, n_draws: int) -> ContractFinding:
    test, level = Exact.of(p_values), budget.spend("the contract")
    if test.smallest > level:
        words = "too few draws for a test at this level"
        return ContractFinding(name, ContractOutcome.NOT_TRIED, words, 1.0, level, n_draws)
    outcome = ContractOutcome.VIOLATED if test.p_value <= level else ContractOutcome.OK
    words = test.words if outcome is ContractOutcome.VIOLATED else f"smallest p-value {test.p_value:.2g}"
    return ContractFinding(name, outcome, words, test.p_value, level, n_draws)


def _pairs(values: NDArray[Any]) -> NDArray[Any]:
    return _pairs_within(values[None])


def _pairs_within(calls: NDArray[Any]) -> NDArray[Any]:
    """Return neighbours in the same call as pairs, shape ``(n, 2, …)``; ``calls`` has shape ``(calls, outputs, …)``."""
    n = calls.shape[1] // 2
    return calls[:, : 2 * n].reshape(len(calls) * n, 2, *calls.shape[2:])


def _split(sample: Sample) -> tuple[IntArray, IntArray]:
    """Return pairs at the same place of different calls, and pairs inside one call; no output is in two of them."""
    fresh, used, _ = sample.starts
    tens = _pairs(sample.tens(sample.ids))  # (calls / 2, 2, 10): rows 1-4 across calls, rows 5-10 within them
    across = np.moveaxis(tens[:, :, :4], 1, 2).reshape(-1, 2)
    within = tens[:, :, 4:].reshape(-1, 2)
    singles = [_pairs(sample.ids[:fresh]), _pairs(sample.ids[fresh:used])]
    return np.concatenate([*singles, across]), np.concatenate([within, _pairs_within(sample.large(sample.ids))])


def _repeated_calls(samples: Sequence[Sample]) -> PValues:
    """Return p-values that are small where a call repeats another one under another ``rng``."""
    words = ("of different calls", "of one call")
    return [p_value for sample in samples for p_value in more_repeats(*_split(sample), words)]


def _dependent_rows(samples: Sequence[Sample]) -> PValues:
    """Return p-values that are small where rows of one call, or calls on one object, say something about each other."""
    p_values: PValues = []
    for sample in samples:
        across, within = _split(sample)
        p_values += more_repeats(within, across, ("of one call", "of different calls"))
        tens, large = sample.tens(sample.rows), sample.large(sample.rows)
        half = large.shape[1] // 2
        halves = np.stack([large[:, :half], large[:, half : 2 * half]], axis=2)
        tables = {
            "neighbours in a call of ten": tens.reshape(-1, 2, tens.shape[-1]),
            "rows five apart in a call of ten": np.moveaxis(tens.reshape(-1, 2, 5, tens.shape[-1]), 1, 2).reshape(
                -1, 2, tens.shape[-1]
            ),
            "neighbours in a large call": _pairs_within(large),
            "halves of a large call": halves.reshape(-1, 2, large.shape[-1]),
        }
        for words, table in tables.items():
            p_values += independent(table[:, 0], table[:, 1], words)
    return p_values


def _other_laws(samples: Sequence[Sample]) -> PValues:
    """Return p-values that are small where outputs of one kind of call have another law than those of the others."""
    p_values: PValues = []
    for sample in samples:
        fresh, used, block = sample.starts
        n = len(sample.rows)
        heads = sample.mask(*((start, start + 1) for start, _ in sample.several))
        lasts = sample.mask(*((stop - 1, stop) for _, stop in sample.several))
        comparisons: list[tuple[str, Bools, Bools]] = [
            ("n_draws = 1 against a large call", sample.mask((0, used)), sample.mask((block, n))),
            ("n_draws = 10 against a large call", sample.mask((used, block)), sample.mask((block, n))),
            ("single calls of a fresh object against a used one", sample.mask((0, fresh)), sample.mask((fresh, used))),
            ("first rows of calls against the others", heads, sample.mask((used, n)) & ~heads),
            ("last rows of calls against the others", lasts, sample.mask((used, n)) & ~lasts),
            (
                "early calls of one object against late ones",
                sample.mask((fresh, (fresh + used) // 2)),
                sample.mask(((fresh + used) // 2, used)),
            ),
            *(
                (f"the first {few} calls against later ones", sample.mask((0, few)), sample.mask((few, n)))
                for few in FIRST_CALLS
                if few < fresh
            ),
        ]
        for words, chosen, others in comparisons:
            either = chosen | others
            tests = same_law(sample.rows[either], chosen[either])
            p_values += [(p, f"{words}; {event}", smallest) for p, event, smallest in tests]
    return p_values


def _watch(subject: Subject, datasets: Sequence[Any], budget: Budget) -> tuple[bool, bool]:
    """Return whether the same ``rng`` gave the same outputs, and whether a global generator was used."""
    door = open_calls(subject.mechanism)
    if not datasets or (door is not None and not door.reproducible):
        return not datasets, False
    seeds = budget.key.child("watch").rng().integers(2**63, size=3).tolist()
    first, second, uses = subject.twice(datasets[0], 3 if door is None else min(3, door.batch), seeds)
    return all(_equal(a, b) for a, b in zip(first, second, strict=True)), uses


def _equal(first: Any, second: Any) -> bool:
    if isinstance(first, Refusal) or isinstance(second, Refusal):
        return bool(first == second)
    layout = Layout.learn([first, second])
    one, other = layout.encode(first), layout.encode(second)
    return one.shape == other.shape and np.array_equal(one, other, equal_nan=True)


def _facts(subject: Subject, conduct: Conduct) -> tuple[ContractFinding, ...]:
    ledger = subject.ledger

    def fact(name: str, broken: bool, bad: str, good: str, *, counts: bool = True) -> ContractFinding:
        outcome = ContractOutcome.VIOLATED if broken and counts else ContractOutcome.OK
        p_value = 0.0 if outcome is ContractOutcome.VIOLATED else 1.0
        return ContractFinding(name, outcome, bad if broken else good, p_value, 0.0, ledger.evaluations)

    door = open_calls(subject.mechanism)
    inside = (
        fact("the data set is not written to", ledger.wrote, "it was written to", "no call wrote to it"),
        fact(
            "random numbers come from rng",
            conduct.global_generators,
            "a global generator was used: draws repeat only because it is reseeded for each call",
            "no global generator was used",
            counts=False,
        ),
    )
    declared = door is not None and not door.reproducible
    outside = (
        fact(
            "a call for several draws is answered",
            ledger.ended,
            "one ended without an answer, which is allowed: draws were made one by one",
            "every one was",
            counts=False,
        ),
    )
    return (
        *(inside if door is None else outside),  # what happens in another process is not seen
        fact(
            "the same rng gives the same outputs",
            not conduct.reproducible,
            "declared as not reproducible" if declared else DIFFER,
            "they are the same",
            counts=False,
        ),
        fact(
            "a call returns as many outputs as it was asked for",
            ledger.wrong_rows > 0,
            f"{ledger.wrong_rows} calls returned another number of rows; draws were made one by one",
            "every call did",
        ),
    )
