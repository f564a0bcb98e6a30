"""W19, Proposition 2.11: a cross-domain generalisation bound, by exact enumeration.

Printed as an equality, introduced as a bound: decided in the weaker reading, as a bound, in which it is already false.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from audits import Budget
from mechanisms import Relation
from mechanisms.laws.finite_laws import Law, SymbolMechanism, data_sets, worst_gap
from mechanisms.numerics.balls import enclose

from ...kernel.box_search import Point
from ...methods.finite_mechanisms import (
    NAMED,
    SEARCH_BOX,
    of_case,
    pair_factor,
    rational,
    searched_mechanism,
    shifted,
    two_outputs,
    worst_ratio,
)
from ...methods.rational import at_most, ball
from ..kit import At, Case, Evidence, Form, Mutant, Role, over, refuting, search, smallest, statement

WORDS = "cross-domain generalisation error, worst loss in [0, 1]"
#: Name of the axis that the search has beside the family's own.
TARGET_AXIS = "symbol 1 under D'"
#: What multiplies delta(Z, z'') in the last term, from ``exp(epsilon(Z, z'))`` and its logarithm.
Weight = Callable[[Fraction, Fraction], Fraction]


def exponential(factor: Fraction, logarithm: Fraction) -> Fraction:
    """Return ``exp(epsilon)``, the corrected weight."""
    return factor


def logarithm(factor: Fraction, *, upper: bool) -> Fraction:
    """Return a proved bound of the logarithm on the stated side (0 at 1)."""
    if factor == 1:
        return Fraction(0)
    bracket = enclose(lambda: ball(factor).log())
    return Fraction(bracket.high if upper else bracket.low)


def expectation(
    made: SymbolMechanism, law: Law, target: Law, base: int, rule: str, weight: Weight, *, upper: bool
) -> Fraction:
    """Return the expectation over Z ~ D^base, z' ~ D, z'' ~ D', rounded up or down."""
    total = Fraction(0)
    for records, share in data_sets(law, base):
        factors = [pair_factor(made, records, z, rule) for z in range(len(law))]
        logarithms = [logarithm(factor, upper=upper) for factor in factors]
        deltas = [made.delta(records, z, factor) for z, factor in enumerate(factors)]
        for z, p in enumerate(law):
            last = weight(factors[z], logarithms[z])
            for other, q in enumerate(target):
                inner = factors[z] + logarithms[other] - 1 + deltas[z] + last * deltas[other]
                total += share * p * q * inner
    return total


def _error(
    case: Case, budget: Budget, *, weight: Weight = exponential, upper: bool = True, share: Fraction = Fraction(1)
) -> Evidence:
    """Decide the largest error over all losses in [0, 1] against ``share`` of the bound."""

    def sides(made: SymbolMechanism, law: Law, target: Law, n: int, rule: str) -> tuple[Fraction, Fraction]:
        bound = expectation(made, law, target, n - 1, rule, weight, upper=upper) * share
        return worst_gap(made, law, n, target), bound

    def at_point(point: Point) -> tuple[Fraction, Fraction]:
        made, law, rule = searched_mechanism(point)
        return sides(made, law, two_outputs(1 - rational(point[TARGET_AXIS])), 1, rule)

    if case.role is Role.ADVERSARIAL:
        box = SEARCH_BOX | {TARGET_AXIS: SEARCH_BOX["symbol 1"]}
        return worst_ratio(WORDS, box, at_point, budget, relation=Relation.ADD)
    made, law, n = of_case(case, size=case.whole("n"))
    target = law if case.params["target"] == "the population" else shifted(law)
    value, bound = sides(made, law, target, n, case.text("rule"))
    return at_most(WORDS, value, bound, in_domain=bound < 1, relation=Relation.ADD)


SMALLEST = {
    "mechanism": NAMED[1], "symbols": 2, "n": 1, "population": "quarter last", "target": "the population",
    "rule": "1",
}  # fmt: skip
SHARP = SMALLEST | {"mechanism": NAMED[2], "population": "rare last", "target": "mostly the last symbol"}
TARGETS = {"population": ("uniform", "rare last"), "target": ("the population", "mostly the last symbol")}
NAMED_AND_RANDOM = {
    "mechanism": (*NAMED, "random", "random with zeros"), "symbols": (2, 3), "n": (1, 3), **TARGETS,
    "rule": ("1", "5/4"), "seed": (1,),
}  # fmt: skip
PURE = {
    "mechanism": ("random", "tells a record half of the time"),
    "symbols": (2,),
    "n": (1, 4),
    **TARGETS,
    "rule": ("pure",),
    "seed": (3, 4),
}
FORMULA = (
    "\"Gen\"(cal(A), cal(D), cal(D)', n) {sign} EE_(Z tilde.op cal(D)^(n-1), z' tilde.op cal(D), z'' tilde.op cal(D)')"
    " [(e^(epsilon(Z, z')) + epsilon(Z, z'') - 1) + delta(Z, z') + {weight} delta(Z, z'')]"
)

STATEMENT = statement(
    "W19-P2.11",
    domain="As W19-P2.9, and D' absolutely continuous with respect to D (else the importance weights do not exist and the bound fails). "
    "Decided exactly for 2 and 3 symbols, up to 3 outputs, n <= 4",
    summary="As printed it is neither an equality nor a bound. With the exponential restored it is a bound, attained in the limit of a "
    "rare symbol that the target domain is made of. The proof's steps give exp(epsilon' + epsilon'') - 1 for the first bracket, "
    "which W19-C2.12 uses and which is larger; the printed sum suffices.",
    derivation="docs/derivations/wang2019_sections_2_3.md, Proposition 2.11",
    title="cross-domain generalisation",
    printed=Form(
        FORMULA.format(sign="=", weight="epsilon(Z, z')"),
        partial(_error, weight=lambda factor, logarithm: logarithm),
        [
            smallest("one record of a 3:1 coin, told as it is, epsilon = 0", SMALLEST),
            At("a rare symbol that the target domain is made of", SHARP),
        ],
    ),
    corrected=Form(
        FORMULA.format(sign="<=", weight="e^(epsilon(Z, z'))"),
        partial(_error, upper=False),
        [
            refuting(SMALLEST),
            At("where the bound is tightest", SHARP),
            *over("named and random mechanisms", NAMED_AND_RANDOM, quick_every=23),
            search(quick=False),
            *over("delta = 0", PURE, quick_every=5),
        ],
    ),
    wrong="The last term lost its exponential (in the proof as well), so that the delta of the target drops out where epsilon = 0; "
    "the sign is = for <=.",
    mutants={
        "delta of the target left out": Mutant(_error, SHARP, weight=lambda factor, logarithm: Fraction(0)),
        "bound cut by 5 %": Mutant(_error, SHARP, severity=0.05, share=Fraction(19, 20)),
    },
)
