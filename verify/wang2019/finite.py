"""Finite mechanisms for the generalisation statements of W19: named, or random; expectations over pairs, exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations_with_replacement

from audits import Budget
from mechanisms.finite_laws import FiniteMechanism, Law, Records, check_law, data_sets

from ..search import Axis, Point, worst_point
from ..statement import Case
from .lem_b_6 import random_law

#: Output laws of a data set, by name; the outputs are the symbols of a record.
NAMED = ("tells a record", "tells a record, else the first symbol", "tells a record half of the time", "constant")


def population(name: str, symbols: int) -> Law:
    """Return the law of a record: uniform, or with 1/64 (or 1/4) on the last symbol."""
    if name == "uniform":
        return check_law([Fraction(1, symbols)] * symbols)
    last = {"rare last": Fraction(1, 64), "quarter last": Fraction(1, 4)}[name]
    return check_law([*([(1 - last) / (symbols - 1)] * (symbols - 1)), last])


def shifted(source: Law) -> Law:
    """Return a target domain with most of its mass on the last symbol."""
    last = Fraction(63, 64)
    return check_law([*([(1 - last) / (len(source) - 1)] * (len(source) - 1)), last])


def mechanism(name: str, symbols: int, size: int, seed: int = 0) -> FiniteMechanism:
    """Return a mechanism on all data sets of at most ``size`` records."""
    laws: dict[Records, Law] = {}
    for n in range(size + 1):
        for i, records in enumerate(combinations_with_replacement(range(symbols), n)):
            laws[records] = _law(name, records, symbols, seed, i)
    return FiniteMechanism(laws)


def _law(name: str, records: Records, symbols: int, seed: int, index: int) -> Law:
    uniform = [Fraction(1, symbols)] * symbols
    if name == "random":
        return random_law(3, seed, len(records), index, zeros=False)
    if name == "random with zeros":
        return random_law(3, seed, len(records), index)
    if name == "constant" or (not records and name != NAMED[1]):
        return check_law(uniform)
    if not records:
        return check_law([1] + [0] * (symbols - 1))
    told = [Fraction(records.count(z), len(records)) for z in range(symbols)]
    if name == "tells a record half of the time":
        return check_law([(a + b) / 2 for a, b in zip(told, uniform, strict=True)])
    return check_law(told)


def of_case(case: Case, *, size: int) -> tuple[FiniteMechanism, Law, int]:
    """Return the mechanism, the population and the number of records of a case."""
    symbols = case.whole("symbols")
    seed = int(case.number("seed")) if "seed" in case.params else 0
    made = mechanism(case.text("mechanism"), symbols, size, seed)
    return made, population(case.text("population"), symbols), case.whole("n")


def pair_factor(made: FiniteMechanism, records: Records, z: int, rule: str) -> Fraction:
    """Return ``exp(epsilon(Z, z))``: a stated number, or the smallest for pure pDP (all outputs possible)."""
    if rule != "pure":
        return Fraction(rule)
    p, q = made.law(records), made.law((*records, z))
    return max(max(a / b, b / a) for a, b in zip(p, q, strict=True))


def expectations(
    made: FiniteMechanism, law: Law, base: Law, size: int, rule: str
) -> Iterator[tuple[Fraction, Fraction, Fraction, Fraction]]:
    """Yield, for every data set of ``size`` records of ``base``: its weight, and the means over ``z`` of ``law`` of
    ``exp(epsilon)``, ``exp(2 epsilon)`` and ``delta``."""
    for records, weight in data_sets(base, size):
        factors = [pair_factor(made, records, z, rule) for z in range(len(law))]
        deltas = [made.delta(records, z, f) for z, f in enumerate(factors)]
        yield (
            weight,
            sum((p * f for p, f in zip(law, factors, strict=True)), Fraction(0)),
            sum((p * f * f for p, f in zip(law, factors, strict=True)), Fraction(0)),
            sum((p * d for p, d in zip(law, deltas, strict=True)), Fraction(0)),
        )


def largest_delta(made: FiniteMechanism, law: Law, size: int, rule: str) -> Fraction:
    """Return the largest delta over data sets and targets of positive probability."""
    return max(
        made.delta(records, z, pair_factor(made, records, z, rule))
        for records, _ in data_sets(law, size)
        for z, p in enumerate(law)
        if p
    )


#: Outputs and symbols are two, and at most two records: the family that the adversarial search looks through.
SEARCHED: tuple[Records, ...] = ((), (0,), (1,), (0, 0), (0, 1), (1, 1))


def searched_mechanism(point: Mapping[str, float]) -> tuple[FiniteMechanism, Law, str]:
    """Return the mechanism, the population and ``exp(epsilon)`` of a point of :data:`SEARCH_BOX`, as rationals."""

    def rational(value: float) -> Fraction:
        return Fraction(round(value * 4096), 4096)

    laws = {records: _pair(rational(point[f"output 1 on {records}"])) for records in SEARCHED}
    return FiniteMechanism(laws), _pair(rational(point["symbol 1"])), str(1 + rational(point["exp(epsilon) - 1"]))


def _pair(p: Fraction) -> Law:
    return check_law([1 - p, p])


SEARCH_BOX: dict[str, Axis] = {
    **{f"output 1 on {records}": Axis(0.0, 1.0, log=False) for records in SEARCHED},
    "symbol 1": Axis(1 / 64, 63 / 64, log=False),
    "exp(epsilon) - 1": Axis(0.0, 1.0, log=False),
}


def worst_mechanism(ratio: Callable[[FiniteMechanism, Law, str], Fraction], budget: Budget) -> Point:
    """Return the point of the family at which ``ratio`` is largest, as far as a multi-start search finds."""
    return worst_point(SEARCH_BOX, lambda point: float(ratio(*searched_mechanism(point))), budget, n_starts=48)
