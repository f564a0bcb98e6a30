"""Mechanisms with finitely many data sets and outputs, in rational arithmetic: the definitions of W19 taken literally.

``factor`` stands for ``exp(epsilon)`` throughout, so that everything stays rational.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

#: Probabilities of the outputs 0, 1, …
Law = tuple[Fraction, ...]
#: An unordered data set: the sorted tuple of its records' symbols.
Records = tuple[int, ...]


def check_law(law: Sequence[Fraction | int]) -> Law:
    """Return a probability vector as fractions; raises ValueError unless it is one."""
    exact = tuple(Fraction(p) for p in law)
    if not exact or min(exact) < 0 or sum(exact) != 1:
        raise ValueError(f"law must be non-negative numbers that sum to 1, got law={[str(p) for p in exact]}")
    return exact


def hockey_stick(p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return ``max_S P(S) - factor Q(S)``, the smallest delta of one inequality of W19-D2.1."""
    return sum((max(a - factor * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


def smallest_delta(p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the smallest delta of both inequalities of W19-D2.2."""
    return max(hockey_stick(p, q, factor), hockey_stick(q, p, factor))


def product(p: Law, q: Law) -> Law:
    """Return the joint law of two independent outputs."""
    return tuple(a * b for a in p for b in q)


def processed(p: Law, channel: Sequence[Law]) -> Law:
    """Return the law of a (random) function of the output; ``channel[i]`` is its law at output ``i``."""
    return tuple(
        sum((a * row[j] for a, row in zip(p, channel, strict=True)), Fraction(0)) for j in range(len(channel[0]))
    )


@dataclass(frozen=True)
class SymbolMechanism:
    """The output law of every data set over the symbols 0, 1, … up to some size; records have no order.

    Parameters
    ----------
    laws : mapping
        From sorted tuples of symbols to laws, all of the same length.
    """

    laws: Mapping[Records, Law]

    def __post_init__(self) -> None:
        checked = {tuple(sorted(records)): check_law(law) for records, law in self.laws.items()}
        if len({len(law) for law in checked.values()}) != 1:
            raise ValueError("laws must all be over the same outputs")
        object.__setattr__(self, "laws", checked)

    def law(self, records: Sequence[int]) -> Law:
        """Return the output law on a data set."""
        return self.laws[tuple(sorted(records))]

    def delta(self, records: Sequence[int], target: int, factor: Fraction) -> Fraction:
        """Return the smallest delta for one data set and one target (W19-D2.2), both directions."""
        return smallest_delta(self.law(records), self.law((*records, target)), factor)

    def worst_delta(self, factor: Fraction) -> Fraction:
        """Return the smallest delta for every pair of neighbours (W19-D2.1): the supremum of ``delta``."""
        pairs = ((records[:i] + records[i + 1 :], records[i]) for records in self.laws for i in range(len(records)))
        return max((self.delta(rest, z, factor) for rest, z in pairs if rest in self.laws), default=Fraction(0))


def data_sets(population: Law, n: int) -> list[tuple[Records, Fraction]]:
    """Return every unordered sample of ``n`` independent records with its (positive) probability."""
    out = []
    for records in combinations_with_replacement(range(len(population)), n):
        counts = [records.count(z) for z in range(len(population))]
        ways = factorial(n) // prod(map(factorial, counts))
        weight = prod((p**c for p, c in zip(population, counts, strict=True)), start=Fraction(ways))
        if weight:
            out.append((records, weight))
    return out


def _gap_coefficients(mechanism: SymbolMechanism, population: Law, target: Law, n: int) -> list[list[Fraction]]:
    """Return what multiplies ``loss[z][output]`` in the signed generalisation gap of W19-D2.8 and W19-D2.10.

    Raises
    ------
    ValueError
        If ``target`` has mass where ``population`` has none: the importance weights do not exist.
    """
    if any(t and not p for p, t in zip(population, target, strict=True)):
        raise ValueError("target must be absolutely continuous with respect to population")
    n_outputs = len(next(iter(mechanism.laws.values())))
    out = [[Fraction(0)] * n_outputs for _ in population]
    for records, weight in data_sets(population, n):
        law = mechanism.law(records)
        for z, (p, t) in enumerate(zip(population, target, strict=True)):
            share = weight * ((t / p) * Fraction(records.count(z), n) - t if p else -t)
            out[z] = [c + share * a for c, a in zip(out[z], law, strict=True)]
    return out


def generalisation_gap(
    mechanism: SymbolMechanism, population: Law, n: int, loss: Sequence[Sequence[Fraction]], target: Law | None = None
) -> Fraction:
    """Return the on-average generalisation error of one loss (W19-D2.8), or cross-domain (W19-D2.10).

    The mechanism is defined on the data sets of ``n >= 1`` records, ``population`` is the law of one, ``target`` that
    of the target domain (the population itself if left out), and ``loss[z][output]`` lies in [0, 1].
    """
    table = _gap_coefficients(mechanism, population, target or population, n)
    return abs(
        sum((c * v for row, line in zip(table, loss, strict=True) for c, v in zip(row, line, strict=True)), Fraction(0))
    )


def cross_domain_gap(
    mechanism: SymbolMechanism, population: Law, target: Law, n: int, loss: Sequence[Sequence[Fraction]]
) -> Fraction:
    """Return the cross-domain generalisation error of one loss (W19-D2.10)."""
    return generalisation_gap(mechanism, population, n, loss, target)


def worst_gap(mechanism: SymbolMechanism, population: Law, n: int, target: Law | None = None) -> Fraction:
    """Return the largest ``generalisation_gap`` over all losses with values in [0, 1]: a sum of positive parts."""
    table = _gap_coefficients(mechanism, population, target or population, n)
    positive = sum((max(c, Fraction(0)) for row in table for c in row), Fraction(0))
    negative = sum((max(-c, Fraction(0)) for row in table for c in row), Fraction(0))
    return max(positive, negative)
