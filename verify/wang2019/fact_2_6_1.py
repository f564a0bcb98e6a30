"""W19, Fact 2.6 (1): simple composition of two mechanisms, exact on finite laws in rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

from audits import Budget
from mechanisms.finite_laws import Law, check_law, product, smallest_delta

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from .lem_b_6 import random_law
from .rational import at_most

ID = "W19-F2.6.1"


def response(factor: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """Return randomised response: with probability ``delta`` it tells the data set, else at the odds ``factor``."""
    rest = (1 - delta) / (1 + factor)
    first = check_law([delta, rest * factor, rest, 0])
    return first, first[::-1]


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the exact delta of the joint output at ``exp(epsilon_1 + epsilon_2)`` against the sum of the deltas."""
    one, two = Fraction(case.number("exp(epsilon_1)")), Fraction(case.number("exp(epsilon_2)"))
    if case.params["laws"] == "randomised response":
        delta = Fraction(case.number("delta"))
        first, second = response(one, delta), response(two, delta)
    else:
        n, seed = case.whole("outputs"), case.whole("seed")
        first = random_law(n, seed, 1), random_law(n, seed, 2)
        second = random_law(n, seed, 3), random_law(n, seed, 4)
    deltas = smallest_delta(*first, one), smallest_delta(*second, two)
    version = version_name(case)
    total = {"larger delta only": max(deltas), "delta cut by 5 %": sum(deltas) * Fraction(19, 20)}.get(
        version, sum(deltas)
    )
    factor = {"one epsilon": max(one, two), "exp(epsilon) cut by 5 %": one * two * Fraction(19, 20)}.get(
        version, one * two
    )
    joint = [product(a, b) for a, b in zip(first, second, strict=True)]
    value = smallest_delta(joint[0], joint[1], factor)
    return at_most("delta of the joint output", value, Fraction(total), in_domain=total < 1)


def _cases() -> tuple[Case, ...]:
    random: dict[str, tuple[Value, ...]] = {
        "laws": ("random",),
        "outputs": (2, 3, 6),
        "seed": (1, 2, 3),
        "exp(epsilon_1)": (1.0, 1.5, 4.0),
        "exp(epsilon_2)": (1.0, 2.0),
    }
    sharp: dict[str, tuple[Value, ...]] = {
        "laws": ("randomised response",),
        "delta": (0.0, 2.0**-40, 2.0**-10, 0.125),
        "exp(epsilon_1)": (1.0, 1.5, 16.0),
        "exp(epsilon_2)": (1.0, 2.0),
    }
    small: dict[str, Value] = {
        "laws": "randomised response",
        "delta": 2.0**-10,
        "exp(epsilon_1)": 1.5,
        "exp(epsilon_2)": 2.0,
    }
    return (
        *grid(ID, Standing.PRINTED, random, regime="random finite laws", quick_every=7),
        *grid(ID, Standing.PRINTED, sharp, regime="randomised response, the sharpest laws", quick_every=3),
        mutant(ID, "larger delta only", small),
        mutant(ID, "delta cut by 5 %", small, severity=0.05),
        mutant(ID, "one epsilon", small),
        mutant(ID, "exp(epsilon) cut by 5 %", small | {"delta": 0.0}, severity=0.05),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="fact",
    title="Simple composition",
    locator="Fact 2.6 (1)",
    domain="One pair (Z, z); A and B run with independent randomness; both directions. Counted where the summed delta is below 1",
    summary="True and nearly tight: randomised response attains delta_1 + delta_2 - delta_1 delta_2.",
    parts=(
        Part(
            ID,
            "joint output of two mechanisms",
            printed=Formula(
                '(cal(A), cal(B)) "is" (epsilon_1 + epsilon_2, delta_1 + delta_2)"-pDP"',
                "(A, B) is (epsilon_1 + epsilon_2, delta_1 + delta_2)-pDP",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
