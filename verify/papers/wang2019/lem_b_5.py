"""W19, Lemma B.5: a bound on the two-sided normal tail, a claim in one variable.

Proved on the box [1e-9, 40] by branch and bound; above 40 it is Mills' bound, below 1e-9 the bound exceeds 1
(docs/derivations/wang2019_sections_2_3.md, Lemma B.5).
"""

from flint import arb

from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import enclosed
from ..kit import At, Case, Evidence, Form, Mutant, over, statement

BOX = {"epsilon": Axis(1e-9, 40.0)}


def _tail(case: Case, *, coefficient: float = 2.0, exponent: float = 0.5) -> Evidence:
    """Decide ``P(|X| > t) <= coefficient exp(-exponent t^2)/t`` on the whole box, or as a ratio at one epsilon."""

    def rescaled(t: Ball) -> Ball:
        return t * (exponent * t * t).exp() * (t / arb(2).sqrt()).erfc()

    if "epsilon" not in case.params:
        words = "coefficient minus epsilon exp(epsilon^2/2) P(|X| > epsilon)"
        return on_box(words, lambda p: coefficient - rescaled(p["epsilon"]), BOX)
    t = case.number("epsilon")
    return enclosed("P(|X| > epsilon) over the bound", lambda: rescaled(arb(t)) / coefficient, 0.0, 1.0, 1.0)


#: The smallest coefficient that is enough is sqrt(2/pi) = 0.798.
POINTS = {"epsilon": (1e-300, 1e-9, 1e-3, 0.5, 1.0, 3.0, 8.0, 37.0, 100.0, 1e4)}

STATEMENT = statement(
    "W19-LB.5",
    domain="X standard normal, epsilon > 0. Proved for epsilon in [1e-9, 40] by branch and bound, outside by Mills' bound",
    summary="True. Loose by a factor sqrt(2 pi) = 2.51: the coefficient sqrt(2/pi) = 0.798 is enough, and the least possible. "
    "The proof of W19-T4.1 applies the lemma with the wrong argument (W19-T4.1p).",
    title="two-sided normal tail",
    printed=Form(
        "Pr(abs(X) > epsilon) <= (2 e^(-epsilon^2\\/2))/epsilon",
        _tail,
        [At("proved on the box"), *over("inside and outside the box", POINTS)],
    ),
    mutants={
        "coefficient 0.77": Mutant(_tail, {}, severity=0.035, coefficient=0.77),
        "exponent -0.525 t^2": Mutant(_tail, {"epsilon": 10.0}, severity=0.05, exponent=0.525),
    },
)
