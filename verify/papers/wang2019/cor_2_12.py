"""W19, Corollary 2.12: cross-domain generalisation through the moments of pDP.

The hypothesis ``E_D exp(2 epsilon) <= 1`` forces epsilon = 0 on D; the bound is true under it, and without it too. The
expansion printed beside it lacks a pair of brackets (docs/derivations/wang2019_sections_2_3.md, Corollary 2.12).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from flint import arb

from mechanisms import Relation
from mechanisms.laws.finite_laws import worst_gap
from mechanisms.numerics.balls import Ball

from ...methods.enclosed import enclosed
from ...methods.finite_mechanisms import NAMED, expectations, largest_delta, of_case, shifted
from ...methods.rational import at_most
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, refuting, smallest, statement

TERMS = 120


def _bound(case: Case, *, share: Fraction = Fraction(1)) -> Evidence:
    """Decide the error, for all losses in [0, 1], against the bound; in the domain only where epsilon = 0 on D."""
    made, law, n = of_case(case, size=case.whole("n") + 1)
    target, base, rule = shifted(law), case.whole("base"), case.text("rule")
    delta = largest_delta(made, law, base, rule)
    source_moment, target_moment = (
        sum((w * square for w, _, square, _ in expectations(made, domain, law, base, rule)), Fraction(0))
        for domain in (law, target)
    )
    limit = (source_moment + target_moment) / 2 - 1 + 2 * delta * share
    return at_most(
        "cross-domain generalisation error, worst loss in [0, 1]",
        worst_gap(made, law, n, target),
        limit,
        in_domain=source_moment <= 1 and limit < 1,
        relation=Relation.ADD,
        strict=True,
        notes={"E_D exp(2 epsilon)": float(source_moment)},
    )


def weighted(epsilon: Ball, first: int = 1) -> Ball:
    """Enclose ``sum_i 2^i/i! epsilon^i``, i from ``first``, by its terms and a remainder."""
    total = sum((epsilon**i * (arb(2) ** i / math.factorial(i)) for i in range(first, TERMS)), arb(0))
    # what follows the last term is at most twice that term while 2 epsilon < TERMS/2
    last = epsilon**TERMS * arb(2) ** TERMS / math.factorial(TERMS)
    return total + (2 * last).union(arb(0))


def _unweighted(epsilon: Ball) -> Ball:
    """Enclose ``sum_i epsilon^i``, i from 1, in the same way."""
    return sum((epsilon**i for i in range(1, TERMS)), arb(0)) + (epsilon**TERMS / (1 - epsilon)).union(arb(0))


Series = Callable[[Ball], Ball]


def _equality(case: Case, *, source: Series = weighted, target: Series = weighted) -> Evidence:
    """Enclose the difference of the two displays for two-point laws of epsilon under D and D'."""

    def difference() -> Ball:
        first, second = (arb(case.number(f"epsilon {side}")) for side in ("under D", "under D'"))
        p = arb(case.number("probability"))
        left = (p * (2 * first).exp() + (1 - p) + p * (2 * second).exp() + (1 - p)) / 2 - 1
        return p * (source(first) + target(second)) / 2 - left

    return enclosed("right minus left side of the equality", difference, -1e-12, 1e-12, 0.0)


def _proof(case: Case, *, deltas: str = "2", hypothesis: bool = True) -> Evidence:
    """Decide the proof's inequality for laws of exp(epsilon) that take two values, each on half of the data sets."""
    source = (1.0, case.number("exp(epsilon) under D"))
    target = (case.number("first under D'"), case.number("second under D'"))

    def slack() -> Ball:
        f, g, delta = [arb(v) for v in source], [arb(v) for v in target], arb(case.number("delta"))
        left = (f[0] * g[0] + f[1] * g[1]) / 2 - 1 + delta * (1 + (f[0] + f[1]) / 2)
        moment = ((f[0] ** 2 + f[1] ** 2) * (g[0] ** 2 + g[1] ** 2) / 4).sqrt()
        return moment - 1 + arb(deltas) * delta - left

    inside = not hypothesis or (source[0] ** 2 + source[1] ** 2) / 2 <= 1
    return enclosed("right minus left side", slack, 0.0, math.inf, 0.0, in_domain=inside)


