"""Slow twins of ``audits.training.one_run``: published formulas as printed, rational arithmetic, every mechanism."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import mpmath
import numpy as np


def steinke_p_value(m: int, r: int, v: int, epsilon: float, delta: float) -> float:
    """Steinke, Nasr and Jagielski 2023: ``beta + 2 m delta max_i P(v > B >= v - i) / i``, sum by sum."""
    q = 1 / (1 + math.exp(-epsilon))
    atoms = [math.comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    alpha, between = 0.0, 0.0
    for i in range(1, v + 1):
        between += atoms[v - i]
        alpha = max(alpha, between / i)
    return min(1.0, math.fsum(atoms[v:]) + 2 * m * delta * alpha)


def curve_totals(m: int, r: int, v: int, tau: float, mu: float) -> float:
    """Mahloujifar, Melis and Chaudhuri 2024, algorithm 3, in 40 digits: ``(r[0] + h[0]) m / c'``."""
    with mpmath.workdps(40):

        def inverse(x):
            z = mpmath.findroot(lambda t: mpmath.ncdf(t) - x, mpmath.erfinv(2 * x - 1) * mpmath.sqrt(2))
            return mpmath.ncdf(z - mu)

        rights, wrongs = mpmath.mpf(tau) * v / m, mpmath.mpf(tau) * (r - v) / m
        for i in range(v - 1, -1, -1):
            before, wrongs = wrongs, max(wrongs, inverse(rights))
            rights += mpmath.mpf(i) / (r - i) * (wrongs - before)
            if rights + wrongs > mpmath.mpf(r) / m:
                break
        return float((rights + wrongs) * m / r)


def exact_point(m: int, r: int, v: int, odds: Fraction, delta: Fraction) -> Fraction:
    """The linear programme over the law of the number of right guesses, vertex by vertex.

    A vertex mixes at most two laws, each binomial given that it is at least ``l``.
    """
    weights = [math.comb(r, k) * odds**k for k in range(r + 1)]
    tails = [sum(weights[level:]) for level in range(r + 1)]
    cost = [level * weights[level] / tails[level] for level in range(r + 1)]
    gain = [min(Fraction(1), tails[v] / tails[level]) for level in range(r + 1)]
    leak, best = m * delta, Fraction(0)
    for a, b in itertools.combinations_with_replacement(range(r + 1), 2):
        if cost[a] > leak:
            continue
        share = Fraction(1) if cost[b] <= leak else (leak - cost[a]) / (cost[b] - cost[a])
        best = max(best, (1 - share) * gain[a] + share * gain[b])
    return best


def leaking_law(r: int, odds: Fraction, level: int, share: Fraction) -> list[Fraction]:
    """The law of the number of right guesses that attains the bound: binomial, with ``share`` given ``>= level``."""
    weights = [math.comb(r, k) * odds**k for k in range(r + 1)]
    return [
        (1 - share) * w / sum(weights) + (share * w / sum(weights[level:]) if k >= level else 0)
        for k, w in enumerate(weights)
    ]


Output = tuple[tuple[int, ...], tuple[bool, ...]]


def leaking_mechanism(m: int, r: int, law: Sequence[Fraction]) -> Callable[[tuple[bool, ...]], dict[Output, Fraction]]:
    """Chooses ``r`` canaries evenly, and says of each whether it was in; so many answers are true as ``law`` says."""

    def outputs(included: tuple[bool, ...]) -> dict[Output, Fraction]:
        return {
            (chosen, tuple(included[i] == true for i, true in zip(chosen, trues, strict=True))): law[sum(trues)]
            / math.comb(r, sum(trues))
            / math.comb(m, r)
            for chosen in itertools.combinations(range(m), r)
            for trues in itertools.product((False, True), repeat=r)
        }

    return outputs


def neighbours(m: int) -> Iterator[tuple[tuple[bool, ...], tuple[bool, ...]]]:
    """Every pair of inclusions that differ in one canary, both ways round."""
    for included in itertools.product((False, True), repeat=m):
        for i in range(m):
            yield included, (*included[:i], not included[i], *included[i + 1 :])


def best_guesser(table: np.ndarray, m: int, r: int, v: int) -> float:
    """P(W >= v) of the best guesser; ``table[s, y]`` = P(y | the inclusion with the bits of ``s``)."""
    total = 0.0
    for column in table.T:
        total += max(
            sum(
                column[s]
                for s in range(2**m)
                if sum(bool(s >> i & 1) == said for i, said in zip(chosen, words, strict=True)) >= v
            )
            for chosen in itertools.combinations(range(m), r)
            for words in itertools.product((False, True), repeat=r)
        )
    return total / 2**m


def table_delta(table: np.ndarray, m: int, epsilon: float) -> float:
    """The largest hockey-stick divergence of two rows that differ in one bit."""
    return max(
        float(np.maximum(table[s] - math.exp(epsilon) * table[s ^ (1 << i)], 0).sum())
        for s in range(2**m)
        for i in range(m)
    )
