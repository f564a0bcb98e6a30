"""W18, Lemma 15: from a two-sided tail of the log ratio to both inequalities of (epsilon, delta).

The lemma does not say under which law the tail is taken. Under p alone only the first inequality follows; under the law on
the left of each inequality both do (docs/derivations/wang2018_appendix_ef.md, section 1).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from audits import Budget
from mechanisms.finite_laws import Law, check_law, hockey_stick

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from ..wang2019.lem_b_6 import random_law
from ..wang2019.rational import at_most

ID = "W18-L15"
OWN, BOTH = f"{ID}@a", f"{ID}@b"


def outside(law: Law, p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the probability under ``law`` that the ratio of p to q is above ``factor`` or below its inverse."""
    return sum((m for m, a, b in zip(law, p, q, strict=True) if a > factor * b or b > factor * a), Fraction(0))


def _share(p: Law, q: Law, factor: Fraction, part: str, version: str) -> tuple[Fraction, Fraction]:
    """Return the worst of both divergences against its delta: the pair with the largest excess."""
    first, second = outside(p, p, q, factor), outside(q, p, q, factor)
    if part == OWN and version == "printed":
        second = first
    if version == "smaller of the two tails":
        first = second = min(first, second)
    scale = Fraction(19, 20) if version == "delta cut by 5 %" else Fraction(1)
    pairs = ((hockey_stick(p, q, factor), first * scale), (hockey_stick(q, p, factor), second * scale))
    return max(pairs, key=lambda pair: (pair[0] - pair[1], pair[0]))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide both inequalities at once, for one pair of laws or for all pairs with a common denominator."""
    factor, version = Fraction(case.number("exp(t)")), version_name(case)
    if "denominator" in case.params:
        whole = case.whole("denominator")
        laws = [
            check_law([Fraction(v, whole) for v in w]) for w in product(range(whole + 1), repeat=3) if sum(w) == whole
        ]
        found = [_share(p, q, factor, case.part, version) for p in laws for q in laws]
        value, bound = max(found, key=lambda pair: (pair[0] - pair[1], pair[0]))
        return at_most("worst divergence over its delta, all pairs of laws", value, bound)
    if case.text("laws") == "small":
        p, q = check_law([Fraction(1, 64), Fraction(63, 64)]), check_law([Fraction(1, 2), Fraction(1, 2)])
    elif case.text("laws") == "impossible":
        p, q = check_law([Fraction(1, 4), Fraction(3, 4)]), check_law([0, 1])
    else:
        p, q = (random_law(case.whole("outputs"), case.whole("seed"), i) for i in (1, 2))
    return at_most("worst divergence over its delta", *_share(p, q, factor, case.part, version))


def _cases() -> tuple[Case, ...]:
    small: dict[str, Value] = {"laws": "small", "exp(t)": 2.0}
    sharp: dict[str, Value] = {"laws": "impossible", "exp(t)": 2.0}
    factors = (1.0, 1.25, 2.0, 8.0)
    axes: dict[str, tuple[Value, ...]] = {
        "laws": ("random",), "outputs": (2, 3, 8), "seed": (1, 2, 3, 4), "exp(t)": factors,
    }  # fmt: skip
    counter = Role.COUNTEREXAMPLE
    words = "p = (1/64, 63/64), p' = (1/2, 1/2), exp(t) = 2: the tail is 1/64 under p, 1/2 under p'"
    out: list[Case] = [case(OWN, Standing.PRINTED, small, role=counter, regime=words)]
    for part, standing in ((OWN, Standing.CORRECTED), (BOTH, Standing.PRINTED)):
        out.append(case(part, standing, small, role=counter if part == OWN else Role.REGIME, regime=words))
        out.append(case(part, standing, sharp, regime="equality"))
        out += grid(part, standing, axes, regime="finite laws, impossible outputs among them", quick_every=5)
        out += grid(part, standing, {"denominator": (6,), "exp(t)": factors}, regime="all laws on three points")
        out += [mutant(part, "delta cut by 5 %", sharp, severity=0.05), mutant(part, "smaller of the two tails", small)]
    return tuple(out)


_TWO = "PP_p (cal(S)) <= e^t PP_(p') (cal(S)) + delta, quad PP_(p') (cal(S)) <= e^t PP_p (cal(S)) + delta quad forall cal(S)"
_PLAIN = "P_p(S) <= exp(t) P_p'(S) + delta and P_p'(S) <= exp(t) P_p(S) + delta for all S"
_LOG = "abs(log p(theta)/(p'(theta))) > t"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="lemma",
    title="From a two-sided tail to (epsilon, delta)",
    locator="Lemma 15, appendix E",
    domain="Any two laws, t >= 0. Decided exactly on finite laws: all pairs on three points with denominator 6, random ones",
    summary=(
        "The law of theta in the hypothesis is not named. Under p alone the second inequality fails; under the law on each left side "
        "the lemma is true, and tight where the other law vanishes. (Its proof has unions where intersections are meant.)"
    ),
    parts=(
        Part(
            OWN,
            "reading: theta drawn from p",
            Formula(f"PP_p ({_LOG}) <= delta ==> {_TWO}", f"P_p(|log p/p'| > t) <= delta implies {_PLAIN}"),
            Formula(
                f"max{{PP_p ({_LOG}), PP_(p') ({_LOG})}} <= delta ==> {_TWO}",
                f"P_p(|log p/p'| > t) <= delta and the same under p' imply {_PLAIN}",
            ),
            "The second inequality needs the tail under p': what is rare under p need not be rare under p'.",
            "docs/derivations/wang2018_appendix_ef.md, section 1",
            reading="a",
        ),
        Part(
            BOTH,
            "reading: under the law on the left of each inequality",
            Formula(
                f"PP_p ({_LOG}) <= delta, PP_(p') ({_LOG}) <= delta ==> {_TWO}",
                f"the tail at most delta under p and under p' implies {_PLAIN}",
            ),
            reading="b",
        ),
    ),
    cases=_cases(),
    check=check,
)
