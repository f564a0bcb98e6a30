"""RW21, Example 4: a counting query with Gaussian noise, and what publishing the ex-post loss gives away.

All of it is decided in rational arithmetic: counts are integers, outcomes and variances rational numbers.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from audits import Estimate

from ..kit import At, Case, Claim, Display, Evidence, Form, Mutant, Observer, over, smallest, statement

HALF = Fraction(1, 2)


def exact_loss(outcome: Fraction, count: int, other: int, variance: Fraction) -> Fraction:
    """Return ``|log p_D(o) - log p_D'(o)|`` from the two normal exponents."""
    return abs((outcome - other) ** 2 / (2 * variance) - (outcome - count) ** 2 / (2 * variance))


def _loss(case: Case, *, twice: int = 2, half: Fraction = HALF, scale: Fraction = Fraction(1)) -> Evidence:
    """Compare ``scale |Q - Q'| |twice o - Q - Q'| half/sigma^2`` with the exact loss."""
    o, variance = Fraction(case.text("o")), Fraction(case.text("variance"))
    q, other = case.whole("Q"), case.whole("Q'")
    stated = scale * abs(Fraction(q - other)) * abs(twice * o - q - other) * half / variance
    return _equal("printed loss minus exact loss", stated - exact_loss(o, q, other, variance))


def solutions(
    case: Case, shift: Fraction = -HALF, scale: Fraction = Fraction(1)
) -> tuple[Fraction, tuple[Fraction, Fraction]]:
    """Return the outcome, and ``o + shift +- scale sigma^2 loss``: both counts that the loss allows."""
    o, variance = Fraction(case.text("o")), Fraction(case.text("variance"))
    step = scale * variance * exact_loss(o, case.whole("Q"), case.whole("Q") + 1, variance)
    return o, (o + shift + step, o + shift - step)


def _solved(case: Case, *, shift: Fraction = -HALF, scale: Fraction = Fraction(1)) -> Evidence:
    _, both = solutions(case, shift, scale)
    return _equal("distance of Q(D) from the nearer solution", min(abs(count - case.whole("Q")) for count in both))


def _integers(case: Case, *, claimed: Callable[[Fraction], bool]) -> Evidence:
    """Count the solutions that are integers, where the version claims that it is one."""
    o, both = solutions(case)
    integers = Fraction(sum(count.denominator == 1 for count in both))
    return _equal("solutions that are integers", integers, 1, claimed(o))


def _stated(case: Case) -> Evidence:
    """Compare both solutions with the stated ones."""
    stated = sorted((Fraction(case.text("first")), Fraction(case.text("second"))))
    gaps = (abs(a - b) for a, b in zip(sorted(solutions(case)[1]), stated, strict=True))
    return _equal("largest deviation of the two possibilities from the stated ones", max(gaps))


def _equal(quantity: str, value: Fraction, target: int = 0, in_domain: bool = True) -> Evidence:
    near = float(value)  # a rational number other than the target never rounds to it here: all are small
    claim = Claim(quantity, target, target, target, in_domain=in_domain, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(near, near, "rational arithmetic"))


VARIANCES = ("1/1000000", "1", "9/4", "10000")
ALL = {"o": ("1", "1/10", "-7/3", "1000001/1000", "0"), "variance": VARIANCES}
USUAL = {"o": ("1/10", "-7/3", "1000001/1000", "11/10"), "variance": ("1", "9/4"), "Q": (0, 1, 1000)}
SOME = {"o": "1/10", "variance": "9/4", "Q": 3}
RUNNING = {"o": "1", "variance": "1", "Q": 0}
FOOTNOTE = {"o": "1/10", "variance": "1", "Q": 0, "first": "0"}
INTEGERS = [smallest("the text's own outcome", RUNNING), *over("2 o no integer: probability 1", USUAL, quick_every=5)]
WORDS, HUNDREDTH = "outcomes, variances, counts", Fraction(101, 100)

STATEMENT = statement(
    "RW21-E4",
    derivation="docs/derivations/redberg_wang2021.md, Example 4",
    domain="Counting query Q, Gaussian noise of variance sigma^2 > 0, one record added so that Q grows by 1, every real o",
    summary="The attack is right for almost every outcome, and the footnote's numbers are right. The outcome that the text "
    "gives the attacker, o = 1, is one of the exceptions of probability 0: both solutions, Q and 1 - Q, are integers.",
    displays={
        ".1": Display(
            printed=Form(
                "epsilon(o, D, D_(plus.minus z)) = (abs(Q(D) - Q(D_(plus.minus z))) abs(2 o - Q(D) - Q(D_(plus.minus z))))/(2 sigma^2)",
                _loss,
                over(WORDS, ALL | {"Q": (0, 1000), "Q'": (0, 1, 999)}, quick_every=17),
            ),
            mutants={
                "o for 2 o": Mutant(_loss, SOME | {"Q'": 4}, twice=1),
                "no 2 in the denominator": Mutant(_loss, SOME | {"Q'": 4}, half=Fraction(1)),
                "1 % too large": Mutant(_loss, SOME | {"Q'": 4}, severity=0.01, scale=HUNDREDTH),
            },
        ),
        ".2": Display(
            printed=Form(
                "Q(D) = o - 0.5 plus.minus sigma^2 epsilon(o, D, D_(+z))",
                _solved,
                over(WORDS, ALL | {"Q": (0, 3, 1000)}, quick_every=7),
            ),
            mutants={
                "plus a half": Mutant(_solved, SOME, shift=HALF),
                "half the variance": Mutant(_solved, SOME, scale=HALF),
                "loss 1 % too large": Mutant(_solved, SOME, severity=0.01, scale=HUNDREDTH),
            },
        ),
        ".3": Display(
            printed=Form(
                'Pr["exactly one solution is in" ZZ] = 1, quad o = 1',
                partial(_integers, claimed=lambda o: True),
                INTEGERS,
            ),
            corrected=Form(
                '2 o in.not ZZ ==> "exactly one solution is in" ZZ',
                partial(_integers, claimed=lambda o: (2 * o).denominator > 1),
                INTEGERS,
            ),
            wrong="The solutions are Q and 2 o - 1 - Q, so both are integers exactly when 2 o is one; that has probability "
            "0, but the outcome o = 1 of the text is such a case, where Q = 0 and Q = 1 cannot be told apart.",
            mutants={
                "any o that is no integer": Mutant(
                    _integers, RUNNING | {"o": "1/2"}, claimed=lambda o: o.denominator > 1
                )
            },
        ),
        ".4": Display(
            printed=Form(
                'Q(D) = 0, o = 0.1: quad "the possibilities are" 0 "and" -0.8',
                _stated,
                [At("the footnote", FOOTNOTE | {"second": "-4/5", "variance": v}) for v in VARIANCES],
            ),
            mutants={"second possibility -0.9": Mutant(_stated, FOOTNOTE | {"second": "-9/10"})},
        ),
    },
)
