"""RW21, Theorem 22: the ex-post loss of the Gaussian mechanism at an outcome, an identity of rational numbers.

As printed, Delta_z bounds the change of the statistic; the formula holds when Delta_z *is* the change, taken from D to
its neighbour, and for no other bound (docs/derivations/redberg_wang2021_lemmas.md, Theorem 22).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from ...methods.rational import proved
from ..kit import Case, Claim, Evidence, Form, Mutant, Observer, over, refuting, smallest, statement

Vector = list[Fraction]


def instance(case: Case) -> tuple[Vector, Vector, Vector, Fraction]:
    """Return Q(D), the change, the outcome and sigma^2 of a case, all rational."""
    if "dim" not in case.params:  # the smallest counterexample: the statistic does not change, the bound is 1
        return [Fraction(0)], [Fraction(0)], [Fraction(0)], Fraction(1)
    dim, seed = case.whole("dim"), case.whole("seed")
    rng = np.random.Generator(np.random.PCG64DXSM([dim, seed]))
    q, change, outcome = ([Fraction(int(k), 8) for k in rng.integers(-40, 41, dim)] for _ in range(3))
    return q, change, outcome, Fraction(case.whole("sigma^2"))


def _loss(
    case: Case,
    *,
    delta: Callable[[Fraction], Fraction] = lambda change: change,
    half: Fraction = Fraction(1, 2),
    scale: Fraction = Fraction(1),
) -> Evidence:
    """Compare the formula with the log density ratio, both rational (the normal constants cancel)."""
    q, change, outcome, variance = instance(case)
    moved = [a + b for a, b in zip(q, change, strict=True)]
    exponents = ((o - b) ** 2 - (o - a) ** 2 for o, a, b in zip(outcome, q, moved, strict=True))
    truth = abs(sum(exponents, Fraction(0))) / (2 * variance)
    deltas = [delta(c) for c in change]
    square = half * sum((d * d for d in deltas), Fraction(0)) / variance
    inner = sum((d * (o - a) for d, o, a in zip(deltas, outcome, q, strict=True)), Fraction(0)) / variance
    formula = scale * abs(square - inner)
    words = "printed loss minus log density ratio"
    claim = Claim(words, 0.0, 0.0, float(formula), observer=Observer.OUTPUT, conditioned_on="the outcome")
    return Evidence(claim, exact=proved(formula - truth), notes={"loss": float(truth)})


AXES = {"dim": (1, 2, 7), "seed": (1, 2, 3, 4), "sigma^2": (1, 9)}
PLAIN = {"dim": 3, "seed": 9, "sigma^2": 4}
LOSS = "epsilon(o) = abs(norm(Delta_z)^2/(2 sigma^2) - (Delta_z^T (o - Q(D)))/sigma^2)"

STATEMENT = statement(
    "RW21-T22",
    derivation="docs/derivations/redberg_wang2021_lemmas.md, Theorem 22",
    domain="o = Q(D) + N(0, sigma^2 I), one record added or removed, every outcome. Decided on rational instances, dim up to 7",
    summary="True as an identity once Delta_z is the change of the statistic; the theorem introduces it as a bound on the change.",
    title="loss at an outcome",
    printed=Form(
        "abs(Q(D_(plus.minus z)) - Q(D)) <= Delta_z ==> " + LOSS,
        partial(_loss, delta=lambda change: abs(change) + 1),  # a bound on the change, as the theorem allows
        [
            smallest("no change, Delta = 1, o = Q(D): loss 0, printed 1/2", {}),
            *over("a bound on the change", AXES, quick_every=8),
        ],
    ),
    corrected=Form(
        "Q(D_(plus.minus z)) - Q(D) = Delta_z ==> " + LOSS,
        _loss,
        [refuting({}), *over("random rationals", AXES, quick_every=4)],
    ),
    wrong="The loss at an outcome is not monotone in the change, so a bound on the change gives neither the loss nor a bound on it.",
    mutants={
        "change taken backwards": Mutant(_loss, PLAIN, delta=lambda change: -change),
        "no half": Mutant(_loss, PLAIN, half=Fraction(1)),
        "scaled by 1.01": Mutant(_loss, PLAIN, severity=0.01, scale=Fraction(101, 100)),
    },
)
