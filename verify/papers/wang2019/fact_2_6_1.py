"""W19, Fact 2.6 (1): simple composition of two mechanisms, exact on finite laws in rational arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from audits import Budget
from mechanisms.laws.finite_laws import Law, check_law, product, smallest_delta

from ...kernel.box_search import Axis, Point
from ...methods.finite_mechanisms import random_law, rational, two_outputs, worst_ratio
from ...methods.rational import at_most
from ..kit import Case, Evidence, Form, Mutant, Role, over, search, statement

Laws = tuple[Law, Law]
CUT = Fraction(19, 20)


@dataclass(frozen=True)
class TwoMechanisms:
    """TwoMechanisms mechanisms, each by its laws without and with the target, and the ``exp(epsilon)`` of each."""

    first: Laws
    second: Laws
    factors: tuple[Fraction, Fraction]

    def deltas(self) -> tuple[Fraction, Fraction]:
        """Return the smallest delta of each."""
        return smallest_delta(*self.first, self.factors[0]), smallest_delta(*self.second, self.factors[1])

    def joint_delta(self, factor: Fraction) -> Fraction:
        """Return the smallest delta of the joint output at ``exp(epsilon) = factor``."""
        without, within = (product(a, b) for a, b in zip(self.first, self.second, strict=True))
        return smallest_delta(without, within, factor)


#: Probabilities of two outputs without and with the target, and both ``exp(epsilon) - 1``: what the search looks through.
BOX = {
    **{f"{law} of mechanism {i}": Axis(0.0, 1.0, log=False) for i in (1, 2) for law in ("first law", "second law")},
    **{f"exp(epsilon_{i}) - 1": Axis(0.0, 2.0, log=False) for i in (1, 2)},
}


def at_point(point: Point) -> TwoMechanisms:
    """Return the mechanisms of a point of the box, as rationals."""
    p1, q1, p2, q2, one, two = (rational(point[name]) for name in BOX)
    return TwoMechanisms((two_outputs(p1), two_outputs(q1)), (two_outputs(p2), two_outputs(q2)), (1 + one, 1 + two))


def response(factor: Fraction, delta: Fraction) -> Laws:
    """Return randomised response: with probability ``delta`` it tells the data set, else at the odds ``factor``."""
    rest = (1 - delta) / (1 + factor)
    law = check_law([delta, rest * factor, rest, 0])
    return law, law[::-1]


def of_case(case: Case) -> TwoMechanisms:
    """Return the mechanisms of a case."""
    factors = Fraction(case.number("exp(epsilon_1)")), Fraction(case.number("exp(epsilon_2)"))
    if case.text("laws") == "randomised response":
        delta = Fraction(case.number("delta"))
        return TwoMechanisms(response(factors[0], delta), response(factors[1], delta), factors)
    n, seed = case.whole("outputs"), case.whole("seed")
    one, other, third, fourth = (random_law(n, seed, k) for k in (1, 2, 3, 4))
    return TwoMechanisms((one, other), (third, fourth), factors)


def added(deltas: tuple[Fraction, Fraction]) -> Fraction:
    """Return the sum of the deltas."""
    return deltas[0] + deltas[1]


def _composed(
    case: Case,
    budget: Budget,
    *,
    total: Callable[[tuple[Fraction, Fraction]], Fraction] = added,
    factor: Callable[[Fraction, Fraction], Fraction] = lambda one, two: one * two,
) -> Evidence:
    """Decide the delta of the joint output at ``factor`` of both ``exp(epsilon)`` against the ``total`` of the deltas."""

    def sides(two: TwoMechanisms) -> tuple[Fraction, Fraction]:
        return two.joint_delta(factor(*two.factors)), total(two.deltas())

    if case.role is Role.ADVERSARIAL:
        return worst_ratio("delta of the joint output", BOX, lambda point: sides(at_point(point)), budget)
    value, bound = sides(of_case(case))
    return at_most("delta of the joint output", value, bound, in_domain=bound < 1)


RANDOM = {
    "laws": ("random",), "outputs": (2, 3, 6), "seed": (1, 2, 3), "exp(epsilon_1)": (1.0, 1.5, 4.0),
    "exp(epsilon_2)": (1.0, 2.0),
}  # fmt: skip
SHARP = {
    "laws": ("randomised response",), "delta": (0.0, 2.0**-40, 2.0**-10, 0.125),
    "exp(epsilon_1)": (1.0, 1.5, 16.0), "exp(epsilon_2)": (1.0, 2.0),
}  # fmt: skip
SMALL = {"laws": "randomised response", "delta": 2.0**-10, "exp(epsilon_1)": 1.5, "exp(epsilon_2)": 2.0}

STATEMENT = statement(
    "W19-F2.6.1",
    domain="One pair (Z, z); A and B run with independent randomness; both directions. Counted where the summed delta is below 1",
    summary="True and tight: some pairs of laws with two outputs attain the sum; randomised response attains delta_1 + delta_2 - delta_1 delta_2.",
    title="joint output of two mechanisms",
    printed=Form(
        '(cal(A), cal(B)) "is" (epsilon_1 + epsilon_2, delta_1 + delta_2)"-pDP"',
        _composed,
        [
            *over("random finite laws", RANDOM, quick_every=7),
            *over("randomised response, the sharpest laws", SHARP, quick_every=3),
            search(quick=False),
        ],
    ),
    mutants={
        "larger delta only": Mutant(_composed, SMALL, total=max),
        "delta cut by 5 %": Mutant(_composed, SMALL, severity=0.05, total=lambda deltas: added(deltas) * CUT),
        "one epsilon": Mutant(_composed, SMALL, factor=max),
        "exp(epsilon) cut by 5 %": Mutant(
            _composed, SMALL | {"delta": 0.0}, severity=0.05, factor=lambda one, two: one * two * CUT
        ),
    },
)
