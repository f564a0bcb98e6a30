"""W19, Lemma B.6: a tail bound on the privacy loss gives one inequality of (epsilon, delta).

The smallest delta of the inequality is the hockey-stick divergence, which is at most the tail: exact on finite laws in
rational arithmetic (``exp(t)`` rational), and on Gaussian profiles in ball arithmetic.
"""

from fractions import Fraction

from audits import Estimate
from mechanisms import Direction, GaussianProfile
from mechanisms.laws.finite_laws import Law, check_law, hockey_stick

from ...methods.finite_mechanisms import random_law
from ...methods.rational import at_most
from ..kit import At, Case, Claim, Evidence, Form, Mutant, Observer, over, statement


def laws(case: Case) -> tuple[Law, Law]:
    """Return the two laws of a case."""
    if case.params["laws"] == "one output impossible":
        return check_law([Fraction(1, 4), Fraction(3, 4)]), check_law([0, 1])
    if case.params["laws"] == "ratio equal to exp(t)":  # p = 2 p' on the first output
        return check_law([Fraction(1, 2), Fraction(1, 2)]), check_law([Fraction(1, 4), Fraction(3, 4)])
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 1), random_law(n, seed, 2)


def _finite(case: Case, *, under_second: bool = False, share: Fraction = Fraction(1)) -> Evidence:
    """Decide the hockey-stick divergence against ``share`` of the tail of the loss, under p (or p')."""
    p, q = laws(case)
    factor = Fraction(case.number("exp(t)"))
    tail = sum((m for m, a, b in zip(q if under_second else p, p, q, strict=True) if a > factor * b), Fraction(0))
    return at_most("largest P(S) - exp(t) P'(S) against P(loss > t)", hockey_stick(p, q, factor), tail * share)


def _divergence(case: Case) -> Evidence:
    """Decide the same on two normal laws, or on finite ones."""
    if "mu" not in case.params:
        return _finite(case)
    profile, t = GaussianProfile(case.number("mu")), case.number("t")
    delta, above = profile.delta_bracket(t, Direction.FORWARD), profile.tail_bracket(t, Direction.FORWARD)
    claim = Claim("hockey-stick divergence at t, Gaussian laws", 0.0, above.low, above.mid, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(delta.low, delta.high, "ball arithmetic"))


SHARP = {"laws": "one output impossible", "exp(t)": 2.0}
FINITE = {"laws": ("random",), "outputs": (2, 3, 8), "seed": (1, 2, 3, 4), "exp(t)": (1.0, 1.25, 2.0, 8.0)}
NORMAL = {"mu": (0.25, 0.5, 3.0), "t": (-1.0, 0.0, 0.5, 5.0)}

STATEMENT = statement(
    "W19-LB.6",
    domain="Any two densities p, p' (p' may vanish), any t; one inequality only: the other direction needs the tail under p'",
    summary="True, and tight where p' vanishes on the event; elsewhere the tail is larger than the exact delta. The lemma gives one "
    "direction: the paper's pDP needs the same tail bound under both data sets.",
    title="tail bound to one inequality",
    printed=Form(
        "Pr_p (log p(theta)/(p'(theta)) > t) <= delta ==> Pr_p (cal(S)) <= e^t Pr_(p') (cal(S)) + delta quad forall cal(S)",
        _divergence,
        [
            At("equality", SHARP),
            At("the loss equals t", {"laws": "ratio equal to exp(t)", "exp(t)": 2.0}),
            At("negative t", {"laws": "random", "outputs": 4, "seed": 9, "exp(t)": 0.5}),
            *over("finite laws, impossible outputs among them", FINITE, quick_every=5),
            *over("Gaussian laws", NORMAL, quick_every=3),
        ],
    ),
    mutants={
        "delta cut by 5 %": Mutant(_finite, SHARP, severity=0.05, share=Fraction(19, 20)),
        "tail under p'": Mutant(_finite, SHARP, under_second=True),
    },
)