FINITE = {
    "mechanism": (*NAMED, "random"), "symbols": (2,), "n": (1, 2), "base": (0, 1, 2),
    "population": ("uniform", "rare last"), "rule": ("1", "5/4"), "seed": (1,),
}  # fmt: skip
# one record, half the time told: without it the outputs are (1/2, 1/2), delta is 1/4 on both symbols
SHARP = {"mechanism": NAMED[2], "symbols": 2, "n": 1, "base": 0, "population": "rare last", "rule": "1"}
EQUAL = {"epsilon under D": 0.0, "epsilon under D'": 0.5, "probability": 1.0}
PAIRS = {"epsilon under D": (0.0, 0.25, 3.0), "epsilon under D'": (0.0, 0.75, 2.0), "probability": (0.25, 1.0)}
CONSTANT = {"exp(epsilon) under D": 1.0, "first under D'": 1.0, "second under D'": 1.0, "delta": 0.25}
PROOFS = {
    "exp(epsilon) under D": (1.0, 2.0), "first under D'": (1.0, 2.0), "second under D'": (1.0, 8.0),
    "delta": (0.0, 1e-6, 0.25),
}  # fmt: skip
LEFT = "1/2 [EE_(cal(D)) e^(2 epsilon) + EE_(cal(D)') e^(2 epsilon)] - 1 + 2 delta"

STATEMENT = statement(
    "W19-C2.12",
    domain="As W19-P2.11, delta at least every delta(Z, z), and E_D exp(2 epsilon) <= 1, which with epsilon >= 0 means epsilon = 0 on D. "
    "Bound decided exactly for 2 symbols, n <= 2, base data sets of n and n - 1 records; equality as an identity",
    summary="The bound is true (its hypothesis leaves only epsilon = 0, where it reads 2 delta, and is not needed when Z has n - 1 records). "
    "The expansion written after it, its Taylor series, lacks a pair of brackets: the weights 2^i/i! belong to both expectations.",
    derivation="docs/derivations/wang2019_sections_2_3.md, Corollary 2.12",
    displays={
        "#bound": Display(
            "the bound",
            printed=Form(
                '"Gen"(cal(A), cal(D), cal(D)\', n) <= ' + LEFT,
                _bound,
                [
                    At("where it is tightest", SHARP),
                    *(
                        at
                        for at in over("finite mechanisms", FINITE, quick_every=7)
                        if at.params["n"] - at.params["base"] in (0, 1)
                    ),
                ],
            ),
            mutants={"2 delta cut by 5 %": Mutant(_bound, SHARP, severity=0.05, share=Fraction(19, 20))},
        ),
        ".p": Display(
            printed=Form(
                LEFT + " = 1/2 [sum_(i=1)^infinity 2^i/i! EE_(cal(D)) epsilon^i + EE_(cal(D)') epsilon^i] + 2 delta",
                partial(_equality, target=_unweighted),
                [
                    smallest("epsilon = 0 on D, 1/2 on D'", EQUAL),
                    At("constant epsilon = 1/4", EQUAL | {"epsilon under D": 0.25, "epsilon under D'": 0.25}),
                ],
            ),
            corrected=Form(
                LEFT + " = 1/2 sum_(i=1)^infinity 2^i/i! (EE_(cal(D)) epsilon^i + EE_(cal(D)') epsilon^i) + 2 delta",
                _equality,
                [refuting(EQUAL), *over("two-point laws", PAIRS, quick_every=5)],
            ),
            wrong="The brackets that make the weights 2^i/i! belong to both expectations are missing.",
            mutants={
                "sum from i = 0": Mutant(
                    _equality, EQUAL, source=partial(weighted, first=0), target=partial(weighted, first=0)
                ),
                "half of the target's part": Mutant(_equality, EQUAL, target=lambda x: weighted(x) / 2),
            },
        ),
        "#proof": Display(
            "the proof's inequality",
            printed=Form(
                "EE [EE_(cal(D)) [e^epsilon | Z] EE_(cal(D)') [e^epsilon | Z]] - 1 + delta (1 + EE e^epsilon) <= sqrt(EE_(cal(D)) e^(2 epsilon) EE_(cal(D)') e^(2 epsilon)) - 1 + 2 delta",
                _proof,
                over("two-point laws", PROOFS, quick_every=5),
            ),
            mutants={
                "hypothesis dropped": Mutant(
                    _proof, CONSTANT | {"exp(epsilon) under D": 2.0, "second under D'": 2.0}, hypothesis=False
                ),
                "1.9 delta": Mutant(_proof, CONSTANT, severity=0.05, deltas="1.9"),
            },
            proof=True,
        ),
    },
)
