"""RW21, Example 4: a counting query with Gaussian noise, and what publishing the ex-post loss gives away.

All of it is decided in rational arithmetic: counts are integers, outcomes and variances rational numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from audits import Budget, Estimate

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "RW21-E4"
LOSS, SOLVED, INTEGER, FOOTNOTE = (f"{ID}.{i}" for i in range(1, 5))
HALF = Fraction(1, 2)


def exact_loss(outcome: Fraction, count: int, other: int, variance: Fraction) -> Fraction:
    """Return ``|log p_D(o) - log p_D'(o)|`` from the two normal exponents."""
    return abs((outcome - other) ** 2 / (2 * variance) - (outcome - count) ** 2 / (2 * variance))


#: Versions of E4.1.
LOSSES: dict[str, Callable[[Fraction, int, int, Fraction], Fraction]] = {
    "printed": lambda o, q, r, v: abs(Fraction(q - r)) * abs(2 * o - q - r) / (2 * v),
    "o for 2 o": lambda o, q, r, v: abs(Fraction(q - r)) * abs(o - q - r) / (2 * v),
    "no 2 in the denominator": lambda o, q, r, v: abs(Fraction(q - r)) * abs(2 * o - q - r) / v,
    "1 % too large": lambda o, q, r, v: Fraction(101, 100) * abs(Fraction(q - r)) * abs(2 * o - q - r) / (2 * v),
}
#: Versions of E4.2: the two solutions, from outcome, variance and loss.
SOLUTIONS: dict[str, Callable[[Fraction, Fraction, Fraction], tuple[Fraction, Fraction]]] = {
    "printed": lambda o, v, e: (o - HALF + v * e, o - HALF - v * e),
    "plus a half": lambda o, v, e: (o + HALF + v * e, o + HALF - v * e),
    "half the variance": lambda o, v, e: (o - HALF + v * e / 2, o - HALF - v * e / 2),
    "loss 1 % too large": lambda o, v, e: (o - HALF + v * e * 101 / 100, o - HALF - v * e * 101 / 100),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    outcome, variance = Fraction(case.text("o")), Fraction(case.text("variance"))
    count = case.whole("Q")
    if case.part == LOSS:
        other = case.whole("Q'")
        value = LOSSES[version_name(case)](outcome, count, other, variance)
        return _equal("printed loss minus exact loss", value - exact_loss(outcome, count, other, variance))
    loss = exact_loss(outcome, count, count + 1, variance)
    if case.part == SOLVED:
        both = SOLUTIONS[version_name(case)](outcome, variance, loss)
        return _equal("distance of Q(D) from the nearer solution", min(abs(each - count) for each in both))
    both = SOLUTIONS["printed"](outcome, variance, loss)
    if case.part == FOOTNOTE:
        stated = sorted((Fraction(case.text("first")), Fraction(case.text("second"))))
        gaps = (abs(a - b) for a, b in zip(sorted(both), stated, strict=True))
        return _equal("largest deviation of the two possibilities from the stated ones", max(gaps))
    in_domain = {
        "printed": True,
        "corrected": (2 * outcome).denominator > 1,
        "any o that is no integer": outcome.denominator > 1,
    }[version_name(case)]
    return _equal("solutions that are integers", Fraction(sum(each.denominator == 1 for each in both)), 1, in_domain)


def _equal(quantity: str, value: Fraction, target: int = 0, in_domain: bool = True) -> Evidence:
    near = float(value)  # a rational number other than the target never rounds to it here: all are small
    claim = Claim(quantity, target, target, target, in_domain=in_domain, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(near, near, "rational arithmetic"))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    outcomes = ("1", "1/10", "-7/3", "1000001/1000", "0")
    variances = ("1/1000000", "1", "9/4", "10000")
    some: dict[str, Value] = {"o": "1/10", "variance": "9/4", "Q": 3}
    cases = [
        *grid(
            LOSS,
            printed,
            {"o": outcomes, "variance": variances, "Q": (0, 1000), "Q'": (0, 1, 999)},
            regime="outcomes, variances, counts",
            quick_every=17,
        ),
        *(mutant(LOSS, name, some | {"Q'": 4}, severity=0.01 if "%" in name else None) for name in list(LOSSES)[1:]),
        *grid(
            SOLVED,
            printed,
            {"o": outcomes, "variance": variances, "Q": (0, 3, 1000)},
            regime="outcomes, variances, counts",
            quick_every=7,
        ),
        *(mutant(SOLVED, name, some, severity=0.01 if "%" in name else None) for name in list(SOLUTIONS)[1:]),
    ]
    running: dict[str, Value] = {"o": "1", "variance": "1", "Q": 0}
    usual = {"o": ("1/10", "-7/3", "1000001/1000", "11/10"), "variance": ("1", "9/4"), "Q": (0, 1, 1000)}
    cases += [
        case(INTEGER, printed, running, role=Role.COUNTEREXAMPLE, regime="the text's own outcome"),
        *grid(INTEGER, printed, usual, regime="2 o no integer: probability 1", quick_every=5),
        case(INTEGER, corrected, running, role=Role.COUNTEREXAMPLE, regime="the text's own outcome"),
        *grid(INTEGER, corrected, usual, regime="2 o no integer: probability 1", quick_every=5),
        mutant(INTEGER, "any o that is no integer", running | {"o": "1/2"}),
    ]
    footnote: dict[str, Value] = {"o": "1/10", "variance": "1", "Q": 0, "first": "0"}
    cases += [
        case(FOOTNOTE, printed, footnote | {"second": "-4/5", "variance": v}, regime="the footnote") for v in variances
    ]
    cases.append(mutant(FOOTNOTE, "second possibility -0.9", footnote | {"second": "-9/10"}))
    return tuple(cases)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="example",
    title="What a published ex-post loss gives away",
    locator="Example 4, section 2.2, footnote 1",
    domain="Counting query Q, Gaussian noise of variance sigma^2 > 0, one record added so that Q grows by 1, every real o",
    summary=(
        "The attack is right for almost every outcome, and the footnote's numbers are right. The outcome that the text "
        "gives the attacker, o = 1, is one of the exceptions of probability 0: both solutions, Q and 1 - Q, are integers."
    ),
    parts=(
        Part(
            LOSS,
            "ex-post loss of the counting query",
            Formula(
                "epsilon(o, D, D_(plus.minus z)) = (abs(Q(D) - Q(D_(plus.minus z))) abs(2 o - Q(D) - Q(D_(plus.minus z))))/(2 sigma^2)",
                "epsilon(o, D, D_{+-z}) = |Q(D) - Q(D_{+-z})| |2 o - Q(D) - Q(D_{+-z})| / (2 sigma^2)",
            ),
        ),
        Part(
            SOLVED,
            "solved for the count",
            Formula(
                "Q(D) = o - 0.5 plus.minus sigma^2 epsilon(o, D, D_(+z))",
                "Q(D) = o - 0.5 +- sigma^2 epsilon(o, D, D_{+z})",
            ),
        ),
        Part(
            INTEGER,
            "only one solution is an integer; the text's attacker receives o = 1",
            printed=Formula(
                'Pr["exactly one solution is in" ZZ] = 1, quad o = 1',
                "with probability 1 exactly one solution is an integer; o = 1",
            ),
            corrected=Formula(
                '2 o in.not ZZ ==> "exactly one solution is in" ZZ',
                "if 2 o is not an integer (probability 1), exactly one solution is an integer",
            ),
            what_went_wrong=(
                "The solutions are Q and 2 o - 1 - Q, so both are integers exactly when 2 o is one; that has probability "
                "0, but the outcome o = 1 of the text is such a case, where Q = 0 and Q = 1 cannot be told apart."
            ),
            derivation="docs/derivations/redberg_wang2021.md, Example 4",
        ),
        Part(
            FOOTNOTE,
            "the footnote's instance",
            Formula(
                'Q(D) = 0, o = 0.1: quad "the possibilities are" 0 "and" -0.8',
                "Q(D) = 0, o = 0.1: possibilities 0 and -0.8",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
