"""W18, Lemma 15: from a two-sided tail of the log ratio to both inequalities of (epsilon, delta).

The lemma does not say under which law the tail is taken. Under p alone only the first inequality follows; under the law on
the left of each inequality both do (docs/derivations/wang2018_appendix_ef.md, section 1).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product

from mechanisms.laws.finite_laws import Law, check_law, hockey_stick

from ...methods.finite_mechanisms import random_law
from ...methods.rational import at_most
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, smallest, statement

#: What the two deltas are made of, from the tails under p and under p'.
Deltas = Callable[[Fraction, Fraction], tuple[Fraction, Fraction]]


def outside(law: Law, p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the probability under ``law`` that the ratio of p to q is above ``factor`` or below its inverse."""
    return sum((m for m, a, b in zip(law, p, q, strict=True) if a > factor * b or b > factor * a), Fraction(0))


def both(first: Fraction, second: Fraction) -> tuple[Fraction, Fraction]:
    """Take each tail under the law on the left of its inequality."""
    return first, second


def _share(p: Law, q: Law, factor: Fraction, deltas: Deltas) -> tuple[Fraction, Fraction]:
    """Return the worst of both divergences against its delta: the pair with the largest excess."""
    first, second = deltas(outside(p, p, q, factor), outside(q, p, q, factor))
    pairs = ((hockey_stick(p, q, factor), first), (hockey_stick(q, p, factor), second))
    return max(pairs, key=lambda pair: (pair[0] - pair[1], pair[0]))


def _inequalities(case: Case, *, deltas: Deltas = both) -> Evidence:
    """Decide both inequalities at once, for one pair of laws or for all pairs with a common denominator."""
    factor = Fraction(case.number("exp(t)"))
    if "denominator" in case.params:
        whole = case.whole("denominator")
        laws = [
            check_law([Fraction(v, whole) for v in w]) for w in product(range(whole + 1), repeat=3) if sum(w) == whole
        ]
        shares = [_share(p, q, factor, deltas) for p in laws for q in laws]
        value, bound = max(shares, key=lambda pair: (pair[0] - pair[1], pair[0]))
        return at_most("worst divergence over its delta, all pairs of laws", value, bound)
    if case.text("laws") == "small":
        p, q = check_law([Fraction(1, 64), Fraction(63, 64)]), check_law([Fraction(1, 2), Fraction(1, 2)])
    elif case.text("laws") == "impossible":
        p, q = check_law([Fraction(1, 4), Fraction(3, 4)]), check_law([0, 1])
    else:
        p, q = (random_law(case.whole("outputs"), case.whole("seed"), i) for i in (1, 2))
    return at_most("worst divergence over its delta", *_share(p, q, factor, deltas))


SMALL = {"laws": "small", "exp(t)": 2.0}
SHARP = {"laws": "impossible", "exp(t)": 2.0}
WORDS = "p = (1/64, 63/64), p' = (1/2, 1/2), exp(t) = 2: the tail is 1/64 under p, 1/2 under p'"
FACTORS = (1.0, 1.25, 2.0, 8.0)
COUNTER = smallest(WORDS, SMALL)
LAWS = [
    At("equality", SHARP),
    *over(
        "finite laws, impossible outputs among them",
        {"laws": ("random",), "outputs": (2, 3, 8), "seed": (1, 2, 3, 4), "exp(t)": FACTORS},
        quick_every=5,
    ),
    *over("all laws on three points", {"denominator": (6,), "exp(t)": FACTORS}),
]
MUTANTS = {
    "delta cut by 5 %": Mutant(
        _inequalities, SHARP, severity=0.05, deltas=lambda p, q: (Fraction(19, 20) * p, Fraction(19, 20) * q)
    ),
    "smaller of the two tails": Mutant(_inequalities, SMALL, deltas=lambda p, q: (min(p, q), min(p, q))),
}
_TWO = "PP_p (cal(S)) <= e^t PP_(p') (cal(S)) + delta, quad PP_(p') (cal(S)) <= e^t PP_p (cal(S)) + delta quad forall cal(S)"
_LOG = "abs(log p(theta)/(p'(theta))) > t"

STATEMENT = statement(
    "W18-L15",
    domain="Any two laws, t >= 0. Decided exactly on finite laws: all pairs on three points with denominator 6, random ones",
    summary="The law of theta in the hypothesis is not named. Under p alone the second inequality fails; under the law on each left side "
    "the lemma is true, and tight where the other law vanishes. (Its proof has unions where intersections are meant.)",
    derivation="docs/derivations/wang2018_appendix_ef.md, section 1",
    displays={
        "@a": Display(
            "reading: theta drawn from p",
            Form(f"PP_p ({_LOG}) <= delta ==> {_TWO}", partial(_inequalities, deltas=lambda p, q: (p, p)), [COUNTER]),
            Form(f"max{{PP_p ({_LOG}), PP_(p') ({_LOG})}} <= delta ==> {_TWO}", _inequalities, [COUNTER, *LAWS]),
            "The second inequality needs the tail under p': what is rare under p need not be rare under p'.",
            MUTANTS,
        ),
        "@b": Display(
            "reading: under the law on the left of each inequality",
            Form(
                f"PP_p ({_LOG}) <= delta, PP_(p') ({_LOG}) <= delta ==> {_TWO}",
                _inequalities,
                [At(WORDS, SMALL), *LAWS],
            ),
            mutants=MUTANTS,
        ),
    },
)
