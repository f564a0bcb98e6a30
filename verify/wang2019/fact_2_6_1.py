"""W19, Fact 2.6 (1): simple composition of two mechanisms, exact on finite laws in rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from audits import Budget
from mechanisms.finite_laws import Law, check_law, product, smallest_delta

from ..cases import adversarial, grid, mutant
from ..formal import version_name
from ..search import Axis, Point, worst_point
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .lem_b_6 import random_law
from .rational import at_most

ID = "W19-F2.6.1"


def response(factor: Fraction, delta: Fraction) -> tuple[Law, Law]:
    """Return randomised response: with probability ``delta`` it tells the data set, else at the odds ``factor``."""
    rest = (1 - delta) / (1 + factor)
    first = check_law([delta, rest * factor, rest, 0])
    return first, first[::-1]


#: Probabilities of two outputs without and with the target, and both ``exp(epsilon) - 1``: what the search looks through.
BOX = {
    **{f"{law} of mechanism {i}": Axis(0.0, 1.0, log=False) for i in (1, 2) for law in ("first law", "second law")},
    **{f"exp(epsilon_{i}) - 1": Axis(0.0, 2.0, log=False) for i in (1, 2)},
}
Laws = tuple[Law, Law]


def searched(point: Point) -> tuple[Laws, Laws, Fraction, Fraction]:
    """Return the laws of both mechanisms and both ``exp(epsilon)`` of a point of the box, as rationals."""
    p1, q1, p2, q2, one, two = (Fraction(round(point[name] * 4096), 4096) for name in BOX)
    return (pair(p1), pair(q1)), (pair(p2), pair(q2)), 1 + one, 1 + two


def pair(p: Fraction) -> Law:
    """Return the law of two outputs."""
    return check_law([p, 1 - p])


def sides(first: Laws, second: Laws, one: Fraction, two: Fraction, version: str) -> tuple[Fraction, Fraction]:
    """Return the exact delta of the joint output, and the stated sum (or a mutant of either)."""
    deltas = smallest_delta(*first, one), smallest_delta(*second, two)
    total = {"larger delta only": max(deltas), "delta cut by 5 %": sum(deltas, Fraction(0)) * Fraction(19, 20)}
    factor = {"one epsilon": max(one, two), "exp(epsilon) cut by 5 %": one * two * Fraction(19, 20)}
    joint = [product(a, b) for a, b in zip(first, second, strict=True)]
    value = smallest_delta(joint[0], joint[1], factor.get(version, one * two))
    return value, total.get(version, sum(deltas, Fraction(0)))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the exact delta of the joint output at ``exp(epsilon_1 + epsilon_2)`` against the sum of the deltas."""
    version = version_name(case)
    if case.role is Role.ADVERSARIAL:

        def ratio(point: Point) -> float:
            value, total = sides(*searched(point), version)
            return float(value / total) if 0 < total < 1 else 0.0

        point = worst_point(BOX, ratio, budget, n_starts=48)
        value, total = sides(*searched(point), version)
        return replace(at_most("delta of the joint output", value, total, in_domain=total < 1), found=point)
    one, two = Fraction(case.number("exp(epsilon_1)")), Fraction(case.number("exp(epsilon_2)"))
    if case.params["laws"] == "randomised response":
        delta = Fraction(case.number("delta"))
        first, second = response(one, delta), response(two, delta)
    else:
        n, seed = case.whole("outputs"), case.whole("seed")
        first = random_law(n, seed, 1), random_law(n, seed, 2)
        second = random_law(n, seed, 3), random_law(n, seed, 4)
    value, total = sides(first, second, one, two, version)
    return at_most("delta of the joint output", value, total, in_domain=total < 1)


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
        adversarial(ID, Standing.PRINTED, quick=False),
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
    summary="True and tight: some pairs of laws with two outputs attain the sum; randomised response attains delta_1 + delta_2 - delta_1 delta_2.",
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
