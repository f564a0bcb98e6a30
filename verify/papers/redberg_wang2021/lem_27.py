"""RW21, Lemma 27: from tails of the log ratio to privacy, exact on finite laws (``exp(epsilon)`` rational).

L27.2 tests the same event under both laws, where the other direction needs the opposite tail; the proof line takes
sub-events of the bad event where it needs sub-events of its complement.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from mechanisms.laws.finite_laws import Law, check_law, hockey_stick

from ...methods.finite_mechanisms import random_law
from ...methods.rational import at_most
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, refuting, smallest, statement


def laws(case: Case) -> tuple[Law, Law, Fraction]:
    """Return the two laws of a case and ``exp(epsilon)``."""
    factor = Fraction(case.number("exp(epsilon)"))
    if "seed" not in case.params:  # one law spreads over an output that the other never gives
        sure, spread = check_law([1, 0]), check_law([Fraction(1, 2), Fraction(1, 2)])
        return (spread, sure, factor) if case.params.get("p") == "spread" else (sure, spread, factor)
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 3), random_law(n, seed, 4), factor


def above(weights: Law, p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return ``P_weights(log(p/q) > epsilon)``."""
    return sum((w for w, s, t in zip(weights, p, q, strict=True) if s > factor * t), Fraction(0))


def _one_direction(case: Case, *, cut: Fraction = Fraction(1)) -> Evidence:
    """Compare the smallest true delta with the tail, in one direction."""
    p, q, factor = laws(case)
    promised = cut * above(p, p, q, factor)
    return at_most("P(S) - exp(eps) P'(S) against the tail", hockey_stick(p, q, factor), promised)


def _both_directions(case: Case, *, second: Callable[[Law, Law, Fraction], Fraction]) -> Evidence:
    """Compare the smallest delta that is true in both directions with the larger tail, the ``second`` under the second law."""
    p, q, factor = laws(case)
    both = max(hockey_stick(p, q, factor), hockey_stick(q, p, factor))
    promised = max(above(p, p, q, factor), second(p, q, factor))
    return at_most("delta of both directions against the larger tail", both, promised)


def _worst_event(case: Case, *, inside: Callable[[bool, bool], bool]) -> Evidence:
    """Find the largest ``P(E~) - exp(t) P'(E~)`` over events of outputs ``inside`` (ratio too large, too small).

    It is attained by the outputs that contribute something positive.
    """
    p, q, factor = laws(case)
    chosen = [(a, b) for a, b in zip(p, q, strict=True) if inside(a > factor * b, b > factor * a)]
    worst = sum((max(a - factor * b, Fraction(0)) for a, b in chosen), Fraction(0))
    return at_most("largest P(E~) - exp(t) P'(E~)", worst, Fraction(0))


FINITE = {"outputs": (2, 3, 6), "seed": (1, 2, 3, 4), "exp(epsilon)": (1.0, 1.25, 2.0, 8.0)}
SMALL, WIDE, SPREAD = {"exp(epsilon)": 2.0}, {"exp(epsilon)": 1.25}, {"exp(epsilon)": 2.0, "p": "spread"}
ONE_LAW = {"tail of one law only": Mutant(_both_directions, SMALL, second=lambda p, q, factor: Fraction(0))}
LAWS = over("finite laws", FINITE, quick_every=9)

STATEMENT = statement(
    "RW21-L27",
    derivation="docs/derivations/redberg_wang2021_lemmas.md, Lemma 27",
    domain="epsilon(o) = log p(o)/p'(o), any epsilon and delta; decided exactly on finite laws, impossible outputs among them",
    summary="L27.0 and L27.1 are true. L27.2 asks for the same tail under both laws, which leaves the other direction unprotected: "
    "p = (1, 0), p' = (1/2, 1/2) satisfies it with delta = 0 and epsilon = log 2 and is not private.",
    displays={
        ".0": Display(
            printed=Form(
                "Pr_p (epsilon(o) > epsilon) <= delta ==> Pr_p (theta in S) <= e^epsilon Pr_(p') (theta in S) + delta",
                _one_direction,
                [At("equality", SPREAD), *LAWS],
            ),
            mutants={"delta cut by 5 %": Mutant(_one_direction, SPREAD, severity=0.05, cut=Fraction(19, 20))},
        ),
        ".1": Display(
            printed=Form(
                'Pr_p (epsilon(o) > epsilon) <= delta quad "for all neighbours" ==> (epsilon, delta)"-DP"',
                partial(_both_directions, second=lambda p, q, factor: above(q, q, p, factor)),
                over("finite laws, both directions", FINITE, quick_every=9),
            ),
            mutants=ONE_LAW,
        ),
        ".2": Display(
            printed=Form(
                'Pr_p (epsilon(o) > epsilon) <= delta, quad Pr_(p\') (-epsilon(o) < -epsilon) <= delta ==> (epsilon, delta)"-pDP"',
                partial(_both_directions, second=lambda p, q, factor: above(q, p, q, factor)),
                [smallest("p = (1, 0), p' = (1/2, 1/2), exp(epsilon) = 2", SMALL)],
            ),
            corrected=Form(
                'Pr_p (epsilon(o) > epsilon) <= delta, quad Pr_(p\') (-epsilon(o) > epsilon) <= delta ==> (epsilon, delta)"-pDP"',
                partial(_both_directions, second=lambda p, q, factor: above(q, q, p, factor)),
                [refuting(SMALL), *LAWS],
            ),
            wrong="A sign: -epsilon(o) < -epsilon is the event epsilon(o) > epsilon again; the other direction needs -epsilon(o) > epsilon.",
            mutants=ONE_LAW,
        ),
        ".p": Display(
            printed=Form(
                "E = {abs(epsilon(theta)) > t}: quad Pr_p (tilde(E)) <= e^t Pr_(p') (tilde(E)) quad forall tilde(E) subset E",
                partial(_worst_event, inside=lambda large, small: large or small),
                [smallest("p = (1, 0), p' = (1/2, 1/2), exp(t) = 5/4", WIDE)],
            ),
            corrected=Form(
                "E = {abs(epsilon(theta)) > t}: quad Pr_p (tilde(E)) <= e^t Pr_(p') (tilde(E)) quad forall tilde(E) subset E^c",
                partial(_worst_event, inside=lambda large, small: not (large or small)),
                [refuting(WIDE), *LAWS],
            ),
            wrong="On the bad event itself the ratio exceeds exp(t); the inequality holds on its complement.",
            mutants={
                "bad event in one direction": Mutant(
                    _worst_event, {"outputs": 6, "seed": 5, "exp(epsilon)": 1.25}, inside=lambda large, small: not small
                )
            },
        ),
    },
)
