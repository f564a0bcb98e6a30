"""W19, Fact 2.6 (4): group privacy along a chain of data sets, exact on finite laws, each direction by itself.

Backwards the steps come in the other order, so that the printed delta is wrong there.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from math import prod

from audits import Budget
from mechanisms.laws.finite_laws import Law, check_law, hockey_stick, smallest_delta

from ...kernel.box_search import Axis, Point
from ...methods.finite_mechanisms import random_law, rational, two_outputs, worst_ratio
from ...methods.rational import at_most
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, search, smallest, statement

#: The laws along a chain, and ``exp(epsilon)`` of every step.
Chain = tuple[list[Law], list[Fraction]]
#: The total delta from ``exp(epsilon)`` and delta of every step.
Total = Callable[[Sequence[Fraction], Sequence[Fraction]], Fraction]


def before(factors: Sequence[Fraction], deltas: Sequence[Fraction]) -> Fraction:
    """Return ``sum_i delta_i prod_(j < i) exp(epsilon_j)``, as printed in both directions."""
    return sum((delta * prod(factors[:i], start=Fraction(1)) for i, delta in enumerate(deltas)), Fraction(0))


def after(factors: Sequence[Fraction], deltas: Sequence[Fraction]) -> Fraction:
    """Return ``sum_i delta_i prod_(j > i) exp(epsilon_j)``."""
    return before(factors[::-1], deltas[::-1])


def plain(factors: Sequence[Fraction], deltas: Sequence[Fraction]) -> Fraction:
    """Return the sum of the deltas."""
    return sum(deltas, Fraction(0))


def chain(case: Case) -> Chain:
    """Return the chain of a case."""
    kind, k = case.text("chain"), case.whole("k")
    # steps (0, 1/8) and (log 4, 0): back from the end the first point gives 1/2
    told = [check_law([0, 1]), check_law([Fraction(1, 8), Fraction(7, 8)]), check_law([Fraction(1, 2)] * 2)]
    if kind == "tell, then scale":
        return told, [Fraction(1), Fraction(4)]
    if kind == "scale, then tell":  # the same backwards: attains the printed delta on the way out
        return told[::-1], [Fraction(4), Fraction(1)]
    seed = case.whole("seed")
    factors = [Fraction(1) + Fraction(i * seed % 5, 4) for i in range(1, k + 1)]
    return [random_law(4, seed, 20 + i) for i in range(k + 1)], factors


#: Probabilities of two outputs along a chain of three data sets, and both ``exp(epsilon) - 1``.
BOX = {
    **{f"law {i}": Axis(0.0, 1.0, log=False) for i in range(3)},
    **{f"exp(epsilon_{i}) - 1": Axis(0.0, 3.0, log=False) for i in (1, 2)},
}


def at_point(point: Point) -> Chain:
    """Return the chain of a point of the box, as rationals."""
    *laws, one, two = (rational(point[name]) for name in BOX)
    return [two_outputs(p) for p in laws], [1 + one, 1 + two]


def _ends(case: Case, budget: Budget, *, total: Total, back: bool = False, share: Fraction = Fraction(1)) -> Evidence:
    """Decide the exact delta between the ends of the chain, out or back, against ``share`` of the total."""

    def sides(chain: Chain) -> tuple[Fraction, Fraction]:
        laws, factors = chain
        deltas = [smallest_delta(a, b, f) for a, b, f in zip(laws[:-1], laws[1:], factors, strict=True)]
        start, end = (laws[-1], laws[0]) if back else (laws[0], laws[-1])
        return hockey_stick(start, end, prod(factors, start=Fraction(1))), total(factors, deltas) * share

    if case.role is Role.ADVERSARIAL:
        return worst_ratio("delta between the ends of the chain", BOX, lambda point: sides(at_point(point)), budget)
    value, bound = sides(chain(case))
    return at_most("delta between the ends of the chain", value, bound, in_domain=bound < 1)


TELL, SCALE = {"chain": "tell, then scale", "k": 2}, {"chain": "scale, then tell", "k": 2}
RANDOM = over("random chains", {"chain": ("random",), "k": (1, 2, 3, 5), "seed": tuple(range(1, 13))}, quick_every=7)
CUT = Fraction(19, 20)


def _formula(first: str, second: str, range_: str) -> str:
    return (
        f"Pr_({first}) (S) <= e^(epsilon_1 + ... + epsilon_k) Pr_({second}) (S) + tilde(delta), quad "
        f"tilde(delta) = sum_(i=1)^k delta_i product_({range_}) e^(epsilon_j)"
    )


SMALLER, LARGER = "Z", "[Z, z_(1:k)]"

STATEMENT = statement(
    "W19-F2.6.4",
    domain="epsilon_i, delta_i hold in both directions between [Z, z_(1:i-1)] and [Z, z_(1:i)]. Counted where the summed delta is below 1",
    summary="The way out is right and tight; on the way back the products must run over the later steps.",
    derivation="docs/derivations/wang2019_facts.md, section 1",
    displays={
        "#out": Display(
            "from Z to the larger data set",
            printed=Form(
                _formula(SMALLER, LARGER, "j < i"),
                partial(_ends, total=before),
                [At("equality", SCALE), At("the chain that refutes the way back", TELL), *RANDOM, search(quick=False)],
            ),
            mutants={
                "deltas added without factors": Mutant(_ends, SCALE, total=plain),
                "delta cut by 5 %": Mutant(_ends, SCALE, severity=0.05, total=before, share=CUT),
            },
        ),
        "#back": Display(
            "from the larger data set to Z",
            printed=Form(
                _formula(LARGER, SMALLER, "j < i"),
                partial(_ends, total=before, back=True),
                [smallest("two outputs, steps (0, 1/8) and (log 4, 0)", TELL), search(quick=False)],
            ),
            corrected=Form(
                _formula(LARGER, SMALLER, "j > i"),
                partial(_ends, total=after, back=True),
                [
                    smallest("the case that refutes the printed form, with equality", TELL),
                    At("the chain the other way", SCALE),
                    *RANDOM,
                    search(quick=False),
                ],
            ),
            wrong="The delta of the way out is printed for the way back too, where the steps come in the other order.",
            mutants={
                "deltas added without factors": Mutant(_ends, TELL, total=plain, back=True),
                "delta cut by 5 %": Mutant(_ends, TELL, severity=0.05, total=after, back=True, share=CUT),
            },
        ),
    },
)
