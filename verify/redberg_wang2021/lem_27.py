"""RW21, Lemma 27: from tails of the log ratio to privacy, exact on finite laws (``exp(epsilon)`` rational).

L27.2 tests the same event under both laws, where the other direction needs the opposite tail; the proof line takes
sub-events of the bad event where it needs sub-events of its complement.
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

ID = "RW21-L27"
ONE, ALL, BOTH, LINE = f"{ID}.0", f"{ID}.1", f"{ID}.2", f"{ID}.p"


def laws(case: Case) -> tuple[Law, Law]:
    """Return the two laws of a case."""
    if "seed" not in case.params:  # one law spreads over an output that the other never gives
        sure, spread = check_law([1, 0]), check_law([Fraction(1, 2), Fraction(1, 2)])
        return (spread, sure) if case.params.get("p") == "spread" else (sure, spread)
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 3), random_law(n, seed, 4)


def above(weights: Law, p: Law, q: Law, factor: Fraction, *, reverse: bool = False) -> Fraction:
    """Return ``P_weights(log(p/q) > epsilon)``, or of the reversed ratio."""
    a, b = (q, p) if reverse else (p, q)
    return sum((w for w, s, t in zip(weights, a, b, strict=True) if s > factor * t), Fraction(0))


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one part: the smallest delta that is true against the one that the tails promise."""
    p, q = laws(case)
    factor, version = Fraction(case.number("exp(epsilon)")), version_name(case)
    cut = Fraction(19, 20) if version == "delta cut by 5 %" else Fraction(1)
    if case.part == LINE:
        return _line(case, p, q, factor)
    if case.part == ONE:
        return at_most(
            "P(S) - exp(eps) P'(S) against the tail", hockey_stick(p, q, factor), cut * above(p, p, q, factor)
        )
    both = max(hockey_stick(p, q, factor), hockey_stick(q, p, factor))
    forward = above(p, p, q, factor)
    backward = (
        above(q, p, q, factor) if version == "printed" and case.part == BOTH else above(q, p, q, factor, reverse=True)
    )
    promised = forward if version == "tail of one law only" else cut * max(forward, backward)
    return at_most("delta of both directions against the larger tail", both, promised)


