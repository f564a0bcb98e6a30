"""W19, Lemma B.6: a tail bound on the privacy loss gives one inequality of (epsilon, delta).

The smallest delta of the inequality is the hockey-stick divergence, which is at most the tail: exact on finite laws in
rational arithmetic (``exp(t)`` rational), and on Gaussian profiles in ball arithmetic.
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget, Estimate
from mechanisms import Direction
from mechanisms.finite_laws import Law, check_law, hockey_stick
from mechanisms.profiles import GaussianProfile

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .rational import at_most, generator

ID = "W19-LB.6"


def random_law(n_outputs: int, *keys: int, zeros: bool = True) -> Law:
    """Return a random law with small denominators, with impossible outputs among them if ``zeros``."""
    weights = generator(n_outputs, *keys).integers(0 if zeros else 1, 9, n_outputs)
    weights[0] += 1
    return check_law([Fraction(int(w), int(weights.sum())) for w in weights])


def laws(case: Case) -> tuple[Law, Law]:
    """Return the two laws of a case."""
    if case.params["laws"] == "one output impossible":
        return check_law([Fraction(1, 4), Fraction(3, 4)]), check_law([0, 1])
    if case.params["laws"] == "ratio equal to exp(t)":  # p = 2 p' on the first output
        return check_law([Fraction(1, 2), Fraction(1, 2)]), check_law([Fraction(1, 4), Fraction(3, 4)])
    n, seed = case.whole("outputs"), case.whole("seed")
    return random_law(n, seed, 1), random_law(n, seed, 2)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the hockey-stick divergence against the tail of the loss."""
    version = version_name(case)
    if "mu" in case.params:
        profile, t = GaussianProfile(case.number("mu")), case.number("t")
        delta, above = profile.delta_bracket(t, Direction.FORWARD), profile.tail_bracket(t, Direction.FORWARD)
        claim = Claim(
            "hockey-stick divergence at t, Gaussian laws", 0.0, above.low, above.mid, observer=Observer.OUTPUT
        )
        return Evidence(claim, exact=Estimate.proved(delta.low, delta.high, "ball arithmetic"))
    p, q = laws(case)
    factor = Fraction(case.number("exp(t)"))
    law = q if version == "tail under p'" else p
    tail = sum((mass for mass, a, b in zip(law, p, q, strict=True) if a > factor * b), Fraction(0))
    if version == "delta cut by 5 %":
        tail *= Fraction(19, 20)
    return at_most("largest P(S) - exp(t) P'(S) against P(loss > t)", hockey_stick(p, q, factor), tail)


def _cases() -> tuple[Case, ...]:
    factors = (1.0, 1.25, 2.0, 8.0)
    axes: dict[str, tuple[Value, ...]] = {
        "laws": ("random",),
        "outputs": (2, 3, 8),
        "seed": (1, 2, 3, 4),
        "exp(t)": factors,
    }
    sharp: dict[str, Value] = {"laws": "one output impossible", "exp(t)": 2.0}
    return (
        case(ID, Standing.PRINTED, sharp, regime="equality"),
        case(ID, Standing.PRINTED, {"laws": "ratio equal to exp(t)", "exp(t)": 2.0}, regime="the loss equals t"),
        case(ID, Standing.PRINTED, {"laws": "random", "outputs": 4, "seed": 9, "exp(t)": 0.5}, regime="negative t"),
        *grid(ID, Standing.PRINTED, axes, regime="finite laws, impossible outputs among them", quick_every=5),
        *grid(
            ID,
            Standing.PRINTED,
            {"mu": (0.25, 0.5, 3.0), "t": (-1.0, 0.0, 0.5, 5.0)},
            regime="Gaussian laws",
            quick_every=3,
        ),
        mutant(ID, "delta cut by 5 %", sharp, severity=0.05),
        mutant(ID, "tail under p'", sharp),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="From a tail bound to (epsilon, delta)",
    locator="Appendix B, Lemma B.6",
    domain="Any two densities p, p' (p' may vanish), any t; one inequality only: the other direction needs the tail under p'",
    summary=(
        "True, and tight where p' vanishes on the event; elsewhere the tail is larger than the exact delta. The lemma gives one "
        "direction: the paper's pDP needs the same tail bound under both data sets."
    ),
    parts=(
        Part(
            ID,
            "tail bound to one inequality",
            printed=Formula(
                "Pr_p (log p(theta)/(p'(theta)) > t) <= delta ==> Pr_p (cal(S)) <= e^t Pr_(p') (cal(S)) + delta quad forall cal(S)",
                "P_p(log p/p' > t) <= delta implies P_p(S) <= exp(t) P_p'(S) + delta for all S",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
