"""Finite mechanisms for the generalisation statements of W19: named, or random; expectations over pairs, exact."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement

from audits import Budget
from mechanisms import Relation
from mechanisms.laws.finite_laws import Law, Records, SymbolMechanism, check_law, data_sets

from ..kernel.box_search import Axis, Point, worst_point
from ..kernel.statement import Case, Evidence
from .rational import at_most, generator

#: Output laws of a data set, by name; the outputs are the symbols of a record.
NAMED = ("tells a record", "tells a record, else the first symbol", "tells a record half of the time", "constant")


def random_law(n_outputs: int, *keys: int, zeros: bool = True) -> Law:
    """Return a random law with small denominators, with impossible outputs among them if ``zeros``."""
    weights = generator(n_outputs, *keys).integers(0 if zeros else 1, 9, n_outputs)
    weights[0] += 1
    return check_law([Fraction(int(w), int(weights.sum())) for w in weights])


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


def mechanism(name: str, symbols: int, size: int, seed: int = 0) -> SymbolMechanism:
    """Return a mechanism on all data sets of at most ``size`` records."""
    laws: dict[Records, Law] = {}
    for n in range(size + 1):
        for i, records in enumerate(combinations_with_replacement(range(symbols), n)):
            laws[records] = _law(name, records, symbols, seed, i)
    return SymbolMechanism(laws)


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


def of_case(case: Case, *, size: int) -> tuple[SymbolMechanism, Law, int]:
    """Return the mechanism, the population and the number of records of a case."""
    symbols = case.whole("symbols")
    seed = int(case.number("seed")) if "seed" in case.params else 0
    made = mechanism(case.text("mechanism"), symbols, size, seed)
    return made, population(case.text("population"), symbols), case.whole("n")


def pair_factor(made: SymbolMechanism, records: Records, z: int, rule: str) -> Fraction:
    """Return ``exp(epsilon(Z, z))``: a stated number, or the smallest for pure pDP (all outputs possible)."""
    if rule != "pure":
        return Fraction(rule)
    p, q = made.law(records), made.law((*records, z))
    return max(max(a / b, b / a) for a, b in zip(p, q, strict=True))


def expectations(
    made: SymbolMechanism, law: Law, base: Law, size: int, rule: str
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


def largest_delta(made: SymbolMechanism, law: Law, size: int, rule: str) -> Fraction:
    """Return the largest delta over data sets and targets of positive probability."""
    return max(
        made.delta(records, z, pair_factor(made, records, z, rule))
        for records, _ in data_sets(law, size)
        for z, p in enumerate(law)
        if p
    )


def rational(value: float) -> Fraction:
    """Return a number of a search, rounded to 1/4096."""
    return Fraction(round(value * 4096), 4096)


def two_outputs(p: Fraction) -> Law:
    """Return the law of two outputs, the first with probability ``p``."""
    return check_law([p, 1 - p])


def worst_ratio(
    quantity: str,
    box: Mapping[str, Axis],
    sides: Callable[[Point], tuple[Fraction, Fraction]],
    budget: Budget,
    *,
    relation: Relation | None = None,
    strict: bool = False,
) -> Evidence:
    """Decide ``value <= bound`` where a search of the box finds their ratio largest; a bound >= 1 claims nothing.

    Parameters
    ----------
    quantity : str
        What is bounded, in words.
    box : mapping of Axis
        What is searched.
    sides : callable
        Value and bound at a point, exact.
    budget : Budget
    relation, strict
        As in ``at_most``.
    """

    def ratio(point: Point) -> float:
        value, bound = sides(point)
        return float(value / bound) if 0 < bound < 1 else 0.0

    point = worst_point(box, ratio, budget, n_starts=48)
    value, bound = sides(point)
    return replace(at_most(quantity, value, bound, in_domain=bound < 1, relation=relation, strict=strict), found=point)


#: Outputs and symbols are two, and at most two records: the family that the adversarial search looks through.
SEARCHED: tuple[Records, ...] = ((), (0,), (1,), (0, 0), (0, 1), (1, 1))
SEARCH_BOX: dict[str, Axis] = {
    **{f"output 1 on {records}": Axis(0.0, 1.0, log=False) for records in SEARCHED},
    "symbol 1": Axis(1 / 64, 63 / 64, log=False),
    "exp(epsilon) - 1": Axis(0.0, 1.0, log=False),
}


def searched_mechanism(point: Point) -> tuple[SymbolMechanism, Law, str]:
    """Return the mechanism, the population and ``exp(epsilon)`` of a point of ``SEARCH_BOX``, as rationals."""
    laws = {records: two_outputs(1 - rational(point[f"output 1 on {records}"])) for records in SEARCHED}
    population = two_outputs(1 - rational(point["symbol 1"]))
    return SymbolMechanism(laws), population, str(1 + rational(point["exp(epsilon) - 1"]))
