"""Exact tests of what the outputs of an honest mechanism are: independent, of one law, whatever call they come from.

Every test conditions on the pooled outputs and asks which call or place they came from; under the contract that is
uniformly random, so that counts are hypergeometric. No law of the outputs is assumed, discrete ones included.
Derivation: ``docs/derivations/contract.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from mechanisms.data.dataset import FloatArray

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


def smallest_more_hits(n: int, other_n: int) -> float:
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

    Parameters
    ----------
    rows : (n, k) array
        All outputs, of the chosen calls and of the others.
    chosen : (n,) array of bool
        Fixed by the plan of calls.
    """
    n, m = int(chosen.sum()), int((~chosen).sum())
    smallest = min(1.0, 2 * smallest_more_hits(n, m))
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

    Parameters
    ----------
    pairs, others : (n, 2) and (m, 2) arrays
        Identities of outputs; no output in two pairs.
    words : (str, str)
        What the two kinds of pairs are.
    """
    n, m = len(pairs), len(others)
    if not n or not m:
        return []
    hits, hits_others = int((pairs[:, 0] == pairs[:, 1]).sum()), int((others[:, 0] == others[:, 1]).sum())
    text = f"{hits} of {n} pairs {words[0]} are equal, {hits_others} of {m} pairs {words[1]}"
    return [(more_hits(hits, n, hits_others, m), text, smallest_more_hits(n, m))]


def independent(first: FloatArray, second: FloatArray, words: str) -> list[tuple[float, str, float]]:
    """Return two-sided Fisher p-values of "the second of a pair does not depend on the first", one for each event.

    Parameters
    ----------
    first, second : (n, k) arrays
        Pairs of outputs, none in two pairs.
    words : str
        What the pairs are.
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
