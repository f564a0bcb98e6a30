"""RW21, Lemma 26: three bounds on normal tails, each a claim in one variable, proved on a box.

With ``t`` the threshold over sigma: L26.2 has ``delta = exp(-t^2/2)``, L26.3 has ``delta = 2 exp(-t^2/2)``. Beyond the box
the bounds are Mills' (docs/derivations/redberg_wang2021_lemmas.md, Lemma 26).
"""

from collections.abc import Callable
from functools import partial

from flint import arb

from mechanisms.numerics.balls import Ball

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.enclosed import enclosed
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement

BOX = {"t": Axis(1e-9, 40.0)}


def two_sided(t: Ball) -> Ball:
    """Return ``exp(t^2/2) P(|X| > t sigma)``."""
    return (t * t / 2).exp() * (t / arb(2).sqrt()).erfc()


def _tail(case: Case, *, tail: Callable[[Ball], Ball], coefficient: float) -> Evidence:
    """Decide ``tail <= coefficient`` on the whole box, or their ratio at one threshold."""
    if "t" in case.params:
        return enclosed("tail over bound", lambda: tail(arb(case.number("t"))) / coefficient, 0.0, 1.0, 1.0)
    return on_box("coefficient minus exp(t^2/2) times the tail", lambda p: coefficient - tail(p["t"]), BOX)


def _bound(
    typst: str, tail: Callable[[Ball], Ball], coefficient: float, smaller: tuple[str, float], severity: float
) -> Display:
    """Return a bound by its tail times ``exp(t^2/2)`` and the coefficient allowed; the mutant's is too small."""
    check = partial(_tail, tail=tail)
    points = {"t": (1e-300, 1e-9, 1e-3, 0.5, 1.0, 3.0, 8.0, 37.0, 100.0, 1e3)}
    name, too_small = smaller
    return Display(
        printed=Form(
            typst,
            partial(check, coefficient=coefficient),
            [At("proved on the box"), *over("inside and outside the box", points)],
        ),
        mutants={name: Mutant(check, {}, severity, coefficient=too_small)},
    )


STATEMENT = statement(
    "RW21-L26",
    domain="X ~ N(0, sigma^2), thresholds t sigma with t > 0; L26.2 for delta in (0, 1), L26.3 for delta in (0, 2), larger delta "
    "being trivial. Proved for t in [1e-9, 40] by branch and bound",
    summary="True. Each could be halved or better: L26.1 holds with 1/sqrt(2 pi), L26.2 and L26.3 with half the bound. L26.2 is "
    "called weaker than L26.1; for delta > exp(-1/2) it is the stronger of the two.",
    displays={  # the least coefficients are 1/sqrt(2 pi), for large t, and the values 1/2 and 1 at t = 0
        ".1": _bound(
            "Pr(X > sigma epsilon) <= e^(-epsilon^2\\/2)/epsilon",
            lambda t: t * two_sided(t) / 2,
            1.0,
            ("coefficient 0.38", 0.38),
            0.047,
        ),
        ".2": _bound(
            "Pr(X > sigma sqrt(2 log(1/delta))) <= delta",
            lambda t: two_sided(t) / 2,
            1.0,
            ("coefficient 0.48", 0.48),
            0.04,
        ),
        ".3": _bound(
            "Pr(abs(X) > sigma sqrt(2 log(2/delta))) <= delta", two_sided, 2.0, ("coefficient 0.95", 0.95), 0.05
        ),
    },
)
