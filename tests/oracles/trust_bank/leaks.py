"""For every broken mechanism one pair of neighbours and one event whose probabilities break the claim."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm

from mechanisms import Dataset

from . import ENTRIES, Entry

Event = Callable[[list[Any]], np.ndarray]
Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Leak:
    """An event of one release on a named pair.

    Attributes
    ----------
    pair : tuple
        The data set whose event is too likely, then its neighbour.
    event : callable
        List of outputs to booleans. An exception comes as its type's name.
    how : str
        ``block``: one call of a fresh object; ``fresh``: each release by a fresh object in a call of one;
        ``first`` or ``last``: that row of calls of 20 of fresh objects; ``later``: a fresh object has answered 45
        times about zeros; ``zeros`` or ``twice``: its release, less the one it made before about zeros or about the
        same data; ``rows``: the 20 rows of one call of a fresh object as one output; ``process``: a fresh object in a
        fresh process is asked about ``before``, the data set and ``after``, and the output is ``combine`` of all
        answers, without it the last one.
    p, q : float or None
        The two probabilities where they are known.
    """

    pair: Pair
    event: Event
    n: int = 400
    how: str = "block"
    p: float | None = None
    q: float | None = None
    words: str = ""
    before: tuple[Any, ...] = ()
    after: tuple[Any, ...] = ()
    combine: Callable[[list[Any]], Any] | None = None
    process: Callable[[], AbstractContextManager[Any]] = nullcontext


def rows(n: int, length: float = 0.8, dim: int = 2, seed: int = 5) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, dim))
    return length * X / np.linalg.norm(X, axis=1, keepdims=True)


def plain(entry: Entry, n: int, level: float = 0.4, length: float = 0.8) -> Dataset:
    """Records of one length whose responses alternate between two sizes below the bound."""
    y = level * np.where(np.arange(n) % 2 == 0, 1.0, -0.7)
    return entry.dataset(rows(n, length, entry.dim), entry.y_bound * y)


def axis(entry: Entry, size: float = 1.0, index: int = 0) -> np.ndarray:
    return size * entry.x_bound * np.eye(entry.dim)[index]


def more(entry: Entry, n: int = 6, response: float = 1.0, size: float = 1.0, **how: float) -> Pair:
    """Records with one at the bounds, and without it."""
    base = plain(entry, n, **how)
    return base.with_record(axis(entry, size), response * entry.y_bound), base


def less(entry: Entry, n: int = 6, response: float = 1.0, size: float = 1.0, **how: float) -> Pair:
    """The same two in the other order."""
    first, second = more(entry, n, response, size, **how)
    return second, first


def alike(entry: Entry, y: Any, x: float = 1.0) -> Dataset:
    """Records on the first axis."""
    return entry.dataset(np.tile(axis(entry, x), (len(y), 1)), y)


def and_one(entry: Entry, y: Any, response: float, x: float = 1.0, index: int = 0) -> Pair:
    """Records alike on the first axis with one at the end of an axis, and without it."""
    base = alike(entry, y, x)
    return base.with_record(axis(entry, index=index), response), base


def single(entry: Entry, row: Any, response: float = 1.0) -> Pair:
    """One record, and none."""
    base = entry.dataset([], [])
    return base.with_record(row, response), base


def one_or_none(entry: Entry) -> Pair:
    return alike(entry, [1.0]), alike(entry, [])


def replaced(entry: Entry, n: int = 6) -> Pair:
    base = plain(entry, n)
    return (base.with_record(axis(entry), entry.y_bound), base.with_record(-axis(entry), entry.y_bound))


def table(outputs: list[Any]) -> np.ndarray:
    return np.asarray(outputs, dtype=float).reshape(len(outputs), -1)


def near(value: Any, tolerance: float) -> Event:
    """All coordinates are this close to a value."""

    def event(outputs: list[Any]) -> np.ndarray:
        if any(isinstance(each, str) for each in outputs):
            return np.zeros(len(outputs), dtype=bool)
        return (np.abs(table(outputs) - value) <= tolerance).all(axis=1)

    return event


def column(index: int, test: Callable[[np.ndarray], np.ndarray]) -> Event:
    return lambda outputs: test(table(outputs)[:, index])


def each(test: Callable[[Any], bool]) -> Event:
    return lambda outputs: np.array([bool(test(output)) for output in outputs])


def centre(entry: Entry, dataset: Any) -> np.ndarray:
    return np.atleast_1d(entry.factory().centre(dataset))


def first(entry: Entry) -> np.ndarray:
    """The centre of the first data set of ``more``."""
    return centre(entry, more(entry)[0])


def raw(entry: Entry, pair: Pair | None = None, **how: Any) -> Leak:
    """The output is the first data set's raw statistic, with probability ``p``."""
    pair = pair or more(entry)
    return Leak(pair, near(centre(entry, pair[0]), 1e-9), **({"p": 1.0, "q": 0.0} | how))