def _line(case: Case, p: Law, q: Law, factor: Fraction) -> Evidence:
    """Find the largest ``P(E~) - exp(t) P'(E~)`` over sub-events of the bad event (printed), or of its complement."""
    bad = [a > factor * b or b > factor * a for a, b in zip(p, q, strict=True)]
    inside = [k for k, flag in enumerate(bad) if flag == (version_name(case) == "printed")]
    if version_name(case) == "bad event in one direction":
        inside = [k for k, (a, b) in enumerate(zip(p, q, strict=True)) if not b > factor * a]
    worst = Fraction(0)
    for chosen in product((0, 1), repeat=len(inside)):
        picked = [k for k, flag in zip(inside, chosen, strict=True) if flag]
        worst = max(worst, sum((p[k] - factor * q[k] for k in picked), Fraction(0)))
    return at_most("largest P(E~) - exp(t) P'(E~)", worst, Fraction(0))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {
        "outputs": (2, 3, 6),
        "seed": (1, 2, 3, 4),
        "exp(epsilon)": (1.0, 1.25, 2.0, 8.0),
    }
    small: dict[str, Value] = {"exp(epsilon)": 2.0}
    wide: dict[str, Value] = {"exp(epsilon)": 1.25}
    random: dict[str, Value] = {"outputs": 6, "seed": 5, "exp(epsilon)": 1.25}
    return (
        case(ONE, printed, {"exp(epsilon)": 2.0, "p": "spread"}, regime="equality"),
        *grid(ONE, printed, axes, regime="finite laws", quick_every=9),
        mutant(ONE, "delta cut by 5 %", {"exp(epsilon)": 2.0, "p": "spread"}, severity=0.05),
        *grid(ALL, printed, axes, regime="finite laws, both directions", quick_every=9),
        mutant(ALL, "tail of one law only", small),
        case(BOTH, printed, small, role=Role.COUNTEREXAMPLE, regime="p = (1, 0), p' = (1/2, 1/2), exp(epsilon) = 2"),
        case(BOTH, corrected, small, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(BOTH, corrected, axes, regime="finite laws", quick_every=9),
        mutant(BOTH, "tail of one law only", small),
        case(LINE, printed, wide, role=Role.COUNTEREXAMPLE, regime="p = (1, 0), p' = (1/2, 1/2), exp(t) = 5/4"),
        case(LINE, corrected, wide, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(LINE, corrected, axes, regime="finite laws", quick_every=9),
        mutant(LINE, "bad event in one direction", random),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="From tails of the log ratio to privacy",
    locator="Supplement G, Lemma 27",
    domain="epsilon(o) = log p(o)/p'(o), any epsilon and delta; decided exactly on finite laws, impossible outputs among them",
    summary=(
        "L27.0 and L27.1 are true. L27.2 asks for the same tail under both laws, which leaves the other direction unprotected: "
        "p = (1, 0), p' = (1/2, 1/2) satisfies it with delta = 0 and epsilon = log 2 and is not private."
    ),
    parts=(
        Part(
            ONE,
            "one direction",
            Formula(
                "Pr_p (epsilon(o) > epsilon) <= delta ==> Pr_p (theta in S) <= e^epsilon Pr_(p') (theta in S) + delta",
                "P_p(epsilon(o) > epsilon) <= delta implies P_p(S) <= exp(epsilon) P_p'(S) + delta",
            ),
        ),
        Part(
            ALL,
            "all neighbours, both orders",
            Formula(
                'Pr_p (epsilon(o) > epsilon) <= delta quad "for all neighbours" ==> (epsilon, delta)"-DP"',
                "the same for all neighbours implies (epsilon, delta)-DP",
            ),
        ),
        Part(
            BOTH,
            "one pair",
            printed=Formula(
                'Pr_p (epsilon(o) > epsilon) <= delta, quad Pr_(p\') (-epsilon(o) < -epsilon) <= delta ==> (epsilon, delta)"-pDP"',
                "P_p(epsilon(o) > epsilon) <= delta and P_p'(-epsilon(o) < -epsilon) <= delta imply (epsilon, delta)-pDP",
            ),
            corrected=Formula(
                'Pr_p (epsilon(o) > epsilon) <= delta, quad Pr_(p\') (-epsilon(o) > epsilon) <= delta ==> (epsilon, delta)"-pDP"',
                "P_p(epsilon(o) > epsilon) <= delta and P_p'(-epsilon(o) > epsilon) <= delta imply (epsilon, delta)-pDP",
            ),
            what_went_wrong="A sign: -epsilon(o) < -epsilon is the event epsilon(o) > epsilon again; the other direction needs -epsilon(o) > epsilon.",
            derivation="docs/derivations/redberg_wang2021_lemmas.md, Lemma 27",
        ),
        Part(
            LINE,
            "a line of the proof",
            printed=Formula(
                "E = {abs(epsilon(theta)) > t}: quad Pr_p (tilde(E)) <= e^t Pr_(p') (tilde(E)) quad forall tilde(E) subset E",
                "E = {|epsilon| > t}: P_p(E~) <= exp(t) P_p'(E~) for E~ in E",
            ),
            corrected=Formula(
                "E = {abs(epsilon(theta)) > t}: quad Pr_p (tilde(E)) <= e^t Pr_(p') (tilde(E)) quad forall tilde(E) subset E^c",
                "E = {|epsilon| > t}: P_p(E~) <= exp(t) P_p'(E~) for E~ in the complement of E",
            ),
            what_went_wrong="On the bad event itself the ratio exceeds exp(t); the inequality holds on its complement.",
            derivation="docs/derivations/redberg_wang2021_lemmas.md, Lemma 27",
        ),
    ),
    cases=_cases(),
    check=check,
)