def known(entry: Entry, pair: Pair | None = None) -> Leak:
    """The noise is known, so that the one output of a fresh object is."""
    pair = pair or more(entry)
    expected = entry.factory().draw(pair[0], 1, rng=np.random.default_rng(1))[0]
    return Leak(pair, near(expected, 1e-9), p=1.0, q=0.0, how="fresh", n=100)


def gaussian(entry: Entry, pair: Pair, sigma: float, other: float | None = None, at: float = 0.0, **how: Any) -> Leak:
    """Normal noise on both: outputs beyond the first centre, less ``at`` deviations, away from the second."""
    first, second = centre(entry, pair[0]), centre(entry, pair[1])
    gap = first - second
    distance = float(np.linalg.norm(gap))
    unit = gap / distance

    def event(outputs: list[Any]) -> np.ndarray:
        return (table(outputs) - first) @ unit > -at * sigma

    p, q = float(norm.cdf(at)), float(norm.sf((distance - at * sigma) / (other or sigma)))
    return Leak(pair, event, p=p, q=q, n=how.pop("n", 4000), **how)


def away(entry: Entry, pair: Pair) -> Leak:
    """Noise of two sizes: the first coordinate is four of the second's deviations away from the second's centre."""
    made = entry.factory()
    sigma, other = made.scale(pair[0]), made.scale(pair[1])
    first, second = float(centre(entry, pair[0])[0]), float(centre(entry, pair[1])[0])
    p = norm.sf((4 * other + second - first) / sigma) + norm.cdf((-4 * other + second - first) / sigma)
    test = column(0, lambda values: np.abs(values - second) > 4 * other)
    return Leak(pair, test, n=4000, p=float(p), q=float(2 * norm.sf(4.0)))


def two_sizes(entry: Entry, pair: Pair, at: float) -> Leak:
    """Normal noise of the size that the mechanism has for each data set."""
    made = entry.factory()
    return gaussian(entry, pair, made.scale(pair[0]), made.scale(pair[1]), at=at)


def is_error(name: str) -> Event:
    return each(lambda output: isinstance(output, str) and output == name)


def certain(pair: Pair, event: Event, **how: Any) -> Leak:
    return replace(Leak(pair, event, p=1.0, q=0.0), **how)


def draw(entry: Entry, leak: Leak, dataset: Any, rng: np.random.Generator) -> list[Any]:
    """Return the releases that the event looks at, made as ``leak.how`` says."""

    def answer(made: Any, n: int, asked: Any = dataset) -> list[Any]:
        try:
            return list(made.draw(asked, n, rng=rng))
        except Exception as stop:
            return [type(stop).__name__] * n

    if leak.how == "block":
        return answer(entry.factory(), leak.n)
    found = []
    for _ in range(leak.n):
        made = entry.factory()
        if leak.how == "process":
            with leak.process():
                asked = (*leak.before, dataset, *leak.after)
                answers = [answer(made, 1, each)[0] for each in asked]
            found.append(leak.combine(answers) if leak.combine else answers[-1])
            continue
        if leak.how == "rows":
            found.append(np.concatenate([np.ravel(each) for each in answer(made, 20)]))
            continue
        if leak.how in ("first", "last"):
            found.append(answer(made, 20)[0 if leak.how == "first" else -1])
            continue
        before: list[Any] = []
        if leak.how in ("later", "zeros"):
            zeros = Dataset(np.zeros((1, entry.dim)), np.zeros(1), entry.x_bound, entry.y_bound)
            for _ in range(45 if leak.how == "later" else 1):
                before = answer(made, 1, zeros)
        if leak.how == "twice":
            before = answer(made, 1)
        now = answer(made, 1, Dataset(dataset.X.copy(), dataset.y.copy(), entry.x_bound, entry.y_bound))
        found.append(np.ravel(now[0]) - np.ravel(before[0]) if leak.how in ("zeros", "twice") else now[0])
    return found


def leak_of(name: str) -> Leak:
    """Return the leak of a broken mechanism: what its row names, or its own in ``LEAKS`` of its file of leaks."""
    from . import leaks_answers, leaks_formulas, leaks_outright, leaks_state

    entry = ENTRIES[name]
    last = {9: leaks_outright, 14: leaks_formulas, 21: leaks_state, 24: leaks_answers}
    module = next(module for klass, module in last.items() if entry.klass <= klass)
    kind, *numbers = entry.leak or (name,)
    words = numbers.pop() if numbers and isinstance(numbers[-1], dict) else {}
    found: Leak = (module.LEAKS.get(kind) or getattr(module, kind, None) or globals()[kind])(entry, *numbers, **words)
    return found
